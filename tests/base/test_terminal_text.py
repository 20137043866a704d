"""Letters as a terminal shows them."""

from __future__ import annotations

from pedanova.base.terminal import printable, shorten, width_of

HOSTILE = ["\x1b[31mred\x1b[0m", "two\nlines", "\x9b2J", "名前" * 20, "a" * 300, "\u202eabc"]


class TestLetters:
    def test_names_are_shown_not_obeyed(self) -> None:
        for name in HOSTILE:
            assert printable(name).isprintable()
            assert width_of(shorten(name, 20)) <= 20
        assert printable("a\u00a0b") == "a b"
