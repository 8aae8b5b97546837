"""A child process that never says a word (display `:1`), or one heartbeat and no more (any other; `:9` never rests)."""

from __future__ import annotations

import signal

from acud.process import child_process
from acud.process.child_process import SyncChild
from acud.protocol.bootstrap import Bootstrap, CaptureOptions
from acud.protocol.capture import ToCapture
from acud.protocol.children import Heartbeat


def main(bootstrap: Bootstrap) -> None:
    assert isinstance(bootstrap.options, CaptureOptions)
    child: SyncChild[ToCapture] = SyncChild(bootstrap, ToCapture)
    with child:
        if bootstrap.options.display != ":1":
            child.send(Heartbeat({}))
        while bootstrap.options.display == ":9":
            pass
        signal.pause()


if __name__ == "__main__":
    child_process.run(main)
