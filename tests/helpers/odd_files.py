"""Small odd files of text, made at random: CSV and JSON as no person and no program should write them."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable
from typing import Any

CELLS = [
    "", " ", "0", "1", "-1", "2.5", "1e-3", "1e400", "-0", "nan", "NaN", "inf", "-inf", "None", "none", "null", "NA",
    "True", "false", "adam", "sgd", "auto", "12%", "2k", "10ms", "0,5", "1,000", "1.234,5", "2024-01-01", "12:30",
    "{", "}", "[]", "{}", '{"a": 1}', "{'a': {'b': [1, None]}}", "[1, 2]", "x" * 300, "ünï", "\u2212" + "3", "\x00",
    "\x1b[31m", "'", '"', '""', "a\nb", "a\r\nb", ",", ";", "\t", "|", "=1+1", "0x1F", "٣", "9" * 40, "1_000",
    "COMPLETE", "FAIL", "=", "__MIN", "\ufeff", "9007199254740993", "-9223372036854775808", "1e308", "5e-324", "#",
    "//", "\u2028", "1" * 4301,
]  # fmt: skip
NAMES = [
    "lr", "x", "loss", "accuracy", "y", "id", "state", "value", "params_lr", "params_x", "config/lr", "trial_id",
    "error_type", "Name", "State", "Runtime", "config", "summary", "", " ", "x", "params", "result", "misc", "tid",
    "seed", "a b", "é", "x__MIN", "mean_test_score", "param_x", "metric:acc (maximize)", "number",
    "training_iteration", "values_0", "`", "where", "a.b", "a",
]  # fmt: skip
Files = tuple[str, bytes]


def odd_csv(rng: random.Random) -> Files:
    sign = rng.choice(",,,;\t|")
    columns, rows = rng.randint(1, 6), rng.choice([0, 1, 2, 5, 12, 30, 60])
    makers = [maker_of(rng) for _ in range(columns)]
    lines = [sign.join(rng.choice(NAMES) for _ in range(columns))]
    for row in range(rows):
        cells = [make(row) for make in makers]
        cells += [rng.choice(CELLS)] * (rng.random() < 0.01)
        lines.append(sign.join(cell if rng.random() < 0.8 else quoted(cell) for cell in cells))
    text = rng.choice(["\n", "\n", "\r\n", "\r"]).join(lines)
    return rng.choice(["t.csv", "t.csv", "t.tsv", "t.txt"]), broken(text.encode("utf-8", "surrogatepass"), rng)


def maker_of(rng: random.Random) -> Callable[[int], str]:
    """Cells of one column: mostly alike, so that the file may be a table."""
    few = rng.sample(CELLS, rng.randint(1, 3))
    odd = rng.random() < 0.3
    kinds: list[Callable[[int], str]] = [
        lambda row: str(row),
        lambda _: repr(rng.random()),
        lambda _: f"{rng.uniform(-5, 5):.3g}",
        lambda _: rng.choice(few),
        lambda _: rng.choice(CELLS),
        lambda _: str(rng.randint(-3, 9)),
    ]
    plain = rng.choice(kinds)
    return (lambda row: rng.choice(CELLS) if rng.random() < 0.1 else plain(row)) if odd else plain


def quoted(cell: str) -> str:
    doubled = cell.replace('"', '""')
    return f'"{doubled}"'


def odd_json(rng: random.Random) -> Files:
    names = rng.sample(NAMES, rng.randint(1, 5))
    rows = [{name: odd_value(rng) for name in names if rng.random() < 0.95} for _ in range(rng.choice([0, 1, 3, 20]))]
    plain: Any = rng.choice(
        [
            rows,
            {"trials": rows},
            {f"t{i}": row for i, row in enumerate(rows)},
            {name: [row.get(name) for row in rows] for name in names},
            {name: {str(i): row.get(name) for i, row in enumerate(rows)} for name in names},
            {"columns": names, "data": [[row.get(name) for name in names] for row in rows]},
            [{"tid": i, "misc": {"vals": row}, "result": odd_value(rng)} for i, row in enumerate(rows)],
            odd_value(rng),
        ]
    )
    lines = rng.random() < 0.3
    text = "\n".join(json.dumps(row) for row in rows) if lines else json.dumps(plain, ensure_ascii=rng.random() < 0.5)
    data = broken(text.encode("utf-8", "surrogatepass"), rng)
    name = rng.choice(["t.json", "t.json", "t.jsonl", "t.ndjson"])
    return (f"{name}.gz", gzip.compress(data)) if rng.random() < 0.05 else (name, data)


def odd_value(rng: random.Random, depth: int = 0) -> Any:
    kind = rng.randint(0, 9 if depth < 3 else 6)
    match kind:
        case 0 | 1:
            return rng.random()
        case 2:
            return rng.randint(-3, 2**70 if rng.random() < 0.05 else 9)
        case 3:
            return rng.choice([None, True, False, 1e308, -0.0, float("nan"), float("inf")])
        case 4 | 5 | 6:
            return rng.choice(CELLS)
        case 7:
            return [odd_value(rng, depth + 1) for _ in range(rng.randint(0, 3))]
        case _:
            return {rng.choice(NAMES): odd_value(rng, depth + 1) for _ in range(rng.randint(0, 3))}


def broken(data: bytes, rng: random.Random) -> bytes:
    """Now and then cut off, or with some bytes changed."""
    if rng.random() < 0.05:
        return data[: rng.randint(0, len(data))]
    if data and rng.random() < 0.05:
        place = rng.randrange(len(data))
        return data[:place] + bytes([rng.randrange(256)]) + data[place + 1 :]
    return data


def odd_file(seed: int) -> Files:
    """The same file for the same seed."""
    rng = random.Random(seed)
    return odd_csv(rng) if rng.random() < 0.6 else odd_json(rng)
