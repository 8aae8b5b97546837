"""`python -m acud.features.recording.replay`: one `ReplayAsk` in on standard input, lines of JSON out.

It needs no daemon.
"""

from __future__ import annotations

import asyncio
import os
import sys

import msgspec

from acud import config
from acud.base import log, paths
from acud.base.errors import AcudError, InvalidRequest
from acud.base.typed_values import decode_json
from acud.base.value_errors import describe_decode_fault
from acud.evaluator.memory import keep_freed_memory
from acud.features.recording.replay.session import ReplaySession
from acud.process.child_process import die_with_parent
from acud.protocol.replay import ReplayAsk, ReplayDone, ReplayFault, ReplayLine


def main() -> None:
    """Run the replay; a fault is the last line but one of the output."""
    try:
        ask = _read_ask(sys.stdin.buffer.read())
        if ask.parent_pid:
            die_with_parent(ask.parent_pid)
        keep_freed_memory()
        here = paths.resolve(os.environ)
        settings = config.load(here.config, os.environ)
        asyncio.run(ReplaySession(ask, here, settings, os.environ, _write_line).run())
    except AcudError as fault:
        _write_line(ReplayFault(fault.code, fault.message, fault.hint))
    _write_line(ReplayDone())


def _read_ask(text: bytes) -> ReplayAsk:
    try:
        return decode_json(text, ReplayAsk)
    except msgspec.DecodeError as fault:
        raise InvalidRequest(describe_decode_fault(fault, ReplayAsk, "what is to be replayed")) from fault


def _write_line(line: ReplayLine) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(line) + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    log.configure("replay", debug=False)
    main()
