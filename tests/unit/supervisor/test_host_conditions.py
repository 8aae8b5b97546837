"""Conditions on files and processes against real folders and processes, in a real event loop."""

import errno
import fcntl
import mmap
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from msgspec.structs import replace

from acud.base.clock import SystemClock
from acud.base.errors import Refused, Unavailable
from acud.config import PtySettings
from acud.process.event_loop import EventLoop
from acud.protocol.capture import ClipboardSeen
from acud.supervisor import display_notifications
from acud.supervisor.display_notifications import DisplayNotifications
from acud.supervisor.host_conditions import ClipboardConditions, HostConditions, ProgramEnds, inotify, writers
from acud.supervisor.host_conditions.clipboards import judge_clipboard
from acud.supervisor.host_conditions.inotify import Inotify
from acud.supervisor.host_conditions.writers import FileWriters
from acud.supervisor.journal import Journal
from acud.supervisor.observers import Observers
from acud.supervisor.redaction import NoRedaction
from acud.supervisor.terminal_sessions import OwnTerminals
from acud.supervisor.watched_displays import WatchedDisplay, WatchedDisplays
from acud.types import AllOf, Answer, ClipboardText, FileState, NotOf, ProcessExit, Until, Verdict
from acud.waits.condition_tree import leaves

PATIENCE_S = 20.0


class Rig:
    """Conditions in a loop of their own; `paths` are the allowed folders."""

    def __init__(self, home: Path) -> None:
        self.loop = EventLoop(time.monotonic)
        self.paths: tuple[str, ...] = ("~",)
        terminals = OwnTerminals(self.loop, home / "none" / "tmux", PtySettings(), {})
        ends = ProgramEnds(cast(Any, SimpleNamespace(ended_program=lambda pid: None)), terminals)
        redaction = NoRedaction()
        notifications = DisplayNotifications(cast(Journal, None), self.loop, SystemClock(), redaction, is_enabled=False)
        displays = cast(WatchedDisplays, SimpleNamespace(clipboard_seen=Observers[Any]()))
        clipboards = ClipboardConditions(displays, SystemClock(), redaction)
        self.host = HostConditions(self.loop, SystemClock(), str(home), self.paths, ends, notifications, clipboards)
        self.verdicts: dict[int, Verdict] = {}
        self.told = 0

    def watch(self, until: Until) -> Verdict:
        self.verdicts = self.host.watch("wait-1", self.host.pin_to_now(until), None, self._tell)
        return self.verdicts[0]

    def _tell(self, verdicts: dict[int, Verdict]) -> None:
        self.told += 1
        self.verdicts |= verdicts

    def until(self, holds: Callable[[Verdict], bool]) -> Verdict:
        end_s = time.monotonic() + PATIENCE_S
        while not holds(self.verdicts[0]):
            assert time.monotonic() < end_s, self.verdicts
            self.loop.turn(1.0)
        return self.verdicts[0]

    def answer(self, answer: Answer) -> Verdict:
        return self.until(lambda verdict: verdict.answer is answer)


@pytest.fixture
def rig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Rig]:
    monkeypatch.setattr(writers, "_MOST_CPU_S", 60.0)  # however many processes there are
    made = Rig(tmp_path)
    yield made
    made.host.close()


def test_a_download_in_a_folder_that_is_not_there_yet(rig: Rig, tmp_path: Path) -> None:
    assert rig.watch(FileState("~/a/b/*.pdf", still_s=0.3)).answer is Answer.NO
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    part = folder / "report.pdf.crdownload"
    part.write_bytes(b"x" * 10)
    rig.until(lambda verdict: "under way" in verdict.detail)
    part.rename(folder / "report.pdf")
    assert '"report.pdf" (10 bytes)' in rig.answer(Answer.YES).detail


def test_a_file_that_grows_is_not_complete(rig: Rig, tmp_path: Path) -> None:
    rig.watch(FileState("~/log", still_s=0.4))
    with (tmp_path / "log").open("ab", buffering=0) as file:
        for _ in range(8):
            file.write(b"line\n")
            written_s = time.monotonic()
            while time.monotonic() < written_s + 0.1:
                rig.loop.turn(0.02)
            assert rig.verdicts[0].answer is not Answer.YES, rig.verdicts
        rig.until(lambda verdict: f"(process {os.getpid()}) has it open for writing" in verdict.detail)
    assert "open for writing in no program" in rig.answer(Answer.YES).detail
    assert time.monotonic() >= written_s + 0.4 - 0.02


def open_by_map(path: Path) -> Callable[[], None]:
    with path.open("r+b") as file:
        return mmap.mmap(file.fileno(), 0).close


def open_by_hard_link(path: Path) -> Callable[[], None]:
    os.link(path, path.with_name("elsewhere"))
    return path.with_name("elsewhere").open("r+b").close


def open_by_child(path: Path) -> Callable[[], None]:
    with path.open("ab") as file:
        child = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=file)
    return lambda: (child.communicate(), None)[1]


@pytest.mark.parametrize("hold_open", [open_by_map, open_by_hard_link, open_by_child])
def test_a_still_file_is_complete_when_its_last_writer_lets_go(
    rig: Rig, tmp_path: Path, hold_open: Callable[[Path], Callable[[], None]]
) -> None:
    (tmp_path / "out").write_bytes(b"x" * 4096)
    let_go = hold_open(tmp_path / "out")
    rig.watch(FileState("~/out", still_s=0.0))
    assert "has it open for writing" in rig.verdicts[0].detail
    let_go()
    rig.answer(Answer.YES)


def test_without_leases_the_descriptors_of_programs_answer(
    rig: Rig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(descriptor: int, command: int, value: int) -> int:
        raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr(fcntl, "fcntl", refuse)
    with (tmp_path / "out").open("wb"):
        told = rig.watch(FileState("~/out", still_s=0.0))
        assert f"(process {os.getpid()}) has it open for writing" in told.detail
    assert rig.answer(Answer.YES).detail.endswith("judged by size and time alone: its file system has no leases")


def test_a_look_for_writers_ends_no_process_and_no_open(tmp_path: Path) -> None:
    path = tmp_path / "busy"
    path.write_bytes(b"x")
    script = "import sys\nwhile True:\n    open(sys.argv[1], 'ab').close()\n"
    writer = subprocess.Popen([sys.executable, "-c", script, str(path)])
    try:
        look = FileWriters()
        uses = {bool(look.find(str(path)).writer) for _ in range(4_000)}
        assert writer.poll() is None
    finally:
        writer.kill()
        writer.wait()
    assert False in uses


@pytest.mark.parametrize("how", ["renamed", "deleted", "above", "link"])
def test_the_path_counts_and_not_what_it_once_led_to(rig: Rig, tmp_path: Path, how: str) -> None:
    real = tmp_path / "top" / "real"
    real.mkdir(parents=True)
    folder = real
    if how == "link":
        folder = tmp_path / "link"
        folder.symlink_to(real)
    (real / "a").touch()
    rig.watch(FileState(str(folder / "a"), gone=True))
    assert rig.verdicts[0].answer is Answer.NO
    if how == "renamed":
        real.rename(tmp_path / "top" / "old")
    elif how == "deleted":
        (real / "a").unlink()
        real.rmdir()
    elif how == "above":
        (tmp_path / "top").rename(tmp_path / "old")
    else:
        other = tmp_path / "other"
        other.mkdir()
        (tmp_path / "new").symlink_to(other)
        (tmp_path / "new").replace(folder)
    rig.answer(Answer.YES)
    (other if how == "link" else folder).mkdir(parents=True, exist_ok=True)
    (folder / "a").touch()
    rig.answer(Answer.NO)


def test_what_is_not_allowed_is_refused_and_a_link_that_leads_there_is_unknown(rig: Rig, tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.mkdir()
    rig.host.allow(("~/in",))
    for path in ("/etc/passwd", "~/out/a", "~/in/.ssh/id", "~/in/.*"):
        with pytest.raises(Refused) as told:
            rig.host.pin_to_now(FileState(path))
        assert "[host_conditions]" in told.value.hint
    (outside / "secret").write_text("x")
    folder = inside / "new"
    folder.mkdir()
    (folder / "report").symlink_to(outside / "secret")
    told_now = rig.watch(FileState("~/in/new/report"))
    assert (told_now.answer, told_now.code) == (Answer.UNKNOWN, "not_allowed")
    assert rig.watch(FileState("~/in/new/report", gone=True)).code == "not_allowed"  # no failure is told as absence
    (folder / "report").unlink()
    rig.answer(Answer.YES)
    folder.rename(inside / "was")
    folder.symlink_to(outside)
    rig.until(lambda verdict: verdict.code == "not_allowed")


def test_a_folder_that_may_not_be_read_is_unknown_until_it_may(
    rig: Rig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, add = tmp_path / "closed", Inotify.add
    folder.mkdir()

    def closed(self: Inotify, path: str, mask: int) -> int:  # to root, who may run this test, nothing is closed
        if path == str(folder):
            raise PermissionError(errno.EACCES, "Permission denied")
        return add(self, path, mask)

    with monkeypatch.context() as patched:
        patched.setattr(Inotify, "add", closed)
        told = rig.watch(FileState("~/closed/a", gone=True))
    assert (told.answer, told.code) == (Answer.UNKNOWN, "no_permission")
    folder.chmod(0o700)
    rig.answer(Answer.YES)


def test_without_a_watch_left_it_is_unknown_and_says_the_cure(
    rig: Rig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Inotify, path: str, mask: int) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Inotify, "add", full)
    told = rig.watch(FileState("~/a", gone=True))
    assert told.code == "watch_limit"
    assert "fs.inotify.max_user_watches" in told.detail


def test_events_that_the_kernel_dropped_are_made_up_for(
    rig: Rig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig.watch(FileState("~/a", still_s=0.0))

    def dropped(self: Inotify) -> Iterator[inotify.InotifyEvent]:
        os.read(self.fileno(), 65536)
        yield inotify.InotifyEvent(-1, inotify.OVERFLOW, "")

    monkeypatch.setattr(Inotify, "read", dropped)
    (tmp_path / "a").touch()
    rig.answer(Answer.YES)


def test_what_else_happens_in_the_folder_costs_nothing_and_no_watch_is_left(rig: Rig, tmp_path: Path) -> None:
    rig.watch(FileState("~/a"))
    for number in range(50):
        (tmp_path / f"b{number}").touch()
    rig.loop.turn(0.2)
    assert rig.told == 0
    rig.host.unwatch("wait-1")
    (tmp_path / "a").touch()
    rig.loop.turn(0.2)
    assert rig.told == 0


def test_the_end_of_a_process_is_told(rig: Rig) -> None:
    process = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    assert rig.watch(ProcessExit(process.pid)).detail == f"the process {process.pid} is running"
    process.communicate()
    assert "exit code is not known" in rig.answer(Answer.YES).detail


def test_another_process_with_the_number_is_not_taken_for_it(rig: Rig) -> None:
    mine = ProcessExit(os.getpid(), start_ticks=1)
    assert rig.watch(mine).detail.startswith(f"the process {os.getpid()} has ended")
    assert rig.watch(ProcessExit(os.getpid())).answer is Answer.NO
    gone = subprocess.Popen(["true"])
    gone.wait()
    assert "before the wait began" in rig.watch(ProcessExit(gone.pid)).detail


def test_the_moment_of_arming_is_written_down_once(rig: Rig) -> None:
    armed = rig.host.pin_to_now(AllOf((FileState("~/*.pdf"), NotOf(FileState("~/a")), ProcessExit(os.getpid()))))
    pattern, name, process = leaves(armed)
    assert isinstance(pattern, FileState)
    assert isinstance(name, FileState)
    assert isinstance(process, ProcessExit)
    assert (pattern.since_utc_s > 0, name.since_utc_s > 0, process.start_ticks > 0) == (True, True, True)
    assert rig.host.pin_to_now(armed) == armed


# ---- clipboards ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("leaf", "seen", "answer", "words"),
    [
        (ClipboardText("a  B"), {"text": "x A b"}, Answer.YES, '"a  B"'),
        (ClipboardText("b$", regex=True), {"text": "line ab\nc"}, Answer.YES, '"line ab"'),
        (ClipboardText("z"), {"text": "secret"}, Answer.NO, "another text, of 6 characters"),
        (ClipboardText("z"), {"text": "y", "is_cut": True}, Answer.UNKNOWN, "the first 65,536 characters"),
        (ClipboardText("z"), {"code": "unavailable", "message": "no answer"}, Answer.UNKNOWN, "no answer"),
        (ClipboardText("z"), {"code": "not_found", "message": "holds no text"}, Answer.NO, "holds no text"),
        (ClipboardText(changed=True), {"code": "unavailable", "copied_utc_s": 6.0}, Answer.YES, "was copied"),
        (ClipboardText("z", changed=True), {"text": "z", "copied_utc_s": 4.0}, Answer.NO, "nothing was copied"),
        (ClipboardText(changed=True), {"since_utc_s": 9.0}, Answer.UNKNOWN, "before acud was restarted"),
    ],
)
def test_a_clipboard_is_judged_by_what_was_read(
    leaf: ClipboardText, seen: dict[str, Any], answer: Answer, words: str
) -> None:
    told = judge_clipboard(replace(leaf, since_utc_s=5.0), ClipboardSeen(":1", **seen), NoRedaction())
    assert (told.answer, words in told.detail) == (answer, True), told
    assert "secret" not in told.detail


# ---- notifications ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("is_enabled", "words"),
    [
        (True, r"acud\[actions\] is not installed \(pip install"),
        (False, r"\[display\] notifications is off \(set notifications = true"),
    ],
)
def test_missing_notifications_name_the_setting_or_the_extra(
    is_enabled: bool, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(display_notifications, "is_installed", lambda extra: False)
    none = DisplayNotifications(
        cast(Journal, None), EventLoop(time.monotonic), SystemClock(), NoRedaction(), is_enabled=is_enabled
    )
    with pytest.raises(Unavailable, match=f": {words}"):
        none.answer(cast(WatchedDisplay, SimpleNamespace(name=":1")), 1, "")
