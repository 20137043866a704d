"""Debian's Chromium for the tests of the page (packages `chromium`, `chromium-driver`), with the network off.

Where it is not installed the tests skip and say so, unless CI or PEDANOVA_BROWSER=1 is set, which turns that
into a failure.
"""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-background-networking --disable-component-update "
    "--disable-sync --no-first-run --disable-dev-shm-usage --hide-scrollbars --force-device-scale-factor=1"
)
AXE = "axe-core@4"


def missing(what: str, package: str) -> None:
    reason = f"{what} is not installed ({package})"
    if os.environ.get("CI") or os.environ.get("PEDANOVA_BROWSER") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


class Page:
    """A page in the browser, and what the tests ask of it."""

    def __init__(self, downloads: Path) -> None:
        browser, driver = shutil.which("chromium"), shutil.which("chromedriver")
        if browser is None or driver is None:
            missing("Chromium", "apt-get install chromium chromium-driver")
        try:
            from selenium import webdriver
            from selenium.webdriver.chrome.service import Service
        except ImportError:
            missing("Selenium", "pip install selenium")
        options = webdriver.ChromeOptions()
        options.binary_location = str(browser)
        for flag in [*FLAGS.split(), f"--user-data-dir={downloads / 'profile'}"]:
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        # Chromium puts a socket into TMPDIR, and the path of a socket has at most 107 characters.
        service = Service(str(driver), env={**os.environ, "TMPDIR": "/tmp"})
        self.driver = webdriver.Chrome(options=options, service=service)
        self.downloads = downloads
        self.command("Network.enable")
        self.online(on=False)
        self.command("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(downloads))

    def fresh(self) -> None:
        """Nothing open, nothing stored, no network, its own size and colours."""
        self.driver.get("about:blank")
        self.command("Storage.clearDataForOrigin", origin="*", storageTypes="all")
        self.command("Network.clearBrowserCookies")
        self.command("Emulation.clearDeviceMetricsOverride")
        self.command("Emulation.setEmulatedMedia", media="", features=[])
        self.online(on=False)
        self.driver.set_script_timeout(30)  # Selenium's own
        for saved in self.downloads.glob("*.*"):
            if saved.is_file():
                saved.unlink()
        self.complaints()
        self.requests()

    def command(self, name: str, **options: Any) -> Any:
        return self.driver.execute_cdp_cmd(name, options)

    def run(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def later(self, script: str, *arguments: Any) -> Any:
        """What a script hands to its last argument, a function, when it is done."""
        return self.driver.execute_async_script(script, *arguments)

    def size(self, width: int, height: int = 900) -> None:
        shape = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.command("Emulation.setDeviceMetricsOverride", **shape)

    def dark(self, *, on: bool) -> None:
        scheme = {"name": "prefers-color-scheme", "value": "dark" if on else "light"}
        self.command("Emulation.setEmulatedMedia", features=[scheme])
        self.settle()

    def downloaded(self, name: str, start: Callable[[], object]) -> Path:
        """The file that `start` makes the browser save, once it is whole: its name is there first, and empty."""
        path = self.downloads / name
        path.unlink(missing_ok=True)
        start()
        for _ in range(600):
            if path.exists() and path.stat().st_size and not list(self.downloads.glob("*.crdownload")):
                return path
            time.sleep(0.05)
        raise AssertionError(f"{name} was not saved; the page said {self.complaints()}")

    def online(self, *, on: bool) -> None:
        state = {"offline": not on, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
        self.command("Network.emulateNetworkConditions", **state)

    def open(self, place: Path | str) -> Page:
        """A file, or the address of a server on this machine."""
        self.complaints()
        self.requests()
        self.online(on=isinstance(place, str))
        self.driver.get("about:blank")  # so that another part behind the # is another page
        self.driver.get(place if isinstance(place, str) else place.as_uri())
        self.until("return document.body.dataset.ready === 'yes'")
        self.settle()
        return self

    def until(self, script: str, *arguments: Any) -> None:
        """Waits until the page says so."""
        from selenium.webdriver.support.ui import WebDriverWait

        WebDriverWait(self.driver, 120, poll_frequency=0.05).until(lambda _: self.run(script, *arguments))

    def settle(self) -> None:
        """Until the answer to what is asked is there and sure, and two frames later, when it is drawn."""
        self.until("return !window.pedanova || !pedanova.page || !pedanova.page.answer() || pedanova.page.isSettled()")
        wait = "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()));"
        self.driver.execute_async_script(wait)

    def complaints(self) -> list[str]:
        """What the console has said since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """Addresses that were asked for since the last call."""
        events = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        sent = [event for event in events if event["method"] == "Network.requestWillBeSent"]
        return [event["params"]["request"]["url"] for event in sent]

    def find(self, css: str) -> Any:
        return self.driver.find_element("css selector", css)

    def text(self, css: str) -> str:
        found = self.run("return document.querySelector(arguments[0]).textContent", css)
        return str(found).replace("\u00a0", " ")

    def press(self, css: str, *keys: str) -> None:
        self.find(css).send_keys(*keys)
        self.settle()

    def click(self, css: str) -> None:
        self.run("document.querySelector(arguments[0]).scrollIntoView({block: 'center'})", css)
        self.find(css).click()
        self.settle()

    def bars(self, metric: str = "share") -> dict[str, float]:
        """The numbers behind the bars, as they are ranked on the page, with those that are folded away."""
        self.settle()
        self.run("document.querySelectorAll('.fold[aria-expanded=false]').forEach((fold) => fold.click())")
        self.settle()
        script = """
            const rows = [...document.querySelectorAll('#matters .ranked')];
            return rows.map((row) => [row.dataset.parameter, row.dataset[arguments[0]]]);"""
        return {name: float(value) for name, value in self.run(script, metric)}

    def state(self) -> dict[str, Any]:
        found: dict[str, Any] = self.run("return pedanova.state.get()")
        return found

    def answer(self) -> dict[str, Any]:
        """The answer that is shown."""
        self.settle()
        found: dict[str, Any] = self.run("return pedanova.page.answer()")
        return found

    def drag(self, css: str, start: tuple[float, float], stop: tuple[float, float], steps: int = 4) -> None:
        """With the mouse, from one place of an element to another; places are parts of its width and height."""
        from selenium.webdriver import ActionChains

        self.run("document.querySelector(arguments[0]).scrollIntoView({block: 'center'})", css)
        moves = self._move(ActionChains(self.driver, duration=10), css, start, stop, steps, down=True)
        moves.w3c_actions.pointer_action.pointer_up()
        moves.perform()
        self.settle()

    def hold(self, css: str, start: tuple[float, float], stop: tuple[float, float], steps: int = 4) -> None:
        """As `drag`, but the mouse is not let go."""
        from selenium.webdriver import ActionChains

        self.run("document.querySelector(arguments[0]).scrollIntoView({block: 'center'})", css)
        self._move(ActionChains(self.driver, duration=10), css, start, stop, steps, down=True).perform()

    def pull(self, css: str, start: tuple[float, float], stop: tuple[float, float], steps: int = 4) -> None:
        """The held mouse moves on."""
        from selenium.webdriver import ActionChains

        self._move(ActionChains(self.driver, duration=10), css, start, stop, steps).perform()

    def release(self) -> None:
        from selenium.webdriver import ActionChains

        ActionChains(self.driver, duration=0).release().perform()
        self.settle()

    def _move(self, moves: Any, css: str, start: Any, stop: Any, steps: int, *, down: bool = False) -> Any:
        box = self.run("return document.querySelector(arguments[0]).getBoundingClientRect().toJSON()", css)
        at = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in (start, stop)]
        moves.w3c_actions.pointer_action.move_to_location(round(at[0][0]), round(at[0][1]))
        if down:
            moves.w3c_actions.pointer_action.pointer_down()
        for step in range(1, steps + 1):
            x, y = (a + (b - a) * step / steps for a, b in zip(*at, strict=True))
            moves.w3c_actions.pointer_action.move_to_location(round(x), round(y))
        return moves

    def shot(self, path: Path) -> Path:
        """All of the page as a picture, to look at."""
        path.write_bytes(base64.b64decode(self.command("Page.captureScreenshot", captureBeyondViewport=True)["data"]))
        return path

    def pages(self) -> int:
        """How many sheets of paper it takes."""
        pdf = base64.b64decode(self.command("Page.printToPDF", printBackground=True, preferCSSPageSize=True)["data"])
        return len(re.findall(rb"/Type\s*/Page\b", pdf))


def axe_script(folder: Path) -> str:
    """axe-core from npm, fetched once into a folder."""
    script = folder / "node_modules" / "axe-core" / "axe.min.js"
    if not script.exists():
        npm = shutil.which("npm")
        if npm is None:
            missing("npm", "apt-get install npm")
        command = [str(npm), "install", "--prefix", str(folder), "--no-audit", "--no-fund", AXE]
        done = subprocess.run(command, capture_output=True, text=True, timeout=180)
        assert done.returncode == 0, done.stderr
    return script.read_text(encoding="utf-8")
