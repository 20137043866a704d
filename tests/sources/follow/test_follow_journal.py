"""Journals while they are written: half a line is no line, and every trial is seen once."""

from __future__ import annotations

import threading
from pathlib import Path

import optuna
import pytest
from optuna.storages.journal import JournalFileBackend

from helpers.common import refuse
from helpers.followed import Tale, ended, same
from helpers.studies import fill_conditional
from pedanova.errors import DataError, FormatError
from pedanova.sources import read_records
from pedanova.sources.follow.follow import follow

pytestmark = pytest.mark.filterwarnings("ignore")
optuna.logging.set_verbosity(optuna.logging.CRITICAL)
ENDED = ("COMPLETE", "PRUNED", "FAIL")


def written(path: Path, trials: int, name: str = "one") -> optuna.Study:
    held = optuna.storages.JournalStorage(JournalFileBackend(str(path)))
    study = optuna.create_study(storage=held, study_name=name, sampler=optuna.samplers.RandomSampler(seed=0))
    fill_conditional(study, trials)
    return study


@pytest.mark.slow
def test_byte_by_byte_it_tells_what_a_reading_at_once_tells(tmp_path: Path) -> None:
    """The journal as it looks at many moments, most of them in the midst of a line."""
    whole, path = tmp_path / "whole.log", tmp_path / "grows.log"
    written(whole, 12)
    content = whole.read_bytes()
    path.write_bytes(content[: content.index(b"\n") + 1])
    tale = Tale(follow(path))
    for end in range(len(content) // 60, len(content), 997):
        with path.open("ab") as journal:
            journal.write(content[path.stat().st_size : end])
        if tale.look().running == 0 and tale.new:
            same(tale.rows, read_records(path))
    with path.open("ab") as journal:
        journal.write(content[path.stat().st_size :])
    tale.look()
    assert tale.new == 12
    same(tale.rows, read_records(whole))


@pytest.mark.slow
def test_four_writers_at_once(tmp_path: Path) -> None:
    path = tmp_path / "journal.log"
    written(path, 1)
    tale = Tale(follow(path))
    held = [optuna.storages.JournalStorage(JournalFileBackend(str(path))) for _ in range(4)]
    studies = [optuna.load_study(study_name="one", storage=one) for one in held]
    writers = [threading.Thread(target=fill_conditional, args=(study, 25)) for study in studies]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        tale.look()
    tale.look()
    assert tale.new == 101
    same(tale.rows, read_records(path))


def test_another_study_under_the_same_name(tmp_path: Path) -> None:
    path = tmp_path / "journal.log"
    study = written(path, 4)
    tale = Tale(follow(path, study="one"))
    tale.look()
    optuna.delete_study(study_name="one", storage=study._storage)
    refuse(DataError, "no study", of=tale.look)
    written(path, 2)
    assert tale.look().event == "study anew"
    assert tale.new == 2


def test_a_damaged_line_is_told_and_nothing_is_applied_twice(tmp_path: Path) -> None:
    path = tmp_path / "journal.log"
    study = written(path, 3)
    tale = Tale(follow(path))
    tale.look()
    good = path.read_bytes()
    fill_conditional(study, 2)
    more = path.read_bytes()[len(good) :]
    path.write_bytes(good + b"what is this\n" + more)
    for _ in range(2):
        refuse(FormatError, "is no operation", of=tale.look)
    path.write_bytes(good + more)
    tale.look()
    assert tale.new == 5
    same(tale.rows, read_records(path))


def test_a_journal_that_was_cut_short(tmp_path: Path) -> None:
    path = tmp_path / "journal.log"
    study = written(path, 6)
    tale = Tale(follow(path))
    tale.look()
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[: len(lines) // 2]))
    assert tale.look().event == "shortened"
    same(tale.rows, ended(read_records(path), *ENDED))
    del study
