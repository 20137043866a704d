"""Functions whose important parameters are known: the worlds of `benchmarks/league.py`.

A world is a line of a table: its name and group, the space, the objective of given columns and of standard normal
noise (lower is better), the parameters without an effect, and how rows are drawn where that is not evenly.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

sys.path.append(str(Path(__file__).parents[1] / "experiments" / "paper"))
from population import objective
from samples import Columns, Draw, Function, Generator, Space, World, drawn_evenly

import pedanova as pa

UNIT = pa.Float(0, 1)
LOCAL = ((0.1, 0.5), (0.02, 0.1), (0.01, 0.1))  # targets inside a region


def units(names: Sequence[str]) -> Space:
    return dict.fromkeys(names, UNIT)


def levels(number: int) -> Any:
    return pa.Categorical([f"k{i:02d}" for i in range(number)])


def heavy(e: Any) -> Any:
    """Noise with tails as heavy as Cauchy's, from normal noise."""
    return e * np.exp(0.5 * np.minimum(e**2, 60.0))


def uniform(e: Any) -> Any:
    """Uniform noise from normal noise."""
    return 0.5 + 0.5 * np.vectorize(math.erf)(e / math.sqrt(2.0))


def either(one: Any, two: Any) -> Any:
    return np.logical_xor(one, two).astype(np.float64)


def beside_bowl(function: Callable[[Columns], Any]) -> Function:
    """A function of jumps, and a third parameter that has an effect of its own."""
    return lambda c, e: function(c) + 0.5 * np.abs(c["c"] - 0.4) + 0.05 * e


def ackley(c: Columns, _: Any) -> Any:
    x = np.stack([c["a"], c["b"], c["c"], 0.25 * c["d"]]) * 4.0 - 1.3
    return -20.0 * np.exp(-0.2 * np.sqrt(np.mean(x**2, axis=0))) - np.exp(np.mean(np.cos(2.0 * np.pi * x), axis=0))


def branin(c: Columns, _: Any) -> Any:
    x, y = 15.0 * c["a"] - 5.0, 15.0 * c["b"]
    return (y - 0.129 * x**2 + 1.592 * x - 6.0) ** 2 + 9.602 * np.cos(x) + 10.0


def training(c: Columns, e: Any) -> Any:
    """A loss as of a network: the rate matters most, then the units, and dropout for large ones."""
    rate, size = np.log10(c["rate"]), np.log2(c["units"])
    return 0.3 * (rate + 2.5) ** 2 + 0.15 * (8.0 - size) + 0.1 * size * (c["dropout"] - 0.3) ** 2 + 0.1 * e


def by_optimizer(c: Columns, e: Any) -> Any:
    """Each optimizer has its own best rate."""
    middle = np.where(c["optimizer"] == "adam", -4.5, -1.0)
    return np.abs(np.log10(c["rate"]) - middle) + 0.5 * c["decay"] + 0.1 * e


def cell(c: Columns, e: Any) -> Any:
    """Three operations: one is best everywhere, and the last two should differ."""
    worth = sum(weight * (c[name] == "conv3") for name, weight in (("one", 1.0), ("two", 0.6), ("three", 0.3)))
    return 0.5 * (c["two"] == c["three"]) - worth + 0.8 * (c["one"] == "none") + 0.1 * e


def sorts_behind(part: float) -> Function:
    """`a` orders the rows behind the best part, and nothing else: known for all rows at once, so not for TPE."""

    def function(c: Columns, e: Any) -> Any:
        loss = e + 1.5 * c["c"]
        end = np.quantile(loss, part)
        return np.where(loss > end, end + 5.0 * c["a"], loss)

    return function


SOLVER, YES_NO = pa.Categorical(["adam", "sgd"]), pa.Categorical(["no", "yes"])
TUNED = {
    "optimizer": SOLVER,
    "momentum": pa.Float(0, 1, when={"optimizer": ["sgd"]}),
    "beta": pa.Float(0, 1, when={"optimizer": ["adam"]}),
    "rate": pa.Float(1e-5, 1, log=True),
    "other": UNIT,
}
NESTED = {
    "outer": YES_NO,
    "inner": pa.Categorical(["p", "q"], when={"outer": ["yes"]}),
    "leaf": pa.Float(0, 1, when={"inner": ["q"]}),
    "rate": UNIT,
    "other": UNIT,
}
SAFE = {"kind": pa.Categorical(["svm", "tree"]), "size": pa.Float(0, 1, when={"kind": ["svm"]}), **units(("x", "z"))}
RARE = {"on": YES_NO, "child": pa.Float(0, 1, when={"on": ["yes"]}), **units("ab")}
IDLE_GATE = {"kind": SOLVER, "child": pa.Float(0, 1, when={"kind": ["sgd"]}), "other": UNIT}
OPERATIONS = ["none", "skip", "conv1", "conv3", "pool"]
FEW_OF_EACH = {**units("abc"), "k": levels(4), "n": pa.Int(1, 8)}


def gated(children: int) -> World:
    """A category decides, and so many children exist under one of its values; theirs do nothing."""
    names = [f"child{i}" for i in range(children)]
    child = pa.Float(0, 1, when={"kind": ["sgd"]})
    space = {"kind": SOLVER, "rate": UNIT, "other": UNIT, **dict.fromkeys(names, child)}
    name = f"gate with {children} {'child' if children == 1 else 'children'}"
    return World(name, "conditional", space, gate_decides, ("other", *names))


def gate_decides(c: Columns, e: Any) -> Any:
    bad = c["kind"] == "sgd" if "kind" in c else c["outer"] == "yes"
    return bad + np.abs(c["rate"] - 0.5) + 0.25 * e


def together(correlation: float) -> World:
    """Two that move together and matter, two that move together and do not; 1 is a copy."""

    def draw(rows: int, rng: Generator) -> Columns:
        x, more, z, other = rng.normal(size=(4, rows))
        apart = np.sqrt(1.0 - correlation**2)
        return {"x": x, "x2": correlation * x + apart * more, "z": z, "z2": correlation * z + apart * other}

    space = dict.fromkeys(("x", "x2", "z", "z2"), pa.Float(-6, 6))
    name = "copy" if correlation == 1.0 else f"correlation {correlation}"
    return World(name, "uneven rows", space, lambda c, e: 0.8 * c["x"] + e, ("z", "z2"), draw)


def skewed(rows: int, rng: Generator) -> Columns:
    return {"a": rng.beta(2, 6, rows), "b": rng.beta(6, 2, rows), "c": rng.random(rows), "z": rng.beta(2, 6, rows)}


def half_zeros(rows: int, rng: Generator) -> Columns:
    columns = drawn_evenly(units("abcz"), rows, rng)
    return {name: values * (rng.random(rows) < 0.5) if name in "az" else values for name, values in columns.items()}


def bounded_sum(rows: int, rng: Generator) -> Columns:
    """No configuration with a + b above 1.1: these are mirrored."""
    columns = drawn_evenly(units("abcz"), rows, rng)
    beyond = columns["a"] + columns["b"] > 1.1
    return {name: np.where(beyond & (name in "ab"), 1.0 - values, values) for name, values in columns.items()}


def wrong_scale(rows: int, rng: Generator) -> Columns:
    """A rate drawn on a logarithmic scale, in a space that has it on a linear one."""
    return {**drawn_evenly(units("abz"), rows, rng), "rate": 10.0 ** rng.uniform(-4.0, 0.0, rows)}


def crowded(rows: int, rng: Generator) -> Columns:
    """Values as a sampler that adapts leaves them, crowded and tied, but in no order."""
    near = [np.where(rng.random(rows) < 0.7, rng.normal(0.3, 0.05, rows), rng.random(rows)) for _ in "abc"]
    columns: Columns = dict(zip("abc", np.clip(near, 0.0, 1.0), strict=True))
    columns["b"] = columns["b"].round(1)
    columns["k"] = rng.choice(np.array(levels(3).choices, dtype=object), rows, p=[0.85, 0.1, 0.05])
    return columns


def rarely(rows: int, rng: Generator) -> Columns:
    """A child in one row of twenty."""
    on = rng.permutation(rows) < 0.05 * rows
    columns = drawn_evenly(units("ab"), rows, rng)
    child = np.where(on, rng.random(rows), np.nan)
    return {"on": np.where(on, "yes", "no").astype(object), "child": child, **columns}


def repeated(space: Space, least: int, most: int) -> Draw:
    """Every configuration so many times."""

    def draw(rows: int, rng: Generator) -> Columns:
        times = rng.integers(least, most + 1, rows)
        configuration = np.repeat(np.arange(rows), times)[:rows]
        return {name: values[configuration] for name, values in drawn_evenly(space, rows, rng).items()}

    return draw


def bowl(c: Columns, e: Any) -> Any:
    return 2.0 * (c["a"] - 0.3) ** 2 + 0.5 * c["b"] + 0.1 * e


# --- the table -------------------------------------------------------------------------------------

ORDINALS = {
    "batch": pa.Ordinal([16, 32, 64, 128, 256]), "depth": pa.Ordinal([1, 2, 4, 8]), "a": UNIT,
    "steps": pa.Int(1, 1000, log=True),
}  # fmt: skip
NETWORK = {
    "rate": pa.Float(1e-5, 1, log=True), "units": pa.Int(8, 512, log=True), "dropout": pa.Float(0, 0.8),
    "layers": pa.Int(1, 6), "decay": pa.Float(1e-8, 1e-1, log=True),
}  # fmt: skip
MANY = [f"z{i:02d}" for i in range(30)]
FIVE = units("abcde")
ALL_AT_ONCE = partial(drawn_evenly, units("abc"))
DE, CDE = ("d", "e"), ("c", "d", "e")

# fmt: off
WORLDS: tuple[World, ...] = (
    World("three effects", "smooth", FIVE,
          lambda c, e: (c["a"] - 0.3) ** 2 + 0.5 * c["b"] + 0.1 * np.abs(c["c"] - 0.6) + 0.05 * e, DE),
    World("product", "smooth", FIVE,
          lambda c, e: -(c["a"] + 0.1) * (1.1 - c["b"]) * (c["c"] + 0.3) * np.exp(0.05 * e), DE),
    World("saddle", "smooth", FIVE, beside_bowl(lambda c: -4.0 * (c["a"] - 0.5) * (c["b"] - 0.5)), DE),
    World("valley", "smooth", FIVE, lambda c, e: (c["a"] - c["b"]) ** 2 + 0.1 * c["c"] + 0.01 * e, DE),
    World("training", "smooth", NETWORK, training, ("layers", "decay")),
    World("spread grows", "smooth", FIVE, lambda c, e: 0.5 * c["b"] + (0.05 + c["a"]) * e, CDE),
    World("accuracy in tenths", "smooth", FIVE,
          lambda c, e: -np.round(0.5 + 0.4 * np.exp(-8 * (c["a"] - 0.4) ** 2) + 0.1 * c["b"] + 0.03 * e, 1), CDE),
    World("two among 32", "smooth", units(("a", "b", *MANY)),
          lambda c, e: (c["a"] - 0.3) ** 2 + 0.3 * c["b"] + 0.05 * e, tuple(MANY)),
    World("independent", "smooth", FEW_OF_EACH,
          lambda c, e: 3.0 * c["a"] + 6.0 * np.abs(c["b"] - 0.4) + e, ("c", "k", "n")),
    World("weak line", "smooth", units("abc"), lambda c, e: 2.0 * c["a"] + e, ("b", "c")),
    World("weak bowl", "smooth", units("abc"), lambda c, e: 8.0 * (c["a"] - 0.5) ** 2 + e, ("b", "c")),
    World("heavy tails", "smooth", units("abc"), lambda c, e: 3.0 * c["a"] + heavy(e), ("b", "c")),
    World("sorts the worst", "smooth", units("abc"), sorts_behind(0.5), ("a", "b"), ALL_AT_ONCE),
    World("sorts all others", "smooth", units("abc"), sorts_behind(0.1), ("a", "b"), ALL_AT_ONCE),

    World("step", "jumps", FIVE, beside_bowl(lambda c: c["a"] > 0.6), ("b", "d", "e")),
    World("cliff", "jumps", FIVE,
          lambda c, e: 10.0 * (c["a"] > 0.7) + (c["b"] > 0.15) + 0.05 * c["c"] + 0.05 * e, DE),
    World("xor", "jumps", FIVE, beside_bowl(lambda c: either(c["a"] > 0.5, c["b"] > 0.5)), DE),
    World("xor off the middle", "jumps", FIVE, beside_bowl(lambda c: either(c["a"] > 0.3, c["b"] > 0.65)), DE),
    World("xor of three", "jumps", FIVE,
          beside_bowl(lambda c: either(either(c["a"] > 0.5, c["b"] > 0.5), c["d"] > 0.5)), ("e",)),
    World("checkerboard", "jumps", FIVE,
          beside_bowl(lambda c: (np.floor(3 * c["a"]) + np.floor(3 * c["b"])) % 2), DE),
    World("sign of a product", "jumps", FIVE,
          beside_bowl(lambda c: 0.3 * np.sign((c["a"] - 0.5) * (c["b"] - 0.5))), DE),
    World("crossed", "jumps", units("abcd"),
          lambda c, e: 2.0 * c["c"] - either(c["a"] > 0.5, c["b"] > 0.5) + 0.3 * e, ("d",)),
    World("needle", "jumps", FIVE,
          lambda c, e: -1.0 * (np.abs(c["a"] - 0.62) < 0.04) - 0.2 * c["b"] + 0.1 * e, CDE),
    World("needle of two", "jumps", FIVE,
          lambda c, e: -np.exp(-100 * ((c["a"] - 0.7) ** 2 + (c["b"] - 0.2) ** 2)) + 0.02 * e, CDE),
    World("success or not", "jumps", FIVE,
          lambda c, e: 1.0 * (e > np.where((c["a"] > 0.7) & (c["b"] < 0.5), 0.8, -1.4)), CDE),

    World("two ends", "several good places", units("abz"),
          lambda c, e: np.minimum(c["a"], 1 - c["a"]) + 0.1 * c["b"] + 0.01 * e, ("z",)),
    World("three waves", "several good places", FIVE,
          lambda c, e: np.sin(6 * np.pi * c["a"]) + 0.5 * np.sin(2 * np.pi * c["b"]) + 0.1 * e, CDE),
    World("eight waves", "several good places", FIVE,
          lambda c, e: np.sin(16 * np.pi * c["a"]) + 0.5 * c["b"] + 0.1 * e, CDE),
    World("ackley", "several good places", FIVE, ackley, ("e",)),
    World("branin", "several good places", units("abcd"), branin, ("c", "d")),
    World("a rate for each optimizer", "several good places",
          {"optimizer": SOLVER, "rate": pa.Float(1e-6, 1, log=True), "decay": UNIT, "z": UNIT}, by_optimizer, ("z",)),

    World("skewed", "uneven rows", units("abcz"),
          lambda c, e: np.abs(c["a"] - 0.6) + 0.6 * np.abs(c["b"] - 0.9) + 0.2 * c["c"] + 0.05 * e, ("z",), skewed),
    World("half zeros", "uneven rows", units("abcz"),
          lambda c, e: np.abs(c["a"] - 0.6) + 0.3 * c["b"] + 0.05 * e, ("c", "z"), half_zeros),
    World("bounded sum", "uneven rows", units("abcz"),
          lambda c, e: 0.2 * c["c"] - c["a"] - 0.5 * c["b"] + 0.05 * e, ("z",), bounded_sum),
    World("wrong scale", "uneven rows", {**units("abz"), "rate": pa.Float(0, 1)},
          lambda c, e: 0.2 * np.abs(np.log10(c["rate"]) + 2.0) + 0.3 * c["a"] + 0.05 * e, ("b", "z"), wrong_scale),
    World("crowded", "uneven rows", {**units("abc"), "k": levels(3)},
          lambda c, e: 20.0 * np.abs(c["a"] - 0.33) + e, ("b", "c", "k"), crowded),
    together(1.0), together(0.9), together(0.99),

    World("one of twenty", "categorical", {"k": levels(20), "other": levels(20), **units("az")},
          lambda c, e: 0.5 * c["a"] - (c["k"] == "k07") + 0.1 * e, ("other", "z")),
    World("30 categories", "categorical", {"idle": levels(30), "good": levels(30), "a": UNIT},
          lambda c, e: c["a"] - 3.0 * np.isin(c["good"], ["k03", "k11", "k20"]) + e, ("idle",)),
    World("xor of categories", "categorical", {"a": levels(2), "b": levels(2), **units(CDE)},
          beside_bowl(lambda c: c["a"] != c["b"]), DE),
    World("cell of operations", "categorical",
          dict.fromkeys(("one", "two", "three", "four"), pa.Categorical(OPERATIONS)), cell, ("four",)),
    World("ordinals", "categorical", ORDINALS,
          lambda c, e: 0.3 * np.abs(np.log2(c["batch"]) - 6) + 0.4 * (c["a"] - 0.5) ** 2
          + 0.2 * np.abs(np.log10(c["steps"]) - 1) + 0.1 * e, ("depth",)),

    World("child decides", "conditional", TUNED,
          lambda c, e: 0.15 * (np.log10(c["rate"]) + 3) ** 2
          + np.where(c["optimizer"] == "sgd", 3.0 * (c["momentum"] - 0.9) ** 2, 0.3) + 0.05 * e, ("beta", "other")),
    World("leaf decides", "conditional", NESTED,
          lambda c, e: np.where(c["inner"] == "q", 2.0 * np.abs(c["leaf"] - 0.2), 0.5) + 0.5 * c["rate"] + 0.05 * e,
          ("other",)),
    gated(1), gated(3), gated(5),
    World("nested gates", "conditional", NESTED, gate_decides, ("inner", "leaf", "other")),
    World("safe but never best", "conditional", SAFE,
          lambda c, e: np.where(c["kind"] == "svm", 2.0 * c["size"], 0.7) + 0.1 * e, ("x", "z")),
    World("idle gate", "conditional", IDLE_GATE,
          lambda c, e: np.where(c["kind"] == "sgd", c["child"], uniform(e)), ("kind", "other")),
    World("5 % active", "conditional", RARE, lambda c, e: 3.0 * c["a"] + e, ("on", "child", "b"), rarely),

    World("five seeds", "repeated configurations", units("abz"), bowl, ("z",), repeated(units("abz"), 5, 5)),
    World("one to nine seeds", "repeated configurations", units("abz"), bowl, ("z",), repeated(units("abz"), 1, 9)),
    World("copied lines", "repeated configurations", units("abz"),
          lambda c, _: bowl(c, 0.0), ("z",), repeated(units("abz"), 1, 3)),
    World("seeds of noise", "repeated configurations", units("abc"), lambda _, e: e, tuple("abc"),
          repeated(units("abc"), 5, 5)),

    World("noise", "noise only", FEW_OF_EACH, lambda _, e: e, tuple(FEW_OF_EACH)),
    World("heavy noise", "noise only", FEW_OF_EACH, lambda _, e: heavy(e), tuple(FEW_OF_EACH)),
    World("noise of 30", "noise only", units(MANY), lambda _, e: e, tuple(MANY)),
    World("noise in children", "noise only", TUNED, lambda _, e: e, tuple(TUNED)),

    World("the paper's 4-D function", "local", units("abcd"),
          lambda c, _: objective(10.0 * np.stack([c[name] for name in "abcd"], axis=-1) - 5.0), questions=LOCAL),
    World("sum of two", "local", units("abz"), lambda c, _: c["a"] + c["b"], ("z",), questions=LOCAL),
    World("product of two", "local", units("abz"), lambda c, _: c["a"] * c["b"], ("z",), questions=LOCAL),
    World("disc", "local", units("abz"), lambda c, _: (c["a"] - 0.5) ** 2 + (c["b"] - 0.5) ** 2, ("z",),
          questions=LOCAL),
)
# fmt: on
