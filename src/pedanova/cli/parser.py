"""The options of the command line, with their help."""

from __future__ import annotations

import argparse
from typing import Any, NoReturn

from pedanova.base.kernel import library as kernel
from pedanova.base.terminal_text import printable
from pedanova.cli.versions import __version__
from pedanova.space.exports import FORMS

FORMATS = ("text", "csv", "json", "markdown", "latex")
EXAMPLES = """examples:
  pedanova demo
  pedanova analyze trials.csv --objective error
  pedanova densities trials.csv learning_rate --objective error
  pedanova report trials.csv --objective error -o report.html
"""
ANALYZE_EXAMPLES = """examples:
  pedanova analyze trials.csv --objective error --exclude seed,train_seconds
  pedanova analyze trials.parquet --objective accuracy --direction maximize \\
      --target 0.01 --region 0.1
  pedanova analyze trials.csv --objective error --format json -o importance.json
  pedanova analyze trials.csv --objective error \\
      --where "epochs >= 10 and optimizer == 'adam'"
  pedanova analyze trials.csv --objective loss --objective latency --feasible memory_over
  pedanova analyze optuna.db --study mlp --target 0.05
"""
PROFILE_EXAMPLES = """examples:
  pedanova profile trials.csv --objective error
  pedanova profile trials.csv --objective error --region 0.5
  pedanova profile trials.csv --objective error --estimator counts
  pedanova profile trials.csv --objective error --ladder 0.01,0.05,0.1,0.25
  pedanova profile trials.csv --objective error --format csv -o profile.csv
"""
INTERACTIONS_EXAMPLES = """examples:
  pedanova interactions trials.csv --objective error
  pedanova interactions trials.csv --objective error --target 0.2 --top 5
  pedanova interactions trials.csv --objective error --params learning_rate,layers
"""
DENSITIES_EXAMPLES = """examples:
  pedanova densities trials.csv --objective error
  pedanova densities trials.csv learning_rate optimizer --objective error --target 0.05
  pedanova densities trials.csv layers --objective error --format csv
"""
REPORT_EXAMPLES = """examples:
  pedanova report trials.csv --objective error -o report.html
  pedanova report optuna.db --study mlp -o report.html
  pedanova report trials.csv --objective error --target 0.05 --title "My search"
"""
ROWS_HELP = (
    "0.1 for the best 10 %%; '<=V' or '>=V' for values; 'A..B' for the rows between two quantiles; "
    'the name of a boolean column; or a condition such as "epochs >= 10"'
)


SOURCE_HELP = "a table, or the log of a tool: a file, a folder or a URL (pedanova formats lists them)"
SAVED_HELP = f"{SOURCE_HELP}; or a saved .pedanova file"
PLACES = {"demo": "", "formats": "", "densities": "SOURCE [NAME …] "}  # what stands before the options
STUDY_HELP = "which study or experiment, where a store holds several"


class Parser(argparse.ArgumentParser):
    """argparse with one line for a mistake instead of the whole usage."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {printable(message)}; see {self.prog} --help\n")


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
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    add_analyze(commands)
    add_profile(commands)
    add_densities(commands)
    add_interactions(commands)
    add_compare(commands)
    add_reduce(commands)
    add_report(commands)
    add_space(commands)
    add_command(
        commands,
        "formats",
        "list every kind of source that can be read, with an example each",
        "examples:\n  pedanova formats\n",
    )
    demo = add_command(
        commands,
        "demo",
        "analyze a real random search that ships with pedanova",
        "examples:\n  pedanova demo\n  pedanova demo --report report.html\n",
    )
    demo.add_argument("--report", metavar="FILE", help="write an HTML report there too")
    for name, command in commands.choices.items():
        command.usage = f"pedanova {name} {PLACES.get(name, 'SOURCE ')}[options]"  # all of them stand below
    return parser


def add_command(commands: Any, name: str, what: str, examples: str) -> argparse.ArgumentParser:
    made: argparse.ArgumentParser = commands.add_parser(
        name,
        help=what,
        description=f"{what[0].upper()}{what[1:]}.",
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    return made


def add_analyze(commands: Any) -> None:
    command = add_command(
        commands, "analyze", "rank the hyperparameters of a table of trials", ANALYZE_EXAMPLES
    )
    command.add_argument("file", metavar="SOURCE", help=SAVED_HELP)
    add_question(command.add_argument_group("the question"))
    add_table(command)
    add_output(command.add_argument_group("output"))


def add_table(command: argparse.ArgumentParser) -> None:
    """How the table is to be read: the same for every command that asks it something."""
    add_columns(command.add_argument_group("columns"))
    add_rows(command.add_argument_group("rows"))
    add_scale(command.add_argument_group("large tables"))


def add_profile(commands: Any) -> None:
    what = "the ranking for stricter and wider targets"
    command = add_command(commands, "profile", what, PROFILE_EXAMPLES)
    command.add_argument("file", metavar="SOURCE", help=SAVED_HELP)
    question = command.add_argument_group("the question")
    add_objective(question)
    add_region(question)
    add_measure(question)
    add_estimator(question, draws=0)
    targets = "targets, such as 0.01,0.1 (default: all that were counted; a model is asked at five)"
    question.add_argument("--ladder", action="append", metavar="T,T,…", help=targets)
    add_table(command)
    add_forms(command.add_argument_group("output"))


def add_densities(commands: Any) -> None:
    what = "where the good values of a parameter lie"
    command = add_command(commands, "densities", what, DENSITIES_EXAMPLES)
    command.add_argument("file", metavar="SOURCE", help=SAVED_HELP)
    names = "which parameters (default: the three most important)"
    command.add_argument("names", metavar="NAME", nargs="*", help=names)
    add_question(command.add_argument_group("the question"))
    add_table(command)
    add_forms(command.add_argument_group("output"))


def add_interactions(commands: Any) -> None:
    what = "pairs of parameters that tell more together than both added"
    command = add_command(commands, "interactions", what, INTERACTIONS_EXAMPLES)
    command.add_argument("file", metavar="SOURCE", help=SOURCE_HELP)
    question = command.add_argument_group("the question")
    add_objective(question)
    add_target(question)
    add_region(question)
    add = question.add_argument
    add("--cells", default="auto", metavar="N", help="of each parameter (default: 8, or 4 for few rows)")
    add("--seed", type=int, default=0, metavar="N", help="of the draws (default 0)")
    add_table(command)
    output = command.add_argument_group("output")
    most = "pairs to print (default 15; 0: all)"
    output.add_argument("--top", type=at_least_0, default=15, metavar="N", help=most)
    add_forms(output)


def add_report(commands: Any) -> None:
    what = "everything as one HTML page that needs no network"
    command = add_command(commands, "report", what, REPORT_EXAMPLES)
    command.add_argument("file", metavar="SOURCE", help=SAVED_HELP)
    add_question(command.add_argument_group("the question"))
    add_table(command)
    output = command.add_argument_group("output")
    add = output.add_argument
    add("-o", "--output", default="report.html", metavar="FILE", help="where to (default report.html)")
    add("--title", metavar="TEXT", help="above the page (default: the name of the source)")
    add("--open", action="store_true", help="show it in the browser")
    add_threads(output)


def at_least_0(text: str) -> int:
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{text} must be 0 or more")
    return number


def add_compare(commands: Any) -> None:
    command = commands.add_parser(
        "compare",
        help="PED-ANOVA, f-ANOVA by counts and random-forest f-ANOVA side by side",
        epilog="examples:\n  pedanova compare trials.csv --objective error --exclude seed,train_seconds\n",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("file", metavar="SOURCE", help=SOURCE_HELP)
    question = command.add_argument_group("the question")
    add_objective(question)
    best = "the best part of the rows (default 0.1)"
    question.add_argument("--target", default="0.1", metavar="T", help=best)
    question.add_argument("--seed", type=int, default=0, metavar="N", help="of everything random (default 0)")
    add_columns(command.add_argument_group("columns"))
    add_rows(command.add_argument_group("rows"))
    add_forms(command.add_argument_group("output"))


def add_reduce(commands: Any) -> None:
    command = commands.add_parser(
        "reduce",
        help="a smaller search space: what to narrow, fix and widen, and why",
        epilog="examples:\n  pedanova reduce trials.csv --objective error\n"
        "  pedanova reduce trials.csv --objective error --to code\n"
        "  pedanova reduce optuna.db --study mlp --to wandb -o sweep.yaml\n",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("file", metavar="SOURCE", help=SOURCE_HELP)
    question = command.add_argument_group("the question")
    add_objective(question)
    add = question.add_argument
    add_target(question)
    kept = "of the target's best tenth, the part that every narrowed parameter keeps (default 0.95)"
    add("--keep", type=float, default=0.95, metavar="K", help=kept)
    add("--widen", action="store_true", help="move bounds that good values pile up at, instead of saying so")
    add("--estimator", choices=("auto", "counts", "surrogate"), default="auto", help="as in analyze")
    add("--folds", type=int, default=5, metavar="N", help="parts of the rows, each judged by the others")
    add("--seed", type=int, default=0, metavar="N", help="of everything random (default 0)")
    add_columns(command.add_argument_group("columns"))
    add_rows(command.add_argument_group("rows"))
    output = command.add_argument_group("output")
    output.add_argument("--to", choices=FORMS, help="write the space for a tool instead of the verdicts")
    output.add_argument("-o", "--output", metavar="FILE", help="write there instead of to the terminal")
    output.add_argument("--threads", type=int, metavar="N", help="threads to count with (default: all cores)")


def add_space(commands: Any) -> None:
    command = commands.add_parser(
        "space",
        help="write down the search space of a source, to edit and pass as --space",
        epilog="examples:\n  pedanova space trials.csv --objective error -o space.json\n",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = command.add_argument
    add("file", metavar="SOURCE", help=SOURCE_HELP)
    column = "the column to optimise, which is no parameter"
    add("--objective", action="append", metavar="COLUMN", help=column)
    add_params(command)
    add("--study", metavar="NAME", help=STUDY_HELP)
    add("-o", "--output", metavar="FILE", help="write there instead of to the terminal")


def add_objective(group: Any) -> None:
    add = group.add_argument
    add("--objective", action="append", metavar="COLUMN", help="the column to optimise; several may be given")
    add(
        "--direction",
        action="append",
        choices=("minimize", "maximize"),
        help="once, or once for each objective",
    )


def add_question(group: Any) -> None:
    add = group.add_argument
    add_objective(group)
    add_target(group)
    add_region(group)
    add_measure(group)
    add_estimator(group, draws=2000)
    add("--force", action="store_true", help="answer from fewer than 5 target rows too")


def add_estimator(group: Any, *, draws: int) -> None:
    add = group.add_argument
    nearer = "counts of the rows, a model for few rows, or whichever is nearer the truth (default)"
    add("--estimator", choices=("auto", "counts", "surrogate"), default="auto", help=nearer)
    behind = f"behind intervals and p-values; 0 for none (default {draws})"
    add("--draws", type=int, default=draws, metavar="N", help=behind)
    add("--seed", type=int, default=0, metavar="N", help="of the draws (default 0)")


def add_target(group: Any) -> None:
    reached = f"the rows to reach: {ROWS_HELP} (default 0.1)"
    group.add_argument("--target", default="0.1", metavar="T", help=reached)


def add_region(group: Any) -> None:
    add = group.add_argument
    add(
        "--region",
        default="1.0",
        metavar="R",
        help=f"the rows to stand in: {ROWS_HELP} (default 1.0: all)",
    )
    add(
        "--region-box",
        action="append",
        metavar="BOX",
        help="the rows to stand in, as NAME=LOW..HIGH or NAME=A,B",
    )


def add_measure(group: Any) -> None:
    add = group.add_argument
    against = "hold the target against the region's rows (default) or a uniform draw"
    add("--baseline", choices=("region", "uniform"), default="region", help=against)
    add("--smoothing", default="auto", metavar="S", help="auto, none, or a bandwidth in cells")


def add_columns(group: Any) -> None:
    add = group.add_argument
    add_params(group)
    example = '{"lr": {"type": "float", "low": 1e-5, "high": 1, "log": true}}'
    add(
        "--space",
        metavar="FILE",
        help=f"search space as JSON or YAML: {example}; or a ConfigSpace or .pcs file",
    )
    add("--outside", choices=("error", "count"), default="error", help="values outside the given space")


def add_params(group: Any) -> None:
    add = group.add_argument
    add(
        "--params",
        action="append",
        metavar="COLS",
        help="columns to use, separated by commas (default: all others)",
    )
    add("--exclude", action="append", metavar="COLS", help="columns to leave out, separated by commas")


def add_rows(group: Any) -> None:
    add = group.add_argument
    add("--study", metavar="NAME", help=STUDY_HELP)
    add(
        "--where",
        metavar="CONDITION",
        help="use only these rows, such as \"epochs >= 10 and optimizer == 'adam'\"",
    )
    add(
        "--feasible",
        action="append",
        metavar="COLS",
        help="a boolean column, or columns that must be at most 0",
    )
    add("--infeasible", choices=("drop", "worst"), default="drop", help="rows that are not feasible")
    add("--state", metavar="COLUMN", help="the column of states: COMPLETE, FAIL, PRUNED, RUNNING")
    add("--failed", choices=("drop", "worst"), default="drop", help="rows that failed")
    add("--pruned", choices=("drop", "worst", "last"), default="drop", help="rows that were pruned")
    add("--nan", choices=("drop", "worst"), default="drop", help="rows whose objective is NaN")
    add("--repeats", choices=("all", "mean", "median"), help="rows of the same configuration")


def add_scale(group: Any) -> None:
    add = group.add_argument
    add(
        "--stream",
        action=argparse.BooleanOptionalAction,
        help="read files in parts, in memory that does not grow with them (default: large ones only)",
    )
    add("--dask", metavar="ADDRESS", help="let the workers of this Dask cluster read the files")
    add("--on-error", choices=("raise", "skip"), default="raise", help="files that cannot be read")
    add("--checkpoint", metavar="FILE", help="keep what is counted there, and go on from it after a crash")


def add_output(group: Any) -> None:
    add = group.add_argument
    add("--save", metavar="FILE", help="keep the counts in a .pedanova file, to ask again later")
    add("--report", metavar="FILE", help="write an HTML report as well")
    add_forms(group)


def add_forms(group: Any) -> None:
    add = group.add_argument
    add("--format", type=as_form, choices=FORMATS, default="text", help="how to print (default text)")
    add("-o", "--output", metavar="FILE", help="write there instead of to the terminal")
    add_threads(group)


def as_form(text: str) -> str:
    return "text" if text == "table" else text


def add_threads(group: Any) -> None:
    group.add_argument("--threads", type=int, metavar="N", help="threads to count with (default: all cores)")
