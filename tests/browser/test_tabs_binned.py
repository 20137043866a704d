"""Rows by cell in a file: what the browser counts is what Python counts, and it says how it was found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pedanova as pa
from helpers.chromium import Page
from helpers.tabs import FAST, mixed, opened, settled
from pedanova.errors import PedanovaError
from pedanova.measures.drawing import drawing_of
from pedanova.report.page.answers import asked_of
from pedanova.report.page.question import Question
from pedanova.report.page.shapes import bins_for

RANGES = {
    "lr": (-5, 0),
    "layers": (1, 40),
    "units": (7, 2981),
    "dropout": (0, 1),
    "width": (16, 128),
    "momentum": (0, 1),
}
ASK = """
    const [questions, done] = arguments;
    pedanova.binned.open(pedanova).then(() => done(questions.map((question) => {
        const { fit } = pedanova.binned, brushes = Object.entries(question.selection);
        const fitted = brushes.map(([name, brush]) => [name, fit(name, brush)]);
        const selection = Object.fromEntries(fitted);
        return pedanova.binned.answer({ ...question, selection });
    })));"""
NUMBERS = ("share", "ratio", "raw_share", "raw_ratio", "divergence")


@pytest.fixture(scope="module")
def binned(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, pa.Analysis]:
    a = mixed()
    path = tmp_path_factory.mktemp("binned") / "report.html"
    a.report(path, rows="binned", reduce=False, ladder=[0.05, 0.1, 0.3, 1.0], **FAST)
    return path, a


def random_question(random: np.random.Generator) -> dict[str, Any]:
    names = random.choice([*RANGES, "optimizer", "nesterov"], random.integers(0, 4), replace=False)
    return {
        "target": {"part": [0, float(random.choice([0.05, 0.07, 0.1, 0.2, 0.3]))]},
        "region": {"part": [0, float(random.choice([0.5, 1.0]))]},
        "selection": {str(name): random_brush(str(name), random) for name in names},
        "good": str(random.choice(["all", "selection"])),
        "baseline": str(random.choice(["region", "uniform"])),
        "of": "rows",
    }


def random_brush(name: str, random: np.random.Generator) -> dict[str, Any]:
    if name in ("optimizer", "nesterov"):
        labels = ["adam", "rmsprop", "sgd"] if name == "optimizer" else ["False", "True"]
        return {
            "labels": [str(label) for label in random.choice(labels, random.integers(1, len(labels)), replace=False)]
        }
    low, high = (float(end) for end in np.sort(random.uniform(*RANGES[name], 2)))
    ends = [10**low, 10**high] if name == "lr" else [low, high]
    return {"range": [None if random.random() < 0.1 else ends[0], None if random.random() < 0.1 else ends[1]]}


def by_python(a: pa.Analysis, question: Question) -> tuple[int, dict[str, Any]] | None:
    try:
        inner, target, region = asked_of(a, question)
        found = inner.importance(target, region, question.baseline, estimator="counts", draws=0, of="rows")
    except PedanovaError:
        return None
    return inner.rows, {row.name: row for row in found.rows}


@pytest.mark.slow
def test_a_hundred_selections_are_counted_alike(page: Page, binned: tuple[Path, pa.Analysis]) -> None:
    path, a = binned
    random = np.random.default_rng(11)
    opened(page, path)
    page.driver.set_script_timeout(120)
    given = page.driver.execute_async_script(ASK, [random_question(random) for _ in range(100)])
    answered = 0
    for answer in given:
        wanted = by_python(a, Question.parse(answer["question"], a.space))
        assert (wanted is None) == bool(answer["refused"]), answer
        if wanted is None:
            continue
        answered += 1
        assert answer["rows"]["selected"] == wanted[0]
        for row in answer["importances"]:
            known = wanted[1][row["parameter"]]
            assert [row[key] for key in NUMBERS] == pytest.approx([getattr(known, key) for key in NUMBERS], abs=1e-9)
        assert [row["parameter"] for row in answer["importances"][:2]] == list(wanted[1])[:2]
    assert answered >= 40


@pytest.mark.slow
def test_what_is_drawn_is_what_figures_draw(page: Page, binned: tuple[Path, pa.Analysis]) -> None:
    path, a = binned
    random = np.random.default_rng(12)
    opened(page, path)
    given = page.driver.execute_async_script(ASK, [random_question(random) for _ in range(40)])
    answered = [one for one in given if not one["refused"]]
    assert len(answered) >= 10
    for answer in answered:
        question = Question.parse(answer["question"], a.space)
        inner, target, region = asked_of(a, question)
        for name, density in inner.all_densities(target, region, estimator="counts", of="rows").items():
            wanted = drawing_of(density, bins_for(a)[name], question.baseline)
            shown = answer["densities"][name]
            for key in ("target", "region", "uniform", "low", "high"):
                assert shown[key] == pytest.approx(getattr(wanted, key).tolist(), abs=1e-9), (name, key)
            missing = [density.missing_target, density.missing_region]
            assert shown["missing"] == pytest.approx(missing, abs=1e-12)


@pytest.mark.slow
def test_a_brush_in_a_file_moves_to_the_edges_of_cells_and_says_how_it_counts(
    page: Page, binned: tuple[Path, pa.Analysis]
) -> None:
    path, a = binned
    opened(page, path)
    page.run("pedanova.state.select('lr', { range: [0.000312345, 0.0219] })")
    settled(page)
    question = page.run("return pedanova.asked()")
    assert question["selection"]["lr"]["range"][0] == pytest.approx(0.000312345, rel=0.02)
    inner, target, region = asked_of(a, Question.parse(question, a.space))
    wanted = inner.importance(target, region, estimator="counts", draws=0)
    shown = page.run("return pedanova.page.answer().importances.map((row) => [row.parameter, row.share])")
    assert dict(shown) == pytest.approx(wanted.shares, abs=1e-9)
    assert inner.rows == page.run("return pedanova.page.answer().rows.selected")
    page.click("#tab-notes")
    assert "without intervals" in page.text("#panel-notes")


@pytest.mark.slow
def test_what_a_file_cannot_count_is_refused_in_words(page: Page, binned: tuple[Path, pa.Analysis]) -> None:
    path, _ = binned
    opened(page, path)
    plain = page.run("return pedanova.asked()")
    lasso = {"x": "lr", "y": "dropout", "points": [[0.1, 0.1], [0.2, 0.1], [0.2, 0.3]]}
    questions = [
        {**plain, "lasso": [lasso]},
        {**plain, "target": {"value": [None, 1.0]}, "selection": {"optimizer": {"labels": ["adam"]}}},
        {**plain, "selection": {"lr": {"range": [0.9, 0.91]}}},
    ]
    for answer, words in zip(page.driver.execute_async_script(ASK, questions), ("lasso", "values", "row"), strict=True):
        assert words in answer["refused"]


@pytest.mark.slow
def test_without_leave_no_row_is_in_the_file(page: Page, binned: tuple[Path, pa.Analysis], tmp_path: Path) -> None:
    _, a = binned
    a.report(tmp_path / "plain.html", reduce=False, ladder=[0.1, 1.0], **FAST)
    opened(page, tmp_path / "plain.html")
    assert page.run("return pedanova.facts.binned") is None
    assert page.run("return pedanova.source.canBrush()") is False
