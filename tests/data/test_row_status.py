"""Rows that ended badly, constraints, and repeated configurations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import pedanova as pa
from helpers.common import COUNTS, refuse
from pedanova.errors import DataError, QueryError

Table = dict[str, np.ndarray]
SPACE = {"x": pa.Float(0, 1), "z": pa.Float(0, 1)}


@pytest.fixture
def table() -> Table:
    random = np.random.default_rng(3)
    x, z = random.random((2, 1_000))
    return {"x": x, "z": z, "loss": (x - 0.5) ** 2 + 0.01 * random.random(1_000)}


def rows_of(table: Table, mask: np.ndarray) -> Table:
    """Some rows, as if all of them had ended well."""
    return {name: values[mask] for name, values in table.items() if name != "state"}


def noted(a: pa.Analysis, words: str) -> bool:
    return any(words in note for note in a.notes)


class TestFeasible:
    @pytest.fixture
    def limited(self, table: Table) -> Table:
        return {**table, "ok": table["x"] <= 0.4, "c1": table["x"] - 0.4, "c2": (table["z"] * 100).astype(int) - 50}

    def test_every_way_to_say_it(self, limited: Table) -> None:
        ok = limited["ok"]
        alone = pa.analyze(rows_of(limited, ok), "loss", space=SPACE)
        for feasible in ("ok", "c1", ["c1"], ("ok",), ok, ok.tolist(), pd.Series(ok), pl.Series(ok)):
            a = pa.analyze(limited, "loss", space=SPACE, feasible=feasible)
            assert a.importance(0.2, **COUNTS).rows == alone.importance(0.2, **COUNTS).rows
            assert (len(a), a.data.dropped) == (ok.sum(), np.sum(~ok))
            assert noted(a, f"{np.sum(~ok)} of 1,000 rows are infeasible and are dropped")

    def test_several_constraints(self, limited: Table) -> None:
        both = limited["ok"] & (limited["c2"] <= 0)
        alone = pa.analyze(rows_of(limited, both), "loss", space=SPACE)
        for feasible in (["c1", "c2"], ("ok", "c2"), {"c1", "c2"}, iter(["c1", "c2"])):
            a = pa.analyze(limited, "loss", space=SPACE, feasible=feasible)
            assert a.importance(0.2, **COUNTS).rows == alone.importance(0.2, **COUNTS).rows

    def test_constraints_are_no_parameters(self, limited: Table) -> None:
        for feasible in (["ok", "c1", "c2"], {"ok", "c1", "c2"}):
            assert set(pa.analyze(limited, "loss", feasible=feasible).space) == {"x", "z"}
        assert set(pa.analyze(limited, "loss", feasible="ok", exclude="c1").space) == {"x", "z"}

    def test_infeasible_as_the_worst(self, limited: Table) -> None:
        """What separates feasible from infeasible rows can be asked then."""
        ok = limited["ok"]
        a = pa.analyze(limited, "loss", space=SPACE, feasible="ok", reading=pa.Reading(infeasible="worst"))
        assert len(a) == 1_000
        assert noted(a, f"{np.sum(~ok)} of 1,000 rows are infeasible and are ranked as the worst")
        found = a.importance(round(ok.mean(), 3), smoothing="none", **COUNTS)
        assert found["x"].n_target == ok.sum()
        assert found.rows == a.importance("ok", smoothing="none", **COUNTS).rows
        assert found["x"].raw_share > 0.9 > 0.5 > found["z"].share
        best = a.importance(0.05, **COUNTS)
        assert best["x"].n_target == 50
        assert a.densities("x", 0.05, smoothing="none").target[420:].sum() == 0

    def test_a_missing_constraint(self, limited: Table) -> None:
        c1 = limited["c1"].copy()
        c1[17] = np.nan
        data = {**limited, "c1": c1}
        for infeasible in ("drop", "worst"):
            with pytest.raises(pa.PedanovaError, match="feasible: c1 has no value in row 17; add a value, or drop"):
                pa.analyze(data, "loss", feasible=["c2", "c1"], reading=pa.Reading(infeasible=infeasible))
        state = np.where(np.arange(1_000) == 17, "FAIL", "COMPLETE")  # a failed row has no constraints
        for failed in ("drop", "worst"):
            a = pa.analyze(
                {**data, "state": state}, "loss", reading=pa.Reading(state="state", failed=failed), feasible="c1"
            )
            assert noted(a, "1 of 1,000 rows failed")

    def test_infeasible_and_without_objective(self, limited: Table) -> None:
        """An infeasible row is dropped as such, whatever its objective."""
        data = {**limited, "loss": np.where(limited["x"] > 0.3, np.nan, limited["loss"])}
        a = pa.analyze(data, "loss", space=SPACE, feasible="ok", reading=pa.Reading(nan="worst"))
        assert len(a) == limited["ok"].sum()

    @pytest.mark.parametrize(
        ("feasible", "words"),
        [
            ("nobody", "feasible: no column is called 'nobody'"),
            (["c1", "nobody"], "feasible: no column is called 'nobody'"),
            ("name", "feasible: name holds text"),
            ("day", "feasible: day holds text"),
            ([True, False], "feasible has 2 values for 1000 rows"),
            (np.ones(1_000), "must be True or False for each row"),
            ([], "must be True or False for each row"),
            (3, "feasible: 3 is not a column"),
            (["c1", 3], "must be True or False for each row"),
            (
                np.zeros(1_000, dtype=bool),
                "no row is left to count .1,000 of 1,000 rows are infeasible and are dropped",
            ),
        ],
    )
    def test_refusals(self, limited: Table, feasible: object, words: str) -> None:
        data = {**limited, "name": np.full(1_000, "a"), "day": np.full(1_000, "2020-01-01", dtype="M8[D]")}
        with pytest.raises(pa.PedanovaError, match=words) as refused:
            pa.analyze(data, "loss", feasible=feasible)
        assert "\n" not in str(refused.value)


STATES = {
    "complete": ["COMPLETE", "TrialState.COMPLETE", "complete", " Complete ", "SUCCESS", "StatusType.SUCCESS",
                 "TERMINATED", "FINISHED", "ok", "done"],
    "failed": ["FAIL", "TrialState.FAIL", "failed", "CRASHED", "StatusType.TIMEOUT", "MEMORYOUT", "ERROR", "killed"],
    "pruned": ["PRUNED", "TrialState.PRUNED", "pruned", "STOPPED"],
    "unfinished": ["RUNNING", "TrialState.WAITING", "PENDING", "PAUSED"],
}  # fmt: skip


class TestStates:
    def told(self, table: Table, words: dict[str, str] | None = None) -> tuple[Table, np.ndarray]:
        """Every seventh row failed (no loss), every fifth pruned, some unfinished."""
        number = np.arange(1_000)
        state = np.select(
            [number % 50 == 0, number % 7 == 0, number % 5 == 0], ["unfinished", "failed", "pruned"], "complete"
        )
        loss = np.where(state == "failed", np.nan, table["loss"])
        loss[state == "unfinished"] = np.nan
        said = {name: STATES[name][0] for name in STATES} | (words or {})
        return {**table, "loss": loss, "state": np.array([said[word] for word in state])}, state

    @pytest.mark.parametrize("name", list(STATES))
    def test_words_of_every_tool(self, table: Table, name: str) -> None:
        expected = None
        for word in STATES[name]:
            data, state = self.told(table, {name: word})
            a = pa.analyze(data, "loss", space=SPACE, reading=pa.Reading(state="state"))
            assert len(a) == np.sum(state == "complete")
            expected = expected or a.importance(**COUNTS)
            assert a.importance(**COUNTS) == expected

    def test_dropped(self, table: Table) -> None:
        data, state = self.told(table)
        a = pa.analyze(data, "loss", space=SPACE, reading=pa.Reading(state="state"))
        alone = pa.analyze(rows_of(data, state == "complete"), "loss", space=SPACE)
        assert a.importance(0.2, **COUNTS).rows == alone.importance(0.2, **COUNTS).rows
        for name, words in (
            ("unfinished", "are unfinished"),
            ("failed", "failed (according to the column state)"),
            ("pruned", "were pruned"),
        ):
            assert noted(a, f"{np.sum(state == name)} of 1,000 rows {words} and are dropped")
        assert "state" not in pa.analyze(data, "loss", reading=pa.Reading(state="state")).space

    def test_failed_as_the_worst(self, table: Table) -> None:
        data, state = self.told(table)
        a = pa.analyze(data, "loss", space=SPACE, reading=pa.Reading(state="state", failed="worst"))
        finished = (state == "complete") | (state == "failed")
        assert len(a) == finished.sum()
        words = "rows failed (according to the column state) and are ranked as the worst"
        assert noted(a, f"{np.sum(state == 'failed')} of 1,000 {words}")
        filled = rows_of({**data, "loss": np.where(state == "failed", 1e9, table["loss"])}, finished)
        assert (
            a.importance(0.2, **COUNTS).rows == pa.analyze(filled, "loss", space=SPACE).importance(0.2, **COUNTS).rows
        )

    @pytest.mark.parametrize("pruned", ["worst", "last"])
    def test_pruned(self, table: Table, pruned: str) -> None:
        data, state = self.told(table)
        a = pa.analyze(data, "loss", space=SPACE, reading=pa.Reading(state="state", pruned=pruned))
        used = (state == "complete") | (state == "pruned")
        last = table["loss"] if pruned == "last" else np.where(state == "pruned", np.inf, table["loss"])
        expected = pa.analyze(rows_of({**data, "loss": last}, used), "loss", space=SPACE)
        assert len(a) == used.sum()
        assert a.importance(0.2, **COUNTS).rows == expected.importance(0.2, **COUNTS).rows
        count = np.sum(state == "pruned")
        assert noted(a, f"{count} pruned rows are included; their objective is their last value") == (pruned == "last")
        assert noted(a, f"{count} of 1,000 rows were pruned and are ranked as the worst") == (pruned == "worst")

    def test_pruned_without_a_value_are_dropped(self, table: Table) -> None:
        data, state = self.told(table)
        data["loss"][state == "pruned"] = np.nan
        a = pa.analyze(data, "loss", space=SPACE, reading=pa.Reading(state="state", pruned="last"))
        assert len(a) == np.sum(state == "complete")

    def test_nothing_but_what_was_asked_is_the_worst(self, table: Table) -> None:
        """A NaN is dropped although other rows may be the worst."""
        loss = np.where(table["z"] < 0.1, np.nan, table["loss"])
        for options in ({"failed": "worst"}, {"pruned": "worst"}, {"infeasible": "worst"}):
            a = pa.analyze({**table, "loss": loss}, "loss", space=SPACE, reading=pa.Reading(**options))  # type: ignore[arg-type]
            assert (len(a), a.data.dropped) == (np.sum(table["z"] >= 0.1), np.sum(table["z"] < 0.1))
        data, state = self.told({**table, "loss": loss})
        a = pa.analyze(data, "loss", space=SPACE, reading=pa.Reading(state="state", failed="worst"))
        used = (state == "failed") | ((state == "complete") & ~np.isnan(data["loss"]))
        assert len(a) == used.sum()

    def test_state_as_an_array(self, table: Table) -> None:
        data, _ = self.told(table)
        expected = pa.analyze(data, "loss", space=SPACE, reading=pa.Reading(state="state")).importance(**COUNTS)
        state = data.pop("state")
        for given in (state, state.tolist(), pd.Series(state), pl.Series(state)):
            assert (
                pa.analyze(data, "loss", space=SPACE, reading=pa.Reading(state=given)).importance(**COUNTS) == expected
            )

    def test_a_missing_state_is_unfinished(self, table: Table) -> None:
        state = np.array(["COMPLETE", None] * 500, dtype=object)
        a = pa.analyze({**table, "state": state}, "loss", space=SPACE, reading=pa.Reading(state="state"))
        assert len(a) == 500
        assert noted(a, "500 of 1,000 rows are unfinished and are dropped")

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"state": "stat"}, "state: no column is called 'stat'; did you mean 'state'"),
            ({"state": "x"}, "state: the column 'x' must hold words such as COMPLETE, FAIL, PRUNED"),
            ({"state": ["COMPLETE"]}, "state has 1 values but the table has 1000 rows"),
            ({"state": 3}, "state: 3 is not a column"),
            ({"state": "strange"}, "state 'asleep' is unknown; use COMPLETE, FAIL, PRUNED or RUNNING"),
            ({"state": "state", "failed": "last"}, "failed='last' must be 'drop' or 'worst'"),
            ({"state": "state", "pruned": "best"}, "pruned='best' must be 'drop', 'worst' or 'last'"),
            ({"infeasible": None}, "infeasible=None must be 'drop' or 'worst'"),
            ({"nan": "last"}, "nan='last' must be 'drop' or 'worst'"),
            ({"state": "running"}, "no row is left to count .1,000 of 1,000 rows are unfinished and are dropped"),
            (
                {"state": "failing", "failed": "worst"},
                "no row is left to count .1,000 of 1,000 rows failed .according to the column failing. and are ranked",
            ),
        ],
    )
    def test_refusals(self, table: Table, options: dict[str, str], words: str) -> None:
        data, _ = self.told(table)
        for name, word in (("strange", "asleep"), ("running", "RUNNING"), ("failing", "FAIL")):
            data[name] = np.full(1_000, word)
        with pytest.raises(pa.PedanovaError, match=words) as refused:
            pa.analyze(data, "loss", reading=pa.Reading(**options))  # type: ignore[arg-type]
        assert "\n" not in str(refused.value)


@pytest.mark.parametrize(("bad", "nan"), [(np.inf, "drop"), (np.inf, "worst"), (np.nan, "worst")])
def test_diverged_for_large_x(table: Table, bad: float, nan: str) -> None:
    """Whatever the objective does elsewhere, x decides who diverges."""
    random = np.random.default_rng(0)
    loss = np.where(table["x"] > 0.3, bad, random.random(1_000))
    a = pa.analyze({**table, "loss": loss}, "loss", space=SPACE, reading=pa.Reading(nan=nan))
    found = a.importance(0.1, **COUNTS)
    assert next(iter(found)) == "x"
    assert found["x"].ratio > 0.8
    part = round(float(np.mean(table["x"] <= 0.3)), 3)
    assert a.importance(part, **COUNTS)["x"].raw_share > 0.85
    assert abs(a.importance(part, **COUNTS)["z"].share) < 0.05
    assert len(a) == 1_000


class TestRepeats:
    @pytest.fixture
    def seeds(self) -> Table:
        """60 configurations, 1 to 5 seeds each, in mixed order; c has missing values."""
        random = np.random.default_rng(11)
        a, b = random.integers(0, 5, 60), random.choice(["u", "v", "w"], 60)
        c = np.where(random.random(60) < 0.3, np.nan, random.integers(0, 3, 60))
        which = random.permutation(np.repeat(np.arange(60), random.integers(1, 6, 60)))
        loss = (a + np.nan_to_num(c))[which] + random.normal(0, 0.5, len(which))
        return {"a": a[which], "b": b[which], "c": c[which], "seed": np.arange(len(which)), "loss": loss,
                "time": random.random(len(which))}  # fmt: skip

    PARAMS = ("a", "b", "c")

    def grouped(self, table: Table, how: str, *columns: str) -> pd.DataFrame:
        frame = pd.DataFrame({name: table[name] for name in (*self.PARAMS, *columns)})
        return frame.groupby(list(self.PARAMS), dropna=False, sort=False)[list(columns)].agg(how).reset_index()

    @pytest.mark.parametrize("how", ["mean", "median"])
    @pytest.mark.parametrize("direction", ["minimize", "maximize"])
    def test_like_groupby(self, seeds: Table, how: str, direction: str) -> None:
        a = pa.analyze(seeds, "loss", params=self.PARAMS, repeats=how, direction=direction)
        expected = pa.analyze(
            self.grouped(seeds, how, "loss"), "loss", params=self.PARAMS, direction=direction, space=a.space
        )
        assert len(a) == len(expected)
        for question in ((0.1, 1.0), (0.2, 0.5), (pa.at_most(2.0), 1.0)):
            assert a.importance(*question, **COUNTS).rows == expected.importance(*question, **COUNTS).rows
        assert noted(a, f"{len(seeds['loss'])} rows have {len(a)} different configurations; the {how} objective")

    def test_all_is_the_default(self, seeds: Table) -> None:
        one = pa.analyze(seeds, "loss", params=self.PARAMS, repeats="all")
        assert len(one) == len(seeds["loss"])
        assert one.importance(**COUNTS) == pa.analyze(seeds, "loss", params=self.PARAMS).importance(**COUNTS)

    def test_several_objectives(self, seeds: Table) -> None:
        both = {"objective": ["loss", "time"], "params": self.PARAMS}
        a = pa.analyze(seeds, repeats="mean", **both)  # type: ignore[arg-type]
        expected = pa.analyze(self.grouped(seeds, "mean", "loss", "time"), space=a.space, **both)  # type: ignore[arg-type]
        assert a.importance(0.2, **COUNTS).rows == expected.importance(0.2, **COUNTS).rows
        assert (
            pa.Analysis(a.data.alone("time")).importance(0.2, **COUNTS).rows
            == expected.alone("time").importance(0.2, **COUNTS).rows
        )

    @pytest.mark.parametrize("how", ["mean", "median"])
    @pytest.mark.parametrize("direction", ["minimize", "maximize"])
    def test_failed_seeds_count_as_the_worst(self, seeds: Table, how: str, direction: str) -> None:
        random = np.random.default_rng(1)
        fails = random.random(len(seeds["loss"])) < 0.15
        data = {**seeds, "loss": np.where(fails, np.nan, seeds["loss"]), "state": np.where(fails, "FAIL", "COMPLETE")}
        bad = np.inf if direction == "minimize" else -np.inf
        filled = {**seeds, "loss": np.where(fails, bad, seeds["loss"])}
        frame = self.grouped(filled, how, "loss")
        a = pa.analyze(
            data,
            "loss",
            params=self.PARAMS,
            repeats=how,
            direction=direction,
            reading=pa.Reading(state="state", failed="worst"),
        )
        expected = pa.analyze(frame, "loss", params=self.PARAMS, space=a.space, direction=direction)
        for target in (0.1, 0.4):
            assert a.importance(target, **COUNTS).rows == expected.importance(target, **COUNTS).rows
        assert len(a) == len(frame)
        dropped = pa.analyze(
            data, "loss", params=self.PARAMS, repeats=how, direction=direction, reading=pa.Reading(state="state")
        )
        left = self.grouped(rows_of(data, ~fails), how, "loss")
        again = pa.analyze(left, "loss", params=self.PARAMS, space=dropped.space, direction=direction)
        assert dropped.importance(0.4, **COUNTS).rows == again.importance(0.4, **COUNTS).rows

    def test_with_where_and_constraints(self, seeds: Table) -> None:
        data = {**seeds, "limit": seeds["time"] - 0.8}
        mask = (seeds["time"] <= 0.8) & (seeds["seed"] >= 30)
        a = pa.analyze(data, "loss", params=self.PARAMS, repeats="mean", where="seed >= 30", feasible="limit")
        expected = pa.analyze(
            self.grouped(rows_of(seeds, mask), "mean", "loss"), "loss", params=self.PARAMS, space=a.space
        )
        assert a.importance(0.3, **COUNTS).rows == expected.importance(0.3, **COUNTS).rows

    def test_later_conditions_see_the_averages(self, seeds: Table) -> None:
        a = pa.analyze(seeds, "loss", params=self.PARAMS, repeats="mean")
        frame = self.grouped(seeds, "mean", "loss")
        assert a.importance("loss < 2", **COUNTS)["a"].n_target == np.sum(frame["loss"] < 2)
        assert a.importance("loss < 2", **COUNTS).rows == a.importance(pa.at_most(np.nextafter(2.0, 0)), **COUNTS).rows

    def test_inactive_values_do_not_tell_configurations_apart(self) -> None:
        random = np.random.default_rng(0)
        data = {"opt": np.repeat(["sgd", "adam"], 50), "m": random.integers(0, 5, 100), "y": random.random(100)}
        space = {"opt": pa.Categorical(["sgd", "adam"]), "m": pa.Ordinal([0, 1, 2, 3, 4], when={"opt": "sgd"})}
        a = pa.analyze(data, "y", space=space, repeats="mean")
        assert len(a) == len(set(data["m"][:50])) + 1

    def test_infinities_of_both_signs(self) -> None:
        """Their mean is no number, and treated like one that is none."""
        y = [np.inf, -np.inf, 1.0, 3.0, 2.0, 5.0]
        data = {"a": [0, 0, 1, 1, 2, 2], "y": y, "t": [1.0, 1.0, 2.0, 2.0, 3.0, 3.0]}
        assert len(pa.analyze(data, "y", params=["a"], repeats="mean")) == 2
        assert len(pa.analyze(data, "y", params=["a"], repeats="mean", reading=pa.Reading(nan="worst"))) == 3
        assert len(pa.analyze(data, ["y", "t"], params=["a"], repeats="mean")) == 2
        assert len(pa.analyze(data, ["y", "t"], params=["a"], repeats="median", reading=pa.Reading(nan="worst"))) == 3

    @pytest.mark.parametrize("bad", ["max", 3, ["mean"]])
    def test_refusals(self, seeds: Table, bad: object) -> None:
        with pytest.raises(pa.PedanovaError, match=r"repeats=.* must be 'all', 'mean' or 'median'"):
            pa.analyze(seeds, "loss", repeats=bad)  # type: ignore[arg-type]


def searched(rows: int = 120) -> dict[str, Any]:
    rng = np.random.default_rng(5)
    return {
        "solver": rng.choice(["a", "b", "c"], rows),
        "depth": rng.integers(1, 9, rows),
        "elapsed": rng.uniform(1, 5, rows),
    }


def status_notes(a: pa.Analysis) -> list[str]:
    return [str(note) for note in a.notes if note.kind == "status"]


def test_a_status_with_a_word_that_nobody_knows_is_still_a_status() -> None:
    table = searched() | {"status": ["ok", "empty", "timeout", "crash"] * 30}
    a = pa.analyze(table, "elapsed")
    assert set(a.space) == {"solver", "depth"}
    assert len(a) == 60
    assert repr(a).startswith("Analysis(60 of 120 rows, ")
    (note,) = status_notes(a)
    assert "unknown state (empty) count as complete" in note
    assert "failed_states=['empty']" in note
    left = pa.analyze(table, "elapsed", reading=pa.Reading(failed_states=["empty"]))
    assert len(left) == 30


@pytest.mark.parametrize("word", ["region", "OK"])
def test_a_state_of_another_kind_stays_a_parameter(word: str) -> None:
    a = pa.analyze(searched() | {"state": ["TX", "CA", word, "NY"] * 30}, "elapsed")
    assert "state" in a.space


def test_texts_of_errors_tell_which_rows_failed() -> None:
    table = searched()
    failed = np.arange(120) % 3 == 0
    table |= {"elapsed": np.where(failed, -1.0, table["elapsed"]), "error": np.where(failed, "no solution", "")}
    table["error"] = [text or None for text in table["error"].tolist()]
    a = pa.analyze(table, "elapsed")
    assert set(a.space) == {"solver", "depth"}
    assert len(a) == 80


def test_failed_rows_among_the_best_are_named() -> None:
    table = searched() | {"completed": np.arange(120) % 4 != 0}
    table["elapsed"] = np.where(table["completed"], table["elapsed"], table["elapsed"] / 10)
    a = pa.analyze(table, "elapsed")
    (note,) = status_notes(a)
    assert "of the best 13 rows failed" in note
    assert 'where="completed == True"' in note
    assert not status_notes(pa.analyze(table, "elapsed", where="completed == True"))


def test_a_score_that_many_rows_share_while_all_others_differ_is_doubted() -> None:
    table = searched(400)
    table["mse"] = np.where(np.arange(400) % 10 == 0, 0.0, table.pop("elapsed") - 0.99)
    (note,) = status_notes(pa.analyze(table, "mse"))
    assert "the best 40 rows all have mse = 0" in note


def test_names_that_only_sound_like_a_status_stay_parameters() -> None:
    rng = np.random.default_rng(0)
    for name, values in {
        "state_norm": ["running", "none", "fixed"],
        "early_stop_state": ["stop", "continue"],
        "statement": ["abort", "retry"],
        "error": ["mse", "mae", "huber"],
    }.items():
        a = pa.analyze(searched() | {name: rng.choice(values, 120)}, "elapsed")
        assert name in a.space
        assert len(a) == 120


@pytest.mark.parametrize("nothing", [None, "", "none"])
@pytest.mark.parametrize("texts", [["timeout"], ["CUDA OOM"], ["timeout", "ZeroDivision in step"]])
def test_rows_without_an_error_are_never_dropped(nothing: str | None, texts: list[str]) -> None:
    error: list[Any] = [nothing] * 120
    error[::4] = [texts[i % len(texts)] for i in range(30)]
    a = pa.analyze(searched() | {"error": error}, "elapsed")
    assert set(a.space) == {"solver", "depth"}
    assert len(a) in (90, 120)


def test_flags_for_success_are_read_the_right_way_round() -> None:
    table = searched()
    table["completed"] = table["elapsed"] < 2
    assert not status_notes(pa.analyze(table, "elapsed"))
    table["completed"] = np.where(table["elapsed"] < 2, "no", "yes")
    (note,) = status_notes(pa.analyze(table, "elapsed"))
    assert "where=\"completed == 'yes'\"" in note
    assert not status_notes(pa.analyze(table, "elapsed", where="completed == 'yes'"))


@pytest.mark.parametrize("name", ["done", "accepted", "kept", "passed"])
def test_what_a_trial_found_does_not_say_whether_it_ran(name: str) -> None:
    table: dict[str, Any] = searched()
    table[name] = table["elapsed"] >= 2  # False for all of the best rows, as in tables of Ray Tune
    assert not status_notes(pa.analyze(table, "elapsed"))
    failed = np.where(table[name], table["elapsed"], 999.0)
    assert len(pa.analyze(table | {"elapsed": failed}, "elapsed")) == 120


def test_a_flag_of_rows_that_ran_out_of_memory() -> None:
    table: dict[str, Any] = searched()
    failed = np.arange(120) < 12
    table |= {"test_acc": np.where(failed, 0.0, 0.5 + table["elapsed"] / 100), "oom_flag": failed.astype(int)}
    del table["elapsed"]
    a = pa.analyze(table, "test_acc")
    assert (len(a), set(a.space)) == (108, {"solver", "depth"})
    assert repr(a).startswith("Analysis(108 of 120 rows, ")


def test_whether_an_answer_was_correct_is_a_result_of_a_trial_that_ran() -> None:
    table = searched()
    table["winner_correct"] = (np.arange(120) % 4 > 0).astype(int)
    a = pa.analyze(table, "elapsed")
    assert not status_notes(a)
    assert (len(a), set(a.space)) == (120, {"solver", "depth"})


def test_a_column_of_known_states_is_preferred() -> None:
    table = searched() | {"status": ["FAILED", "meh"] * 60, "state": ["COMPLETE"] * 90 + ["PRUNED"] * 30}
    assert len(pa.analyze(table, "elapsed")) == 90


def test_two_objectives_of_one_family() -> None:
    table: dict[str, Any] = searched() | {name: np.arange(120.0) for name in ("val_loss", "test_loss", "test_acc")}
    a = pa.analyze(table | {"val_acc": np.arange(120.0)}, ["val_loss", "val_acc"])
    assert {"solver", "depth"} <= set(a.space)


def test_a_series_of_states_does_not_hide_the_parameter_of_its_name() -> None:
    table = searched()
    state = pd.Series(["COMPLETE", "FAIL"] * 60, name="depth")
    assert "depth" in pa.analyze(table, "elapsed", reading=pa.Reading(state=state)).space


def test_a_word_for_a_state_that_is_not_known_is_doubted() -> None:
    rng = np.random.default_rng(5)
    table = {"lr": rng.uniform(size=40), "status": ["fine", "odd"] * 20, "loss": rng.uniform(size=40)}
    notes = pa.analyze(table, "loss").notes
    assert any(note.subject == "status" and note.severity == "warning" for note in notes)
    passed = pa.analyze({**table, "status": ["pass", "fail"] * 20})
    assert len(passed) == 20


@pytest.mark.parametrize("state", ["Zustand", None])
@pytest.mark.parametrize("words", ["abgebrochen", ["weg", " Abgebrochen "]])
def test_words_for_failures_in_any_language(state: str | None, words: object) -> None:
    """The column is found by these words; its other words mean that a trial is complete."""
    ends = ["fertig", "abgebrochen", "fertig", "läuft"] * 20
    table = {
        "x": [i * 7 % 40 for i in range(80)],
        "Zustand": ends,
        "loss": [0.0 if end == "abgebrochen" else 1.0 + i for i, end in enumerate(ends)],
    }
    a = pa.analyze(table, "loss", reading=pa.Reading(state=state, failed_states=words))
    assert len(a) == 60
    assert list(a.space) == ["x"]
    assert len(pa.analyze(table, "loss", reading=pa.Reading(failed_states=words, failed="worst"))) == 80
    refuse(DataError, "state 'abgebrochen' is unknown", "failed_states=['abgebrochen']",
           of=lambda: pa.analyze(table, "loss", reading=pa.Reading(state="Zustand")))  # fmt: skip


def test_words_for_failures_that_do_not_occur() -> None:
    table = {"x": [i * 7 % 40 for i in range(80)], "state": ["ok", "weg"] * 40, "loss": [i * 7 % 40 for i in range(80)]}
    refuse(DataError, "failed_states=fort", "no column has such a word",
           of=lambda: pa.analyze(table, "loss", reading=pa.Reading(failed_states=["fort"])))  # fmt: skip
    refuse(QueryError, "failed_states=5 must be a list of words", of=lambda: pa.Reading(failed_states=5))  # type: ignore[arg-type]
