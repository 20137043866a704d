"""A source analysed while it grows: at every look, what `analyze` gives of the same rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import optuna
import pytest

import pedanova as pa
from helpers.common import refuse
from helpers.studies import fill_conditional, make
from pedanova.analysis.watched import Watched
from pedanova.errors import DataError, PedanovaError, QueryError
from pedanova.measures.question import Question
from pedanova.measures.questions.ask import importance_of
from pedanova.measures.questions.trial_data import TrialData
from pedanova.space.comparison import DomainChange
from pedanova.space.parameters import Categorical, Float

optuna.logging.set_verbosity(optuna.logging.CRITICAL)


def rows_of(count: int, seed: int = 0, width: float = 1.0) -> list[str]:
    random = np.random.default_rng(seed)
    x, y = random.random((2, count)) * width
    return [
        f"{a!r},{b!r},{'adam' if a < b else 'sgd'},{(a - 0.3) ** 2 + b / 9!r}\n"
        for a, b in zip(x.tolist(), y.tolist(), strict=True)
    ]


def append(path: Path, rows: list[str]) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.writelines(rows)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "trials.csv"
    path.write_text("x,y,opt,loss\n", encoding="utf-8")
    append(path, ["0.0,0.0,adam,0.5\n", "1.0,1.0,sgd,0.9\n", *rows_of(60)])
    return path


def same_answer(one: TrialData, other: pa.Analysis) -> None:
    first = importance_of(one, Question(estimator="counts", draws=200, force=True)).to_dict()
    second = other.importance(estimator="counts", draws=200, force=True).to_dict()
    assert first == second


def test_every_look_is_an_analysis_of_all_rows(path: Path) -> None:
    watched = Watched(path, "loss")
    for seed in range(3):
        sight = watched.look()
        assert sight.analysis is not None
        same_answer(sight.analysis, pa.analyze(path, "loss"))
        assert sight.analysis.rows == sight.finished
        assert sight.best == min(pa.analyze(path, "loss").data.observations.ranked)
        assert watched.look().analysis is None, "nothing is new"
        append(path, rows_of(20, seed + 1))


def test_the_space_stays_until_a_value_lies_outside_or_a_parameter_is_new(path: Path) -> None:
    watched = Watched(path, "loss")
    before = watched.look().analysis.space
    append(path, rows_of(20, 1))
    sight = watched.look()
    assert (sight.domains, sight.analysis.space) == ((), before)
    append(path, ["2.5,0.5,adam,7\n"])
    sight = watched.look()
    assert sight.domains == (DomainChange("x", Float(0.0, 1.0), Float(0.0, 2.5)),)
    append(path, ["0.5,0.5,rmsprop,8\n"])
    (change,) = watched.look().domains
    assert change.after == Categorical(("adam", "rmsprop", "sgd"))


def test_a_guess_that_would_turn_over_does_not(tmp_path: Path) -> None:
    """First the values look as if drawn on a log scale; with more rows the guess would be linear."""
    path = tmp_path / "trials.csv"
    random = np.random.default_rng(0)
    wide = [f"{v!r},{i % 7}\n" for i, v in enumerate(np.exp(random.uniform(-7, 0, 40)).tolist())]
    path.write_text("x,loss\n0.0009,1\n1.0,2\n" + "".join(wide), encoding="utf-8")
    watched = Watched(path, "loss")
    first = watched.look().analysis.space
    assert first["x"].log
    append(path, [f"{v!r},{i % 5}\n" for i, v in enumerate(random.uniform(0.2, 1, 4000).tolist())])
    assert not pa.analyze(path, "loss").space["x"].log, "guessed now, it would be linear"
    sight = watched.look()
    assert sight.analysis.space == first
    assert sight.domains == ()


def test_a_given_space_stays_and_rows_outside_are_counted_apart(path: Path) -> None:
    space = {"x": Float(0, 1), "y": Float(0, 1), "opt": Categorical(("adam", "sgd"))}
    watched = Watched(path, "loss", space=space)
    watched.look()
    append(path, ["2.5,0.5,adam,7\n"])
    sight = watched.look()
    assert dict(sight.analysis.space) == space
    assert any("outside the space" in note for note in sight.analysis.notes)


def test_options_are_those_of_analyze(path: Path) -> None:
    watched = Watched(path, "loss", params=(name for name in ("x", "y")), where="opt == 'adam'")
    for seed in range(2):
        same_answer(watched.look().analysis, pa.analyze(path, "loss", params=["x", "y"], where="opt == 'adam'"))
        append(path, rows_of(30, seed + 5))
    refuse(QueryError, "stream=", "leave it out", of=lambda: Watched(path, "loss", scan=pa.Scan(stream=True)))
    refuse(QueryError, "nan='x'", of=lambda: Watched(path, "loss", reading=pa.Reading(nan="x")))
    refuse(TypeError, "colour", of=lambda: Watched(path, "loss", colour="x"))  # type: ignore[call-arg]


@pytest.mark.filterwarnings("ignore")
def test_a_study_with_failed_and_pruned_trials(tmp_path: Path) -> None:
    path = tmp_path / "trials.db"
    study = make(f"sqlite:///{path}", "grows")
    watched = Watched(path)
    for trials in (10, 15):
        sight = watched.look()
        same_answer(sight.analysis, pa.analyze(path))
        assert sight.finished == sight.analysis.rows + sight.analysis.dropped
        fill_conditional(study, trials)


def test_a_file_that_is_replaced_is_told_even_if_it_cannot_be_analysed_at_once(path: Path) -> None:
    watched = Watched(path, "loss")
    watched.look()
    path.write_text("a,loss\n1,1\n", encoding="utf-8")
    for _ in range(2):
        refuse(PedanovaError, of=watched.look)  # one row compares nothing
    append(path, [f"{n / 2},{n % 3}\n" for n in range(30)])
    sight = watched.look()
    assert sight.event == "shortened"
    assert list(sight.analysis.space) == ["a"]
    assert sight.domains == ()
    assert watched.look().event is None


def test_waiting_for_the_first_trials(tmp_path: Path) -> None:
    path = tmp_path / "trials.csv"
    path.write_text("x,loss\n", encoding="utf-8")
    said: list[str] = []

    def say(text: str) -> None:
        said.append(text)
        append(path, ["1,1\n"] if len(said) == 1 else [f"{n / 2},{n % 4}\n" for n in range(20)])

    sight = Watched(path, "loss").begin(say, pause=0)
    assert sight.analysis.rows == 21
    assert said[0] == "waiting for trials: no trial has ended yet"
    assert len(said) == 2


def test_what_is_wrong_from_the_start_is_not_waited_for(path: Path) -> None:
    refuse(PedanovaError, "'lost'", of=lambda: Watched(path, "lost").begin(pytest.fail, pause=0))
    path.unlink()
    refuse(DataError, "does not exist", of=lambda: Watched(path, "loss"))
