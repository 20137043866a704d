"""Several measures of importance side by side, as the paper's tables have them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

from pedanova.base.digits import percent
from pedanova.base.notes import Note
from pedanova.base.table import Cell, Printed, Table
from pedanova.base.terminal import TableColumn
from pedanova.data.regions import as_part
from pedanova.data.regions import percent as part_in_words
from pedanova.errors import PedanovaError, UnknownParameterError, unknown_name
from pedanova.measures.asks import Asks
from pedanova.measures.effects import Effects
from pedanova.measures.forest.forest import ForestEffects
from pedanova.measures.importance import Importances, marked_share

Entry = TypeVar("Entry")
Ranked: TypeAlias = Importances | Effects | ForestEffects
Ways: TypeAlias = Mapping[str, tuple[str, Callable[[], Ranked]]]  # measure → what it means, how to ask


def found_in(answers: Mapping[str, Entry], name: str, what: str) -> Entry:
    if name not in answers:
        raise UnknownParameterError(unknown_name(name, tuple(answers), what=what))
    return answers[name]


@dataclass(frozen=True, slots=True, repr=False)
class Measures(Table, Mapping[str, Mapping[str, float]]):
    """Ratios of every parameter by each measure. ``m["PED"]["lr"]``; `notes` say what was left out.

    Attributes
    ----------
    ratios
        By measure and parameter.
    meanings
        Of the measures, in words.
    notes
        What to know beside the numbers.
    noise
        The parameters that are noise, by measure, where it knows.

    Examples
    --------
    >>> import pedanova as pa
    >>> m = pa.analyze(pa.demo_trials(), "error", params=["learning_rate", "solver"]).first(100).compare()
    >>> set(m["PED"]) == set(m.to_dict()["parameter"])
    True
    """

    ratios: Mapping[str, Mapping[str, float]]  # measure → parameter → ratio
    meanings: Mapping[str, str]
    notes: tuple[Note, ...] = ()
    noise: Mapping[str, frozenset[str]] = field(default_factory=dict)  # by measure, where it knows

    def __getitem__(self, measure: str) -> Mapping[str, float]:
        return found_in(self.ratios, measure, "measure")

    def __iter__(self) -> Iterator[str]:
        return iter(self.ratios)

    def __len__(self) -> int:
        return len(self.ratios)

    def to_dict(self) -> dict[str, list[Cell]]:
        first = next(iter(self.ratios.values()))
        columns: dict[str, list[Cell]] = {"parameter": list(first)}
        return columns | {name: [ratios[key] for key in first] for name, ratios in self.ratios.items()}

    def printed(self) -> Printed:
        names = list(next(iter(self.ratios.values())))
        columns = [TableColumn(key, [self._marked(key, name) for name in names]) for key in self]
        return [TableColumn("parameter", names), *columns]

    def _marked(self, measure: str, name: str) -> str:
        noise = "~ " if name in self.noise.get(measure, ()) else ""
        return f"{noise}{percent(self.ratios[measure][name])}"


def compare_measures(a: Asks, target: float = 0.1, *, seed: int = 0) -> Measures:
    """PED globally and locally, f-ANOVA of the objective by counts, and by a random forest.

    Parameters
    ----------
    a
        An `Analysis`.
    target
        The best part of the rows that the questions are about: globally, how to reach it; locally,
        how to reach its own best tenth.
    seed
        Of everything random.
    """
    part = as_part(target, "target")
    whole, tenth = part_in_words(part), part_in_words(part / 10)
    ways: Ways = {
        "PED": (f"what separates the best {whole} from all rows", lambda: a.importance(part, seed=seed)),
        "PED local": (
            f"what separates the best {tenth} from the best {whole}",
            lambda: a.importance(part / 10, part, seed=seed),
        ),
        "f-ANOVA": ("what moves the objective itself, by counts", lambda: a.effects()),
        "f-ANOVA local": (f"what moves the objective inside the best {whole}", lambda: a.effects(part)),
        "forest": (
            "what moves a random forest's prediction over the space",
            lambda: a.forest(None, seed=seed, pairs=False),
        ),
        "forest clipped": (
            f"the same, everything worse than the best {whole} taken as equal",
            lambda: a.forest(float(part), seed=seed, pairs=False),
        ),
    }
    return _answered(ways)


def _answered(ways: Ways) -> Measures:
    """All that can be answered; what cannot is listed in the notes, unless it is the first question."""
    ratios: dict[str, dict[str, float]] = {}
    meanings, notes, noise = {}, [], {}
    for name, (meaning, ask) in ways.items():
        try:
            table = ask()
        except PedanovaError as error:
            if not ratios:
                raise
            notes.append(Note("answer", "left out, ", *error.words, subject=name))
            continue
        ratios[name], meanings[name] = table.ratios, meaning
        if isinstance(table, Importances):
            noise[name] = frozenset(row.name for row in table.rows if row.significant is False)
        notes += [Note(note.kind, note, subject=name) for note in table.notes]
    return Measures(ratios, meanings, tuple(notes), noise)


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(Table, Mapping[str, Importances]):
    """The same question asked of several objectives, ratios side by side: ``c["loss"]["lr"].ratio``.

    Attributes
    ----------
    answers
        Importances by objective; ``"together"`` for all.

    Examples
    --------
    >>> import pedanova as pa
    >>> a = pa.analyze(pa.demo_trials(), ["error", "train_seconds"])
    >>> c = a.by_objective(estimator="counts", draws=0)
    >>> next(iter(c["train_seconds"]))
    'epochs'
    """

    answers: dict[str, Importances]

    def __getitem__(self, objective: str) -> Importances:
        return found_in(self.answers, objective, "objective")

    def __iter__(self) -> Iterator[str]:
        return iter(self.answers)

    def __len__(self) -> int:
        return len(self.answers)

    def to_dict(self) -> dict[str, list[Cell]]:
        names = list(next(iter(self.answers.values())))
        columns: dict[str, list[Cell]] = {"parameter": list(names)}
        for objective, importances in self.answers.items():
            columns[f"{objective} ratio"] = [importances[name].ratio for name in names]
            columns[f"{objective} share"] = [importances[name].share for name in names]
        return columns

    def printed(self) -> Printed:
        names = list(next(iter(self.answers.values())))
        columns = [TableColumn(key, [marked_share(one[name]) for name in names]) for key, one in self.items()]
        return [TableColumn("parameter", names), *columns]
