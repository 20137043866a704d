"""Completion as a shell asks for it: bash itself, with argcomplete's own hook."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

from helpers.common import DEMO

pytest.importorskip("argcomplete")
BASH = shutil.which("bash")


@pytest.fixture(scope="module")
def pressed_tab(tmp_path_factory: pytest.TempPathFactory):
    """What bash offers for a line, through the function that `register-python-argcomplete` gives it."""
    if BASH is None:
        pytest.skip("no bash here")
    folder = tmp_path_factory.mktemp("bin")
    script = folder / "pedanova"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m pedanova "$@"\n')
    script.chmod(0o755)
    shutil.copy(DEMO, folder / "trials.csv")

    def offer(line: str) -> list[str]:
        program = f"""
            export PATH="{folder}:$PATH"; cd "{folder}"
            eval "$("{sys.executable}" -c 'import argcomplete; print(argcomplete.shellcode(["pedanova"]))')"
            complete -p pedanova > /dev/null || exit 9
            COMP_LINE={line!r}; COMP_POINT=${{#COMP_LINE}}; COMP_TYPE=9
            read -ra COMP_WORDS <<< "$COMP_LINE"; [[ "$COMP_LINE" == *" " ]] && COMP_WORDS+=("")
            COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
            _python_argcomplete pedanova
            printf '%s\\n' "${{COMPREPLY[@]}}"
        """
        done = subprocess.run([BASH, "-c", program], capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == 0, done.stderr
        return [text.strip() for text in done.stdout.splitlines() if text.strip()]

    return offer


def test_commands(pressed_tab) -> None:
    assert set(pressed_tab("pedanova ")) >= {"analyze", "profile", "densities", "interactions", "report", "demo"}
    assert pressed_tab("pedanova int") == ["interactions"]


def test_options_and_their_choices(pressed_tab) -> None:
    assert pressed_tab("pedanova densities --reg") == ["--region"]
    assert set(pressed_tab("pedanova interactions x.csv --order ")) == {"2", "3", "4", "5"}
    formats = {"text", "csv", "json", "markdown", "latex"}
    assert set(pressed_tab("pedanova analyze x.csv --format ")) == formats


def test_files(pressed_tab) -> None:
    assert pressed_tab("pedanova profile tri") == ["trials.csv"]


def test_nothing_is_loaded_unless_the_shell_asks() -> None:
    code = "import sys; from pedanova.cli import main; main([]); print('argcomplete' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("False\n")
