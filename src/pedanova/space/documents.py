"""How domains describe themselves: as a short text, and what their arguments mean, which is the same for many."""

from __future__ import annotations

import inspect
from dataclasses import fields
from typing import TypeVar

WHEN = {"when": 'Conditions under which it exists, such as ``{"optimizer": ["sgd"]}``; always, where left out.'}
LOG = {"log": "Whether it lies on a log scale."}
ARGUMENTS: dict[str, dict[str, str]] = {
    "Float": {"low, high": "Its bounds, both included."} | LOG | WHEN,
    "Int": {"low, high": "Its bounds, both included.", "step": "From one value to the next."} | LOG | WHEN,
    "Ordinal": {"values": "In their order."} | WHEN,
    "Categorical": {"choices": "In any order."} | WHEN,
    "Moving": {"low, high": "A number, or the column that holds the bound of each row."} | LOG | WHEN,
    "Switch": {"by": "The column that decides; empty for its own value.", "domains": "A domain by value of it."},
    "Space": {"parameters": "`Float`, `Int`, `Ordinal`, `Categorical`, `Moving` and `Switch` by name."},
}
REFUSED = "SpaceError\n    It contradicts itself: bounds, steps or conditions that can never be."
EXAMPLES = {
    "Float": """>>> from pedanova import Float
>>> Float(1e-5, 1e-1, log=True)
Float(low=1e-05, high=0.1, log=True)""",
    "Int": """>>> from pedanova import Int
>>> Int(1, 1024, log=True)
Int(low=1, high=1024, step=1, log=True)""",
    "Ordinal": """>>> from pedanova import Ordinal
>>> Ordinal([16, 32, 64])
Ordinal(values=(16, 32, 64))""",
    "Categorical": """>>> from pedanova import Categorical
>>> Categorical(["adam", "sgd"])
Categorical(choices=('adam', 'sgd'))""",
    "Moving": """>>> from pedanova import Moving
>>> Moving("min_lr", 1.0, log=True)
Moving(low='min_lr', high=1.0, log=True)""",
    "Switch": """>>> from pedanova import Float, Switch
>>> Switch("phase", {"early": Float(1e-4, 1.0), "late": Float(1e-5, 1e-2)}).by
'phase'""",
    "Space": """>>> from pedanova import Float, Int, Space
>>> Space({"lr": Float(1e-5, 1e-1, log=True), "layers": Int(1, 5)})
Space({'lr': Float(low=1e-05, high=0.1, log=True), 'layers': Int(low=1, high=5, step=1, log=False)})""",
}
Cls = TypeVar("Cls", bound=type)


class Shown:
    """A short text form: conditions appear only where there are any."""

    __slots__ = ()

    def __repr__(self) -> str:
        pairs = [(field.name, getattr(self, field.name)) for field in fields(self)]  # type: ignore[arg-type]
        inside = ", ".join(f"{name}={value!r}" for name, value in pairs if name != "when" or value)
        return f"{type(self).__name__}({inside})"


def explained(cls: Cls) -> Cls:
    """The class, its docstring with sections on its arguments, and an example."""
    if cls.__doc__ is not None:  # python -OO leaves none
        entries = "".join(f"{name}\n    {text}\n" for name, text in ARGUMENTS[cls.__name__].items())
        sections = f"Parameters\n----------\n{entries}\nRaises\n------\n{REFUSED}\n\nExamples\n--------\n"
        cls.__doc__ = f"{inspect.cleandoc(cls.__doc__)}\n\n{sections}{EXAMPLES[cls.__name__]}"
    return cls
