"""pedanova: which hyperparameters matter, where, and how surely.

>>> import pedanova as pa
>>> a = pa.analyze(pa.demo_trials(), objective="error")
>>> list(a.importance(target=0.1))[0]
'learning_rate'

Names are loaded when they are first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pedanova.analysis.across import Across, across
    from pedanova.analysis.analysis import Analysis
    from pedanova.analysis.analyze import analyze, guess_space, load
    from pedanova.analysis.difference import StudyDifferences, difference
    from pedanova.base.version import __version__
    from pedanova.cli.main import show_versions
    from pedanova.cli.pages import demo_trials
    from pedanova.counting.levels import Levels
    from pedanova.counting.tally import Tally
    from pedanova.data.regions import Region, at_least, at_most, between, equals
    from pedanova.data.trials import Trials
    from pedanova.errors import PedanovaError
    from pedanova.measures.densities import Densities
    from pedanova.measures.effects import Effect, Effects, Marginal
    from pedanova.measures.forest.forest import ForestEffects, ForestPairs, forest_effects
    from pedanova.measures.importance import Importance, Importances
    from pedanova.measures.interactions import Interaction, Interactions, SetInteraction
    from pedanova.measures.questions.compare import Comparison
    from pedanova.measures.studies.along import Along
    from pedanova.measures.studies.seeds import Seeds
    from pedanova.measures.studies.study_difference import Difference, Differences
    from pedanova.measures.surrogate.profile import Profile
    from pedanova.reduction.result import Evidence, ReducedSpace, Verdict
    from pedanova.sources.spaces.read import space_from
    from pedanova.space.parameters import Categorical, Float, Int, Moving, Ordinal, Space, Switch

CONTENTS = {
    "base.version": ["__version__"],
    "analysis.across": ["Across", "across"],
    "analysis.analysis": ["Analysis"],
    "analysis.analyze": ["analyze", "guess_space", "load"],
    "analysis.difference": ["StudyDifferences", "difference"],
    "cli.main": ["show_versions"],
    "cli.pages": ["demo_trials"],
    "counting.levels": ["Levels"],
    "counting.tally": ["Tally"],
    "data.regions": ["Region", "at_least", "at_most", "between", "equals"],
    "data.trials": ["Trials"],
    "errors": ["PedanovaError"],
    "measures.questions.compare": ["Comparison"],
    "measures.densities": ["Densities"],
    "measures.studies.study_difference": ["Difference", "Differences"],
    "measures.effects": ["Effect", "Effects", "Marginal"],
    "measures.forest.forest": ["ForestEffects", "ForestPairs", "forest_effects"],
    "measures.importance": ["Importance", "Importances"],
    "measures.interactions": ["Interaction", "Interactions", "SetInteraction"],
    "measures.studies.along": ["Along"],
    "measures.studies.seeds": ["Seeds"],
    "measures.surrogate.profile": ["Profile"],
    "reduction.result": ["Evidence", "ReducedSpace", "Verdict"],
    "sources.spaces.read": ["space_from"],
    "space.parameters": ["Categorical", "Float", "Int", "Moving", "Ordinal", "Space", "Switch"],
}
ROOMS = ("errors", "space")  # modules that users import from
HOMES = {name: module for module, names in CONTENTS.items() for name in names}

__all__ = [
    "Across",
    "Along",
    "Analysis",
    "Categorical",
    "Comparison",
    "Densities",
    "Difference",
    "Differences",
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
    "Moving",
    "Ordinal",
    "PedanovaError",
    "Profile",
    "ReducedSpace",
    "Region",
    "Seeds",
    "SetInteraction",
    "Space",
    "StudyDifferences",
    "Switch",
    "Tally",
    "Trials",
    "Verdict",
    "__version__",
    "across",
    "analyze",
    "at_least",
    "at_most",
    "between",
    "demo_trials",
    "difference",
    "equals",
    "forest_effects",
    "guess_space",
    "load",
    "show_versions",
    "space_from",
]


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
