"""What a small table tells beyond its counts: kin, p-values, a model. Learned when first asked for, then kept.

`Knowledge` has the rows. `KeptKnowledge` was read from a file, and knows what was asked or is usual to ask.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.base.threads import one_thread
from pedanova.counting.few_rows import FewRows
from pedanova.measures.chance.examiner import Examiner
from pedanova.measures.chance.kinship import Gate, Kinship, Twins, kinship_of
from pedanova.measures.chance.ranked_rows import RankedRows, ranked_rows, varying_names
from pedanova.measures.surrogate.configurations import configurations_of
from pedanova.measures.surrogate.hull import hull_of
from pedanova.measures.surrogate.learner import Lesson, learn
from pedanova.measures.surrogate.rungs import Rungs, Span, rungs_of
from pedanova.measures.surrogate.sampler import sampler_of
from pedanova.space.grid import Cells, grid_of
from pedanova.space.parameters import Categorical, Parameter, Space, children_of

Mask: TypeAlias = NDArray[np.bool_]
PValues: TypeAlias = Mapping[str, float]
Asked: TypeAlias = tuple[Span, Span, bool, int]  # target, region, blocks, seed
NO_BOX = "these rows are no box of the space that a model could be asked about"
LEAST_BOX = 200  # points of a box that suffice to ask a model there


class Known(Protocol):
    """What answers ask for."""

    @property
    def rungs(self) -> Rungs: ...
    @property
    def gates(self) -> Sequence[Gate]: ...
    @property
    def twins(self) -> Sequence[Twins]: ...
    @property
    def adaptive(self) -> bool: ...  # the sampler went where it was good
    def lesson(self, seed: int) -> Lesson | None: ...
    def p_values(self, target: Span, region: Span, *, seed: int) -> PValues | None: ...
    def p_values_of(self, target: Mask, region: Mask, *, seed: int) -> PValues | None: ...


@dataclass(eq=False)
class Knowledge:
    """Of the rows at hand."""

    space: Space
    few: FewRows
    around: Knowledge | None = None  # of more rows, of which these are some
    near: Lesson | None = None  # of more rows, which had the same sampler
    _lessons: dict[int, Lesson] = field(default_factory=dict)
    _asked: dict[Asked, PValues] = field(default_factory=dict)

    @cached_property
    def rows(self) -> RankedRows:
        return ranked_rows(self.space, self.few)

    @cached_property
    def rungs(self) -> Rungs:
        return rungs_of(self.few.signed)  # in whatever order

    @cached_property
    def kinship(self) -> Kinship:
        return kinship_of(self.rows)

    @cached_property
    def examiner(self) -> Examiner:
        return Examiner(self.rows, self.kinship)

    @cached_property
    def cut_off(self) -> bool:
        """Whether a condition emptied an end of a range, or a category: what lies there no row here tells."""
        if self.around is not None:
            return self.around.cut_off
        return any(
            not _is_filled(self.space[name], self.few.cells[name]) for name in self.few.picked if name in self.space
        )

    @property
    def gates(self) -> Sequence[Gate]:
        return self.kinship.gates

    @property
    def twins(self) -> Sequence[Twins]:
        return self.kinship.twins

    # --- the model ---------------------------------------------------------------------------------

    def lesson(self, seed: int) -> Lesson | None:
        """What the rows teach; of a part of the rows, what all of them teach about the box that these fill."""
        if seed not in self._lessons:
            self._lessons[seed] = self._learned(seed) if self.around is None else self._narrowed(seed)
        return self._lessons[seed]

    def _learned(self, seed: int) -> Lesson:
        return learn(self.rows, self.kinship, seed=seed, near=self.near)

    def part(self, some: Mask, *, seed: int) -> Knowledge:
        """Of some of the rows alone: a quicker model, whose settings are sought where those of all rows lie."""
        lesson = self.lesson(seed)
        part = Knowledge(
            self.space, self.few.take(some), near=None if lesson is None or lesson.drawn is None else lesson
        )
        own, every = part.rows.arrangement, self.rows.arrangement
        if own.names[: own.varying] == every.names[: every.varying]:
            part.kinship = self.kinship  # found on all rows: that is no less true of some of them
        return part

    def _narrowed(self, seed: int) -> Lesson:
        around = self.around
        lesson = None if around is None else around.lesson(seed)
        if around is None or lesson is None:
            raise ValueError("nothing is known around these rows")
        if lesson.drawn is None:
            return lesson
        if lesson.drawn.uneven:
            return replace(
                lesson, drawn=None, objection="after an adaptive sampler the rows of a part stand for no space"
            )
        kept = hull_of(around.few, np.isin(around.few.rows, self.few.rows), self.space)
        if kept is None:
            return replace(lesson, drawn=None, objection=NO_BOX)
        box = lesson.drawn.box(kept)
        if box.sum() < LEAST_BOX:
            return replace(lesson, drawn=None, objection=NO_BOX)
        varying = varying_names(self.space, self.few.cells)
        return replace(lesson, drawn=replace(lesson.drawn.narrowed(box, self.rungs), varying=varying))

    def spans_of(self, target: Mask, region: Mask) -> tuple[Span, Span] | None:
        """Rows of the table that are all rows between two objectives, as rungs; None where they are not."""
        spans = [self._span(mask[self.rows.rows]) for mask in (target, region)]
        return None if spans[0] is None or spans[1] is None else (spans[0], spans[1])

    def _span(self, held: Mask) -> Span | None:
        places = np.flatnonzero(held)
        if not len(places) or places[-1] - places[0] + 1 != len(places):
            return None
        ends = np.r_[0, self.rungs.rows]
        first, last = np.searchsorted(ends, (places[0], places[-1] + 1))
        return (int(first), int(last)) if ends[first] == places[0] and ends[last] == places[-1] + 1 else None

    # --- p-values ----------------------------------------------------------------------------------

    def p_values(self, target: Span, region: Span, *, seed: int) -> PValues:
        """For rows between rungs of the objective."""
        key = target, region, self.blocks, seed
        if key not in self._asked:
            masks = (self._between(target), self._between(region))
            self._asked[key] = self._tested(*masks, certain=False, blocks=self.blocks, seed=seed)
        return self._asked[key]

    def p_values_of(self, target: Mask, region: Mask, *, seed: int) -> PValues:
        """For rows of the table that were picked one by one."""
        masks = target[self.rows.rows], region[self.rows.rows]
        return self._tested(*masks, certain=True, blocks=False, seed=seed)

    @property
    def asked(self) -> Mapping[Asked, PValues]:
        """What was tested so far."""
        return self._asked

    @property
    def blocks(self) -> bool:
        """Whether scores are permuted among neighbouring trials alone."""
        return self.adaptive and self.rows.trials is not None

    @cached_property
    def adaptive(self) -> bool:
        if self.around is None and self._lessons:
            return next(iter(self._lessons.values())).sampler.adaptive
        return sampler_of(configurations_of(self.rows), self.kinship).adaptive

    def _between(self, span: Span) -> Mask:
        places = np.arange(len(self.rows))
        return (places >= self.rungs.rows_of(span[0])) & (places < self.rungs.rows_of(span[1]))

    def _tested(self, target: Mask, region: Mask, *, certain: bool, blocks: bool, seed: int) -> PValues:
        """Children are tested where they have a value: that they have one is told by their parents."""
        test = partial(self.examiner.p_values, certain=certain, blocks=blocks, seed=seed)
        names = self.kinship.names
        born = children_of(self.space)
        children = [name for name in names if name in born]
        own = [name for name in names if name not in children]
        with one_thread():
            found = test(target, region, only=own) if own else {}
            groups: dict[bytes, tuple[Mask, list[str]]] = {}
            for name in children:
                active = self._active(name)
                groups.setdefault(active.tobytes(), (active, []))[1].append(name)
            for active, some in groups.values():
                wanted, base = target & active, region & active
                if 0 < wanted.sum() < base.sum():
                    found |= test(wanted, base, only=some)
                else:
                    found |= dict.fromkeys(some, 1.0)
        return found

    def _active(self, name: str) -> Mask:
        arrangement = self.rows.arrangement
        j = arrangement.names.index(name)
        return self.rows.places[:, j] < arrangement.grids[j].cells


@dataclass(frozen=True, eq=False)
class KeptKnowledge:
    """Read from a file: the model, and p-values of the questions that were asked or are usual."""

    rungs: Rungs
    gates: tuple[Gate, ...]
    twins: tuple[Twins, ...]
    taught: Lesson | None
    adaptive: bool
    blocks: bool
    asked: Mapping[Asked, PValues]

    def lesson(self, seed: int) -> Lesson | None:
        """None for another seed: its model was not kept."""
        return self.taught if seed == 0 else None

    def p_values(self, target: Span, region: Span, *, seed: int) -> PValues | None:
        return self.asked.get((target, region, self.blocks, seed))

    def p_values_of(self, target: Mask, region: Mask, *, seed: int) -> PValues | None:  # noqa: ARG002
        return None


def _is_filled(parameter: Parameter, cells: Cells) -> bool:
    """Whether rows reach both ends of a range, or have every category."""
    grid = grid_of(parameter)
    found = np.bincount(cells[cells < grid.cells], minlength=grid.cells) > 0
    return bool(found.all() if isinstance(parameter, Categorical) else found[0] and found[-1])
