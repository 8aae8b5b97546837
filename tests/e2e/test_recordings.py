"""Recordings over a whole daemon: by task and by hand, true to what was on the display and when."""

from __future__ import annotations

import itertools
import subprocess
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from acud.base.errors import Conflict, NotFound
from acud.features.recording.recorder.frame_copy import FrameCopier
from acud.protocol.recordings import RecordingInfo, RecordingState
from acud.types import DisplayInfo, Rect
from acud.types.tasks import TaskStatus
from tests.e2e.conftest import BARE, SCRIPTED
from tests.e2e.desktop import Desk, titled, until
from tests.e2e.recordings import Tape, tape, tapes, whole
from tests.fixtures.daemon import Daemon

RED, GREEN, BLUE = 0xC02020, 0x20C020, 0x2020C0
BOX = Rect(64, 64, 96, 96)


@pytest.fixture(scope="module")
def recorder() -> Iterator[Daemon]:
    """A daemon of its own: other tests count what their daemon does."""
    with Daemon(settings=SCRIPTED + BARE + "[recording]\nenabled = false\n") as running:
        yield running


@pytest.fixture
def screen(recorder: Daemon) -> Iterator[DisplayInfo]:
    made = recorder.client.display_create(320, 240).display
    yield made
    if made.name in {display.name for display in recorder.client.display_list().displays}:
        recorder.client.display_remove(made.name, force=True)


def found(daemon: Daemon, recording_id: str) -> RecordingInfo:
    return next(one for one in daemon.client.record_list().recordings if one.recording_id == recording_id)


def has(daemon: Daemon, recording_id: str, frames: int) -> RecordingInfo:
    def enough() -> RecordingInfo | None:
        now = found(daemon, recording_id)
        return now if now.frames >= frames else None

    return until(enough, f"{frames} frames of {recording_id}")


def shows(one: Tape, colour: int, x: int = 112, y: int = 112) -> list[float]:
    """Return when a pixel, by default the middle of BOX, is about that colour."""
    rgb = [colour >> 16, colour >> 8 & 255, colour & 255]
    near = [s for s in one.shown if abs(s.pixels[y, x].astype(int) - rgb).max() < 40]
    return [shown.at_s for shown in near]


def test_a_recording_answers_with_its_first_frame(recorder: Daemon, screen: DisplayInfo) -> None:
    with Desk(screen.name, screen.auth_file) as desk:
        began = recorder.client.record_start(screen.name, fps=30).recording
        desk.fill(BOX, GREEN)
        ended = recorder.client.record_stop(began.recording_id).recording
    (one,) = tapes(ended, recorder.paths.recordings)
    assert shows(one, GREEN)[0] > 0, "it began before the answer"
    kept, aside = recorder.paths.recordings, recorder.paths.recordings.with_suffix(".aside")
    kept.rename(aside)
    try:
        kept.touch()
        began = recorder.client.record_start(screen.name).recording
        failed = until(lambda: _done(recorder, began.recording_id), "its failure")  # after the answer, if busy
    finally:
        kept.unlink()
        aside.rename(kept)
    assert failed.state is RecordingState.FAILED
    assert "cannot record in" in failed.reason


def test_a_window_alone_is_recorded_where_it_goes(recorder: Daemon, screen: DisplayInfo) -> None:
    middle = 50, 40
    with Desk(screen.name, screen.auth_file) as desk:
        window = desk.window(Rect(20, 20, 100, 80), RED, "Alone")
        titled(recorder.client, screen.name, "Alone")
        began = recorder.client.record_start(screen.name, fps=10, target="window:alone").recording
        assert began.target == f"window:{window:#x}"
        desk.fill(Rect(200, 0, 100, 80), BLUE)
        desk.place(window, Rect(200, 140, 100, 80))
        until(lambda: titled(recorder.client, screen.name, "Alone").bounds.y == 140, "its new place")
        before = found(recorder, began.recording_id).frames
        desk.recolour(window, GREEN)
        has(recorder, began.recording_id, before + 3)  # a still window gives frames, too, and the count is told late
        desk.window(Rect(190, 130, 120, 100), BLUE, "Cover")
        until(lambda: len(found(recorder, began.recording_id).segments) == 2, "the covered window's own pixels")
        frames = found(recorder, began.recording_id).frames
        desk.recolour(window, RED)
        has(recorder, began.recording_id, frames + 1)
        desk.close(window)
        ended = until(lambda: _done(recorder, began.recording_id), "its end with the window")
    assert ended.reason == "its window was closed"
    assert [(one.width, one.height) for one in ended.segments] == [(100, 80), (100, 80)]
    moved, covered = tapes(ended, recorder.paths.recordings)
    assert shows(moved, RED, *middle)[0] < shows(moved, GREEN, *middle)[-1]
    assert not shows(covered, BLUE, *middle)
    assert shows(covered, RED, *middle)
    with pytest.raises(NotFound, match="no window matches"):
        recorder.client.record_start(screen.name, target="window:Nowhere")


def test_what_changed_is_in_the_video_at_its_time(recorder: Daemon, screen: DisplayInfo) -> None:
    began = recorder.client.record_start(screen.name, fps=4).recording
    has(recorder, began.recording_id, 1)
    painted: list[tuple[int, int]] = []
    with Desk(screen.name, screen.auth_file) as desk:
        for count, colour in enumerate((RED, GREEN, BLUE), 2):
            painted.append((colour, time.time_ns() // 1_000_000))
            desk.fill(BOX, colour)
            has(recorder, began.recording_id, count)
        reply = recorder.client.record_stop(began.recording_id)
    assert reply.recording.state is RecordingState.DONE
    assert Path(reply.path) == recorder.paths.recordings / began.recording_id
    (one,) = tapes(reply.recording, recorder.paths.recordings)
    whole(one)
    for colour, utc_ms in painted:
        row = next(row for row in one.rows if row.at_ms / 1000 >= shows(one, colour)[0] - 0.001)
        assert utc_ms - 20 <= row.utc_ms  # the grab came after the painting began
    assert one.rows[0].identity != one.rows[1].identity
    assert reply.recording.frames == len(one.rows)
    assert abs(reply.recording.seconds - one.duration_s) < 0.1
    assert one.duration_s >= one.rows[-1].at_ms / 1000


def test_identities_and_tiles_are_of_the_exact_pixels(recorder: Daemon, screen: DisplayInfo) -> None:
    began = recorder.client.record_start(screen.name, fps=10).recording
    has(recorder, began.recording_id, 1)
    with Desk(screen.name, screen.auth_file) as desk:
        desk.fill(BOX, GREEN)
        recorder.client.record_stop(began.recording_id)
        rgb = desk.pixels()
    bgrx = np.ascontiguousarray(rgb[:, :, [2, 1, 0, 0]])
    one = tape(recorder.paths.recordings / began.recording_id, began.recording_id)
    height, width = bgrx.shape[:2]
    everything = np.ones(-(-height // 16) * -(-width // 16), np.bool_)
    assert one.rows[-1].identity == FrameCopier(width, height).copy(1, 1, 0, bgrx, everything).identity
    changed = int.from_bytes(zlib.decompress(one.rows[-1].tiles), "little")
    assert changed == sum(1 << row * 20 + column for row in range(4, 10) for column in range(4, 10))


def test_the_rate_is_kept_and_the_last_frame_gets_in(recorder: Daemon, screen: DisplayInfo) -> None:
    began = recorder.client.record_start(screen.name, fps=5).recording
    has(recorder, began.recording_id, 1)
    with Desk(screen.name, screen.auth_file) as desk:
        for step in range(120):
            desk.fill(BOX, step * 2 << 16)
            time.sleep(0.01)
        desk.fill(BOX, GREEN)
        reply = recorder.client.record_stop(began.recording_id)
    (one,) = tapes(reply.recording, recorder.paths.recordings)
    whole(one)
    gaps_ms = [after.at_ms - before.at_ms for before, after in itertools.pairwise(one.rows)]
    assert sum(gaps_ms[1:-1]) >= 195 * len(gaps_ms[1:-1])
    assert shows(one, GREEN)


def test_a_still_screen_is_as_long_as_its_recording(recorder: Daemon, screen: DisplayInfo) -> None:
    with Desk(screen.name, screen.auth_file) as desk:
        desk.fill(BOX, GREEN)
        before_s = time.monotonic()
        first = recorder.client.record_start(screen.name, fps=10).recording
        has(recorder, first.recording_id, 1)
        time.sleep(1.5)
        first = recorder.client.record_stop(first.recording_id).recording
        between_s = time.monotonic()
        second = recorder.client.record_start(screen.name).recording  # of a frame that is older than it
        second = recorder.client.record_stop(second.recording_id).recording  # before its recorder has started
        after_s = time.monotonic()
        for recording in (first, second):
            (one,) = tapes(recording, recorder.paths.recordings)
            assert recording.frames == len(one.rows) == 1
            assert shows(one, GREEN)[0] == 0
            assert recording.segments[0].start_utc_ms >= recording.created_utc_s * 1000 - 1
            assert recording.size_bytes < 20_000
    assert 1.4 <= first.seconds <= between_s - before_s
    assert 0 < second.seconds <= after_s - between_s
    marks = recorder.client.record_timeline(second.recording_id)
    assert 0 < marks.end_ms - marks.start_ms <= (after_s - between_s) * 1000 + 1


def test_files_are_private_and_go_when_deleted(recorder: Daemon, screen: DisplayInfo) -> None:
    began = recorder.client.record_start(screen.name).recording
    has(recorder, began.recording_id, 1)
    folder = recorder.paths.recordings / began.recording_id
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
    with pytest.raises(Conflict, match="is being made"):
        recorder.client.record_delete(began.recording_id)
    with pytest.raises(Conflict, match="recorded already"):
        recorder.client.record_start(screen.name)
    recorder.client.record_stop(began.recording_id)
    with pytest.raises(Conflict, match="is done"):
        recorder.client.record_stop(began.recording_id)
    recorder.client.record_delete(began.recording_id)
    assert not folder.exists()
    with pytest.raises(NotFound):
        recorder.client.record_delete(began.recording_id)


def test_another_size_is_another_segment(recorder: Daemon, screen: DisplayInfo) -> None:
    began = recorder.client.record_start(screen.name, fps=10).recording
    has(recorder, began.recording_id, 1)
    env = {"PATH": "/usr/bin:/bin", "DISPLAY": screen.name, "XAUTHORITY": screen.auth_file}
    resize = ["xrandr", "--output", "screen", "--off", "--fb", "200x150"]
    subprocess.run(resize, env=env, check=True, capture_output=True, timeout=60)
    until(lambda: len(found(recorder, began.recording_id).segments) == 2, "another segment")
    ended = recorder.client.record_stop(began.recording_id).recording
    assert [(one.width, one.height) for one in ended.segments] == [(320, 240), (200, 150)]
    assert ended.segments[0].reason == "the display became 200x150"
    for one in tapes(ended, recorder.paths.recordings):
        whole(one)


def test_an_odd_size_is_padded(recorder: Daemon) -> None:
    made = recorder.client.display_create(321, 241).display
    began = recorder.client.record_start(made.name, fps=10).recording
    has(recorder, began.recording_id, 1)
    with Desk(made.name, made.auth_file) as desk:
        desk.fill(BOX, GREEN)
        has(recorder, began.recording_id, 2)
    recorder.client.display_remove(made.name, force=True)
    ended = until(lambda: _done(recorder, began.recording_id), "its end with the display")
    assert "removed" in ended.reason
    (one,) = tapes(ended, recorder.paths.recordings)
    whole(one)
    assert one.size == (322, 242)
    assert shows(one, GREEN)


def _done(daemon: Daemon, recording_id: str) -> RecordingInfo | None:
    now = found(daemon, recording_id)
    return now if now.state is not RecordingState.RECORDING else None


# ---- tasks -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def filming() -> Iterator[Daemon]:
    """A daemon that records its tasks."""
    with Daemon(settings=SCRIPTED + BARE) as running:
        yield running


def test_a_task_is_recorded_from_its_beginning_to_its_end(filming: Daemon) -> None:
    daemon = filming
    task = daemon.client.task_register("paint", display_width=320, display_height=240).view.task
    (began,) = daemon.client.record_list(task_id=task.task_id).recordings
    assert (began.automatic, began.folder, began.fps, began.crf) == (True, task.task_id, 2, 28)
    screen = next(d for d in daemon.client.display_list().displays if d.name == task.display)
    has(daemon, began.recording_id, 1)
    with Desk(screen.name, screen.auth_file) as desk:
        desk.fill(BOX, GREEN)
        has(daemon, began.recording_id, 2)
    daemon.client.task_update(task.task_id, status=TaskStatus.FAILED)
    ended = until(lambda: _done(daemon, began.recording_id), "the end of the recording")
    assert (ended.state, ended.reason) == (RecordingState.DONE, "its task is failed")
    (one,) = tapes(ended, daemon.paths.recordings)
    whole(one)
    daemon.client.task_delete(task.task_id)
    assert not (daemon.paths.recordings / task.task_id).exists()
    assert daemon.client.record_list().recordings == ()


def test_a_failed_tasks_recording_goes_where_the_settings_say_so() -> None:
    with Daemon(settings=SCRIPTED + BARE + "[recording]\nkeep_failed = false\n") as daemon:
        task = daemon.client.task_register("fail", display_width=320, display_height=240).view.task
        by_hand = daemon.client.task_register("shared", isolated_display=False).view.task
        assert [one.task_id for one in daemon.client.record_list().recordings] == [task.task_id]
        has(daemon, daemon.client.record_list().recordings[0].recording_id, 1)
        daemon.client.task_update(task.task_id, status=TaskStatus.FAILED)
        until(lambda: not daemon.client.record_list().recordings, "its recording gone")
        until(lambda: not (daemon.paths.recordings / task.task_id).exists(), "its files gone")
        daemon.client.task_delete(by_hand.task_id)


def test_a_task_that_is_deleted_while_recorded_takes_the_files_along(filming: Daemon) -> None:
    daemon = filming
    task = daemon.client.task_register("go", display_width=320, display_height=240).view.task
    has(daemon, daemon.client.record_list().recordings[0].recording_id, 1)
    daemon.client.task_delete(task.task_id)
    until(lambda: not daemon.client.record_list().recordings, "its recording gone")
    until(lambda: not (daemon.paths.recordings / task.task_id).exists(), "its files gone")
