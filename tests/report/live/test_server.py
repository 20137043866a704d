"""The explorer as a process: who gets an answer, who does not, and how it ends. Real requests to a real server."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

import pedanova as pa
from helpers.explorers import DEMO, Served, demo, get, payload_of, post, request, served
from pedanova.report.live import server
from pedanova.report.live.server import MOST_WAITING

SELECTED = {"selection": {"learning_rate": {"range": [0.001, 0.3]}}}
HOSTS = (
    "evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example:{port}", "[::1]:{port}",
    "0.0.0.0:{port}",
)  # fmt: skip
ORIGINS = (
    "", "null", "https://evil.example", "http://127.0.0.1:1", "http://127.0.0.1", "https://127.0.0.1:{port}",
    "http://127.0.0.1:{port}.evil.example",
)  # fmt: skip
LONG = b'{"part": "answer", "question": {"target": {"value": [null, 1' + b"0" * 400 + b"]}}}"
ANSWER = {"part": "answer", "question": SELECTED, "sure": False}


@pytest.fixture(scope="module")
def explorer() -> Iterator[Served]:
    with served(*demo()) as running:
        yield running


def ask(explorer: Served, body: Any = ANSWER, **headers: str) -> httpx.Response:
    given = explorer.headers | headers
    return post(f"{explorer.origin}/ask", json=body, headers={k: v for k, v in given.items() if v}, timeout=120)


def reachable(address: str, port: int) -> bool:
    with socket.socket() as line:
        line.settimeout(5)
        return line.connect_ex((address, port)) == 0


# --- the way in --------------------------------------------------------------------------------------


def test_the_address_lets_one_browser_in_and_leaves_no_cookie(explorer: Served) -> None:
    assert explorer.page.status_code == 200
    assert payload_of(explorer.page.text)["facts"]["rows"] == 1000
    again = get(explorer.address)
    assert set(payload_of(again.text)) == {"facts", "answers"}  # no token
    assert payload_of(again.text)["facts"] == {"title": "pedanova", "live": "http"}
    assert explorer.token not in explorer.address
    for found in (explorer.page, again, ask(explorer)):
        assert "set-cookie" not in found.headers
    facts = get(f"{explorer.origin}/facts", headers=explorer.headers).json()
    assert (facts["live"], facts["rows"]) == ("http", 1000)
    other = payload_of(get(explorer.url).text)  # where one was used, another is printed
    assert other["token"] == explorer.token


def test_an_address_used_before_the_wait_begins_is_followed_by_another(capsys: pytest.CaptureFixture[str]) -> None:
    with pa.analyze(pa.demo_trials(), "error").explore(open=False, wait=False) as page:
        get(page.url)
        waiting = Thread(target=page.wait)
        waiting.start()
        time.sleep(1.0)
    waiting.join(60)
    assert "For another browser: http://127.0.0.1" in capsys.readouterr().out


def test_what_is_fetched_ahead_uses_no_ticket(explorer: Served) -> None:
    address = explorer.url
    for headers in ({"sec-purpose": "prefetch;prerender"}, {"sec-purpose": "prefetch"}):
        assert "token" not in payload_of(get(address, headers=headers).text)
    assert httpx.head(address).status_code == 200
    assert "token" in payload_of(get(address).text)


def test_a_question_is_answered(explorer: Served) -> None:
    found = ask(explorer)
    assert found.status_code == 200
    body = found.json()
    assert body["refused"] is None
    assert 0 < body["rows"]["selected"] < 1000
    assert body["lines"]["python"].startswith("a.within({'learning_rate': (0.001, 0.3)})")
    assert "--objective error" in body["lines"]["shell"]


@pytest.mark.parametrize("path", ["/facts", "/facts?ticket=wrong", "/nothing"])
def test_without_the_token_there_is_nothing(explorer: Served, path: str) -> None:
    found = get(f"{explorer.origin}{path}")
    assert found.status_code == 403
    assert "address" in found.json()["refused"]
    assert "learning_rate" not in found.text


@pytest.mark.parametrize("path", ["/", "/?ticket=", "/?ticket=wrong", "/?token={token}"])
def test_without_a_ticket_the_page_is_empty(explorer: Served, path: str) -> None:
    found = get(f"{explorer.origin}{path.format(token=explorer.token)}")
    assert payload_of(found.text) == {"facts": {"title": "pedanova", "live": "http"}, "answers": []}


@pytest.mark.parametrize("token", ["", "wrong", "{token} ", "{token}, {token}"])
def test_a_wrong_token_asks_nothing(explorer: Served, token: str) -> None:
    given = {**explorer.headers, "x-pedanova-token": token.format(token=explorer.token)}
    if given["x-pedanova-token"].strip() == explorer.token:  # a header has no blanks at its ends
        return
    found = post(f"{explorer.origin}/ask", json=ANSWER, headers=given)
    assert found.status_code == 403


@pytest.mark.parametrize("where", ["cookie", "address"])
def test_the_token_counts_as_a_header_alone(explorer: Served, where: str) -> None:
    url, headers = f"{explorer.origin}/ask", {"origin": explorer.origin}
    if where == "cookie":
        headers["cookie"] = f"pedanova-{explorer.port}={explorer.token}; x-pedanova-token={explorer.token}"
    else:
        url += f"?token={explorer.token}&ticket={explorer.token}"
    assert post(url, json=ANSWER, headers=headers).status_code == 403


BROWSER = """#!/bin/sh
echo "$@" > {heard}
"""
STRANGER = """
import os, pathlib, sys, urllib.error, urllib.request
door, origin = sys.argv[1:]
try:
    print("door", pathlib.Path(door).read_text())
except PermissionError:
    print("door closed")
for path in ("/", "/facts"):
    try:
        print(urllib.request.urlopen(origin + path).read().decode())
    except urllib.error.HTTPError as error:
        print(error.code, error.read().decode())
for place in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
    try:
        print(place.read_bytes().replace(b"\\0", b" ").decode(errors="replace"))
    except OSError:
        pass
"""


@pytest.fixture
def with_browser(tmp_path: Path) -> tuple[dict[str, str], Path]:
    """A browser that notes what it is called with."""
    script, heard = tmp_path / "browser.sh", tmp_path / "heard"
    script.write_text(BROWSER.format(heard=heard))
    script.chmod(0o755)
    return {**os.environ, "BROWSER": f"{script} %s", "TMPDIR": str(tmp_path)}, heard


def heard_by(place: Path) -> str:
    for _ in range(1200):
        if place.exists() and place.read_text().strip():
            return place.read_text().strip()
        time.sleep(0.05)
    raise AssertionError("no browser was opened")


def test_a_browser_is_opened_without_the_address(with_browser: tuple[dict[str, str], Path]) -> None:
    """Arguments of processes are seen by every user of a machine."""
    environment, heard = with_browser
    with served(*demo(), environment=environment, opens=True) as explorer:
        said = heard_by(heard)
        door = Path(urlsplit(said).path)
        assert said.startswith("file://")
        assert door.stat().st_mode & 0o777 == 0o600
        inside = re.search(r'href="([^"]+)"', door.read_text())
        assert inside is not None
        assert "token" in payload_of(get(inside[1]).text)
        assert "token" not in payload_of(get(inside[1]).text)  # once
        assert explorer.interrupt() == 0
        assert not door.exists()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can become another user")
def test_another_user_of_the_machine_gets_nothing(with_browser: tuple[dict[str, str], Path], tmp_path: Path) -> None:
    environment, heard = with_browser
    tmp_path.chmod(0o755)
    with served(*demo(), environment=environment, opens=True) as explorer:
        door = urlsplit(heard_by(heard)).path
        python = shutil.which("python3", path="/usr/bin:/bin")  # that of a root may be closed to others
        if python is None:
            pytest.skip("there is no Python that another user can run")
        words = [python, "-S", "-c", STRANGER, door, explorer.origin]
        stranger = {"user": 65534, "group": 65534, "extra_groups": []}
        done = subprocess.run(words, capture_output=True, text=True, timeout=120, cwd="/", **stranger)  # type: ignore[call-overload]
    assert done.returncode == 0, done.stderr
    seen = done.stdout
    assert "door closed" in seen
    assert "403" in seen
    assert "learning_rate" not in seen.replace(str(DEMO), "")
    assert explorer.token not in seen
    assert "ticket=" not in seen


# --- hostile pages -----------------------------------------------------------------------------------


@pytest.mark.parametrize("host", HOSTS)
def test_a_name_that_was_rebound_to_this_machine_gets_nothing(explorer: Served, host: str) -> None:
    given = host.format(port=explorer.port)
    for path in ("/", "/facts", "/?ticket=any"):
        found = get(f"{explorer.origin}{path}", headers={**explorer.headers, "host": given})
        assert found.status_code == 421
        assert "learning_rate" not in found.text
    assert ask(explorer, host=given).status_code == 421


def test_two_hosts_are_none(explorer: Served) -> None:
    with socket.create_connection(("127.0.0.1", explorer.port)) as line:
        hosts = f"Host: 127.0.0.1:{explorer.port}\r\nHost: evil\r\n"
        line.sendall(f"GET /facts HTTP/1.1\r\n{hosts}X-Pedanova-Token: {explorer.token}\r\n\r\n".encode())
        assert line.recv(65536).split(b"\r\n")[0].split()[1] in (b"400", b"421")


@pytest.mark.parametrize("origin", ORIGINS)
def test_other_pages_ask_nothing_even_with_the_token(explorer: Served, origin: str) -> None:
    """The browser says whose page it is."""
    found = ask(explorer, origin=origin.format(port=explorer.port))
    assert found.status_code == 403
    assert "importances" not in found.text


def test_what_a_browser_says_of_a_request_is_believed(explorer: Served) -> None:
    headers = {"sec-fetch-site": "same-site"}
    assert ask(explorer, **headers).status_code == 403
    assert ask(explorer, **{"sec-fetch-site": "same-origin"}).status_code == 200


def test_nothing_is_shared_with_other_origins(explorer: Served) -> None:
    preflight = request(
        "OPTIONS", f"{explorer.origin}/ask",
        headers={**explorer.headers, "origin": "https://evil.example", "access-control-request-method": "POST"},
    )  # fmt: skip
    assert preflight.status_code == 403
    for found in (preflight, ask(explorer), explorer.page):
        assert not [name for name in found.headers if name.startswith("access-control")]
        assert found.headers["cross-origin-resource-policy"] == "same-origin"


def test_every_answer_is_shielded(explorer: Served) -> None:
    first, second = explorer.page, get(explorer.address)
    for found in (first, second, ask(explorer), get(f"{explorer.origin}/facts")):
        policy = found.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert found.headers["x-content-type-options"] == "nosniff"
        assert found.headers["referrer-policy"] == "no-referrer"
        assert found.headers["cache-control"] == "no-store"
        assert "server" not in found.headers
    assert first.headers["content-security-policy"] != second.headers["content-security-policy"]


def test_only_what_has_the_nonce_runs(explorer: Served) -> None:
    page = explorer.page
    nonce = re.search(r"script-src 'nonce-([^']+)'", page.headers["content-security-policy"])
    assert nonce is not None
    tags = re.findall(r"<(?:script|style)\b([^>]*)>", page.text)
    assert tags
    assert all(nonce[1] in tag or "type='application/" in tag for tag in tags)  # what is data never runs
    assert not re.search(r"<[^>]+\son[a-z]+\s*=", page.text.split("<script")[0])


def test_only_this_machine_can_reach_it(explorer: Served) -> None:
    others = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)} - {"127.0.0.1"}
    for address in others or {"127.0.0.2"}:
        assert not reachable(str(address), explorer.port)


# --- nonsense ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        (b"", 400, "must be JSON"),
        (b"{", 400, "must be JSON"),
        (b"\xff\xfe", 400, "must be JSON"),
        (b"[]", 400, "must be an object"),
        (b"NaN", 400, "must be JSON"),
        (b'{"part": "answer", "question": {"target": {"value": [null, NaN]}}}', 400, "must be JSON"),
        (b'{"part": "answer", "question": {"target": {"value": [null, 1e999]}}}', 400, "must be a number"),
        (
            b'{"part": "answer", "question": {"target": {"value": [null, 1' + b"0" * 400 + b"]}}}",
            400,
            "must be a number",
        ),
        (b"1" * 5000, 400, "must be JSON"),
        (b"[" * 100_000, 400, "nested more than"),
        (b" " * (1 << 18) + b"{}", 413, "too large"),
        (b'{"part": "shutdown"}', 400, "is not known"),
        (b'{"part": "answer", "question": {}, "file": "/etc/passwd"}', 400, "is not part of a request"),
        (b'{"part": "answer", "question": {"where": "1"}}', 400, "is not part of a question"),
        (b'{"part": "answer", "question": {"selection": {"/etc/passwd": {"range": [0, 1]}}}}', 400, "no parameter"),
        (b'{"part": "trials", "question": {}, "limit": 1000000}', 400, "whole number"),
        (b'{"part": "trials", "question": {}, "sort": "__class__"}', 200, "no column is called"),
        (b'{"part": "plane", "question": {}, "first": "__import__(1)", "second": "alpha"}', 400, "no parameter"),
    ],
)
def test_nonsense_is_refused_in_words(explorer: Served, body: bytes, status: int, words: str) -> None:
    headers = {**explorer.headers, "content-type": "application/json"}
    for path in ("/ask", "/report") if status == 400 and not body.startswith(b'{"part"') else ("/ask",):
        found = post(f"{explorer.origin}{path}", content=body, headers=headers, timeout=60)
        assert found.status_code == status
        assert words in found.json()["refused"]
    assert ask(explorer).status_code == 200  # and it lives


def test_forms_and_other_types_are_refused(explorer: Served) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""):
        headers = {**explorer.headers, "content-type": kind}
        found = post(f"{explorer.origin}/ask", content=json.dumps(ANSWER), headers=headers)
        assert found.status_code == 400
        assert "application/json" in found.json()["refused"]


@pytest.mark.parametrize("path", ["/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/assets/page.js", "/ask", "/docs"])
def test_there_are_no_files(explorer: Served, path: str) -> None:
    with socket.create_connection(("127.0.0.1", explorer.port)) as line:
        head = f"Host: 127.0.0.1:{explorer.port}\r\nX-Pedanova-Token: {explorer.token}"
        line.sendall(f"GET {path} HTTP/1.1\r\n{head}\r\n\r\n".encode())
        assert line.recv(65536).split()[1] in (b"404", b"405")


def test_the_present_selection_can_be_saved_as_a_file(explorer: Served) -> None:
    url = f"{explorer.origin}/report"
    found = post(url, json={"question": SELECTED}, headers=explorer.headers, timeout=300)
    assert found.status_code == 200
    assert found.headers["content-disposition"] == 'attachment; filename="report.html"'
    assert "selected rows" in found.text
    assert post(url, json={"question": SELECTED}, headers={"origin": explorer.origin}).status_code == 403
    none = {"selection": {"learning_rate": {"range": [5, 6]}}}
    assert post(url, json={"question": none}, headers=explorer.headers).status_code == 400


# --- many at once ------------------------------------------------------------------------------------


def test_hundreds_of_questions_at_once_are_answered_or_refused(explorer: Served) -> None:
    async def one(client: httpx.AsyncClient, i: int) -> tuple[int, Any]:
        selection = {"learning_rate": {"range": [0.0001 + i * 1e-6, 0.3]}}
        body = {"part": "answer", "question": {"selection": selection}, "sure": False}
        found = await client.post(f"{explorer.origin}/ask", json=body, headers=explorer.headers)
        return found.status_code, found.json()

    async def all_at_once() -> list[tuple[int, Any]]:
        limits = httpx.Limits(max_connections=None)
        async with httpx.AsyncClient(timeout=300, limits=limits) as client:
            return await asyncio.gather(*(one(client, i) for i in range(MOST_WAITING + 60)))  # far more than may wait

    found = asyncio.run(all_at_once())
    by_status = {status: [body for code, body in found if code == status] for status in {code for code, _ in found}}
    assert set(by_status) <= {200, 503}
    assert by_status[200]
    assert all(body["importances"] for body in by_status[200])
    assert all("too many questions" in body["refused"] for body in by_status.get(503, []))
    assert ask(explorer).status_code == 200


def test_only_the_newest_question_of_a_client_is_answered(explorer: Served) -> None:
    async def one(client: httpx.AsyncClient, i: int) -> tuple[int, Any]:
        selection = {"alpha": {"range": [1e-6 * (i + 1), 5]}}
        body = {"part": "answer", "question": {"selection": selection}, "sure": False, "client": "mouse"}
        found = await client.post(f"{explorer.origin}/ask", json=body, headers=explorer.headers)
        return found.status_code, found.json()

    async def dragging() -> list[tuple[int, Any]]:
        async with httpx.AsyncClient(timeout=300) as client:
            return await asyncio.gather(*(one(client, i) for i in range(40)))

    found = asyncio.run(dragging())
    assert {status for status, _ in found} <= {200, 409}
    assert sum(status == 409 for status, _ in found) > 0
    assert all(body["stale"] for status, body in found if status == 409)
    assert any(status == 200 for status, _ in found)


# --- connections that ask nothing --------------------------------------------------------------------


@contextmanager
def beside(**limits: float) -> Iterator[Any]:
    """An explorer in this process, with other limits."""
    a = pa.analyze({"x": [0.1, 0.5, 0.9] * 20, "loss": list(range(60))}, "loss")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in limits.items():
            patch.setattr(server, name, value)
        with a.explore(open=False, wait=False, estimator="counts") as explorer:
            yield explorer


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nHo", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nGET /"])
def test_a_connection_without_a_request_is_closed(sent: bytes) -> None:
    with beside(IDLE=0.1) as explorer, socket.create_connection(("127.0.0.1", explorer.port), timeout=60) as line:
        line.sendall(sent)
        while line.recv(1 << 16):
            pass  # until it is closed


def test_a_body_that_does_not_come_is_not_waited_for() -> None:
    with beside(IDLE=0.1) as explorer:
        token = payload_of(get(explorer.url).text)["token"]
        origin = f"127.0.0.1:{explorer.port}"
        head = (
            f"POST /ask HTTP/1.1\r\nHost: {origin}\r\nOrigin: http://{origin}\r\nX-Pedanova-Token: {token}\r\n"
            "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
        )
        with socket.create_connection(("127.0.0.1", explorer.port), timeout=60) as line:
            line.sendall(head.encode())
            assert line.recv(1 << 16).startswith(b"HTTP/1.1 400")


def test_idle_connections_make_room_for_others() -> None:
    with beside(MOST_IDLE=5) as explorer, ExitStack() as opened:
        idle = [
            opened.enter_context(socket.create_connection(("127.0.0.1", explorer.port), timeout=60)) for _ in range(30)
        ]
        assert all(line.recv(1) == b"" for line in idle[:20])  # the oldest are closed
        assert get(explorer.url).status_code == 200


# --- the end -----------------------------------------------------------------------------------------


def test_ctrl_c_ends_it_and_leaves_nothing_behind(tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with served(*demo(), environment=environment) as explorer:
        assert ask(explorer).status_code == 200
        assert explorer.interrupt() == 0
        assert explorer.process.stderr is not None
        assert explorer.process.stderr.read() == ""
        assert not reachable("127.0.0.1", explorer.port)
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_does_not_wait_for_answers() -> None:
    """A question of seconds is under way, and a line is held open."""
    with served(*demo()) as explorer:
        body = {"part": "space", "question": SELECTED}
        request = json.dumps(body).encode()
        head = (
            f"POST /ask HTTP/1.1\r\nHost: 127.0.0.1:{explorer.port}\r\nOrigin: {explorer.origin}\r\n"
            f"X-Pedanova-Token: {explorer.token}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(request)}\r\n\r\n"
        )
        with socket.create_connection(("127.0.0.1", explorer.port)) as line:
            line.sendall(head.encode() + request)
            assert ask(explorer).status_code == 200
            assert explorer.interrupt() == 0


def test_a_port_that_is_taken_is_said_to_be(explorer: Served) -> None:
    words = [sys.executable, "-m", "pedanova", "explore", *demo(), "--no-open", "--port", str(explorer.port)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert done.returncode == 2
    assert f"port {explorer.port} cannot be used" in done.stderr
