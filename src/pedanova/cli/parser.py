"""The commands of the command line, their options, and examples, which the tests run."""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NoReturn

from pedanova.analysis.options import BY_NAME, OBJECTIVE, TABLE
from pedanova.analysis.options import ROWS as CHOICES
from pedanova.base.kernel import library as kernel
from pedanova.base.terminal import printable
from pedanova.base.version import __version__
from pedanova.data.options import Option
from pedanova.measures.question import HOW
from pedanova.space.exports import FORMS

FORMATS = ("text", "csv", "json", "markdown", "latex")
SOURCE_HELP = "a table, or the log of a tool: a file, a folder or a URL (for a list: pedanova formats)"
SAVED_HELP = f"{SOURCE_HELP}; or a saved .pedanova file"


def at_least_0(text: str) -> int:
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{text} must be 0 or more")
    return number


output = partial(Option, group="output")
WITHIN = Option("within", None,
    "use only rows that meet this condition; quantiles then refer to these rows. May be given several times",
    metavar="CONDITION", several=True)  # fmt: skip
OUTPUT = output("output", None, "write to this file instead of the terminal", metavar="FILE")
FORMAT = output("format", "text", "the output format (default text)", choices=FORMATS)
NOTES = output("notes", False, "print all notes in full (default: the three most important)", flag=True)
ROLES = output("roles", False, "instead of the ranking, print the role of every column and the reason", flag=True)
QUIET = output("quiet", False, "print only the table", flag=True)
SAVE = output("save", None, "save the counts in a .pedanova file, for later questions", metavar="FILE")
SAVE_ROWS = output("save_rows", None, "save the rows too, even if there are more than 20,000", flag=True)
REPORT = output("report", None, "also write an HTML report to this file", metavar="FILE")
PAGE = output("output", "report.html", "the file to write (default report.html)", metavar="FILE")
TITLE = output("title", None, "the title of the page (default: the name of the source)", metavar="TEXT")
OPEN = output("open", False, "open the page in the browser", flag=True)
SHOW = replace(OPEN, default=True)
PORT = output("port", 0, "the port of the page on this machine (default: a free port)", metavar="N", type=int)
WATCH = Option("watch", False, "follow the source while it grows: new trials appear within seconds", flag=True)
EXPLORE = output("explore", False, "also open a live page of these trials in the browser", flag=True)
GROUP = Option("group", None, "the column that names the study of each row", metavar="COLUMN")
GROUP_BESIDE = replace(GROUP, help="a column that names each row's study; the studies' rankings are shown side by side")
COLUMNS = output("columns", "few", "all: add the columns ratio, divergence and raw share (default few)",
    choices=("few", "all"))  # fmt: skip
TOP = output("top", 15, "number of pairs to print (default 15; 0: all)", metavar="N", type=at_least_0)
MOST = replace(TOP, default=20, help="number of parameters to print (default 20; 0: all)")
TO = output("to", None, "print the smaller space in the format of this tool", choices=FORMS)
LADDER = Option("ladder", None, "targets, such as 0.01,0.1 (default: several quantiles)", metavar="T,T,…", several=True)
ORDER = Option("order", 2, "parameters in a set: 2 for pairs (default), up to 5", choices=(2, 3, 4, 5), type=int)  # type: ignore[arg-type]
CELLS = Option("cells", "auto", "number of cells for each parameter (default: 8, or 4 for few rows)", metavar="N")
BUDGET = Option(
    "budget", None, "a column of budgets, or 'step' for the intermediate values of a log (default: from the source)",
    metavar="COLUMN",
)  # fmt: skip
AT = Option("at", None, "budgets to show, such as 1,5,50 (default: at most about twelve)", metavar="B,B,…",
    several=True)  # fmt: skip
AMONG = Option(
    "among", "all", "all (default): trials with a value at the budget; full: trials that reached the full budget",
    choices=("all", "full"),
)  # fmt: skip
KEEP = Option("keep", 0.9, "the smaller space contains this part of the best points (default 0.9)", metavar="K",
    type=float)  # fmt: skip
WIDEN = Option("widen", False, "extend a range if good values are most frequent at its bound", flag=True)
DEFAULT = Option("default", None,
    "the default configuration, such as layers=2,optimizer=sgd (default: from the source, or the best trial)",
    metavar="V", several=True)  # fmt: skip
BY = Option("by", "measure",
    "measure (default); objective: each of several objectives; level: the first objective at levels of the second",
    choices=("measure", "objective", "level"))  # fmt: skip
LIMIT = Option("limit", None, "with several objectives: the worst allowed value of all but one, such as latency=12",
    metavar="V", several=True)  # fmt: skip
NUMBER = Option("number", 10, "number of trials to propose (default 10)", metavar="N", type=int)
GOAL = Option("goal", "both",
    "know: trials that make the ranking more certain; win: trials that are probably good; both (default): some of each",
    choices=("know", "win", "both"))  # fmt: skip
ALLOWED = replace(WITHIN, help='a condition for the proposed trials, such as "depth > 2". May be given several times')
BRIEF_FORMAT = replace(FORMAT, choices=("text", "json"))
FOLDER = Option("folder", ".", "read files only from this folder (default: the current folder)", metavar="FOLDER")
BEST = replace(BY_NAME["target"],
    help=f"the rows that count as good, as a quantile (default {BY_NAME['target'].default:g})")  # fmt: skip
PART = replace(BY_NAME["region"], help="the rows to compare the target with, as a quantile (default 1.0: all rows)")
USED = replace(BY_NAME["region"], help=f"the rows to use: {CHOICES} (default 1.0: all rows)")
LIVE = [
    replace(option, help=f"{what}: a quantile, or values such as '<= 0.03' (default {option.default:g})")
    for option, what in ((BY_NAME["target"], "the good rows"), (BY_NAME["region"], "the rows to compare with"))
]
COLUMN = replace(OBJECTIVE, help="the column to optimise; it is not a parameter")

QUESTION = [OBJECTIVE, *(BY_NAME[name] for name in ("direction", "target", "region")), WITHIN]
MEASURE = [BY_NAME[name] for name in HOW if name != "force"]
FEW_DRAWS = [replace(option, default=0) if option.name == "draws" else option for option in MEASURE]
IN_MEMORY = [option for option in TABLE if option.group in ("columns", "rows")]
ROWS = [*IN_MEMORY, *(option for option in TABLE if option.group == "large tables")]
THREADS, STREAM, ESTIMATOR, SEED = (BY_NAME[name] for name in ("threads", "stream", "estimator", "seed"))
FULL = [*QUESTION, *MEASURE, BY_NAME["force"], *ROWS]
OF_STUDIES = [option for option in FULL if option is not WITHIN]
TALK = (NOTES, QUIET, THREADS)
PRINT = (FORMAT, OUTPUT, *TALK)

USUAL_EXAMPLES = """
  pedanova demo
  pedanova analyze trials.csv --objective error
  pedanova densities trials.csv learning_rate --objective error
  pedanova report trials.csv --objective error -o report.html
"""
EXAMPLES = """
  pedanova analyze trials.parquet --objective accuracy --direction maximize \\
      --target 0.01 --region 0.1
  pedanova analyze trials.csv --objective error --format json -o importance.json
  pedanova analyze trials.csv --objective error \\
      --where "epochs >= 10 and optimizer == 'adam'"
  pedanova analyze trials.csv --objective loss --objective latency --feasible memory_over
  pedanova analyze optuna.db --study mlp --target 0.05
  pedanova profile trials.csv --objective error
  pedanova profile trials.csv --objective error --ladder 0.01,0.05,0.1,0.25
  pedanova densities trials.csv --objective error
  pedanova densities trials.csv learning_rate optimizer --objective error --target 0.05
  pedanova interactions trials.csv --objective error
  pedanova interactions trials.csv --objective error --target 0.2 --top 5
  pedanova interactions trials.csv --objective error --order 3
  pedanova compare trials.csv --objective error --exclude seed,train_seconds
  pedanova compare trials.csv --objective error --objective latency --by level
  pedanova reduce trials.csv --objective error
  pedanova reduce trials.csv --objective error --to code
  pedanova reduce optuna.db --study mlp --to wandb -o sweep.yaml
  pedanova gains trials.csv --objective error --exclude seed,train_seconds
  pedanova gains trials.csv --objective error --default layers=2,optimizer=sgd
  pedanova gains trials.csv --objective error --objective latency --limit latency=12
  pedanova next trials.csv --objective error --exclude seed,train_seconds
  pedanova next trials.csv --objective error --goal win --number 4 --format csv -o next.csv
  pedanova brief trials.csv --objective error --exclude seed,train_seconds
  pedanova brief trials.csv --objective error --format json
  pedanova along trials.csv --objective error --budget epochs
  pedanova along trials.csv --objective error --budget epochs --at 5,10,20 --target 0.2
  pedanova along optuna.db --study mlp --budget step
  pedanova seeds trials.csv --objective error --params layers,optimizer
  pedanova across trials.csv --objective error --group optimizer
  pedanova across trials.csv trials.parquet --objective error --estimator counts
  pedanova difference trials.csv trials.parquet --objective error
  pedanova report trials.csv --objective error -o report.html
  pedanova report optuna.db --study mlp -o report.html
  pedanova report trials.csv --objective error --target 0.05 --title "My search"
  pedanova explore trials.csv --objective error
  pedanova explore optuna.db --study mlp --target 0.05
  pedanova explore trials.parquet --objective accuracy --port 8080 --no-open
  pedanova explore optuna.db --watch
  pedanova space trials.csv --objective error -o space.json
  pedanova demo
  pedanova demo --report report.html
  pedanova demo --explore
  pedanova mcp --folder runs
  pedanova formats
"""


@dataclass(frozen=True, slots=True)
class Command:
    """One command: its purpose, its options in the order of the help, and how it is answered."""

    name: str
    what: str
    options: tuple[Option, ...] = ()
    source: str | None = SAVED_HELP
    names: str | None = None  # names of parameters after the source
    others: str | None = None  # further sources
    module: str = "commands"  # the module of this package that runs it
    json: tuple[str, ...] = ()  # what JSON contains besides the rows: attributes of the result, or name=attribute
    rows: str = ""  # the name of the rows in JSON, if it is not the name of the command
    table_notes: bool = False  # whether the notes on the table are printed too

    @property
    def examples(self) -> str:
        return "".join(re.findall(rf"^  pedanova {self.name}\b.*\n(?:      .*\n)*", EXAMPLES, re.MULTILINE))


def usage_of(command: Command) -> str:
    """The command as it is typed, without its options."""
    parts = ["SOURCE"] * bool(command.source) + ["[NAME …]"] * bool(command.names)
    parts += ["SOURCE" if command.name == "difference" else "[SOURCE …]"] * bool(command.others)
    return " ".join(["pedanova", command.name, *parts])


COMMANDS = (
    Command("analyze", "rank the hyperparameters of a table of trials",
        (*FULL, SAVE, SAVE_ROWS, REPORT, FORMAT, OUTPUT, COLUMNS, MOST, ROLES, *TALK),
        json=("target", "region", "baseline", "estimator", "conclusion=summary"), rows="importance"),
    Command("profile", "the ranking for several targets, from strict to wide",
        (*(o for o in QUESTION if o.name != "target"), *FEW_DRAWS, LADDER, *ROWS, FORMAT, OUTPUT, MOST, *TALK),
        json=("region", "estimator", "baseline")),
    Command("densities", "the good values of a parameter, as a plot", (*FULL, FORMAT, OUTPUT, THREADS),
        names="the parameters to show (default: the three most important)"),
    Command("interactions", "pairs of parameters that interact",
        (*QUESTION, ORDER, CELLS, ESTIMATOR, BY_NAME["of"], SEED, *ROWS, TOP, *PRINT), SOURCE_HELP,
        json=("target", "region", "cells")),
    Command("compare", "measures, objectives or levels of one side by side",
        (*QUESTION[:2], BEST, BY, WITHIN, SEED, *IN_MEMORY, *PRINT), SOURCE_HELP, json=("measures=to_dict", "meanings"),
        rows="measures", table_notes=True),
    Command("reduce", "a smaller search space, with reasons", (*QUESTION[:3], WITHIN, KEEP, WIDEN, ESTIMATOR, SEED,
        *IN_MEMORY, TO, *PRINT), SOURCE_HELP, json=("target", "space", "summary"), rows="verdicts", table_notes=True),
    Command("gains", "how much is gained by tuning each parameter",
        (*QUESTION[:2], USED, WITHIN, DEFAULT, LIMIT, SEED, *IN_MEMORY, *PRINT), SOURCE_HELP,
        json=("region", "limit", "default", "best", "total", "path", "safe", "safe_loss", "tolerance"),
        table_notes=True),
    Command("next", "which trials to run next, and how many are needed",
        (NUMBER, GOAL, *QUESTION[:2], ALLOWED, SEED, *IN_MEMORY, *PRINT), SOURCE_HELP),
    Command("brief", "the advice in nine lines, for people and agents",
        (*QUESTION[:2], WITHIN, SEED, *IN_MEMORY, BRIEF_FORMAT, OUTPUT, THREADS)),
    Command("along", "what matters at each budget (epochs, steps)",
        (BUDGET, AT, AMONG, *QUESTION[:2], BEST, PART, *MEASURE, BY_NAME["force"], *IN_MEMORY, STREAM, *PRINT),
        SOURCE_HELP, json=("target", "region", "since", "budget=name", "full=full.budget", "in_words=summary",
        "left_out")),
    Command("seeds", "how much of the result is due to the random seed", (*QUESTION[:3], *IN_MEMORY, STREAM, *PRINT),
        SOURCE_HELP, json=("configurations", "repeated", "target")),
    Command("across", "what matters over many studies", (GROUP, *OF_STUDIES, *PRINT),
        others="further studies (not together with --group)", json=("target", "region")),
    Command("difference", "what matters more in one study than in another", (*OF_STUDIES, *PRINT),
        others="the study to compare with", json=("studies=names", "relation=relation.kind",
        "same_space=relation.space", "drawn_differently=relation.drawn")),
    Command("report", "everything in one HTML file that works offline",
        (*FULL, BUDGET, GROUP_BESIDE, PAGE, TITLE, OPEN, THREADS), module="pages"),
    Command("explore", "a live page: select rows, and see what matters",
        (GROUP_BESIDE, *OF_STUDIES[:2], *LIVE, *OF_STUDIES[4:], WATCH, TITLE, PORT, SHOW, THREADS), module="pages"),
    Command("space", "print the search space, to edit and pass as --space",
        (COLUMN, *(BY_NAME[name] for name in ("params", "exclude", "study")), OUTPUT, NOTES,
        replace(QUIET, help="print only the space")), SOURCE_HELP),
    Command("mcp", "an MCP server: agents can analyse files in a folder", (FOLDER,), source=None, module="mcp_server"),
    Command("formats", "all kinds of sources, each with an example", source=None),
    Command("demo", "analyse a real random search that comes with pedanova", (REPORT, EXPLORE, PORT, SHOW), source=None,
        module="pages"),
)  # fmt: skip
BY_COMMAND = {command.name: command for command in COMMANDS}


class Parser(argparse.ArgumentParser):
    """An argparse parser that prints one line for a mistake instead of the whole usage."""

    def error(self, message: str) -> NoReturn:
        end = "" if message.endswith("?") else ";"
        self.exit(2, f"{self.prog}: {printable(message)}{end} see {self.prog} --help\n")


def build_parser(only: str | None = None) -> Parser:
    """The parser for all commands; with `only`, for one command, which is faster."""
    parser = Parser(
        prog="pedanova",
        description="Which hyperparameters matter, over all trials and among the best ones.",
        epilog=f"examples:{USUAL_EXAMPLES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    version = f"pedanova {__version__} (counting: {kernel.describe()})"
    parser.add_argument("--version", action="version", version=version)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    for command in COMMANDS:
        if only in (None, command.name):
            add_command(commands, command)
    return parser


def add_command(commands: Any, command: Command) -> None:
    made: argparse.ArgumentParser = commands.add_parser(
        command.name,
        help=command.what,
        description=f"{command.what[0].upper()}{command.what[1:]}.",
        epilog=f"examples:\n{command.examples}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage=f"{usage_of(command)} [options]",
    )
    if command.source:
        made.add_argument("file", metavar="SOURCE", help=command.source)
    if command.others:
        made.add_argument("others", metavar="SOURCE", nargs="*", help=command.others)
    if command.names:
        made.add_argument("names", metavar="NAME", nargs="*", help=command.names)
    titles = dict.fromkeys(option.group for option in command.options)
    groups = {title: made.add_argument_group(title) for title in titles}
    for option in command.options:
        add_option(groups[option.group], option)


def add_option(group: Any, option: Option) -> None:
    flags = ["-o", option.switch] if option.name == "output" else [option.switch]
    shared = {"default": option.typed_default, "help": option.help.replace("%", "%%")}
    if option.flag:
        action = "store_true" if option.default is False else argparse.BooleanOptionalAction
        group.add_argument(*flags, action=action, **shared)
    else:
        kinds = {"metavar": option.metavar, "choices": option.choices or None, "type": option.type}
        if option.several:
            kinds["action"] = "append"
        group.add_argument(*flags, **shared, **{key: kind for key, kind in kinds.items() if kind})
