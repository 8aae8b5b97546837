"""Sessions of a real tmux: its usual socket, its silence, its absence; programs that do not end or stop talking."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from acud.config import PtySettings
from acud.process.event_loop import EventLoop
from acud.supervisor.observers import Order
from acud.supervisor.terminal_sessions import Sessions
from acud.supervisor.terminal_sessions.program_call import CallResult, ProgramCall
from acud.types import Verdict
from acud.waits.terminals import SessionSurvey, parse_session_name
from tests.fixtures.patience import LONG_S

NO_SOCKET = Path("/nowhere/tmux")
"""Of sessions that acud opened: there are none."""


@pytest.fixture
def loop() -> EventLoop:
    return EventLoop(time.monotonic)


@pytest.fixture
def env() -> Iterator[dict[str, str]]:
    """An environment whose usual tmux server is this test's; it is ended."""
    with tempfile.TemporaryDirectory(prefix="acud-test-tmux-") as folder:
        made = {"PATH": os.environ["PATH"], "HOME": folder, "TMUX_TMPDIR": folder}
        yield made
        subprocess.run(["tmux", "kill-server"], env=made, check=False, stderr=subprocess.DEVNULL)


def turned(loop: EventLoop, found: Callable[[], bool]) -> None:
    give_up_s = time.monotonic() + LONG_S
    while not found():
        assert time.monotonic() < give_up_s
        loop.turn(1.0)


def surveyed(loop: EventLoop, sessions: Sessions, name: str) -> SessionSurvey:
    found: list[SessionSurvey] = []
    sessions.survey(parse_session_name(name), found.append)
    turned(loop, lambda: bool(found))
    return found[0]


def said(loop: EventLoop, *command: str, timeout_s: float = LONG_S) -> CallResult:
    found: list[CallResult] = []
    ProgramCall(loop, list(command), dict(os.environ), timeout_s, found.append)
    turned(loop, lambda: bool(found))
    return found[0]


class Watcher:
    """Counts the surveys of a watched session."""

    def __init__(self) -> None:
        self.count = 0

    def sessions_seen(self, wanted: str) -> None:
        self.count += 1


def test_the_usual_server_is_that_of_the_environment_and_not_one_we_live_in(
    loop: EventLoop, env: dict[str, str]
) -> None:
    sessions = Sessions(
        loop, PtySettings(poll_s=0.1, timeout_s=LONG_S), {**env, "TMUX": "/nowhere/else,1,0"}, NO_SOCKET
    )
    assert surveyed(loop, sessions, "build").sessions == ()
    assert surveyed(loop, sessions, "build").fault == ""
    subprocess.run(
        ["tmux", "-u", "new-session", "-d", "-s", "büild", "-x", "20", "-y", "5", "cat"], env=env, check=True
    )
    (found,) = surveyed(loop, sessions, "build").sessions
    assert (found.name, found.chains, found.pane) == ("büild", (), None)
    place = sessions.find_window("büild", ())
    assert place is None  # nobody watches it


def test_output_is_read_when_it_is_written_and_not_at_the_next_poll(loop: EventLoop, env: dict[str, str]) -> None:
    sessions = Sessions(loop, PtySettings(poll_s=3600, timeout_s=LONG_S), env, NO_SOCKET)
    subprocess.run(["tmux", "new-session", "-d", "-s", "a", "-x", "20", "-y", "9", "cat"], env=env, check=True)
    begun_s = time.monotonic()
    sessions.watch("wait", "a", text=True)
    turned(loop, lambda: sessions.read_text("a", begun_s).screen is not None)
    for word in ("once", "again"):
        subprocess.run(["tmux", "send-keys", "-t", "=a:", word, "Enter"], env=env, check=True)
        turned(loop, lambda: word in (sessions.read_text("a", begun_s).screen or ""))  # noqa: B023 - called at once
    sessions.unwatch("wait")
    subprocess.run(["tmux", "send-keys", "-t", "=a:", "unheard", "Enter"], env=env, check=True)
    loop.turn(0.3)


@pytest.mark.parametrize("pty", ["a", "pts/999999"])
def test_many_waits_on_a_session_are_one_poll(loop: EventLoop, env: dict[str, str], pty: str) -> None:
    watcher = Watcher()
    sessions = Sessions(loop, PtySettings(poll_s=0.2, timeout_s=LONG_S), env, NO_SOCKET)
    sessions.watchers.add(watcher, Order.CORE)
    for consumer in range(8):
        sessions.watch(consumer, pty, text=bool(consumer % 2))
        seen = watcher.count
        turned(loop, lambda: watcher.count > seen)  # noqa: B023 - called at once
    begun, begun_s = watcher.count, time.monotonic()
    turned(loop, lambda: watcher.count >= begun + 10)
    assert watcher.count - begun <= (time.monotonic() - begun_s) / 0.2 + 3  # those under way may come late


@pytest.mark.parametrize(("script", "timeout_s", "words"), [
    ("sleep 1000", 0.3, "did not answer within"), ("echo 'lost server' >&2; exit 1", 3600.0, "lost server"),
    ("exit 3", 3600.0, "status 3"),
])  # fmt: skip
def test_a_tmux_that_does_not_tell_is_a_fault(
    loop: EventLoop, env: dict[str, str], tmp_path: Path, script: str, timeout_s: float, words: str
) -> None:
    program = tmp_path / "tmux"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o700)
    sessions = Sessions(loop, PtySettings(poll_s=0.1, timeout_s=timeout_s, tmux=str(program)), env, NO_SOCKET)
    assert words in surveyed(loop, sessions, "build").fault
    sessions.watch("wait", "build", text=True)
    turned(loop, lambda: "build" in sessions.newest)
    place = sessions.find_window("build", ())
    assert isinstance(place, Verdict)
    assert (place.code, words in place.detail) == ("session_unread", True)


@pytest.mark.parametrize(
    ("pty", "words"),
    [("tmux:/etc/passwd/x", "is not a socket of this user"), ("tmux:/dev/null/x", "is not a socket of this user")],
)
def test_only_sockets_of_ours_are_asked(loop: EventLoop, env: dict[str, str], pty: str, words: str) -> None:
    sessions = Sessions(loop, PtySettings(), env, NO_SOCKET)
    assert words in surveyed(loop, sessions, pty).fault


def test_a_program_may_print_much_but_not_for_ever(loop: EventLoop) -> None:
    much = said(loop, "sh", "-c", "head -c 1000000 /dev/zero | tr '\\0' x")
    assert (len(much.output), much.complaint) == (1_000_000, "")
    assert "more than" in said(loop, "yes").complaint
    assert "did not answer" in said(loop, "sleep", "1000", timeout_s=0.2).complaint
    # Its child holds the pipe open; nobody waits for that.
    assert said(loop, "sh", "-c", "echo hi; sleep 3 & exit 0").output == "hi\n"
