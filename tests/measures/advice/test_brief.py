"""The brief: nothing is cut, every line has a call that works, and it says what the other answers say."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import pedanova as pa
from pedanova.base.terminal import printable
from pedanova.measures.advice.brief import TOPICS
from pedanova.measures.clear import beats_chance


def study(rows: int = 80, names: tuple[str, ...] = ("rate", "depth", "kind", "idle"), seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    first, second, last = rng.random(rows), rng.integers(1, 9, rows), rng.random(rows)
    kind = rng.choice(["a", "b"], rows)
    loss = (first - 0.3) ** 2 + 0.01 * second + 0.05 * (kind == "a")
    return {**dict(zip(names, (first, second, kind, last), strict=True)), "loss": loss}


def check(brief: Any) -> dict[str, Any]:
    """The facts by topic."""
    assert [line.topic for line in brief.rows] == list(TOPICS)
    plain, schema = json.loads(brief.to_json()), brief.schema()
    assert set(plain) == set(schema["required"])
    for line in plain["lines"]:
        assert set(line) == set(schema["properties"]["lines"]["items"]["required"])
        assert line["topic"] in schema["properties"]["lines"]["items"]["properties"]["topic"]["enum"]
        assert "…" not in line["text"]
    assert plain["direction"] in schema["properties"]["direction"]["enum"]
    return {line["topic"]: line["facts"] for line in plain["lines"]}


@pytest.mark.parametrize(("seed", "failed"), [(0, 0), (1, 30)])
def test_all_answers_agree(seed: int, failed: int) -> None:
    table = study(140, seed=seed)
    table["loss"][np.argsort(table["rate"])[140 - failed :]] = np.nan
    a = pa.analyze(table, "loss")
    brief = a.brief()
    facts, texts = check(brief), {line.topic: line.text for line in brief.rows}
    for line in brief.rows:  # every call can be copied and run
        if line.topic != "fails" or failed:
            eval(line.call, {"a": a})
    answer, trial, stop, gains = a.importance(), a.next_trials(1, "win").rows[0], a.needed().stop, a.gains()
    best = a.trials(limit=1).to_dict()
    assert [one["name"] for one in facts["matters"]["clear"]] == [row.name for row in answer.rows if beats_chance(row)]
    assert facts["best"]["value"] == np.nanmin(table["loss"]) == best["loss"][0]
    assert facts["best"]["values"] == gains.default
    assert facts["next"]["values"] == trial.values
    assert facts["next"]["better"] == trial.better
    assert printable(trial.reason) in texts["next"]
    assert facts["expect"]["at_most"] == stop.better >= stop.negligible > 0.0
    assert facts["stay"]["safe"] == list(gains.safe)
    assert facts["ranking"]["settled"] == stop.ranking_settled
    assert texts["ranking"].startswith(printable(stop.of_the_ranking().rstrip(".")))
    if failed:
        assert facts["fails"]["failed"] == failed
        assert list(facts["fails"]["where"]) == ["rate"]
        assert trial.succeeds == facts["next"]["succeeds"] > 0.5
    narrowed = [one.name for one in a.reduce().rows if one.advice == "narrow"]
    assert answer.rows[0].name in narrowed


def test_long_names_are_whole_in_the_facts() -> None:
    names = tuple(f"{letter * 2_000}{i}" for i, letter in enumerate(("é", "文", "\x1b", "\n")))
    a = pa.analyze(study(names=names), "loss")
    brief = a.brief()
    plain = json.loads(brief.to_json())
    assert plain["lines"][0]["facts"]["parameters"] == list(a.space)
    assert "\x1b" not in str(brief)
    assert "\n" not in "".join(line.text for line in brief.rows)
    assert len(str(brief)) < 10_000


def test_what_cannot_be_known_is_said() -> None:
    rng = np.random.default_rng(0)
    noise = {**{name: rng.random(60) for name in "abc"}, "loss": rng.random(60)}
    brief = pa.analyze(noise, "loss").brief()
    facts, texts = check(brief), {line.topic: line.text for line in brief.rows}
    assert texts["matters"].startswith("no parameter has a clear effect")
    assert texts["where"] == "no clear ranges"
    assert texts["stay"].startswith("not known: gains need a model")
    assert facts["stay"] == {}
    assert facts["expect"]["at_most"] > facts["expect"]["negligible"]


def test_two_objectives_have_a_front_and_gains_at_its_middle() -> None:
    table = study(100)
    loss, time = table["loss"], 1.0 + table["rate"]
    a = pa.analyze({**table, "time": time}, ["loss", "time"], direction=["min", "min"])
    brief = a.brief()
    facts = check(brief)
    rows = [one["row"] for one in facts["best"]["front"]]
    beaten = [((loss <= x) & (time <= y) & ((loss < x) | (time < y))).any() for x, y in zip(loss, time, strict=True)]
    assert sorted(rows) == np.flatnonzero(~np.array(beaten)).tolist()
    assert list(loss[rows]) == sorted(loss[rows])
    assert facts["expect"]["limit"] == {"time": time[rows[len(rows) // 2]]}
    assert facts["expect"]["low"] <= facts["expect"]["gain"] <= facts["expect"]["high"]
    assert set(facts["next"]["predicted"]) == {"loss", "time"}
    assert not [line.text for line in brief.rows if line.text.startswith("not known")]
    for line in brief.rows:
        if line.topic != "fails":
            eval(line.call, {"a": a})
    assert any("gains with a limit" in note for note in a.needed().notes)


def test_without_rows_the_best_trial_is_not_known(tmp_path: Any) -> None:
    pa.analyze(study(), "loss").save(tmp_path / "a.pedanova", rows=False)
    brief = pa.load(tmp_path / "a.pedanova").brief()
    facts = check(brief)
    assert facts["best"] == facts["next"] == {}
    assert facts["matters"]["clear"]
