"""Every public name says what it takes, gives and refuses, in numpydoc's form, with an example that runs."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

import pedanova as pa
from pedanova import errors
from pedanova.base.table import Table

pytest.importorskip("numpydoc", reason="pip install 'pedanova[docs]'")
from numpydoc.docscrape import NumpyDocString

sys.path.insert(0, str(Path(__file__).parent.parent / "docs/_site"))
reference = importlib.import_module("reference")
NAMES = [name for _, names in reference.groups().values() for name in names]
CLASSES = [name for name in NAMES if inspect.isclass(reference.thing(name))]
PLOTS = "report.figures.plots.Plots"
WITH_EXAMPLES = ("Analysis", PLOTS)  # of every method; others have one for the class
AXES = "returns the Axes that it drew in"  # said once, for a class of figures


def documented() -> Iterator[tuple[str, Any]]:
    """Functions and methods by their full names."""
    for name in NAMES:
        found = reference.thing(name)
        if not inspect.isclass(found):
            yield name, found
        for member, raw in reference.members(found).items() if inspect.isclass(found) else ():
            yield f"{name}.{member}", raw


CALLS = dict(documented())


def plain(raw: Any) -> Any:
    """The function behind a property or a class method."""
    if isinstance(raw, property):
        return raw.fget
    return raw.func if isinstance(raw, cached_property) else getattr(raw, "__func__", raw)


def doc_of(thing: Any) -> NumpyDocString:
    text = inspect.getdoc(thing)
    assert text, "no docstring"
    return NumpyDocString(text)


def listed(doc: NumpyDocString, section: str) -> set[str]:
    names = (name for entry in doc[section] for name in entry.name.split(","))
    return {name.strip().lstrip("*") for name in names}


def raises(function: Any) -> bool:
    """Whether its own lines raise something."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    return any(isinstance(node, ast.Raise) for node in ast.walk(tree))


@pytest.mark.parametrize("name", CALLS)
def test_a_call_is_documented(name: str) -> None:
    raw = CALLS[name]
    function, doc = plain(raw), doc_of(raw)
    owner, _, member = name.rpartition(".")
    if (
        isinstance(raw, property)
        and owner in CLASSES
        and member in listed(doc_of(reference.thing(owner)), "Attributes")
    ):
        return  # explained with its class
    signature = inspect.signature(inspect.unwrap(function))
    is_method = "." in name and name.rpartition(".")[0] in CLASSES
    figure = is_method and AXES in (reference.thing(owner).__doc__ or "")
    taken = {one for one in signature.parameters if one not in ("self", "cls", "ax" if figure else "")}
    assert taken <= listed(doc, "Parameters"), "parameters that are not explained"
    assert listed(doc, "Parameters") <= taken, "parameters that are not there"
    gives = signature.return_annotation not in ("None", None, inspect.Signature.empty)
    if gives and taken and not figure and not isinstance(raw, property | cached_property):
        assert doc["Returns"], "what it returns is not said"
    if raises(function):
        assert doc["Raises"], "what it raises is not said"
    if not is_method or name.rpartition(".")[0] in WITH_EXAMPLES:
        assert doc["Examples"], "no example"


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_is_documented(name: str) -> None:
    cls = reference.thing(name)
    doc = doc_of(cls)
    known = listed(doc, "Parameters") | listed(doc, "Attributes")
    known |= listed(doc_of(Table), "Attributes") if issubclass(cls, Table) else set()  # said once for every table
    own = {field.name for field in fields(cls) if not field.name.startswith("_")} if is_dataclass(cls) else set()
    assert own <= known, "fields that are not explained"
    assert doc["Examples"], "no example"


@pytest.mark.parametrize("cls", [errors.PedanovaError, *reference.exceptions()], ids=lambda cls: cls.__name__)
def test_an_error_says_what_to_do(cls: type) -> None:
    assert "What to do" in (cls.__doc__ or "") or cls is errors.PedanovaError


def test_nothing_public_is_left_out() -> None:
    answers = {f"results.{name}" for name in pa.results.__all__}
    assert {*pa.__all__, *answers} <= {*NAMES, *reference.BESIDE}
    for page, names in ((page, names) for page, (_, names) in reference.groups().items()):
        assert len(names) == len(set(names)), page


@pytest.fixture(scope="module")
def demo() -> pa.Analysis:
    return pa.analyze(pa.demo_trials(), "error")


SHARING = {
    name for name in CALLS if name.startswith(WITH_EXAMPLES) and "pedanova as pa" not in (CALLS[name].__doc__ or "")
}


@pytest.mark.docs
@pytest.mark.parametrize("name", sorted(SHARING))
def test_examples_that_go_on_from_that_of_the_class(
    name: str, demo: pa.Analysis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MPLBACKEND", "agg")
    run(name, inspect.getdoc(CALLS[name]) or "", {"pa": pa, "a": demo})


@pytest.mark.docs
@pytest.mark.parametrize("name", [name for name in (*CALLS, *CLASSES) if name not in SHARING])
def test_examples(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPLBACKEND", "agg")
    text = (CALLS.get(name) or reference.thing(name)).__doc__ or ""
    assert "doctest: +SKIP" not in text
    run(name, text, {})


def run(name: str, text: str, names: dict[str, Any]) -> None:
    """Nothing is given but what the example itself imports."""
    test = doctest.DocTestParser().get_doctest(text, names, name, None, 0)
    shown: list[str] = []
    failed = doctest.DocTestRunner(verbose=False).run(test, out=shown.append).failed
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
    assert not failed, "".join(shown)
