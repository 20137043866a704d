"""Watching under load: real studies, four processes that write, and as many looks as an hour has.

PEDANOVA_HEAVY=1 makes 2,000 trials; otherwise there are fewer.
"""

from __future__ import annotations

import functools
import gc
import json
import os
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import optuna
import pytest

import pedanova as pa
from helpers.followed import same
from helpers.servers import postgresql_url  # noqa: F401
from pedanova.analysis.watched import Watched, Watcher, follow
from pedanova.base.threads import EVERYWHERE, RESULTS
from pedanova.measures.question import Question
from pedanova.measures.questions.ask import importance_of
from pedanova.report.live.session import Session
from pedanova.sources import read_records

pytestmark = pytest.mark.filterwarnings("ignore")
optuna.logging.set_verbosity(optuna.logging.CRITICAL)
WORKERS = 4
TRIALS = 2_000 if os.environ.get("PEDANOVA_HEAVY") == "1" else 48
LOOKS = 1_800 if os.environ.get("PEDANOVA_HEAVY") == "1" else 9  # one every two seconds, for an hour
EACH = 2_000  # bytes that a row may need, in all that an analysis derives from it; an analysis has some 500,000,
PAIR, MODELLED = 100, 700  # bytes that two rows may need in the factors of a model, which knows so many rows at most
SPREAD = 400_000  # and what its caches hold differs from look to look
OPTIONS = {"estimator": "counts", "draws": 40}
WORKERS_OF_A_STUDY = """
import sys, multiprocessing, optuna, sqlalchemy
def objective(trial):
    x, y = trial.suggest_float("x", 0, 1), trial.suggest_float("y", 0, 1)
    return (x - 0.3) ** 2 + 0.1 * y * trial.suggest_int("n", 1, 4)
def work(seed):
    sampler = optuna.samplers.RandomSampler(seed=seed)
    storage = optuna.storages.RDBStorage(sys.argv[1])
    if storage.engine.name == "sqlite":  # as fast as they can: no write waits for the disk, only for the others
        storage.engine.dispose()
        sqlalchemy.event.listen(storage.engine, "connect", lambda one, _: one.execute("PRAGMA synchronous=OFF"))
    study = optuna.load_study(study_name="load", storage=storage, sampler=sampler)
    study.optimize(objective, n_trials=int(sys.argv[3]))
many = int(sys.argv[2])
with multiprocessing.get_context("fork").Pool(many) as pool:  # which have loaded the libraries once
    pool.map(work, range(many), chunksize=1)
"""


@contextmanager
def workers(url: str, folder: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """Four, and what they say: in a file, since a pipe that nobody reads is full after some 300 trials."""
    log = folder / "workers.log"
    words = [sys.executable, "-c", WORKERS_OF_A_STUDY, url, str(WORKERS), str(TRIALS // WORKERS)]
    with log.open("w", encoding="utf-8") as file:
        running = subprocess.Popen(words, stderr=file, text=True)
    try:
        yield running, log
    finally:
        running.terminate()  # the pool ends with it
        running.wait()


def watch(url: str, for_optuna: str, folder: Path) -> None:
    """Looks while four processes write, half of the time; then every claim is held against the database."""
    held = optuna.storages.RDBStorage(for_optuna)
    optuna.create_study(study_name="load", storage=held)
    held.engine.dispose()
    followed, seen = follow(url), 0
    watched = Watched(url)
    watcher: Watcher | None = None
    with workers(for_optuna, folder) as (running, log):
        while running.poll() is None:
            begin = time.monotonic()
            look = followed.look()
            seen += look.new
            assert look.finished == seen
            if look.records is not None:
                assert look.records.rows == seen + (look.running or 0)
                rows = look.records.columns["x"].values
                rows = rows[~np.isnan(rows)]
                assert len(np.unique(rows)) == len(rows) >= seen, "a trial was seen twice"
            if seen >= 20 and watcher is None:
                watcher = Watcher(Session(watched.begin(pytest.fail).analysis, options=OPTIONS), watched)
            elif watcher is not None:
                watcher.step()
                assert watcher.trouble is None
            time.sleep(time.monotonic() - begin)  # writers on two cores need some time of their own
        errors = log.read_text(encoding="utf-8")
    assert running.returncode == 0, errors
    assert "locked" not in errors.lower()
    assert "deadlock" not in errors.lower()
    last = followed.look()
    assert last.finished == seen + last.new == TRIALS
    assert last.running == 0
    assert watcher is not None
    watcher.step()
    final = watcher.session.analysis
    assert final.rows == TRIALS
    assert importance_of(final, Question(**OPTIONS)).to_dict() == pa.analyze(url).importance(**OPTIONS).to_dict()
    whole = follow(url).look().records
    assert whole is not None
    same(whole, read_records(url))


def test_four_processes_on_sqlite(tmp_path: Path) -> None:
    path = tmp_path / "load.db"
    watch(f"sqlite:///{path}", f"sqlite:///{path}", tmp_path)


def test_four_processes_on_postgresql(postgresql_url: str, tmp_path: Path) -> None:  # noqa: F811
    watch(postgresql_url, postgresql_url.replace("postgresql://", "postgresql+psycopg://"), tmp_path)


def traced() -> int:
    """Bytes in use, less what is only kept for speed, which is bounded."""
    gc.unfreeze()  # conftest.py has frozen what was there before the first test
    for one in gc.get_objects():
        if isinstance(one, functools._lru_cache_wrapper) and one.__module__.startswith("pedanova"):
            one.cache_clear()
    RESULTS._made[RESULTS._numbers[EVERYWHERE]].clear()
    gc.collect()
    gc.freeze()
    return tracemalloc.get_traced_memory()[0]


def test_memory_stays_flat_for_an_hour(tmp_path: Path) -> None:
    """A row for every look. What is held at the end is what the rows need: no analysis that was replaced."""
    path = tmp_path / "trials.jsonl"
    random = np.random.default_rng(0)

    def append(rows: int) -> None:
        with path.open("a", encoding="utf-8") as file:
            for x, y in random.random((rows, 2)).tolist():
                file.write(json.dumps({"x": x, "y": y, "loss": (x - 0.3) ** 2 + 0.1 * y}) + "\n")

    append(100)
    watched = Watched(path, "loss")
    watcher = Watcher(Session(watched.begin(pytest.fail).analysis, options=OPTIONS), watched)
    watcher.session.watcher = watcher.news

    def look(number: int) -> None:
        append(1)
        assert watcher.step()
        if number % 20 == 0:  # the page asks anew at times
            watcher.session.ask({"part": "answer", "sure": False})
            watcher.session.ask({"part": "news", "since": 0})

    for number in range(LOOKS // 3):  # what is loaded once is loaded
        look(number)
    held: list[int] = []
    tracemalloc.start()
    try:
        for number in range(LOOKS // 3, LOOKS):
            look(number)
            if number in (LOOKS // 3, LOOKS - 1):
                held.append(traced())
    finally:
        tracemalloc.stop()
    rows = LOOKS - LOOKS // 3
    print(f"{held[1] - held[0]:,} bytes more after {rows:,} looks, each with a row; {held[0]:,} before")  # with -s
    pairs = min(100 + LOOKS, MODELLED) ** 2 - min(101 + LOOKS // 3, MODELLED) ** 2
    assert held[1] - held[0] < EACH * rows + PAIR * pairs + SPREAD, (
        f"{held[1] - held[0]:,} bytes more after {rows:,} looks"
    )
    assert watcher.session.analysis.rows == 100 + LOOKS
