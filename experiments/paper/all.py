"""Everything of the paper that needs no data from outside, and one page of it all.

    python experiments/paper/all.py [--out build/paper] [--runs 10] [--largest 8] [--docs]

The JAHS figures need 41 million accuracies that are not part of this repository: `jahs.py` says how to get them, and
what it wrote into the same folder is put on the page too.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from study import options_of

HERE = Path(__file__).parent
DOCS = HERE.parents[1] / "docs" / "paper.md"
MARKED = r"(<!-- ([\w-]+), from make paper -->)\n.*?(<!-- end -->)"
SCRIPTS = ("concepts", "ratios", "cells", "runtime", "densities")
STYLE = """body { font: 15px/1.5 system-ui, sans-serif; max-width: 1100px; margin: 2em auto; padding: 0 1em }
img { max-width: 100% } figure { margin: 1em 0 } figcaption { color: #444; font-size: 90% }
table { border-collapse: collapse; margin: 1em 0; font-size: 90% } caption { text-align: left; padding-bottom: .4em }
th, td { border-bottom: 1px solid #ccc; padding: .2em .7em; text-align: right }
th:first-child, td:first-child { text-align: left }"""
INTRODUCTION = """<p>Every figure and table of <i>PED-ANOVA: Efficiently Quantifying Hyperparameter Importance in
Arbitrary Subspaces</i> (Watanabe, Bansal, Hutter; IJCAI 2023; arXiv 2304.10255), made anew; printed numbers stand
beside ours. docs/paper.md reads along with the paper: formulas as calls, claims with what came of them, errata.</p>"""
MISSING = """<h2 id='jahs'>JAHS-Bench-201</h2><p>Not run: it needs the accuracies of all 41,343,750 configurations.
With <code>pip install jahs-bench</code>, its surrogates (version 1.1.0, downloaded by itself) and
<code>collect_jahs.py</code> of <a href='https://github.com/nabenabe0928/local-anova'>the authors' code</a>, which
writes <code>data/cifar10.json</code>. Then <code>python experiments/paper/jahs.py data/cifar10.json --out {out}</code>,
and this script once more.</p>"""


def write_docs(out: Path) -> None:
    """Replace the tables of docs/paper.md between the comments ``NAME, from make paper`` and ``end``."""

    def new(found: re.Match[str]) -> str:
        table = out / f"{found[2]}.md"
        return f"{found[1]}\n{table.read_text(encoding='utf-8')}{found[3]}" if table.exists() else found[0]

    text = DOCS.read_text(encoding="utf-8")
    DOCS.write_text(re.sub(MARKED, new, text, flags=re.DOTALL), encoding="utf-8")
    print(f"its tables are written to {DOCS}")


def main() -> int:
    options = options_of(__doc__ or "")
    for name in SCRIPTS:
        print(f"\n== {name}", flush=True)
        command = [sys.executable, str(HERE / f"{name}.py"), "--out", str(options.out), "--runs", str(options.runs)]
        subprocess.run([*command, "--largest", str(options.largest)], check=True)
    parts = [(options.out / f"{name}.html").read_text(encoding="utf-8") for name in SCRIPTS]
    jahs = options.out / "jahs.html"
    parts.append(jahs.read_text(encoding="utf-8") if jahs.exists() else MISSING.format(out=options.out))
    title = "PED-ANOVA, redone"
    head = f"<!doctype html><html lang='en'><meta charset='utf-8'><title>{title}</title><style>{STYLE}</style>"
    page = options.out / "index.html"
    page.write_text("\n".join([head, f"<h1>{title}</h1>", INTRODUCTION, *parts, "</html>"]), encoding="utf-8")
    print(f"\nthe page: {page}")
    if options.docs:
        write_docs(options.out)
    if not jahs.exists():
        print("JAHS-Bench-201 was left out: experiments/paper/jahs.py says which data it needs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
