"""Parameters and their domains, grids that divide domains into cells, and export to the formats of other tools."""

from pedanova.space.parameters import Categorical, Float, Int, Moving, Ordinal, Parameter, Space, Switch, as_space

__all__ = ["Categorical", "Float", "Int", "Moving", "Ordinal", "Parameter", "Space", "Switch", "as_space"]
