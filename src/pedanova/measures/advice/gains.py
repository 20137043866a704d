"""Gains: how much tuning improves the objective over a default, per parameter, in total, and step by step.

Gains come from posterior samples of the objective. Choosing the best value separately in each sample would inflate the
gain. So the gain and the lower end of its interval use one value for all samples, the value with the best median. The
upper end uses the best value of each sample.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from pedanova.base.digits import short
from pedanova.base.notes import Note
from pedanova.base.table import NamedTable, Printed, Table
from pedanova.base.terminal import printable, wrapped
from pedanova.data.column import Mask
from pedanova.measures.advice.configurations import Rules
from pedanova.measures.importance import LINE
from pedanova.measures.questions.failures import Success
from pedanova.measures.surrogate.objective_model import Candidates, KnownObjective, Settings
from pedanova.space.grid import Reals
from pedanova.space.values import Label

COLUMNS = (
    "gain: how much better the objective gets if only this parameter is tuned. worst loses: how much worse the "
    "objective gets at this parameter's worst value. if left: how much you may lose if this parameter stays at its "
    "default and all others are tuned. safe: all parameters marked safe may stay at their defaults together."
)
DRAWS = 96
ENDS = (0.025, 0.975)
CANDIDATES = 32  # the best configurations, in which a parameter is reset to its default
SURE = 0.9  # the least probability that a best configuration succeeds, and meets a limit
EVEN, UNLIKELY = 0.5, 0.1  # the same, for configurations that may be the best ones
SAFE = 0.1  # a loss below this part of the total gain, or of the objective's spread, may be negligible
LEAST_SAFE = 0.02  # a loss below this part of the objective's spread is negligible
CLIMBS, MOST_CLIMBS = 2, 200  # steps per parameter, and all steps, of the search for the best configuration


@dataclass(frozen=True, slots=True)
class Amount:
    """An improvement of the objective (positive means better), with a 95 % interval.

    Attributes
    ----------
    gain
        The improvement, in units of the objective.
    low, high
        The 95 % interval of `gain`.

    Examples
    --------
    >>> import pedanova as pa
    >>> total = pa.analyze(pa.demo_trials(), "error").first(200).gains().total
    >>> total.low <= total.gain <= total.high
    True
    """

    gain: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{short(self.gain, 2)} ({short(self.low, 2)} to {short(self.high, 2)})"


@dataclass(frozen=True, slots=True)
class Gain:
    """The gain from tuning one parameter, and the losses from setting it badly or leaving it at its default.

    Attributes
    ----------
    name
        The parameter.
    default, best
        The default value, and the best value while all other parameters stay at their defaults. None if the parameter
        is inactive.
    gain, low, high
        The gain over the default from tuning only this parameter, with a 95 % interval.
    wrong, wrong_low, wrong_high
        The loss at the parameter's worst value while all other parameters stay at their defaults.
    left, left_low, left_high
        The loss from leaving this parameter at its default while all other parameters are tuned.
    verdict
        ``safe``: the parameter may stay at its default, together with all other safe parameters. ``tune``: it is worth
        tuning. ``unsure``: neither is clear.

    Examples
    --------
    >>> import pedanova as pa
    >>> gains = pa.analyze(pa.demo_trials(), "error").first(200).gains({"learning_rate": 1e-4})
    >>> gains["learning_rate"].default, gains["learning_rate"].gain > 0
    (0.0001, True)
    """

    name: str
    default: Label | None
    best: Label | None
    gain: float
    low: float
    high: float
    wrong: float
    wrong_low: float
    wrong_high: float
    left: float
    left_low: float
    left_high: float
    verdict: str


@dataclass(frozen=True, slots=True)
class PathStep:
    """One step from the default to the best configuration.

    Attributes
    ----------
    name
        The parameter that is changed.
    before, after
        The parameter's value before and after the step.
    gain, low, high
        The gain of this step, with a 95 % interval.
    objective
        The predicted objective after the step (the median of the predictions).

    Examples
    --------
    >>> import pedanova as pa
    >>> path = pa.analyze(pa.demo_trials(), "error").first(200).gains({"learning_rate": 1e-4}).path
    >>> path.rows[0].objective >= path.rows[-1].objective
    True
    """

    name: str
    before: Label | None
    after: Label | None
    gain: float
    low: float
    high: float
    objective: float


@dataclass(frozen=True, slots=True, repr=False)
class AblationPath(Table):
    """The steps from the default to the best configuration; each step changes the parameter with the largest gain.

    Attributes
    ----------
    rows
        One `PathStep` for each changed parameter, in order.

    Examples
    --------
    >>> import pedanova as pa
    >>> path = pa.analyze(pa.demo_trials(), "error").first(200).gains({"learning_rate": 1e-4}).path
    >>> len(path.rows) <= 10
    True
    """

    rows: tuple[PathStep, ...]

    def printed(self) -> Printed:
        return [
            self.column("step", lambda row: row.name),
            self.column("from", lambda row: short(row.before), kind="words", leave=2),
            self.column("to", lambda row: short(row.after), kind="words"),
            self.column("gain", lambda row: short(row.gain, 2), bar="gain"),
            self.column("95 % interval", lambda row: f"{short(row.low, 2)} to {short(row.high, 2)}", leave=1),
            self.column("objective", lambda row: short(row.objective)),
        ]


@dataclass(frozen=True, slots=True, repr=False)
class Gains(NamedTable[Gain]):
    """The gains from tuning, by parameter, the largest first: ``g["lr"].gain``, ``g.total``, ``g.path``.

    Attributes
    ----------
    total
        The gain over the default (by default: over the best trial) from tuning all parameters.
    path
        The steps from the default to the best configuration, one parameter at a time.
    default, best
        The default and the best configuration, as values by parameter; None for inactive parameters. `best` is the
        best trial, unless another configuration is certainly better: its gain has an interval above 0.
    safe_loss, tolerance
        `safe_loss`: an upper bound of the loss from leaving all safe parameters at their defaults (the largest loss in
        any posterior sample, but at least a fiftieth of the objective's interquartile range). `tolerance`:
        the largest loss that counts as safe. It is a tenth of the total gain, but at least a fiftieth and at most a
        tenth of the objective's interquartile range.
    objective, direction, region
        The name of the objective, its direction, and the region in words.
    default_was_run
        Whether some row has exactly the default values. Such a row makes the error of the gains about half as large.
    default_source
        Where the default comes from if you gave none: the best trial, or the tool's own default.
    limit
        With several objectives: the limits of all others, which every tuned configuration probably meets.

    Examples
    --------
    >>> import pedanova as pa
    >>> gains = pa.analyze(pa.demo_trials(), "error").first(200).gains()
    >>> gains["learning_rate"].gain > gains["lucky_number"].gain
    True
    """

    rows: tuple[Gain, ...]
    total: Amount
    path: AblationPath
    default: Mapping[str, Label | None]
    best: Mapping[str, Label | None]
    safe_loss: float
    tolerance: float
    objective: str
    direction: str
    region: str = ""
    default_was_run: bool = False
    default_source: str = ""
    limit: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[Note, ...] = field(default=())

    @property
    def safe(self) -> list[str]:
        """The parameters that may stay at their defaults together."""
        return [row.name for row in self.rows if row.verdict == "safe"]

    @property
    def level(self) -> str:
        """The limits in words; empty without limits."""
        return "".join(f" at {name} {short(end)}" for name, end in self.limit.items())

    def printed(self) -> Printed:
        return [
            self.column("parameter", lambda row: row.name),
            self.column("default", lambda row: short(row.default), kind="words", leave=3),
            self.column("best", lambda row: short(row.best), kind="words", leave=2),
            self.column("gain", lambda row: short(row.gain, 2), bar="gain"),
            self.column("95 % interval", lambda row: f"{short(row.low, 2)} to {short(row.high, 2)}", leave=1),
            self.column("worst loses", lambda row: short(row.wrong, 2), leave=4),
            self.column("if left", lambda row: f"≤ {short(row.left_high, 2)}"),
            self.column("verdict", lambda row: row.verdict, kind="words"),
        ]

    def heading(self) -> str:
        return f"Gains from tuning, compared with the default, in units of {self.objective}{self.level}"

    def summary(self) -> str:
        """The total gain, and the parameters that may stay at their defaults."""
        words = (
            f"Tuning all parameters improves {self.objective} by {self.total}, "
            f"compared with {self.default_source or 'the default'}{self.level}."
        )
        if self.total.low <= 0.0:
            words += " This gain is not certain: its interval begins at 0."
        if not self.safe:
            return f"{words} No parameter is clearly safe to leave at its default."
        loss = short(self.safe_loss, 2)
        return f"{words} Safe to leave at the default: {', '.join(self.safe)} (a loss of at most {loss})."

    def __str__(self) -> str:
        first, last = (wrapped(printable(words), LINE) for words in (self.summary(), COLUMNS))
        default = default_in_words(self, "default={...}")
        return "\n".join(filter(None, (f"{first}\n", NamedTable.__str__(self), default, last)))


def default_in_words(gains: Gains, option: str) -> str:
    """Where the default comes from, and the option that sets another default; empty if a default was given."""
    return f"default: {gains.default_source}; {option} sets another" if gains.default_source else ""


@dataclass(frozen=True, slots=True, eq=False)
class Limit:
    """A limit of another objective."""

    objective: KnownObjective
    worst: float  # lower is better
    seed: int

    def met(self, settings: Settings) -> Mask:
        """(draws, configurations) Whether the limit is met, in posterior samples."""
        drawn = self.objective.draw(settings, DRAWS, np.random.default_rng([self.seed, 0x11A]))
        return np.asarray(drawn <= self.worst)

    def chance(self, settings: Settings) -> Reals:
        """(configurations,) The probability that the limit is met."""
        return np.asarray(self.met(settings).mean(axis=0))


@dataclass(frozen=True, eq=False)
class Tuning:
    """Evaluates configurations around a default with posterior samples of the objective."""

    rules: Rules
    objective: KnownObjective
    default: Settings  # (1, parameters)
    kept: Mapping[str, Mask]  # by parameter: the cells of its grid that lie in the region
    seed: int
    demands: Sequence[Success | Limit] = ()  # that configurations succeed, and meet limits of other objectives

    def sound(self, settings: Settings, sure: float = SURE) -> Mask:
        """(configurations,) Which configurations probably succeed, and meet all limits with probability `sure`."""
        sound = np.ones(len(settings), dtype=bool)
        for demand in self.demands:
            sound[sound] = demand.chance(settings[sound]) >= (sure if isinstance(demand, Limit) else SURE)
        return sound

    def lowest(self, start: Settings, points: Settings) -> Reals:
        """(draws,) The lowest objective of each sample, among points that meet all limits in this sample."""
        near = [self.best_near(start, sure) for sure in (EVEN, UNLIKELY)] if self.limits else []
        points = np.concatenate([*near, points[self.sound(points, UNLIKELY)]])
        (values,) = self.drawn(points)
        for limit in self.limits:
            values = np.where(limit.met(points), values, np.inf)
        return np.asarray(values.min(axis=1, initial=np.inf))

    @property
    def limits(self) -> list[Limit]:
        return [demand for demand in self.demands if isinstance(demand, Limit)]

    def sound_ones(self, settings: Settings) -> Settings:
        """The settings that probably meet all demands, and the default; only the default if there are none."""
        if not self.demands:
            return settings
        sound = self.sound(settings) | (settings == self.default).all(axis=1)
        return settings[sound] if sound.any() else self.default

    def best_near(self, start: Settings, sure: float = SURE) -> Settings:
        """(1, parameters) The configuration found from `start` by improving one parameter at a time."""
        value = float(self.objective.middle(start)[0])
        near: Candidates | None = None
        for _ in range(min(CLIMBS * len(self.rules.names), MOST_CLIMBS)):
            if near is None:
                lines = [self.rules.line(name, start, self.kept) for name in self.rules.names]
                owner = np.repeat(np.arange(len(lines)), [len(line) for line in lines])
                near = Candidates(self.objective, np.concatenate(lines))
            values = np.where(self.sound(near.settings, sure), near.middle(), np.inf)
            best = int(values.argmin())
            if values[best] >= value:
                break
            value, start = float(values[best]), near.settings[[best]]
            if self.rules.children:  # their values may change too
                near = None
            else:
                near.change(owner[best], int(start[0, owner[best]]), owner != owner[best])
        return start

    def likely(self, points: Settings) -> tuple[Settings, Settings]:
        """The points in the region; and the default, followed by those that are sound, the best ones first."""
        every = self.inside(points)
        sound = every[self.sound(every)]
        return every, np.concatenate([self.default, sound[np.argsort(self.objective.middle(sound), kind="stable")]])

    def best_of(self, points: Settings, run: Settings) -> Settings:
        """(1, parameters) The best trial, unless the interval of the gain over it begins above 0.

        `points` are the default and sound points, the best ones first.
        """
        proposed = self.best_near(points[1:2] if len(points) > 1 else self.default)
        first, second = self.drawn(proposed, run)
        return proposed if quantiles(second[:, 0] - first[:, 0], ENDS[0])[0] > 0.0 else run

    def inside(self, settings: Settings) -> Settings:
        masks = [self.kept[name][settings[:, j]] for j, name in enumerate(self.rules.names) if name in self.kept]
        return settings[np.logical_and.reduce(masks)] if masks else settings

    def drawn(self, *parts: Settings) -> list[Reals]:
        """Posterior samples of the objective, (draws, configurations) for each group of configurations."""
        rng = np.random.default_rng([self.seed, 0x6A1])
        values = self.objective.draw(np.concatenate(parts), DRAWS, rng)
        return np.split(values, np.cumsum([len(part) for part in parts])[:-1], axis=1)


def amount(wins: Reals, most: Reals, misfit: float = 0.0) -> Amount:
    """A gain and its interval, from gains by sample: `wins` at one fixed value, `most` at the sample's best value."""
    low, middle = quantiles(wins, ENDS[0], 0.5)
    (high,), gain = quantiles(most, ENDS[1]), max(0.0, middle)
    return Amount(gain, min(max(0.0, low), gain), max(high + misfit, gain))


def quantiles(values: Reals, *parts: float) -> list[float]:
    """The same as `np.quantile`, but ten times as fast for few values."""
    ordered = np.sort(values).tolist()
    result = []
    for part in parts:
        below, rest = divmod(part * (len(ordered) - 1), 1.0)
        low, high = ordered[int(below)], ordered[min(int(below) + 1, len(ordered) - 1)]
        result.append(low + (high - low) * rest)
    return result


def find_gains(tuning: Tuning, points: Settings, run: Settings, spread: float) -> GainsBySamples:
    """The gains by parameter and in total, and the path to the best configuration.

    `points` are configurations that were run, and configurations spread over the space. `run` is the best trial.
    `spread` is the interquartile range of the objective.
    """
    rules, default, names = tuning.rules, tuning.default, tuning.rules.names
    every, points = tuning.likely(points)
    best = tuning.best_of(points, run)
    good = np.concatenate([best, points[1 : 1 + rules.within_limits(CANDIDATES)]])
    lines = [tuning.sound_ones(rules.line(name, default, tuning.kept)) for name in names]
    back = [tuning.sound_ones(put_back(rules, good, default, [j])) for j in range(len(names))]
    path, steps = path_between(tuning, default, best)
    base, top, along, everywhere, *others = tuning.drawn(default, best, path, points, *lines, *back)
    lowest = np.minimum(everywhere.min(axis=1), top[:, 0])
    if tuning.limits:
        lowest = np.minimum(lowest, tuning.lowest(best, every))
    samples = Samples(base[:, 0], top[:, 0], lowest, tuning.objective.misfit(default))
    most = samples.base - samples.lowest
    total = amount(samples.base - samples.top, most, samples.misfit)
    total = replace(total, high=max(total.high, float(most.max())))  # the best configuration may be unlike all trials
    tolerance = min(max(SAFE * total.gain, LEAST_SAFE * spread), SAFE * spread)  # outliers do not move the spread
    rows = []
    for j, (name, line) in enumerate(zip(names, lines, strict=True)):
        rows.append(gain_of(tuning, name, line, samples, others[j], others[len(names) + j]))
    safe, loss = safe_together(tuning, good, rows, samples, tolerance)
    if safe and len(base) > 1:  # a complete table has one sample, and its losses are exact
        loss = max(loss, LEAST_SAFE * spread)
    rows = [row if row.name not in safe else replace(row, verdict="safe") for row in rows]
    return GainsBySamples(rows, total, ablation(rules, path, steps, along), best, loss, tolerance)


@dataclass(frozen=True, slots=True, eq=False)
class GainsBySamples:
    """The gains of all parameters, the total gain and the path, as numbers without text."""

    rows: list[Gain]
    total: Amount
    path: AblationPath
    best: Settings
    safe_loss: float
    tolerance: float


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """Posterior samples of the objective; each array has one number per sample."""

    base: Reals  # at the default
    top: Reals  # at the best configuration
    lowest: Reals  # the lowest value of each sample
    misfit: float  # the deviation of the noise at the default, as the model estimates it

    def lost(self, behind: Reals) -> Amount:
        """The loss if only some configurations may be chosen; their objectives are `behind` (draws, configurations)."""
        nearest = behind[:, int(np.median(behind, axis=0).argmin())]
        floor = behind.min(axis=1)
        lost = amount(np.maximum(nearest - self.top, 0.0), floor - np.minimum(self.lowest, floor))
        return replace(lost, low=min(lost.gain, max(0.0, *quantiles(floor - self.top, ENDS[0]))))

    def most_lost(self, behind: Reals) -> float:
        """The largest loss in any sample; safe sets need it, because the safest of many sets is chosen."""
        floor = behind.min(axis=1)
        return float((floor - np.minimum(self.lowest, floor)).max())


def safe_together(
    tuning: Tuning, good: Settings, rows: list[Gain], samples: Samples, tolerance: float
) -> tuple[set[str], float]:
    """The parameters that may all stay at their defaults if the others are tuned, and the upper bound of the loss."""
    order = sorted(range(len(rows)), key=lambda j: (rows[j].left, rows[j].left_high))
    sets = [order[: k + 1] for k in range(len(order)) if rows[order[k]].left_high <= tolerance]
    backs = [tuning.sound_ones(put_back(tuning.rules, good, tuning.default, some)) for some in sets]
    drawn = tuning.drawn(*backs) if sets else []
    safe: set[str] = set()
    loss = 0.0
    for some, behind in zip(sets, drawn, strict=True):
        most = samples.most_lost(behind)
        if most > tolerance:
            break
        safe, loss = {rows[j].name for j in some}, most
    return safe, loss


def gain_of(tuning: Tuning, name: str, line: Settings, samples: Samples, along: Reals, behind: Reals) -> Gain:
    """The gain of one parameter.

    `along` has posterior samples at all values of the parameter, `behind` at good configurations with its default.
    """
    middle = np.median(along, axis=0)
    place = int(middle.argmin())
    slack = samples.misfit if len(line) > 1 else 0.0
    alone = amount(samples.base - along[:, place], samples.base - along.min(axis=1), slack)
    wrong = amount(along[:, int(middle.argmax())] - samples.base, along.max(axis=1) - samples.base, slack)
    left = samples.lost(behind)
    values = tuning.rules.values_of(name, np.concatenate([tuning.default, line[[place]]]))
    return Gain(
        name=name,
        default=values[0],
        best=values[1],
        gain=alone.gain,
        low=alone.low,
        high=alone.high,
        wrong=wrong.gain,
        wrong_low=wrong.low,
        wrong_high=wrong.high,
        left=left.gain,
        left_low=left.low,
        left_high=left.high,
        verdict="tune" if max(alone.low, left.low) > 0.0 else "unsure",
    )


def put_back(rules: Rules, good: Settings, default: Settings, some: list[int]) -> Settings:
    """Copies of the good configurations in which some parameters are set to their defaults."""
    changed = good.copy()
    changed[:, some] = default[:, some]
    return rules.settled(changed)


def path_between(tuning: Tuning, default: Settings, best: Settings) -> tuple[Settings, list[int]]:
    """The configurations (steps + 1, parameters) from default to best, and the parameter of each step."""
    rules, now = tuning.rules, default
    left = [j for j in range(len(rules.names)) if default[0, j] != best[0, j]]
    path, steps = [default], []
    near: Candidates | None = None
    while left:
        if near is None:
            changes = np.repeat(now, len(left), axis=0)
            changes[np.arange(len(left)), left] = best[0, left]
            near, rest = Candidates(tuning.objective, rules.settled(changes)), np.ones(len(left), dtype=bool)
            owner = np.array(left)
        values = np.where(rest & (near.settings != now).any(axis=1), near.middle(), np.inf)
        place = int(values.argmin())
        if not np.isfinite(values[place]):  # the remaining parameters have no value in either configuration
            break
        now = near.settings[[place]]
        path.append(now)
        steps.append(int(owner[place]))
        left.remove(steps[-1])
        rest[place] = False
        if rules.children:  # their values may change too
            near = None
        else:
            near.change(steps[-1], int(now[0, steps[-1]]), rest)
    return np.concatenate(path), steps


def ablation(rules: Rules, path: Settings, steps: list[int], along: Reals) -> AblationPath:
    values = rules.values(path)
    rows = []
    for i, j in enumerate(steps):
        wins = along[:, i] - along[:, i + 1]
        low, middle, high = quantiles(wins, ENDS[0], 0.5, ENDS[1])
        name = rules.names[j]
        (after,) = quantiles(along[:, i + 1], 0.5)
        step = PathStep(name, values[i][name], values[i + 1][name], middle, low, high, after)
        rows.append(step)
    return AblationPath(tuple(rows))
