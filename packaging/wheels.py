"""Builds the sdist and a wheel for every platform that can be built for here, the same bytes at every run.

    python packaging/wheels.py                 # the sdist, and the wheel of this machine
    python packaging/wheels.py --all           # wheels of all PLATFORMS, with Zig as the cross compiler
    python packaging/wheels.py --check         # everything twice, and compared

The kernel is one C++ file without Python in it, so one wheel serves every Python on a platform. Zig brings the C
libraries of all of them along, old enough for what the tags promise; wheels are made from the sdist, as a user's
own build would be.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
PLATFORMS = {  # tag of the wheel → target of the compiler
    "manylinux_2_17_x86_64.manylinux2014_x86_64": "x86_64-linux-gnu.2.17",
    "manylinux_2_17_aarch64.manylinux2014_aarch64": "aarch64-linux-gnu.2.17",
    "musllinux_1_2_x86_64": "x86_64-linux-musl",
    "musllinux_1_2_aarch64": "aarch64-linux-musl",
    "macosx_11_0_arm64": "aarch64-macos.11.0",
    "macosx_11_0_x86_64": "x86_64-macos.11.0",
    "win_amd64": "x86_64-windows-gnu",
    "win_arm64": "aarch64-windows-gnu",
}
LARGEST = 3_000_000  # bytes


def run(*command: str, **environment: str) -> str:
    """A tool of this Python's environment; its output is shown where it fails."""
    done = subprocess.run(
        [sys.executable, "-m", *command], env=os.environ | environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}\n{done.stderr}")
    return done.stdout


def commit_time() -> str:
    """When the sources were last changed: every file in what is built bears this time."""
    known = os.environ.get("SOURCE_DATE_EPOCH")
    if known:
        return known
    asked = ["git", "-C", str(ROOT), "log", "-1", "--format=%ct"]
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()


def build_sdist(out: Path) -> Path:
    run("build", "--sdist", "--no-isolation", "--outdir", str(out), str(ROOT))
    (made,) = out.glob("*.tar.gz")
    return made


def build_wheel(source: Path, tag: str, out: Path) -> Path:
    """One wheel out of the unpacked sdist, under the tag of its platform."""
    with tempfile.TemporaryDirectory() as folder:
        settings = [f"cmake.define.CMAKE_TOOLCHAIN_FILE={ROOT / 'packaging' / 'zig.cmake'}", f"build-dir={folder}/b"]
        options = [part for setting in settings for part in ("--config-setting", setting)]
        zig = {"PEDANOVA_ZIG_TARGET": PLATFORMS[tag], "PEDANOVA_ZIG_PYTHON": sys.executable}
        run("build", "--wheel", "--no-isolation", "--outdir", folder, *options, str(source), **zig)
        (made,) = Path(folder).glob("*.whl")
        tagged = run("wheel", "tags", "--remove", "--platform-tag", tag, str(made)).split()[-1]
        return Path(shutil.move(Path(folder) / tagged, out / tagged))


def check_wheel(wheel: Path) -> None:
    """Small, with a kernel in it, and on Linux as widely usable as its tag says."""
    if wheel.stat().st_size > LARGEST:
        sys.exit(f"{wheel.name} has {wheel.stat().st_size:,} bytes; {LARGEST:,} at most")
    inside = run("zipfile", "-l", str(wheel))
    if "pedanova/_kernel." not in inside:
        sys.exit(f"{wheel.name} has no kernel: the compiler failed")
    tags = wheel.stem.rsplit("-", 1)[1].split(".")
    if "musllinux" in tags[0]:  # auditwheel looks for musl on this machine
        foreign = needed_by(wheel) - {"libc.so", f"libc.musl-{tags[0].rpartition('_')[2]}.so.1"}
        if foreign:
            sys.exit(f"{wheel.name} needs {', '.join(sorted(foreign))}, which musl's systems may not have")
    elif "linux" in tags[0]:
        shown = " ".join(run("auditwheel", "show", str(wheel)).split())
        if not any(f'"{tag}"' in shown for tag in tags):
            sys.exit(f"{wheel.name} is not what its tag says: {shown}")


def needed_by(wheel: Path) -> set[str]:
    """The libraries that the kernel in a wheel asks for."""
    from elftools.elf.elffile import ELFFile

    with zipfile.ZipFile(wheel) as inside:
        name = next(one for one in inside.namelist() if one.startswith("pedanova/_kernel."))
        dynamic = ELFFile(io.BytesIO(inside.read(name))).get_section_by_name(".dynamic")
    return {tag.needed for tag in dynamic.iter_tags() if tag.entry.d_tag == "DT_NEEDED"}


def of_this_machine() -> list[str]:
    """The tags that are for this processor and system; on Linux both C libraries."""
    system = {"Linux": "linux", "Darwin": "macosx", "Windows": "win"}[platform.system()]
    machine = platform.machine().lower()
    names = {"x86_64": ("x86_64", "amd64"), "amd64": ("amd64",), "aarch64": ("aarch64",), "arm64": ("arm64",)}[machine]
    return [tag for tag in PLATFORMS if system in tag and tag.endswith(names)]


def build(tags: list[str], out: Path) -> dict[str, str]:
    """Everything into an empty folder; digests by the name of the file."""
    os.umask(0o022)
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    sdist = build_sdist(out)
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(sdist) as packed:
            packed.extractall(folder, filter="data")
        (source,) = Path(folder).iterdir()
        for tag in tags:
            check_wheel(build_wheel(source, tag, out))
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(out.iterdir())}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="for every platform, not only for this machine")
    parser.add_argument("--only", metavar="WORD", help="platforms with this word in their tag")
    parser.add_argument("--check", action="store_true", help="build twice and compare the bytes")
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    options = parser.parse_args()
    tags = list(PLATFORMS) if options.all or options.only else of_this_machine()
    tags = [tag for tag in tags if not options.only or options.only in tag]
    os.environ["SOURCE_DATE_EPOCH"] = commit_time()
    digests = build(tags, options.out)
    if options.check:
        with tempfile.TemporaryDirectory() as folder:
            again = build(tags, Path(folder) / "again")
        if again != digests:
            sys.exit(f"not the same bytes twice: {sorted(name for name in digests if again[name] != digests[name])}")
    lines = [f"{digest}  {name}\n" for name, digest in digests.items()]
    (options.out / "SHA256SUMS").write_text("".join(lines))
    for name, digest in digests.items():
        print(f"{(options.out / name).stat().st_size:>9,}  {digest[:12]}  {name}")


if __name__ == "__main__":
    main()
