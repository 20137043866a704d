"""Trials needed: fewer for wider intervals, none where the first two are apart; and when to stop."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import pedanova as pa
from pedanova.analysis.watched import Update, Watched, Watcher
from pedanova.cli.program import main
from pedanova.counting.few_rows import FewRows
from pedanova.errors import QueryError
from pedanova.measures.advice.advise import further_gain, stop_sentence
from pedanova.measures.advice.needed import Estimate, trials_for, until_narrow
from pedanova.report.live.session import Session

SPACE = dict.fromkeys("abc", pa.Float(0, 1))


def analysis(rows: int, second: float = 0.3, noise: float = 0.02, seed: int = 0) -> pa.Analysis:
    rng = np.random.default_rng(seed)
    a, b, c = rng.random((3, rows))
    loss = (a - 0.3) ** 2 + second * (b - 0.6) ** 2 + noise * rng.normal(size=rows)
    return pa.analyze({"a": a, "b": b, "c": c, "loss": loss}, "loss", space=SPACE)


def test_narrower_intervals_take_a_power_of_the_trials() -> None:
    assert trials_for(100, 2.0, 0.5) == 300
    assert trials_for(100, 0.5, 0.5) == 0
    assert trials_for(100, np.inf, 0.5) is None
    assert trials_for(100, 1e4, 0.5) is None
    estimate = until_narrow(100, 0.4, 0.2)
    assert estimate.low < estimate.more == 466 < estimate.high
    assert str(Estimate(0, 0, 0)) == "none"
    assert str(Estimate(None, 10, None)) == "more than 10"


def test_wider_intervals_need_fewer_trials() -> None:
    a = analysis(80)
    narrow, wide = a.needed(0.05), a.needed(0.5)
    assert all(narrow[name].more >= wide[name].more for name in narrow if narrow[name].more is not None)
    assert narrow["a"].more > 0
    assert narrow["a"].low <= narrow["a"].more <= narrow["a"].high


def test_the_number_is_about_right() -> None:
    """After as many trials as promised, intervals are about as narrow as promised: neither much wider nor narrower."""
    widths = []
    for seed in range(6):
        needed = analysis(100, seed=seed).needed(0.2)["a"]
        assert needed.low <= needed.more <= needed.high <= 1000
        widths.append(analysis(100 + needed.more, seed=seed).needed(0.2)["a"].width)
    assert 0.17 <= np.mean(widths) <= 0.23
    assert 0.13 <= min(widths) <= max(widths) <= 0.3


def test_the_first_two_are_told_apart() -> None:
    apart = analysis(300, second=0.05).needed()
    assert apart.pair[0] == "a"
    assert apart.apart.more == 0
    assert apart.summary() == f"a is clearly more important than {apart.pair[1]}. {apart.stop}"
    close = analysis(100, second=0.9).needed()
    assert close.apart.more is None or close.apart.more > 0
    assert close.stop.first_stays < apart.stop.first_stays


def test_stop_is_said_where_nothing_is_left_to_find() -> None:
    """Few values, all of them tried near the best; no noise."""
    space = {"a": pa.Int(0, 5), "b": pa.Int(0, 5), "c": pa.Float(0, 1)}
    done = pa.analyze(settled_table(), "loss", space=space).needed().stop
    assert done.settled
    assert str(done).startswith("The ranking is settled: a stays first with")
    assert str(done).endswith("in 20 further trials (2.0\xa0% of its difference from a typical value).")
    better = replace(done, better=0.5)
    assert not better.settled
    assert better.of_the_value() == "Expect the best value to improve by at most 0.5 in 20 further trials."
    unsure = replace(done, first_stays=0.6)
    assert not unsure.settled
    assert str(unsure).startswith("The ranking is not settled: a stays first with 60")
    assert not analysis(60, second=0.9, noise=0.1).needed().stop.settled


def test_the_best_values_say_how_much_further_trials_may_improve() -> None:
    """A search that ends near its best value gets a small limit, wherever that value was found."""
    rng = np.random.default_rng(3)
    step = np.r_[np.linspace(0.5, 0.02, 80), np.full(120, 0.02)]
    loss, walk = np.empty(200), np.empty((200, 2))
    for i in range(200):
        walk[i] = np.clip(0.3 + step[i] * rng.normal(size=2), 0, 1) if i > 20 else rng.random(2)
        loss[i] = ((walk[i] - 0.3) ** 2).sum() + 0.01 * abs(rng.normal())

    def limit(rows: Any, number: Any) -> float:
        table = {"a": walk[rows, 0], "b": walk[rows, 1], "number": number, "loss": loss[rows]}
        space = {"a": pa.Float(0, 1), "b": pa.Float(0, 1)}
        found = pa.analyze(table, "loss", space=space).needed().stop
        assert found.better is not None
        assert found.value_settled == (found.better == found.negligible)
        return found.better

    whole, early = np.arange(200), np.arange(60)
    assert limit(whole, whole) < 0.5 * limit(early, early)
    assert limit(whole, np.zeros(200)) < 0.5 * limit(early, early)  # in unknown order


@pytest.mark.parametrize("value", [np.log, np.sqrt, np.abs], ids=["exponential", "bounded", "uniform"])
def test_further_random_trials_rarely_gain_more_than_the_limit(value: Any) -> None:
    rng = np.random.default_rng(5)
    exceeded, limits = [], []
    for _ in range(400):
        values = value(rng.random(120))
        few = FewRows({}, {}, values[:100], np.arange(100), None)
        limit = further_gain(few, adaptive=False)
        exceeded.append(values[:100].min() - values[100:].min() > limit)
        limits.append(limit)
    assert np.mean(exceeded) < 0.1
    assert np.median(limits) < 3.0 * np.ptp(np.sort(values[:100])[:8])
    assert further_gain(few.take(np.arange(8)), adaptive=False) == np.inf


def settled_table() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    a, b, c = rng.integers(0, 6, 300), rng.integers(0, 6, 300), rng.random(300)
    return {"a": a, "b": b, "c": c, "loss": (a - 2.0) ** 2 + 0.1 * (b - 1.0) ** 2}


def test_the_sentence_stands_beside_the_answer(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    for name, table in (("done", settled_table()), ("going", {k: v[:60] for k, v in settled_table().items()})):
        columns = list(table)
        lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*table.values(), strict=True))]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines))
    assert main(["analyze", str(tmp_path / "done.csv"), "--objective", "loss"]) == 0
    assert "The ranking is settled: a stays first" in " ".join(capsys.readouterr().out.split())
    rng = np.random.default_rng(1)
    noise = {name: rng.random(60) for name in ("a", "b", "loss")}
    answer = pa.analyze(noise, "loss")
    assert stop_sentence(answer.data, answer.importance()) == ""


def test_the_terminal_says_what_the_default_is_and_how_to_save(
    tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    table = {name: values[:60] for name, values in settled_table().items()}
    lines = [",".join(table), *(",".join(map(str, row)) for row in zip(*table.values(), strict=True))]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    source = [str(tmp_path / "t.csv"), "--objective", "loss"]
    assert main(["gains", *source]) == 0
    assert "default: your best trial; --default NAME=VALUE sets another" in " ".join(capsys.readouterr().out.split())
    assert main(["gains", *source, "--default", "a=1,b=1,c=0.5"]) == 0
    assert "sets another" not in capsys.readouterr().out
    assert main(["next", *source, "--number", "2", "--goal", "win"]) == 0
    words = " ".join(capsys.readouterr().out.split())
    assert "To save these trials: --format csv -o next.csv. Keep the column pedanova_next" in words
    assert "expected" in words
    assert "better than the best trial so far with" in words


def test_the_watched_page_says_it() -> None:
    class Source(Watched):
        def __init__(self) -> None:
            self.shown, self.ordered, self.last = "trials", True, None

        def look(self) -> Update:
            return Update(analysis=pa.analyze(settled_table(), "loss").data)

    first = pa.analyze({name: values[:100] for name, values in settled_table().items()}, "loss")
    watcher = Watcher(Session(first.data), Source())
    watcher.step()
    assert watcher.news()["stop"].startswith("The ranking is settled: a stays first")


def test_without_rows_only_the_ranking_is_judged(tmp_path: Any) -> None:
    a = analysis(80)
    a.save(tmp_path / "a.pedanova", rows=False)
    loaded = pa.load(tmp_path / "a.pedanova").needed()
    assert loaded.pair == a.needed().pair
    assert loaded.stop.better is None
    assert not loaded.stop.settled
    assert str(loaded.stop).endswith("It cannot be predicted how much further trials improve the best value.")


def test_bad_questions_are_refused() -> None:
    a = analysis(60)
    for width in (0, 1.5, "wide", True):
        with pytest.raises(QueryError, match="width="):
            a.needed(width)  # type: ignore[arg-type]
    one = pa.analyze({"x": np.arange(60) / 60, "loss": np.arange(60) ** 2}, "loss")
    with pytest.raises(QueryError, match="fewer than two parameters varied"):
        one.needed()
