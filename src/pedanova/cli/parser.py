"""The commands and their options. What an option means is written in `analysis.options`."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from pedanova.analysis.options import BY_NAME, OBJECTIVE, TABLE, Option
from pedanova.base.kernel import library as kernel
from pedanova.base.terminal import printable
from pedanova.base.version import __version__
from pedanova.cli import examples
from pedanova.space.exports import FORMS

FORMATS = ("text", "csv", "json", "markdown", "latex", "arrow")
SOURCE_HELP = "a table, or the log of a tool: a file, a folder or a URL (pedanova formats lists them)"
SAVED_HELP = f"{SOURCE_HELP}; or a saved .pedanova file"


def own(name: str, default: Any, text: str, **more: Any) -> Option:
    """An option that the command line alone has."""
    return Option(name, default, text, text, **more)


def at_least_0(text: str) -> int:
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{text} must be 0 or more")
    return number


def as_form(text: str) -> str:
    return "text" if text == "table" else text


BOX = own("region_box", None, "the rows to stand in, as NAME=LOW..HIGH or NAME=A,B", metavar="BOX", several=True)
WITHIN = own(
    "within",
    None,
    "the only rows to look at, as a condition; quantiles are then parts of these. Several must all hold",
    metavar="CONDITION",
    several=True,
)
DASK = own("dask", None, "let the workers of this Dask cluster read the files", group="large tables", metavar="ADDRESS")
OUTPUT = own("output", None, "write there instead of to the terminal", group="output", metavar="FILE")
FORMAT = own("format", "text", "how to print (default text)", group="output", choices=FORMATS, type=as_form)
NOTES = own("notes", False, "print every note in full, not only what may change the ranking", group="output", flag=True)
QUIET = own("quiet", False, "print the table alone", group="output", flag=True)
TALK = (NOTES, QUIET)
SAVE = own("save", None, "keep the counts in a .pedanova file, to ask again later", group="output", metavar="FILE")
SAVE_ROWS = own(
    "save_rows", False, "keep the rows in it too, so that the file can be asked everything", group="output", flag=True
)
REPORT = own("report", None, "write an HTML report as well", group="output", metavar="FILE")
PAGE = own("output", "report.html", "where to (default report.html)", group="output", metavar="FILE")
TITLE = own("title", None, "above the page (default: the name of the source)", group="output", metavar="TEXT")
OPEN = own("open", False, "show it in the browser", group="output", flag=True)
PORT = own(
    "port", 0, "of 127.0.0.1, where the page is served (default: a free one)", group="output", metavar="N", type=int
)
SHOW = own("open", True, "show it in the browser", group="output", flag=True)
WATCH = own("watch", False, "follow the source while it grows: new trials appear within seconds", flag=True)
EXPLORE = own("explore", False, "then explore these trials in the browser", group="output", flag=True)
GROUP = own("group", None, "the column that names the study of each row", metavar="COLUMN", names_columns=True)
GROUP_BESIDE = replace(GROUP, help="a column that names the study of each row: their rankings stand side by side")
TOP = own("top", 15, "pairs to print (default 15; 0: all)", group="output", metavar="N", type=at_least_0)
MOST = own("top", 20, "parameters to print (default 20; 0: all)", group="output", metavar="N", type=at_least_0)
TO = own("to", None, "write the space for a tool instead of the verdicts", group="output", choices=FORMS)
LADDER = own(
    "ladder", None, "targets, such as 0.01,0.1 (default: all that were counted)", metavar="T,T,…", several=True
)
ORDER = own("order", 2, "parameters of a set: 2 for pairs (default), up to 5", choices=(2, 3, 4, 5), type=int)
CELLS = own("cells", "auto", "of each parameter (default: 8, or 4 for few rows)", metavar="N")
BUDGET = own(
    "budget", None, "a column of budgets, or step for values on the way (default: what the source tells); "
    "or the objective at each: 5=loss_5,50=loss_50", metavar="COLUMN", names_columns=True,
)  # fmt: skip
AT = own("at", None, "budgets to ask, such as 1,5,50 (default: all, or a dozen)", metavar="B,B,…", several=True)
AMONG = own(
    "among", "all", "every trial that has a value there (default), or those that reached the full budget",
    choices=("all", "full"),
)  # fmt: skip
KEEP = own(
    "keep",
    0.95,
    "of the target's best tenth, the part that every narrowed parameter keeps (default 0.95)",
    metavar="K",
    type=float,
)
WIDEN = own("widen", False, "move bounds that good values pile up at, instead of saying so", flag=True)
FOLDS = own("folds", 5, "parts of the rows, each judged by the others", metavar="N", type=int)
BEST = replace(BY_NAME["target"], help="the best part of the rows (default 0.1)")
COLUMN = replace(OBJECTIVE, help="the column to optimise, which is no parameter")

QUESTION = [OBJECTIVE, *(BY_NAME[name] for name in ("direction", "target", "region")), BOX, WITHIN]
MEASURE = [BY_NAME[name] for name in ("baseline", "smoothing", "estimator", "of", "draws", "seed")]
FEW_DRAWS = [replace(option, default=0) if option.name == "draws" else option for option in MEASURE]
IN_MEMORY = [option for option in TABLE if option.group in ("columns", "rows")]
ROWS = [*IN_MEMORY, *(option for option in TABLE if option.group == "large tables"), DASK]
THREADS, STREAM = BY_NAME["threads"], BY_NAME["stream"]
FULL = [*QUESTION, *MEASURE, BY_NAME["force"], *ROWS]


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
        examples.ANALYZE_EXAMPLES,
        (*FULL, SAVE, SAVE_ROWS, REPORT, FORMAT, OUTPUT, MOST, *TALK, THREADS),
    ),
    Command(
        "profile",
        "the ranking for stricter and wider targets",
        examples.PROFILE_EXAMPLES,
        (*without(QUESTION, "target"), *FEW_DRAWS, LADDER, *ROWS, FORMAT, OUTPUT, MOST, *TALK, THREADS),
    ),
    Command(
        "densities",
        "where the good values of a parameter lie",
        examples.DENSITIES_EXAMPLES,
        (*FULL, FORMAT, OUTPUT, THREADS),
        names="which parameters (default: the three most important)",
    ),
    Command(
        "interactions",
        "pairs of parameters that matter together",
        examples.INTERACTIONS_EXAMPLES,
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
        examples.COMPARE_EXAMPLES,
        (*QUESTION[:2], BEST, WITHIN, BY_NAME["seed"], *IN_MEMORY, FORMAT, OUTPUT, *TALK, THREADS),
        SOURCE_HELP,
    ),
    Command(
        "reduce",
        "a smaller search space, with reasons",
        examples.REDUCE_EXAMPLES,
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
        module="spaces",
    ),
    Command(
        "along",
        "what matters at each budget, and where that settles",
        examples.ALONG_EXAMPLES,
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
        module="along",
    ),
    Command(
        "seeds",
        "how much the seed alone does, and what that leaves",
        examples.SEEDS_EXAMPLES,
        (*QUESTION[:3], *IN_MEMORY, STREAM, FORMAT, OUTPUT, *TALK, THREADS),
        SOURCE_HELP,
        module="along",
    ),
    Command(
        "across",
        "what matters over many studies",
        examples.ACROSS_EXAMPLES,
        (GROUP, *without(FULL, "region_box", "within"), FORMAT, OUTPUT, *TALK, THREADS),
        others="further studies; or one table and --group",
        module="studies",
    ),
    Command(
        "difference",
        "what matters more in one study than in another",
        examples.DIFFERENCE_EXAMPLES,
        (*without(FULL, "region_box", "within"), FORMAT, OUTPUT, *TALK, THREADS),
        others="the study to compare with",
        module="studies",
    ),
    Command(
        "report",
        "everything as one HTML page that needs no network",
        examples.REPORT_EXAMPLES,
        (*FULL, BUDGET, GROUP_BESIDE, PAGE, TITLE, OPEN, THREADS),
        module="pages",
    ),
    Command(
        "explore",
        "a live page: brush, and see what matters there",
        examples.EXPLORE_EXAMPLES,
        (GROUP_BESIDE, *without(FULL, "region_box", "within"), WATCH, TITLE, PORT, SHOW, THREADS),
        module="explore",
    ),
    Command(
        "space",
        "the search space, to edit and pass as --space",
        examples.SPACE_EXAMPLES,
        (COLUMN, *(BY_NAME[name] for name in ("params", "exclude", "study")), OUTPUT, *TALK),
        SOURCE_HELP,
        module="spaces",
    ),
    Command(
        "formats",
        "every kind of source, with an example each",
        "examples:\n  pedanova formats\n",
        source=None,
        module="spaces",
    ),
    Command(
        "demo",
        "analyze a real random search that ships with pedanova",
        examples.DEMO_EXAMPLES,
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
        epilog=examples.EXAMPLES,
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
