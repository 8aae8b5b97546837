"""The dashboard of a real daemon in a real Chromium: what it shows, what its console says, whether all can use it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, ViewportSize, expect

from acud.protocol.web import Scope
from acud_client import Client
from tests.e2e.chromium import KEEPS_ALL, Chromium, is_there, keep_picture, log_in, serious
from tests.e2e.conftest import BARE
from tests.e2e.gateway_support import code

SETTINGS = BARE + '[vision]\nbackend = "scripted"\nscripted = \'{"default": "no"}\'\n[web]\nenabled = true\nport = 0\n'
PATIENCE_MS = 60_000
_DESK: ViewportSize = {"width": 1280, "height": 800}
PANELS = ("", "tasks", "waits", "feed", "recordings", "commentary", "wakes", "usage", "health", "screens")


@contextmanager
def chromium() -> Iterator[Browser]:
    """Run Debian's Chromium; without one the tests are skipped by name."""
    if not is_there():
        pytest.skip("no /usr/bin/chromium: scripts/setup --test installs it where there is one")
    with Chromium() as running:
        yield running.browser


class Visitor:
    """A browser of its own (cookies, theme) with one page. `faults`: what went wrong in its scripts; `unserved`:
    what Chromium itself says of requests that failed.
    """

    def __init__(self, browser: Browser, url: str) -> None:
        self.url = url
        self.context: BrowserContext = browser.new_context(
            viewport=_DESK, color_scheme="light", reduced_motion="reduce"
        )
        self.page: Page = self.context.new_page()
        self.page.set_default_timeout(PATIENCE_MS)
        self.faults: list[str] = []
        self.unserved: list[str] = []
        self.page.on("pageerror", lambda fault: self.faults.append(str(fault)))
        self.page.on("console", self._heard)

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            is_network = message.text.startswith("Failed to load resource")
            (self.unserved if is_network else self.faults).append(message.text)

    def login(self, client: Client, scope: Scope = Scope.ADMIN, **given: Any) -> None:
        """Come in, and wait for the live page."""
        log_in(self.page, self.url, code(client, scope=scope, **given))
        self.page.goto(f"{self.url}/dashboard")
        expect(self.page.locator("#link")).to_have_text("live")

    def go(self, path: str) -> None:
        """Open a panel, and wait until it has something to show."""
        self.page.goto(f"{self.url}/dashboard#/{path}")
        self.page.wait_for_function("want => document.querySelector('.panel')?.dataset.shown === want", arg=path)
        self.settled()

    def settled(self) -> None:
        """Wait until nothing is being loaded."""
        expect(self.page.locator(".skeleton")).to_have_count(0)

    def begin_again(self) -> None:
        """Become the next test's: still logged in, at a desk by day, on a page that none begins with, and no faults."""
        self.page.unroute_all(behavior="ignoreErrors")
        self.go("usage")
        self.page.set_viewport_size(_DESK)
        self.page.emulate_media(color_scheme="light")
        self.faults.clear()
        self.unserved.clear()

    def check(self, name: str, *, axe: bool = True) -> None:
        """Fail for a serious fault that axe finds, for sideways scrolling and for faults in scripts; keep a picture
        of the page that has them.
        """
        bad = serious(self.page) if axe else []
        wide = self.page.evaluate("document.documentElement.scrollWidth - innerWidth")
        if bad or wide > 0 or self.faults or KEEPS_ALL:
            keep_picture(self.page, name)
        assert not bad, f"{name}: {bad}"
        assert wide <= 0, f"{name} is {wide} px too wide"
        assert not self.faults, f"{name}: {self.faults} {self.unserved}"

    def close(self) -> None:
        """End it."""
        self.context.close()
