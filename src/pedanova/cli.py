"""The command line: ``pedanova analyze FILE --objective y``. Mistakes end in one line and status 2."""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from pedanova.analysis import Analysis, load
from pedanova.arguments import as_float, parse_box, parse_rows, parse_smoothing, split_names
from pedanova.clusters import dask_executor
from pedanova.errors import DataError, PedanovaError, QueryError
from pedanova.exports import left_out
from pedanova.importance import Importances
from pedanova.measures import Measures
from pedanova.options import build_parser
from pedanova.pipeline import analyze, guess_space
from pedanova.regions import Region
from pedanova.report.sentences import contrast, describe, gathered
from pedanova.report.text import compare_rows, draw_importances, draw_notes, draw_table

NOT_FOR_SAVED = {  # option → its value when it was not given
    "objective": None, "direction": None, "space": None, "params": None, "exclude": None, "where": None,
    "feasible": None, "state": None, "nan": "drop", "outside": "error", "infeasible": "drop", "failed": "drop",
    "pruned": "drop", "repeats": None, "study": None, "stream": None, "dask": None, "on_error": "raise",
    "checkpoint": None,
}  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    options = build_parser().parse_args(arguments)
    try:
        return COMMANDS[options.command](options)
    except PedanovaError as error:
        print(f"pedanova: {as_options(' '.join(str(error).split()))}", file=sys.stderr)
        return 2
    except MemoryError:
        print("pedanova: not enough memory for this table; use fewer columns (--params)", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader of our output has gone, as with `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print("pedanova: interrupted; nothing was written", file=sys.stderr)
        return 130


def as_options(message: str) -> str:
    """Arguments of the Python function as the options that a shell user knows."""
    message = message.replace("force=True", "--force").replace("stream=False", "--no-stream")
    words = "objective|direction|params|exclude|space|threads|where|feasible|state|outside|target|region"
    words += "|study|repeats|estimator|draws|seed|smoothing|baseline|clip|keep|folds|checkpoint"
    return re.sub(rf"\b({words})=( (?=is|and|or|names|holds))?", r"--\1 ", message).replace(
        "--study :", "--study:"
    )


def run_analyze(options: argparse.Namespace) -> int:
    target, region = questions_of(options)
    a = open_analysis(options)
    found = a.importance(target, region, **estimation(options))
    if options.save:
        a.save(options.save)
    if options.report:
        title, asked = Path(shown_place(options.file)).name, (target, region)
        questions = [asked] if (options.target, options.region) != ("0.1", "1.0") else [asked, (0.02, 0.1)]
        a.report(options.report, title=title, questions=questions, **estimation(options))
    emit(render(a, found, options), options.output)
    if options.format in ("csv", "markdown", "latex"):  # these forms have no place for notes
        for note in found.notes:
            print(f"pedanova: {as_options(note)}", file=sys.stderr)
    return 0


def estimation(options: argparse.Namespace) -> dict[str, Any]:
    """How the numbers are to be found."""
    names = ("baseline", "estimator", "draws", "seed", "force")
    return {name: getattr(options, name) for name in names} | {
        "smoothing": parse_smoothing(options.smoothing)
    }


def run_compare(options: argparse.Namespace) -> int:
    target = as_float(options.target)
    if target is None:
        raise QueryError(f"--target {options.target!r} must be a quantile, such as 0.1 for the best 10 %")
    a = open_analysis(options)
    found = a.compare(target, seed=options.seed)
    notes = gathered([*found.notes, *a.notes], a.space)
    match options.format:
        case "csv":
            text = found.to_csv()
        case "json":
            text = json.dumps({"measures": found.to_dict(), "meanings": dict(found.meanings), "notes": notes},
                              indent=1, ensure_ascii=False) + "\n"  # fmt: skip
        case "markdown":
            text = found.to_markdown()
        case "latex":
            text = found.to_latex()
        case _:
            text = compared_in_words(found, notes, 100 if options.output else line_width())
    emit(text, options.output)
    return 0


def run_reduce(options: argparse.Namespace) -> int:
    a = open_analysis(options)
    found = a.reduce(
        parse_rows(options.target, "target"),
        options.keep,
        widen=options.widen,
        estimator=options.estimator,
        folds=options.folds,
        seed=options.seed,
    )
    if options.to:
        emit(found.export(options.to), options.output)
        for note in [*left_out(found.space, options.to), *found.notes]:
            print(f"pedanova: {note}", file=sys.stderr)
        print(f"pedanova: {found.summary()}", file=sys.stderr)
        return 0
    width = 100 if options.output else line_width()
    notes = draw_notes(
        [as_options(note) for note in gathered([*found.notes, *a.notes], a.space)], width=width
    )
    head = f"{shown_place(options.file)}: {a.rows:,} rows, {goals_in_words(a)}"
    emit("\n\n".join(part for part in [head, found.to_text(width), notes] if part) + "\n", options.output)
    return 0


def compared_in_words(found: Measures, notes: list[str], width: int) -> str:
    """Ratios by measure, and what each measure means."""
    meanings = [
        textwrap.fill(f"{name}: {meaning}", width, subsequent_indent="  ")
        for name, meaning in found.meanings.items()
    ]
    table = draw_table(found.header(), found.lines())
    parts = [
        "Ratios by measure:",
        table,
        "\n".join(meanings),
        draw_notes([as_options(note) for note in notes], width=width),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def open_analysis(options: argparse.Namespace) -> Analysis:
    if Path(options.file).suffix.lower() == ".pedanova":
        given = [
            name for name, default in NOT_FOR_SAVED.items() if getattr(options, name, default) != default
        ]
        if given:
            raise QueryError(
                f"--{given[0].replace('_', '-')} has no effect on a saved analysis; analyze the table again with it"
            )
        return load(options.file)
    address = getattr(options, "dask", None)  # `compare` needs all rows at once
    if address is None:
        return analyze_file(options, None)
    with dask_executor(address) as executor:
        a = analyze_file(options, executor)
        # The question is asked while the workers are at hand: it may need another reading.
        a.importance(*questions_of(options), **estimation(options) | {"draws": 0})
        return a


def analyze_file(options: argparse.Namespace, executor: object) -> Analysis:
    objectives = options.objective or [None]
    directions = options.direction or [None]
    return analyze(
        options.file,
        objectives if len(objectives) > 1 else objectives[0],
        direction=directions if len(directions) > 1 else directions[0],
        space=options.space,
        params=split_names(options.params),
        exclude=split_names(options.exclude),
        where=options.where,
        feasible=split_names(options.feasible),
        infeasible=options.infeasible,
        state=options.state,
        failed=options.failed,
        pruned=options.pruned,
        nan=options.nan,
        repeats=options.repeats,
        study=options.study,
        outside=options.outside,
        threads=options.threads,
        executor=executor,
        stream=getattr(options, "stream", None),
        on_error=getattr(options, "on_error", "raise"),
        checkpoint=getattr(options, "checkpoint", None),
    )


def render(a: Analysis, found: Importances, options: argparse.Namespace) -> str:
    match options.format:
        case "csv":
            return found.to_csv()
        case "json":
            return to_json(a, found)
        case "markdown":
            return found.to_markdown()
        case "latex":
            return found.to_latex()
        case _:
            return to_text(a, found, options)


def to_json(a: Analysis, found: Importances) -> str:
    columns = found.to_dict()
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    answer = {
        "objective": a.objective,
        "direction": a.direction,
        "rows": a.rows,
        "dropped": a.dropped,
        "target": found.target,
        "region": found.region,
        "baseline": found.baseline,
        "importance": rows,
        "space": a.space.to_dict(),
        "estimator": found.estimator,
        "notes": [*found.notes, *a.notes],
    }
    return json.dumps(answer, indent=1, ensure_ascii=False) + "\n"


def to_text(a: Analysis, found: Importances, options: argparse.Namespace) -> str:
    colour = options.output is None and wants_colour()
    width = 100 if options.output else line_width()
    many = "parameter" if len(a.space) == 1 else "parameters"
    aim = goals_in_words(a)
    head = f"{shown_place(options.file)}: {a.rows:,} rows, {len(a.space)} {many}, {aim}"
    several = [] if a.observations is None or len(a.observations.goals) < 2 else [side_by_side(a, options)]
    parts = [
        head,
        draw_importances(found, colour=colour, width=width),
        *several,
        draw_notes([as_options(note) for note in gathered([*found.notes, *a.notes], a.space)], width=width),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def shown_place(place: str) -> str:
    """A path, or a URL without its password."""
    from pedanova.sources.databases import without_password

    return without_password(place) if "://" in place else place


def side_by_side(a: Analysis, options: argparse.Namespace) -> str:
    """The ratios for each objective alone, beside those for all."""
    answers = a.by_objective(*questions_of(options), **estimation(options))
    return f"Ratios by objective:\n\n{draw_table(answers.header(), answers.lines())}"


def questions_of(options: argparse.Namespace) -> tuple[Region | str, Region | str | dict[str, Any]]:
    """Target and region as asked for."""
    box = parse_box(options.region_box or [])
    return parse_rows(options.target, "target"), box or parse_rows(options.region, "region")


def goals_in_words(a: Analysis) -> str:
    goals = a.observations.goals if a.observations is not None else ()
    if len(goals) < 2:
        return f"{a.direction} {a.objective}"
    return " and ".join(f"{goal.direction} {goal.name}" for goal in goals)


def wants_colour() -> bool:
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ


def line_width() -> int:
    return max(60, min(120, shutil.get_terminal_size((100, 24)).columns))


def emit(text: str, output: str | None) -> None:
    if output is None:
        if hasattr(sys.stdout, "reconfigure"):
            sys.stdout.reconfigure(
                errors="replace"
            )  # a terminal without these letters still gets the numbers
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    try:
        Path(output).write_text(text, encoding="utf-8")
    except OSError as error:
        raise DataError(f"{output} cannot be written: {error.strerror or error}") from None


DEMO_QUESTIONS = ((0.3, 1.0), (0.1, 0.3))  # target, region: into the best third, then to its top
DEMO_INTRO = """A small neural network learned to read handwritten digits 1,000 times, each time with
hyperparameters drawn at random; one of them, lucky_number, is used by nothing.
"""


DEMO_KEY = "~ marks what cannot be told from noise (level 0.05, all parameters taken together)."


def run_demo(options: argparse.Namespace) -> int:
    with resources.as_file(resources.files("pedanova") / "data" / "demo_trials.csv") as path:
        a = analyze(path, "error", exclude=["train_seconds"])
    wide, narrow = (a.importance(*question) for question in DEMO_QUESTIONS)
    table = draw_table(*compare_rows(wide, narrow), colour=wants_colour())
    titles = [
        f"{word}: what separates {found.target} from {found.region}"
        for word, found in (("global", wide), ("local", narrow))
    ]
    meaning = "\n".join(
        textwrap.fill(text, line_width()) for text in (describe(wide), contrast(wide, narrow))
    )
    text = "\n".join([DEMO_INTRO, *titles, "", table, "", DEMO_KEY, "", meaning, ""])
    if options.report:
        a.report(
            options.report,
            title="Digits: 1,000 random trainings of a small network",
            questions=DEMO_QUESTIONS,
        )
        text += f"\nReport with the densities behind these numbers: {options.report}\n"
    emit(text, None)
    return 0


def run_space(options: argparse.Namespace) -> int:
    objectives = options.objective or [None]
    space, notes = guess_space(
        options.file,
        objectives if len(objectives) > 1 else objectives[0],
        params=split_names(options.params),
        exclude=split_names(options.exclude),
        study=options.study,
    )
    lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(plain)}" for name, plain in space.to_dict().items())
    emit(f"{{\n{lines}\n}}\n", options.output)
    for note in gathered(list(notes), space):
        print(f"pedanova: {as_options(note)}", file=sys.stderr)
    if options.output:
        print(f"pedanova: edit {options.output} and pass it as --space {options.output}", file=sys.stderr)
    return 0


def run_formats(_: argparse.Namespace) -> int:
    from pedanova.sources.registry import KINDS

    width = line_width()
    lines = []
    for kind in KINDS:
        lines += [kind.name, textwrap.fill(kind.mark, width, initial_indent="  ", subsequent_indent="  ")]
        lines += [f"  {kind.example}", ""]
    lines.append(
        'Data frames (pandas, Polars, pyarrow), dicts of arrays and NumPy arrays: pa.analyze(table, "loss")'
    )
    emit("\n".join(lines) + "\n", None)
    return 0


COMMANDS = {
    "analyze": run_analyze,
    "compare": run_compare,
    "demo": run_demo,
    "formats": run_formats,
    "reduce": run_reduce,
    "space": run_space,
}


if __name__ == "__main__":
    sys.exit(main())
