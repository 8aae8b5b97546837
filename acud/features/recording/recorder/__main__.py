"""`python -m acud.features.recording.recorder`: records the display that its standard input names."""

from __future__ import annotations

from pathlib import Path

import zmq

from acud.base.errors import ProtocolError, Unavailable
from acud.features.recording.recorder.disk_thread import Disk
from acud.features.recording.recorder.service import Recorder
from acud.process import child_process
from acud.process.child_process import SyncChild
from acud.protocol.bootstrap import Bootstrap, RecorderOptions
from acud.protocol.recordings import ToRecorder


def main(bootstrap: Bootstrap) -> None:
    """Record until stopped. Raises: Unavailable when the folder cannot be made."""
    options = bootstrap.options
    if not isinstance(options, RecorderOptions):
        raise ProtocolError("the bootstrap is not for a recorder")
    child: SyncChild[ToRecorder] = SyncChild(bootstrap, ToRecorder)
    with child, child.socket.context.socket(zmq.SUB) as notices:
        notices.setsockopt(zmq.SUBSCRIBE, b"")
        notices.setsockopt(zmq.LINGER, 0)
        notices.connect(options.frames_endpoint)
        Recorder(options, bootstrap.heartbeat_s, bootstrap.rests_s, child, notices, _make_disk(options)).run()


def _make_disk(options: RecorderOptions) -> Disk:
    try:
        return Disk(Path(options.folder), options.recording_id)
    except OSError as fault:
        raise Unavailable(f"cannot record in {options.folder}: {fault.strerror}", hint="free some room") from fault


if __name__ == "__main__":
    child_process.run(main)
