"""The reference, written from the package itself: public names, commands, notes and errors."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any, get_args

import messages
import words

import pedanova
from pedanova import errors
from pedanova.base import notes
from pedanova.base.notes import SEVERITIES, Kind
from pedanova.base.table import Table

GROUPS: dict[str, tuple[str, list[str]]] = {  # page: title and names; what is public and not named stands on the last
    "analysis": ("Ask", ["analyze", "load", "Analysis", "Reading", "Scan"]),
    "figures": (
        "Figures",
        [
            "report.figures.plots.Plots", "report.figures.studies.AcrossPlots",
            "report.figures.studies.DifferencePlots",
        ],
    ),
    "rows": ("Targets and regions", ["at_most", "at_least", "between", "Region"]),
    "answers": (
        "Answers",
        [
            "base.table.Table", "results.Importances", "results.Importance", "results.Profile", "results.Densities",
            "results.Interactions", "results.Interaction",
            "results.Effects", "results.Effect", "results.Marginal", "results.ForestEffects",
            "forest_effects", "results.Comparison", "Trials", "results.History", "results.LearningCurves",
        ],
    ),
    "studies": (
        "Several studies, budgets and seeds",
        [
            "across", "results.Across", "measures.studies.across.PooledShare", "measures.studies.prior.SearchPrior",
            "difference", "results.StudyDifferences", "results.Differences", "results.Difference", "results.Along",
            "results.Seeds",
        ],
    ),
    "advice": (
        "What to do",
        [
            "results.Gains", "results.Gain", "results.Amount", "results.AblationPath", "results.PathStep",
            "results.NextTrials", "results.NextTrial", "results.Needed", "results.NeededTrials", "results.Estimate",
            "results.StopAdvice", "results.Brief", "results.BriefLine",
        ],
    ),
    "reduction": ("Smaller spaces", ["results.ReducedSpace", "results.Verdict", "results.Evidence"]),
    "spaces": (
        "Search spaces",
        ["Float", "Int", "Ordinal", "Categorical", "Moving", "Switch", "Space", "space_from", "guess_space"],
    ),
    "counts": ("Counts", ["Levels", "Tally"]),
    "more": (
        "Tools",
        ["integrations.optuna.PedAnovaEvaluator", "sources.read_records", "demo_trials", "show_versions"],
    ),
}  # fmt: skip
OPAQUE = ("Region", "Levels", "Tally", "Reading", "Scan")  # carried about, not asked
INTERNAL = ("drawn", "drawings")  # for whoever draws
BESIDE = ("__version__", "PedanovaError")  # documented elsewhere


def named() -> Iterator[str]:
    for _, names in GROUPS.values():
        yield from names


def groups() -> dict[str, tuple[str, list[str]]]:
    """`GROUPS`, with every public name that none of them has on the last page."""
    known = {*named(), *BESIDE}
    rest = [name for name in pedanova.__all__ if name not in known]
    return {page: (title, [*names, *(rest if page == "more" else ())]) for page, (title, names) in GROUPS.items()}


def thing(name: str) -> Any:
    """What a public name stands for; names with dots are modules of the package."""
    from importlib import import_module

    module, _, last = name.rpartition(".")
    return getattr(import_module(f"pedanova.{module}") if module else pedanova, last)


def members(cls: type) -> dict[str, Any]:
    """Public methods and properties of a class as they were written; fields stand in its docstring."""
    found = {}
    for name in dir(cls):
        owner = next((base for base in cls.__mro__ if name in vars(base)), None)
        if owner is None or not owner.__module__.startswith("pedanova") or not is_public(cls, name):
            continue
        raw = vars(owner)[name]
        if inspect.isfunction(raw) or isinstance(raw, property | classmethod | staticmethod | cached_property):
            found[name] = raw
    return found


def is_public(cls: type, name: str) -> bool:
    if name.startswith("_"):
        return False
    if issubclass(cls, Table):  # what every table does is said once
        return name not in (*cls.internal, *INTERNAL) and (cls is Table or name not in vars(Table))
    return cls.__name__ not in OPAQUE


def pages() -> dict[str, str]:
    """Every generated page of the reference by its name."""
    made = {f"api/{page}": api_page(title, names) for page, (title, names) in groups().items()}
    return made | {
        "index": index_page(),
        "command-line": words.COMMANDS,
        "notes": notes_page(),
        "errors": errors_page(),
    }


def api_page(title: str, names: list[str]) -> str:
    blocks = "\n".join(api_entry(name) for name in names)
    return f"# {title}\n\n{blocks}"


def api_entry(name: str) -> str:
    found = thing(name)
    last = name.rpartition(".")[2]
    target = f"pedanova.{name}"
    if not inspect.isclass(found):
        return f"## {last}\n\n```{{eval-rst}}\n.. autofunction:: {target}\n```\n"
    lines = [f".. autoclass:: {target}", ""]
    for member, raw in members(found).items():
        kind = "autoproperty" if isinstance(raw, property | cached_property) else "automethod"
        kind = "autoattribute" if isinstance(raw, cached_property) else kind
        lines += [f"   .. {kind}:: {target}.{member}"]
    return f"## {last}\n\n```{{eval-rst}}\n" + "\n".join(lines) + "\n```\n"


INDEX = """# Reference

Everything that is public: what is not here may change without a word ([stability](../stability.md)).

| page | holds |
|---|---|
{table}
| [Command line](command-line.md) | every command with its options |
| [Notes](notes.md) | what a note says, and what to do |
| [Errors](errors.md) | what is refused, and what to do |
| [File format](../file-format.md) | the bytes of a saved analysis |

```{{toctree}}
:hidden:
:maxdepth: 1

{trees}
```
"""


def index_page() -> str:
    lines = []
    for page, (title, names) in groups().items():
        links = ", ".join(f"[`{name.rpartition('.')[2]}`](api/{page}.md#{anchor(name)})" for name in names)
        lines.append(f"| [{title}](api/{page}.md) | {links} |")
    return INDEX.format(table="\n".join(lines), trees="\n".join(f"api/{page}" for page in groups()))


def anchor(name: str) -> str:
    return name.rpartition(".")[2].lower()


def notes_page() -> str:
    said = [message for message in messages.messages() if message.kind in get_args(Kind)]
    parts = []
    for kind, about in kinds_of_notes().items():
        head = f"{about[0].upper()}{about[1:]}; of severity `{SEVERITIES.get(kind, 'info')}`."
        parts.append(f"\n## {kind}\n\n{head} **What to do:** {words.ADVICE[kind]}\n\n{bullets(said, kind)}")
    return words.NOTES.format(kinds="".join(parts))


def kinds_of_notes() -> dict[str, str]:
    """What each kind tells, as the comments beside `Kind` say it."""
    source = inspect.getsource(notes)
    return {kind: re.search(rf'"{kind}",  # (.+)', source)[1] for kind in get_args(Kind)}


def exceptions() -> list[type]:
    found = [cls for cls in vars(errors).values() if inspect.isclass(cls) and issubclass(cls, errors.PedanovaError)]
    return [cls for cls in found if cls is not errors.PedanovaError]


def errors_page() -> str:
    said = messages.messages()
    parts = []
    for cls in exceptions():
        doc = f"```{{eval-rst}}\n.. autoexception:: pedanova.errors.{cls.__name__}\n   :show-inheritance:\n```\n"
        parts.append(f"\n## {cls.__name__}\n\n{doc}\n{bullets(said, cls.__name__)}")
    return words.ERRORS.format(classes="".join(parts))


def bullets(said: list[messages.Message], kind: str) -> str:
    texts = sorted(
        {message.text for message in said if message.kind == kind}, key=lambda text: text.lstrip("… :").lower()
    )
    return "".join(f"- <span class='said'>{escaped(text)}</span>\n" for text in texts)


def escaped(text: str) -> str:
    """As plain text: nothing in a message is markup."""
    import html

    plain = html.escape(text, quote=False)
    return "".join(f"\\{letter}" if letter in "\\`*_{}[]|~$" else letter for letter in plain)
