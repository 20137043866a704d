"""Colours that everyone can tell apart, also in grey."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest

from pedanova.report.palette import (
    DARK,
    DARK_LIFT,
    LIFTS,
    LIGHT,
    LIGHT_LIFT,
    contrast_of,
    ink_on,
    lift_colour,
    luminance,
)

THEMES = pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])


def test_both_themes_name_the_same_things() -> None:
    assert LIGHT.keys() == DARK.keys()


@THEMES
def test_text_is_read_and_marks_are_seen(theme: dict[str, str]) -> None:
    for ground in (theme["ground"], theme["card"]):
        assert contrast_of(theme["ink"], ground) >= 7
        assert min(contrast_of(theme[name], ground) for name in ("soft", "warning", "target")) >= 4.5
        assert min(contrast_of(theme[name], ground) for name in ("region", "uniform", "A", "B")) >= 2.9


@THEMES
def test_what_stands_side_by_side_differs_in_grey(theme: dict[str, str]) -> None:
    for names in (("target", "region"), ("target", "noise"), ("A", "B"), ("chance", "target"), ("chance", "region")):
        for one, other in combinations(names, 2):
            assert contrast_of(theme[one], theme[other]) >= 1.5, (one, other)


@pytest.mark.parametrize("dark", [False, True])
def test_lift_is_monotone_in_grey(dark: bool) -> None:
    """0 times and 2 times must never look the same."""
    lights = [luminance(lift_colour(0.25 * 16 ** (i / 40), dark=dark)) for i in range(41)]
    assert all((b > a) == dark for a, b in pairwise(lights))
    assert lift_colour(0, dark=dark) == lift_colour(0.25, dark=dark) == (DARK_LIFT if dark else LIGHT_LIFT)[0]
    assert lift_colour(4, dark=dark) == lift_colour(100, dark=dark) == (DARK_LIFT if dark else LIGHT_LIFT)[-1]


@pytest.mark.parametrize("dark", [False, True])
def test_numbers_are_read_on_every_lift(dark: bool) -> None:
    for lift in (0.25 * 16 ** (i / 40) for i in range(41)):
        ground = lift_colour(lift, dark=dark)
        assert contrast_of(ink_on(ground), ground) >= 3.9


def test_the_stops_are_where_they_are_said_to_be() -> None:
    assert tuple(lift_colour(lift) for lift in LIFTS) == LIGHT_LIFT
