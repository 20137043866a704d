"""Commands that say what to do: what tuning wins, what to run next, and all findings in short."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict

from pedanova.cli.inputs import opened, parse_rows, source_opened, split_names
from pedanova.cli.output import answer, as_rows, emit
from pedanova.errors import QueryError
from pedanova.measures.advice.gains import Gains
from pedanova.measures.advice.next_trials import NextTrials
from pedanova.report.terminal.tables import TerminalStyle, declared

WINS = (
    "wins: what tuning this parameter alone wins. wrong costs: what its worst value loses. if left: what is lost at "
    "most where it stays at its default and all others are tuned. safe: all that are may stay together."
)

MARKED = "Keep the column pedanova_next: it tells a later analysis that these trials were chosen, and not drawn evenly."


def run_gains(options: argparse.Namespace) -> int:
    a = opened(options)
    result = a.gains(parse_default(options.default), parse_rows(options.region, "region"), seed=options.seed)
    more = {
        "region": result.region,
        "default": dict(result.default),
        "best": dict(result.best),
        "total": asdict(result.total),
        "path": as_rows(result.path.to_dict()),
        "safe": result.safe,
        "safe_loss": result.safe_loss,
        "tolerance": result.tolerance,
    }
    return answer(options, result, draw_gains, a=a, key="gains", more=more, notes=[*result.notes, *a.notes])


def run_next(options: argparse.Namespace) -> int:
    a = source_opened(options)
    rules = " and ".join(f"({rule})" for rule in options.within or ()) or None
    result = a.next_trials(options.number, options.goal, within=rules, seed=options.seed)
    if options.format == "json":
        emit(result.to_json(), options.output)
        return 0
    needed = a.needed(seed=options.seed, force=True).summary()

    def drawn(trials: NextTrials, look: TerminalStyle) -> str:
        return look.titled("Run next", look.table(trials.printed()), MARKED, needed)

    return answer(options, result, drawn, a=a, notes=[*result.notes, *a.notes])


def run_brief(options: argparse.Namespace) -> int:
    brief = opened(options).brief(seed=options.seed)
    emit(brief.to_json() if options.format == "json" else f"{brief.to_text()}\n", options.output)
    return 0


def draw_gains(gains: Gains, look: TerminalStyle) -> str:
    """The table, what its columns mean, and the way from the default to the best."""
    words = look.titled(gains.heading(), look.table(declared(gains)), WINS, gains.summary())
    if look.alone or not gains.path.rows:
        return words
    return f"{words}\n\n{look.titled('From the default to the best', look.table(declared(gains.path)))}"


def parse_default(texts: Sequence[str] | None) -> dict[str, object] | None:
    """``lr=1e-3,optimizer=adam`` as a dict of texts, which the space reads."""
    if not texts:
        return None
    values: dict[str, object] = {}
    for text in split_names(list(texts)) or []:
        name, equal, value = text.partition("=")
        if not equal or not name.strip() or not value.strip():
            raise QueryError(f"--default {text!r} must be NAME=VALUE, such as lr=0.001")
        values[name.strip()] = value.strip()
    return values
