"""The commands, their options, and examples of each, which the tests run."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from pedanova.analysis.options import BY_NAME, OBJECTIVE, TABLE, Option
from pedanova.base.kernel import library as kernel
from pedanova.base.terminal import printable
from pedanova.base.version import __version__
from pedanova.space.exports import FORMS

FORMATS = ("text", "csv", "json", "markdown", "latex", "arrow")
SOURCE_HELP = "a table, or the log of a tool: a file, a folder or a URL (pedanova formats lists them)"
SAVED_HELP = f"{SOURCE_HELP}; or a saved .pedanova file"


def at_least_0(text: str) -> int:
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{text} must be 0 or more")
    return number


def as_form(text: str) -> str:
    return "text" if text == "table" else text


BOX = Option(
    "region_box", None, help="the rows to stand in, as NAME=LOW..HIGH or NAME=A,B", metavar="BOX", several=True
)
WITHIN = Option(
    "within",
    None,
    help="the only rows to look at, as a condition; quantiles are then parts of these. Several must all hold",
    metavar="CONDITION",
    several=True,
)
DASK = Option(
    "dask", None, help="let the workers of this Dask cluster read the files", group="large tables", metavar="ADDRESS"
)
OUTPUT = Option("output", None, help="write there instead of to the terminal", group="output", metavar="FILE")
FORMAT = Option("format", "text", help="how to print (default text)", group="output", choices=FORMATS, type=as_form)
NOTES = Option(
    "notes", False, help="print every note in full, not only what may change the ranking", group="output", flag=True
)
QUIET = Option("quiet", False, help="print the table alone", group="output", flag=True)
TALK = (NOTES, QUIET)
SAVE = Option(
    "save", None, help="keep the counts in a .pedanova file, to ask again later", group="output", metavar="FILE"
)
SAVE_ROWS = Option(
    "save_rows",
    False,
    help="keep the rows in it too, so that the file can be asked everything",
    group="output",
    flag=True,
)
REPORT = Option("report", None, help="write an HTML report as well", group="output", metavar="FILE")
PAGE = Option("output", "report.html", help="where to (default report.html)", group="output", metavar="FILE")
TITLE = Option("title", None, help="above the page (default: the name of the source)", group="output", metavar="TEXT")
OPEN = Option("open", False, help="show it in the browser", group="output", flag=True)
PORT = Option(
    "port",
    0,
    help="of 127.0.0.1, where the page is served (default: a free one)",
    group="output",
    metavar="N",
    type=int,
)
SHOW = Option("open", True, help="show it in the browser", group="output", flag=True)
WATCH = Option("watch", False, help="follow the source while it grows: new trials appear within seconds", flag=True)
EXPLORE = Option("explore", False, help="then explore these trials in the browser", group="output", flag=True)
GROUP = Option("group", None, help="the column that names the study of each row", metavar="COLUMN", names_columns=True)
GROUP_BESIDE = replace(GROUP, help="a column that names the study of each row: their rankings stand side by side")
TOP = Option("top", 15, help="pairs to print (default 15; 0: all)", group="output", metavar="N", type=at_least_0)
MOST = Option("top", 20, help="parameters to print (default 20; 0: all)", group="output", metavar="N", type=at_least_0)
TO = Option("to", None, help="write the space for a tool instead of the verdicts", group="output", choices=FORMS)
LADDER = Option(
    "ladder", None, help="targets, such as 0.01,0.1 (default: all that were counted)", metavar="T,T,…", several=True
)
ORDER = Option("order", 2, help="parameters of a set: 2 for pairs (default), up to 5", choices=(2, 3, 4, 5), type=int)  # type: ignore[arg-type]
CELLS = Option("cells", "auto", help="of each parameter (default: 8, or 4 for few rows)", metavar="N")
BUDGET = Option(
    "budget", None, help="a column of budgets, or step for values on the way (default: what the source tells); "
    "or the objective at each: 5=loss_5,50=loss_50", metavar="COLUMN", names_columns=True,
)  # fmt: skip
AT = Option("at", None, help="budgets to ask, such as 1,5,50 (default: all, or a dozen)", metavar="B,B,…", several=True)
AMONG = Option(
    "among", "all", help="every trial that has a value there (default), or those that reached the full budget",
    choices=("all", "full"),
)  # fmt: skip
KEEP = Option(
    "keep",
    0.95,
    help="of the target's best tenth, the part that every narrowed parameter keeps (default 0.95)",
    metavar="K",
    type=float,
)
WIDEN = Option("widen", False, help="move bounds that good values pile up at, instead of saying so", flag=True)
FOLDS = Option("folds", 5, help="parts of the rows, each judged by the others", metavar="N", type=int)
BEST = replace(BY_NAME["target"], help="the best part of the rows (default 0.1)")
COLUMN = replace(OBJECTIVE, help="the column to optimise, which is no parameter")

QUESTION = [OBJECTIVE, *(BY_NAME[name] for name in ("direction", "target", "region")), BOX, WITHIN]
MEASURE = [BY_NAME[name] for name in ("baseline", "smoothing", "estimator", "of", "draws", "seed")]
FEW_DRAWS = [replace(option, default=0) if option.name == "draws" else option for option in MEASURE]
IN_MEMORY = [option for option in TABLE if option.group in ("columns", "rows")]
ROWS = [*IN_MEMORY, *(option for option in TABLE if option.group == "large tables"), DASK]
THREADS, STREAM = BY_NAME["threads"], BY_NAME["stream"]
FULL = [*QUESTION, *MEASURE, BY_NAME["force"], *ROWS]

# What people type: every command's help ends with its examples.
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
  pedanova analyze trials.csv --objective error --format arrow -o importance.arrow
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
  pedanova interactions trials.csv --objective error --order 3
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
  pedanova report trials.csv --objective error --group optimizer
"""
EXPLORE_EXAMPLES = """examples:
  pedanova explore trials.csv --objective error
  pedanova explore optuna.db --study mlp --target 0.05
  pedanova explore trials.parquet --objective accuracy --port 8080 --no-open
  pedanova explore optuna.db --watch
  pedanova explore trials.csv --objective error --group optimizer
"""
COMPARE_EXAMPLES = """examples:
  pedanova compare trials.csv --objective error --exclude seed,train_seconds
"""
REDUCE_EXAMPLES = """examples:
  pedanova reduce trials.csv --objective error
  pedanova reduce trials.csv --objective error --to code
  pedanova reduce optuna.db --study mlp --to wandb -o sweep.yaml
"""
ACROSS_EXAMPLES = """examples:
  pedanova across trials.csv --objective error --group optimizer
  pedanova across trials.csv --objective error --group seed --format csv
  pedanova across trials.csv trials.parquet --objective error --estimator counts
"""
DIFFERENCE_EXAMPLES = """examples:
  pedanova difference trials.csv trials.parquet --objective error
"""
SPACE_EXAMPLES = """examples:
  pedanova space trials.csv --objective error -o space.json
"""
DEMO_EXAMPLES = """examples:
  pedanova demo
  pedanova demo --report report.html
  pedanova demo --explore
"""
ALONG_EXAMPLES = """examples:
  pedanova along trials.csv --objective error --budget epochs
  pedanova along trials.csv --objective error --budget epochs --at 5,10,20 --target 0.2
  pedanova along optuna.db --study mlp --budget step
"""
SEEDS_EXAMPLES = """examples:
  pedanova seeds trials.csv --objective error --params layers,optimizer
"""


@dataclass(frozen=True, slots=True)
class Command:
    """One command: what it does, examples, and its options in the order of the help."""

    name: str
    what: str
    examples: str
    options: tuple[Option, ...] = ()
    source: str | None = SAVED_HELP
    names: str | None = None  # of parameters, behind the source
    others: str | None = None  # further sources
    module: str = "answers"  # of this folder, that runs it


def usage_of(command: Command) -> str:
    """The command as it is typed, less its options."""
    parts = ["SOURCE"] * bool(command.source) + ["[NAME …]"] * bool(command.names)
    parts += ["SOURCE" if command.name == "difference" else "[SOURCE …]"] * bool(command.others)
    return " ".join(["pedanova", command.name, *parts])


def without(options: Iterable[Option], *names: str) -> list[Option]:
    return [option for option in options if option.name not in names]


COMMANDS = (
    Command(
        "analyze",
        "rank the hyperparameters of a table of trials",
        ANALYZE_EXAMPLES,
        (*FULL, SAVE, SAVE_ROWS, REPORT, FORMAT, OUTPUT, MOST, *TALK, THREADS),
    ),
    Command(
        "profile",
        "the ranking for stricter and wider targets",
        PROFILE_EXAMPLES,
        (*without(QUESTION, "target"), *FEW_DRAWS, LADDER, *ROWS, FORMAT, OUTPUT, MOST, *TALK, THREADS),
    ),
    Command(
        "densities",
        "where the good values of a parameter lie",
        DENSITIES_EXAMPLES,
        (*FULL, FORMAT, OUTPUT, THREADS),
        names="which parameters (default: the three most important)",
    ),
    Command(
        "interactions",
        "pairs of parameters that matter together",
        INTERACTIONS_EXAMPLES,
        (
            *QUESTION,
            ORDER,
            CELLS,
            *(BY_NAME[name] for name in ("estimator", "of", "seed")),
            *ROWS,
            TOP,
            FORMAT,
            OUTPUT,
            *TALK,
            THREADS,
        ),
        SOURCE_HELP,
    ),
    Command(
        "compare",
        "PED-ANOVA beside f-ANOVA by counts and by a forest",
        COMPARE_EXAMPLES,
        (*QUESTION[:2], BEST, WITHIN, BY_NAME["seed"], *IN_MEMORY, FORMAT, OUTPUT, *TALK, THREADS),
        SOURCE_HELP,
    ),
    Command(
        "reduce",
        "a smaller search space, with reasons",
        REDUCE_EXAMPLES,
        (
            *QUESTION[:3],
            WITHIN,
            KEEP,
            WIDEN,
            BY_NAME["estimator"],
            FOLDS,
            BY_NAME["seed"],
            *IN_MEMORY,
            TO,
            FORMAT,
            OUTPUT,
            *TALK,
            THREADS,
        ),
        SOURCE_HELP,
    ),
    Command(
        "along",
        "what matters at each budget, and where that settles",
        ALONG_EXAMPLES,
        (
            BUDGET,
            AT,
            AMONG,
            *QUESTION[:4],
            *MEASURE,
            BY_NAME["force"],
            *IN_MEMORY,
            STREAM,
            FORMAT,
            OUTPUT,
            *TALK,
            THREADS,
        ),
        SOURCE_HELP,
        module="studies",
    ),
    Command(
        "seeds",
        "how much the seed alone does, and what that leaves",
        SEEDS_EXAMPLES,
        (*QUESTION[:3], *IN_MEMORY, STREAM, FORMAT, OUTPUT, *TALK, THREADS),
        SOURCE_HELP,
        module="studies",
    ),
    Command(
        "across",
        "what matters over many studies",
        ACROSS_EXAMPLES,
        (GROUP, *without(FULL, "region_box", "within"), FORMAT, OUTPUT, *TALK, THREADS),
        others="further studies; or one table and --group",
        module="studies",
    ),
    Command(
        "difference",
        "what matters more in one study than in another",
        DIFFERENCE_EXAMPLES,
        (*without(FULL, "region_box", "within"), FORMAT, OUTPUT, *TALK, THREADS),
        others="the study to compare with",
        module="studies",
    ),
    Command(
        "report",
        "everything as one HTML page that needs no network",
        REPORT_EXAMPLES,
        (*FULL, BUDGET, GROUP_BESIDE, PAGE, TITLE, OPEN, THREADS),
        module="pages",
    ),
    Command(
        "explore",
        "a live page: brush, and see what matters there",
        EXPLORE_EXAMPLES,
        (GROUP_BESIDE, *without(FULL, "region_box", "within"), WATCH, TITLE, PORT, SHOW, THREADS),
        module="pages",
    ),
    Command(
        "space",
        "the search space, to edit and pass as --space",
        SPACE_EXAMPLES,
        (COLUMN, *(BY_NAME[name] for name in ("params", "exclude", "study")), OUTPUT, *TALK),
        SOURCE_HELP,
    ),
    Command("formats", "every kind of source, with an example each", "examples:\n  pedanova formats\n", source=None),
    Command(
        "demo",
        "analyze a real random search that ships with pedanova",
        DEMO_EXAMPLES,
        (replace(REPORT, help="write an HTML report there too"), EXPLORE, PORT, SHOW),
        source=None,
        module="pages",
    ),
)


class Parser(argparse.ArgumentParser):
    """argparse with one line for a mistake instead of the whole usage."""

    def error(self, message: str) -> NoReturn:
        end = "" if message.endswith("?") else ";"
        self.exit(2, f"{self.prog}: {printable(message)}{end} see {self.prog} --help\n")


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
    for command in COMMANDS:
        add_command(commands, command)
    return parser


def add_command(commands: Any, command: Command) -> None:
    made: argparse.ArgumentParser = commands.add_parser(
        command.name,
        help=command.what,
        description=f"{command.what[0].upper()}{command.what[1:]}.",
        epilog=command.examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage=f"{usage_of(command)} [options]",
    )
    if command.source:
        made.add_argument("file", metavar="SOURCE", help=command.source)
    if command.others:
        made.add_argument("others", metavar="SOURCE", nargs="*", help=command.others)
    if command.names:
        names = made.add_argument("names", metavar="NAME", nargs="*", help=command.names)
        names.names_columns = True  # type: ignore[attr-defined]
    titles = dict.fromkeys(option.group for option in command.options)
    groups = {title: made.add_argument_group(title) for title in titles}
    for option in command.options:
        add_option(groups[option.group], option)


def add_option(group: Any, option: Option) -> None:
    if option.help is None:
        return
    flags = [f"--{option.name.replace('_', '-')}"]
    flags = ["-o", *flags] if option.name == "output" else flags
    default = option.default if option.shell_default is None else option.shell_default
    shared = {"default": default, "help": option.help.replace("%", "%%")}
    if option.flag:
        action = "store_true" if option.default is False else argparse.BooleanOptionalAction
        made = group.add_argument(*flags, action=action, **shared)
    else:
        kinds = {"metavar": option.metavar, "choices": option.choices or None, "type": option.type}
        if option.several:
            kinds["action"] = "append"
        made = group.add_argument(*flags, **shared, **{key: kind for key, kind in kinds.items() if kind})
    made.names_columns = option.names_columns
