"""Questions about more than one study in one table: along a budget, and over repeated configurations."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.analysis.budgets import AMONG, Budgets, budgets_of, chosen
from pedanova.analysis.groups import GroupAnalyses, grouped, pooled_studies
from pedanova.analysis.pairs import AnalysisPairs
from pedanova.analysis.runs import single_runs, without_seeds
from pedanova.base.digits import short
from pedanova.base.notes import Note
from pedanova.base.progress import watched
from pedanova.base.threads import ResultCache
from pedanova.counting.few_rows import counted_rows
from pedanova.data.prepare import settings_of
from pedanova.data.regions import Region, as_region
from pedanova.data.row_selection import needs_rows
from pedanova.data.row_status import configurations
from pedanova.errors import Arg, DataError, QueryError, TooFewRowsError, unknown_name
from pedanova.measures.distributions import LEAST_TARGET
from pedanova.measures.importance import Importances
from pedanova.measures.question import Question, check_how
from pedanova.measures.studies.across import Pooling
from pedanova.measures.studies.along import Along, TooFew, along_of
from pedanova.measures.studies.seeds import IN_TARGET, Seeds, seeds_of

Told: TypeAlias = tuple[float, int, Importances] | TooFew  # budget, rows, answer


@dataclass(frozen=True, eq=False, repr=False)
class AnalysisStudies(AnalysisPairs):
    """What budgets and seeds tell."""

    def along(
        self,
        budget: str | Mapping[float, str] | None = None,
        target: object = 0.1,
        region: object = 1.0,
        *,
        at: Sequence[float] | None = None,
        among: str = "all",
        **options: Any,
    ) -> Along:
        """The importances at each budget, and from which on their ranking is that of the full one: docs/along.md.

        Parameters
        ----------
        budget
            A column of numbers, where every configuration has a row for each budget; ``"step"`` for the values on
            the way that a log has (Optuna's reports, Ray Tune, Lightning …); or the objective's column at each
            budget, ``{5: "loss_5", 50: "loss_50"}``. None for what the source tells.
        target, region
            Parts of the rows, the same at each budget: quantiles of its own rows.
        at
            Budgets to ask; None for all, or a dozen of very many.
        among
            ``"all"``: every trial counts where it has a value, pruned ones too. ``"full"``: only configurations that
            reached the highest budget.
        options
            Those of `importance`.

        Returns
        -------
        Along
            The importances by budget, the lowest first; ``.since`` is where the ranking has settled.

        Raises
        ------
        QueryError
            Where there is no such budget, or nothing to follow.
        TooFewRowsError
            Where no budget has enough rows.

        Examples
        --------
        >>> import numpy as np, pedanova as pa
        >>> rng = np.random.default_rng(0)
        >>> x, z, epochs = rng.random(600), rng.random(600), np.tile([1.0, 10.0], 300)
        >>> loss = np.where(epochs == 1, x, z) ** 2
        >>> a = pa.analyze({"x": x, "z": z, "epochs": epochs, "loss": loss}, "loss")
        >>> found = a.along("epochs")
        >>> [next(iter(step.importances)) for step in found], found.since
        (['x', 'z'], None)
        """
        check_parts(target, region)
        how = check_how(options)
        Question(target, region, **how)  # a wrong option is an error, not a budget that is left out
        if among not in AMONG:
            raise QueryError(Arg("among", among), " must be 'all' or 'full'")
        budgets = budgets_of(self._observed(), self.space, budget, self.levels.nan)
        least = math.ceil(LEAST_TARGET / part_of(target)) if not options.get("force") else 2
        asked, notes = chosen(budgets, at, least)
        notes = [*budgets.notes, *notes]
        ask = self._asked_at(budgets, (target, region), among, options)
        told = [ask(one) for one in watched(asked[::-1], "budgets", len(asked), verb="asking")]  # the full one first
        if by_model := answered_by_model(told):  # at some budgets, not at all
            ask = self._asked_at(budgets, (target, region), among, {**options, "estimator": "counts"})
            told = [ask(one) for one in asked[::-1]]
            notes = [*notes, counts_note(budgets.name, by_model)]
        if all(isinstance(one, TooFew) for one in told):
            raise too_few(budgets, [one for one in told if isinstance(one, TooFew)])
        seed = int(options.get("seed", 0))
        others = unasked(budgets, asked, least) if at is None else []
        question = str(as_region(target, "target")), str(as_region(region, "region"))
        hold = partial(along_of, budgets.name, question, notes=notes, seed=seed, followed=budgets.followed())
        return refined(told, others, ask, hold)

    def seeds(self, target: object = 0.1, *, exclude: Iterable[str] | None = None) -> Seeds:
        """How much the seed alone does, told by configurations that were run several times: docs/seeds.md.

        The part of the objective's variance that is the seed's, and of that of "in the target?"; what is left is the
        most that `effects` and shares can explain, alone and together, each with a 95 % interval.

        Parameters
        ----------
        target
            The rows to reach, as in `importance`.
        exclude
            Parameters that set no configuration apart, beside those that are called like a seed.

        Returns
        -------
        Seeds
            Parts of the seed by what varies, each with its interval.

        Raises
        ------
        DataError
            Where no configurations are repeated.

        Examples
        --------
        >>> import numpy as np, pedanova as pa
        >>> rng = np.random.default_rng(0)
        >>> x = np.repeat(rng.standard_normal(200), 5)
        >>> found = pa.analyze({"x": x, "loss": x + rng.standard_normal(1000)}, "loss").seeds()
        >>> found["loss"].low < 0.5 < found["loss"].high
        True
        """
        observed, notes = without_seeds(single_runs(self._observed()), exclude)
        found = self._like(observed).told_by_repeats(target)
        return replace(found, notes=(*found.notes, *notes))

    def groups(self, column: str) -> GroupAnalyses[Self]:
        """Every study of a table as an analysis of its own, by name; `across` pools what they say.

        Parameters
        ----------
        column
            That names the study of each row; it need not be a parameter.

        Returns
        -------
        GroupAnalyses
            A mapping of analyses, each counted when first asked for: quantiles are parts of its own rows.

        Raises
        ------
        DataError
            The table has no such column.
        QueryError
            It names fewer than two studies.

        Examples
        --------
        >>> import numpy as np, pedanova as pa
        >>> lr, dataset = np.random.default_rng(0).random(200), np.repeat(["adult", "car"], 100)
        >>> a = pa.analyze({"lr": lr, "dataset": dataset, "loss": lr**2}, "loss", exclude=["dataset"])
        >>> studies = a.groups("dataset")
        >>> list(studies), studies["car"].rows
        (['adult', 'car'], 100)
        """
        return self._grouped.get(column, lambda: self._sorted_into(column))

    @cached_property
    def _grouped(self) -> ResultCache[GroupAnalyses[Self]]:
        return ResultCache(2)  # columns

    def _sorted_into(self, column: str) -> GroupAnalyses[Self]:
        observed = self._observed()
        if not isinstance(column, str) or column not in observed.table:
            raise DataError(unknown_name(column, tuple(observed.table), what="column"))
        if observed.origin is not None and len(observed) != observed.origin.records.rows:
            words = " needs every row of the source, and some were averaged or taken together; analyze it with "
            raise QueryError(Arg("group"), words, Arg("repeats", "all"))
        how: dict[str, Any] = {"levels": self.levels.quantiles, "nan": self.levels.nan, "inside": False}
        return grouped(observed, observed.table[column], make=self.of, **how)[0]

    def pooled_by(self, column: str, target: object, region: object, **options: Any) -> Pooling:
        """What `across` says of the studies that a column names; options are those of `pooled_studies`."""
        return Pooling(**pooled_studies(self.groups(column), target, region, **options))

    @cached_property
    def budget(self) -> str | None:
        """What `along` follows where no budget is named; None where the source tells of none."""
        if self.observations is None:
            return None
        try:
            return budgets_of(self.observations, self.space, None, self.levels.nan).name
        except (DataError, QueryError):
            return None

    def told_by_repeats(self, target: object) -> Seeds:
        """What `seeds` says of these very rows."""
        observed, wanted = self._observed(), self._as_rows(target, "target")
        counted = counted_rows(observed, self.levels.nan)
        groups = configurations(settings_of(observed))[counted]
        varying = {goal.name: goal.values.astype(np.float64)[counted] for goal in observed.goals}
        inside = self._codes(wanted, as_region(1.0, "region"))[counted] == 0
        return seeds_of(groups, varying | {IN_TARGET: inside.astype(np.float64)}, str(wanted))

    def _asked_at(
        self, budgets: Budgets, question: tuple[object, object], among: str, options: Mapping[str, Any]
    ) -> Callable[[float], Told]:
        """What answers at one budget; the first that has enough rows is the full one."""
        within: list[NDArray[np.bool_]] = []

        def ask(budget: float) -> Told:
            try:
                at: Any = self._like(budgets.observed(budget, *within))
                found: Importances = at.importance(*question, **options)
            except (DataError, QueryError) as error:  # these rows are too few, in some way or other
                return TooFew(budget, budgets.rows[budget], str(error))
            if among == "full" and not within:
                within.append(budgets.reached(budget))
            return budget, found.rows[0].n_region, found

        return ask


def check_parts(target: object, region: object) -> None:
    """A value of the objective is not as good at one budget as at another."""
    for name, rows in (("target", target), ("region", region)):
        plain = isinstance(rows, Region | int | float | str) and not needs_rows(rows)
        if not plain or as_region(rows, name).kind != "quantile":
            raise QueryError(Arg(name), " must be a part of the rows, such as 0.1: budgets have no value in common")


def part_of(target: object) -> float:
    """How much of the rows a target is."""
    region = as_region(target, "target")
    return max(1e-6, float(region.high or 1.0) - float(region.low or 0.0))


def answered_by_model(told: Sequence[Told]) -> list[float]:
    """The budgets that a model answers, where at others it cannot: their shares would not be alike."""
    answers = [one for one in told if not isinstance(one, TooFew)]
    found = sorted(budget for budget, _, answer in answers if answer.estimator == "surrogate")
    return found if len(found) < len(answers) else []


def counts_note(name: str, budgets: Sequence[float]) -> Note:
    where = ", ".join(short(budget) for budget in budgets)
    return Note("answer", f"counts answer at every budget, since a model could do so only at {name} {where}")


def unasked(budgets: Budgets, asked: Sequence[float], least: int) -> list[float]:
    """Budgets with enough rows that were passed over."""
    values = budgets.values.tolist()
    return [one for one in values if one not in asked and budgets.rows[one] >= least]


def refined(
    told: Sequence[Told], others: Sequence[float], ask: Callable[[float], Told], hold: Callable[..., Along]
) -> Along:
    """Of budgets passed over, those are asked too between which the ranking becomes that of the full one."""
    told, others = list(told), list(others)
    while True:
        answers = sorted((one for one in told if not isinstance(one, TooFew)), key=lambda one: one[0])
        left_out = sorted((one for one in told if isinstance(one, TooFew)), key=lambda one: one.budget)
        found = hold(answers, left_out)
        since = found.since if found.since is not None else found.full.budget
        before = max((step.budget for step in found.steps if step.budget < since), default=since)
        between = [one for one in others if before < one < since]
        if not between:
            return found
        told.append(ask(between[len(between) // 2]))
        others.remove(between[len(between) // 2])


def too_few(budgets: Budgets, left_out: Sequence[TooFew]) -> TooFewRowsError:
    most = max(left_out, key=lambda one: one.rows)
    words = f"no budget of {budgets.name} has enough rows: the most, {most.rows:,}, has {most.budget:g} ({most.why})"
    return TooFewRowsError(words)
