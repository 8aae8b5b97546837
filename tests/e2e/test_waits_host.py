"""Waits on files and processes through the daemon: downloads, restarts, what may be named, launched programs."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from acud.errors import InvalidRequest, NotFound, Refused
from acud.protocol.requests.actions import LaunchStatusReply
from acud.types import (
    AllOf,
    Answer,
    AnyOf,
    Criteria,
    DisplayInfo,
    FileState,
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
from tests.daemon import Daemon
from tests.e2e.cli_support import CommandLine
from tests.e2e.conftest import BARE, SCRIPTED
from tests.e2e.desktop import ended, judged, shown, until
from tests.e2e.faults import refused
from tests.e2e.mcp_support import fault as fault_of
from tests.e2e.mcp_support import stdio, value
from tests.e2e.recording import act

LONG_S = 120.0
STILL_S = 0.3


@pytest.fixture(scope="module")
def allowed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("allowed")


@pytest.fixture
def folder(allowed: Path, request: pytest.FixtureRequest) -> Path:
    """A folder of the test's own that is not there yet, among those that conditions may name."""
    return Path(allowed, request.node.name)


@pytest.fixture(scope="module")
def daemon(allowed: Path) -> Iterator[Daemon]:
    with Daemon(settings=f'{SCRIPTED}{BARE}[host_conditions]\npaths = ["{allowed}"]\n') as running:
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


def test_over_the_command_line_and_mcp(daemon: Daemon, folder: Path) -> None:
    acud = CommandLine(daemon.home)
    folder.mkdir()
    (folder / "a").touch()
    told = acud.json("wait", "--file", f"{folder}/a", "--still", "0s")
    assert told["wait"]["state"] == "resolved"
    acud.run("wait", "--file", "/etc/passwd", code=8)

    async def asked() -> None:
        async with stdio(daemon.home, "--block", "60") as connected:
            done = value(await connected.call_tool("smart_wait", {"file": f"{folder}/a"}))
            end = value(await connected.call_tool("wait_result", {"wait_id": done["wait_id"], "block": 60}))
            assert (end["status"], end["criteria"]) == ("resolved", f'file "{folder}/a"')
            wrong = await connected.call_tool("smart_wait", {"process": "xterm"})
            assert "'xterm' is no pid" in fault_of(wrong)

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
