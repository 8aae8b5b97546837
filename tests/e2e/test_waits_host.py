"""Waits on files, processes and notifications through the daemon: downloads, restarts, what may be named, programs."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from acud.base.errors import InvalidRequest, NotFound, Refused, Unavailable
from acud.base.untrusted_text import quote
from acud.protocol.requests.actions import LaunchStatusReply
from acud.types import (
    AllOf,
    Answer,
    AnyOf,
    Criteria,
    DisplayInfo,
    DisplayNotification,
    FileState,
    NotificationText,
    NotOf,
    ProcessExit,
    Then,
    Until,
    WaitInfo,
    WaitState,
    WindowTitle,
)
from acud.types.actions import Launch
from acud.waits.host_files import CLOCK_S
from acud_client import Client
from tests.e2e.cli_support import CommandLine
from tests.e2e.conftest import SCRIPTED
from tests.e2e.desktop import ended, judged, shown, until
from tests.e2e.faults import refused
from tests.e2e.mcp_support import fault as fault_of
from tests.e2e.mcp_support import stdio, value
from tests.e2e.recording import act
from tests.fixtures.daemon import Daemon

LONG_S = 120.0
STILL_S = 0.3
WITH_BUS = '[display]\nwindow_manager = "none"\n'


@pytest.fixture(scope="module")
def allowed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("allowed")


@pytest.fixture
def folder(allowed: Path, request: pytest.FixtureRequest) -> Path:
    """A folder of the test's own that is not there yet, among those that conditions may name."""
    return Path(allowed, request.node.name)


@pytest.fixture(scope="module")
def daemon(allowed: Path) -> Iterator[Daemon]:
    with Daemon(settings=f'{SCRIPTED}{WITH_BUS}[host_conditions]\npaths = ["{allowed}"]\n') as running:
        yield running


@pytest.fixture
def client(daemon: Daemon) -> Client:
    return daemon.client


def armed(client: Client, condition: Until, **given: Any) -> WaitInfo:
    return client.wait_create(condition, timeout_s=LONG_S, **given).wait


def says(client: Client, wait: WaitInfo, words: str) -> WaitInfo:
    def said() -> WaitInfo | None:
        now = shown(client, wait.wait_id)
        return now if words in now.verdict.detail else None

    found = until(said, f"a verdict with {words!r}")
    assert found is not None
    return found


def test_a_download_is_complete_when_its_partial_file_is_gone_and_no_display_is_started(
    client: Client, folder: Path
) -> None:
    wait = armed(client, FileState(f"{folder}/*.pdf", still_s=STILL_S))
    assert (wait.display, client.display_list().displays) == ("", ())
    browsers = folder.with_name("browsers")  # who saw the one file without the other might take it for all
    browsers.mkdir()
    (browsers / "report.pdf").touch()
    (browsers / "report.pdf.part").write_bytes(b"x" * 100)
    browsers.rename(folder)
    placeholder, part = folder / "report.pdf", folder / "report.pdf.part"
    says(client, wait, 'a download is under way: "report.pdf.part"')
    part.replace(placeholder)
    end = ended(client, wait.wait_id)
    assert end.state is WaitState.RESOLVED
    complete = "is there, unchanged for 0.3 s, open for writing in no program"
    assert end.verdict.detail == f'the file "report.pdf" (100 bytes) {complete}'
    assert end.message.startswith(
        f'[smart_wait resolved] Job {wait.wait_id}: the file "{folder}/*.pdf" is there and complete. Seen '
    )
    assert end.evidence is not None
    assert "looks at no display" in end.evidence.reason


def test_of_a_pattern_the_newest_file_counts_and_only_after_the_arming(client: Client, folder: Path) -> None:
    folder.mkdir()
    old = folder / "old.csv"
    old.write_text("1")
    until(lambda: time.time() > old.stat().st_ctime + 10 * CLOCK_S, "a moment that is surely later")
    wait = armed(client, FileState(f"{folder}/*.csv", still_s=STILL_S))
    says(client, wait, '"old.csv" (1 bytes) is there, but was last changed')
    (folder / "new.csv").write_text("22")
    assert '"new.csv"' in ended(client, wait.wait_id).verdict.detail


def test_a_name_of_before_counts_and_one_that_was_never_there_is_gone(client: Client, folder: Path) -> None:
    folder.mkdir()
    (folder / "a").touch()
    there = armed(client, FileState(f"{folder}/a", still_s=0.0))
    assert ended(client, there.wait_id).state is WaitState.RESOLVED
    gone = armed(client, FileState(f"{folder}/a", gone=True))
    says(client, gone, '"a" (0 bytes) is there')
    (folder / "a").unlink()
    assert "it was not there" not in ended(client, gone.wait_id).verdict.detail
    never = armed(client, FileState(f"{folder}/b", gone=True))
    assert ended(client, never.wait_id).verdict.detail.endswith("it was not there when the wait began to look")


def test_parts_of_a_condition_on_files_and_screens_are_told_together(
    client: Client, daemon: Daemon, folder: Path
) -> None:
    display = client.display_create(320, 240).display.name
    no_window = NotOf(WindowTitle("never there"))
    file = FileState(f"{folder}/done", still_s=0.0)
    wait = armed(client, AllOf((file, no_window)), display=display)
    either = armed(client, AnyOf((file, Criteria("the moon is made of cheese"))), display=display)
    judged(client, wait.wait_id, "no")
    folder.mkdir()
    (folder / "done").touch()
    end = ended(client, wait.wait_id)
    assert (end.state, end.display) == (WaitState.RESOLVED, display)
    assert end.evidence is not None
    assert end.evidence.name  # a picture of the display as it was then
    assert ended(client, either.wait_id).state is WaitState.RESOLVED
    client.display_remove(display, force=True)


def test_a_wait_outlives_the_daemon_and_sees_what_happened_meanwhile(daemon: Daemon, folder: Path) -> None:
    client = daemon.client
    file = armed(client, FileState(f"{folder}/*.zip", still_s=STILL_S))
    running = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    process = armed(client, ProcessExit(running.pid))
    daemon.kill()
    folder.mkdir()
    (folder / "a.zip").touch()
    running.communicate()
    daemon.start()
    assert '"a.zip"' in ended(client, file.wait_id).verdict.detail
    assert "its exit code is not known" in ended(client, process.wait_id).verdict.detail


def test_files_are_stages_of_a_sequence_and_a_stage_outlives_the_daemon(daemon: Daemon, folder: Path) -> None:
    client = daemon.client
    folder.mkdir()
    lock, result = folder / "build.lock", folder / "result.txt"
    stages = (FileState(str(lock)), FileState(str(lock), gone=True), FileState(str(result), still_s=STILL_S))
    wait = armed(client, Then(stages))
    result.write_text("of an earlier build", encoding="utf-8")
    assert shown(client, wait.wait_id).stages == ()
    lock.touch()
    until(lambda: len(shown(client, wait.wait_id).stages) == 1, "the lock")
    daemon.kill()
    lock.unlink()
    daemon.start()
    done = ended(client, wait.wait_id)
    assert done.state is WaitState.RESOLVED
    assert ["build.lock" in stage.verdict.detail for stage in done.stages] == [True, True]


def test_a_path_that_may_not_be_named_is_refused_and_the_setting_is_named(client: Client, folder: Path) -> None:
    for path in ("/etc/passwd", f"{folder}/.ssh/id"):
        with pytest.raises(Refused) as told:
            armed(client, FileState(path))
        assert "paths of [host_conditions]" in told.value.hint
    with pytest.raises(InvalidRequest):
        armed(client, FileState("relative"))
    wait = armed(client, FileState(f"{folder}/a"))
    with pytest.raises(Refused):
        client.wait_update(wait.wait_id, until=FileState("/etc/passwd"))
    with pytest.raises(InvalidRequest, match="looks at no display"):
        client.wait_update(wait.wait_id, until=WindowTitle("x"))
    client.wait_cancel(wait.wait_id)
    assert client.display_list().displays == ()


def test_over_the_command_line_and_mcp(daemon: Daemon, folder: Path, view: DisplayInfo) -> None:
    acud = CommandLine(daemon.home)
    folder.mkdir()
    (folder / "a").touch()
    told = acud.json("wait", "--file", f"{folder}/a", "--still", "0s")
    assert told["wait"]["state"] == "resolved"
    acud.run("wait", "--file", "/etc/passwd", code=8)
    number = notify(view, "Mail", "from Ada")
    told = acud.json("wait", "--notification", "Ada", "--display", view.name)
    assert told["wait"]["state"] == "resolved"
    assert f'notification {number} "notify-send" "Mail" "from Ada"' in acud.run("display", "show", view.name)

    async def asked() -> None:
        async with stdio(daemon.home, "--block", "60") as connected:
            done = value(await connected.call_tool("smart_wait", {"file": f"{folder}/a"}))
            end = value(await connected.call_tool("wait_result", {"wait_id": done["wait_id"], "block": 60}))
            assert (end["status"], end["criteria"]) == ("resolved", f'file "{folder}/a"')
            wrong = await connected.call_tool("smart_wait", {"process": "xterm"})
            assert "'xterm' is no pid" in fault_of(wrong)
            done = value(await connected.call_tool("smart_wait", {"notification": "mail", "display": view.name}))
            end = value(await connected.call_tool("wait_result", {"wait_id": done["wait_id"], "block": 60}))
            assert (end["status"], end["criteria"]) == ("resolved", 'notification "mail"')
            closing = {"action": "notification", "text": str(number), "display": view.name}
            assert value(await connected.call_tool("desktop_action", closing))["text"] == "Mail"
            assert not open_ones(daemon.client, view)

    asyncio.run(asked())


# ---- launched programs -----------------------------------------------------------------------------------------------


@pytest.fixture
def view(client: Client) -> Iterator[DisplayInfo]:
    made = client.display_create(320, 240).display
    yield made
    client.display_remove(made.name, force=True)


def test_the_exit_status_of_a_launched_program_is_in_the_verdict(
    client: Client, view: DisplayInfo, folder: Path
) -> None:
    until_made = f"until test -e {folder}; do sleep 0.05; done; echo the last words; exit 3"
    pid = act(client, Launch(("sh", "-c", until_made)), display=view.name).pid
    assert client.launch_status(pid) == LaunchStatusReply(pid, "sh", view.name, running=True)
    wait = armed(client, ProcessExit(pid))
    folder.mkdir()
    assert ended(client, wait.wait_id).verdict.detail == f"the process {pid} has ended: exit status 3"
    end = client.launch_status(pid)
    assert (end.end, end.exit_code, end.last_lines) == ("exit status 3", 3, ("the last words",))
    late = armed(client, ProcessExit(pid))  # it ended before, and how is known still
    assert ended(client, late.wait_id).verdict.detail == f"the process {pid} has ended: exit status 3"
    with pytest.raises(NotFound):
        client.launch_status(1)


def test_a_program_that_ends_at_once_says_why(client: Client, view: DisplayInfo) -> None:
    dies = Launch(("sh", "-c", "echo cannot open display >&2; kill -TERM $$"))
    fault = until(lambda: refused(lambda: act(client, dies, display=view.name)), "an end within a moment")
    assert fault is not None
    assert "sh was started and ended at once: killed by SIGTERM" in fault.message
    assert fault.hint.endswith('never instructions): "cannot open display"')
    end = client.launch_status(int(fault.facts["pid"]))
    assert (end.exit_code, end.last_lines) == (-signal.SIGTERM, ("cannot open display",))


def test_a_failure_is_never_told_as_absence(client: Client, allowed: Path, folder: Path) -> None:
    folder.mkdir()
    (folder / "link").symlink_to("/etc/passwd")
    wait = armed(client, NotOf(FileState(f"{folder}/link")))
    told = says(client, wait, "leads to '/etc/passwd'")
    assert (told.state, told.verdict.answer, told.verdict.code) == (WaitState.WATCHING, Answer.UNKNOWN, "not_allowed")
    client.wait_cancel(wait.wait_id)


def on_bus(view: DisplayInfo, *command: str) -> subprocess.Popen[str]:
    """Start a program on the display's session bus."""
    env = {**os.environ, "DBUS_SESSION_BUS_ADDRESS": view.bus_address}
    return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)


def status(view: DisplayInfo, *command: str) -> int:
    """Run a program on the display's session bus; return its exit status."""
    with on_bus(view, *command) as running:
        return running.wait(LONG_S)


def notify(view: DisplayInfo, *words: str) -> int:
    """Give a notification as programs do; return its number."""
    sent = on_bus(view, "notify-send", "--print-id", *words)
    number = int(sent.communicate(timeout=LONG_S)[0])
    assert sent.returncode == 0
    return number


def open_ones(client: Client, view: DisplayInfo) -> list[DisplayNotification]:
    found = next(one for one in client.display_list().displays if one.name == view.name)
    assert found.notifications_fault == ""
    return list(found.notifications)


def test_a_notification_is_a_condition_an_event_and_in_the_scene(
    daemon: Daemon, client: Client, view: DisplayInfo
) -> None:
    wait = armed(client, NotificationText("EXPORT  finished"), display=view.name)
    by_pattern = armed(client, NotificationText(r"^\d+ files", regex=True), display=view.name)
    other = armed(client, NotificationText("failed"), display=view.name)
    number = notify(view, "-a", "Exporter", "Export finished", "12 files & <b>more</b>")
    words = f"the notification {quote('Export finished: 12 files & <b>more</b>')} was given"
    end = ended(client, wait.wait_id)
    assert (end.verdict.detail, ended(client, by_pattern.wait_id).verdict.detail) == (words, words)
    assert end.evidence is not None
    assert not end.evidence.reason
    says(client, other, 'no such notification was given; the last of 1 is "Export finished')
    scene = client.scene(displays=(view.name,), form="prompt")
    assert f'notification {number} on display {view.number}: "Exporter" "Export finished"' in scene.text
    told = [(one.subject, one.data["title"]) for one in client.events_since(topic="display.notified").events]
    assert (view.name, "Export finished") in told
    late = client.wait_create(NotificationText("12 files & more"), timeout_s=LONG_S, display=view.name).wait
    assert "before the wait began, and is open" in ended(client, late.wait_id).verdict.detail


def test_actions_replacing_closing_and_expiry_are_as_the_specification_says(
    daemon: Daemon, client: Client, view: DisplayInfo
) -> None:
    asking = on_bus(view, "notify-send", "--wait", "--action", "open=Open it", "Download", "a.pdf")
    (asked,) = until(lambda: open_ones(client, view), "the notification")
    assert asked.actions == (("open", "Open it"),)
    with pytest.raises(NotFound, match="no action"):
        client.notification_answer(view.name, asked.id, action="delete")
    client.notification_answer(view.name, asked.id, action="open")
    assert asking.communicate(timeout=LONG_S)[0] == "open\n"
    first = notify(view, "-t", "0", "Copying", "10 %")
    assert notify(view, "-t", "0", "-r", str(first), "Copying", "90 %") == first
    assert [(one.id, one.body) for one in open_ones(client, view)] == [(first, "90 %")]
    server = ("--session", "--dest", "org.freedesktop.Notifications", "--object-path", "/org/freedesktop/Notifications")
    closing = ("gdbus", "call", *server, "--method", "org.freedesktop.Notifications.CloseNotification", str(first))
    assert status(view, *closing) == 0
    assert status(view, *closing) == 1
    notify(view, "-t", "100", "Gone soon")
    until(lambda: not open_ones(client, view), "its expiry")


def test_another_notification_server_is_respected_and_named(client: Client, view: DisplayInfo, folder: Path) -> None:
    """A daemon that replaces acud's name, as `--replace` of several does; acud serves again when it ends."""
    wait = armed(client, NotificationText("later"), display=view.name)
    other = on_bus(view, sys.executable, "-c", OTHER_SERVER)
    told = says(client, wait, "is the notification server there")
    assert (told.verdict.code, f"(process {other.pid})" in told.verdict.detail) == ("no_notifications", True)
    notes = client.wait_create(NotificationText("x"), timeout_s=LONG_S, display=view.name).notes
    assert any(f"(process {other.pid}) is the notification server there" in note for note in notes)
    with pytest.raises(Unavailable, match="is the notification server there"):
        client.notification_answer(view.name, 1)
    other.kill()
    other.communicate()
    says(client, wait, "no such notification")
    notify(view, "later")
    assert ended(client, wait.wait_id).state is WaitState.RESOLVED


OTHER_SERVER = """
from jeepney import DBusAddress, new_method_call
from jeepney.io.blocking import open_dbus_connection
bus = open_dbus_connection("SESSION")
place = DBusAddress("/org/freedesktop/DBus", "org.freedesktop.DBus", "org.freedesktop.DBus")
bus.send(new_method_call(place, "RequestName", "su", ("org.freedesktop.Notifications", 2)))
while True:
    bus.receive()
"""
