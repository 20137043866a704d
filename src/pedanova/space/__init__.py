"""Parameters and their domains, the grids that cut them into cells, and other tools' forms of both."""

from pedanova.space.parameters import Categorical, Float, Int, Moving, Ordinal, Parameter, Space, Switch, as_space

__all__ = ["Categorical", "Float", "Int", "Moving", "Ordinal", "Parameter", "Space", "Switch", "as_space"]
