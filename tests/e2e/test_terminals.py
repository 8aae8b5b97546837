"""Terminal sessions that acud opens: typed into, read, waited for, closed; over kills, over every surface."""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from acud.base.errors import Conflict, InvalidRequest, NotFound, Refused, Unavailable
from acud.protocol.requests.terminals import TerminalReply
from acud.protocol.requests.waits import WaitCreate
from acud.protocol.web import Scope
from acud.types import Change, ProcessExit, Text, WaitState
from acud_cli.exit_codes import Exit
from acud_client import Client
from tests.e2e.api_support import Api
from tests.e2e.cli_support import CommandLine
from tests.e2e.conftest import BARE, SCRIPTED
from tests.e2e.desktop import ended, until
from tests.e2e.mcp_support import fault, stdio, value
from tests.fixtures.daemon import Daemon

DAEMON_SETTINGS = (
    SCRIPTED + BARE + "[pty]\npoll_s = 0.2\ntimeout_s = 30\n[web]\nenabled = true\nport = 0\n"
    "[redaction]\npatterns = ['tulip-\\d+']\n"
)
ENTER = ("Enter",)
LONG_S = 60.0


@pytest.fixture
def client(daemon: Daemon) -> Iterator[Client]:
    """A client; the sessions that a test leaves are closed."""
    yield daemon.client
    for one in daemon.client.terminal_list().terminals:
        daemon.client.terminal_close(one.name)


def shell(client: Client, name: str = "build", cwd: str = "") -> TerminalReply:
    """Open a shell, at its prompt."""
    return client.terminal_open(("sh",), name=name, cwd=cwd, moment="done", block_s=LONG_S)


def typed(client: Client, text: str, name: str = "build") -> TerminalReply:
    """Run a command of the shell to its end."""
    return client.terminal_type(name, text, keys=ENTER, moment="done", block_s=LONG_S)


def test_a_build_that_fails_is_mended_and_built_again(client: Client, tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("all:\n\t@grep -q good source && echo BUILD''OK\n")
    (tmp_path / "source").write_text("bad\n")
    displays = [one.name for one in client.display_list().displays]
    opened = shell(client, cwd=str(tmp_path))
    assert (opened.terminal.name, opened.terminal.target, opened.terminal.busy) == ("build", "pty:build", False)
    wait = WaitCreate(Text(r"exit=\d", regex=True), timeout_s=LONG_S)
    make = "make; echo exit=$?"
    failed = client.terminal_type("build", make, keys=ENTER, wait=wait, block_s=LONG_S)
    assert failed.wait is not None
    assert failed.wait.wait.state is WaitState.RESOLVED
    assert failed.wait.wait.display == ""  # none is needed, and none was started
    assert "exit=2" in failed.text
    assert make not in failed.text
    typed(client, "echo good > source")
    mended = client.terminal_type("build", make, keys=ENTER, wait=wait, block_s=LONG_S)
    assert mended.wait is not None
    # The failure still stands above on the screen: only what was written since counts.
    assert mended.wait.wait.verdict.detail == 'the terminal reads "exit=0"'
    assert "exit=2" not in mended.text
    assert "BUILDOK" in mended.text
    assert [one.name for one in client.display_list().displays] == displays


def test_a_command_that_clears_the_screen_is_read_from_its_beginning(client: Client) -> None:
    shell(client)
    typed(client, "seq 12")
    cleared = typed(client, "clear; echo first; seq 3")
    assert cleared.text.split("\n")[:4] == ["first", "1", "2", "3"]


def test_what_is_not_echoed_is_no_output_and_hides_none(client: Client) -> None:
    shell(client)
    ask = "stty -echo; printf 'Ke''y: '; read key; echo got $key; stty echo"
    wait = WaitCreate(Text("Key:"), timeout_s=LONG_S)
    asked = client.terminal_type("build", ask, keys=ENTER, wait=wait, block_s=LONG_S)
    assert asked.text == "Key:"
    assert "got x1" in typed(client, "x1").text


def test_keys_interrupt_a_command(client: Client) -> None:
    shell(client)
    client.terminal_type("build", "sleep 600", keys=ENTER)
    until(lambda: client.terminal_read("build").terminal.busy is True, "the command")
    stopped = client.terminal_type("build", keys=("ctrl+c",), moment="done", block_s=LONG_S)
    assert (stopped.settled, stopped.terminal.busy) == (True, False)
    with pytest.raises(InvalidRequest, match="is no key of a terminal"):
        client.terminal_type("build", keys=("ctrl+nowhere",))
    with pytest.raises(InvalidRequest, match="nothing to type"):
        client.terminal_type("build")


def test_semicolons_and_many_words_arrive_as_they_are(client: Client) -> None:
    odd = "echo 'a b' $HOME; #{pane_id} #(touch /nowhere) \\;"
    opened = client.terminal_open(("printf", "<%s>", odd, ";", "x;"), moment="done", block_s=LONG_S)
    assert opened.text == f"<{odd}><;><x;>"
    assert opened.terminal.exit_code == 0
    shell(client)
    assert typed(client, "printf '<%s>\\n' 'ünï 日本' \\;").text.startswith("<ünï 日本>\n<;>")


def test_the_end_of_the_program_is_told_with_its_exit_status(client: Client, tmp_path: Path) -> None:
    go = tmp_path / "go"
    script = f"echo begun; until test -e {go}; do sleep 0.05; done; echo over; exit 3"
    opened = client.terminal_open(("sh", "-c", script), name="job")
    wait = client.wait_create(ProcessExit(opened.terminal.pid), timeout_s=LONG_S).wait
    go.touch()
    assert ended(client, wait.wait_id).verdict.detail.endswith("has ended: exit status 3")
    told = client.terminal_read("job", moment="done", block_s=LONG_S)
    assert (told.terminal.running, told.terminal.end, told.terminal.exit_code) == (False, "exit status 3", 3)
    assert told.text == "begun\nover"
    late = client.wait_create(ProcessExit(opened.terminal.pid), timeout_s=LONG_S).wait
    assert ended(client, late.wait_id).verdict.detail.endswith("has ended: exit status 3")
    with pytest.raises(Conflict, match="the program in job has ended: exit status 3"):
        client.terminal_type("job", "x")
    killed = client.terminal_open(("sh", "-c", "kill -TERM $$"), moment="done", block_s=LONG_S).terminal
    assert (killed.end, killed.exit_code) == ("killed by SIGTERM", -15)


def test_the_last_words_of_a_program_are_read_by_a_tmux_that_lags_behind(client: Client, tmp_path: Path) -> None:
    """It takes the pane for dead when the first process ends, and drops what it has not read by then."""
    program = tmp_path / "program"
    go, number = tmp_path / "go", tmp_path / "number"
    program.write_text(f"echo $$ > {number}; until test -e {go}; do sleep 0.05; done; seq 1200; exit 3\n")
    opened = client.terminal_open(("sh", str(program)), name="last", moment="now")
    server = int(Path(f"/proc/{opened.terminal.pid}/stat").read_text().rpartition(")")[2].split()[1])
    until(lambda: number.exists() and number.read_text().strip(), "its number")
    os.kill(server, signal.SIGSTOP)
    try:
        go.touch()
        until(lambda: not _runs(int(number.read_text())), "the end of the program")
    finally:
        os.kill(server, signal.SIGCONT)
    told = client.terminal_read("last", moment="done", block_s=LONG_S)
    assert (told.text.split()[-1:], told.terminal.end) == (["1200"], "exit status 3")


def _runs(pid: int) -> bool:
    """Tell whether the process has not ended. tmux may not have noticed yet that it did."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_wait_for_text_that_can_not_come_any_more_is_given_up(client: Client) -> None:
    wait = WaitCreate(Text("READY"), timeout_s=LONG_S)
    failed = client.terminal_open(("sh", "-c", "sleep 0.3; exit 4"), wait=wait, block_s=LONG_S)
    assert failed.wait is not None
    assert failed.wait.wait.state is WaitState.CANCELLED
    assert "the program has ended (exit status 4)" in failed.note
    shell(client)
    asked = client.terminal_type("build", "false", keys=ENTER, wait=wait, block_s=LONG_S)
    assert asked.wait is not None
    assert asked.wait.wait.state is WaitState.CANCELLED
    assert "the command has ended" in asked.note
    behind = client.terminal_type("build", "(sleep 1; echo REA''DY) &", keys=ENTER, wait=wait, block_s=LONG_S)
    assert behind.wait is not None
    assert behind.wait.wait.state is WaitState.RESOLVED


def test_a_wait_goes_on_over_a_kill_of_the_daemon_and_sees_how_it_ended_meanwhile(tmp_path: Path) -> None:
    with Daemon(settings=DAEMON_SETTINGS) as daemon:
        client = daemon.client
        go = tmp_path / "go"
        script = f"until test -e {go}; do sleep 0.05; done; exit 5"
        job = client.terminal_open(("sh", "-c", script), name="job", moment="now").terminal
        shell(client)
        told = client.wait_create(ProcessExit(job.pid), timeout_s=LONG_S).wait
        read = client.wait_create(Text("over and out"), "pty:build", timeout_s=LONG_S).wait
        assert read.display == ""
        daemon.kill()
        go.touch()
        until(lambda: not _runs(job.pid), "the end of the program")
        daemon.start()
        assert ended(client, told.wait_id).verdict.detail.endswith("has ended: exit status 5")
        typed(client, "echo over and ou''t")
        assert ended(client, read.wait_id).state is WaitState.RESOLVED
        assert [one.name for one in client.terminal_list().terminals] == ["job", "build"]
        daemon.stop()  # in good order: sessions are not the daemon's to end
        daemon.start()
        assert client.terminal_read("job").terminal.exit_code == 5
        for name in ("job", "build"):
            client.terminal_close(name)
        assert client.terminal_list().terminals == ()
        asked = ["tmux", "-S", str(daemon.paths.terminals_socket), "list-sessions"]

        def refusal() -> str:
            return subprocess.run(asked, capture_output=True, text=True, check=False).stderr

        until(lambda: "no server running" in refusal(), "the end of the server")


def test_names_limits_and_absence_are_told(client: Client, tmp_path: Path) -> None:
    shell(client)
    with pytest.raises(Conflict, match="'build' is open already"):
        shell(client)
    with pytest.raises(NotFound, match=r"no terminal session 'bild' is open \(sessions open: build\)"):
        client.terminal_read("bild")
    with pytest.raises(NotFound, match="no program 'no-such-program'"):
        client.terminal_open(("no-such-program",))
    with pytest.raises(NotFound, match="no directory"):
        client.terminal_open(cwd=str(tmp_path / "nowhere"))
    with pytest.raises(InvalidRequest, match="name"):
        client.terminal_open(name="a;b")
    for _ in range(31):
        client.terminal_open(("true",), moment="now")
    with pytest.raises(Refused, match="32 terminal sessions are open"):
        client.terminal_open(("true",))


def test_without_tmux_it_says_so() -> None:
    with Daemon(settings=BARE + '[pty]\ntmux = "no-such-tmux"\n') as daemon:
        with pytest.raises(Unavailable, match="cannot start no-such-tmux"):
            daemon.client.terminal_open()
        assert daemon.client.terminal_list().terminals == ()


def test_programs_get_a_display_and_none_of_the_daemons_secrets() -> None:
    with Daemon(settings=DAEMON_SETTINGS, env={"GITHUB_PAT": "hush", "TMUX": "/x,1,1", "DISPLAY": ":99"}) as daemon:
        client = daemon.client
        bare = client.terminal_open(("env",), name="bare", moment="done", block_s=LONG_S)
        shown = client.display_create(320, 240).display
        wait = WaitCreate(Text("all told"), timeout_s=LONG_S)
        command = ("sh", "-c", "env; echo all told; sleep 600")
        there = client.terminal_open(command, name="there", display=shown.name, wait=wait, block_s=LONG_S)
        assert "hush" not in bare.text + there.text
        assert "DISPLAY=" not in bare.text
        assert f"DISPLAY={shown.name}\n" in f"{there.text}\n"
        client.display_remove(shown.name)
        gone = client.terminal_read("there", moment="done", block_s=LONG_S).terminal
        assert not gone.running  # as a program that was launched there
        assert client.terminal_read("bare").terminal.exit_code == 0  # the server is of no display
        for name in ("bare", "there"):
            client.terminal_close(name)


def test_the_socket_is_closed_to_others(client: Client, daemon: Daemon) -> None:
    shell(client)
    folder = daemon.paths.terminals
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    if os.geteuid() == 0:
        asked = ["tmux", "-S", str(daemon.paths.terminals_socket), "attach", "-t", "build"]
        done = subprocess.run(asked, user=65534, group=65534, extra_groups=(), capture_output=True, check=False)
        assert b"Permission denied" in done.stderr


def test_secrets_are_taken_out_of_what_is_read(client: Client) -> None:
    said = ("echo", "the code is tulip-4711, says he")
    opened = client.terminal_open(said, name="job", moment="done", block_s=LONG_S)
    for told in (opened, client.terminal_read("job"), client.terminal_read("job", lines=5)):
        assert "4711" not in told.text
        assert "says he" in told.text


def test_what_needs_pixels_says_that_no_window_shows_the_session(client: Client) -> None:
    shell(client)
    notes = client.wait_create(Change(), "pty:build", timeout_s=LONG_S).notes
    assert any("detached" in note for note in notes)


def test_over_rest(client: Client, daemon: Daemon) -> None:
    with Api(daemon) as admin, Api(daemon, Scope.ACT) as acting, Api(daemon, Scope.READ) as reading:
        assert acting.refused("POST", "terminals", json={"command": ["sh"]}) == (403, "forbidden")
        admin.post("terminals", command=["sh"], name="web", moment="done", block_s=45)
        done = acting.post("terminals/web/type", text="echo a''b", keys=["Enter"], moment="done", block_s=45)
        assert done["text"].split("\n")[0] == "ab"
        assert "ab" in reading.get("terminals/web", lines=5)["text"]
        assert [one["name"] for one in reading.get("terminals")["terminals"]] == ["web"]
        assert reading.refused("POST", "terminals/web/type", json={"text": "x"}) == (403, "forbidden")
        with Api(daemon, Scope.ADMIN, displays=(":7",)) as limited:
            assert limited.refused("GET", "terminals/web")[0] == 403
        acting.delete("terminals/web")
        assert reading.get("terminals")["terminals"] == []


def test_over_the_command_line(client: Client, daemon: Daemon) -> None:
    acud = CommandLine(daemon.home)
    acud.run("terminal", "open", "--name", "cli", "--done", "--", "sh")
    assert acud.run("terminal", "type", "cli", "echo a''b", "--done").startswith("ab\n")
    acud.run("terminal", "type", "cli", "echo o''k", "--until-text", "ok")
    acud.run("terminal", "type", "cli", "true", "--until-text", "never", code=Exit.CANCELLED)
    assert "cli" in acud.run("terminal", "list")
    assert "ok" in acud.run("terminal", "read", "cli", "--limit", "20")
    assert acud.json("terminal", "read", "cli")["terminal"]["busy"] is False
    acud.run("terminal", "close", "cli")
    acud.run("terminal", "read", "cli", code=Exit.NOT_FOUND)


def test_over_mcp(client: Client, daemon: Daemon, tmp_path: Path) -> None:
    async def asked() -> None:
        async with stdio(daemon.home, "--block", "45") as mcp:
            opened = value(await mcp.call_tool("terminal", {"action": "open", "cwd": str(tmp_path), "until": "done"}))
            assert (opened["terminal"], opened["state"]) == ("t1", "prompt")
            seen = {"action": "type", "text": "echo exit=$((1+2))", "until": {"text": "exit=3"}}
            done = value(await mcp.call_tool("terminal", seen))
            assert done["wait"]["status"] == "resolved"
            assert done["text"].startswith("exit=3")
            assert list(done).index("untrusted") < list(done).index("text")
            ran = value(await mcp.call_tool("terminal", {"action": "type", "text": "cat nowhere", "until": "done"}))
            assert "No such file" in ran["text"]
            job = value(await mcp.call_tool("terminal", {"action": "open", "text": "echo x; exit 7", "until": "done"}))
            assert (job["state"], job["end"], job["text"]) == ("ended", "exit status 7", "x")
            assert "sessions open: t1, t2" in fault(await mcp.call_tool("terminal", {"action": "read"}))
            listed = value(await mcp.call_tool("terminal", {"action": "list"}))
            assert [one["terminal"] for one in listed["terminals"]] == ["t1", "t2"]
            for name in ("t1", "t2"):
                await mcp.call_tool("terminal", {"action": "close", "name": name})
            assert client.terminal_list().terminals == ()

    asyncio.run(asked())


def test_launch_status_over_mcp(client: Client, daemon: Daemon, tmp_path: Path) -> None:
    shown = client.display_create(320, 240).display
    said, go = tmp_path / "said", tmp_path / "go"
    script = f"echo last words; touch {said}; until test -e {go}; do sleep 0.05; done; exit 3"

    async def asked() -> None:
        async with stdio(daemon.home, "--block", "45") as mcp:
            launch = {"action": "launch", "text": shlex.join(("sh", "-c", script)), "picture": False}
            pid = value(await mcp.call_tool("desktop_action", launch | {"display": shown.name}))["pid"]
            ask = {"action": "launch_status", "text": str(pid)}
            until(said.exists, "the last words")
            running = value(await mcp.call_tool("desktop_action", ask))
            assert (running["state"], running["last_lines"]) == ("running", ["last words"])
            go.touch()
            ended(client, client.wait_create(ProcessExit(pid), timeout_s=LONG_S).wait.wait_id)
            told = value(await mcp.call_tool("desktop_action", ask))
            assert (told["state"], told["end"]) == ("ended", "exit status 3")
            assert list(told).index("untrusted") < list(told).index("last_lines")
            assert "no pid" in fault(await mcp.call_tool("desktop_action", ask | {"text": "sh"}))

    asyncio.run(asked())
    client.display_remove(shown.name, force=True)
