"""What is known of each parameter put into a verdict with its reason; conditions kept in order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pedanova.base.digits import percent, short
from pedanova.measures.importance import NEVER, Importance, Importances
from pedanova.measures.significance import LEVEL
from pedanova.reduction.boxes import Box, runs
from pedanova.reduction.domains import beyond, constant, crowd, is_constant, middle, piles_up, shrunk, widened
from pedanova.reduction.result import Advice, Verdict
from pedanova.reduction.scenes import Scene
from pedanova.space.grid import grid_of
from pedanova.space.parameters import (
    Categorical,
    Domain,
    Float,
    Int,
    Ordinal,
    Parameter,
    Space,
    Switch,
    in_words,
    parents_of,
)

LITTLE = 0.02  # a share below which a parameter that looks like noise may be fixed
NOISE = "not distinguishable from noise"
INFLUENCE = 0.02  # part of the model's variance that may depend on a parameter that is fixed


@dataclass(frozen=True, slots=True, eq=False)
class Judge:
    """Puts what is known of each parameter into a verdict."""

    space: Space
    scene: Scene
    box: Box
    importances: Importances
    ask_locally: Callable[[], Mapping[str, float] | None]  # p-values among the best, asked where they decide
    surely: frozenset[str]  # what may be cut
    widen: bool

    def verdict(self, name: str) -> Verdict:
        parameter = self.space[name]
        if not isinstance(parameter, Float | Int | Ordinal | Categorical):
            return unchanged(name, "keep", "its bounds change from row to row; left alone", parameter)
        row = self.importances[name]
        if not row.varied:
            return unchanged(name, "undecided", f"{NEVER}, so nothing can be said; left alone", parameter)
        if name not in self.surely and name not in self.box.left:
            return self.unsure(name, parameter, row)
        if name not in self.surely:  # cut all the same, by an adaptive sampler's rows
            cut = self.narrowed(name, parameter)
            return replace(cut, reason=f"{cut.reason}; by itself it is {NOISE}")
        cut = self.in_pieces(self.narrowed(name, parameter), parameter)
        piled = self.at_bounds(name, parameter)
        if piled == (None, None) or not isinstance(parameter, Float | Int):
            return cut
        after = cut.after
        if self.widen:
            wide = widened(parameter, piled)
            low, high = (getattr(wide, end) if side is not None else getattr(after, end, getattr(parameter, end))
                         for end, side in zip(("low", "high"), piled, strict=True))  # fmt: skip
            after = replace(parameter, low=low, high=high)
        reason = pile_in_words(parameter, piled, cut)
        return replace(cut, advice="widen", reason=reason, after=after, beyond=piled)

    def narrowed(self, name: str, parameter: Domain) -> Verdict:
        if name not in self.box.left:
            row = self.importances[name]
            matters = "may matter" if row.significant is False else "matters"  # among all, or alone
            why = f"{matters} ({small(row.share)} of what decides), but {self.scene.spread}"
            return unchanged(name, "keep", why, parameter)
        groups, axis = self.box.left[name], self.scene.cloud.axes[name]
        after = shrunk(parameter, axis, grid_of(parameter), groups)
        part = float(axis.prior[list(groups)].sum() / axis.prior.sum())
        density = self.scene.cloud.density(name).mean(axis=1)
        held = float((density * axis.prior)[list(groups)].sum() / max((density * axis.prior).sum(), 1e-300))
        if after == parameter:
            return unchanged(name, "keep", "what could be cut off is less than one of its values", parameter)
        several = "these values hold" if isinstance(parameter, Categorical) else f"{percent(part)} of its range holds"
        what = "this value holds" if is_constant(after) else several
        reason = f"{what} {percent(held)} of the best of the target; {self.scene.elsewhere(name, groups)}"
        return Verdict(name, "narrow", reason, parameter, after, part)

    def in_pieces(self, cut: Verdict, parameter: Domain) -> Verdict:
        """The verdict with the ranges that good values lie in, where there are several."""
        axis = self.scene.cloud.axes[cut.name]
        ranges = runs(self.scene.cloud, self.box, cut.name)
        if len(ranges) < 2:
            return cut
        pieces = tuple(shrunk(parameter, axis, grid_of(parameter), run) for run in ranges)
        part = float(axis.prior[[group for run in ranges for group in run]].sum() / axis.prior.sum())
        words = f"good values lie in {' and '.join(map(in_words, pieces))}, hardly any in between"
        before = f"{cut.reason}; " if cut.advice == "narrow" else ""
        return replace(cut, advice="narrow", part=part, pieces=pieces, reason=before + words)

    def at_bounds(self, name: str, parameter: Domain) -> tuple[float | None, float | None]:
        axis = self.scene.cloud.axes[name]
        if not isinstance(parameter, Float | Int) or axis.groups < 3:
            return None, None
        slices = axis.coarse()
        density = self.scene.cloud.density(name, slices)
        prior = np.bincount(slices, weights=axis.prior).astype(np.float64)
        left = self.box.left.get(name, tuple(range(axis.groups)))
        # An adaptive sampler's few best trials lie together somewhere: half of them must be at the bound.
        least = 0.0 if self.scene.even else 0.5
        low = 0 in left and piles_up(density, 0) and crowd(density, prior, 0) >= least
        high = axis.groups - 1 in left and piles_up(density, -1) and crowd(density, prior, -1) >= least
        return beyond(parameter, density, (low, high)) if low or high else (None, None)

    def unsure(self, name: str, parameter: Domain, row: Importance) -> Verdict:
        advice, reason = self.noise(name, row)
        if advice != "fix":
            return unchanged(name, advice, reason, parameter)
        axis = self.scene.cloud.axes[name]
        density = self.scene.cloud.density(name).mean(axis=1)
        value = middle(parameter, axis, grid_of(parameter), int(np.argmax(density)))
        reason = f"{reason}; the best rows are most likely at {short(value)}"
        return Verdict(name, "fix", reason, parameter, constant(value, parameter), 0.0)

    def noise(self, name: str, row: Importance) -> tuple[Advice, str]:
        """Fix, or leave alone? Only what looks like noise globally and locally, where others do not."""
        high = row.high if row.high is not None else 1.0
        most = small(max(high, 0.001))
        if not any(other.significant for other in self.importances.rows):
            return "undecided", "nothing is distinguishable from noise here, so nothing is changed"
        if not self.scene.even:
            return "undecided", f"{NOISE} in trials that were not drawn evenly; left alone"
        if high > LITTLE or self.scene.influence.get(name, 1.0) > INFLUENCE or (row.p_value or 0.0) <= LEVEL:
            return "undecided", f"{NOISE}, but up to {most} of what decides may depend on it; left alone"
        local = self.ask_locally()
        if local is None:
            few = "too few rows show what it does among the best"
            return "undecided", f"looks like noise, but {few}; left alone"
        if local[name] <= LEVEL:
            return "keep", "looks like noise over all rows, but matters among the best"
        if self.leads(name):
            return "keep", "others exist only under some of its values"
        return "fix", f"looks like noise over all rows and among the best (at most {most} of what decides)"

    def leads(self, name: str) -> bool:
        """Whether other parameters depend on this one."""
        return any(name in parents_of(parameter) for parameter in self.space.values())


def unchanged(name: str, advice: Advice, reason: str, parameter: Parameter) -> Verdict:
    return Verdict(name, advice, reason, parameter, parameter)


def small(part: float) -> str:
    """A part of one, with digits where it has few: what matters is never shown as 0 %."""
    return percent(part) if part >= 0.0005 else f"less than {percent(0.001)}"


def pile_in_words(parameter: Float | Int, piled: tuple[float | None, float | None], cut: Verdict) -> str:
    sides = [
        f"{word} bound {short(bound)}: try {short(new)}"
        for word, bound, new in zip(("lower", "upper"), (parameter.low, parameter.high), piled, strict=True)
        if new is not None
    ]
    narrowed = f"; {cut.reason}" if cut.advice == "narrow" else ""
    return f"good values pile up at the {' and at the '.join(sides)} if it may go there{narrowed}"


def consistent(verdicts: Sequence[Verdict]) -> tuple[Verdict, ...]:
    """Conditions that name values which are gone: dropped; a parameter left without any can never be active."""
    after: dict[str, Parameter | None] = {verdict.name: verdict.after for verdict in verdicts}
    settled = list(verdicts)
    for _ in verdicts:  # as often as a chain of conditions may be long
        for i, verdict in enumerate(settled):
            now = reachable(after[verdict.name], after)
            if now is not after[verdict.name]:
                gone = now is None
                reason = "it exists only under values that are cut off" if gone else verdict.reason
                settled[i] = replace(verdict, after=now, reason=reason, advice="drop" if gone else verdict.advice)
                after[verdict.name] = now
    return tuple(settled)


def reachable(parameter: Parameter | None, after: Mapping[str, Parameter | None]) -> Parameter | None:
    """The parameter with the conditions that are left."""
    if parameter is None or not parameter.when or isinstance(parameter, Switch):
        return parameter
    conditions = []
    for parent, values in parameter.when:
        above = after.get(parent, parameter)
        if above is None:
            return None
        left = tuple(value for value in values if parent not in after or may_be(above, value))
        if not left:
            return None
        conditions.append((parent, left))
    return parameter if tuple(conditions) == parameter.when else replace(parameter, when=tuple(conditions))


def may_be(parameter: Parameter, value: Any) -> bool:
    match parameter:
        case Categorical(values) | Ordinal(values):
            return value in values or str(value) in map(str, values)
        case Int(low, high) | Float(low, high):
            return not isinstance(value, int | float) or low <= value <= high
        case _:
            return True
