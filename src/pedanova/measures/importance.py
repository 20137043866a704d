"""Importance: how much each parameter decides which rows of the region are in the target (PED-ANOVA).

Cell j of a parameter has t_j of the n′ target rows and c_j of the n region rows. PED = Σ_j (t_j/n′)² / (c_j/n) - 1.
With m = n′/n, the variance of "in the target?" is m(1-m). The parameter alone explains m²·PED of this variance. So its
share is m²·PED / (m(1-m)), a number between 0 and 1.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations
from typing import Any

import numpy as np

from pedanova.base.digits import chance, interval, percent, short
from pedanova.base.names import and_more, short_names
from pedanova.base.notes import Note
from pedanova.base.table import PAINTERS, Printed, html_table
from pedanova.base.terminal import printable, shorten, wrapped
from pedanova.counting.contrasts import Contrast
from pedanova.data.regions import LEAST_TARGET
from pedanova.errors import listed
from pedanova.measures.clear import LARGE, beats_chance, undecided
from pedanova.measures.distributions import LEVEL
from pedanova.measures.question import LEAST_TO_REDUCE, Baseline
from pedanova.measures.share import ShareTable, ratio_of, share_of, summed_ratio
from pedanova.measures.smoothing import Smoothing, is_too_narrow, smooth, squared_smooth, width_in
from pedanova.space.grid import Block, Reals, blocks_of

LEAST_SHARE = -1.0  # the lowest share; the correction for chance can give less if there are very few rows
UNKNOWN, NEVER = "–", "never varied"  # shown in tables for a parameter that had one value in all rows
LONGEST = 100  # the number of `Pass` objects that are kept
LONGEST_HEADLINE, LONGEST_LEADER = 160, 40  # characters
OF_TRIALS = re.compile(r" \((?:[^()]|\([^()]*\))* of your [\d,]+ trials\)$")
AT_ONCE = 128  # parameters that are measured together
LINE = 100  # characters of a line of text
MOST_TOGETHER = 1.1  # the largest sum of shares that chance can explain


@dataclass(frozen=True, slots=True)
class Importance:
    """The importance of one parameter.

    Attributes
    ----------
    name
        The parameter.
    ratio
        The parameter's `share` divided by the sum of all shares; negative shares are set to zero.
    share
        Each row has the number 1 if it is in the target, and 0 if not. The share is the fraction of the variance of
        these numbers that the parameter explains on its own, corrected for chance and limited to 0 to 1. For a
        conditional parameter, only the effect of its value counts; the effect of being active is part of its parent's
        share. Compared with a uniform draw, nobody knows how much of the space the target is: at most as much as of the
        rows, and so little that no share is above 1.
    raw_share
        The share without the correction for chance. For a conditional parameter, it includes the effect of being
        active.
    raw_ratio
        The parameter's `variance` divided by the sum of all variances: the HPI ratio of the paper.
    divergence
        PED: the chi-square divergence of the target's density from the baseline's density.
    variance
        m² · PED, with m = n_target / n_region.
    n_target, n_region
        The number of rows in the target and in the region.
    bandwidth
        The width of the smoothing kernel in cells; 0 for no smoothing.
    value, activity
        The two parts of `divergence`: the effect of the parameter's value, and the effect of being active. If a
        parameter has several domains, `activity` includes the effect of the choice of the domain. If a parameter has
        one domain and no condition, `activity` is 0.
    value_share, activity_share
        The two parts of `raw_share`: the effect of the parameter's value, and the effect of being active.
    low, high
        The 95 % interval of `share`; None if `draws` is 0.
    p_value
        The probability that chance alone gives an importance at least this large, with the same target and region.
    p_adjusted
        The p-value adjusted for the number of parameters (Holm).
    significant
        Whether the effect is clear: `p_adjusted` is at most 0.05, and `share` is at least 0.005.
    varied
        False if the parameter had only one value in the region (with a model: in all rows). Then its effect is not
        known: its numbers are 0, and its interval and p-value are None.
    deviation
        The standard deviation of the share, used to pool studies; None if `draws` is 0.
    unlimited
        The share before it was limited to 0 to 1, used to pool studies; slightly negative for many parameters without
        an effect.

    Examples
    --------
    >>> import pedanova as pa
    >>> row = pa.analyze(pa.demo_trials(), "error").importance()["learning_rate"]
    >>> row.low < row.share < row.high, row.significant
    (True, True)
    """

    name: str
    ratio: float
    share: float
    raw_share: float
    divergence: float
    variance: float
    n_target: int
    n_region: int
    bandwidth: float
    value: float
    activity: float
    value_share: float
    activity_share: float
    low: float | None = None
    high: float | None = None
    p_value: float | None = None
    p_adjusted: float | None = None
    significant: bool | None = None
    varied: bool = True
    raw_ratio: float = 0.0
    deviation: float | None = field(default=None, compare=False)  # not columns of the table
    unlimited: float = field(default=0.0, compare=False)


@dataclass(frozen=True, slots=True, repr=False)
class Importances(ShareTable[Importance]):
    """A table of `Importance` rows, the most important first: ``imp["lr"].share``, ``imp.ratios``, ``imp.items()``.

    Attributes
    ----------
    target, region
        The target and the region, in words.
    baseline
        What the target was compared with: ``"region"`` or ``"uniform"``.
    estimator
        The estimator that was used: ``"counts"``, ``"surrogate"`` (a model) or ``"paper"``.
    whole
        Whether the region consists of all rows.
    trials
        If an adaptive sampler chose the trials: importances that compare the best trials with a uniform draw. Empty for
        other samplers.
    copies
        Each copy of a parameter and its original, such as ``{"lr_2": "lr"}``. Both carry the same information, have the
        same share, and are printed on one line.
    good
        The good values of each parameter with a clear effect, in words; the numbers are in `Analysis.densities`.
    doubtful
        Columns that might not be parameters; a note on the analysis says why.
    full
        Whether all columns are printed; `in_full` sets it.

    Examples
    --------
    >>> import pedanova as pa
    >>> found = pa.analyze(pa.demo_trials(), "error").importance(draws=0, estimator="counts")
    >>> found.target, next(iter(found)), found["lucky_number"].ratio
    ('the best 10 %', 'learning_rate', 0.0)
    """

    internal = ShareTable.internal | {"is_conditional", "is_sure", "name_of", "next_step"}
    rows: tuple[Importance, ...]
    target: str  # in words
    region: str
    baseline: Baseline
    notes: tuple[Note, ...] = ()
    estimator: str = "counts"  # or "surrogate", "paper"
    whole: bool = True  # whether the region is all rows
    trials: tuple[Importance, ...] = ()  # after an adaptive sampler: its best trials against a uniform draw
    copies: Mapping[str, str] = field(default_factory=dict)
    good: Mapping[str, str] = field(default_factory=dict)
    doubtful: tuple[str, ...] = ()
    full: bool = False

    @property
    def is_conditional(self) -> bool:
        """Whether the effect of being active is above 0 for at least one conditional parameter."""
        return any(row.activity > 0 for row in self.rows)

    @property
    def is_sure(self) -> bool:
        return any(row.p_value is not None for row in self.rows)

    def printed_rows(self) -> Sequence[Importance]:
        """The rows to print: all except copies, which are named in the row of their original."""
        return [row for row in self.rows if row.name not in self.copies]

    def name_of(self, row: Importance) -> str:
        """The name of the row's parameter, followed by the names of its copies."""
        copies = sorted(copy for copy, original in self.copies.items() if original == row.name)
        return f"{row.name} (= {', '.join(copies)})" if copies else row.name

    def in_full(self) -> Importances:
        """The same table, printed with the additional columns ratio, divergence and raw share.

        Examples
        --------
        >>> import pedanova as pa
        >>> found = pa.analyze(pa.demo_trials(), "error").importance(draws=0, estimator="counts")
        >>> found.in_full().header()
        ['parameter', 'importance', 'ratio', 'divergence', 'raw share']
        """
        return replace(self, full=True)

    def printed(self) -> Printed:
        """The table of importance, interval, p and good values; `in_full` adds the other columns."""
        if self.estimator == "paper":
            numbers = self._further()
            return [self.column("parameter", self.name_of), *(numbers if self.full else numbers[:2])]
        columns = [self.column("parameter", self.name_of), self.column("importance", marked_share, bar="share")]
        if self.is_sure:
            columns.append(self.column("95 % interval", lambda row: interval(row.low, row.high), leave=1))
            columns.append(self.column("p", p_in_words, leave=2))
        if self.good:
            words = self.column("good values", lambda row: self.good.get(row.name, ""), kind="words", leave=3)
            columns.append(words)
        return [*columns, *(self._further() if self.full else [])]

    def _further(self) -> Printed:
        columns = [self.column("ratio", lambda row: known_percent(row, row.ratio))]
        if self.trials:
            best = {row.name: known_percent(row, row.ratio) for row in self.trials}
            columns.append(self.column("in best trials", lambda row: best[row.name]))
        columns.append(self.column("divergence", lambda row: short(row.divergence) if row.varied else UNKNOWN))
        columns.append(self.column("raw share", lambda row: known_percent(row, row.raw_share)))
        if self.is_conditional:
            parts = {row.name: percent(row.activity / row.divergence) for row in self.rows if row.activity > 0}
            columns.append(self.column("by presence", lambda row: parts.get(row.name, "")))
        return columns

    def heading(self) -> str:
        return f"Importance: {self.target} compared with {self.region}"

    def headline(self) -> str:
        """The most important parameter and its importance, in one sentence.

        Examples
        --------
        >>> import pedanova as pa
        >>> pa.analyze(pa.demo_trials(), "error").importance(estimator="counts").headline()[:26]
        'learning_rate matters most'
        """
        if self.estimator == "paper":
            first = self.printed_rows()[0]
            part = f"{percent(first.ratio)} of the sum of all importances"
            return f"By the paper's estimator, {shorten(self._short()[first.name], LONGEST_LEADER)} has {part}."
        rows = self._sure()
        target, region = (OF_TRIALS.sub("", words) for words in (self.target, self.region))
        among = ["" if self.whole else among_in_words(words) for words in (self.region, region)]
        goals = [f"a trial{among[0]} {reached_in_words(self.target)}", f"a trial{among[1]} {reached_in_words(target)}"]
        goals += [f"a trial {reached_in_words(target)}", "a trial is in the target"]
        top = max(self.printed_rows(), key=lambda row: row.share)
        if not rows and top.share <= LARGE:
            forms = [f"No parameter clearly affects whether {goal}." for goal in goals]
        else:
            first = rows[0] if rows else top
            doubt = " (perhaps not a parameter)" if first.name in self.doubtful else ""
            name = f"{shorten(self._short()[first.name], LONGEST_LEADER)}{doubt}"
            ends = f" ({interval(first.low, first.high)})" if first.low is not None else ""
            much = f"its importance is {percent(first.share)}{ends}"
            how = "matters most for" if first is top else "has the clearest effect on"  # a larger share is unsure
            forms = [f"{name} {how} whether {goal}: {much}." for goal in goals]
            if not rows:
                forms = [f"{name} may matter most for whether {goal}, but this is not certain yet." for goal in goals]
        return next((text for text in forms if len(text) <= LONGEST_HEADLINE), forms[-1])

    def summary(self) -> str:
        """The most important parameters, their good values, and parameters without a clear effect, in words."""
        sure, names, parts = self._sure(), self._short(), [self.headline()]
        if self.estimator == "paper":
            others = [f"{shorten(names[row.name], 60)} ({percent(row.ratio)})" for row in self.printed_rows()[1:]]
            then = [f"Then {'comes' if len(others) == 1 else 'come'} {and_more(others)}."] * bool(others)
            return " ".join([*parts, *then, "This estimator gives no intervals and no p-values."])
        if sure and self.good.get(sure[0].name):
            parts.append(f"Its good values: {self.good[sure[0].name]}.")
        noise = [row for row in self.printed_rows() if row.significant is False]
        large = [f"{names[row.name]} ({percent(row.share)})" for row in noise if row.share > LARGE]
        if sure and large:
            parts.append(f"{and_more(large)} may matter too, but this is not certain yet (~).")
        if others := [f"{shorten(names[row.name], 60)} ({percent(row.share)})" for row in sure[1:]]:
            parts.append(f"Then {'comes' if len(others) == 1 else 'come'} {and_more(others)}.")
        unclear = [names[row.name] for row in noise if row.share <= LARGE]
        if not sure:
            tiny = any(row.p_adjusted is not None and row.p_adjusted <= LEVEL for row in self.rows)
            parts.append("Every effect is below 0.5 %." if tiny else "The ranking may be due to chance.")
            parts += [] if tiny else undecided(noise, names.__getitem__)
        elif unclear:
            parts.append(f"{and_more(unclear)} {'has' if len(unclear) == 1 else 'have'} no clear effect (~).")
        never = [names[row.name] for row in self.printed_rows() if not row.varied]
        return " ".join([*parts, f"{and_more(never)} {NEVER}."] if never else parts)

    def next_step(self) -> str:
        """A sentence that suggests the next call in Python."""
        if self.estimator == "paper":
            return "Next: .importance() shows which effects are clear."
        if self._sure():
            counted = max(row.n_target for row in self.trials or self.rows)
            enough = self.estimator == "surrogate" or counted >= LEAST_TO_REDUCE[1]
            wider = "" if enough else "target=0.2"
            return f"Next: .reduce({wider}) suggests a smaller search space."
        wider = ", or use a wider target, such as .importance(0.3)" if is_narrow(self) else ""
        return f"Next: run more trials{wider}."

    def _sure(self) -> list[Importance]:
        """The rows with a clear effect, the most important first, without copies."""
        return sorted((row for row in self.printed_rows() if beats_chance(row)), key=lambda row: -row.share)

    def _short(self) -> dict[str, str]:
        return short_names(list(self))

    def plot(self, *, metric: str = "share", ax: Any = None) -> Any:
        """Draw the importances as bars with their intervals; needs matplotlib.

        Parameters
        ----------
        metric, ax
            `metric`: ``"share"`` or ``"ratio"``. `ax`: the Axes to draw in; None for a new figure.

        Returns
        -------
        matplotlib.axes.Axes
            The Axes of the figure.

        Examples
        --------
        >>> import pedanova as pa
        >>> ax = pa.analyze(pa.demo_trials(), "error").importance(estimator="counts", draws=0).plot()
        >>> len(ax.patches)
        10
        """
        return PAINTERS[Importances](self, ax, metric=metric)

    def __str__(self) -> str:
        words = wrapped(printable(f"{self.summary()} {self.next_step()}"), LINE)
        return f"{words}\n\n{self.in_lines()}"

    def _repr_html_(self) -> str:
        return html_table(f"{self.summary()} {self.next_step()}", self.printed(), faint=self.faint(), notes=self.notes)

    def faint(self) -> frozenset[int]:
        return frozenset(i for i, row in enumerate(self.printed_rows()) if is_faint(row))


def is_faint(row: Importance) -> bool:
    """Whether the parameter has no clear effect or never varied."""
    return row.significant is False or not row.varied


def known_percent(row: Importance, part: float) -> str:
    """`part` as a percentage, or "–" if the parameter never varied."""
    return percent(part) if row.varied else UNKNOWN


def marked_share(row: Importance) -> str:
    """The share as text: "~" marks a share without a clear effect, "–" a parameter that never varied."""
    return f"{'~ ' if row.significant is False else ''}{known_percent(row, row.share)}"


def is_narrow(answer: Importances) -> bool:
    """Whether the target is narrower than the best 30 % of all rows, so that a wider target may show more effects."""
    parts = [row.n_target / row.n_region for row in answer.rows if row.n_region]
    of_space = "of the space" in answer.target  # as after an adaptive sampler
    return answer.whole and (of_space or max(parts, default=0.0) < 0.3)


def among_in_words(region: str) -> str:
    """The region as words to put after "trial": " among the best 30 %", " with layers in 1, 2"."""
    plain = region.startswith(("rows with ", "rows where "))
    return f" {region.removeprefix('rows ')}" if plain else f" among {region}"


FAILED_TRIALS = "the failed trials"


def reached_in_words(target: str) -> str:
    """The target as words to put after "trial": "is in the best 10 %", "has objective ≤ 0.1"."""
    if target.startswith("rows with "):
        return f"has {target.removeprefix('rows with ')}"
    if target == FAILED_TRIALS:
        return "fails"
    return f"meets {target.removeprefix('rows where ')}" if target.startswith("rows where ") else f"is in {target}"


def p_in_words(row: Importance) -> str:
    """The p-value as text, or the reason why there is none."""
    if row.p_adjusted is None:
        return "" if row.varied else NEVER
    return chance(row.p_adjusted)


def ranked(rows: Sequence[Importance], copies: Collection[str] = ()) -> tuple[Importance, ...]:
    """The rows with ratios added and shares limited, the most important first; parameters that never varied are last.

    A copy of another parameter gets a ratio too, but its share is not part of the sum of shares.
    """
    top = max(1.0, *(row.share for row in rows))
    own = [row for row in rows if row.name not in copies]
    # Exact sums, which do not depend on the order of the columns.
    total, spread = math.fsum(max(0.0, row.share) for row in own), math.fsum(row.variance for row in own)
    result = [
        replace(
            limited(row, top),
            ratio=max(0.0, row.share) / total if total > 0 else 0.0,
            raw_ratio=row.variance / spread if spread > 0 else 0.0,
        )
        for row in rows
    ]
    return tuple(sorted(result, key=lambda row: (not row.varied, -row.unlimited, row.name in copies)))


def limited(row: Importance, top: float) -> Importance:
    """The row with its shares and their bounds divided by `top`, the largest share, and limited to 0 to 1."""
    fields = ("share", "low", "high", "raw_share", "value_share", "activity_share")
    known = {name: value for name in fields if (value := getattr(row, name)) is not None}
    parts = {name: min(max(0.0, value / top), 1.0) for name, value in known.items()}
    deviation = None if row.deviation is None else row.deviation / top
    return replace(row, **parts, deviation=deviation, unlimited=row.share / top)


@dataclass(frozen=True, slots=True)
class Piece:
    """Sums over the cells of one domain, which contains the fraction α of the target rows and β of the region rows."""

    square: float  # Σ target² / base over its cells
    share_of_square: float  # α² / β: `square` if the whole regime were one cell
    noise: float  # Σ_ij S_ij² π_j / base_i
    kept_noise: float  # `noise` if the whole regime were one cell
    width: float


def pieces_of(
    contrasts: Sequence[Contrast], block: Block, baseline: str, smoothing: Smoothing, sizes: Sequence[tuple[int, int]]
) -> list[Piece]:
    """The sums over the cells of one block (domain), for several parameters with the same blocks.

    `sizes` has the number of target rows and of region rows for each parameter.
    """
    regions = np.stack([contrast.region[block.cells] for contrast in contrasts])
    if not regions.any():
        return [Piece(0.0, 0.0, 0.0, 0.0, 0.0)] * len(contrasts)
    targets = np.stack([contrast.target[block.cells] for contrast in contrasts])
    inside, rows = np.array(sizes, dtype=np.float64).T
    repeats = np.array([contrast.repeats for contrast in contrasts])
    if smoothing == "auto" and is_too_narrow(targets / repeats[:, None], 1):
        widths = [0.0] * len(contrasts)
    else:
        widths = [width_of(contrast, block, smoothing) for contrast in contrasts]
    wanted, base_rows = targets / inside[:, None], regions / rows[:, None]
    reached, active = targets.sum(axis=1) / inside, regions.sum(axis=1) / rows  # α, β
    prior = np.stack([contrast.grid.prior[block.cells] for contrast in contrasts])
    if baseline == "uniform" and prior.size:
        # Uniform inside the regime; the rows give the frequency of the regime.
        base = active[:, None] * smooth_each(smooth, prior / prior.sum(axis=1, keepdims=True), widths)
    else:
        base = smooth_each(smooth, base_rows, widths)
    square = summed_ratio(smooth_each(smooth, wanted, widths) ** 2, base)
    noise = summed_ratio(smooth_each(squared_smooth, base_rows if baseline == "region" else wanted, widths), base)
    kept = np.sign(active) if baseline == "region" else ratio_of(reached, active)
    columns = square, ratio_of(reached**2, active), noise, kept
    return [Piece(*one) for one in zip(*(column.tolist() for column in columns), widths, strict=True)]


def smooth_each(kernel: Callable[[Reals, float], Reals], masses: Reals, widths: Sequence[float]) -> Reals:
    """(parameters, cells) Smooth each line of `masses` with its own kernel width."""
    if not any(widths):
        return masses
    return np.stack([kernel(row, width) for row, width in zip(masses, widths, strict=True)])


def width_of(contrast: Contrast, block: Block, smoothing: Smoothing) -> float:
    """The kernel's width in a block, where repeated configurations are used once; 0 if the block has no rows."""
    target, region = (counts[block.cells] for counts in contrast.independent())
    return width_in(block, smoothing, target, region) if region.any() else 0.0


def not_noise(divergence: float) -> float:
    """The divergence, or 0 if it is only a rounding error."""
    return divergence if divergence > 1e-12 else 0.0


def measure(contrast: Contrast, *, baseline: str, smoothing: Smoothing) -> Importance:
    """The importance of one parameter, still without a ratio; target rows must be rows of the region."""
    return measure_all([contrast], baseline=baseline, smoothing=smoothing)[0]


def measure_all(contrasts: Sequence[Contrast], *, baseline: str, smoothing: Smoothing) -> list[Importance]:
    """The importance of each parameter as in `measure`; parameters with the same blocks are computed together."""
    alike: dict[object, list[int]] = {}
    for i, contrast in enumerate(contrasts):
        alike.setdefault((contrast.grid.width, contrast.grid.blocks), []).append(i)
    sizes = [(round(float(contrast.target.sum())), int(contrast.region.sum())) for contrast in contrasts]
    pieces: dict[int, list[Piece]] = {i: [] for i in range(len(contrasts))}
    for some in (group[i : i + AT_ONCE] for group in alike.values() for i in range(0, len(group), AT_ONCE)):
        own, own_sizes = [contrasts[i] for i in some], [sizes[i] for i in some]
        for block in blocks_of(own[0].grid):
            for i, piece in zip(some, pieces_of(own, block, baseline, smoothing, own_sizes), strict=True):
                pieces[i].append(piece)
    each = zip(contrasts, sizes, pieces.values(), strict=True)
    return [by_pieces(c, size, own, baseline) if c.varies else unvaried(c.name, *size) for c, size, own in each]


def unvaried(name: str, inside: int, rows: int) -> Importance:
    """The importance of a parameter that had only one value, so that its effect is not known."""
    return replace(importance_row(name, (inside, rows), 0.0, 0.0), varied=False)


def by_pieces(contrast: Contrast, sizes: tuple[int, int], pieces: Sequence[Piece], baseline: str) -> Importance:
    """The importance of a parameter, computed from `pieces`; there is one piece for each domain.

    For a conditional parameter, only the effect of the value is credited, not the effect of being active. If
    configurations are repeated, the rows of one are treated as one independent row.
    """
    inside, rows = sizes
    value = not_noise(sum(piece.square - piece.share_of_square for piece in pieces))
    activity = not_noise(sum(piece.share_of_square for piece in pieces) - 1.0)
    noise, kept = sum(piece.noise for piece in pieces), sum(piece.kept_noise for piece in pieces)
    credited, chance = (value, noise - kept + 1.0) if contrast.child else (value + activity, noise)
    odds = inside / rows / (1.0 - inside / rows)
    share = share_of(credited, chance, odds, inside / contrast.repeats, rows / contrast.repeats, baseline)
    width = max(piece.width for piece in pieces)
    return importance_row(contrast.name, sizes, max(LEAST_SHARE, float(share)), value, activity, width)


def importance_row(
    name: str,
    sizes: tuple[int, int],
    share: float,
    value: float,
    activity: float = 0.0,
    width: float = 0.0,
    part: float | None = None,
) -> Importance:
    """The importance of a parameter with the divergence `value` + `activity`, still without a ratio.

    `sizes` has the number of target rows and of region rows; `part` is their ratio, unless a model gives another one.
    """
    part, divergence = sizes[0] / sizes[1] if part is None else part, value + activity
    odds = part / (1.0 - part)
    return Importance(
        name=name,
        ratio=0.0,
        share=share,
        raw_share=odds * divergence,
        divergence=divergence,
        variance=part**2 * divergence,
        n_target=sizes[0],
        n_region=sizes[1],
        bandwidth=width,
        value=value,
        activity=activity,
        value_share=odds * value,
        activity_share=odds * activity,
    )


def sum_notes(rows: Sequence[Importance], copies: Collection[str]) -> list[Note]:
    """A warning if the importances add up to clearly more than the whole, which only dependent columns allow."""
    total = math.fsum(row.share for row in rows if row.name not in copies)
    if total <= MOST_TOGETHER:
        return []
    words = f"the importances add up to {percent(total)}, because columns depend on each other in these rows; "
    return [Note("doubt", f"{words}rows that were chosen by hand, or pooled from several searches, can cause this")]


def never_notes(names: Sequence[str], what: str = "nothing can be said about other values") -> list[Note]:
    """A note on the parameters `names`, which had only one value, so that their effect is not known."""
    named = listed(list(names), most=5)
    return [Note("answer", f"{NEVER} in these rows; {what}", subject=named)] if names else []


def sparse_notes(contrasts: Iterable[Contrast]) -> list[Note]:
    """Notes on domains with hardly any target rows."""
    notes = []
    for contrast in contrasts:
        for block in contrast.grid.blocks:
            target = int(contrast.target[block.cells].sum())
            if len(block) <= 1 or target >= LEAST_TARGET:
                continue
            region = int(contrast.region[block.cells].sum())
            if region < contrast.region.sum():
                rows = f"only {target} of {region:,} active rows are" if region else "no active row is"
                words = f"{rows} in the target, too few to measure the effect of its value"
                notes.append(Note("answer", words, subject=contrast.name))
    return notes


@dataclass(frozen=True, slots=True)
class Pass:
    """A change in the ranking: one parameter was behind another and is now clearly ahead of it."""

    ahead: str
    behind: str
    rows: int  # the number of rows at that look
    was_clear: bool  # whether the other one was clearly ahead before


@dataclass(frozen=True, slots=True)
class Standings:
    """The latest ranking of a growing study, and the number of rows when the ranking last changed."""

    order: tuple[str, ...]
    clear: frozenset[tuple[str, str]]  # pairs (ahead, behind) that differed clearly at some look, in the latest order
    since: int  # the number of rows when the order last changed
    rows: int  # rows at the last look
    passes: tuple[Pass, ...] = ()  # oldest first

    @classmethod
    def begin(cls, importances: Importances, rows: int) -> Standings:
        return cls(tuple(importances), clear_pairs(importances.rows), rows, rows)

    @property
    def stable_for(self) -> int:
        """The number of rows since the ranking last changed."""
        return self.rows - self.since

    def then(self, importances: Importances, rows: int) -> Standings:
        """The ranking after the study was read again; parameters that were not ranked before are added at the end."""
        remembered = [name for name in self.order if name in importances]
        order = (*remembered, *(name for name in importances if name not in remembered))
        clear = clear_pairs(importances.rows)
        place = {name: i for i, name in enumerate(order)}
        passed = tuple(
            Pass(ahead, behind, rows, (behind, ahead) in self.clear)
            for ahead, behind in sorted(clear, key=lambda pair: (place[pair[1]], place[pair[0]]))
            if place[ahead] > place[behind] and {ahead, behind} <= set(remembered)
        )
        turned = {(one.behind, one.ahead) for one in passed}
        return Standings(
            order=tuple(importances) if passed else order,
            clear=frozenset((self.clear - turned) | clear),
            since=rows if passed else self.since,
            rows=rows,
            passes=(*self.passes, *passed)[-LONGEST:],
        )


def clear_pairs(rows: Sequence[Importance]) -> frozenset[tuple[str, str]]:
    """Pairs of parameters (the first is ahead of the second) whose intervals do not overlap."""
    known = [(row.name, row.low, row.high) for row in rows if row.low is not None and row.high is not None]
    return frozenset((ahead, behind) for (ahead, low, _), (behind, _, high) in permutations(known, 2) if low > high)
