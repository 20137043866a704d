"""The accuracy league: who comes nearest to a known truth, from how many rows, and who says when it does not know?

    python benchmarks/league.py [--worlds NAME,…] [--peers NAME,…] [--rows 60,100,200,1000] [--seeds 12]
                                [--samplers uniform,tpe] [--jobs 2] [--data DATA_DIR] [-o DIR]
    python benchmarks/league.py --report [--each] [-o DIR]

Worlds are functions (`worlds.py`, truth counted in a million rows) and, with ``--data``, complete tables
(`tables.py`, ``NAME.parquet`` and ``NAME.json``), alone and beside four columns of noise; ``--worlds`` takes names
and groups. Every peer sees the same sample, drawn evenly (uniform), by Optuna's TPE (tpe), or the same without the
numbers of the trials (tpe-unnumbered). The question is what separates the best 10 % from all rows, of tables also
the best 1 % from the best 10 %, wherever that leaves five rows in the target.

Peers: pedanova's default (auto), its counts, a plain histogram of ten cells (histogram), Optuna's PED-ANOVA
(optuna), Optuna's f-ANOVA (fanova), which knows no target, and HyperSHAP's tunability (hypershap) where it is
installed. Optuna's PED-ANOVA is given lattices as ranges, as codes and as categories, with both of its baselines: of
each world and size the form counts that errs least in the mean.

Scores: L1 error of the ratios (0 to 2); whether the first parameter is the right one; how many shares above 2 % the
95 % interval holds; whether a parameter without an effect is marked as significant; how many shares above 5 % are
marked; CPU seconds. They are appended to ``DIR/league.jsonl`` as they come, and a run begun again goes on from there;
truths lie in ``DIR/truth``: delete both for a world that has changed. ``--report`` runs nothing, ``--each`` prints a
table for every world instead of every group. Local questions (a target inside a region) have a table of their own, of
shares above 2 %: their error, how many lie in the 95 % interval, and how wide it is, in percentage points and in
standard deviations of the share over the seeds (3.9 is what a normal estimate needs).
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

from shared import Lines, append_records, describe, ints, options_of, optuna_parts, read_records, words

# isort: split
import numpy as np
from samples import Question, Reals, Sample, Space, World, cells_of, kept_truth, shares_of, study_of, tunability_of
from tables import TableWorld, table_worlds
from worlds import WORLDS

import pedanova as pa

LEAST_TARGET = 5  # rows
FANOVA_CHOICES = 10
SHAP_PARAMETERS = 12
SEEN, LARGE = 0.02, 0.05  # shares that a reader would notice, and that a test should find
Line: TypeAlias = dict[str, Any]
AnyWorld: TypeAlias = World | TableWorld

# --- peers -----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Answer:
    """Shares, or ratios of a peer that has no shares; then what only pedanova has."""

    shares: Reals
    low: Reals | None = None
    high: Reals | None = None
    marked: Any = None
    torn: Any = None  # whether the number, the interval and the p-value of a row contradict each other


Peer: TypeAlias = Callable[[Sample, Sequence[Question]], Iterator[Answer]]


def by_pedanova(sample: Sample, questions: Sequence[Question], estimator: str) -> Iterator[Answer]:
    number = {"number": np.arange(len(sample.objective))} if sample.numbered else {}
    a = pa.analyze({**number, **sample.columns}, sample.objective, space=sample.space, direction="min")
    for question in questions:
        result = a.importance(*question, estimator=estimator)
        rows = [result[name] for name in sample.space]
        yield Answer(
            np.array([row.share for row in rows]),
            np.array([0.0 if row.low is None else row.low for row in rows]),  # what never varied may be anything
            np.array([1.0 if row.high is None else row.high for row in rows]),
            np.array([bool(row.significant) for row in rows]),
            [is_torn(row) for row in rows if row.significant is not None],
        )


def is_torn(row: Any) -> bool:
    """Significant with an interval from 0, or not significant with a large share or a small p-value."""
    return row.low < 0.0005 if row.significant else row.share > 0.2 or row.p_adjusted < 0.01


def by_histogram(sample: Sample, questions: Sequence[Question]) -> Iterator[Answer]:
    codes = [cells_of(sample.space[name], sample.columns[name], 10) for name in sample.space]
    for question in questions:
        yield Answer(shares_of(codes, sample.objective, question, less_chance=False))


def by_optuna(sample: Sample, questions: Sequence[Question], form: str, local: bool) -> Iterator[Answer]:
    study = study_of(sample, form)
    for target, region in questions:
        how = {"target_quantile": target, "region_quantile": region, "evaluate_on_local": local}
        yield in_order(sample, optuna_parts(study, **how))


def by_fanova(sample: Sample, questions: Sequence[Question]) -> Iterator[Answer]:
    if any(isinstance(one, pa.Categorical) and len(one.choices) > FANOVA_CHOICES for one in sample.space.values()):
        raise ValueError(f"more than {FANOVA_CHOICES} categories take it too long")
    answer = in_order(sample, optuna_parts(study_of(sample, "ranges"), "Fanova", seed=0))
    yield from [answer] * len(questions)


def by_hypershap(sample: Sample, questions: Sequence[Question]) -> Iterator[Answer]:
    if len(sample.space) > SHAP_PARAMETERS:
        raise ValueError(f"more than {SHAP_PARAMETERS} parameters take it too long: it looks at every subset of them")
    answer = in_order(sample, tunability_of(sample))
    yield from [answer] * len(questions)


def in_order(sample: Sample, parts: dict[str, float]) -> Answer:
    return Answer(np.array([parts.get(name, 0.0) for name in sample.space]))


PEERS: dict[str, dict[str, Peer]] = {
    "auto": {"auto": partial(by_pedanova, estimator="auto")},
    "counts": {"counts": partial(by_pedanova, estimator="counts")},
    "histogram": {"histogram": by_histogram},
    "optuna": {
        f"optuna {form} {'region' if local else 'uniform'}": partial(by_optuna, form=form, local=local)
        for form in ("ranges", "codes", "categories")
        for local in (True, False)
    },
    "fanova": {"fanova": by_fanova},
    **({"hypershap": {"hypershap": by_hypershap}} if find_spec("hypershap") else {}),
}


def forms_of(peer: str, space: Space) -> dict[str, Peer]:
    """Without lattices all forms are the same."""
    lattices = any(isinstance(parameter, pa.Ordinal) for parameter in space.values())
    return {form: ask for form, ask in PEERS[peer].items() if lattices or (" codes" not in form and " cat" not in form)}


# --- scores ----------------------------------------------------------------------------------------


def score(
    data: Path | None, folder: Path, name: str, sampler: str, rows: int, seed: int, peers: Sequence[str]
) -> list[Line]:
    """The lines of all peers on one sample."""
    warnings.simplefilter("ignore")
    warm_up(tuple(peers))
    world = worlds_of(data)[name]
    truths = kept_truth(world, folder)
    questions = [question for question in world.questions if np.ceil(question[0] * rows) >= LEAST_TARGET]
    sample = world.sample(sampler, rows, seed)
    idle = np.isin(list(world.space), world.idle)
    place = {"world": name, "group": world.group, "sampler": sampler, "rows": rows, "seed": seed}
    lines: list[Line] = []
    for peer in peers:
        for form, ask in forms_of(peer, world.space).items():
            try:
                began = time.process_time()
                for question, answer, true in zip(questions, ask(sample, questions), truths, strict=False):
                    about = {"peer": form, "question": text_of(question), "seconds": time.process_time() - began}
                    lines.append(place | about | scores(answer, true, idle))
                    began = time.process_time()
            except Exception as error:  # a refusal is an answer too
                why = f"{type(error).__name__}: {error}".splitlines()[0]
                lines.append(place | {"peer": form, "refused": why})
    return lines


@lru_cache
def warm_up(peers: tuple[str, ...]) -> None:
    """Imports are not counted as time."""
    sample = WORLDS[0].sample("uniform", 60, 0)
    for peer in peers:
        for ask in forms_of(peer, sample.space).values():
            list(ask(sample, WORLDS[0].questions))


def text_of(question: Question) -> str:
    target, region = (f"best {100 * part:g} %" for part in question)
    return f"{target} in {'all' if question[1] == 1.0 else region}"


def scores(answer: Answer, true: Reals, idle: Any) -> Line:
    """The scores; those with nothing to score are left out."""
    found: Line = {}
    if true.sum() > 0:
        found["l1"] = float(np.abs(ratios(answer.shares) - ratios(true)).sum())
        found["first"] = int(true[np.argmax(answer.shares)] > 0.95 * true.max())  # of two that tie either is right
    if answer.low is not None and answer.high is not None and np.any(true > SEEN):
        found["covered"] = float(np.mean(((answer.low <= true) & (true <= answer.high))[true > SEEN]))
        found["error"] = float(np.mean(np.abs(answer.shares - true)[true > SEEN]))
        found["seen"] = answer.shares[true > SEEN].tolist()
        found["widths"] = (answer.high - answer.low)[true > SEEN].tolist()
    if answer.marked is not None and idle.any():
        found["idle_marked"] = int(np.any(answer.marked[idle]))
    if answer.torn:
        found["torn"] = float(np.mean(answer.torn))
    if answer.marked is not None and np.any(true > LARGE):
        found["power"] = float(np.mean(answer.marked[true > LARGE]))
    return found


def ratios(shares: Reals) -> Reals:
    above = np.maximum(shares, 0.0)
    return above / above.sum() if above.sum() > 0 else np.full(len(shares), 1.0 / len(shares))


# --- the run ---------------------------------------------------------------------------------------


@lru_cache
def worlds_of(data: Path | None) -> dict[str, AnyWorld]:
    every: list[AnyWorld] = [*WORLDS, *(table_worlds(data) if data else [])]
    return {world.name: world for world in every}


def chosen(options: argparse.Namespace) -> list[AnyWorld]:
    """The worlds of the names and groups given, or all."""
    worlds = list(worlds_of(options.data).values())
    names = {*PEERS, *WORLDS[0].samplers, *(name for world in worlds for name in (world.name, world.group))}
    unknown = {*options.worlds, *options.peers, *options.samplers} - names
    if unknown:
        raise SystemExit(f"there is no {', '.join(sorted(unknown))}; there is {', '.join(sorted(names))}")
    return [world for world in worlds if not options.worlds or {world.name, world.group} & {*options.worlds}]


def run(options: argparse.Namespace) -> None:
    path, folder = options.output / "league.jsonl", options.output / "truth"
    worlds = chosen(options)
    folder.mkdir(exist_ok=True, parents=True)
    for world in worlds:
        kept_truth(world, folder)  # the processes share them
    done: dict[tuple[object, ...], set[str]] = defaultdict(set)
    for line in read_records(path):
        done[line["world"], line["sampler"], line["rows"], line["seed"]].add(peer_of(line))
    work = [
        (options.data, folder, world.name, sampler, rows, seed, peers)
        for seed in range(options.first, options.first + options.seeds)
        for world in worlds
        for sampler in options.samplers
        for rows in options.rows
        if sampler in world.samplers
        and (peers := [one for one in options.peers if one not in done[world.name, sampler, rows, seed]])
    ]
    append_records(path, options.jobs, score, work)


# --- the report ------------------------------------------------------------------------------------


LEGEND = """Errors are L1 errors of the ratios, bold where pedanova's default is nearest; *: not every world.
"First right": of the tables. "Interval holds": of the shares above 2 %. "Idle marked": the tables in which a parameter
without an effect is called significant. "Effects marked": of the shares above 5 %. "Torn": of the parameters, those
that are significant with an interval from 0, or not significant with a share above 20 % or an adjusted p below 0.01.
Worlds have the same say."""


def report(options: argparse.Namespace) -> None:
    kept = read_records(options.output / "league.jsonl")
    lines = at_its_best([line for line in kept if "refused" not in line])
    print(f"{describe()}\n{LEGEND}")
    groups: dict[tuple[str, ...], list[Line]] = defaultdict(list)
    for line in lines:
        for group in [line["world"]] if options.each else ["all worlds", line["group"]]:
            groups[group, line["question"], line["sampler"]].append(line)
    for place, mine in sorted(groups.items(), key=lambda item: item[0][0] != "all worlds"):
        print(f"\n## {', '.join(place)} (worlds: {worlds_in(mine)})\n")
        print_errors(mine)
        print_others(mine)
    print_local([line for line in lines if not line["question"].endswith("in all") and "seen" in line])
    print_losses(lines)
    print_refusals([line for line in kept if "refused" in line])


def at_its_best(lines: list[Line]) -> list[Line]:
    """Of each world and size the form of a peer that errs least in the mean, under the plain name of the peer."""
    errors: dict[tuple[str, ...], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for line in lines:
        errors[(*cell_of(line), peer_of(line))][line["peer"]].append(line.get("l1", 0.0))
    forms = {cell: min(forms, key=lambda form: np.mean(forms[form])) for cell, forms in errors.items()}
    return [{**line, "peer": peer_of(line)} for line in lines if line["peer"] == forms[(*cell_of(line), peer_of(line))]]


def cell_of(line: Line) -> tuple[str, ...]:
    return tuple(line[key] for key in ("world", "sampler", "rows", "question"))


def peer_of(line: Line) -> str:
    return line["peer"].split()[0]


def mean_of(lines: list[Line], score: str) -> float | None:
    """Over the worlds, each with the same say."""
    worlds: dict[str, list[float]] = defaultdict(list)
    for line in lines:
        if score in line:
            worlds[line["world"]].append(line[score])
    return float(np.mean([np.mean(values) for values in worlds.values()])) if worlds else None


def by_size_and_peer(lines: list[Line]) -> dict[int, dict[str, list[Line]]]:
    """Of the tables that have been answered by every peer that answers in their world and size."""
    answers: dict[tuple[str, str], dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for line in lines:
        answers[line["world"], line["rows"]][line["peer"]].add(line["seed"])
    common = {cell: set.intersection(*seeds.values()) for cell, seeds in answers.items()}
    peers = [peer for peer in PEERS if any(line["peer"] == peer for line in lines)]
    sizes: dict[int, dict[str, list[Line]]] = defaultdict(lambda: {peer: [] for peer in peers})
    for line in sorted(lines, key=lambda line: line["rows"]):
        if line["seed"] in common[line["world"], line["rows"]]:
            sizes[line["rows"]][line["peer"]].append(line)
    return sizes


def worlds_in(lines: list[Line]) -> int:
    return len({line["world"] for line in lines})


def print_errors(lines: list[Line]) -> None:
    sizes = by_size_and_peer([line for line in lines if "l1" in line])
    if not sizes:
        return
    peers = list(next(iter(sizes.values())))
    table = Lines("rows: error", "tables", *peers, first=11)
    for rows, mine in sizes.items():
        errors = {peer: mean_of(own, "l1") for peer, own in mine.items()}
        few = {peer for peer, own in mine.items() if worlds_in(own) < max(map(worlds_in, mine.values()))}
        cells = {
            peer: f"{error:.2f}{'*' * (peer in few)}" if error is not None else "" for peer, error in errors.items()
        }
        if errors.get("auto") == min(error or 0.0 for peer, error in errors.items() if peer not in few):
            cells["auto"] = f"**{cells['auto']}**"
        table.row(rows, max(map(len, mine.values())), *cells.values())
    print()


def print_others(lines: list[Line]) -> None:
    table = Lines(
        "rows, who", "first right", "interval holds", "idle marked", "effects marked", "torn", "CPU s", first=18
    )
    for rows, mine in by_size_and_peer(lines).items():
        for peer, own in mine.items():
            parts = (mean_of(own, score) for score in ("first", "covered", "idle_marked", "power", "torn"))
            cells = ["" if part is None else f"{part:.1%}" if part < 0.02 else f"{part:.0%}" for part in parts]
            table.row(f"{rows} {peer}", *cells, f"{mean_of(own, 'seconds') or 0.0:.2f}")


def print_local(lines: list[Line]) -> None:
    """Error, coverage and width of the shares above 2 %, for targets inside a region."""
    print("\n## Local questions: shares above 2 %\n")
    table = Lines("world, question", "rows", "peer", "seeds", "error", "interval holds", "width", "in SDs", first=44)
    cells: dict[tuple[Any, ...], list[Line]] = defaultdict(list)
    for line in lines:
        cells[line["world"], line["question"], line["sampler"], line["rows"], line["peer"]].append(line)
    for (world, question, sampler, rows, peer), mine in sorted(cells.items()):
        spread, width = (f([line[key] for line in mine], axis=0) for f, key in ((np.std, "seen"), (np.mean, "widths")))
        wide = np.mean(width / np.maximum(spread, 1e-12)) if len(mine) > 3 else None
        held, error = mean_of(mine, "covered"), mean_of(mine, "error")
        table.row(
            f"{world}, {question}", f"{rows} {sampler}", peer, len(mine), f"{100 * (error or 0):.1f}", f"{held:.0%}",
            f"{100 * np.mean(width):.1f}", "" if wide is None else f"{wide:.1f}",
        )  # fmt: skip


def print_losses(lines: list[Line]) -> None:
    """Each world and size in which a peer is nearer, the largest difference first."""
    cells: dict[tuple[str, ...], dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    for line in lines:
        if "l1" in line:
            cells[cell_of(line)][line["peer"]][line["seed"]] = line["l1"]
    losses = []
    for cell, peers in cells.items():
        own = peers.pop("auto", {})
        for peer, errors in peers.items():
            both = np.array([(own[seed], errors[seed]) for seed in own if seed in errors]).reshape(-1, 2)
            gaps = both[:, 0] - both[:, 1]
            if gaps.sum() > 0:
                losses.append((gaps, both.mean(axis=0), cell, peer))
    print(f"\n## A peer is nearer than pedanova's default in {len(losses)} of {sum(map(len, cells.values()))} cells\n")
    print("A cell is a world, size and peer. Beside the difference: the standard error of its mean over the seeds.\n")
    table = Lines("world, question", "sampler", "rows", "seeds", "default", "peer", "its error", "difference", first=44)
    for gaps, means, (world, sampler, rows, question), peer in sorted(losses, key=lambda loss: -loss[0].mean()):
        error = f" ± {gaps.std(ddof=1) / np.sqrt(len(gaps)):.2f}" if len(gaps) > 1 else ""
        default, its_error = (f"{mean:.2f}" for mean in means)
        cells_of_row = sampler, rows, len(gaps), default, peer, its_error, f"{gaps.mean():.2f}{error}"
        table.row(f"{world}, {question}", *cells_of_row)


def print_refusals(lines: list[Line]) -> None:
    reasons: dict[tuple[str, str], set[str]] = defaultdict(set)
    for line in lines:
        reasons[line["peer"], line["refused"]].add(line["world"])
    print("\n## Refused\n" if reasons else "")
    for (peer, reason), worlds in reasons.items():
        print(f"- {peer}: {reason} ({', '.join(sorted(worlds))})")


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("--worlds", type=words, default=[], help="names and groups; all by default")
    parser.add_argument("--peers", type=words, default=list(PEERS), help=",".join(PEERS))
    parser.add_argument("--rows", type=ints, default=[60, 100, 200, 1000])
    parser.add_argument("--seeds", type=int, default=12)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--samplers", type=words, default=["uniform", "tpe"])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--data", type=Path, help="a folder of complete tables")
    parser.add_argument("--report", action="store_true", help="print what is there, run nothing")
    parser.add_argument("--each", action="store_true", help="a table for every world")
    parser.add_argument("-o", "--output", type=Path, default=Path("build/league"))
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    if not options.report:
        run(options)
    report(options)


if __name__ == "__main__":
    main()
