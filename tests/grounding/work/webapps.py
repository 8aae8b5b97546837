"""Screens to work with: pages of web applications as real products look, in Chromium and Firefox."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from tests.grounding.applications import FIREFOX_TOOLBAR, FIREFOX_VERSION, Screen, differs, page_screen
from tests.grounding.browser import FirefoxPage, Page
from tests.grounding.desktop import chromium

_HERE = Path(__file__).parent
_CHROMIUM = ("mail", "bank", "seats", "admin", "player", "planner", "journey", "clinic", "account", "console", "dialog")
_FIREFOX = ("review", "photos")

SCREENS: dict[str, Screen] = {
    **{f"webapps_{name}": partial(page_screen, Page, _HERE / f"webapps_{name}.html", {}) for name in _CHROMIUM},
    **{
        f"webapps_{name}": partial(page_screen, FirefoxPage, _HERE / f"webapps_{name}.html", FIREFOX_TOOLBAR)
        for name in _FIREFOX
    },
}


def lacking(screen: str) -> str:
    """Return why this machine can't show `screen` ("" when it can)."""
    if screen.removeprefix("webapps_") in _FIREFOX:
        return differs("firefox-esr", FIREFOX_VERSION)
    return "" if chromium() else "no chromium"
