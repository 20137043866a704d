"""Parameters and their domains, grids that divide domains into cells, and export to the formats of other tools.

For a new kind of domain, follow `Ordinal` through `parameters.py`, `grid.py`, `comparison.py` and `exports.py`, and
then through every `match` on parameters. For a new format to write, copy a function of `exports.py`.
"""

from pedanova.space.parameters import Categorical, Float, Int, Moving, Ordinal, Parameter, Space, Switch, as_space

__all__ = ["Categorical", "Float", "Int", "Moving", "Ordinal", "Parameter", "Space", "Switch", "as_space"]
