"""Measures side by side: each column is what its own method says, and what fails is told, not hidden."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import pedanova as pa
from helpers.common import refuse
from pedanova.cli.program import main
from pedanova.errors import MissingLibraryError, QueryError, UnknownParameterError
from pedanova.measures import forest
from pedanova.measures.questions import ask
from pedanova.results import Comparison


@pytest.fixture(scope="module")
def a() -> pa.Analysis:
    random = np.random.default_rng(5)
    lr, wd = random.random((2, 600))
    kind = random.choice(["a", "b", "c"], 600)
    loss = (lr - 0.4) ** 2 + 0.1 * (kind == "b") + 0.02 * wd + 0.01 * random.random(600)
    return pa.analyze({"lr": lr, "wd": wd, "kind": kind}, loss)


@pytest.fixture(scope="module")
def found(a: pa.Analysis) -> Comparison:
    return a.compare()


class TestColumns:
    def test_each_is_its_own_method(self, a: pa.Analysis, found: Comparison) -> None:
        assert list(found) == [
            "PED", "PED local", "paper", "f-ANOVA", "f-ANOVA local", "forest", "forest clipped"
        ]  # fmt: skip
        assert found["PED"].ratios == {row.name: row.ratio for row in a.importance(0.1).rows}
        assert found["f-ANOVA local"].ratios == {row.name: row.ratio for row in a.effects(0.1).rows}
        assert found["forest clipped"].ratios == {
            row.name: row.ratio for row in pa.forest_effects(a.data.observed(), clip=0.1).rows
        }

    def test_ratios_add_to_one_and_agree_on_the_first(self, found: Comparison) -> None:
        for name in found:
            assert sum(found[name].ratios.values()) == pytest.approx(1.0)
        assert all(max(found.ratios[name], key=found.ratios[name].get) == "lr" for name in ("PED", "f-ANOVA", "forest"))  # type: ignore[arg-type]

    def test_printed_and_plain(self, found: Comparison) -> None:
        columns = found.to_dict()
        assert columns["parameter"] == list(found["PED"])
        assert len(found.lines()) == 3
        assert found.header() == ["parameter", *found]

    def test_an_unknown_measure(self, found: Comparison) -> None:
        refuse(UnknownParameterError, "no answer is called 'ped'", of=lambda: found["ped"])


class TestWhatCannotBeAnswered:
    def test_without_scikit_learn_the_counts_still_answer(
        self, a: pa.Analysis, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def absent(*_: object, **__: object) -> None:
            raise MissingLibraryError("forest f-ANOVA needs scikit-learn")

        monkeypatch.setattr(forest, "forest_effects", absent)
        found = a.compare()
        assert list(found) == ["PED", "PED local", "paper", "f-ANOVA", "f-ANOVA local"]
        assert "forest: left out, forest f-ANOVA needs scikit-learn" in found.notes

    def test_rows_of_infinite_objective_are_told(self) -> None:
        random = np.random.default_rng(0)
        x = random.random(60)
        loss = np.where(x > 0.9, np.inf, x)
        found = pa.analyze({"x": x, "z": random.random(60)}, loss).compare(0.2)
        assert {"f-ANOVA", "f-ANOVA local"} <= set(found)
        told = [note for note in found.notes if "no finite objective and are left out" in note]
        assert [note.startswith("f-ANOVA: ") for note in told] == [True]

    def test_an_endless_best_leaves_the_variance_out(self) -> None:
        random = np.random.default_rng(0)
        x = random.random(60)
        loss = np.where(x > 0.9, -np.inf, x)
        found = pa.analyze({"x": x, "z": random.random(60)}, loss).compare(0.2)
        assert "f-ANOVA" not in list(found)
        assert any(note.startswith("f-ANOVA: left out") for note in found.notes)

    def test_a_wrong_target_is_an_error(self, a: pa.Analysis) -> None:
        refuse(QueryError, "target=2 must be a quantile", of=lambda: a.compare(2))


class TestCommand:
    @pytest.fixture
    def table(self, tmp_path: Path) -> Path:
        random = np.random.default_rng(1)
        x, z = random.random((2, 80))
        path = tmp_path / "t.csv"
        rows = "\n".join(f"{a},{b},{(a - 0.3) ** 2 + 0.1 * b}" for a, b in zip(x, z, strict=True))
        path.write_text(f"x,z,y\n{rows}\n")
        return path

    def test_all_forms_and_the_same_bytes_twice(
        self, table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        shown = []
        for _ in range(2):
            assert main(["compare", str(table), "--objective", "y"]) == 0
            shown.append(capsys.readouterr().out)
        assert shown[0] == shown[1]
        assert "PED: which parameters decide whether a row is in the best 10 %" in shown[0]
        words = "PED local: left out, because the best tenth of the target has too few rows; run more trials"
        assert words in " ".join(shown[0].split())
        assert main(["compare", str(table), "--objective", "y", "--format", "json"]) == 0
        answer = json.loads(capsys.readouterr().out)
        assert set(answer) == {"measures", "meanings", "notes"}
        assert answer["measures"]["parameter"][0] == "x"
        output = tmp_path / "found.csv"  # each command fits two forests; other forms have the columns of the text
        assert main(["compare", str(table), "--objective", "y", "--format", "csv", "-o", str(output)]) == 0
        assert "forest clipped" in output.read_text()

    def test_a_mistake_is_one_line(self, table: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["compare", str(table), "--objective", "y", "--target", "best"]) == 2
        assert "--target 'best' must be a quantile" in capsys.readouterr().err


class TestEstimatorOptions:
    """What `analyze` takes on the command line, and that two runs give the same bytes."""

    @pytest.fixture
    def table(self, tmp_path: Path) -> Path:
        random = np.random.default_rng(2)
        x, z = random.random((2, 60))
        path = tmp_path / "t.csv"
        path.write_text("x,z,y\n" + "\n".join(f"{a},{b},{a + b * b}" for a, b in zip(x, z, strict=True)) + "\n")
        return path

    def test_the_same_seed_the_same_bytes(self, table: Path, capsys: pytest.CaptureFixture[str]) -> None:
        shown = []
        for seed in (0, 0, 1):
            assert main(["analyze", str(table), "--objective", "y", "--seed", str(seed)]) == 0
            shown.append(capsys.readouterr().out)
        assert shown[0] == shown[1]
        assert shown[0] != shown[2]
        assert "answered by a model of the objective" in " ".join(shown[0].split())
        assert "--estimator counts" in " ".join(shown[0].split())

    def test_a_target_of_few_rows_is_widened_unless_forced(
        self, table: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        few = ["analyze", str(table), "--objective", "y", "--target", "0.05", "--estimator", "counts"]
        assert main(few) == 0
        assert "the answer is for the best 8 %" in " ".join(capsys.readouterr().out.split())
        assert main([*few, "--force"]) == 0
        assert "only 3 rows" in capsys.readouterr().out

    def test_a_model_that_cannot_be_is_refused(self, table: Path, capsys: pytest.CaptureFixture[str]) -> None:
        wish = ["analyze", str(table), "--objective", "y", "--estimator", "surrogate", "--smoothing", "none"]
        assert main(wish) == 2
        assert "applies to counts only" in capsys.readouterr().err


def test_a_forest_is_fitted_to_the_parameters_that_come_first(a: pa.Analysis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ask, "FOREST_VALUES", 500)
    some = a.compare(top=1)
    assert list(some["forest"]) == [next(iter(some["PED"]))]
    assert len(some["PED"]) == 3
    assert some.to_dict()["forest ratio"].count(None) == 2
    notes = " ".join(map(str, some.notes))
    assert "fitted to the 1 of 3 parameters" in notes
    assert "a sample of 500 of 600 rows" in notes
    refuse(QueryError, "top=0 must be a whole number", of=lambda: a.compare(top=0))
