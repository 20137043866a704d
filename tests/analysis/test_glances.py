"""What follows the mouse says what the long way says, to the last digit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pedanova as pa
from pedanova.errors import QueryError
from pedanova.measures.question import Question


def study(rows: int, *, direction: str = "minimize", nan: str = "drop") -> pa.Analysis:
    rng = np.random.default_rng(rows)
    lr, momentum = 10 ** rng.uniform(-5, -1, rows), rng.uniform(0, 1, rows)
    optimizer = np.array(["adam", "sgd", "rmsprop"])[rng.integers(0, 3, rows)]
    loss = (np.log10(lr) + 3) ** 2 + 0.3 * momentum * (optimizer == "adam") + rng.normal(0, 0.3, rows)
    loss[:: rows // 5] = np.nan
    data = {"lr": lr, "momentum": momentum, "optimizer": optimizer}
    sign = 1 if direction == "minimize" else -1
    return pa.analyze(data | {"y": sign * np.round(loss, 2)}, "y", direction=direction, reading=pa.Reading(nan=nan))


SELECTIONS: list[tuple[Any, ...]] = [
    (),
    ({"lr": (1e-4, 1e-2)},),
    ({"momentum": (0.2, 0.7), "optimizer": ["adam", "sgd"]},),
    ("lr < 0.01 or momentum > 0.5",),
    ({"lr": (1e-4, 1e-1)}, "momentum > 0.1"),
    ({"lr": (0, 1)},),  # all rows
]


@pytest.fixture(scope="module", params=[(600, "minimize"), (600, "maximize"), (7_000, "minimize")])
def a(request: pytest.FixtureRequest) -> pa.Analysis:
    rows, direction = request.param
    return study(rows, direction=direction)


def bands(a: pa.Analysis) -> list[tuple[Any, Any]]:
    """By value, as a page asks once rows are selected; and by part."""
    best, most = (a.data.reach(part, of="rows")[0] for part in (0.15, 0.8))
    upto = pa.at_most if a.direction == "minimize" else pa.at_least
    return [(upto(best), 1.0), (upto(best), upto(most)), (0.2, 1.0)]


@pytest.mark.parametrize("within", SELECTIONS, ids=str)
@pytest.mark.parametrize("baseline", ["region", "uniform"])
def test_a_glance_says_what_the_long_way_says(a: pa.Analysis, within: tuple[Any, ...], baseline: str) -> None:
    for target, region in bands(a):
        found, inner = a.data.at_once(Question(target, region, baseline, within=within)), a.within(*within)
        assert found.importances.to_dict() == inner.importance(target, region, baseline, draws=0).to_dict()
        assert found.count == len(inner)
        for name, density in inner.densities(None, target, region).items():
            np.testing.assert_array_equal(found.densities[name].target, density.target)
            np.testing.assert_array_equal(found.densities[name].region, density.region)


def test_rows_without_a_number_count_as_worst_in_both() -> None:
    worst = study(600, nan="worst")
    within, target = ({"momentum": (0.2, 0.7)},), pa.at_most(worst.data.reach(0.2)[0])
    inner = worst.within(*within)
    assert (
        worst.data.at_once(Question(target, within=within)).importances.to_dict()
        == inner.importance(target, draws=0).to_dict()
    )


@pytest.mark.parametrize("box", [{"lr": (0.5, 0.6)}, {"momentum": (0.2, 0.2001)}])
def test_what_cannot_be_answered_is_refused_in_the_same_words(a: pa.Analysis, box: dict[str, Any]) -> None:
    target = bands(a)[0][0]
    with pytest.raises(QueryError) as long:
        a.within(box).importance(target)
    with pytest.raises(QueryError) as short:
        _ = a.data.at_once(Question(target, within=(box,))).importances
    assert str(short.value) == str(long.value)


@pytest.mark.parametrize("within", SELECTIONS[:1], ids=str)
def test_a_glance_at_some_parameters_says_the_same_of_them(a: pa.Analysis, within: tuple[Any, ...]) -> None:
    names = ["momentum", "lr"]
    for target, region in bands(a):
        asked = Question(target, region, within=within)
        some, every = (a.data.at_once(asked, names=one) for one in (names, None))
        shares = {row.name: row.share for row in every.importances.rows}
        assert {row.name: row.share for row in some.importances.rows} == {name: shares[name] for name in names}
        np.testing.assert_array_equal(some.densities["lr"].target, every.densities["lr"].target)
