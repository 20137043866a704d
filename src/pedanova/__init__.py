"""pedanova: which hyperparameters matter, where, and how surely.

>>> import pedanova as pa
>>> a = pa.analyze("trials.csv", objective="error")  # doctest: +SKIP
>>> a.importance(target=0.1)                         # doctest: +SKIP

Names are loaded when they are first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pedanova.analysis import Analysis, load
    from pedanova.effects import Effect, Effects, Marginal
    from pedanova.errors import PedanovaError
    from pedanova.forest import axis_effects, forest_effects
    from pedanova.forestresults import AxisEffects, ForestEffects, ForestPairs
    from pedanova.importance import Importance, Importances
    from pedanova.interactions import Interaction, Interactions
    from pedanova.levels import Levels
    from pedanova.measures import Measures
    from pedanova.pipeline import analyze, guess_space
    from pedanova.profiles import Profile
    from pedanova.reducedspace import Evidence, ReducedSpace, Verdict
    from pedanova.regions import Region, at_least, at_most, between, equals
    from pedanova.results import Comparison, Densities
    from pedanova.sources.spaces import space_from
    from pedanova.space import Categorical, Float, Int, Moving, Ordinal, Space, Switch
    from pedanova.tally import Tally
    from pedanova.versions import __version__, show_versions

CONTENTS = {
    "analysis": ["Analysis", "load"],
    "effects": ["Effect", "Effects", "Marginal"],
    "errors": ["PedanovaError"],
    "forest": ["axis_effects", "forest_effects"],
    "forestresults": ["AxisEffects", "ForestEffects", "ForestPairs"],
    "importance": ["Importance", "Importances"],
    "interactions": ["Interaction", "Interactions"],
    "levels": ["Levels"],
    "measures": ["Measures"],
    "pipeline": ["analyze", "guess_space"],
    "profiles": ["Profile"],
    "reducedspace": ["Evidence", "ReducedSpace", "Verdict"],
    "regions": ["Region", "at_least", "at_most", "between", "equals"],
    "results": ["Comparison", "Densities"],
    "sources.spaces": ["space_from"],
    "space": ["Categorical", "Float", "Int", "Moving", "Ordinal", "Space", "Switch"],
    "tally": ["Tally"],
    "versions": ["__version__", "show_versions"],
}
HOMES = {name: module for module, names in CONTENTS.items() for name in names}

__all__ = [
    "Analysis",
    "AxisEffects",
    "Categorical",
    "Comparison",
    "Densities",
    "Effect",
    "Effects",
    "Evidence",
    "Float",
    "ForestEffects",
    "ForestPairs",
    "Importance",
    "Importances",
    "Int",
    "Interaction",
    "Interactions",
    "Levels",
    "Marginal",
    "Measures",
    "Moving",
    "Ordinal",
    "PedanovaError",
    "Profile",
    "ReducedSpace",
    "Region",
    "Space",
    "Switch",
    "Tally",
    "Verdict",
    "__version__",
    "analyze",
    "at_least",
    "at_most",
    "axis_effects",
    "between",
    "equals",
    "forest_effects",
    "guess_space",
    "load",
    "show_versions",
    "space_from",
]


def __getattr__(name: str) -> Any:
    if name in CONTENTS:  # a module of the package, such as pedanova.space
        return import_module(f"pedanova.{name}")
    if name not in HOMES:
        raise AttributeError(f"module 'pedanova' has no attribute {name!r}")
    value = getattr(import_module(f"pedanova.{HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
