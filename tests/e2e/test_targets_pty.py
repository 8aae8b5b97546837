"""Waits on terminals: a tmux session shown, covered, detached, ended and back; a tty; one that is not there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from acud.base.errors import NotFound
from acud.types import AllOf, Change, DisplayInfo, Rect, Stable, Text, WaitState, WindowTitle
from acud_client import Client
from tests.e2e.cli_support import CommandLine
from tests.e2e.conftest import BARE, PATIENT_TMUX
from tests.e2e.desktop import Desk, ended, judged, shown, titled, until
from tests.e2e.mcp_support import fault, stdio, value
from tests.e2e.terminals import Tmux
from tests.fixtures.daemon import Daemon

LONG_S = 120.0


@pytest.fixture
def tmux() -> Iterator[Tmux]:
    with Tmux() as server:
        yield server


def test_text_of_a_covered_tmux_session_is_exact(client: Client, view: DisplayInfo, desk: Desk, tmux: Tmux) -> None:
    target = tmux.session("build")
    tmux.show(desk, "build", "terminal")
    terminal = titled(client, view.name, "terminal")
    desk.window(Rect(0, 0, 640, 480), 0x2020FF, "cover")
    titled(client, view.name, "cover")
    wait = client.wait_create(Text("O0Il1| done"), target, display=view.name, timeout_s=LONG_S).wait.wait_id
    judged(client, wait, "no")
    until(lambda: shown(client, wait).frames_seen, "a picture of the covered window")
    tmux.type("build", "O0Il1| done")
    done = ended(client, wait)
    assert done.state is WaitState.RESOLVED
    assert done.verdict.detail == 'the terminal reads "O0Il1| done"'
    assert done.evidence is not None
    assert done.evidence.name, done.evidence.reason
    assert (done.evidence.width, done.evidence.height) == (terminal.bounds.w, terminal.bounds.h)


def test_a_detached_session_is_read_and_not_seen(client: Client, view: DisplayInfo, desk: Desk, tmux: Tmux) -> None:
    target = tmux.session("job")
    seen = client.wait_create(Stable(0.5), target, display=view.name, timeout_s=LONG_S).wait.wait_id
    blind = judged(client, seen, "unknown", "not_viewable")
    until(lambda: "is detached: no window shows it" in shown(client, seen).note, "the note")
    assert blind.state is WaitState.WATCHING
    reply = client.wait_create(Text("all tests pass"), target, display=view.name, timeout_s=LONG_S)
    assert "is detached" in " ".join(reply.notes)
    read = reply.wait.wait_id
    judged(client, read, "no")
    tmux.type("job", "all tests pass")
    done = ended(client, read)
    assert done.state is WaitState.RESOLVED
    assert done.evidence is not None
    assert "detached" in done.evidence.reason
    tmux.show(desk, "job", "shown at last")
    assert ended(client, seen).state is WaitState.RESOLVED


def test_a_line_that_scrolls_off_at_once_is_read(client: Client, view: DisplayInfo, desk: Desk, tmux: Tmux) -> None:
    """Also where the history is full, so that tmux drops its oldest lines, and with a window that shows the session."""
    target = tmux.session("log")
    for word, lines in (("new", 60), ("full", 500), ("shown", 500)):
        if word == "full":
            tmux.flood("log", "filler %d", 3000)
        elif word == "shown":
            tmux.show(desk, "log", "terminal")
            titled(client, view.name, "terminal")
        text = f"{word} {lines - 43}"
        wait = client.wait_create(Text(text), target, display=view.name, timeout_s=LONG_S).wait.wait_id
        judged(client, wait, "no")
        tmux.flood("log", f"{word} %d", lines)
        done = ended(client, wait)
        assert done.state is WaitState.RESOLVED
        assert done.verdict.detail == f'the terminal reads "{text}", which has scrolled off since'


def test_a_session_that_ends_is_unknown_and_goes_on_when_it_is_back(
    client: Client, view: DisplayInfo, desk: Desk, tmux: Tmux
) -> None:
    tmux.session("other")
    target = tmux.session("build")
    until_text = AllOf((Text("ready"), WindowTitle("nowhere", gone=True)))
    wait = client.wait_create(until_text, target, display=view.name, timeout_s=LONG_S).wait.wait_id
    gone = client.wait_create(Text("ready", gone=True), target, display=view.name, timeout_s=LONG_S)
    assert ended(client, gone.wait.wait_id).state is WaitState.RESOLVED
    judged(client, wait, "no")
    tmux.type("build", "almost")
    tmux.run("kill-session", "-t", "=build")
    lost = judged(client, wait, "unknown", "session_missing")
    assert "no tmux session" in lost.verdict.detail
    tmux.session("build")
    judged(client, wait, "no")
    tmux.type("build", "ready")
    assert ended(client, wait).state is WaitState.RESOLVED


def test_a_terminal_is_found_by_its_device(client: Client, view: DisplayInfo, desk: Desk, tmp_path: Path) -> None:
    told = tmp_path / "tty"
    # Each answer to "where is the cursor" comes from a terminal that has drawn what came before the question.
    ask = "printf '\\033[6n'; dd bs=1 count=6 of=/dev/null status=none; "
    script = f"stty -icanon -echo; printf '\\033[?25l'; {ask}{ask}tty > {told}; cat"
    program = desk.run("xterm", "-T", "before", "-fa", "DejaVu Sans Mono", "-fs", "14", "-geometry", "40x8+30+20",
                       "-e", "sh", "-c", script)  # fmt: skip
    window = titled(client, view.name, "before")
    tty = until(lambda: told.exists() and told.read_text().strip(), "the terminal's name")
    picture = client.look(f"pty:{tty}", display=view.name)
    assert picture.crop == window.bounds
    wait = client.wait_create(Change(), f"pty:{tty}", display=view.name, timeout_s=LONG_S).wait.wait_id
    desk.fill(Rect(500, 400, 20, 20), 0x00FF00)
    until(lambda: shown(client, wait).frames_seen >= 1, "a frame")
    assert shown(client, wait).state is WaitState.WATCHING
    Path(tty).write_text("hello\n")
    assert ended(client, wait).state is WaitState.RESOLVED
    assert client.wait_for_change(f"pty:{tty}", timeout_s=0.05, display=view.name).picture.crop == window.bounds
    last = client.wait_create(Stable(3600.0), f"pty:{tty}", display=view.name, timeout_s=LONG_S).wait.wait_id
    desk.end(program)
    assert "no session has the terminal pts/" in judged(client, last, "unknown", "session_missing").verdict.detail


def test_an_unknown_session_is_an_error_that_lists_those_there_are(
    shared: Daemon, client: Client, view: DisplayInfo, desk: Desk, tmux: Tmux
) -> None:
    tmux.session("away")
    target = tmux.session("build")
    tmux.show(desk, "build", "terminal")
    titled(client, view.name, "terminal")
    wrong = target.replace("/build", "/biuld")
    with pytest.raises(NotFound, match=r"no tmux session 'tmux:.*biuld' is there.*tmux away \(detached\)") as caught:
        client.wait_create(Text("x"), wrong, display=view.name)
    assert "tmux build (attached)" in str(caught.value)
    assert "(window 'terminal')" in str(caught.value)
    with pytest.raises(NotFound, match="no terminal pts/999999 is there"):
        client.look("pty:/dev/pts/999999", display=view.name)
    line = CommandLine(shared.home).start("wait", "--text", "x", "-t", wrong, "-d", view.name)
    _, said = line.communicate(timeout=60)
    assert line.returncode != 0
    assert "sessions found: " in " ".join(said.split())
    assert "window 'terminal'" in " ".join(said.split())


def test_a_detached_session_is_read_on_after_a_crash_of_the_daemon(tmux: Tmux) -> None:
    with Daemon(settings=BARE + PATIENT_TMUX + "poll_s = 0.2\n") as daemon:
        target = tmux.session("job")
        wait = daemon.client.wait_create(Text("over and out"), target, timeout_s=LONG_S).wait.wait_id
        judged(daemon.client, wait, "no")
        daemon.kill()
        tmux.type("job", "over and out")
        daemon.start()
        assert ended(daemon.client, wait).state is WaitState.RESOLVED


@pytest.mark.asyncio
async def test_an_agent_waits_on_a_session_through_mcp(shared: Daemon, view: DisplayInfo, tmux: Tmux) -> None:
    target = tmux.session("agent")
    async with stdio(shared.home, "--block", "60") as client:
        asked = {"text": "42 passed", "target": target, "display": view.name, "timeout_s": LONG_S}
        started = value(await client.call_tool("smart_wait", asked))
        tmux.type("agent", "42 passed")
        done = value(await client.call_tool("wait_result", {"wait_id": started["wait_id"], "block": 60}))
        assert done["status"] == "resolved"
        unknown = fault(await client.call_tool("smart_wait", asked | {"target": "pty:no-such-session"}))
        assert "no tmux session 'no-such-session' is there" in unknown
