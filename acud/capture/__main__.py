"""`python -m acud.capture`: captures the display that its standard input names."""

from __future__ import annotations

from contextlib import closing

import zmq

from acud.base.errors import ProtocolError
from acud.capture.service import CaptureService
from acud.process import child_process
from acud.process.child_process import SyncChild
from acud.protocol.bootstrap import Bootstrap, CaptureOptions
from acud.protocol.capture import ToCapture
from acud.x11.connection import Connection, translate_faults


def main(bootstrap: Bootstrap) -> None:
    """Capture until stopped. Raises: DisplayDown, Refused, ShmFull … as faults for the supervisor."""
    options = bootstrap.options
    if not isinstance(options, CaptureOptions):
        raise ProtocolError("the bootstrap is not for a capture process")
    child: SyncChild[ToCapture] = SyncChild(bootstrap, ToCapture)
    with child, child.socket.context.socket(zmq.PUB) as publisher, translate_faults(options.display):
        publisher.setsockopt(zmq.LINGER, 0)
        publisher.bind(options.frames_endpoint)
        with (
            Connection(options.display, options.auth_file, options.owner) as connection,
            closing(
                CaptureService(options, bootstrap.heartbeat_s, bootstrap.rests_s, child, connection, publisher)
            ) as service,
        ):
            service.run()


if __name__ == "__main__":
    child_process.run(main)
