"""A prior in the forms that tools take: a sampler for Optuna, ConfigSpace's distributions, a W&B sweep.

Densities come as parts by cell of each parameter's grid. Optuna's file draws as `SearchPrior` does. The other two know
only distributions of single parameters, so the safety share is mixed into each of them; what a form cannot say is
told by `lost_in`.
"""

from __future__ import annotations

import math
import pprint
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pedanova.base.digits import percent
from pedanova.base.notes import Note
from pedanova.errors import Arg, SpaceError, listed
from pedanova.space.comparison import domains_of
from pedanova.space.exports import as_json, as_yaml, configspace_plain, left_out, optuna_code, wandb_plain
from pedanova.space.grid import grid_of
from pedanova.space.parameters import Categorical, Domain, Float, Int, Ordinal, Space
from pedanova.space.values import Label

Reals: TypeAlias = NDArray[np.float64]
PRIOR_FORMS = ("optuna", "configspace", "wandb", "json")
SUFFIXES = {".py": "optuna", ".json": "configspace", ".yaml": "wandb", ".yml": "wandb"}
STEPS = 40  # of a range in a file
SWEEP_VALUES = 20  # that stand for a range in a sweep
CURVES = np.exp(np.linspace(0.0, math.log(200.0), 160))  # α and β that are tried; ConfigSpace wants 1 at least
TITLE = "A prior over hyperparameters for Optuna, by pedanova."


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """The density of a range as a histogram."""

    edges: Reals  # (steps + 1,) in units of the parameter
    parts: Reals  # (steps,) adding to one

    def middles(self, parameter: Float | Int) -> list[float]:
        low, high = self.edges[:-1], self.edges[1:]
        return (np.sqrt(low * high) if parameter.log else (low + high) / 2).tolist()  # type: ignore[no-any-return]


def steps_of(parameter: Float | Int, parts: Reals, most: int = STEPS) -> Steps:
    """Neighbouring cells put together, at most so many."""
    grid = grid_of(parameter)
    edges = grid.edges if grid.edges is not None else np.arange(grid.cells + 1.0)
    bounds = np.unique(np.round(np.linspace(0, grid.cells, min(most, grid.cells) + 1)).astype(np.int64))
    return Steps(edges[bounds], np.add.reduceat(parts, bounds[:-1]) / parts.sum())


def form_of(path: str) -> str:
    """The form that a file's suffix stands for."""
    suffix = path[path.rfind(".") :].lower() if "." in path else ""
    if suffix not in SUFFIXES:
        ways = ", ".join(f"{end} ({form})" for end, form in SUFFIXES.items())
        raise SpaceError(f"{path!r} does not tell which form to write; use {ways}, or say it by ", Arg("to"))
    return SUFFIXES[suffix]


def export_prior(space: Space, parts: Mapping[str, Reals], safety: float, form: str) -> str:
    """The prior as text."""
    check_form(form)
    match form:
        case "optuna":
            return optuna_file(space, parts, safety)
        case "configspace":
            return as_json(configspace_prior(space, parts, safety))
        case "wandb":
            return as_yaml(wandb_prior(space, parts, safety))
        case _:
            return as_json({"safety": safety, "space": space.to_dict(), "prior": plain_prior(space, parts)})


def check_form(form: str) -> None:
    if form not in PRIOR_FORMS:
        raise SpaceError(f"form {form!r} is unknown; use one of {', '.join(PRIOR_FORMS)}")


def lost_in(space: Space, parts: Mapping[str, Reals], safety: float, form: str) -> list[Note]:
    """What a form cannot say, in words."""
    check_form(form)
    notes = [] if form in ("optuna", "json") else left_out(space, form)
    ranges = {name: one for name, one in domains_of(space).items() if isinstance(one, Float | Int)}
    if form == "wandb" and ranges:
        words = f"a sweep has no densities: {SWEEP_VALUES} values or fewer stand for each range, with probabilities"
        notes.append(Note("answer", words))
    if form == "configspace":
        fits = {name: curve_of(one, parts[name], safety)[2] for name, one in ranges.items()}
        rough = [f"{name} ({percent(fit)})" for name, fit in fits.items() if fit < 0.9]
        if rough:
            words = f"Beta curves hold only part of the shape of {', '.join(rough)}; the Optuna file holds all of it"
            notes.append(Note("doubt", words))
        ordinals = [name for name, one in space.items() if isinstance(one, Ordinal)]
        if ordinals:
            words = f"ordinals cannot be weighted: {listed(ordinals)} are categories, without their order"
            notes.append(Note("answer", words))
    return notes


def plain_prior(space: Space, parts: Mapping[str, Reals]) -> dict[str, dict[str, Any]]:
    """Values or edges of steps, with the part of the draws in each."""
    plain: dict[str, dict[str, Any]] = {}
    for name, domain in domains_of(space).items():
        if isinstance(domain, Float | Int):
            steps = steps_of(domain, parts[name])
            plain[name] = {"edges": rounded(steps.edges), "parts": rounded(steps.parts), "log": domain.log}
        else:
            plain[name] = {"values": list(grid_of(domain).centres()), "parts": rounded(parts[name])}
    return plain


def rounded(numbers: Reals, digits: int = 6) -> list[float]:
    return [float(f"{number:.{digits}g}") for number in numbers.tolist()]


# ── Optuna ──────────────────────────────────────────────────────────────────────────────────────


def optuna_file(space: Space, parts: Mapping[str, Reals], safety: float) -> str:
    """A Python file with a sampler, which needs Optuna alone."""
    template = (resources.files("pedanova.space") / "assets" / "prior_sampler.txt").read_text(encoding="utf-8")
    plain = pprint.pformat(plain_prior(space, parts), width=118, compact=True, sort_dicts=False)
    filled = {"TITLE": TITLE, "SAFETY": repr(float(safety)), "PRIOR": plain}
    for key, text in filled.items():
        template = template.replace(f"@{key}@", text, 1)
    return template.replace("@SUGGEST@", textwrap.indent(optuna_code(space).rstrip(), "    "), 1)


# ── ConfigSpace ─────────────────────────────────────────────────────────────────────────────────


def configspace_prior(space: Space, parts: Mapping[str, Reals], safety: float) -> dict[str, Any]:
    """The document of `configspace_plain`, with weights of categories and Beta curves over ranges."""
    plain = configspace_plain(space)
    plain["hyperparameters"] = [
        weighted(item, space[item["name"]], parts[item["name"]], safety) for item in plain["hyperparameters"]
    ]
    return plain


def weighted(item: dict[str, Any], domain: Any, parts: Reals, safety: float) -> dict[str, Any]:
    common = {"name": item["name"], "meta": None}
    if item["type"] == "constant":
        return item
    if isinstance(domain, Categorical | Ordinal) or (isinstance(domain, Int) and domain.step > 1):
        values = item["choices"] if item["type"] == "categorical" else item["sequence"]
        mixed = mixture(domain, parts, safety)
        best = values[int(np.argmax(mixed))]
        return {"type": "categorical", **common, "choices": values, "weights": rounded(mixed), "default_value": best}
    alpha, beta, _ = curve_of(domain, parts, safety)
    ends = {key: item[key] for key in ("lower", "upper", "log")}
    start = best_value(domain, parts)
    if alpha == beta == 1.0:
        return {"type": item["type"], **common, **ends, "default_value": start}
    kind = "beta_int" if isinstance(domain, Int) else "beta_float"
    return {"type": kind, **common, **ends, "alpha": alpha, "beta": beta, "default_value": start}


def mixture(domain: Domain, parts: Reals, safety: float) -> Reals:
    mixed: Reals = (1.0 - safety) * parts / parts.sum() + safety * grid_of(domain).prior
    return mixed


def best_value(domain: Float | Int, parts: Reals) -> Label:
    steps = steps_of(domain, parts)
    value = steps.middles(domain)[int(np.argmax(steps.parts))]
    value = min(max(value, domain.low), domain.high)
    return round(value) if isinstance(domain, Int) else float(f"{value:.6g}")


def curve_of(domain: Float | Int, parts: Reals, safety: float) -> tuple[float, float, float]:
    """α and β of the Beta curve that is likeliest, and the part of the density that it covers.

    The likelihood (α-1)·E[ln x] + (β-1)·E[ln(1-x)] - ln B(α, β) needs two means of the density.
    """
    grid = grid_of(domain)
    edges = grid.edges if grid.edges is not None else np.arange(grid.cells + 1.0)
    scaled = np.log(edges) if domain.log else edges
    place = (scaled[:-1] + scaled[1:] - 2 * scaled[0]) / (2 * (scaled[-1] - scaled[0]))
    mixed = mixture(domain, parts, safety)
    left, right = float(mixed @ np.log(place)), float(mixed @ np.log1p(-place))
    single = np.array([math.lgamma(one) for one in CURVES])
    both = np.array([[math.lgamma(a + b) for b in CURVES] for a in CURVES])
    likely = (CURVES[:, None] - 1) * left + (CURVES[None, :] - 1) * right + both - single[:, None] - single[None, :]
    i, j = np.unravel_index(int(np.argmax(likely)), likely.shape)
    alpha, beta = (round(float(CURVES[k]), 4) for k in (i, j))
    curve = np.exp((alpha - 1) * np.log(place) + (beta - 1) * np.log1p(-place)) * grid.prior
    return alpha, beta, float(np.minimum(curve / curve.sum(), mixed).sum())


# ── W&B sweeps ──────────────────────────────────────────────────────────────────────────────────


def wandb_prior(space: Space, parts: Mapping[str, Reals], safety: float) -> dict[str, Any]:
    """A sweep by random draws: values with probabilities."""
    plain = wandb_plain(space)
    for name, domain in domains_of(space).items():
        if "value" not in plain["parameters"][name]:
            plain["parameters"][name] = swept(domain, mixture(domain, parts[name], safety))
    return plain


def swept(domain: Domain, parts: Reals) -> dict[str, Any]:
    if not isinstance(domain, Float | Int):
        return _probable(list(grid_of(domain).centres()), parts)
    steps = steps_of(domain, parts, SWEEP_VALUES)
    inside = [min(max(middle, domain.low), domain.high) for middle in steps.middles(domain)]
    if isinstance(domain, Float):
        return _probable([float(f"{value:.4g}") for value in inside], steps.parts)
    whole = [domain.low + round((value - domain.low) / domain.step) * domain.step for value in inside]
    together: dict[Label, float] = {}
    for value, part in zip(whole, steps.parts.tolist(), strict=True):
        together[value] = together.get(value, 0.0) + part
    return _probable(list(together), np.array(list(together.values())))


def _probable(values: list[Label], parts: Reals) -> dict[str, Any]:
    """Probabilities that add to one as they are written."""
    written = [round(part, 6) for part in (parts / parts.sum()).tolist()]
    largest = int(np.argmax(written))
    written[largest] = round(1.0 - sum(written[:largest] + written[largest + 1 :]), 6)
    return {"distribution": "categorical_w_probabilities", "values": values, "probabilities": written}
