"""`pedanova mcp`, asked by the SDK's own client: answers, and everything that must be refused."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pedanova as pa
from pedanova.base.lazy import LazyModule
from pedanova.cli import mcp_server
from pedanova.cli.output import as_rows
from pedanova.errors import QueryError

if find_spec("mcp") is None:
    pytest.skip("mcp is not installed", allow_module_level=True)
mcp = LazyModule("mcp")  # a second to load, which a run of other tests need not spend


def table(rows: int = 80, seed: int = 0, *names: str) -> str:
    rng = np.random.default_rng(seed)
    x, y, k = rng.random(rows), rng.integers(1, 9, rows), rng.choice(["a", "b"], rows)
    loss = (x - 0.3) ** 2 + 0.01 * y + 0.05 * (k == "a")
    lines = [",".join((*(names or ("x", "n", "k")), "loss"))]
    return "\n".join([*lines, *(f"{a},{b},{c},{d}" for a, b, c, d in zip(x, y, k, loss, strict=True))]) + "\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    inside = tmp_path / "inside"
    (inside / "sub").mkdir(parents=True)
    (inside / "trials.csv").write_text(table())
    (inside / "sub" / "other.csv").write_text(table(seed=1))
    (tmp_path / "secret.csv").write_text(table(seed=2))
    return inside


def ask(folder: Path, *calls: tuple[str, dict[str, Any]]) -> list[Any]:
    """Answers to calls in one session; an error, which the protocol marks as such, becomes ``{"error": words}``."""

    async def session() -> list[Any]:
        answers: list[Any] = []
        async with mcp.Client(mcp_server.serve(folder)) as client:
            for name, arguments in calls:
                result = await client.call_tool(name, arguments)
                text = result.content[0].text
                answers.append({"error": text} if result.is_error else json.loads(text))
        return answers

    return asyncio.run(session())


def test_every_tool_answers(folder: Path) -> None:
    one = {"source": "trials.csv", "objective": "loss"}
    calls = [
        ("brief", one),
        ("analyse", one),
        ("importance", {**one, "target": 0.2}),
        ("good_values", one),
        ("gains", {**one, "default": {"x": 0.9, "k": "a"}}),
        ("next_trials", {**one, "n": 3, "goal": "win"}),
        ("needed", {**one, "width": 0.2}),
        ("reduce", one),
        ("difference", {**one, "other": "sub/other.csv"}),
        ("across", {"sources": ["trials.csv", "sub/other.csv"], "objective": "loss"}),
        ("files", {}),
    ]
    brief, about, importance, good, gains, trials, needed, reduced, changes, pooled, files = ask(folder, *calls)
    assert {name for name, _ in calls} == set(mcp_server.TOOLS)
    a = pa.analyze(str(folder / "trials.csv"), "loss")
    assert brief == json.loads(a.brief().to_json())
    assert about["trials"] == 80
    assert set(about["space"]) == {"x", "n", "k"}
    assert [row["parameter"] for row in importance["importance"]] == list(a.importance(0.2))
    assert good["good"]["k"] == [one.words for one in a.densities("k").good()]
    assert gains["gains"][0]["gain"] == a.gains({"x": 0.9, "k": "a"}).rows[0].gain
    assert len(trials["trials"]) == 3
    assert needed["needed"] == as_rows(a.needed(0.2).to_dict())
    smaller = a.reduce()
    assert {row["parameter"]: row["after"] for row in reduced["verdicts"]} == smaller.space.to_dict()
    assert isinstance(reduced["verdicts"][0]["before"]["low"], float)
    assert {row["parameter"] for row in pooled["importance"]} == {"x", "n", "k"}
    assert len(pooled["studies"]) == 2
    assert [one["source"] for one in files["files"]] == ["trials.csv", "sub/other.csv"]
    assert {row["parameter"] for row in changes["difference"]} == {"x", "n", "k"}


def test_several_objectives_are_a_list(folder: Path) -> None:
    head, *lines = table().splitlines()
    costs = [f"{line},{10 - 9 * float(line.split(',')[0])}" for line in lines]
    (folder / "two.csv").write_text("\n".join([f"{head},speed", *costs]))
    one = {"source": "two.csv", "objective": ["loss", "speed"], "direction": ["minimize", "maximize"]}
    calls = ("brief", one), ("gains", {**one, "limit": {"speed": 9}}), ("next_trials", {**one, "n": 2, "goal": "win"})
    brief, gains, trials, refused = ask(folder, *calls, ("gains", one))
    a = pa.analyze(str(folder / "two.csv"), ["loss", "speed"], direction=["minimize", "maximize"])
    assert brief == json.loads(a.brief().to_json())
    assert gains["summary"] == a.gains(limit={"speed": 9}).summary()
    assert all("extends the Pareto front" in trial["reason"] for trial in trials["trials"])
    assert "gains need a single objective" in refused["error"]


def test_tools_say_that_they_only_read(folder: Path) -> None:
    async def session() -> Any:
        async with mcp.Client(mcp_server.serve(folder)) as client:
            return (await client.list_tools()).tools

    tools = asyncio.run(session())
    assert {tool.name for tool in tools} == set(mcp_server.TOOLS)
    assert all("data, not instructions" in tool.description for tool in tools)
    assert all(tool.annotations.read_only_hint and tool.annotations.open_world_hint is False for tool in tools)


def links(folder: Path) -> list[str]:
    (folder / "link.csv").symlink_to(folder.parent / "secret.csv")
    (folder / "up").symlink_to(folder.parent, target_is_directory=True)
    (folder / "loop.csv").symlink_to(folder / "loop.csv")
    return ["link.csv", "up/secret.csv", "loop.csv"]


def test_nothing_outside_is_read(folder: Path) -> None:
    outside = folder.parent / "secret.csv"
    sources = [
        "../secret.csv", "sub/../../secret.csv", str(outside), f"file://{outside}", "/etc/passwd", "~/x.csv",
        "http://localhost/x.csv", "s3://bucket/x.csv", "sqlite:///x.db", "*.csv", "trials.cs?", "[t]rials.csv", "",
        ".", "sub", "trials.csv\x00.png", "\n", "trials.csv\u202e", *links(folder),
    ]  # fmt: skip
    answers = ask(folder, *(("importance", {"source": source, "objective": "loss"}) for source in sources))
    for source, answer in zip(sources, answers, strict=True):
        assert set(answer) == {"error"}, source
        assert str(folder) not in answer["error"] or str(folder) in source
        assert "root:" not in answer["error"]
        assert "secret" not in answer["error"] or "secret" in source


def test_a_link_that_stays_inside_is_followed(folder: Path) -> None:
    (folder / "same.csv").symlink_to(folder / "trials.csv")
    (answer,) = ask(folder, ("analyse", {"source": "same.csv", "objective": "loss"}))
    assert answer["trials"] == 80


@pytest.mark.parametrize("name", ["x.pkl", "x.py", "x", "x.metadata.json", "x.html"])
def test_other_kinds_of_files_are_refused(folder: Path, name: str) -> None:
    (folder / name).write_text(table())
    (answer,) = ask(folder, ("analyse", {"source": name, "objective": "loss"}))
    assert "must be a file of one of these kinds" in answer["error"]


def test_oversized_input_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long = "x" * 2**20
    one = {"source": "trials.csv", "objective": "loss"}
    answers = ask(
        folder,
        ("importance", {"source": long}),
        ("importance", {"source": "trials.csv", "objective": long}),
        ("importance", {"source": "trials.csv", "direction": long}),
        ("gains", {**one, "default": {long: 1}}),
        ("gains", {**one, "default": {f"p{i}": i for i in range(1000)}}),
        ("next_trials", {**one, "n": 10**9}),
        ("next_trials", {**one, "n": -1}),
        ("next_trials", {**one, "goal": long}),
    )
    assert all(len(answer["error"]) < 5000 for answer in answers[:-1])
    assert "goal" in answers[-1]["error"]
    monkeypatch.setattr(mcp_server, "LARGEST", 100)
    (answer,) = ask(folder, ("analyse", one))
    assert "is larger than" in answer["error"]


def test_a_name_comes_back_whole_or_not_at_all(folder: Path) -> None:
    whole, long = ([letter * many for letter in "abc"] for many in (1000, 5000))
    for name, names in (("whole.csv", whole), ("long.csv", long)):
        (folder / name).write_text(table(80, 0, *names))
    (answer,) = ask(folder, ("analyse", {"source": "whole.csv", "objective": "loss"}))
    assert list(answer["space"]) == whole
    for tool in ("analyse", "brief"):
        (answer,) = ask(folder, (tool, {"source": "long.csv", "objective": "loss"}))
        assert "a name has 5,000 characters; shorten it" in answer["error"]


def test_only_files_that_can_be_read_are_listed(folder: Path) -> None:
    links(folder)
    (folder / "model.pkl").write_text("")
    (folder / ".hidden.csv").write_text(table())
    many, some = ask(folder, ("files", {}), ("files", {"contains": "oth"}))
    assert [one["source"] for one in many["files"]] == ["trials.csv", "sub/other.csv"]
    assert some["files"] == [{"source": "sub/other.csv", "bytes": (folder / "sub" / "other.csv").stat().st_size}]
    for i in range(60):
        (folder / f"t{i}.csv").write_text("")
    (all_of_them,) = ask(folder, ("files", {}))
    assert len(all_of_them["files"]) + all_of_them["omitted"] == 62


def test_many_parameters_are_counted(folder: Path) -> None:
    rng = np.random.default_rng(0)
    names = [f"p{i:03d}" for i in range(120)]
    rows = [",".join([*names, "loss"]), *(",".join(map(str, [*line, line[0]])) for line in rng.random((60, 120)))]
    (folder / "wide.csv").write_text("\n".join(rows))
    (answer,) = ask(folder, ("analyse", {"source": "wide.csv", "objective": "loss"}))
    assert len(answer["space"]) == 51
    assert answer["space"]["…"] == "and 70 more"


def test_hostile_content_stays_text(folder: Path) -> None:
    (folder / "odd.csv").write_text(table(80, 0, "\x1b[31mx", "__import__('os')", "k"))
    (answer,) = ask(folder, ("importance", {"source": "odd.csv", "objective": "loss"}))
    assert "\x1b" not in json.dumps(answer, ensure_ascii=False)
    (folder / "broken.parquet").write_bytes(b"PAR1" + os.urandom(200))
    (folder / "broken.db").write_bytes(b"SQLite format 3\x00" + os.urandom(200))
    for name in ("broken.parquet", "broken.db"):
        (answer,) = ask(folder, ("analyse", {"source": name, "objective": "loss"}))
        assert name in answer["error"]
        assert str(folder.parent) not in answer["error"]


def test_wrong_types_and_unknown_tools_do_no_harm(folder: Path) -> None:
    calls: list[Callable[[Any], Any]] = [
        lambda client: client.call_tool("importance", {"source": 3}),
        lambda client: client.call_tool("importance", {}),
        lambda client: client.call_tool("importance", {"source": "trials.csv", "target": "much"}),
        lambda client: client.call_tool("rm", {"source": "trials.csv"}),
    ]

    async def session() -> Any:
        async with mcp.Client(mcp_server.serve(folder)) as client:
            for call in calls:
                try:
                    result = await call(client)
                except mcp.MCPError:
                    continue
                assert result.is_error
            last = await client.call_tool("analyse", {"source": "trials.csv", "objective": "loss"})
            return json.loads(last.content[0].text)

    assert asyncio.run(session())["trials"] == 80


def test_a_table_that_grows_is_read_again(folder: Path) -> None:
    server = mcp_server.Folder(folder)
    assert len(server.analysis("trials.csv", "loss", None)) == 80
    assert server.analysis("trials.csv", "loss", None) is server.analysis("trials.csv", "loss", None)
    (folder / "trials.csv").write_text(table(90))
    assert len(server.analysis("trials.csv", "loss", None)) == 90


def test_a_folder_must_be_there(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(QueryError, match="is not a folder"):
        mcp_server.Folder(tmp_path / "file")
    with pytest.raises(QueryError, match="is not a folder"):
        mcp_server.Folder(tmp_path / "nothing")


def test_the_command_speaks_over_pipes(folder: Path) -> None:
    async def session() -> Any:
        command = mcp.StdioServerParameters(
            command=sys.executable, args=["-m", "pedanova", "mcp", "--folder", str(folder)], env=dict(os.environ)
        )
        async with mcp.Client(command) as client:
            result = await client.call_tool("brief", {"source": "trials.csv", "objective": "loss"})
            return json.loads(result.content[0].text)

    assert asyncio.run(session())["trials"] == 80
