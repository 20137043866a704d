"""Which changes make `make test` run the documentation."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers import changes

MODULE = '''
def answer(x):
    """An answer."""
    return {value}

def _half(x):
    """{private}"""

class Question:
    """{public}"""
'''


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A branch that has just left main."""
    monkeypatch.setattr(changes, "ROOT", tmp_path)
    (tmp_path / "src/pedanova").mkdir(parents=True)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/page.md").write_text("Words.")
    write(tmp_path)
    changes.git("init", "-q", "-b", "main")
    changes.git("add", ".")
    commit()
    changes.git("switch", "-q", "-c", "branch")
    return tmp_path


def write(root: Path, value: int = 1, private: str = "Half.", public: str = "A question.") -> None:
    (root / "src/pedanova/a.py").write_text(MODULE.format(value=value, private=private, public=public))


def commit() -> None:
    changes.git("-c", "user.name=ann", "-c", "user.email=ann@example.org", "commit", "-qam", "A reason")


def test_pages_and_public_docstrings_count_and_code_does_not(clone: Path) -> None:
    assert changes.changed_documents() == []
    write(clone, value=2, private="A half.")
    assert changes.changed_documents() == []
    write(clone, public="Another question.")
    assert changes.changed_documents() == ["src/pedanova/a.py"]
    commit()
    (clone / "docs/new.md").write_text("More words.")
    assert changes.changed_documents() == ["docs/new.md", "src/pedanova/a.py"]
    (clone / "docs/page.md").unlink()
    assert changes.changed_documents() == ["docs/page.md", "docs/new.md", "src/pedanova/a.py"]


def test_where_git_cannot_tell_everything_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "ROOT", tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert changes.changed_documents() == ["?"]
