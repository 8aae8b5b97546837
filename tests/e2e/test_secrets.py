"""What a daemon with secrets keeps to itself: in its environment, and in what it stores of requests."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from acud.protocol.requests.actions import ActionReply, DesktopAction
from acud.supervisor.displays import proc_files
from acud.types.actions import Launch
from tests.e2e.conftest import SCRIPTED
from tests.e2e.desktop import until
from tests.fixtures.daemon import Daemon

SECRETS = {
    "OPENROUTER_API_KEY": "sk-or-thorn", "ANTHROPIC_API_KEY": "sk-ant-thorn",
    "ACU_WAKE_OPENCLAW_TOKEN": "thorn-openclaw", "ACU_WAKE_WEBHOOK_SECRET": "thorn-webhook", "GITHUB_PAT": "ghp-thorn",
    "SENTRY_DSN": "https://thorn.example", "JWT": "thorn",
}  # fmt: skip
HARMLESS = {"ACUD_TEST_COLOUR": "green", "LC_MEASUREMENT": "C"}
_WITH_A_COLOUR = SCRIPTED + '[display]\nenvironment = ["ACUD_TEST_COLOUR", "ACUD_TEST_SHADE=dark"]\n'


@pytest.fixture(scope="module")
def keeper() -> Iterator[Daemon]:
    """A daemon that has secrets, with everything that a display of ours usually has."""
    with Daemon(settings=_WITH_A_COLOUR, env=SECRETS | HARMLESS) as running:
        yield running


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""  # it ended meanwhile, or it is somebody else's


def test_nothing_on_a_display_inherits_what_is_not_listed(keeper: Daemon) -> None:
    made = keeper.client.display_create(320, 240).display
    keeper.client.ask(DesktopAction((Launch(("env",)),), display=made.name), ActionReply)
    folder = keeper.paths.displays / made.name.lstrip(":")
    told = folder / "launched-env.log"
    shown = until(lambda: told.exists() and told.read_text(), "what env shows")
    assert {"ACUD_TEST_COLOUR=green", "LC_MEASUREMENT=C", "ACUD_TEST_SHADE=dark"} <= set(shown.splitlines())
    assert "thorn" not in shown
    marker = f"{proc_files.MARKER}={folder}\0".encode()

    def three() -> list[bytes] | None:
        found = [
            one for process in Path("/proc").glob("[0-9]*") if marker in (one := _read(process / "environ") + b"\0")
        ]
        return found if len(found) >= 3 else None

    found = until(three, "X server, session bus, window manager")
    assert not [one for one in found if b"thorn" in one]
    keeper.client.terminal_open(display=made.name)
    lines = [_read(file) for file in Path("/proc").glob("[0-9]*/cmdline")]
    assert [line for line in lines if b"new-session" in line]  # of tmux, which serves on under its first command line
    assert not [line for line in lines if b"thorn" in line]


def test_a_stored_digest_does_not_tell_what_was_typed(keeper: Daemon) -> None:
    launch = DesktopAction((Launch(("true", "1234")),), display=keeper.client.display_create(320, 240).display.name)
    keeper.client.ask(launch, ActionReply, request_id="guess-me")
    body = msgspec.to_builtins(launch)
    guess = hashlib.sha256(msgspec.msgpack.Encoder(order="deterministic").encode(body)).hexdigest()
    with closing(sqlite3.connect(f"file:{keeper.paths.database}?mode=ro", uri=True)) as store:
        ((digest,),) = store.execute("SELECT digest FROM requests WHERE request_id = 'guess-me'").fetchall()
    assert len(digest) == len(guess)
    assert digest != guess
    assert keeper.paths.request_key.stat().st_mode & 0o777 == 0o600
