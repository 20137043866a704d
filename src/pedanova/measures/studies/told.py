"""What must be known beside the answers of many studies: who was left out, and in what they are not alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pedanova.base.notes import Note
from pedanova.errors import PedanovaError, listed
from pedanova.measures.asks import Asks
from pedanova.measures.importance import NEVER, Importances
from pedanova.space.parameters import Space, in_words

NAMED = 5  # studies in a note


@dataclass(frozen=True, slots=True)
class Facts:
    """What a study is about."""

    aim: str
    space: Space

    @classmethod
    def of(cls, a: Asks) -> Facts:
        return cls(f"{a.direction} {a.objective}", a.space)


def told_of(
    facts: Mapping[str, Facts],
    answers: Mapping[str, Importances],
    left: Mapping[str, PedanovaError],
    studies: Sequence[str],
    names: Sequence[str],
    block: tuple[Sequence[int], Sequence[int]],
) -> list[Note]:
    """Notes on studies, parameters and ranks, none of them silently dropped."""
    alone = [Note("doubt", "left out: ", *error.words, subject=name) for name, error in left.items()]
    alike = [*aims_told(facts), *estimators_told(answers), *doubts_told(answers)]
    by_name = [note for name in names for note in parameter_told(name, answers, facts)]
    return [*alone, *alike, *by_name, *ranks_told(studies, names, block)]


def aims_told(facts: Mapping[str, Facts]) -> list[Note]:
    """Objectives and directions that differ."""
    aims: dict[str, list[str]] = {}
    for name, fact in facts.items():
        aims.setdefault(fact.aim, []).append(name)
    if len(aims) == 1:
        return []
    words = "; ".join(f"{aim}: {among(studies)}" for aim, studies in aims.items())
    return [Note("answer", f"studies aim at different things, each counts its own best rows ({words})")]


def estimators_told(answers: Mapping[str, Importances]) -> list[Note]:
    by: dict[str, list[str]] = {}
    for name, answer in answers.items():
        by.setdefault(answer.estimator, []).append(name)
    if len(by) == 1:
        return []
    words = "; ".join(f"{estimator}: {among(studies)}" for estimator, studies in by.items())
    return [Note("answer", f"studies were answered in different ways ({words})")]


def doubts_told(answers: Mapping[str, Importances]) -> list[Note]:
    """Warnings of single studies, the same ones together."""
    doubts: dict[str, tuple[Note, list[str]]] = {}
    for name, answer in answers.items():
        for note in answer.notes:
            if note.severity == "warning":
                doubts.setdefault(str(note), (note, []))[1].append(name)
    return [note.about(among(studies)) for note, studies in doubts.values()]


def parameter_told(name: str, answers: Mapping[str, Importances], facts: Mapping[str, Facts]) -> Iterable[Note]:
    """Where a parameter is missing, never varied, or has another domain."""
    missing = [study for study, answer in answers.items() if name not in answer]
    fixed = [study for study, answer in answers.items() if name in answer and not answer[name].varied]
    if missing:
        yield Note("answer", f"not in {among(missing)}; pooled over the other studies", subject=name)
    if fixed:
        yield Note("answer", f"{NEVER} in {among(fixed)}; pooled over the other studies", subject=name)
    domains: dict[str, list[str]] = {}
    for study, fact in facts.items():
        if name in fact.space:
            domains.setdefault(in_words(fact.space[name]), []).append(study)
    if len(domains) > 1:
        words = "; ".join(f"{domain}: {among(studies)}" for domain, studies in list(domains.items())[:3])
        more = f"; and {len(domains) - 3} more" if len(domains) > 3 else ""
        yield Note("answer", f"domains differ, each share is of its own ({words}{more})", subject=name)


def ranks_told(studies: Sequence[str], names: Sequence[str], block: tuple[Sequence[int], Sequence[int]]) -> list[Note]:
    """Who is neither ranked nor on the map."""
    rows, columns = block
    if len(rows) < 2 or len(columns) < 2:
        return [Note("answer", "no two studies share two parameters: there are no mean ranks and there is no map")]
    notes = []
    if len(columns) < len(names):
        gone = [name for j, name in enumerate(names) if j not in columns]
        words = f"in fewer than half of the studies, so without a mean rank: {listed(gone, most=NAMED)}"
        notes.append(Note("answer", words))
    if len(rows) < len(studies):
        gone = [name for i, name in enumerate(studies) if i not in rows]
        notes.append(
            Note("answer", f"some ranked parameter is unknown there, so not ranked, nor on the map: {among(gone)}")
        )
    return notes


def among(studies: Sequence[str]) -> str:
    """A few of them by name, and how many there are."""
    return listed(list(studies), most=NAMED)
