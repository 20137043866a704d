"""How a page of the documentation looks to those who read it: axe-core, and nothing wider than the screen."""

from __future__ import annotations

from pathlib import Path

from helpers.chromium import Page

SCREENS = {"phone": (390, 844), "laptop": (1366, 768)}


def show(browser: Page, path: Path, screen: str = "laptop", *, dark: bool = False) -> None:
    browser.size(*SCREENS[screen])
    browser.dark(on=dark)
    browser.driver.get(path.as_uri())
    browser.until("return document.readyState === 'complete'")


def faults(browser: Page, path: Path, axe: str, screen: str, *, dark: bool) -> list[str]:
    """What is wrong with it on that screen, a line each."""
    show(browser, path, screen, dark=dark)
    wide, width = browser.run("return document.documentElement.scrollWidth"), SCREENS[screen][0]
    found = [f"{wide} pixels on a screen of {width}"] if wide > width else []
    browser.run(axe)
    browser.driver.set_script_timeout(300)
    told = browser.driver.execute_async_script("axe.run({resultTypes: ['violations']}).then(arguments[0])")
    for one in told["violations"]:
        found += [f"{one['id']}: {one['help']}: {node['html'][:160]}" for node in one["nodes"][:4]]
    return found
