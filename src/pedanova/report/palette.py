"""Colours by meaning, the same on the page and in figures, for light and dark backgrounds.

The colours suit colour-blind people and grey prints: neighbouring colours differ in lightness. From a lift of ¼ to a
lift of 4, the colours become steadily darker (on a dark background: lighter).
"""

from __future__ import annotations

import math

LIGHT = {
    "ground": "#ffffff",
    "card": "#f7f8fa",
    "ink": "#1b2430",  # text and axes
    "soft": "#57606c",  # secondary text
    "line": "#d5dae1",  # rules, borders, grid
    "target": "#0b62a8",
    "region": "#8b929c",
    "uniform": "#57606c",  # dashed
    "A": "#7a1f5c",  # a pinned selection
    "B": "#c97a00",
    "good": "#cfe3f4",  # background of good values
    "noise": "#b9bec6",  # parameters without a clear effect
    "chance": "#e6e9ed",  # the range that chance alone would give
    "warning": "#9a3412",
}
DARK = {
    "ground": "#12161c",
    "card": "#1a2028",
    "ink": "#e8ecf1",
    "soft": "#a5afbb",
    "line": "#38424e",
    "target": "#6cb6f2",
    "region": "#7f8a97",
    "uniform": "#a5afbb",
    "A": "#f0a6d8",
    "B": "#b87400",
    "good": "#1f3c57",
    "noise": "#59636f",
    "chance": "#2b333d",
    "warning": "#fdba74",
}
LIFTS = (0.25, 0.5, 1.0, 2.0, 4.0)  # the lifts of the colours below; others are limited to this range
LIGHT_LIFT = ("#ffe3a8", "#ecd2a0", "#c3c7cd", "#5f97c9", "#0a4a85")
DARK_LIFT = ("#4a300a", "#5c4a2c", "#6d7580", "#7fb4dd", "#c4e4ff")


def lift_place(lift: float) -> float:
    """The position of a lift on the colour scale: 0 for a lift of ¼ or less, 0.5 for a lift of 1, 1 for 4 or more.

    Examples
    --------
    >>> [lift_place(lift) for lift in (0.0, 0.25, 0.5, 1.0, 4.0, 10.0)]
    [0.0, 0.0, 0.25, 0.5, 1.0, 1.0]
    """
    if lift <= LIFTS[0]:
        return 0.0
    return min(1.0, (math.log2(lift) - math.log2(LIFTS[0])) / math.log2(LIFTS[-1] / LIFTS[0]))


def lift_colour(lift: float, *, dark: bool = False) -> str:
    """The colour of a lift; the scale is linear in log₂."""
    stops = DARK_LIFT if dark else LIGHT_LIFT
    place = lift_place(lift) * (len(stops) - 1)
    first = min(int(place), len(stops) - 2)
    return mixed(stops[first], stops[first + 1], place - first)


def mixed(one: str, other: str, part: float) -> str:
    """A mixture of two colours, in which `other` has the weight `part`.

    Examples
    --------
    >>> mixed("#000000", "#ffffff", 0.5)
    '#808080'
    """
    ends = zip(channels(one), channels(other), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * part):02x}" for a, b in ends)


def channels(colour: str) -> tuple[int, int, int]:
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return red, green, blue


def luminance(colour: str) -> float:
    """The lightness of a colour, from 0 to 1 (WCAG)."""
    linear = [c / 255 / 12.92 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in channels(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast_of(one: str, other: str) -> float:
    """The contrast of two colours, from 1 (equal) to 21 (black on white), by WCAG."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def ink_on(ground: str) -> str:
    """The text colour for the background `ground`: dark or light, whichever has the higher contrast."""
    return max((LIGHT["ink"], LIGHT["ground"]), key=lambda ink: contrast_of(ink, ground))
