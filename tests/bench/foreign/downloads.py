"""Files that strangers' programs write: complete when the last byte is there, and not in a pause before it.

A loopback server sends half of the file, pauses for longer than a file has to be still, and then sends the rest.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from acud.types import DisplayInfo, FileState
from tests.bench.foreign.case import Answer, Case, Outcome
from tests.fixtures.daemon import Daemon

SETTINGS = f'[vision]\nbackend = "ocr"\n[host_conditions]\npaths = ["{tempfile.gettempdir()}"]\n'
_NAME, _SIZE = "ledger.bin", 600_000
_PAUSE_S = 3.0
_PATIENCE_S = 60.0

Command = Callable[[Path, str], list[str]]
"""Makes the command from the folder for the file and the address of its first half."""


class _Server(ThreadingHTTPServer):
    """`half`: half of the file was sent. `rest`: the other half may be."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.half, self.rest = threading.Event(), threading.Event()
        threading.Thread(target=self.serve_forever, daemon=True).start()


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_HEAD(self) -> None:
        self._head()

    def do_GET(self) -> None:
        if not self.path.endswith(_NAME):
            self.send_error(404)
            return
        self._head()
        self.wfile.write(b"x" * (_SIZE // 2))
        self.server.half.set()
        self.server.rest.wait(_PATIENCE_S)
        self.wfile.write(b"y" * (_SIZE - _SIZE // 2))

    def _head(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "application/octet-stream")
        self.send_header("content-disposition", f'attachment; filename="{_NAME}"')
        self.send_header("content-length", str(_SIZE))
        self.end_headers()

    def log_message(self, *words: object) -> None:
        """Print nothing."""


def _judge(daemon: Daemon, command: Command, *, shows: bool = False) -> Outcome:
    """Return whether the file is complete once it is, and was not in the pause."""
    with tempfile.TemporaryDirectory() as name:
        folder, display = Path(name), daemon.client.display_create().display if shows else None
        server = _Server()
        place = folder / "in"
        place.mkdir()
        wait = daemon.client.wait_create(FileState(str(place / _NAME)), timeout_s=_PATIENCE_S).wait
        address = f"http://127.0.0.1:{server.server_port}/{_NAME}"
        program = subprocess.Popen(
            command(place, address), env=_env(folder, display), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            if not server.half.wait(_PATIENCE_S):
                return Outcome(Answer.UNKNOWN, "the program asked for nothing")
            paused = daemon.client.wait_result(wait.wait_id, block_s=_PAUSE_S).wait
            server.rest.set()
            ended = daemon.client.wait_result(wait.wait_id, block_s=_PATIENCE_S).wait
        finally:
            server.rest.set()
            program.terminate()
            program.wait()
            server.shutdown()
            server.server_close()
            if display is not None:
                daemon.client.display_remove(display.name, force=True)
        if paused.state == "resolved":
            return Outcome(Answer.WRONG, f"in the pause: {paused.verdict.detail}")
        is_whole = ended.state == "resolved" and (place / _NAME).stat().st_size == _SIZE
        printed = f"{paused.verdict.detail}; then {ended.state}: {ended.verdict.detail}"
        return Outcome(Answer.RIGHT if is_whole else Answer.UNKNOWN, printed)


def _env(folder: Path, display: DisplayInfo | None) -> dict[str, str]:
    shown = {"DISPLAY": display.name, "XAUTHORITY": display.auth_file} if display is not None else {}
    return {**os.environ, **shown, "HOME": str(folder), "MOZ_DISABLE_CONTENT_SANDBOX": "1"}


def _firefox(place: Path, address: str) -> list[str]:
    profile = place.parent / "firefox"
    profile.mkdir()
    wanted = {
        "browser.download.folderList": 2, "browser.download.dir": str(place), "browser.download.useDownloadDir": True,
        "browser.download.always_ask_before_handling_new_types": False, "browser.shell.checkDefaultBrowser": False,
        "datareporting.policy.dataSubmissionEnabled": False, "toolkit.telemetry.reportingpolicy.firstRun": False,
    }  # fmt: skip
    lines = (f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in wanted.items())
    (profile / "user.js").write_text("\n".join(lines))
    return ["firefox-esr", "--no-remote", "--profile", str(profile), address]


def _chromium(place: Path, address: str) -> list[str]:
    profile = place.parent / "chromium"
    (profile / "Default").mkdir(parents=True)
    wanted = {"download": {"default_directory": str(place), "prompt_for_download": False}}
    (profile / "Default" / "Preferences").write_text(json.dumps(wanted))
    return ["chromium", "--no-sandbox", "--no-first-run", "--disable-gpu", f"--user-data-dir={profile}", address]


def _curl(place: Path, address: str) -> list[str]:
    return ["curl", "-s", "-o", str(place / _NAME), address]


def _wget(place: Path, address: str) -> list[str]:
    return ["wget", "-q", "-P", str(place), address]


def _rsync(place: Path, address: str) -> list[str]:
    """As slow as the pause is long, in place: the server is asked so that the case knows when it began."""
    copy = f'rsync --inplace --bwlimit=150 "$0" "{place}/" & curl -s -o /dev/null "$1"; wait'
    source = place.parent / _NAME
    source.write_bytes(b"z" * _SIZE)
    return ["sh", "-c", copy, str(source), address]


def _aria2(place: Path, address: str) -> list[str]:
    return ["aria2c", "-q", "--file-allocation=falloc", "-d", str(place), address]


def _pipe(place: Path, address: str) -> list[str]:
    return ["sh", "-c", 'curl -sN "$1" | dd bs=4k of="$0" status=none', str(place / _NAME), address]


_WRITER = """
import os, sys, urllib.request
place, address = sys.argv[1:]
with urllib.request.urlopen(address) as source, open(place, "wb") as file:
    os.posix_fallocate(file.fileno(), 0, int(source.headers["content-length"]))
    while data := source.read1(4096):
        file.write(data)
        file.flush()
"""


def _allocated(place: Path, address: str) -> list[str]:
    return [sys.executable, "-c", _WRITER, str(place / _NAME), address]


CASES = (
    Case("firefox", partial(_judge, command=_firefox, shows=True)),
    Case("curl", partial(_judge, command=_curl)),
    Case("wget", partial(_judge, command=_wget)),
    Case("rsync in place", partial(_judge, command=_rsync)),
    Case("chromium", partial(_judge, command=_chromium, shows=True), held_out=True),
    Case("aria2 with its size from the start", partial(_judge, command=_aria2), held_out=True),
    Case("dd behind a pipe", partial(_judge, command=_pipe), held_out=True),
    Case("a writer with its size from the start", partial(_judge, command=_allocated), held_out=True),
)
