"""How long the explorer takes from the release of the mouse to drawn bars, in a real browser.

    python benchmarks/explore.py [--tables 1000x10 1000x100 1000x300 1000000x10] [--lattice FOLDER] [--brushes 50]

Needs Chromium and its driver (Debian: chromium, chromium-driver), Selenium and the extra `explore`. The explorer
runs in a process of its own. Each brush is drawn with the mouse over another part of another parameter; the clock
begins with `pointerup` in the page and ends in the frame in which the bars of that selection are drawn. Tasks of
the page above 50 ms are counted as the browser reports them. Beside these times, which other work on the machine
lengthens, stands what each brush costs until all is drawn: processor time of the server's process (Linux) and of the
page's main thread, when something was painted first, and the most memory of the server.
FOLDER holds jahs_thesis_cifar10_lattice.{parquet,json}:
there the time to the exact answer is given too, beside a plain count of the table in the same process, and
the processor time of both, which other work hardly lengthens.
"""

from __future__ import annotations

import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from shared import options_of

import pedanova as pa
from pedanova.report.live.session import Session

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from helpers.chromium import Page

LIMITS = {"1000x10": 60.0, "1000x100": 400.0, "1000x300": 400.0, "1000000x10": 150.0}  # ms to the first answer
LATTICE = "jahs_thesis_cifar10_lattice"
LATTICE_LIMIT = 200.0
PREPARE = """
    window.bench = { released: null, times: [], tasks: [] };
    new PerformanceObserver((list) => list.getEntries().forEach((one) => bench.tasks.push(one.duration)))
        .observe({ type: 'longtask' });
    document.addEventListener('pointerup', () => {
        bench.released = performance.now();
        bench.first = bench.sure = null;
    }, true);
    pedanova.on('ranked', (given) => {
        if (bench.released === null) return;
        const asked = pedanova.source.keyOf('answer', pedanova.asked());
        if (given.asked !== asked) return;
        const now = performance.now() - bench.released;
        if (bench.first === null) bench.first = now;
        if (given.sure && bench.sure === null) bench.sure = now;
        bench.sample = given.sure ? bench.sample : given.sample;
    });"""


@dataclass
class Found:
    """Milliseconds of every brush."""

    first: list[float] = field(default_factory=list)
    exact: list[float] = field(default_factory=list)
    tasks: list[float] = field(default_factory=list)
    server: list[float] = field(default_factory=list)  # of its processor time
    page: list[float] = field(default_factory=list)  # of its main thread's
    sampled: int = 0
    painted: float = 0.0
    memory: float = 0.0  # MB, at most


def table(rows: int, parameters: int) -> pa.Analysis:
    """Parameters of four kinds."""
    rng = np.random.default_rng(0)
    data: dict[str, Any] = {f"x{i}": rng.uniform(0, 1, rows) for i in range(parameters - 3)}
    data |= {"lr": 10 ** rng.uniform(-5, -1, rows), "layers": rng.integers(1, 9, rows)}
    data["optimizer"] = np.array(["adam", "sgd", "rmsprop"])[rng.integers(0, 3, rows)]
    loss = (np.log10(data["lr"]) + 3) ** 2 + data["x0"] ** 2 + 0.3 * data["x1"] * (data["optimizer"] == "adam")
    return pa.analyze(data | {"loss": loss + rng.normal(0, 0.3, rows)}, "loss")


def lattice(folder: Path) -> pa.Analysis:
    """All 41 million settings, as numbers of their places."""
    from tables import read_table

    table = read_table(folder, LATTICE)
    sizes, rows = dict(zip(table.names, table.sizes, strict=True)), np.arange(len(table.objective))
    columns = {name: table.of(i, rows).astype(np.uint8) for i, name in enumerate(sizes)}
    space = {name: pa.Ordinal(list(range(size))) for name, size in sizes.items()}
    begin = time.perf_counter()
    a = pa.analyze(columns, table.objective.astype(np.float32), direction="min", space=space)
    print(f"counted in {1e3 * (time.perf_counter() - begin):.0f} ms", flush=True)
    beside_plain(a, sizes)
    return a


def beside_plain(a: pa.Analysis, sizes: dict[str, int]) -> None:
    """Exact answers without a page beside a plain count of the table: time, and processor time."""
    session, names = Session(a.data), list(sizes)
    session.facts()

    def cost(work: Callable[[], object]) -> tuple[float, float]:
        begin = time.process_time(), time.perf_counter()
        work()
        return 1e3 * (time.process_time() - begin[0]), 1e3 * (time.perf_counter() - begin[1])

    plain = cost(lambda: a.data._source.count(a.data.levels))  # type: ignore[union-attr]  # noqa: SLF001  (no reading, no thresholds)
    print(f"a plain count of the table: {plain[1]:.0f} ms, {plain[0]:.0f} ms of processors", flush=True)
    for name in (names[0], names[len(names) // 2], names[-1]):  # from stretches of rows to every so-many-th row
        question = {"selection": {name: {"range": [0, sizes[name] // 2]}}}
        found = cost(lambda asked=question: session.ask({"part": "answer", "question": asked}))  # type: ignore[misc]
        words = f"{found[1]:.0f} ms, {found[0]:.0f} ms of processors"
        print(
            f"the exact answer to a brush on {name}: {words}, {found[0] / plain[0]:.2f} times the plain count",
            flush=True,
        )


def serve(name: str, folder: Path | None) -> None:
    a = lattice(folder) if folder else table(*map(int, name.split("x")))
    a.explore(open=False)


def brush(page: Page, parameter: str, start: float, stop: float) -> None:
    """With the mouse, without waiting for anything in between."""
    from selenium.webdriver import ActionChains

    css = f".density[data-parameter='{parameter}'] svg"
    page.run("document.querySelector(arguments[0]).scrollIntoView({block: 'center'})", css)
    box = page.run("return document.querySelector(arguments[0]).getBoundingClientRect().toJSON()", css)
    y = round(box["y"] + box["height"] * 0.5)
    at = [round(box["x"] + box["width"] * part) for part in (start, (start + stop) / 2, stop)]
    moves = ActionChains(page.driver, duration=5)
    pointer = moves.w3c_actions.pointer_action
    pointer.move_to_location(at[0], y)
    pointer.pointer_down()
    pointer.move_to_location(at[1], y)
    pointer.move_to_location(at[2], y)
    pointer.pointer_up()
    moves.perform()


def server_ms(process: int) -> float:
    """Processor time of a process so far; 0 where the system does not tell."""
    place = Path(f"/proc/{process}/stat")
    if not place.exists():
        return 0.0
    words = place.read_text().rpartition(")")[2].split()
    return 1e3 * (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def page_ms(page: Page) -> float:
    """Processor time of the tasks of the page's main thread so far."""
    found = page.command("Performance.getMetrics")["metrics"]
    return 1e3 * next(float(one["value"]) for one in found if one["name"] == "TaskDuration")


def measure(page: Page, url: str, brushes: int, process: int) -> Found:
    page.size(1440, 900)
    page.command("Performance.enable", timeDomain="threadTicks")
    page.open(url)
    page.settle()
    page.run(PREPARE)
    ranges = page.run(
        "return [...document.querySelectorAll('.density')].map((one) => one.dataset.parameter)"
        ".filter((name) => pedanova.parameter(name).brush === 'range')"
    )
    draw, found = random.Random(0), Found()
    found.painted = page.run("return performance.getEntriesByName('first-contentful-paint')[0].startTime")
    for i in range(brushes):
        page.run("pedanova.state.ask({ selection: {} }); bench.released = null;")
        page.settle()
        start = draw.uniform(0.1, 0.5)
        before = server_ms(process), page_ms(page)
        brush(page, ranges[i % len(ranges)], start, start + draw.uniform(0.2, 0.4))
        page.until("return bench.sure !== null && bench.sure !== undefined && pedanova.page.isSettled()")
        first, exact, sample = page.run("return [bench.first, bench.sure, bench.sample]")
        found.server.append(server_ms(process) - before[0])
        found.page.append(page_ms(page) - before[1])
        found.first.append(first)
        found.exact.append(exact)
        found.sampled += sample is not None
    found.tasks = page.run("return bench.tasks")
    found.memory = most_memory(process)
    return found


def most_memory(process: int) -> float:
    place = Path(f"/proc/{process}/status")
    words = place.read_text().split() if place.exists() else []
    return int(words[words.index("VmHWM:") + 1]) / 1024 if "VmHWM:" in words else 0.0


def report(name: str, found: Found, limit: float | None) -> None:
    held = "" if limit is None else f", limit {limit:.0f}"
    print(f"{name}: {len(found.first)} brushes, load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print(f"  first paint {found.painted:.0f} ms after it was opened; server at most {found.memory:.0f} MB")
    print(f"  to the bars: median {statistics.median(found.first):.0f} ms, worst {max(found.first):.0f} ms{held}")
    print(f"  to intervals and marks: median {statistics.median(found.exact):.0f} ms, worst {max(found.exact):.0f} ms")
    print(f"  first answers from a sample: {found.sampled}")
    costs = statistics.median(found.server), statistics.median(found.page)
    print(f"  processor time of a brush: {costs[0]:.0f} ms of the server, {costs[1]:.0f} ms of the page's main thread")
    over = [one for one in found.tasks if one > 100]
    longest = max(found.tasks, default=0)
    print(f"  tasks of the page above 50 ms: {len(found.tasks)}, above 100 ms: {len(over)}, longest {longest:.0f} ms")


def run(name: str, limit: float | None, brushes: int, folder: Path | None) -> None:
    words = [sys.executable, __file__, "--serve", name] + (["--lattice", str(folder)] if folder else [])
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process, tempfile.TemporaryDirectory() as place:
        assert process.stdout is not None
        lines = iter(process.stdout.readline, "")
        url = next(line.strip() for line in lines if print_unless_url(line))
        page = Page(Path(place))
        try:
            report(name, measure(page, url, brushes, process.pid), limit)
        finally:
            page.driver.quit()
            process.terminate()


def print_unless_url(line: str) -> bool:
    if line.startswith("http://"):
        return True
    print(f"  {line.strip()}")
    return False


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("--tables", nargs="*", default=list(LIMITS), metavar="ROWSxPARAMETERS")
    parser.add_argument("--lattice", type=Path)
    parser.add_argument("--brushes", type=int, default=50)
    parser.add_argument("--serve")
    options = parser.parse_args()
    if options.serve:
        serve(options.serve, options.lattice)
        return
    for name in options.tables:
        run(name, LIMITS.get(name), options.brushes, None)
    if options.lattice:
        run(LATTICE, LATTICE_LIMIT, options.brushes, options.lattice)


if __name__ == "__main__":
    main()
