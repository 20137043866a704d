"""The page on a machine with other users: what lets it in is in no address, no cookie and no file that others read."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

import pedanova as pa
from helpers.chromium import Page
from helpers.tabs import save, served

FORMULAS = ["=1+1", "+1", "-1+cmd|' /C calc'!A0", "@SUM(1)", "plain"]


@contextmanager
def stranger() -> Iterator[tuple[str, list[str]]]:
    """Another server of this machine, and the headers that reach it."""
    heard: list[str] = []

    class Listens(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            heard.append(str(self.headers))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>stranger</title>")

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Listens) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{other.server_port}/", heard
        other.shutdown()


def test_no_address_and_no_cookie_holds_what_lets_in(page: Page, explorer: str) -> None:
    ticket = explorer.partition("ticket=")[2]
    page.open(explorer)
    secret = page.run("return localStorage.getItem('pedanova')")
    assert len(secret) > 40
    for shown in (page.run("return location.href"), page.run("return pedanova.state.address()")):
        assert secret not in shown
        assert ticket not in shown
    assert page.run("return document.cookie") == ""
    assert page.driver.get_cookies() == []
    assert not [url for url in page.requests() if secret in url]
    with stranger() as (place, heard):
        page.driver.get(place)
        assert page.run("return localStorage.getItem('pedanova')") is None  # storage is the port's own
        assert heard
        assert not [headers for headers in heard if secret in headers or "cookie" in headers.lower()]


def test_a_browser_that_was_let_in_comes_back(page: Page, explorer: str) -> None:
    page.open(explorer)
    page.run("pedanova.state.select('optimizer', {labels: ['adam']})")
    page.settle()
    shown, link = page.bars(), page.run("return pedanova.state.address()")
    page.open(link)  # a bookmark, and what "Link" copies
    assert page.bars() == shown
    assert page.run("return document.title") == page.text("#title")
    page.open(explorer)  # its ticket is used, but the browser is known
    assert page.bars()


def test_a_browser_that_was_not_let_in_is_told_so(page: Page, explorer: str) -> None:
    page.open(explorer)
    page.run("localStorage.clear()")
    page.driver.get("about:blank")
    page.driver.get(explorer)
    page.until("return document.getElementById('headline').textContent.includes('was already used')")
    assert page.run("return document.querySelectorAll('.ranked').length") == 0
    page.complaints()  # the refused request, and the error that says so


@pytest.fixture(scope="module")
def formulas() -> pa.Analysis:
    random = np.random.default_rng(0)
    kind = random.choice(FORMULAS, 200)
    columns: dict[str, Any] = {"=2+2": random.random(200), "kind": kind, "loss": random.random(200) + (kind == "=1+1")}
    return pa.analyze(columns, "loss")


def test_no_cell_of_a_saved_table_is_computed(page: Page, formulas: pa.Analysis) -> None:
    with served(page, formulas):
        page.click("#tab-trials")
        for key in ("importance", "densities", "trials"):
            text = save(page, key, "csv").read_text(encoding="utf-8")
            cells = [cell.strip('"') for line in text.splitlines() for cell in line.split(",")]
            assert [cell for cell in cells if cell.startswith("'")]
            assert not [cell for cell in cells if cell[:1] in "=+@" and cell]
