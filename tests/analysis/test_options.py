"""One table of options: signatures, docstrings, the command line and completion say what it says."""

from __future__ import annotations

import argparse
import inspect
import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

import pedanova as pa
from helpers.common import refuse
from pedanova.analysis.options import OBJECTIVE, QUESTION, TABLE, AnalyzeCall, nested
from pedanova.cli.parser import COMMANDS, add_command, build_parser
from pedanova.data.options import Option, called_with, option, options_of
from pedanova.errors import QueryError, TooFewRowsError

IN_PYTHON_ALONE = ("engine", "levels", "names", "executor", "pushdown")


def defaults_of(function: object, *skipped: str) -> dict[str, Any]:
    parameters = inspect.signature(function).parameters.values()  # type: ignore[arg-type]
    return {p.name: p.default for p in parameters if p.name not in skipped}


def test_signatures() -> None:
    own = defaults_of(pa.analyze, "data", "reading", "scan")
    assert len(own) + 3 <= 16
    known = own | defaults_of(pa.Reading) | defaults_of(pa.Scan)
    assert len(known) == sum(len(defaults_of(kind)) for kind in (pa.Reading, pa.Scan)) + len(own)  # no name twice
    options = {option.name: option.default for option in (OBJECTIVE, *TABLE)}
    assert options == {name: value for name, value in known.items() if name not in IN_PYTHON_ALONE}
    assert defaults_of(pa.Analysis.importance, "self") == {option.name: option.default for option in QUESTION}
    with pytest.raises(TypeError, match=r"analyze\(\).*'trials'"):
        pa.analyze({}, trials=3)  # type: ignore[call-arg]


@dataclass(frozen=True, kw_only=True)
class More(AnalyzeCall):
    """`analyze` with one option more, as if it were written in its file."""

    keep_every: int = option("Use only every n-th row (default 1).", "rows", 1, metavar="N", type=int)


def test_a_new_field_is_in_the_signature_the_docstring_and_the_parser() -> None:
    @called_with(More)
    def thinned(call: More) -> int:
        """Count the rows.

        Parameters
        ----------
        {options}
        """
        return len(call.data[:: call.keep_every])  # type: ignore[index]

    commands = argparse.ArgumentParser().add_subparsers()
    add_command(commands, replace(COMMANDS[0], options=tuple(options_of(More))))
    given = commands.choices["analyze"]
    options = given.parse_args(["trials.csv", "--keep-every", "3"])
    assert thinned(list(range(12)), keep_every=options.keep_every) == 4
    assert inspect.signature(thinned).parameters["keep_every"].default == 1
    documented = " ".join((thinned.__doc__ or "").split())
    assert "keep_every Use only every n-th row (default 1)." in documented
    assert "--keep-every N" in given.format_help()
    assert "use only every n-th row (default 1)" in " ".join(given.format_help().split())


def actions_of(command: argparse.ArgumentParser) -> dict[str, argparse.Action]:
    return {action.dest: action for action in command._actions}


def test_the_command_line() -> None:
    (parsers,) = [one for one in build_parser()._actions if isinstance(one, argparse._SubParsersAction)]
    for command in COMMANDS:
        made = parsers.choices[command.name]
        actions = actions_of(made)
        for one in command.options:
            action = actions[one.name]
            assert action.help == one.help.replace("%", "%%")
            assert tuple(action.choices or ()) == one.choices
    typed = {one.name for command in COMMANDS for one in command.options}
    assert {o.name for o in (OBJECTIVE, *TABLE, *QUESTION)} <= typed


@pytest.mark.parametrize("option", [o for o in TABLE if o.choices and not o.several], ids=lambda o: o.name)
def test_choices_are_checked_before_anything_is_read(option: Option) -> None:
    for wrong in ("odd", 3, ["drop"]):
        message = refuse(
            QueryError,
            f"{option.name}={wrong!r}",
            of=lambda wrong=wrong: pa.analyze("none.csv", **nested({option.name: wrong})),
        )
        assert all(repr(choice) in message for choice in option.choices)


def test_a_refusal_for_want_of_rows_says_where_they_went_and_what_works() -> None:
    rng = np.random.default_rng(0)
    table = {"x": rng.uniform(size=90), "budget": np.arange(90) % 23, "loss": rng.uniform(size=90)}
    a = pa.analyze(table, "loss", where="budget == 2", params=["x"])
    refuse(
        TooFewRowsError, "1 of 4 rows", "budget == 2", "run more trials", "force=True", of=lambda: a.importance(0.05)
    )
    assert len(a.importance(0.05, force=True, estimator="counts", draws=0)) == 1
    few = np.arange(90) < 4
    message = refuse(TooFewRowsError, "4 of 90", "target=", of=lambda: pa.analyze(table, "loss").importance(few))
    target = float(re.search(r"target=([0-9.]+)", message).group(1))  # type: ignore[union-attr]
    assert len(pa.analyze(table, "loss", params=["x"]).importance(target, estimator="counts", draws=0)) == 1
