"""How often a change of ranking along a budget is found where it is, and seeds' intervals hold the truth.

    python benchmarks/along.py [--seeds 40] [--only "changes at 9"]

Tables are generated, so that it is known from which budget on the ranking is that of the full one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from shared import Lines, options_of

# isort: split
import numpy as np
from numpy.typing import NDArray

import pedanova as pa
from pedanova.measures.studies.seeds import seed_part

BUDGETS = (1, 3, 9, 27, 81)
CHANGE = 9
EARLY = np.array([3.0, 2.0, 1.0, 0.3, 0.0, 0.0])
LATE = np.array([1.0, 0.3, 3.0, 2.0, 0.0, 0.0])
Weights = Callable[[int], NDArray[np.float64]]


def sharp(budget: int) -> NDArray[np.float64]:
    """Another ranking from one budget on."""
    return LATE if budget >= CHANGE else EARLY


def steady(_: int) -> NDArray[np.float64]:
    """The same ranking at every budget."""
    return LATE


def nothing(_: int) -> NDArray[np.float64]:
    return np.zeros(6)


def last(budget: int) -> NDArray[np.float64]:
    """Another ranking at the full budget alone."""
    return LATE if budget >= BUDGETS[-1] else EARLY


def losses(settings: NDArray[np.float64], weights: NDArray[np.float64], noise: float, rng: np.random.Generator):
    """A bowl for every parameter, in units of its spread, and noise."""
    bowl = ((settings - 0.3) ** 2) @ weights
    return bowl / (bowl.std() or 1.0) + noise * rng.standard_normal(len(settings))


def table(rng: np.random.Generator, rows: int, weights: Weights, *, noise: float = 0.3, halved: bool = False):
    """A row for every configuration and budget; where `halved`, the best half alone goes on."""
    settings, columns = rng.random((rows, 6)), []
    for budget in BUDGETS:
        loss = losses(settings, weights(budget), noise, rng)
        columns.append((settings, np.full(len(settings), budget), loss))
        if halved:
            settings = settings[np.argsort(loss)[: max(60, len(loss) // 2)]]
    every, budgets, loss = (np.concatenate(parts) for parts in zip(*columns, strict=True))
    return {f"x{i}": every[:, i] for i in range(6)} | {"epochs": budgets, "loss": loss}


@dataclass(frozen=True)
class Design:
    name: str
    rows: int
    weights: Weights
    truth: int | None
    halved: bool = False
    noise: float = 0.3

    @property
    def label(self) -> str:
        return f"{self.name}, {self.rows}"


DESIGNS = (
    *(Design("changes at 9", rows, sharp, CHANGE) for rows in (100, 300, 1000)),
    Design("changes at 9, much noise", 300, sharp, CHANGE, noise=1.0),
    Design("changes at 9, best half goes on", 1000, sharp, CHANGE, halved=True),
    *(Design("never changes", rows, steady, BUDGETS[0]) for rows in (100, 300)),
    *(Design("changes at 81 alone", rows, last, None) for rows in (100, 300)),
    *(Design("noise alone", rows, nothing, None) for rows in (100, 300)),
)


def judged(design: Design, seeds: int) -> dict[str, float]:
    found = []
    for seed in range(seeds):
        a = pa.analyze(table(np.random.default_rng(seed), design.rows, design.weights, noise=design.noise,
                             halved=design.halved), "loss")  # fmt: skip
        found.append(a.along("epochs").since)
    truth = design.truth if design.truth is not None else BUDGETS[-1]
    since = [BUDGETS[-1] if one is None else one for one in found]
    return {
        "right": float(np.mean([one == truth for one in since])),
        "too early": float(np.mean([one < truth for one in since])),
        "too late": float(np.mean([one > truth for one in since])),
    }


def repeated(rng: np.random.Generator, law: str, count: int, runs: Callable, part: float):
    """Groups and values with a known part of the seed."""
    draw = {"normal": rng.standard_normal, "skewed": lambda size: rng.exponential(size=size) - 1.0}[law]
    groups = np.repeat(np.arange(count), runs(count, rng))
    return groups, np.sqrt(1 - part) * draw(count)[groups] + np.sqrt(part) * draw(len(groups))


def covered(seeds: int) -> Iterator[tuple[str, float, float, float]]:
    """How often the interval of the seed's part holds the truth, and how wide it is."""
    shapes: dict[str, tuple[int, Callable]] = {
        "10 configurations × 3": (10, lambda n, _: np.full(n, 3)),
        "30 × 2": (30, lambda n, _: np.full(n, 2)),
        "256 × 10": (256, lambda n, _: np.full(n, 10)),
        "60, a third repeated": (60, lambda n, g: np.where(g.random(n) < 0.33, g.integers(2, 6, n), 1)),
    }
    for law in ("normal", "skewed"):
        for name, (count, runs) in shapes.items():
            for part in (0.1, 0.5, 0.9):
                rows = [
                    seed_part("y", *repeated(np.random.default_rng(seed), law, count, runs, part))
                    for seed in range(seeds)
                ]
                held = np.mean([row.low <= part <= row.high for row in rows])
                yield f"{law}, {name}", part, float(held), float(np.mean([row.high - row.low for row in rows]))


def covered_target(seeds: int, part: float = 0.3) -> Iterator[tuple[str, float, float]]:
    """The same of the variance of "in the best tenth?", whose truth is that of very many configurations."""

    def tables(count: int, runs: int, seed: int):
        groups, values = repeated(np.random.default_rng(seed), "normal", count, lambda n, _: np.full(n, runs), part)
        return groups, (values <= np.quantile(values, 0.1)).astype(float)

    truth = seed_part("y", *tables(400_000, 2, 0)).seed
    for count, runs in ((30, 3), (100, 3), (256, 10)):
        rows = [seed_part("y", *tables(count, runs, 1 + seed)) for seed in range(seeds)]
        yield f"{count} × {runs}", truth, float(np.mean([row.low <= truth <= row.high for row in rows]))


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("--seeds", type=int, default=40)
    parser.add_argument("--only", default="", help='designs that begin so; "seeds" for those alone')
    given = parser.parse_args()
    seeds, only = given.seeds, given.only
    lines = Lines(f"ranking, {seeds} tables each", "configurations", "right", "too early", "too late or none", first=34)
    for design in (one for one in DESIGNS if one.label.startswith(only)):
        lines.row(design.name, design.rows, *(f"{part:.0%}" for part in judged(design, seeds).values()))
    if only not in ("", "seeds"):
        return
    print()
    lines = Lines("seeds", "the seed's part", "held", "mean width", first=34)
    for name, part, held, width in covered(25 * seeds):
        lines.row(name, part, f"{held:.1%}", f"{width:.2f}")
    for name, truth, held in covered_target(5 * seeds):
        lines.row(f"in the best tenth, {name}", f"{truth:.2f}", f"{held:.1%}", "")


if __name__ == "__main__":
    main()
