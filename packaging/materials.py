"""The bill of materials of what `packaging/wheels.py` built: dist/pedanova.cdx.json, in CycloneDX's form.

    python packaging/materials.py [--out dist]

The wheel for this machine is installed into an empty environment, and what lies there then is listed; the C++ runtime,
which is linked into the kernel and which no installer knows of, is added.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parent.parent


def run(*command: str) -> None:
    subprocess.run([sys.executable, "-m", *command], check=True)


def runtime() -> dict[str, object]:
    """LLVM's C++ runtime, as the compiler brings it along."""
    return {
        "type": "library",
        "bom-ref": "llvm-runtime",
        "name": "libc++, libc++abi, libunwind, compiler-rt",
        "version": f"as in ziglang {version('ziglang')}",
        "description": "linked statically into pedanova/_kernel",
        "licenses": [{"expression": "Apache-2.0 WITH LLVM-exception"}],
    }


def list_materials(out: Path) -> Path:
    made = out / "pedanova.cdx.json"
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "environment"
        run("uv", "venv", "--quiet", str(place))
        run("uv", "pip", "install", "--quiet", "--python", str(place), wheel_here(out))
        options = [
            "--pyproject",
            str(ROOT / "pyproject.toml"),
            "--output-reproducible",
            "--of",
            "JSON",
            "-o",
            str(made),
        ]
        run("cyclonedx_py", "environment", str(place), *options)
    bill = json.loads(made.read_text())
    bill["components"] = [*(one for one in bill["components"] if one["name"] != "pedanova"), runtime()]
    made.write_text(json.dumps(bill, indent=1, sort_keys=True) + "\n")
    return made


def wheel_here(out: Path) -> str:
    """The wheel that this very Python takes."""
    from packaging.tags import sys_tags
    from packaging.utils import parse_wheel_filename

    known = set(sys_tags())
    for path in sorted(out.glob("*.whl")):
        if parse_wheel_filename(path.name)[3] & known:
            return str(path)
    sys.exit(f"{out} holds no wheel for this machine; build one with packaging/wheels.py")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    print(list_materials(parser.parse_args().out))
