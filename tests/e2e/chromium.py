"""The dashboard in a real browser: a logged-in page that collects every fault it has, and what its canvases show."""

from __future__ import annotations

import base64
import io
import os
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from axe_playwright_python.sync_playwright import Axe
from PIL import Image
from playwright.sync_api import Browser, Page, expect, sync_playwright

from acud.protocol.web import Scope
from tests.e2e.conftest import BARE
from tests.e2e.gateway_support import code, served
from tests.fixtures.daemon import Daemon

SETTINGS = BARE + "[web]\nenabled = true\nport = 0\n"
PATIENCE_MS = 60_000
SHOTS = Path(__file__).parents[2] / ".state" / "dashboard"
KEEPS_ALL = "KEEP_PICTURES" in os.environ
"""Else a picture is kept only of a page that fails: without a graphics card Chromium works a while on each."""
Pixels = npt.NDArray[np.uint8]

_PROGRAM = "/usr/bin/chromium"
_ARGUMENTS = [
    # A test's browser runs as whoever runs the tests, root in CI; it must call nobody but the gateway.
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip


def is_there() -> bool:
    """Tell whether there is a Chromium to drive."""
    return Path(_PROGRAM).exists()


class Chromium:
    """A browser; use it in a `with`. Pages that it opened close with it."""

    def __enter__(self) -> Self:
        expect.set_options(timeout=PATIENCE_MS)
        self._playwright = sync_playwright().start()
        self.browser: Browser = self._playwright.chromium.launch(
            executable_path=_PROGRAM, args=_ARGUMENTS, timeout=2 * PATIENCE_MS
        )
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self.browser.close()
        self._playwright.stop()

    def visit(self, daemon: Daemon, path: str, scope: Scope = Scope.ADMIN, **given: Any) -> Visit:
        """Log in to the daemon's gateway with `scope` and open `#/path`; `given`: options of the browser's context."""
        return Visit(self.browser, daemon, path, scope, given)


def keep_picture(page: Page, name: str) -> None:
    """Write what the page shows to `SHOTS`."""
    SHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SHOTS / f"{name}.png")


def serious(page: Page) -> list[tuple[str, str]]:
    """Return the serious faults that axe-core finds on the page: rule, and the first place that breaks it."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(Axe().axe_script)
    found = page.evaluate("axe.run({ resultTypes: ['violations'] }).then((all) => all.violations)")
    return [(one["id"], one["nodes"][0]["html"][:200]) for one in found if one["impact"] in ("serious", "critical")]


def log_in(page: Page, url: str, code: str) -> None:
    """Give the browser a session without the page of the login, which costs a load of the dashboard more."""
    assert page.request.post(f"{url}/api/login", data={"code": code}, headers={"X-Acud": "1", "Origin": url}).ok


class Visit:
    """Somebody at the dashboard, with cookies of their own; use it in a `with`, which fails on a fault of the page."""

    def __init__(self, browser: Browser, daemon: Daemon, path: str, scope: Scope, given: dict[str, Any]) -> None:
        self.faults: list[str] = []
        self.expected: tuple[str, ...] = ()
        """Words of console messages that belong to what the test does."""
        self.url = served(daemon)
        self._context = browser.new_context(
            **{"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce", **given}
        )
        self._context.set_default_timeout(PATIENCE_MS)
        self.page: Page = self._context.new_page()
        self.page.on("console", lambda message: self._heard(message.type, message.text))
        self.page.on("pageerror", lambda fault: self.faults.append(str(fault)))
        log_in(self.page, self.url, code(daemon.client, scope=scope, name="Kim"))
        self.go(path)

    def _heard(self, kind: str, text: str) -> None:
        if kind in ("error", "warning") and not any(words in text for words in self.expected):
            self.faults.append(f"{kind}: {text}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self._context.close()
        if fault is None:
            assert not self.faults, self.faults

    def go(self, path: str) -> None:
        """Go to the panel `path`."""
        self.page.goto(f"{self.url}/dashboard#/{path}")

    def shot(self, name: str) -> None:
        """Fail for a serious fault that axe finds, and keep a picture of the page that has it."""
        bad = serious(self.page)
        if bad or KEEPS_ALL:
            keep_picture(self.page, name)
        assert not bad, f"{name}: {bad}"

    def pixels(self, selector: str = ".screen-canvas") -> Pixels:
        """Return what a canvas or a video shows: height x width x 3 RGB."""
        url = self.page.locator(selector).evaluate(_DRAWN)
        return np.asarray(Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2]))).convert("RGB"))

    def until(self, script: str, argument: Any = None) -> None:
        """Return once `script`, a function of the page, is true."""
        self.page.wait_for_function(script, arg=argument)


_DRAWN = """(shown) => {
  const canvas = document.createElement("canvas");
  canvas.width = shown.videoWidth || shown.width;
  canvas.height = shown.videoHeight || shown.height;
  canvas.getContext("2d", { willReadFrequently: true }).drawImage(shown, 0, 0);
  return canvas.toDataURL("image/png");
}"""
