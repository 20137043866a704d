"""The brief: at most 300 tokens whatever the names, true to its schema, every line with a call that works."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import pedanova as pa
from pedanova.base.digits import short
from pedanova.measures.advice.brief import TOKENS, TOPICS, cut, tokens_in


def study(rows: int = 80, names: tuple[str, ...] = ("rate", "depth", "kind", "idle")) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    first, second, last = rng.random(rows), rng.integers(1, 9, rows), rng.random(rows)
    kind = rng.choice(["a", "b"], rows)
    loss = (first - 0.3) ** 2 + 0.01 * second + 0.05 * (kind == "a")
    return {**dict(zip(names, (first, second, kind, last), strict=True)), "loss": loss}


def check(brief: Any) -> None:
    assert tokens_in(str(brief)) <= TOKENS
    assert [line.topic for line in brief.rows] == list(TOPICS)
    plain, schema = json.loads(brief.to_json()), brief.schema()
    assert set(plain) == set(schema["required"])
    for line in plain["lines"]:
        assert set(line) == set(schema["properties"]["lines"]["items"]["required"])
        assert line["topic"] in schema["properties"]["lines"]["items"]["properties"]["topic"]["enum"]
    assert plain["direction"] in schema["properties"]["direction"]["enum"]


def test_it_says_what_the_answers_say() -> None:
    a = pa.analyze(study(), "loss")
    brief = a.brief()
    check(brief)
    lines = {line.topic: line for line in brief.rows}
    assert lines["trials"].text == "80 trials, 4 parameters, minimise loss"
    assert lines["matters"].text.startswith(next(iter(a.importance())))
    assert str(a.gains().total) in lines["gain"].text
    answers = {line.topic: eval(line.call, {"a": a}) for line in brief.rows}  # every call can be copied and run
    first = next(iter(answers["next"].rows[0].values))
    assert f"{first}=" in lines["next"].text
    assert short(answers["next"].rows[0].expected, 2) in lines["next"].text


@pytest.mark.parametrize("letter", ["x", "é", "_", "文", "\x1b", "\n"])
def test_names_of_25_kilobytes_do_not_matter(letter: str) -> None:
    names = tuple(f"{letter * 25_000}{i}" for i in range(4))
    brief = pa.analyze(study(names=names), "loss").brief()
    check(brief)
    assert "\x1b" not in str(brief)
    assert len(str(brief)) < 5000


def test_what_cannot_be_known_is_said() -> None:
    rng = np.random.default_rng(0)
    noise = {**{name: rng.random(60) for name in "abc"}, "loss": rng.random(60)}
    brief = pa.analyze(noise, "loss").brief()
    check(brief)
    lines = {line.topic: line.text for line in brief.rows}
    assert lines["matters"].startswith("no parameter has a clear effect")
    assert lines["where"] == "no clear ranges"
    assert lines["gain"].startswith("not known: gains need a model")
    both = pa.analyze({**study(), "time": rng.random(80)}, ["loss", "time"]).brief()
    check(both)


def test_a_text_is_cut_at_a_word() -> None:
    assert cut("one two", 10) == "one two"
    assert cut("one two, three four", 3).endswith("…")
    assert tokens_in(cut("word " * 100, 20)) <= 21
