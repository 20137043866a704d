"""News of a growing source: what changed, in words, and nothing done while nobody asks."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import pedanova as pa
from helpers.followed import append, begin
from pedanova.analysis import watched as watch
from pedanova.analysis.watched import Update, Watched, Watcher, said_of_passes, said_of_source, stability
from pedanova.errors import DataError
from pedanova.measures.importance import Pass, Standings
from pedanova.report.live.session import Session
from pedanova.space.comparison import DomainChange
from pedanova.space.parameters import Float

OPTIONS = {"estimator": "counts", "draws": 200}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return begin(tmp_path / "trials.csv")


def watcher_of(path: Path, objective: str = "loss") -> Watcher:
    watched = Watched(path, objective)
    first = watched.begin(pytest.fail)
    return Watcher(Session(first.analysis, options=OPTIONS), watched, update=watched.last)


def news(watcher: Watcher, since: int = 0) -> dict[str, Any]:
    watcher.session.watcher = watcher.news
    told = watcher.session.ask({"part": "news", "since": since})
    json.dumps(told, allow_nan=False)
    return told


def test_rows_arrive_and_the_ranking_is_stable(path: Path) -> None:
    watcher = watcher_of(path)
    assert news(watcher)["rows"] == 100
    assert not watcher.step(), "nothing is new"
    assert news(watcher)["stable"] == "the ranking has been stable for 50 trials", "looked back at half of them"
    append(path, 40, 1)
    assert watcher.step()
    told = news(watcher)
    assert (told["version"], told["rows"], told["finished"]) == (2, 140, 140)
    assert told["stable"] == "the ranking has been stable for 90 trials"
    assert told["best"] == min(pa.analyze(path, "loss").data.observations.ranked)
    assert told["changes"] == []


def test_who_passed_whom_is_told_with_the_number_of_trials(path: Path) -> None:
    watcher = watcher_of(path)
    watcher.step()
    append(path, 900, 1, swap=True)
    watcher.step()
    told = news(watcher, since=1)
    assert [change["text"] for change in told["changes"]] == ["y passed x after 1,000 trials"]
    assert told["stable_for"] == 0
    assert news(watcher, since=told["version"])["changes"] == []


def test_what_was_there_when_the_page_was_opened_is_no_news(path: Path) -> None:
    append(path, 900, 1, swap=True)
    watcher = watcher_of(path)
    watcher.step()
    assert news(watcher)["changes"] == []
    assert watcher.standings is not None
    assert watcher.standings.order == ("y", "x")


def test_what_came_before_the_first_look_is_news(path: Path) -> None:
    watcher = watcher_of(path)
    append(path, 900, 1, swap=True)
    watcher.step()
    (change,) = news(watcher)["changes"]
    assert change["text"].startswith("y passed x after ")


def test_a_question_that_was_last_request_stays_answerable(path: Path) -> None:
    """The page's selection is of values, so more rows and wider domains do not touch it."""
    watcher = watcher_of(path)
    question = {"selection": {"x": {"range": [0.2, 0.6]}}, "target": {"part": [0, 0.2]}}
    before = watcher.session.ask({"part": "answer", "question": question})
    append(path, 60, 3)
    with path.open("a", encoding="utf-8") as file:
        file.write("5,0.5,9\n")
    watcher.step()
    after = watcher.session.ask({"part": "answer", "question": question})
    assert after["refused"] is None
    assert after["question"] == before["question"]
    assert after["version"] == before["version"] + 1
    assert after["rows"]["selected"] > before["rows"]["selected"]
    assert [change["text"] for change in news(watcher)["changes"]] == ["the domain of x is now 0 … 5"]


def test_trouble_is_told_and_nothing_is_lost(path: Path, tmp_path: Path) -> None:
    watcher = watcher_of(path)
    watcher.step()
    away = tmp_path / "away"
    path.rename(away)
    for _ in range(3):
        assert not watcher.step()
    told = news(watcher)
    assert "waiting for it to come back" in told["trouble"]
    assert told["rows"] == 100
    assert told["version"] == 1
    away.rename(path)
    append(path, 10, 1)
    assert watcher.step()
    told = news(watcher)
    assert told["trouble"] is None
    assert told["rows"] == 110


def test_a_file_cut_short_is_told_and_read_anew(path: Path) -> None:
    watcher = watcher_of(path)
    watcher.step()
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[:81]), encoding="utf-8")
    watcher.step()
    told = news(watcher, since=1)
    assert told["rows"] == 80
    assert [change["text"] for change in told["changes"]] == [
        f"{path} is shorter than before; reading it again from the start"
    ]
    path.write_text("x,y,loss\n", encoding="utf-8")
    watcher.step()
    told = news(watcher, since=told["version"])
    assert "shorter than before" in told["changes"][0]["text"]
    assert told["rows"] == 80, "kept until there is something newer"


def test_too_few_trials_for_a_ranking(tmp_path: Path) -> None:
    path = tmp_path / "trials.csv"
    path.write_text("x,y,loss\n0,0,2\n", encoding="utf-8")
    append(path, 4, 0)
    watcher = watcher_of(path)
    watcher.step()
    assert news(watcher)["stable"] == "no ranking yet: too few trials in the target"
    append(path, 60, 1)
    watcher.step()
    assert watcher.standings is not None


class Quiet(Watched):
    """A source that counts how often it was looked at."""

    def __init__(self) -> None:
        self.shown, self.ordered, self.last = "a source", True, None
        self.looks = 0
        self.looked = threading.Event()

    def look(self) -> Update:
        self.looks += 1
        self.looked.set()
        return Update()


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "BREAK", 0.01)


def until(done: Callable[[], bool]) -> None:
    for _ in range(2000):
        if done():
            return
        time.sleep(0.01)
    pytest.fail("it did not come")


@pytest.mark.usefixtures("quick")
def test_no_page_no_work(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "PATIENCE", 0.05)
    quiet = Quiet()
    watcher = Watcher(Session(pa.analyze(path, "loss").data, options=OPTIONS), quiet).start()
    try:
        assert not quiet.looked.wait(0.3), "nobody has asked"
        watcher.session.ask({"part": "news"})
        assert quiet.looked.wait(20)
        until(lambda: time.monotonic() - watcher._last_request > 0.1)
        time.sleep(0.1)
        looks = quiet.looks
        time.sleep(0.3)
        assert quiet.looks == looks, "nobody asks any more"
    finally:
        watcher.close()
    assert watcher._thread is not None
    watcher._thread.join(20)
    assert not watcher._thread.is_alive()


@pytest.mark.usefixtures("quick")
def test_rows_arrive_by_themselves_while_a_page_asks(path: Path) -> None:
    watcher = watcher_of(path).start()
    try:
        append(path, 30, 1)
        until(lambda: watcher.session.ask({"part": "news"})["rows"] == 130)
    finally:
        watcher.close()


@pytest.mark.usefixtures("quick")
def test_the_thread_outlives_what_nobody_thought_of(path: Path) -> None:
    watcher = watcher_of(path)
    looks = iter([ZeroDivisionError("odd"), None])
    look = watcher.watched.look

    def odd() -> Update:
        error = next(looks, None)
        if error is not None:
            raise error
        return look()

    watcher.watched.look = odd  # type: ignore[method-assign]
    append(path, 20, 1)
    watcher.start()
    try:
        until(lambda: watcher.session.ask({"part": "news"})["rows"] == 120)
    finally:
        watcher.close()


def test_a_look_that_fails_in_any_way_is_survived(path: Path) -> None:
    watcher = watcher_of(path)

    def fail() -> Update:
        raise OSError(5, "Input/output error")

    watcher.watched.look = fail  # type: ignore[method-assign]
    assert not watcher.step()
    assert "Input/output error" in news(watcher)["trouble"]
    watcher.watched.look = lambda: (_ for _ in ()).throw(DataError("the database is down"))  # type: ignore[method-assign]
    assert not watcher.step()
    assert news(watcher)["trouble"] == "the database is down"


def test_sentences() -> None:
    passes = [Pass("b", "a", 120, True), Pass("b", "c", 120, True), Pass("d", "e", 120, False)]
    assert said_of_passes(passes) == ["b passed a and c after 120 trials", "d is clearly ahead of e after 120 trials"]
    many = [Pass("b", name, 1200, True) for name in "acdefg"]
    assert said_of_passes(many) == ["b passed a, c, d and 3 others after 1,200 trials"]
    domains = (DomainChange("lr", Float(0, 1), Float(0, 2)), DomainChange("new", None, Float(0, 1)),
               DomainChange("old", Float(0, 1), None))  # fmt: skip
    update = Update(None, event="shortened", domains=domains)
    assert said_of_source(update, "x.db") == [
        "x.db is shorter than before; reading it again from the start",
        "new is a new parameter",
        "old is no longer a parameter",
        "the domain of lr is now 0 … 2",
    ]
    wide = tuple(DomainChange(name, Float(0, 1), Float(0, 2)) for name in "abcdef")
    assert said_of_source(Update(None, domains=wide), "") == [
        "new values have changed the domains of a, b, c and 3 others"
    ]
    assert stability(Standings((), frozenset(), 10, 11)) == "the ranking has been stable for 1 trial"
    assert stability(None) == "no ranking yet"
