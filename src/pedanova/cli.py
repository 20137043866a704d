"""The command line: ``pedanova analyze FILE --objective y``. Mistakes end in one line and status 2."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import textwrap
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any, NoReturn

from pedanova import kernel
from pedanova.analysis import Analysis, load
from pedanova.errors import DataError, PedanovaError, QueryError, SpaceError
from pedanova.importance import Importances
from pedanova.pipeline import analyze
from pedanova.regions import Region, as_region, at_least, at_most, between
from pedanova.report.sentences import contrast, describe
from pedanova.report.text import compare_rows, draw_importances, draw_notes, draw_table
from pedanova.space import Space
from pedanova.versions import __version__

FORMATS = ("table", "csv", "json", "markdown", "latex")
EXAMPLES = """examples:
  pedanova analyze trials.csv --objective error
  pedanova analyze trials.parquet --objective accuracy --direction maximize --target 0.01 --region 0.1
  pedanova analyze trials.csv --objective error --exclude seed,train_seconds --format json -o importance.json
  pedanova analyze trials.csv --objective error --target '<=0.05'
"""
TARGET_HELP = "0.1 for the best 10 %%, '<=V' or '>=V' for values, 'A..B' for the rows between two quantiles"


class Parser(argparse.ArgumentParser):
    """argparse with one line for a mistake instead of the whole usage."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")


def build_parser() -> Parser:
    parser = Parser(
        prog="pedanova",
        description="Which hyperparameters matter, globally and inside the best x %.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--version", action="version", version=f"pedanova {__version__} (counting: {kernel.describe()})"
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=Parser)
    add_analyze(commands)
    demo = commands.add_parser("demo", help="analyze a real random search that ships with pedanova")
    demo.add_argument("--report", metavar="FILE", help="write an HTML report there too")
    return parser


def add_analyze(commands: Any) -> None:
    command = commands.add_parser(
        "analyze",
        help="rank the hyperparameters of a table of trials",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument(
        "file", metavar="FILE", help="CSV, TSV, JSON lines, Parquet, Arrow IPC, or a saved .pedanova file"
    )
    command.add_argument(
        "--objective", metavar="COLUMN", help="the column to optimise (not needed for .pedanova files)"
    )
    command.add_argument("--direction", choices=("minimize", "maximize"), default="minimize")
    command.add_argument(
        "--target", default="0.1", metavar="T", help=f"the rows to reach: {TARGET_HELP} (default 0.1)"
    )
    command.add_argument(
        "--region",
        default="1.0",
        metavar="R",
        help="the rows to stand in, written the same way (default 1.0: all)",
    )
    command.add_argument(
        "--baseline",
        choices=("region", "uniform"),
        default="region",
        help="hold the target against the region's rows or a uniform draw",
    )
    command.add_argument(
        "--smoothing", default="auto", metavar="S", help="auto, none, or a bandwidth in cells"
    )
    command.add_argument(
        "--params",
        action="append",
        metavar="COLS",
        help="columns to use, separated by commas (default: all others)",
    )
    command.add_argument(
        "--exclude", action="append", metavar="COLS", help="columns to leave out, separated by commas"
    )
    command.add_argument(
        "--space",
        metavar="FILE",
        help='search space as JSON: {"lr": {"type": "float", "low": 1e-5, "high": 1, "log": true}}',
    )
    command.add_argument(
        "--nan", choices=("drop", "worst"), default="drop", help="rows whose objective is NaN"
    )
    command.add_argument(
        "--outside", choices=("error", "count"), default="error", help="values outside the given space"
    )
    command.add_argument(
        "--threads", type=int, metavar="N", help="threads to count with (default: all cores)"
    )
    command.add_argument("--format", choices=FORMATS, default="table")
    command.add_argument("-o", "--output", metavar="FILE", help="write there instead of to the terminal")
    command.add_argument(
        "--save", metavar="FILE", help="keep the counts in a .pedanova file, to ask again later"
    )
    command.add_argument("--report", metavar="FILE", help="write an HTML report as well")


def main(arguments: Sequence[str] | None = None) -> int:
    options = build_parser().parse_args(arguments)
    try:
        return run_demo(options) if options.command == "demo" else run_analyze(options)
    except PedanovaError as error:
        message = " ".join(str(error).split())
        print(f"pedanova: {message}", file=sys.stderr)
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


def run_analyze(options: argparse.Namespace) -> int:
    target, region = parse_region(options.target, "target"), parse_region(options.region, "region")
    a = open_analysis(options)
    found = a.importance(target, region, options.baseline, parse_smoothing(options.smoothing))
    if options.save:
        a.save(options.save)
    if options.report:
        a.report(options.report, title=Path(options.file).name)
    emit(render(a, found, options), options.output)
    return 0


def open_analysis(options: argparse.Namespace) -> Analysis:
    if Path(options.file).suffix.lower() == ".pedanova":
        return load(options.file)
    return analyze(
        options.file,
        options.objective,
        direction=options.direction,
        space=read_space(options.space) if options.space else None,
        params=split_names(options.params),
        exclude=split_names(options.exclude),
        nan=options.nan,
        outside=options.outside,
        threads=options.threads,
    )


def read_space(path: str) -> Space:
    try:
        plain = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise SpaceError(f"{path} is no JSON: {error}") from None
    if not isinstance(plain, dict):
        raise SpaceError(f"{path} must hold an object of parameters by name")
    return Space.from_dict(plain)


def split_names(given: list[str] | None) -> list[str] | None:
    if given is None:
        return None
    return [name.strip() for text in given for name in text.split(",") if name.strip()]


def parse_region(text: str, name: str) -> Region:
    """A quantile, '<=V', '>=V' or 'A..B'."""
    try:
        if text.startswith("<="):
            return at_most(float(text[2:]))
        if text.startswith(">="):
            return at_least(float(text[2:]))
        if ".." in text:
            low, high = text.split("..")
            return between(float(low), float(high))
        return as_region(float(text), name)
    except QueryError:
        raise
    except ValueError:
        raise QueryError(
            f"--{name} {text!r} must be a quantile such as 0.1, '<=V', '>=V' or 'A..B'"
        ) from None


def parse_smoothing(text: str) -> Any:
    if text in ("auto", "none"):
        return text
    try:
        return float(text)
    except ValueError:
        raise QueryError(f"--smoothing {text!r} must be auto, none or a bandwidth in cells") from None


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
        "notes": [*found.notes, *a.notes],
    }
    return json.dumps(answer, indent=1, ensure_ascii=False) + "\n"


def to_text(a: Analysis, found: Importances, options: argparse.Namespace) -> str:
    colour = options.output is None and wants_colour()
    width = 100 if options.output else line_width()
    head = f"{options.file}: {a.rows:,} rows, {len(a.space)} parameters, {a.direction} {a.objective}"
    parts = [
        head,
        draw_importances(found, colour=colour, width=width),
        draw_notes([*found.notes, *a.notes], width=width),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


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
    text = "\n".join([DEMO_INTRO, *titles, "", table, "", meaning, ""])
    if options.report:
        a.report(
            options.report,
            title="Digits: 1,000 random trainings of a small network",
            questions=DEMO_QUESTIONS,
        )
        text += f"\nReport with the densities behind these numbers: {options.report}\n"
    emit(text, None)
    return 0


if __name__ == "__main__":
    sys.exit(main())
