"""Parameters and their domains, the grids that divide them into cells, and the formats of other tools."""

from pedanova.space.parameters import Categorical, Float, Int, Moving, Ordinal, Parameter, Space, Switch, as_space

__all__ = ["Categorical", "Float", "Int", "Moving", "Ordinal", "Parameter", "Space", "Switch", "as_space"]
