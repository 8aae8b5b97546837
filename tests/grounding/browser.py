"""Pages of the grounding set in Chromium or Firefox: served on loopback, they post where their elements are."""

from __future__ import annotations

import json
import shutil
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from acud.types import Rect
from tests.grounding.desktop import Desktop, chromium

PAGES = Path(__file__).parent / "pages"
_PREFS: dict[str, str | int | bool] = {
    "accessibility.force_disabled": -1, "app.normandy.enabled": False, "app.update.enabled": False,
    "browser.aboutwelcome.enabled": False, "browser.shell.checkDefaultBrowser": False,
    "browser.startup.homepage_override.mstone": "ignore", "browser.startup.page": 0,
    "datareporting.policy.dataSubmissionEnabled": False,
    "datareporting.policy.dataSubmissionPolicyBypassNotification": True,
    "network.captive-portal-service.enabled": False, "network.connectivity-service.enabled": False,
    "termsofuse.acceptedVersion": 999, "termsofuse.bypassNotification": True,
    "toolkit.telemetry.reportingpolicy.firstRun": False, "trailhead.firstrun.didSeeAboutWelcome": True,
}  # fmt: skip
_TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript"}


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        name = Path(self.path).name
        path = self.server.folder / name  # type: ignore[attr-defined]
        if not path.is_file():
            path = PAGES / name
        if not path.is_file():
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Type", _TYPES[path.suffix])
        self.end_headers()
        self.wfile.write(path.read_bytes())

    def do_POST(self) -> None:
        told = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.told = json.loads(told)  # type: ignore[attr-defined]
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


class Page:
    """A page of `folder`, open in a Chromium of its own on `desktop`; a context manager that ends the server, while the
    browser ends with the desktop. The page loads `/truth.js`.
    """

    def __init__(self, desktop: Desktop, name: str, *flags: str, folder: Path = PAGES) -> None:
        self._desktop = desktop
        self._name = name
        self._flags = flags
        self._folder = folder

    def __enter__(self) -> Self:
        # Browsers open connections that they use later, or never.
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.told = None  # type: ignore[attr-defined]
        self._server.folder = self._folder  # type: ignore[attr-defined]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        profile = self._desktop.folder / f"profile-{self._server.server_port}"
        self._start(profile, f"http://127.0.0.1:{self._server.server_port}/{self._name}")
        self._desktop.wait_for(lambda: self._server.told is not None, self._name)  # type: ignore[attr-defined]
        return self

    def _start(self, profile: Path, address: str) -> None:
        self._desktop.spawn(
            chromium(), "--no-sandbox", "--force-renderer-accessibility", "--no-first-run", "--disable-gpu",
            "--test-type", "--start-maximized", "--password-store=basic", f"--user-data-dir={profile}", *self._flags,
            address,
        )  # fmt: skip

    @property
    def truth(self) -> dict[str, Rect]:
        """Where the page's keyed elements are, in display pixels, as the page told last."""
        return {key: Rect(*box) for key, box in self._server.told.items()}  # type: ignore[attr-defined]

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()


class FirefoxPage(Page):
    """The same in Firefox, without what it shows at its first start."""

    def _start(self, profile: Path, address: str) -> None:
        profile.mkdir()
        write_preferences(profile)
        self._desktop.spawn(
            firefox(), "--no-remote", "--profile", str(profile), *self._flags, address,
            GNOME_ACCESSIBILITY="1", MOZ_CRASHREPORTER_DISABLE="1",
        )  # fmt: skip


def write_preferences(profile: Path) -> None:
    """Have a Firefox with this profile show nothing but its page."""
    (profile / "user.js").write_text(
        "".join(f"user_pref({json.dumps(k)}, {json.dumps(v)});\n" for k, v in _PREFS.items())
    )


def firefox() -> str:
    return shutil.which("firefox-esr") or ""
