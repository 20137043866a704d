"""Regions of the objective, and the sign that makes less the better."""

from __future__ import annotations

import re
from pathlib import Path

import pedanova as pa
from pedanova.data.regions import Region, sign_of

PACKAGE = Path(pa.__file__).parent


def test_the_sign_of_a_direction_is_defined_once() -> None:
    assert (sign_of("minimize"), sign_of("maximize")) == (1.0, -1.0)
    rule = re.compile(r"""["'](minimize|maximize)["'] else -?1""")
    homes = [path for path in PACKAGE.rglob("*.py") if rule.search(path.read_text(encoding="utf-8"))]
    known = {"data/regions.py"}
    assert {path.relative_to(PACKAGE).as_posix() for path in homes} <= known


def test_a_region_that_is_all_rows_says_so() -> None:
    assert all(Region.parse(one, "region").is_all for one in (1, 1.0, pa.between(0, 1), Region("quantile", None, None)))
    assert not any(
        Region.parse(one, "region").is_all for one in (0.5, pa.between(0.1, 1), pa.at_most(9), pa.at_least(0))
    )
    assert str(Region.parse(1, "region")) == "all rows"
