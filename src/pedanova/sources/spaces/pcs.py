"""Parameter files of SMAC (.pcs), old and new, as the document that ConfigSpace would write."""

from __future__ import annotations

import re
from typing import Any

from pedanova.data.column import shorten
from pedanova.errors import FormatError

NAME = r"(?P<name>[^\s\[\]{}|,=]+)"
PARAMETER = re.compile(
    NAME + r"\s*(?P<kind>\b(?:categorical|ordinal|real|integer|c|o|r|i)\b)?\s*"
    r"(?:\{(?P<values>[^}]*)\}|\[(?P<bounds>[^\]]*)\])\s*\[(?P<default>[^\]]*)\]\s*(?P<marks>[a-z]*)"
)
COMPARISON = re.compile(r"(?P<parent>[^\s=!<>{}]+)\s*(?P<sign>==|!=|<|>|\bin\b)\s*(?P<value>\{[^}]*\}|[^\s{}]+)")
SIGNS = {"==": "EQ", "!=": "NEQ", "<": "LT", ">": "GT", "in": "IN"}
HEADINGS = ("conditionals:", "conditions:", "conditional:", "forbidden:", "forbiddens:")
EXAMPLE = "write it like: lr real [0.001, 1] [0.1] log"


def plain_from_pcs(text: str) -> dict[str, list[dict[str, Any]]]:
    """Hyperparameters, conditions and forbidden combinations, line by line.

    Examples
    --------
    >>> plain_from_pcs("lr [0.001,1] [0.1]l")["hyperparameters"]
    [{'name': 'lr', 'type': 'uniform_float', 'lower': 0.001, 'upper': 1.0, 'log': True}]
    """
    found: dict[str, list[dict[str, Any]]] = {"hyperparameters": [], "conditions": [], "forbiddens": []}
    for number, line in enumerate(text.splitlines(), start=1):
        content = line.partition("#")[0].strip()
        if not content or content.lower() in HEADINGS:
            continue
        try:
            part, item = _read_line(content)
        except ValueError as error:
            raise FormatError(f"line {number}, {shorten(content)}: {error}; {EXAMPLE}") from None
        found[part].append(item)
    if not found["hyperparameters"]:
        raise FormatError(f"there is no parameter in it; {EXAMPLE}")
    return found


def _read_line(content: str) -> tuple[str, dict[str, Any]]:
    if content.startswith("{"):
        return "forbiddens", {"type": "AND", "text": content}
    if re.search(r"(?<!\|)\|(?!\|)", content.partition("{")[0]):
        return "conditions", _condition(content)
    return "hyperparameters", _parameter(content)


def _parameter(content: str) -> dict[str, Any]:
    match = PARAMETER.fullmatch(content)
    if match is None:
        raise ValueError("it is no parameter")
    kind, marks = match["kind"] or "", match["marks"]
    if match["values"] is not None:
        values = [value.strip() for value in match["values"].split(",")]
        if not all(values) or kind[:1] in ("r", "i"):
            raise ValueError("its list of values is not complete")
        key = ("ordinal", "sequence") if kind.startswith("o") else ("categorical", "choices")
        return {"name": match["name"], "type": key[0], key[1]: values}
    bounds = match["bounds"].split(",")
    if len(bounds) != 2 or kind[:1] in ("c", "o"):
        raise ValueError("it needs a lower and an upper bound")
    whole = kind.startswith("i") or (not kind and "i" in marks)
    if marks.strip("il") and marks != "log":
        raise ValueError(f"the mark {marks!r} is unknown")
    low, high = (float(bound) for bound in bounds)
    typed = "uniform_int" if whole else "uniform_float"
    return {"name": match["name"], "type": typed, "lower": low, "upper": high, "log": "l" in marks}


def _condition(content: str) -> dict[str, Any]:
    """`child | a in {x,y} && b == 1 || c > 2`: and binds closer than or."""
    child, _, clause = content.partition("|")
    either = [
        _joined("AND", child.strip(), [_comparison(child.strip(), part) for part in side.split("&&")])
        for side in clause.split("||")
    ]
    return _joined("OR", child.strip(), either)


def _joined(kind: str, child: str, parts: list[dict[str, Any]]) -> dict[str, Any]:
    return parts[0] if len(parts) == 1 else {"type": kind, "child": child, "conditions": parts}


def _comparison(child: str, text: str) -> dict[str, Any]:
    match = COMPARISON.fullmatch(text.strip())
    if match is None or not child:
        raise ValueError(f"{text.strip()!r} is no condition")
    item = {"type": SIGNS[match["sign"]], "child": child, "parent": match["parent"]}
    if match["sign"] == "in":
        return item | {"values": [value.strip() for value in match["value"].strip("{}").split(",")]}
    return item | {"value": match["value"].strip("{}")}
