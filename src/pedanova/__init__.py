"""pedanova: which hyperparameters matter, where their good values are, and how sure you can be.

>>> import pedanova as pa
>>> a = pa.analyze(pa.demo_trials(), objective="error")
>>> list(a.importance(target=0.1))[0]
'learning_rate'

Modules are imported at first use, so `import pedanova` is fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pedanova.analysis.analysis import Analysis
    from pedanova.analysis.analyze import analyze, guess_space, load
    from pedanova.analysis.studies import across, difference
    from pedanova.base.version import __version__
    from pedanova.cli.pages import demo_trials
    from pedanova.cli.program import show_versions
    from pedanova.counting.levels import Levels
    from pedanova.counting.tally import Tally
    from pedanova.data.options import Reading, Scan
    from pedanova.data.regions import Region, at_least, at_most, between
    from pedanova.data.trials import Trials
    from pedanova.errors import PedanovaError
    from pedanova.measures.forest import forest_effects
    from pedanova.sources.spaces.read import space_from
    from pedanova.space.parameters import Categorical, Float, Int, Moving, Ordinal, Space, Switch
    from pedanova.space.values import above, below

CONTENTS = {
    "base.version": ["__version__"],
    "analysis.studies": ["across", "difference"],
    "analysis.analysis": ["Analysis"],
    "analysis.analyze": ["analyze", "guess_space", "load"],
    "cli.program": ["show_versions"],
    "cli.pages": ["demo_trials"],
    "counting.levels": ["Levels"],
    "counting.tally": ["Tally"],
    "data.options": ["Reading", "Scan"],
    "data.regions": ["Region", "at_least", "at_most", "between"],
    "data.trials": ["Trials"],
    "errors": ["PedanovaError"],
    "measures.forest": ["forest_effects"],
    "sources.spaces.read": ["space_from"],
    "space.parameters": ["Categorical", "Float", "Int", "Moving", "Ordinal", "Space", "Switch"],
    "space.values": ["above", "below"],
}
ROOMS = ("errors", "results", "space")  # modules that users import from
HOMES = {name: module for module, names in CONTENTS.items() for name in names}

__all__ = [
    "Analysis", "Categorical", "Float", "Int", "Levels", "Moving", "Ordinal", "PedanovaError", "Reading", "Region",
    "Scan", "Space", "Switch", "Tally", "Trials", "__version__", "above", "across", "analyze", "at_least", "at_most",
    "below", "between", "demo_trials", "difference", "forest_effects", "guess_space", "load", "show_versions",
    "space_from",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in ROOMS:
        return import_module(f"pedanova.{name}")
    if name not in HOMES:
        raise AttributeError(f"module 'pedanova' has no attribute {name!r}")
    value = getattr(import_module(f"pedanova.{HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, *ROOMS])
