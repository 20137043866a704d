"""The options of `pedanova check`: every one is a check, or says more of one."""

from __future__ import annotations

from typing import Any

from pedanova.analysis.options import Option

EXAMPLES = """examples:
  pedanova check trials.csv --objective error
  pedanova check trials.csv --objective error --max-noise 0.05 --noise seed
  pedanova check trials.csv --objective error --min-trials 100 --require learning_rate
  pedanova check trials.csv --objective error --sure-top 1 --format markdown
exit status: 0 all passed, 1 a check failed, 2 it could not be asked
"""


def asked(name: str, text: str, **more: Any) -> Option:
    return Option(name, more.pop("default", None), text, text, group="the question", **more)


def part(text: str) -> float:
    """A part of one, or a percentage."""
    number = float(text.rstrip("% ")) / (100 if text.endswith("%") else 1)
    if not 0 <= number <= 1:
        raise ValueError
    return number


part.__name__ = "part of 1"  # what argparse calls it
CHECKS = (
    asked("max_noise", "largest share that a column of luck may have, such as 0.05", metavar="P", type=part),
    asked(
        "noise",
        "which columns are luck (default: those named like seeds)",
        metavar="COLS",
        several=True,
        names_columns=True,
    ),
    asked("min_trials", "trials that must count", metavar="N", type=int),
    asked("max_dropped", "part of the trials that may have been left out", metavar="P", type=part),
    asked("best", "objective that the best trial must reach", metavar="V", type=float),
    asked(
        "require",
        "parameters that must be distinguishable from noise",
        metavar="COLS",
        several=True,
        names_columns=True,
    ),
    asked("sure_top", "so many parameters must be clearly ahead of all others", metavar="K", type=int),
    asked("signal", "some parameter must be distinguishable from noise", default=False, flag=True),
    asked("bounds", "good values must not pile up at a bound of the space", default=False, flag=True),
    asked("against", "a saved analysis; no share may differ clearly from it", metavar="FILE"),
)
