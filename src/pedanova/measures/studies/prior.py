"""What is good in general: for every parameter the density of good values over studies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.base.digits import percent, short
from pedanova.base.notes import Note, in_order
from pedanova.base.table import Cell, NamedTable, Printed
from pedanova.errors import Arg, PedanovaError, QueryError
from pedanova.measures.asks import Asks
from pedanova.measures.densities import Densities
from pedanova.measures.studies.belief import MASS, Belief, value_in
from pedanova.measures.studies.lifts import Pool, carried, own_lift, pooled, without_each
from pedanova.space.comparison import domains_of, union_space
from pedanova.space.grid import grid_of
from pedanova.space.parameters import Space, parents_first
from pedanova.space.values import Label

if TYPE_CHECKING:
    from pedanova.measures.studies.worth import Worth

Reals: TypeAlias = NDArray[np.float64]
SAFETY = 0.3  # of all draws: from the whole space, evenly
STRENGTH = 0.7
POOLS = ("geometric", "mean")


@dataclass(frozen=True, slots=True, repr=False)
class SearchPrior(NamedTable[Belief]):
    """Where to search first: a density for every parameter, the narrowest first.

    A draw is one of two things: in a part `safety` of all cases a uniform draw from the whole space, else a draw
    of every parameter from its own density. So nothing is ever excluded, and no search needs more than
    1 / `safety` times the trials of a uniform one.

    Attributes
    ----------
    rows
        By parameter: ``prior["lr"].mode`` is the best value, ``.in_words()`` where most of the density lies,
        ``.agreement`` the part of the studies that agree.
    space
        The domains of all studies together.
    studies
        Those that speak.
    target
        The rows that are good, in words.
    safety
        The part of all draws that are uniform.
    notes
        What to know beside it: studies that could not be asked, domains that differ.
    analyses, how
        What it was made from, and how that was asked; `left_out` goes back to them.

    Examples
    --------
    >>> import numpy as np, pedanova as pa
    >>> rng = np.random.default_rng(0)
    >>> table = {"lr": rng.random(300), "other": rng.random(300), "dataset": np.repeat(["adult", "car"], 150)}
    >>> table["loss"] = (table["lr"] - 0.3) ** 2
    >>> x = pa.across(table, "loss", group="dataset", estimator="counts")
    >>> prior = x.prior()
    >>> list(prior), 0.2 < prior["lr"].mode < 0.4
    (['lr', 'other'], True)
    >>> [list(one) for one in prior.sample(2)]
    [['lr', 'other'], ['lr', 'other']]
    >>> worth = prior.left_out()
    >>> [row.study for row in worth.rows], worth.median_trials < 50
    (['adult', 'car'], True)
    """

    rows: tuple[Belief, ...]
    space: Space
    studies: tuple[str, ...]
    target: str
    safety: float
    notes: tuple[Note, ...] = ()
    analyses: Mapping[str, Asks] = field(default_factory=dict, compare=False)
    how: Mapping[str, Any] = field(default_factory=dict, compare=False)

    internal = NamedTable.internal | {"how"}

    def to_dict(self) -> dict[str, list[Cell]]:
        rows = self.rows
        return {
            "parameter": [row.name for row in rows],
            "best": [row.mode for row in rows],
            "bulk": [row.in_words() for row in rows],
            "size": [row.size for row in rows],
            "agreement": [row.agreement for row in rows],
            "studies": [len(row.studies) for row in rows],
        }

    def printed(self) -> Printed:
        rows = self.rows
        return [
            ("parameter", [row.name for row in rows]),
            ("best", [short(row.mode) for row in rows]),
            (f"{percent(MASS)} of it in", [row.in_words() for row in rows]),
            ("of the domain", [percent(row.size) for row in rows]),
            ("good in", [f"{round(row.agreement * len(row.studies))} of {len(row.studies)}" for row in rows]),
        ]

    def heading(self) -> str:
        many = "study" if len(self.studies) == 1 else "studies"
        return (
            f"Where {self.target} lies over {len(self.studies)} {many}; {percent(self.safety)} of all draws are uniform"
        )

    def sample(self, count: int = 10, *, seed: int = 0) -> list[dict[str, Label]]:
        """Configurations drawn from it; parameters that do not exist in one are not in it.

        Parameters
        ----------
        count
            How many.
        seed
            The same seed gives the same draws.

        Returns
        -------
        list of dict
            Values by parameter, ``[{"lr": 0.0021, "optimizer": "adam"}, …]``.

        Raises
        ------
        QueryError
            `count` is no whole number from 1 up.
        """
        rng, many = np.random.default_rng(seed), as_count(count)
        anywhere = rng.random(many) < self.safety
        found: list[dict[str, Label]] = [{} for _ in range(many)]
        for name in parents_first(self.space):
            belief = self[name]
            cells = belief.cells_at(rng.random(many), anywhere)
            for one, cell, place in zip(found, cells.tolist(), rng.random(many).tolist(), strict=True):
                if all(one.get(parent) in values for parent, values in belief.parameter.when):
                    one[name] = value_in(belief.parameter, cell, place)
        return found

    def left_out(self, trials: int = 50) -> Worth:
        """What it is worth: every study searched with the prior of the others; see `Worth`.

        Parameters
        ----------
        trials
            Of the uniform search that it is held against.

        Returns
        -------
        Worth
            A line for each study.

        Raises
        ------
        QueryError
            `trials` is no whole number from 1 up.
        """
        from pedanova.measures.studies.worth import worth_of

        return worth_of(self, trials)

    def without(self, study: str) -> SearchPrior:
        """The same from all other studies, over the same space.

        Parameters
        ----------
        study
            The one that is left out; all speak where none is called so.

        Returns
        -------
        SearchPrior
            Of the others.
        """
        studies = tuple(one for one in self.studies if one != study)
        return replace(self, rows=tuple(row.without(study) for row in self.rows), studies=studies)

    def export(self, form: str) -> str:
        """As text for a tool.

        Parameters
        ----------
        form
            ``"optuna"``: a Python file with a sampler and a function that enqueues trials. ``"configspace"``: its JSON,
            with weights and Beta distributions. ``"wandb"``: a sweep in YAML. ``"json"``: plain values and parts.

        Returns
        -------
        str
            What a file of that tool holds; `lost_in` tells what it cannot say.

        Raises
        ------
        SpaceError
            There is no such form.
        """
        from pedanova.space.priors import export_prior

        return export_prior(self.space, {row.name: row.parts for row in self.rows}, self.safety, form)

    def lost_in(self, form: str) -> list[Note]:
        """What that form cannot say.

        Parameters
        ----------
        form
            One of those of `export`.

        Returns
        -------
        list of Note
            Empty where nothing is lost.

        Raises
        ------
        SpaceError
            There is no such form.
        """
        from pedanova.space.priors import lost_in

        return lost_in(self.space, {row.name: row.parts for row in self.rows}, self.safety, form)


def prior_of(
    analyses: Mapping[str, Asks],
    *,
    target: object = 0.1,
    safety: float = SAFETY,
    strength: float = STRENGTH,
    pool: Pool = "geometric",
    **options: Any,
) -> SearchPrior:
    """The density of good values over studies, each of which weighs the same.

    Parameters
    ----------
    analyses
        Studies by name. Tallies suffice; what a prior is worth is told more exactly where rows are at hand.
    target
        The rows of each study that are good.
    safety
        The part of all draws that come from the whole space, evenly.
    strength
        From 0 (no prior) to 1 (the pooled densities as they are).
    pool
        ``"geometric"`` holds what studies agree on, ``"mean"`` what is good in any of them.
    options
        Those of `Analysis.all_densities`. By default tallies answer (``estimator="counts"``): a lift needs no even
        sampler, and pooling takes out the noise of single studies.

    Returns
    -------
    SearchPrior
        By parameter, the narrowest first.

    Raises
    ------
    QueryError
        Where there is no study, or none of them can be asked.
    """
    check_options(analyses, safety, strength, pool)
    options = {"estimator": "counts", **options}
    densities, silent = asked(analyses, target, options)
    space, owners, notes = union_space({name: analyses[name].space for name in densities})
    rows = []
    for name, parameter in domains_of(space).items():
        known = {study: densities[study][name] for study in owners[name]}
        lifts = np.stack([carried(own_lift(one), one.parameter, parameter) for one in known.values()])
        how = grid_of(parameter).prior, pool, strength
        rows.append(Belief(name, parameter, pooled(list(lifts), *how), owners[name], lifts, without_each(lifts, *how)))
    rows.sort(key=lambda row: row.size)
    words = next(iter(next(iter(densities.values())).values())).words[0]
    asked_with = {"target": target, "options": options}
    return SearchPrior(
        tuple(rows), space, tuple(densities), words, safety, in_order([*silent, *notes]), analyses, asked_with
    )


def asked(
    analyses: Mapping[str, Asks], target: object, options: Mapping[str, Any]
) -> tuple[dict[str, dict[str, Densities]], list[Note]]:
    """Densities by study; a study that cannot be asked is told and left out, unless it is the same with all."""
    found, refused = {}, {}
    for study in analyses:
        try:
            found[study] = analyses[study].all_densities(target, **options)
        except PedanovaError as error:
            refused[study] = error
    if not found:
        raise next(iter(refused.values()))
    return found, [Note("doubt", f"left out of the prior: {error}", subject=study) for study, error in refused.items()]


def check_options(analyses: Mapping[str, Asks], safety: object, strength: object, pool: object) -> None:
    if not isinstance(analyses, Mapping) or not analyses:
        raise QueryError("a prior needs studies: give a dict of analyses by name")
    for name, value in (("safety", safety), ("strength", strength)):
        if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) <= 1:
            raise QueryError(Arg(name, value), " must be a number from 0 to 1")
    if pool not in POOLS:
        raise QueryError(Arg("pool", pool), f" must be one of {', '.join(POOLS)}")


def as_count(count: object) -> int:
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
        raise QueryError(Arg("count", count), " must be a whole number from 1 up")
    return int(count)
