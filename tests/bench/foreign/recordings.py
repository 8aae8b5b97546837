"""Recordings of still, moving, short and broken displays: are they as long as what was recorded?"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial

from acud.base.errors import NotFound
from acud.protocol.recordings import RecordingInfo, RecordingState
from acud.types import DisplayInfo
from acud.types.actions import Launch
from tests.bench.foreign.case import SETTINGS as PLAIN
from tests.bench.foreign.case import Answer, Case, Outcome
from tests.fixtures.daemon import Daemon

SETTINGS = PLAIN + "[recording]\nenabled = false\n"
_CLOCK = ("xterm", "-e", "sh", "-c", "while :; do date +%N; sleep 0.1; done")
_SLACK_S = 0.6
"""A frame of the slowest rate, and what the files take to close."""


@contextmanager
def _display(daemon: Daemon, *command: str) -> Iterator[DisplayInfo]:
    display = daemon.client.display_create(480, 320).display
    try:
        if command:
            daemon.client.desktop_action(Launch(command), display=display.name)
        yield display
    finally:
        with suppress(NotFound):  # a case may have removed it
            daemon.client.display_remove(display.name, force=True)


def _start(daemon: Daemon, display: DisplayInfo, fps: float = 0.0) -> RecordingInfo:
    """Begin a recording and return it once it has its first frame."""
    until_s = time.monotonic() + 30
    now = daemon.client.record_start(display.name, fps=fps).recording
    while not now.frames and time.monotonic() < until_s:
        time.sleep(0.02)
        now = daemon.client.record_show(now.recording_id).recording
    return now


def _compare(recording: RecordingInfo, least_s: float, most_s: float) -> Outcome:
    """Return right for a recording that ended well and is as long as the time between its start and its stop."""
    printed = (
        f"{recording.state}: {recording.seconds:.2f} s of {least_s:.2f} to {most_s:.2f} s, {recording.frames} frames"
    )
    is_long = least_s - _SLACK_S <= recording.seconds <= most_s + _SLACK_S
    return Outcome(Answer.RIGHT if is_long and recording.state is RecordingState.DONE else Answer.WRONG, printed)


def _record(daemon: Daemon, *command: str, before_s: float, for_s: float, fps: float = 0.0) -> Outcome:
    with _display(daemon, *command) as display:
        time.sleep(before_s)
        asked_s = time.monotonic()
        began = _start(daemon, display, fps) if for_s else daemon.client.record_start(display.name).recording
        began_s = time.monotonic()
        time.sleep(for_s)
        stopped_s = time.monotonic()
        ended = daemon.client.record_stop(began.recording_id).recording
        return _compare(ended, stopped_s - began_s, time.monotonic() - asked_s)


def _record_again(daemon: Daemon) -> Outcome:
    """The second recording of a display that stood still since the first one."""
    with _display(daemon) as display:
        first = daemon.client.record_start(display.name).recording
        time.sleep(1.0)
        daemon.client.record_stop(first.recording_id)
        time.sleep(5.0)
        asked_s = time.monotonic()
        second = _start(daemon, display)
        time.sleep(1.0)
        ended = daemon.client.record_stop(second.recording_id).recording
        return _compare(ended, 1.0, time.monotonic() - asked_s)


def _record_lost(daemon: Daemon) -> Outcome:
    with _display(daemon) as other, _display(daemon, *_CLOCK) as display:
        asked_s = time.monotonic()
        began = _start(daemon, display)
        began_s = time.monotonic()
        time.sleep(1.5)
        least_s = time.monotonic() - began_s
        daemon.client.display_remove(display.name, force=True)
        until_s = time.monotonic() + 30
        while (now := daemon.client.record_show(began.recording_id).recording).state is RecordingState.RECORDING:
            if time.monotonic() > until_s:
                return Outcome(Answer.WRONG, "it goes on for ever")
            time.sleep(0.05)
        outcome = _compare(now, least_s, time.monotonic() - asked_s)
        daemon.client.desktop_action(Launch(("true",)), display=other.name)  # the other one still works
    return outcome


def _play(daemon: Daemon) -> Outcome:
    """A player (ffprobe's library) sees the same length as acud tells."""
    import av

    with _display(daemon, *_CLOCK) as display:
        began = _start(daemon, display, fps=5)
        time.sleep(2.0)
        reply = daemon.client.record_stop(began.recording_id)
    total_s = 0.0
    for path in sorted(daemon.paths.recordings.joinpath(reply.recording.folder).glob("*.mp4")):
        with av.open(str(path)) as video:
            total_s += float(video.duration or 0) / 1e6
    is_same = abs(total_s - reply.recording.seconds) < 0.3
    printed = f"a player: {total_s:.2f} s, acud: {reply.recording.seconds:.2f} s"
    return Outcome(Answer.RIGHT if is_same else Answer.WRONG, printed)


CASES = (
    Case("a screen that stands still for long", partial(_record, before_s=8.0, for_s=2.0)),
    Case("two seconds of a running clock", lambda daemon: _record(daemon, *_CLOCK, before_s=1.0, for_s=2.0)),
    Case("a second of a still screen", partial(_record, before_s=0.0, for_s=1.0)),
    Case("stopped as soon as it began", partial(_record, before_s=4.0, for_s=0.0), held_out=True),
    Case("one frame in two seconds", partial(_record, before_s=3.0, for_s=3.0, fps=0.5), held_out=True),
    Case("a second recording of the same still screen", _record_again, held_out=True),
    Case("the display ends meanwhile", _record_lost, held_out=True),
    Case("as long for a player", _play, held_out=True),
)
