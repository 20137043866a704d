"""How long the report's page takes for one step of a slider, inside the browser, and how large the file is.

    python benchmarks/page.py [--parameters 60] [--levels 100]

Needs Chromium and its driver (Debian: chromium, chromium-driver) and Selenium. A step is everything between
the slider's event and the drawn charts, layout included; the limit is 100 ms.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import pedanova as pa

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "browser"))
from chromium import Page

LIMIT = 100.0  # ms
STEP = """
    const [slider, value, done] = arguments;
    const element = document.getElementById(slider);
    const before = pedanova.drawn;
    const begin = performance.now();
    element.value = value;
    element.dispatchEvent(new Event('input'));
    const wait = () => {
        if (pedanova.drawn === before) return requestAnimationFrame(wait);
        document.body.getBoundingClientRect();
        done([pedanova.took, performance.now() - begin]);
    };
    requestAnimationFrame(wait);"""


def analysis(parameters: int, levels: int, rows: int = 20_000) -> pa.Analysis:
    """Every parameter has so many values; the first ones matter, each half as much as the one before."""
    random = np.random.default_rng(0)
    columns = {f"parameter_{i}": random.integers(0, levels, rows) / levels for i in range(parameters)}
    loss = sum(0.5**i * (column - 0.3) ** 2 for i, column in enumerate(columns.values()))
    return pa.analyze({**columns, "loss": loss + random.normal(0, 0.02, rows)}, "loss")


def measure(path: Path, folder: Path) -> dict[str, list[float]]:
    """Drawing, and from event to the next frame, for every step of both sliders there and back."""
    page = Page(folder)
    page.size(1280)
    page.open(path)
    steps: dict[str, list[float]] = {"drawing": [], "to the frame": []}
    for slider in ("region", "target"):
        low, high = page.run("const s = document.getElementById(arguments[0]); return [+s.min, +s.max]", slider)
        for value in [*range(high, low - 1, -1), *range(low, high + 1)]:
            drawing, whole = page.driver.execute_async_script(STEP, slider, value)
            steps["drawing"].append(drawing)
            steps["to the frame"].append(whole)
    page.driver.quit()
    return steps


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parameters", type=int, default=60)
    parser.add_argument("--levels", type=int, default=100)
    options = parser.parse_args()
    a = analysis(options.parameters, options.levels)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        begin = time.perf_counter()
        a.report(path, estimator="counts", draws=100, reduce=False)
        print(
            f"{options.parameters} parameters × {options.levels} values, written in {time.perf_counter() - begin:.0f} s"
        )
        print(f"size {path.stat().st_size / 1e6:.2f} MB")
        for name, times in measure(path, Path(folder)).items():
            worst, middle = max(times), statistics.median(times)
            print(f"{name:<13} median {middle:5.0f} ms, worst {worst:5.0f} ms = {worst / LIMIT:.2f} of the limit")


if __name__ == "__main__":
    main()
