"""The command line against real sockets: what it sends, what it prints, how it ends."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
from io import RawIOBase
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from acud.base.paths import Paths
from acud.protocol.evaluation import JudgeHealth
from acud.protocol.requests.daemon import DoctorReply, EventsSinceReply, Finding, StatusReply
from acud.protocol.requests.displays import DisplayListReply
from acud.protocol.requests.tasks import TaskListReply
from acud.protocol.requests.waits import WaitListReply, WaitShowReply
from acud.types import DisplayInfo, DisplayState, Rect, RouteName, WaitState, WindowInfo, no, unknown, yes
from acud.types.tasks import ItemStatus, PlanItem, Task, TaskStatus, TaskView
from acud_cli.__main__ import run
from acud_cli.app import cli
from acud_cli.exit_codes import Exit
from tests.integration.client_replies import WAIT_ID, Script, wait_info, waiting
from tests.integration.client_stand_in import StandIn, paths_at, refusal

Output = pytest.CaptureFixture[str]

EVIL = "evil\x1b]0;owned\x07\x9b31m\u202etxt"
WINDOW = WindowInfo(0x400001, EVIL, Rect(0, 0, 640, 480))
DISPLAY = DisplayInfo(
    ":100",
    1,
    managed=True,
    state=DisplayState.UP,
    width=1280,
    height=720,
    frame=41,
    frame_age_s=0.4,
    fps=2.5,
    grab_path="attachfd",
    windows=(WINDOW,),
    is_default=True,
    auth_file="/home/a b/auth",
    bus_address="unix:path=/x",
)


@pytest.fixture
def paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Paths:
    monkeypatch.setenv("ACU_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return paths_at(tmp_path)


def test_progress_is_told_once_per_change_of_words(paths: Paths, capsys: Output) -> None:
    stages = [
        wait_info(), wait_info(), wait_info(verdict=unknown("judge_down", "ollama does not answer")),
        wait_info(verdict=no("not there yet")), wait_info(WaitState.RESOLVED, yes("there")),
    ]  # fmt: skip
    with StandIn(paths, waiting(*stages)):
        run(["wait", "x"])
    told = [line.split("  ", 1)[1] for line in capsys.readouterr().err.splitlines() if line.startswith("20 s")]
    assert told == ["no: not there yet", "unknown: ollama does not answer", "no: not there yet"]


def _spawn(paths: Paths, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "acud_cli", *arguments],
        env=os.environ | {"ACU_HOME": str(paths.home)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("arguments", [("wait", "x"), ("wait", "result", WAIT_ID)], ids=" ".join)
def test_ctrl_c_leaves_the_wait_and_says_how_to_come_back(paths: Paths, arguments: tuple[str, ...]) -> None:
    with StandIn(paths, waiting(wait_info(), ask_s=0.1)) as daemon:
        child = _spawn(paths, *arguments)
        while not any(request.body["type"] == "wait_result" for request in daemon.seen):
            assert child.poll() is None
        child.send_signal(signal.SIGINT)
        _, err = child.communicate(timeout=60)
    assert child.returncode == Exit.DETACHED
    assert f"detached: {WAIT_ID} goes on" in err
    assert f"acud wait result {WAIT_ID}" in err
    assert not any(request.body["type"] == "wait_cancel" for request in daemon.seen)
    assert "Traceback" not in err


def test_a_wait_outlasts_a_restart_of_the_daemon(paths: Paths) -> None:
    with StandIn(paths, waiting(wait_info(), ask_s=0.05)) as daemon:
        child = _spawn(paths, "wait", "x")
        while not any(request.body["type"] == "wait_result" for request in daemon.seen):
            assert child.poll() is None
    assert child.stderr is not None
    told = []
    while (
        line := child.stderr.readline()
    ) != "note: the daemon is away; the wait is kept, and goes on when it is back\n":
        assert line, told
        told.append(line)
    with StandIn(paths, waiting(wait_info(WaitState.RESOLVED))):
        out, err = child.communicate(timeout=60)
    assert child.returncode == 0, err
    assert out.startswith("resolved")
    assert err == ""
    assert told[0].startswith("armed ")
    assert told[1].startswith("note: a note")


@pytest.mark.parametrize(("code", "exit_code"), [
    ("not_found", 7), ("conflict", 8), ("refused", 8), ("invalid_request", 2), ("internal", 1),
    ("store_unavailable", 1), ("something_new", 1),
])  # fmt: skip
def test_the_daemons_errors_are_one_line(paths: Paths, capsys: Output, code: str, exit_code: int) -> None:
    answer = Script(wait_show=lambda request, _times: [refusal(request, code, f"a fault {EVIL}", "do this")])
    with StandIn(paths, answer):
        assert run(["waits", "show", "wait-1"]) == exit_code
        assert capsys.readouterr().err == "acud: a fault evil\\x1b]0;owned\\x07\\x9b31m\\u202etxt (do this)\n"
        assert run(["waits", "show", "wait-1", "--json"]) == exit_code
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["message"] == f"a fault {EVIL}"
    assert error["code"] == (code if code != "something_new" else "error")


@pytest.mark.parametrize("json_flag", [[], ["--json"]], ids=["text", "json"])
@pytest.mark.parametrize(
    "arguments", [["display", "list", "--windows"], ["waits", "list"], ["waits", "show", WAIT_ID]], ids=" ".join
)
def test_nothing_from_a_screen_reaches_the_terminal_as_a_control(
    paths: Paths, capsys: Output, arguments: list[str], json_flag: list[str]
) -> None:
    wait = wait_info(verdict=no(EVIL))
    answer = waiting(wait)
    assert isinstance(answer, Script)
    answer.by_name |= {"display_list": DisplayListReply((DISPLAY,), ":100"), "wait_list": WaitListReply((wait,), 1)}
    with StandIn(paths, answer):
        assert run(arguments + json_flag) == 0
    out = capsys.readouterr().out
    assert "evil" in out
    assert not set(out) & set("\x1b\x07\x9b\u202e")


@pytest.mark.parametrize("name", ["wait", "waits"])
def test_the_first_word_names_a_command(paths: Paths, capsys: Output, name: str) -> None:
    answer = waiting(wait_info())
    assert isinstance(answer, Script)
    answer.by_name["wait_list"] = WaitListReply((wait_info(),), 1)
    with StandIn(paths, answer) as daemon:
        assert run([name, "list", "--all"]) == 0
        assert run([name, "show", WAIT_ID]) == 0
        assert run([name, "cancel", WAIT_ID]) == 0
        assert run([name, "create", "list"]) == 0
    assert [one.body["type"] for one in daemon.seen] == ["wait_list", "wait_show", "wait_cancel", "wait_create"]
    assert daemon.seen[-1].body["until"] == {"type": "criteria", "criteria": "list"}
    assert WAIT_ID in capsys.readouterr().out


@pytest.mark.parametrize(("line", "sentence"), [
    (["--", "list"], "list"), (["the list is shown"], "the list is shown"), (["list is empty"], "list is empty"),
    (["--timeout", "5m", "list"], "list"),
], ids=str)  # fmt: skip
def test_a_sentence_is_not_taken_for_a_command(paths: Paths, line: list[str], sentence: str) -> None:
    with StandIn(paths, waiting(wait_info())) as daemon:
        assert run(["wait", "--detach", *line] if line[0] == "--" else ["wait", *line, "--detach"]) == 0
    (sent,) = daemon.seen
    assert (sent.body["type"], sent.body["until"]) == ("wait_create", {"type": "criteria", "criteria": sentence})


STATUS = StatusReply(
    version="0.0.1",
    protocol=1,
    pid=4711,
    started_utc_s=1.0,
    uptime_s=3723.0,
    home="/home/somebody/a/folder/with/a/name/that/does/not/fit/into/sixty/columns",
    server_start="s",
    displays=(DISPLAY,),
    children=(),
    judges=(JudgeHealth("ocr", "ready"), JudgeHealth("ollama", "down", "it does not answer on 127.0.0.1:11434, " * 3)),
    waits_live=3,
    waits_ended=13,
    judge_calls=7,
    cost_usd_today=None,
    queued_jobs=0,
    degraded=("wake route webhook fails: " + "the receiver does not take it " * 4,),
    waits={"watching": 3, "resolved": 12, "timeout": 1},
    wakes={"undelivered": 2},
    wake_routes=(RouteName.WEBHOOK,),
)


@pytest.mark.parametrize("arguments", [["status"], ["daemon", "status"]], ids=" ".join)
def test_the_status_fits_sixty_columns(paths: Paths, capsys: Output, arguments: list[str]) -> None:
    with StandIn(paths, Script(status=STATUS)):
        assert run(arguments) == 0
    said = capsys.readouterr()
    for line in [*said.out.splitlines(), *said.err.splitlines()]:
        assert len(line) <= 60 or len(line.split()) <= 2, line
    for part in (
        "running: acud 0.0.1, pid 4711, for 1:02:03\n",
        "displays   :100 up 1280x720 (default)\n",
        "waits      3 watching, 12 resolved, 1 timeout\n",
        "judges     ocr ready\n             ollama down: it does not answer",
        "wake route webhook\n",
        "wakes      2 undelivered\n",
    ):
        assert part in said.out
    assert said.err.startswith("degraded: wake route webhook fails: the receiver")
    assert "note: this command line is" in said.err


def test_a_displays_variables_are_quoted_for_the_shell(paths: Paths, capsys: Output) -> None:
    with StandIn(paths, Script(display_list=DisplayListReply((DISPLAY,), ":100"))):
        assert run(["display", "env"]) == 0
        assert "export XAUTHORITY='/home/a b/auth'\n" in capsys.readouterr().out
        assert run(["display", "env", ":55"]) == Exit.NOT_FOUND


def test_the_doctor_ends_with_the_worst(paths: Paths, capsys: Output) -> None:
    def told(level: str) -> Script:
        return Script(doctor=DoctorReply((Finding("judge", level, f"it {EVIL}", "mend it"),)))  # type: ignore[arg-type]

    for level, code in (("ok", 0), ("warning", 1), ("fault", 2)):
        with StandIn(paths, told(level)):
            assert run(["doctor"]) == code
        out = capsys.readouterr().out
        assert ("→ mend it" in out) == (level != "ok")
        assert not set(out) & set("\x1b\x07")
    assert run(["doctor"]) in (1, 2)
    assert "control socket: not started yet\n           → acud daemon start\n" in capsys.readouterr().out


def test_a_daemon_that_hangs_is_told_from_one_that_is_not_there(
    paths: Paths, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("acud_cli.session._TIMEOUT_S", 0.2)
    with StandIn(paths, lambda _request, _times: []):
        assert run(["daemon", "status"]) == Exit.DAEMON_DOWN
        assert "did not answer status within 0.2 s" in capsys.readouterr().err
        assert run(["daemon", "stop"]) == Exit.DAEMON_DOWN
        assert "acud daemon stop --force" in capsys.readouterr().err


TASK = TaskView(
    Task("task-00t403fe5j5y0mp5rjy05dq", "Book the flight", TaskStatus.ACTIVE, 1000.0, 1000.0, display=":100"),
    (PlanItem(1, "open the site", ItemStatus.ACTIVE), PlanItem(2, "pay")),
)


@pytest.mark.parametrize(("given", "begun", "offered"), [
    (["wait", "--display"], "", [":100"]), (["do", "click", "-d"], ":1", [":100"]),
    (["display", "take"], "", [":100"]),
    (["look", "--target"], "", ["screen", "display:", "window:", "region:", "monitor:", "pty:"]),
    (["wait", "--target"], "display:", ["display::100"]), (["wait", "--target"], "window:", [f"window:{EVIL}"]),
    (["wait", "show"], "", [WAIT_ID[-6:]]), (["wait", "cancel"], WAIT_ID[-6:-3], [WAIT_ID[-6:]]),
    (["wait", "cancel"], "wait-", [WAIT_ID]), (["wait", "--task"], "", [TASK.task.task_id[-6:]]),
    (["task", "show"], "task", [TASK.task.task_id]), (["wake", "list", "--wait"], "", [WAIT_ID[-6:]]),
], ids=str)  # fmt: skip
def test_what_the_daemon_knows_completes(paths: Paths, given: list[str], begun: str, offered: list[str]) -> None:
    script = Script(
        display_list=DisplayListReply((DISPLAY,), ":100"),
        wait_list=WaitListReply((wait_info(),), 1),
        task_list=TaskListReply((TASK,), 1),
    )
    with StandIn(paths, script):
        found = ShellComplete(cli, {}, "acud", "_ACUD_COMPLETE").get_completions(given, begun)
    assert [item.value for item in found] == offered
    assert not set("".join(item.help or "" for item in found)) & set("\x1b\x07\x9b")


def test_former_names_of_options_still_work(paths: Paths) -> None:
    script = Script(wait_show=WaitShowReply(wait_info(), ()), events_since=EventsSinceReply((), 7, 0))
    with StandIn(paths, script) as daemon:
        assert run(["wait", "show", WAIT_ID, "--evaluations", "3"]) == 0
        assert run(["events", "--since", "4", "--last", "2"]) == 0
    assert (daemon.seen[0].body["evaluations"], daemon.seen[1].body["after"]) == (3, 4)
    with StandIn(paths, waiting(wait_info())) as daemon:
        assert run(["wait", "--text", "a", "--label", "nightly", "--detach"]) == 0
        assert run(["wait", "--until", "the lamp is on", "--name", "nightly", "--detach"]) == 0
    assert [one.body["label"] for one in daemon.seen] == ["nightly"] * 2
    assert daemon.seen[1].body["until"]["type"] == "criteria"


def test_top_runs_on_a_terminal_and_ends_by_a_key(paths: Paths) -> None:
    script = Script(status=STATUS, wait_list=WaitListReply((wait_info(),), 1), wait_show=WaitShowReply(wait_info(), ()))
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
    before = termios.tcgetattr(theirs)
    with StandIn(paths, script), os.fdopen(ours, "r+b", buffering=0) as terminal:
        child = subprocess.Popen(
            [sys.executable, "-m", "acud_cli", "top"], env=os.environ | {"TERM": "xterm"}, stdin=theirs, stdout=theirs
        )
        shown = _until(terminal, b"quit")
        assert b" 2 displays 1" in shown
        assert WAIT_ID[-6:].encode() in shown
        terminal.write(b"\r")
        assert WAIT_ID.encode() in _until(terminal, b"any key: back")
        terminal.write(b"\x1b[B")
        _until(terminal, b"quit")
        terminal.write(b"q")
        assert child.wait(60) == 0
        assert termios.tcgetattr(theirs) == before
    os.close(theirs)


def _until(terminal: RawIOBase, end: bytes) -> bytes:
    shown = b""
    while end not in shown:
        shown += terminal.read(65536) or b""
    return shown


def test_a_policy_is_updated_over_what_it_was(paths: Paths, capsys: Output) -> None:
    answer = waiting(wait_info())
    assert isinstance(answer, Script)
    answer.by_name["wait_update"] = answer.by_name["wait_cancel"]
    with StandIn(paths, answer) as daemon:
        assert run(["waits", "update", "wait-00", "--confirm", "2", "--timeout", "1m"]) == 0
        assert run(["waits", "update", "wait-00"]) == Exit.USAGE
    sent = daemon.seen[1].body
    assert (sent["wait_id"], sent["until"], sent["timeout_s"]) == (WAIT_ID, None, 60.0)
    assert (sent["policy"]["confirm"], sent["policy"]["cadence"]) == (2, "event")
    assert "nothing to change" in capsys.readouterr().err
