"""Debian's Chromium for the tests of the page (packages `chromium`, `chromium-driver`), with the network off.

Where it is not installed the tests skip and say so, unless CI or PEDANOVA_BROWSER=1 is set, which turns that
into a failure.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
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
        self.driver = webdriver.Chrome(options=options, service=Service(str(driver)))
        self.downloads = downloads
        self.command("Network.enable")
        offline = {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
        self.command("Network.emulateNetworkConditions", **offline)
        self.command("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(downloads))

    def command(self, name: str, **options: Any) -> Any:
        return self.driver.execute_cdp_cmd(name, options)

    def run(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def size(self, width: int, height: int = 900) -> None:
        shape = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.command("Emulation.setDeviceMetricsOverride", **shape)

    def dark(self, *, on: bool) -> None:
        scheme = {"name": "prefers-color-scheme", "value": "dark" if on else "light"}
        self.command("Emulation.setEmulatedMedia", features=[scheme])
        self.settle()

    def open(self, path: Path) -> Page:
        self.complaints()
        self.requests()
        self.driver.get(path.as_uri())
        self.settle()
        self.run("pedanova.charts.paintAll()")  # also what is out of sight
        return self

    def settle(self) -> None:
        """Two frames later everything that was asked for is drawn."""
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

    def bars(self, metric: str = "ratio") -> dict[str, float]:
        """The numbers behind the bars, as they are ranked on the page."""
        script = """
            const items = [...document.querySelectorAll('#bars li')];
            items.sort((a, b) => a.dataset.rank - b.dataset.rank);
            return items.map((li) => {
                const button = li.querySelector('button');
                return [button.querySelector('.name').textContent, button.dataset[arguments[0]]];
            });"""
        return {name: float(value) for name, value in self.run(script, metric)}

    def table(self, key: str) -> list[list[str]]:
        script = """
            const details = document.getElementById(arguments[0] + '-table');
            details.open = true;
            const done = arguments[1];
            requestAnimationFrame(() => setTimeout(() => done([...details.querySelectorAll('tr')].map(
                (row) => [...row.cells].map((cell) => cell.textContent))), 30));"""
        rows: list[list[str]] = self.driver.execute_async_script(script, key)
        return rows

    def save(self, key: str, form: str) -> Path:
        """The file that an export button gives."""
        path = self.downloads / f"pedanova-{key}.{form}"
        path.unlink(missing_ok=True)
        self.click(f"[data-export={form}][data-of={key}]")
        for _ in range(100):
            if path.exists():
                return path
            self.driver.execute_async_script("setTimeout(arguments[0], 50)")
        pytest.fail(f"{path.name} was not saved")


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
