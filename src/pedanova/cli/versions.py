"""Which pedanova, which libraries, and which engine counts."""

from __future__ import annotations

from pedanova.base.kernel import library as kernel
from pedanova.base.version import __version__

LIBRARIES = ("numpy", "narwhals", "pandas", "polars", "pyarrow", "scikit-learn", "optuna")


def show_versions() -> None:
    """Print what to tell in a bug report.

    Examples
    --------
    >>> import pedanova as pa
    >>> pa.show_versions()  # doctest: +ELLIPSIS
    pedanova  ...
    """
    print(describe_versions())


def describe_versions() -> str:
    import platform  # both are slow to import, and few ask for versions

    lines = [
        f"pedanova  {__version__}",
        f"kernel    {kernel.describe()}",
        f"python    {platform.python_version()} on {platform.system()} {platform.machine()}",
    ]
    lines += [f"{name:<9} {found}" for name in LIBRARIES if (found := version_of(name))]
    return "\n".join(lines)


def version_of(name: str) -> str | None:
    from importlib import metadata

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
