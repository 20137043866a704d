"""pedanova: which hyperparameters matter, where, and how surely.

>>> import pedanova as pa
>>> a = pa.analyze("trials.csv", objective="error")  # doctest: +SKIP
>>> a.importance(target=0.1)                         # doctest: +SKIP
"""

from pedanova.analysis import Analysis, load
from pedanova.errors import PedanovaError
from pedanova.importance import Importance, Importances
from pedanova.levels import Levels
from pedanova.pipeline import analyze
from pedanova.regions import Region, at_least, at_most, between, equals
from pedanova.results import Comparison, Densities, Profile
from pedanova.space import Categorical, Float, Int, Moving, Ordinal, Space, Switch
from pedanova.tally import Tally
from pedanova.versions import __version__, show_versions

__all__ = [
    "Analysis",
    "Categorical",
    "Comparison",
    "Densities",
    "Float",
    "Importance",
    "Importances",
    "Int",
    "Levels",
    "Moving",
    "Ordinal",
    "PedanovaError",
    "Profile",
    "Region",
    "Space",
    "Switch",
    "Tally",
    "__version__",
    "analyze",
    "at_least",
    "at_most",
    "between",
    "equals",
    "load",
    "show_versions",
]
