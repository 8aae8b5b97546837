"""How often a recorder is heard, that it looks into the ring by itself, and that it keeps nothing it may not."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import zmq

from acud.base.ids import new_id
from acud.config import RedactionSettings
from acud.features.recording.recorder.disk_thread import Disk
from acud.features.recording.recorder.service import Recorder
from acud.frames.layout import Layout
from acud.frames.ring import Ring
from acud.frames.writer import FrameWriter
from acud.process.child_process import SyncChild
from acud.protocol import codec
from acud.protocol.bootstrap import Bootstrap, RecorderOptions
from acud.protocol.children import Heartbeat, Stop
from acud.protocol.recordings import Film, Filmed, Filming, FromRecorder, HideAsk, ToRecorder

LAYOUT = Layout(64, 48, 3)


def _put(writer: FrameWriter, frame: int) -> None:
    slot = writer.begin()
    writer.arrays[slot][:] = frame
    writer.publish(slot, frame, frame, None, np.full(LAYOUT.tiles, frame, np.uint64))


def _heard(
    folder: Path,
    orders: list[ToRecorder],
    is_enough: Callable[[list[FromRecorder]], bool],
    redaction: RedactionSettings | None = None,
) -> list[FromRecorder]:
    """Return what a recorder says, which gets no notices, until it is enough."""
    endpoint, frames = f"ipc://{folder}/children", f"ipc://{folder}/frames"
    options = RecorderOptions(new_id("rec"), str(folder / "films"), frames, 30.0, 28, redaction)
    bootstrap = Bootstrap(endpoint, "one", os.getpid(), 0.02, False, options, 60.0)

    def record() -> None:
        with SyncChild[ToRecorder](bootstrap, ToRecorder) as child, child.socket.context.socket(zmq.SUB) as notices:
            Recorder(options, 0.02, 60.0, child, notices, Disk(folder / "films", options.recording_id)).run()

    heard: list[FromRecorder] = []
    with zmq.Context() as context, context.socket(zmq.ROUTER) as supervisor:
        supervisor.setsockopt(zmq.RCVTIMEO, 30_000)
        supervisor.bind(endpoint)
        thread = threading.Thread(target=record)
        thread.start()
        try:
            while not is_enough(heard):
                heard.append(codec.decode(supervisor.recv_multipart()[1], FromRecorder))  # type: ignore[arg-type]
                while orders:
                    supervisor.send_multipart([b"one", codec.encode(orders.pop(0))])
        finally:
            supervisor.send_multipart([b"one", codec.encode(Stop())])
            thread.join(30)
    return heard


def test_a_recorder_says_how_it_fares_in_each_period_and_that_its_heartbeats_are_rarer(tmp_path: Path) -> None:
    heard = _heard(tmp_path, [], lambda said: sum(isinstance(one, Filming) for one in said) >= 20)
    beats = [one for one in heard if isinstance(one, Heartbeat)]
    assert 1 <= len(beats) <= 2
    assert {beat.rests_s for beat in beats} == {60.0}


def test_frames_whose_notices_were_lost_are_found_in_the_ring(tmp_path: Path) -> None:
    with Ring.create(tmp_path / "ring", LAYOUT, epoch=1) as ring:
        writer = FrameWriter(ring)
        _put(writer, 1)
        unseen = [2]

        def has_both(said: list[FromRecorder]) -> bool:
            frames = max((one.segment.frames for one in said if isinstance(one, Filmed)), default=0)
            if frames and unseen:
                _put(writer, unseen.pop())
            return frames == 2

        # The line of a frame leaves with what follows it: a repeat, or the next frame.
        _heard(tmp_path, [Film(str(ring.path), 1, 0)], has_both)
        writer.close()


def test_what_is_hidden_is_not_known_so_nothing_is_recorded(tmp_path: Path) -> None:
    with Ring.create(tmp_path / "ring", LAYOUT, epoch=1) as ring:
        writer = FrameWriter(ring)
        _put(writer, 1)
        heard = _heard(
            tmp_path,
            [Film(str(ring.path), 1, 0)],
            lambda said: any(isinstance(one, Filming) and one.dropped for one in said),
            RedactionSettings(recordings=True),
        )
        writer.close()
    assert any(isinstance(one, HideAsk) for one in heard)
    assert "did not say what is to be hidden" in [one for one in heard if isinstance(one, Filming)][-1].trouble
    assert not any(isinstance(one, Filmed) for one in heard)
    assert list((tmp_path / "films").glob("*.mp4")) == []
