"""What tests of growing sources share: records held against those of a reading at once, and workers that write."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pedanova.analysis.watched import Follow, Update
from pedanova.data.records import Records


def same(one: Records, other: Records) -> None:
    """Every column, and everything that is told."""
    assert list(one.columns) == list(other.columns)
    for name, column in one.columns.items():
        twin = other.columns[name]
        here, there = column.absent(), twin.absent()
        np.testing.assert_array_equal(here, there, err_msg=name)
        assert (column.labels is None) == (twin.labels is None) or here.all(), name
        if name == "state" or column.labels is None or twin.labels is None:
            rows = np.flatnonzero(~here)
            assert [column.value_at(row) for row in rows] == [twin.value_at(row) for row in rows], name
        else:
            assert column.labels == twin.labels, name
            np.testing.assert_array_equal(column.values[~here], twin.values[~there], err_msg=name)
    assert one.metadata == other.metadata


class Tale:
    """All looks at a source, and what they told together."""

    def __init__(self, follow: Follow) -> None:
        self.follow = follow
        self.records: Records | None = None
        self.new = 0
        self.events: list[str] = []

    def look(self) -> Update:
        look = self.follow.look()
        self.new = look.new if look.event else self.new + look.new
        self.events += [look.event] if look.event else []
        self.records = look.records or self.records
        assert look.records is None or look.records.rows == look.finished + (look.running or 0)
        assert look.finished == self.new
        return look

    @property
    def rows(self) -> Records:
        assert self.records is not None
        return self.records


def append(path: Path, rows: int, seed: int, *, swap: bool = False) -> None:
    """Further rows of a table in which x decides, or y where they are swapped."""
    random = np.random.default_rng(seed)
    x, y, z = random.random((3, rows))
    main, other = (y, x) if swap else (x, y)
    loss = np.abs(main - 0.3) + 0.05 * np.abs(other - 0.5) + 0.01 * z
    with path.open("a", encoding="utf-8") as file:
        file.writelines(f"{a!r},{b!r},{c!r}\n" for a, b, c in zip(x.tolist(), y.tolist(), loss.tolist(), strict=True))


def begin(path: Path) -> Path:
    """A table of 100 rows, to which `append` adds."""
    path.write_text("x,y,loss\n0,0,2\n1,1,2\n", encoding="utf-8")
    append(path, 98, 0)
    return path
