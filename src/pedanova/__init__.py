"""pedanova: which hyperparameters matter, where, and how surely.

>>> import pedanova as pa
>>> a = pa.analyze("trials.csv", objective="error")  # doctest: +SKIP
>>> a.importance(target=0.1)                         # doctest: +SKIP
"""

from pedanova.analysis import Analysis, analyze, load
from pedanova.errors import PedanovaError
from pedanova.importance import Importance, Importances
from pedanova.levels import Levels
from pedanova.regions import Region, at_least, at_most, between
from pedanova.results import Densities, Profile
from pedanova.space import Categorical, Float, Int, Ordinal, Space
from pedanova.tally import Tally
from pedanova.versions import __version__, show_versions

__all__ = [
    "Analysis",
    "Categorical",
    "Densities",
    "Float",
    "Importance",
    "Importances",
    "Int",
    "Levels",
    "Ordinal",
    "PedanovaError",
    "Profile",
    "Region",
    "Space",
    "Tally",
    "__version__",
    "analyze",
    "at_least",
    "at_most",
    "between",
    "load",
    "show_versions",
]
