"""Recordings while things die: what is on disk plays, what goes on goes on in a segment of its own."""

from __future__ import annotations

import itertools
import random
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from acud.protocol.recordings import RecordingInfo, RecordingState
from acud.types import DisplayInfo, DisplayState, Rect
from tests.e2e.conftest import BARE, SCRIPTED
from tests.e2e.desktop import Desk, until
from tests.e2e.faults import event, events, kill, settings
from tests.e2e.mounts import Ballast, Mounts
from tests.e2e.recordings import tapes, whole
from tests.fixtures.daemon import Daemon
from tests.integration.xserver import XServer

BOX = Rect(32, 32, 64, 64)
NO_TASKS = "[recording]\nenabled = false\n"


def found(daemon: Daemon, recording_id: str) -> RecordingInfo:
    return next(one for one in daemon.client.record_list().recordings if one.recording_id == recording_id)


def when(daemon: Daemon, recording_id: str, so: Callable[[RecordingInfo], bool], what: str) -> RecordingInfo:
    def it() -> RecordingInfo | None:
        now = found(daemon, recording_id)
        return now if so(now) else None

    return until(it, what)


def pid_of(daemon: Daemon, kind: str, not_pid: int = 0) -> int:
    def it() -> int:
        children = daemon.client.status().children
        return next((c.pid for c in children if c.kind == kind and c.pid and c.pid != not_pid), 0)

    return until(it, f"a {kind} process")


def paint(desk: Desk, daemon: Daemon, recording_id: str, colour: int) -> RecordingInfo:
    """Paint, and return once one more frame is on disk."""
    before = found(daemon, recording_id).frames
    desk.fill(BOX, colour)
    return when(daemon, recording_id, lambda now: now.frames > before, f"a frame after {before}")


def playable(recording: RecordingInfo, daemon: Daemon) -> None:
    kept = tapes(recording, daemon.paths.recordings)
    for one, segment in zip(kept, recording.segments, strict=True):
        whole(one)
        assert len(one.rows) == segment.frames
    on_disk = {path.name for path in (daemon.paths.recordings / recording.folder).glob(f"{recording.recording_id}-*")}
    assert len(on_disk) == 2 * len(kept)


@pytest.fixture(scope="module")
def host() -> Iterator[Daemon]:
    with Daemon(settings=SCRIPTED + BARE + NO_TASKS + "[daemon]\nrestart_limit = 1000\n") as daemon:
        yield daemon


@pytest.fixture
def screen(host: Daemon) -> Iterator[tuple[Daemon, DisplayInfo]]:
    yield host, host.client.display_create(320, 240).display
    host.tidy()


def test_a_killed_process_costs_a_segment_not_the_recording(screen: tuple[Daemon, DisplayInfo]) -> None:
    daemon, display = screen
    began = daemon.client.record_start(display.name, fps=10).recording
    with Desk(display.name, display.auth_file) as desk:
        when(daemon, began.recording_id, lambda now: now.frames > 0, "the first frame")
        for count, kind in enumerate(("recorder", "capture", "supervisor"), 1):
            kept = paint(desk, daemon, began.recording_id, 0x200020 * count)
            if kind == "supervisor":
                daemon.kill()
                daemon.start()
            else:
                pid = pid_of(daemon, kind)
                kill(pid)
                pid_of(daemon, kind, pid)
            when(daemon, began.recording_id, lambda now, n=count: len(now.segments) == n + 1, "another segment")  # type: ignore[misc]
            assert paint(desk, daemon, began.recording_id, 0x20C000 + count).frames > kept.frames
        ended = daemon.client.record_stop(began.recording_id).recording
    assert ended.state is RecordingState.DONE
    assert all(one.reason for one in ended.segments[:2])
    playable(ended, daemon)


def test_a_daemon_that_was_stopped_closes_its_recordings_at_the_next_start(screen: tuple[Daemon, DisplayInfo]) -> None:
    daemon, display = screen
    began = daemon.client.record_start(display.name).recording
    when(daemon, began.recording_id, lambda now: now.frames > 0, "the first frame")
    stray = daemon.paths.recordings / began.recording_id / "rec-0123456789abcdefghjkmnpqr-0001.mp4"
    daemon.stop()
    stray.write_bytes(b"x")
    daemon.start()
    ended = found(daemon, began.recording_id)
    assert (ended.state, ended.reason) == (RecordingState.DONE, "the daemon ended over it")
    playable(ended, daemon)
    assert not stray.exists()


@pytest.mark.parametrize("is_lost_before", [False, True])
def test_a_display_that_dies_ends_its_recording(screen: tuple[Daemon, DisplayInfo], is_lost_before: bool) -> None:
    """Also where its frames were lost before, and the X server is known to have ended later."""
    daemon, display = screen
    began = daemon.client.record_start(display.name).recording
    when(daemon, began.recording_id, lambda now: now.frames > 0, "the first frame")
    server = int(Path(f"/tmp/.X{display.name.removeprefix(':')}-lock").read_text())
    if is_lost_before:
        kill(server, signal.SIGSTOP)
        kill(pid_of(daemon, "capture"))
        when(daemon, began.recording_id, lambda now: bool(now.segments and now.segments[0].reason), "the segment's end")
    kill(server)
    ended = when(daemon, began.recording_id, lambda now: now.state is RecordingState.DONE, "its end")
    assert ended.reason
    playable(ended, daemon)
    assert event(daemon, "recording.ended", began.recording_id).data["frames"] == ended.frames


def test_an_adopted_display_removed_after_its_frames_were_lost_ends_its_recording(host: Daemon) -> None:
    with XServer(320, 240) as server:
        host.client.display_add(server.display, auth_file=server.auth_file)
        began = host.client.record_start(server.display).recording
        when(host, began.recording_id, lambda now: now.frames > 0, "the first frame")
        server.kill()
        when(host, began.recording_id, lambda now: bool(now.segments and now.segments[0].reason), "the segment's end")
        host.client.display_remove(server.display)
        ended = when(host, began.recording_id, lambda now: now.state is RecordingState.DONE, "its end")
    assert ended.reason
    playable(ended, host)


def test_a_stopped_x_server_is_a_gap_only_while_it_lasts(screen: tuple[Daemon, DisplayInfo]) -> None:
    daemon, display = screen
    began = daemon.client.record_start(display.name, fps=10).recording
    when(daemon, began.recording_id, lambda now: now.frames > 0, "the first frame")
    pid = int(Path(f"/tmp/.X{display.name.removeprefix(':')}-lock").read_text())
    kill(pid, signal.SIGSTOP)
    time.sleep(1.0)
    kill(pid, signal.SIGCONT)
    with Desk(display.name, display.auth_file) as desk:
        paint(desk, daemon, began.recording_id, 0x20C020)
    playable(daemon.client.record_stop(began.recording_id).recording, daemon)


def test_a_full_disk_costs_frames_and_says_so(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    with Mounts("24m", home / "recordings") as mounts:
        text = settings(display={"width": 320, "height": 240}, recording={"enabled": False})
        with Daemon(settings=text, home=home, prefix=mounts.prefix) as daemon:
            display = daemon.client.display_create(320, 240).display
            began = daemon.client.record_start(display.name, fps=10).recording
            with Desk(display.name, display.auth_file) as desk:
                when(daemon, began.recording_id, lambda now: now.frames > 0, "the first frame")
                ballast = Ballast(mounts.outside(home / "recordings"))
                ballast.fill()
                colours = itertools.cycle(range(0, 0xFFFFFF, 0x10305))

                def dropped(now: RecordingInfo) -> bool:
                    desk.fill(BOX, next(colours))
                    return now.dropped > 2

                now = when(daemon, began.recording_id, dropped, "dropped frames")
                assert now.state is RecordingState.RECORDING
                assert "No space left" in now.reason
                # Capture is untouched: a fresh look still shows what is there now.
                daemon.client.look("screen", display=display.name)
                ballast.drop()
                when(daemon, began.recording_id, lambda now: len(now.segments) == 2, "room again")
                paint(desk, daemon, began.recording_id, 0x20C020)
                ended = daemon.client.record_stop(began.recording_id).recording
            assert (ended.state, ended.segments[0].reason.split(":")[0]) == (
                RecordingState.DONE,
                "No space left on device",
            )
            root = mounts.outside(home / "recordings")
            for one in tapes(ended, root):
                whole(one)


def test_the_oldest_go_first_and_never_the_one_being_made(tmp_path: Path) -> None:
    with Daemon(settings=SCRIPTED + BARE + NO_TASKS + "max_mb = 0.012\n", home=tmp_path / "home") as daemon:
        display = daemon.client.display_create(320, 240).display
        ids = []
        for _ in range(3):
            began = daemon.client.record_start(display.name, fps=10).recording
            when(daemon, began.recording_id, lambda now: now.frames > 0, "the first frame")
            with Desk(display.name, display.auth_file) as desk:
                for n in range(6):
                    paint(desk, daemon, began.recording_id, 0x203040 * (n + 1) & 0xFFFFFF)
            ids.append(daemon.client.record_stop(began.recording_id).recording)
        live = daemon.client.record_start(display.name, fps=10).recording
        when(daemon, live.recording_id, lambda now: now.frames > 0, "its frame, which counts as well")
        total = sum(one.size_bytes for one in ids)
        assert total > 12_000

        def within() -> bool:
            kept = daemon.client.record_list().recordings
            return sum(one.size_bytes for one in kept) <= 12_000

        until(within, "recordings within their quota")
        kept = [one.recording_id for one in daemon.client.record_list().recordings]
        assert live.recording_id in kept
        gone = [one for one in ids if one.recording_id not in kept]
        assert gone == ids[: len(gone)]
        for one in gone:
            assert not (daemon.paths.recordings / one.folder).exists()
        assert {e.subject for e in events(daemon, "recording.deleted")} == {one.recording_id for one in gone}


def test_a_recorder_that_dies_again_and_again_is_given_up(tmp_path: Path) -> None:
    """It ends as failed, says why, and is told by doctor; what is on disk plays, and another one can be made."""
    chosen = SCRIPTED + BARE + NO_TASKS + "[daemon]\nrestart_limit = 1\nrestart_window_s = 3600\n"
    with Daemon(settings=chosen, home=tmp_path / "home") as daemon:
        display = daemon.client.display_create(320, 240).display
        began = daemon.client.record_start(display.name, fps=10).recording
        when(daemon, began.recording_id, lambda now: now.frames > 0, "the first frame")
        first = pid_of(daemon, "recorder")
        kill(first)
        kill(pid_of(daemon, "recorder", not_pid=first))
        ended = when(daemon, began.recording_id, lambda now: now.state is RecordingState.FAILED, "its end")
        assert ended.reason.startswith("its recorder was given up: ")
        playable(ended, daemon)
        assert event(daemon, "child.failed").subject == f"recorder {began.recording_id}"
        assert event(daemon, "recording.ended").data["reason"] == ended.reason
        findings = daemon.client.doctor().findings
        told = next(one for one in findings if one.part == f"recording {began.recording_id}")
        assert (told.level, told.text, told.fix) == (
            "warning",
            ended.reason,
            "acud logs --level error; what is on disk plays",
        )
        again = daemon.client.record_start(display.name, fps=10).recording
        when(daemon, again.recording_id, lambda now: now.frames > 0, "a frame of another one")


def test_old_ones_go_and_the_one_being_made_stays(tmp_path: Path) -> None:
    age = "keep_days = 0.00003\n"  # 2.6 s
    with Daemon(settings=SCRIPTED + BARE + NO_TASKS + age, home=tmp_path / "home") as daemon:
        display = daemon.client.display_create(320, 240).display
        old = daemon.client.record_start(display.name, fps=10).recording
        when(daemon, old.recording_id, lambda now: now.frames > 0, "the first frame")
        daemon.client.record_stop(old.recording_id)
        live = daemon.client.record_start(display.name, fps=10).recording

        def gone() -> bool:
            return old.recording_id not in {one.recording_id for one in daemon.client.record_list().recordings}

        until(gone, "its end")
        until(lambda: not (daemon.paths.recordings / old.folder).exists(), "the end of its files")
        assert event(daemon, "recording.deleted").subject == old.recording_id
        assert found(daemon, live.recording_id).state is RecordingState.RECORDING


# ---- random moments ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("runs", [2, pytest.param(50, marks=[pytest.mark.long, pytest.mark.timeout(1200)])])
def test_killed_at_random_moments_it_plays(screen: tuple[Daemon, DisplayInfo], runs: int) -> None:
    chance = random.Random(20261122 + runs)
    daemon, display = screen
    for _ in range(runs):
        began = daemon.client.record_start(display.name, fps=20).recording
        with Desk(display.name, display.auth_file) as desk:
            when(daemon, began.recording_id, lambda now: now.frames > 0, "the first frame")
            end_s = time.monotonic() + chance.uniform(0.0, 1.5)
            while time.monotonic() < end_s:
                desk.fill(BOX, chance.randrange(0x1000000))
                time.sleep(0.01)
            victim = chance.choice(["recorder", "capture", "supervisor"])
            if victim == "supervisor":
                daemon.kill()
                daemon.start()
            else:
                kill(pid_of(daemon, victim))
            paint(desk, daemon, began.recording_id, 0x40C0FF)
            ended = daemon.client.record_stop(began.recording_id).recording
        playable(ended, daemon)
        daemon.client.record_delete(began.recording_id)
    assert daemon.client.display_list().displays[0].state is DisplayState.UP
