"""Studies on a map: near each other where the same parameters matter (classical scaling, Torgerson 1952)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.base.digits import percent
from pedanova.base.table import Cell, Printed, Table

Reals: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class StudyMap(Table):
    """A place for every study; `held` is the part of all squared distances that the two axes hold.

    arrows
        (parameters, 2) Where a study lies whose ratio of the parameter is larger: correlations with the axes.
    """

    studies: tuple[str, ...]
    names: tuple[str, ...]
    places: Reals  # (studies, 2)
    arrows: Reals
    held: float

    def to_dict(self) -> dict[str, list[Cell]]:
        return {"study": list(self.studies), "x": self.places[:, 0].tolist(), "y": self.places[:, 1].tolist()}

    def printed(self) -> Printed:
        axes = [(axis, [f"{value:.2f}" for value in self.places[:, i]]) for i, axis in enumerate("xy")]
        return [("study", list(self.studies)), *axes]

    def heading(self) -> str:
        return f"Studies by what matters in them ({percent(self.held)} of their distances)"


def study_map(studies: Sequence[str], names: Sequence[str], ratios: Reals) -> StudyMap:
    """From (studies, parameters) ratios; every axis points to where its heaviest parameter matters more."""
    centred = ratios - ratios.mean(axis=0)
    # Eigenvectors of the doubly centred squared distances are singular vectors of what these are distances of.
    vectors, lengths, _ = np.linalg.svd(centred, full_matrices=False)
    places = vectors[:, :2] * lengths[:2]
    places = np.pad(places, ((0, 0), (0, 2 - places.shape[1])))
    total = float(np.sum(lengths**2))
    arrows = centred.T @ places
    signs = np.array([1.0 if arrows[np.argmax(np.abs(arrows[:, i])), i] >= 0 else -1.0 for i in range(2)])
    scale = np.linalg.norm(centred, axis=0)[:, None] * np.linalg.norm(places, axis=0)[None, :]
    arrows = np.divide(arrows * signs, scale, out=np.zeros_like(arrows), where=scale > 1e-12)
    held = float(np.sum(lengths[:2] ** 2)) / total if total > 0 else 1.0
    return StudyMap(tuple(studies), tuple(names), places * signs, arrows, min(1.0, held))
