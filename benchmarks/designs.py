"""Generated studies in which it is known what is noise and what decides: for `benchmarks/p_values.py` and its test."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

import pedanova as pa

Generator: TypeAlias = np.random.Generator
Columns: TypeAlias = dict[str, Any]
UNIT = pa.Float(0, 1)


@dataclass(frozen=True, slots=True)
class Study:
    """One table; parameters that are neither noise nor decide are told by what decides."""

    columns: Columns
    space: dict[str, Any]
    loss: Any
    noise: tuple[str, ...]
    decides: tuple[str, ...]
    ordered: bool = False  # rows stand in the order of the trials


Design: TypeAlias = Callable[[Generator, int], Study]


def ranges(rng: Generator, rows: int, names: Sequence[str]) -> Columns:
    return {name: rng.random(rows) for name in names}


def kinds(rng: Generator, rows: int, levels: int) -> Any:
    return rng.choice([f"k{i:02d}" for i in range(levels)], rows).astype(object)


def labels(levels: int) -> Any:
    return pa.Categorical([f"k{i:02d}" for i in range(levels)])


def pure_noise(rng: Generator, rows: int) -> Study:
    columns = {**ranges(rng, rows, "abc"), "k": kinds(rng, rows, 4), "n": rng.integers(1, 9, rows)}
    space = {**dict.fromkeys("abc", UNIT), "k": labels(4), "n": pa.Int(1, 8)}
    return Study(columns, space, rng.normal(size=rows), tuple(space), ())


def independent(rng: Generator, rows: int, strength: float = 3.0) -> Study:
    study = pure_noise(rng, rows)
    loss = study.loss + strength * study.columns["a"] + 2 * strength * np.abs(study.columns["b"] - 0.4)
    return Study(study.columns, study.space, loss, ("c", "k", "n"), ("a", "b"))


def weak_line(rng: Generator, rows: int) -> Study:
    columns = ranges(rng, rows, "abc")
    loss = 2.0 * columns["a"] + rng.normal(size=rows)
    return Study(columns, dict.fromkeys("abc", UNIT), loss, ("b", "c"), ("a",))


def weak_bowl(rng: Generator, rows: int) -> Study:
    columns = ranges(rng, rows, "abc")
    loss = 8.0 * (columns["a"] - 0.5) ** 2 + rng.normal(size=rows)
    return Study(columns, dict.fromkeys("abc", UNIT), loss, ("b", "c"), ("a",))


def heavy_tails(rng: Generator, rows: int) -> Study:
    columns = ranges(rng, rows, "abc")
    loss = 3.0 * columns["a"] + rng.standard_cauchy(rows)
    return Study(columns, dict.fromkeys("abc", UNIT), loss, ("b", "c"), ("a",))


def gate(children: int) -> Design:
    """A category decides, and so many children exist under one of its values; theirs do nothing."""

    def drawn(rng: Generator, rows: int) -> Study:
        kind = rng.choice(["adam", "sgd"], rows)
        columns: Columns = {"kind": kind.astype(object), **ranges(rng, rows, ("lr", "other"))}
        space: dict[str, Any] = {"kind": pa.Categorical(["adam", "sgd"]), "lr": UNIT, "other": UNIT}
        for i in range(children):
            columns[f"child{i}"] = np.where(kind == "sgd", rng.random(rows), np.nan)
            space[f"child{i}"] = pa.Float(0, 1, when={"kind": ["sgd"]})
        loss = 1.0 * (kind == "sgd") + np.abs(columns["lr"] - 0.5) + 0.25 * rng.normal(size=rows)
        return Study(columns, space, loss, ("other",), ("kind",))

    return drawn


def safe_kind(rng: Generator, rows: int) -> Study:
    """A kind that is never among the best, and never bad: behind the target it looks like the best choice."""
    kind = rng.choice(["svm", "tree"], rows)
    size = np.where(kind == "svm", rng.random(rows), np.nan)
    columns: Columns = {"kind": kind.astype(object), "size": size, **ranges(rng, rows, ("lr", "other"))}
    space: dict[str, Any] = {"kind": pa.Categorical(["svm", "tree"]), "lr": UNIT, "other": UNIT}
    space["size"] = pa.Float(0, 1, when={"kind": ["svm"]})
    steep = np.where(kind == "svm", 2.0 * np.nan_to_num(size), 0.7)
    return Study(columns, space, steep + 0.1 * rng.normal(size=rows), ("lr", "other"), ("kind",))


def nested(rng: Generator, rows: int) -> Study:
    """The outer gate decides; an inner one exists under it, and a child under that."""
    outer, inner = rng.choice(["no", "yes"], rows), rng.choice(["p", "q"], rows)
    inner = np.where(outer == "yes", inner, None)
    columns = {"outer": outer.astype(object), "inner": inner, **ranges(rng, rows, ("lr", "other"))}
    columns["leaf"] = np.where(inner == "q", rng.random(rows), np.nan)
    space = {
        "outer": pa.Categorical(["no", "yes"]),
        "inner": pa.Categorical(["p", "q"], when={"outer": ["yes"]}),
        "leaf": pa.Float(0, 1, when={"inner": ["q"]}),
        "lr": UNIT,
        "other": UNIT,
    }
    loss = 1.0 * (outer == "yes") + np.abs(columns["lr"] - 0.5) + 0.25 * rng.normal(size=rows)
    return Study(columns, space, loss, ("other",), ("outer",))


def idle_gate(rng: Generator, rows: int) -> Study:
    """A child decides among its rows, as well as chance does among the others: the gate tells nothing."""
    kind, child = rng.choice(["adam", "sgd"], rows), rng.random(rows)
    columns = {"kind": kind.astype(object), "child": np.where(kind == "sgd", child, np.nan)}
    columns |= ranges(rng, rows, ("other",))
    space = {"kind": pa.Categorical(["adam", "sgd"]), "child": pa.Float(0, 1, when={"kind": ["sgd"]}), "other": UNIT}
    return Study(columns, space, np.where(kind == "sgd", child, rng.random(rows)), ("kind", "other"), ("child",))


def pairs(correlation: float) -> Design:
    """Two that move together and matter, two that move together and do not; 1 is a copy."""

    def drawn(rng: Generator, rows: int) -> Study:
        normal = rng.normal(size=(4, rows))
        beside = np.sqrt(1.0 - correlation**2)
        columns = {
            "x": normal[0],
            "x2": correlation * normal[0] + beside * normal[1],
            "z": normal[2],
            "z2": correlation * normal[2] + beside * normal[3],
        }
        loss = 0.8 * columns["x"] + rng.normal(size=rows)
        return Study(columns, dict.fromkeys(columns, pa.Float(-6, 6)), loss, ("z", "z2"), ("x",))

    return drawn


def many_levels(rng: Generator, rows: int) -> Study:
    """Thirty levels of noise, and thirty of which three are good."""
    columns = {"idle": kinds(rng, rows, 30), "good": kinds(rng, rows, 30), **ranges(rng, rows, "a")}
    loss = rng.normal(size=rows) + columns["a"] - 3.0 * np.isin(columns["good"], ["k03", "k11", "k20"])
    return Study(columns, {"idle": labels(30), "good": labels(30), "a": UNIT}, loss, ("idle",), ("good",))


def rarely_active(rng: Generator, rows: int) -> Study:
    """A child in one row of twenty: neither it nor its parent does anything."""
    on = rng.permutation(rows) < 0.05 * rows
    columns = {"on": np.where(on, "yes", "no").astype(object), "child": np.where(on, rng.random(rows), np.nan)}
    columns |= ranges(rng, rows, "ab")
    space = {
        "on": pa.Categorical(["no", "yes"]),
        "child": pa.Float(0, 1, when={"on": ["yes"]}),
        **dict.fromkeys("ab", UNIT),
    }
    loss = 3.0 * columns["a"] + rng.normal(size=rows)
    return Study(columns, space, loss, ("on", "child", "b"), ("a",))


def crowded(rng: Generator, rows: int) -> Study:
    """Values as a sampler that adapts leaves them, crowded and tied, but in no order."""

    def crowd() -> Any:
        return np.clip(np.where(rng.random(rows) < 0.7, rng.normal(0.3, 0.05, rows), rng.random(rows)), 0, 1)

    columns = {"a": crowd(), "b": crowd().round(1), "c": crowd()}
    columns["k"] = rng.choice(["p", "q", "r"], rows, p=[0.85, 0.1, 0.05]).astype(object)
    space = {**dict.fromkeys("abc", UNIT), "k": pa.Categorical(["p", "q", "r"])}
    loss = 20.0 * np.abs(columns["a"] - 0.33) + rng.normal(size=rows)
    return Study(columns, space, loss, ("b", "c", "k"), ("a",))


def sorts_the_worst(rng: Generator, rows: int) -> Study:
    """`a` orders the worse half of the rows, and does nothing for the better one."""
    columns = ranges(rng, rows, "abc")
    loss = rng.normal(size=rows) + 1.5 * columns["c"]
    middle = np.median(loss)
    return Study(
        columns,
        dict.fromkeys("abc", UNIT),
        np.where(loss > middle, middle + 5.0 * columns["a"], loss),
        ("a", "b"),
        ("c",),
    )


def sorts_all_others(rng: Generator, rows: int) -> Study:
    """`a` orders every row behind the best tenth, and does nothing for who is in it."""
    columns = ranges(rng, rows, "abc")
    loss = rng.normal(size=rows) + 1.5 * columns["c"]
    end = np.quantile(loss, 0.1)
    return Study(
        columns, dict.fromkeys("abc", UNIT), np.where(loss > end, end + 5.0 * columns["a"], loss), ("a", "b"), ()
    )


def crossed(rng: Generator, rows: int) -> Study:
    """Two that matter only together, and one that matters alone."""
    columns = ranges(rng, rows, "abcd")
    loss = 1.0 * ((columns["a"] > 0.5) == (columns["b"] > 0.5)) + 2.0 * columns["c"] + 0.3 * rng.normal(size=rows)
    return Study(columns, dict.fromkeys("abcd", UNIT), loss, ("d",), ("c",))


def after_tpe(rng: Generator, rows: int) -> Study:
    """A sampler that draws each value where good trials had theirs; two parameters and a category do nothing."""
    names = ("a", "b", "c", "d")
    values, kind, loss = np.empty((rows, len(names))), np.empty(rows, dtype=np.int64), np.empty(rows)
    for trial in range(rows):
        values[trial], kind[trial] = rng.random(len(names)), rng.integers(3)
        if trial >= 10:
            good = np.argsort(loss[:trial])[: max(1, min(25, -(-trial // 10)))]
            values[trial] = [likely(rng, values[:trial, j], good) for j in range(len(names))]
            kind[trial] = likely_kind(rng, kind[:trial], good)
        a, b = values[trial, :2]
        loss[trial] = 4.0 * (a - 0.3) ** 2 + 1.5 * np.abs(b - 0.7) + 0.1 * rng.normal()
    columns = {name: values[:, j] for j, name in enumerate(names)} | {"k": np.array(["p", "q", "r"], object)[kind]}
    space = {**dict.fromkeys(names, UNIT), "k": pa.Categorical(["p", "q", "r"])}
    return Study(columns, space, loss, ("c", "d", "k"), ("a",), ordered=True)


def likely(rng: Generator, past: Any, good: Any) -> float:
    """Of 24 values near good ones the one that other trials had least, as Optuna's sampler has it."""
    is_good = np.zeros(len(past), dtype=bool)
    is_good[good] = True
    (centres, width), (others, wide) = (bumps(np.sort(past[of])) for of in (is_good, ~is_good))
    picked = rng.integers(len(centres), size=24)
    offers = np.abs((centres[picked] + width[picked] * rng.normal(size=24) + 1.0) % 2.0 - 1.0)  # reflected at the ends
    above, below = (
        np.mean(np.exp(-(((offers[:, None] - of) / w) ** 2) / 2) / w, axis=1)
        for of, w in ((centres, width), (others, wide))
    )
    return float(offers[np.argmax(above / below)])


def bumps(values: Any) -> tuple[Any, Any]:
    """Centres and widths: as far as the farther neighbour; and one bump for all of the range."""
    gaps = np.diff(values) if len(values) > 1 else np.ones(1)
    width = np.maximum(np.append(gaps[0], gaps), np.append(gaps, gaps[-1]))[: len(values)]
    return np.append(values, 0.5), np.append(np.clip(width, 1.0 / min(100, 1 + len(values)), 1.0), 1.0)


def likely_kind(rng: Generator, past: Any, good: Any) -> int:
    """The same of three categories."""
    inside, outside = np.bincount(past[good], minlength=3) + 1.0, np.bincount(past, minlength=3) + 1.0
    offers = rng.choice(3, size=24, p=inside / inside.sum())
    return int(offers[np.argmax((inside / outside)[offers])])


DESIGNS: dict[str, Design] = {
    "noise": pure_noise,
    "independent": independent,
    "weak line": weak_line,
    "weak bowl": weak_bowl,
    "heavy tails": heavy_tails,
    "gate with 1 child": gate(1),
    "gate with 3 children": gate(3),
    "gate with 5 children": gate(5),
    "nested gates": nested,
    "safe but never best": safe_kind,
    "idle gate": idle_gate,
    "copy": pairs(1.0),
    "correlation 0.9": pairs(0.9),
    "correlation 0.99": pairs(0.99),
    "30 categories": many_levels,
    "5 % active": rarely_active,
    "crowded": crowded,
    "sorts the worst": sorts_the_worst,
    "sorts all others": sorts_all_others,
    "crossed": crossed,
    "TPE": after_tpe,
}
