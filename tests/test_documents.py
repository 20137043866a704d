"""What the documents show is run: a README that does not work is a broken promise."""

from __future__ import annotations

import importlib
import re
import shlex
import shutil
import sys
from pathlib import Path

import numpy as np
import optuna
import pandas as pd
import pytest

import pedanova as pa
from helpers.documents import ROOT, blocks_of, run_page
from helpers.explorers import served
from pedanova.cli.program import main
from pedanova.results import Across, Along, Importances, Interactions, ReducedSpace, Seeds

pytestmark = pytest.mark.docs

NOT_RUN = {
    "object-stores.md": 1,
    "optuna-dashboard.md": 1,
    "scale.md": 1,
    "terminal.md": 1,
}  # pages with blocks that need what a test has not: buckets, other tools, clusters, a narrow screen


def blocks(name: str, language: str) -> list[str]:
    found = [block.text for block in blocks_of(ROOT / name) if block.kind == language and not block.not_run]
    assert found, f"{name} has no {language} block"
    return found


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, pd.DataFrame]:
    """A folder with what the documents speak of: a table with every column, as files and as a study of Optuna."""
    folder, table = tmp_path_factory.mktemp("prepared"), made_up()
    table.to_csv(folder / "trials.csv", index=False)
    table.to_parquet(folder / "trials.parquet")
    (folder / "runs").mkdir()
    table[::2].to_parquet(folder / "runs/0.parquet")
    table[1::2].to_parquet(folder / "runs/1.parquet")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(study_name="mlp", storage=f"sqlite:///{folder}/optuna.db")
    space = {
        "learning_rate": optuna.distributions.FloatDistribution(1e-5, 1, log=True),
        "optimizer": optuna.distributions.CategoricalDistribution(["adam", "sgd"]),
    }
    rows = [(row, {name: row[name] for name in space}) for row in table[:100].to_dict("records")]
    trials = [optuna.create_trial(params=params, distributions=space, value=row["error"]) for row, params in rows]
    study.add_trials(trials)
    return folder, table


def made_up() -> pd.DataFrame:
    random = np.random.default_rng(0)
    rows = 5_200  # counted: whether a model answers is tested elsewhere
    table = pd.DataFrame(
        {
            "learning_rate": np.exp(random.uniform(np.log(1e-5), 0, rows)),
            "layers": random.integers(1, 6, rows),
            "batch_size": random.choice([16, 32, 64, 128], rows),
            "optimizer": random.choice(["adam", "sgd"], rows),
            "epochs": random.integers(1, 30, rows),
            "seed": random.integers(0, 5, rows),
            "train_seconds": random.random(rows),
            "latency": random.random(rows),
            "memory_over": random.normal(size=rows),
            "state": random.choice(["COMPLETE", "FAIL"], rows, p=[0.9, 0.1]),
            "verdict": random.choice(["good", "bad"], rows),
        }
    )
    table["error"] = np.abs(np.log(table["learning_rate"]) + 5) / 10 + random.random(rows) * 0.1
    return table.assign(loss=table["error"], accuracy=1 - table["error"])


@pytest.fixture
def trials(prepared: tuple[Path, pd.DataFrame], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    """The table, in a folder of one's own that holds its files."""
    shutil.copytree(prepared[0], tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return prepared[1].copy()


@pytest.fixture
def study(trials: pd.DataFrame) -> optuna.Study:
    """The same trials as a study, out of the file beside them."""
    return optuna.load_study(study_name="mlp", storage="sqlite:///optuna.db")


TESTED = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "tests").rglob("*.py")))
PAGES = [
    page
    for page in sorted((ROOT / "docs").glob("*.md"))
    if f'docs/{page.name}"' not in TESTED
    and blocks_of(page)
    and not (ROOT / f"{page.stem.upper()}.md").exists()  # copies that the site's build makes of files of the root
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
@pytest.mark.usefixtures("trials")
def test_a_page(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All pages that no other test names."""
    monkeypatch.setenv("MPLBACKEND", "agg")
    run_page(page)


def test_pages_of_the_reference(tmp_path: Path) -> None:
    pytest.importorskip("numpydoc", reason="pip install 'pedanova[docs]'")
    sys.path.insert(0, str(ROOT / "docs/_site"))
    pages = importlib.import_module("reference").pages()
    for name in ("notes", "errors"):
        page = tmp_path / f"{name}.md"
        page.write_text(pages[name], encoding="utf-8")
        run_page(page)


def test_blocks_that_are_not_run_are_listed() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    found = {page.name: sum(bool(block.not_run) for block in blocks_of(page)) for page in pages}
    assert {name: many for name, many in found.items() if many} == NOT_RUN


def test_python_of_the_readme(trials: pd.DataFrame, study: optuna.Study, capsys: pytest.CaptureFixture[str]) -> None:
    columns = ["learning_rate", "layers", "batch_size", "optimizer", "error"]
    names = {
        "df": trials,
        "pa": pa,
        "optuna": optuna,
        "study": study,
        "first": trials[columns][::2],
        "second": trials[columns][1::2],
    }
    for block in blocks("README.md", "python"):
        exec(compile(block, "README.md", "exec"), names)
    assert "whether a trial among the best 10 % is in the best 1 %" in " ".join(capsys.readouterr().out.split())
    assert Path("run.pedanova").exists()


@pytest.mark.usefixtures("trials")
def test_commands_of_the_readme() -> None:
    lines = [line[2:] for block in blocks("README.md", "console") for line in block.splitlines()]
    commands = [shlex.split(line, comments=True) for line in lines if line.startswith("pedanova")]
    assert len(commands) >= 3
    for command in commands:
        if command[1] == "explore":  # until Ctrl-C
            with served(*command[2:]) as explorer:
                assert explorer.interrupt() == 0
        else:
            assert main(command[1:]) == 0
    assert Path("report.html").exists()
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) < 120


def test_lines_of_the_explorer(trials: pd.DataFrame) -> None:
    trials.assign(lr=trials["learning_rate"], momentum=trials["memory_over"] % 1).to_csv("trials.csv", index=False)
    a = pa.analyze("trials.csv", objective="error", params=["lr", "momentum", "optimizer"])
    serving, asking = blocks("docs/explore.md", "python")
    assert "a.explore()" in serving
    for line in asking.replace("0.0285", "0.3").splitlines():
        exec(compile(line.strip(), "explore.md", "exec"), {"a": a, "pa": pa})
    lines = [line.strip()[2:] for block in blocks("docs/explore.md", "console") for line in block.splitlines()]
    commands = [shlex.split(line.replace("0.0285", "0.3")) for line in lines if line.startswith("pedanova analyze")]
    assert [main(command[1:]) for command in commands] == [0]


def test_the_answer_of_the_readme_is_printed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)
    shutil.copy(pa.demo_trials(), "trials.csv")
    command = blocks("README.md", "console")[0].splitlines()[0]
    assert main(shlex.split(command)[2:]) == 0
    shown = capsys.readouterr().out
    (block,) = blocks("README.md", "text")
    for line in block.splitlines():
        assert line == "…" or line.rstrip() in shown


def test_the_report(trials: pd.DataFrame) -> None:
    trials[["learning_rate", "optimizer", "error"]][:150].to_csv("trials.csv", index=False)
    for block in blocks("docs/report.md", "python"):
        exec(compile(block, "report.md", "exec"), {})
    assert Path("report.html").stat().st_size < 1_500_000
    assert (ROOT / "docs/images/report.png").stat().st_size < 250_000


def test_how_sure() -> None:
    names: dict[str, object] = {}
    for block in blocks("docs/how-sure.md", "python"):
        exec(compile(block, "how-sure.md", "exec"), names)
    found = names["found"]
    assert isinstance(found, Importances)
    assert found.estimator == "surrogate"
    assert found["lr"].significant
    assert not found["noise"].significant


def test_rows_and_conditions(trials: pd.DataFrame) -> None:
    for block in blocks("docs/rows-and-conditions.md", "python"):
        names: dict[str, object] = {"pa": pa}
        exec(compile(block, "rows-and-conditions.md", "exec"), names)
        space = names["space"]
        rows = len(trials)
        random = np.random.default_rng(1)
        alpha = random.random(rows)
        dropout = np.where(random.random(rows) < 0.3, 0.0, random.uniform(0.0, 0.5, rows))
        data = {
            "optimizer": trials["optimizer"],
            "momentum": np.where(trials["optimizer"] == "sgd", random.random(rows), np.nan),
            "phase": np.where(np.arange(rows) < 300, "early", "late"),
            "lr": np.where(np.arange(rows) < 300, random.uniform(1e-4, 1, rows), random.uniform(1e-5, 1e-2, rows)),
            "dropout": dropout,
            "schedule": np.where(dropout > 0, random.random(rows), np.nan),
            "alpha": alpha,
            "beta": alpha + (1 - alpha) * random.random(rows),
            "loss": random.random(rows),
        }
        found = pa.analyze(data, "loss", space=space).importance()  # type: ignore[arg-type]
        assert set(found) == {"optimizer", "momentum", "dropout", "schedule", "lr", "beta"}
    for target in ("0.1", "pa.at_most(0.05)", "pa.between(0.1, 0.3)"):
        assert target in (ROOT / "docs/rows-and-conditions.md").read_text(encoding="utf-8")
    a = pa.analyze(trials, "verdict == 'good'", direction="maximize", params=["layers", "optimizer"])
    good = (trials["verdict"] == "good") & (trials["state"] == "COMPLETE")
    assert a.importance(pa.at_least(1)).rows[0].n_target == int(good.sum())


def test_sources(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {}
    for block in blocks("docs/sources.md", "python"):
        exec(compile(block, "sources.md", "exec"), names)
    assert "momentum" in capsys.readouterr().out
    a = names["a"]
    assert isinstance(a, pa.Analysis)
    assert next(iter(a.importance(draws=0))) == "rate"


def test_figures() -> None:
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot as plt

    plt.close("all")
    for block in blocks("docs/figures.md", "python"):
        exec(compile(block, "figures.md", "exec"), {})
    assert len(plt.get_fignums()) == 9
    plt.close("all")


def test_scale(trials: pd.DataFrame, tmp_path: Path) -> None:
    (tmp_path / "trials").mkdir()
    for part in range(3):
        trials[part::3].to_parquet(tmp_path / "trials" / f"{part}.parquet")
    for block in blocks("docs/scale.md", "python"):
        exec(compile(block, "scale.md", "exec"), {"pa": pa})


def test_forest() -> None:
    names: dict[str, object] = {}
    for block in blocks("docs/forest.md", "python"):
        exec(compile(block, "forest.md", "exec"), names)
    assert next(iter(names["effects"])) == "lr"  # type: ignore[call-overload]


def test_effects_and_pairs(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {}
    for block in blocks("docs/effects-and-pairs.md", "python"):
        exec(compile(block, "effects-and-pairs.md", "exec"), names)
    shown = capsys.readouterr().out
    assert shown.splitlines()[3].startswith("depth × width")
    pairs = names["pairs"]
    assert isinstance(pairs, Interactions)
    assert shown.count("~") == len(pairs.rows) - 1
    text = (ROOT / "docs/effects-and-pairs.md").read_text(encoding="utf-8")
    for field in ("closed", "additive", "interaction", "redundancy", "p_value", "p_adjusted"):
        assert f"`{field}`" in text
        assert hasattr(pairs.rows[0], field)


def test_the_paper() -> None:
    names: dict[str, object] = {}
    for block in blocks("docs/paper.md", "python"):
        exec(block, names)
    text = (ROOT / "docs/paper.md").read_text(encoding="utf-8")
    tests = (ROOT / "tests/test_paper.py").read_text(encoding="utf-8")
    named = re.findall(r"`(test_\w+)`", text)
    assert len(named) >= 8
    assert all(f"def {name}(" in tests for name in named), named
    for image in re.findall(r"\]\((images/paper/[^)]+)\)", text):
        assert (ROOT / "docs" / image).stat().st_size < 250_000


def test_reduction(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {}
    for block in blocks("docs/reduction.md", "python"):
        exec(compile(block, "reduction.md", "exec"), names)
    small = names["small"]
    assert isinstance(small, ReducedSpace)
    assert small["lr"].advice == "narrow"
    assert small["dropout"].advice == "widen"
    assert "suggest_float('lr'" in capsys.readouterr().out


def test_studies(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in blocks("docs/studies.md", "python"):
        exec(compile(block, "studies.md", "exec"), names)
    found = names["x"]
    assert isinstance(found, Across)
    assert list(found) == ["lr", "depth"]
    assert "What matters in spring and in autumn" in capsys.readouterr().out


def test_rooms_of_the_architecture_exist() -> None:
    text = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    rooms = text[text.index("## Subpackages") : text.index("## Decisions")]
    listed = re.findall(r"^\| `([\w/]+)`", rooms, flags=re.MULTILINE)
    assert len(listed) > 12
    for name in listed:
        assert (PACKAGE / name).is_dir() or (PACKAGE / f"{name}.py").exists(), name


PACKAGE = Path(pa.__file__).parent
PUBLIC_ROOMS = tuple(
    f"pedanova.{one}"
    for one in (
        "analysis.analysis.Analysis",
        "analysis.output.Output",
        "report.figures.plots.Plots",
        "base.table.Table",
    )
)
MODULES = sorted(
    ".".join(("pedanova", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")
    for path in PACKAGE.rglob("*.py")
    if ">>>" in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("name", ["docs/along.md", "docs/seeds.md"])
@pytest.mark.usefixtures("trials")
def test_budgets_and_seeds(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPLBACKEND", "agg")
    found = run_page(ROOT / name)["found"]
    assert isinstance(found, Along | Seeds)
    assert name == "docs/seeds.md" or found.since == 12


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name: str) -> None:
    """Those of public names are run by test_docstrings, from nothing but what they import."""
    import doctest
    from importlib import import_module

    public = {getattr(m, one).__doc__ for m in (pa, pa.results) for one in m.__all__ if one != "__version__"}
    runner = doctest.DocTestRunner(verbose=False)
    for test in doctest.DocTestFinder().find(import_module(name)):
        if test.docstring not in public and not test.name.startswith(PUBLIC_ROOMS):
            runner.run(test)
    assert runner.failures == 0
