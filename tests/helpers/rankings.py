"""Answers with shares and intervals that a test chooses."""

from __future__ import annotations

from pedanova.measures.importance import Importance, Importances

BLANK = dict.fromkeys(("ratio", "raw_share", "divergence", "variance", "bandwidth", "value", "activity"), 0.0)
BLANK |= {"value_share": 0.0, "activity_share": 0.0}


def answer(shares: dict[str, float], reach: float | None = 0.01, noise: tuple[str, ...] = ()) -> Importances:
    """An answer whose intervals reach so far on either side."""
    rows = []
    for name, share in shares.items():
        ends = (None, None) if reach is None else (max(0.0, share - reach), share + reach)
        rows.append(
            Importance(
                name=name,
                share=share,
                low=ends[0],
                high=ends[1],
                n_target=30,
                n_region=300,
                significant=name not in noise,
                **BLANK,
            )
        )
    return Importances(tuple(sorted(rows, key=lambda row: -row.share)), "target", "region", "region")
