"""Regions of the objective, and the sign that makes less the better."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pedanova as pa
from pedanova.data.regions import Region, needs_rows, sign_of
from pedanova.errors import QueryError

PACKAGE = Path(pa.__file__).parent


def test_the_sign_of_a_direction_is_defined_once() -> None:
    assert (sign_of("minimize"), sign_of("maximize")) == (1.0, -1.0)
    rule = re.compile(r"""["'](minimize|maximize)["'] else -?1""")
    homes = [path for path in PACKAGE.rglob("*.py") if rule.search(path.read_text(encoding="utf-8"))]
    known = {"data/regions.py"}
    assert {path.relative_to(PACKAGE).as_posix() for path in homes} <= known


def test_a_region_that_is_all_rows_says_so() -> None:
    assert all(Region.parse(one).is_all for one in (1, 1.0, "100%", pa.between(0, 1), Region("quantile", None, None)))
    assert not any(Region.parse(one).is_all for one in (0.5, pa.between(0.1, 1), pa.at_most(9), pa.at_least(0)))
    assert str(Region.parse(1)) == "all rows"


PARTS = st.integers(1, 999).map(lambda thousandths: thousandths / 1000)
VALUES = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(PARTS, min_size=2, max_size=2, unique=True).map(sorted), st.tuples(VALUES, VALUES).map(sorted))
def test_a_region_that_is_written_is_read_again(parts: list[float], ends: list[float]) -> None:
    regions = Region.parse(parts[0]), pa.between(*parts), pa.at_most(ends[0]), pa.at_least(ends[0])
    for region in (*regions, pa.between(*ends, values=True)):
        assert Region.parse(region.text("shell")) == region
        assert Region.parse(eval(region.text("python"), {"pa": pa})) == region
        assert not needs_rows(region.text("shell"))
    assert Region.parse(f"{parts[0] * 100:.1f} %") == Region.parse(parts[0])


def test_python_reads_the_texts_of_the_shell() -> None:
    a = pa.analyze({"x": range(200), "loss": range(200)}, "loss", params=["x"])
    between = pa.between(9, 40, values=True)
    for text, region in (("0.2", 0.2), ("0.7%", 0.007), ("<=40", pa.at_most(40)), (">=9,<=40", between)):
        assert a.data.resolve(text, "target") == Region.parse(region)
    wrong = ("<40", "target='<40' must have <= instead of <"), ("<=few", "a number after <="), ("2", "quantile")
    for text, words in wrong:
        with pytest.raises(QueryError, match=words):
            a.importance(text)
