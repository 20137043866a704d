"""Several answers about the same parameters side by side: by measure, as in the paper's tables, or by objective."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, TypeVar

from pedanova.base.digits import percent
from pedanova.base.notes import Note
from pedanova.base.table import Cell, Printed, Table
from pedanova.base.terminal import TableColumn
from pedanova.data.regions import as_part
from pedanova.data.regions import percent as part_in_words
from pedanova.errors import PedanovaError, UnknownParameterError, unknown_name
from pedanova.measures.effects import Effects
from pedanova.measures.forest.forest import ForestEffects, forest_effects
from pedanova.measures.importance import Importance, Importances, known_percent
from pedanova.measures.question import Question
from pedanova.measures.questions.ask import effects_within, importance_of
from pedanova.measures.questions.trial_data import TrialData

Ranked: TypeAlias = Importances | Effects | ForestEffects
Answer = TypeVar("Answer", bound=Ranked)
Ways: TypeAlias = Mapping[str, tuple[str, Callable[[], Ranked]]]  # measure → what it means, how to ask


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(Table, Mapping[str, Answer]):
    """Answers about the same parameters side by side: by measure, or by objective (`Analysis.compare`).

    Attributes
    ----------
    answers
        Tables by name: ``c["PED"]["lr"].ratio``, ``c["loss"]["lr"].share``.
    shown
        What is printed of each, ``"ratio"`` or ``"share"``.
    meanings
        What the answers are, in words.
    notes
        What to know beside the numbers, and which answers were left out.

    Examples
    --------
    >>> import pedanova as pa
    >>> a = pa.analyze(pa.demo_trials(), ["error", "train_seconds"])
    >>> c = a.compare(by="objective", estimator="counts", draws=0)
    >>> next(iter(c["train_seconds"]))
    'epochs'
    """

    answers: Mapping[str, Answer]
    shown: Literal["ratio", "share"] = "share"
    meanings: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()

    def __getitem__(self, name: str) -> Answer:
        if name not in self.answers:
            raise UnknownParameterError(unknown_name(name, tuple(self.answers), what="answer"))
        return self.answers[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.answers)

    def __len__(self) -> int:
        return len(self.answers)

    @property
    def ratios(self) -> dict[str, dict[str, float]]:
        """Ratios by answer and parameter."""
        return {name: answer.ratios for name, answer in self.items()}

    @property
    def noise(self) -> dict[str, frozenset[str]]:
        """The parameters that are not distinguishable from noise, by answer, where it can tell."""
        known = {name: answer for name, answer in self.items() if isinstance(answer, Importances)}
        return {
            name: frozenset(row.name for row in one.rows if row.significant is False) for name, one in known.items()
        }

    def to_dict(self) -> dict[str, list[Cell]]:
        names = list(next(iter(self.answers.values())))
        columns: dict[str, list[Cell]] = {"parameter": list(names)}
        for key, answer in self.items():
            columns[f"{key} ratio"] = [answer[name].ratio for name in names]
            columns[f"{key} share"] = [answer[name].share for name in names]
        return columns

    def printed(self) -> Printed:
        names, noise = list(next(iter(self.answers.values()))), self.noise
        columns = [TableColumn("parameter", names)]
        for key, answer in self.items():
            marks = ["~ " if name in noise.get(key, ()) else "" for name in names]
            values = [self._shown(answer[name]) for name in names]
            columns.append(TableColumn(key, [mark + value for mark, value in zip(marks, values, strict=True)]))
        return columns

    def _shown(self, row: Any) -> str:
        """A ratio in per cent; a share likewise, unless the parameter never varied."""
        value = getattr(row, self.shown)
        return known_percent(row, value) if self.shown == "share" and isinstance(row, Importance) else percent(value)


def compare_measures(data: TrialData, target: object, *, seed: int) -> Comparison[Ranked]:
    """PED globally and locally, f-ANOVA of the objective by counts, and by a random forest."""
    part = as_part(target, "target")
    whole, tenth = part_in_words(part), part_in_words(part / 10)
    ways: Ways = {
        "PED": (
            f"what separates the best {whole} from all rows",
            lambda: importance_of(data, Question(part, seed=seed)),
        ),
        "PED local": (
            f"what separates the best {tenth} from the best {whole}",
            lambda: importance_of(data, Question(part / 10, part, seed=seed)),
        ),
        "f-ANOVA": ("what moves the objective itself, by counts", lambda: effects_within(data)),
        "f-ANOVA local": (f"what moves the objective inside the best {whole}", lambda: effects_within(data, part)),
        "forest": (
            "what moves a random forest's prediction over the space",
            lambda: forest_effects(data.observed(), seed=seed, pairs=False, threads=data.threads),
        ),
        "forest clipped": (
            f"the same, everything worse than the best {whole} taken as equal",
            lambda: forest_effects(data.observed(), clip=float(part), seed=seed, pairs=False, threads=data.threads),
        ),
    }
    # What cannot be answered is listed in the notes, unless it is the first question.
    answers: dict[str, Ranked] = {}
    meanings, notes = {}, []
    for name, (meaning, ask) in ways.items():
        try:
            answers[name], meanings[name] = ask(), meaning
        except PedanovaError as error:
            if not answers:
                raise
            notes.append(Note("answer", "left out, ", *error.words, subject=name))
            continue
        notes += [Note(note.kind, note, subject=name) for note in answers[name].notes]
    return Comparison(answers, "ratio", meanings, tuple(notes))


def compare_objectives(data: TrialData, question: Question) -> Comparison[Importances]:
    """The importances for each of several objectives alone, beside those for all together."""
    goals = data.observed().goals
    together = {"together": importance_of(data, question)} if len(goals) > 1 else {}
    return Comparison(together | {goal.name: importance_of(data.alone(goal.name), question) for goal in goals})
