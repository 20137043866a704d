"""The report's page: seconds to write it, its size, how soon it is open, and how long a step of the target takes.

    python benchmarks/page.py [--rows 1000] [--parameters 10]

Needs Chromium and its driver (Debian: chromium, chromium-driver) and Selenium. A step is everything between the
change of the state and the drawn cards, layout included. The explorer's steps are in benchmarks/explore.py.
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

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from helpers.chromium import Page

STEP = """
    const [part, done] = arguments;
    const begin = performance.now();
    const told = pedanova.on('shown', (answer) => {
        if (answer.pending) return;
        told();
        document.body.getBoundingClientRect();
        done(performance.now() - begin);
    });
    pedanova.state.ask({target: {part: [0, part]}});"""
OPEN = "return performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd"


def study(rows: int, parameters: int) -> pa.Analysis:
    random = np.random.default_rng(0)
    columns = {f"parameter_{i}": random.random(rows) for i in range(parameters)}
    loss = sum(0.5**i * (column - 0.3) ** 2 for i, column in enumerate(columns.values()))
    return pa.analyze({**columns, "loss": loss + 0.01 * random.random(rows)}, "loss")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rows", type=int, default=1_000)
    options.add_argument("--parameters", type=int, default=10)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        a, begin = study(given.rows, given.parameters), time.process_time()
        a.report(path)
        print(f"written in {time.process_time() - begin:.2f} s of CPU, {path.stat().st_size / 1024:,.0f} KB")
        page = Page(Path(folder))
        try:
            page.open(path)
            print(f"open after {page.run(OPEN):.0f} ms")
            parts = page.run("return pedanova.facts.rungs.slice(0, -1).map((rung) => rung.part)")
            steps = [page.driver.execute_async_script(STEP, part) for _ in range(8) for part in parts]
            print(f"a step: median {statistics.median(steps):.1f} ms, worst {max(steps):.1f} ms of {len(steps)}")
        finally:
            page.driver.quit()


if __name__ == "__main__":
    main()
