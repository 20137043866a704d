"""Optuna's databases while they grow: what a reading at once would give, and every trial once."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import optuna
import pytest

from helpers.common import refuse
from helpers.followed import Tale, ended, same
from helpers.proxy import proxy_to
from helpers.servers import mariadb_url, postgresql_url  # noqa: F401
from helpers.studies import TRIALS, fill_conditional, make, with_changed_range, with_moving_bounds
from pedanova.errors import DataError
from pedanova.sources import read_records
from pedanova.sources.follow import storage
from pedanova.sources.follow.follow import follow

pytestmark = pytest.mark.filterwarnings("ignore")
optuna.logging.set_verbosity(optuna.logging.CRITICAL)
ENDED = ("COMPLETE", "PRUNED", "FAIL")


def for_optuna(url: str) -> str:
    return url.replace("postgresql://", "postgresql+psycopg://").replace("mysql://", "mysql+pymysql://")


@pytest.fixture(params=["sqlite", "postgresql", "mariadb"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """An empty database."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'trials.db'}"
        return
    found = str(request.getfixturevalue(f"{request.param}_url"))
    held = optuna.storages.RDBStorage(for_optuna(found))
    for study in held.get_all_studies():
        held.delete_study(study._study_id)
    yield found
    held.engine.dispose()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "my trials.db"


@pytest.mark.slow
def test_every_look_tells_what_a_reading_at_once_tells(url: str) -> None:
    study = make(for_optuna(url), "grows")
    tale = Tale(follow(url))
    for trials in (0, 1, 7, 13):
        fill_conditional(study, trials)
        look = tale.look()
        same(tale.rows, read_records(url))
        assert look.running == 0
    assert tale.new == len(study.trials)
    assert tale.look().records is None, "nothing is new"
    assert not tale.events


@pytest.mark.slow
def test_a_trial_is_taken_when_it_has_ended(url: str) -> None:
    study = make(for_optuna(url), "waits")
    tale = Tale(follow(url))
    early, late = study.ask(), study.ask()
    for trial in (early, late):
        trial.suggest_float("rate", 1e-5, 1.0, log=True)
    look = tale.look()
    assert (look.finished, look.running) == (TRIALS, 2)
    same(tale.rows, ended(read_records(url), *ENDED))
    fill_conditional(study, 5)
    study.tell(late, 0.5)
    assert tale.look().new == 6
    same(tale.rows, ended(read_records(url), *ENDED))
    study.tell(early, 0.25)  # it takes its place among the others, by its number
    assert tale.look().new == 1
    same(tale.rows, read_records(url))


def test_a_study_without_trials_is_waited_for(path: Path) -> None:
    study = optuna.create_study(storage=f"sqlite:///{path}")
    tale = Tale(follow(path))
    assert tale.look().records is None
    fill_conditional(study, 3)
    assert tale.look().new == 3


@pytest.mark.slow
@pytest.mark.parametrize("fill", [with_changed_range, with_moving_bounds])
def test_domains_that_change_between_two_looks(fill: object, path: Path) -> None:
    url = f"sqlite:///{path}"
    whole = fill(None)  # type: ignore[operator]
    study = optuna.create_study(storage=url, study_name=whole.study_name, directions=whole.directions)
    tale = Tale(follow(path))
    for trial in whole.trials:
        study.add_trial(trial)
        if trial.number % 7 == 0:
            tale.look()
    tale.look()
    same(tale.rows, read_records(path))


@pytest.mark.slow
def test_several_objectives_and_constraints(path: Path) -> None:
    whole = make(None, "front", constrain=True)
    study = optuna.create_study(storage=f"sqlite:///{path}", study_name="front", directions=whole.directions)
    study.set_metric_names(["error", "gain"])
    tale = Tale(follow(path))
    for trial in whole.trials:
        study.add_trial(trial)
        if trial.number % 11 == 0:
            tale.look()
    tale.look()
    same(tale.rows, read_records(path))


@pytest.mark.slow
def test_values_on_the_way_are_those_of_the_rows(path: Path) -> None:
    study = make(f"sqlite:///{path}", "curves")
    tale = Tale(follow(path))
    waiting = study.ask()
    waiting.suggest_float("rate", 1e-5, 1.0, log=True)
    tale.look()
    fill_conditional(study, 10)
    waiting.report(3.5, 2)
    study.tell(waiting, 1.0)
    tale.look()
    one, other = tale.rows.curves, read_records(path).curves
    assert one is not None
    assert other is not None
    here, there = one.read("value"), other.read("value")
    assert here.rows.tolist() == there.rows.tolist()
    assert here.values.tolist() == there.values.tolist()


@pytest.mark.slow
def test_only_what_is_new_is_fetched(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = make(f"sqlite:///{path}", "new")
    tale = Tale(follow(path))
    tale.look()
    fetched: list[int] = []
    read = vars(storage)["read_trials"]

    def counted(*given: object) -> object:
        fetched.append(len(given[3]))  # type: ignore[arg-type]
        return read(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(storage, "read_trials", counted)
    monkeypatch.setattr(storage, "APART", 50)
    tale.look()
    assert fetched == []
    early = study.ask()
    early.suggest_float("rate", 1e-5, 1.0, log=True)
    fill_conditional(study, 60)
    tale.look()
    study.tell(early, 1.0)
    fill_conditional(study, 4)
    tale.look()
    assert fetched == [60, 1, 4], "trials far apart are not fetched with all that lies between them"
    same(tale.rows, read_records(path))


@pytest.mark.slow
def test_a_trial_that_a_server_shows_late_is_not_missed(path: Path) -> None:
    """Two sessions draw keys 7 and 8, and that of 8 is finished first: so it is on servers."""
    study = make(f"sqlite:///{path}", "late")
    with sqlite3.connect(path) as database:
        database.execute("UPDATE trials SET study_id = 99 WHERE trial_id = 20")  # not to be seen yet
    database.close()
    tale = Tale(follow(path))
    assert tale.look().new == TRIALS - 1
    with sqlite3.connect(path) as database:
        database.execute("UPDATE trials SET study_id = 1 WHERE trial_id = 20")
    database.close()
    assert tale.look().new == 1
    fill_conditional(study, 2)
    assert tale.look().new == 2
    same(tale.rows, read_records(path))


@pytest.mark.slow
def test_a_study_that_is_deleted_and_begun_anew(url: str) -> None:
    make(for_optuna(url), "again")
    tale = Tale(follow(url, study="again"))
    tale.look()
    optuna.delete_study(study_name="again", storage=for_optuna(url))
    refuse(DataError, "no study called 'again' any more", of=tale.look)
    study = optuna.create_study(study_name="again", storage=for_optuna(url))
    fill_conditional(study, 5)
    assert tale.look().event == "study anew"
    assert tale.new == 5
    same(tale.rows, read_records(url))


@pytest.mark.slow
def test_a_file_that_is_gone_and_comes_back(path: Path, tmp_path: Path) -> None:
    study = make(f"sqlite:///{path}", "moved")
    tale = Tale(follow(path))
    tale.look()
    away = tmp_path / "away.db"
    path.rename(away)
    refuse(DataError, "no such file", of=tale.look)
    away.rename(path)
    fill_conditional(study, 3)
    assert tale.look().new == 3
    other = tmp_path / "other.db"
    make(f"sqlite:///{other}", "moved")
    other.replace(path)
    assert tale.look().event == "replaced"
    same(tale.rows, read_records(path))


@pytest.mark.slow
def test_a_server_that_goes_away_in_the_midst_of_looks(postgresql_url: str) -> None:  # noqa: F811
    """Wherever a look breaks off, nothing of it is taken, and the next one finds all of it."""
    held = optuna.storages.RDBStorage(for_optuna(postgresql_url))
    study = make(held, "cut off")
    broken = 0
    with proxy_to(postgresql_url) as proxy:
        tale = Tale(follow(proxy.url, study="cut off"))
        for most in (0, 300, 1_500, 3_000, 6_000, 12_000, 24_000, 48_000):
            proxy.sent, proxy.most = 0, most
            try:
                tale.look()
            except DataError:
                broken += 1
            proxy.most = None
            if most in (300, 6_000):
                tale.look()
            fill_conditional(study, 2)
        tale.look()
    assert broken >= 3
    assert tale.new == len(study.trials)
    same(tale.rows, read_records(postgresql_url, study="cut off"))
    held.engine.dispose()


def test_which_study(path: Path) -> None:
    for name in ("one", "two"):
        optuna.create_study(study_name=name, storage=f"sqlite:///{path}")
    refuse(DataError, "2 studies", "study=", of=follow(path).look)
    refuse(DataError, "no study called 'three'", of=follow(path, study="three").look)
    assert follow(path, study="two").look().finished == 0


@pytest.mark.slow
def test_reading_changes_nothing_and_locks_nobody(path: Path) -> None:
    """A look in the midst of a writer's transaction waits for nothing, and the writer's commit does not fail."""
    make(f"sqlite:///{path}", "busy")
    writer = sqlite3.connect(path, timeout=0)  # it would fail at once
    tale = Tale(follow(path))
    for number in range(20):
        writer.execute("BEGIN IMMEDIATE")
        writer.execute(
            "INSERT INTO trial_user_attributes (trial_id, key, value_json) VALUES (1, ?, '1')", (str(number),)
        )
        tale.look()
        writer.commit()
        tale.look()
    writer.close()
    assert tale.new == TRIALS
