"""`python -m acud.archive`: reads an `ArchiveAsk` on standard input and prints an `ArchiveAnswer`. Needs no daemon."""

from __future__ import annotations

import os
import sys
import time

import msgspec

from acud.archive import backup, restore
from acud.base import paths
from acud.base.errors import AcudError, InvalidRequest, Unavailable
from acud.base.typed_values import decode_json
from acud.base.value_errors import describe_decode_fault
from acud.process.child_process import die_with_parent
from acud.protocol.archive import ArchiveAnswer, ArchiveAsk, ArchiveFault, BackupAsk, RestoreAsk


def main() -> None:
    os.umask(0o077)
    try:
        answer = _carry_out(_parse_request(sys.stdin.buffer.read()))
    except AcudError as fault:
        answer = ArchiveFault(fault.code, fault.message, fault.hint)
    sys.stdout.buffer.write(msgspec.json.encode(answer) + b"\n")
    sys.stdout.buffer.flush()


def _parse_request(text: bytes) -> ArchiveAsk:
    try:
        ask: ArchiveAsk = decode_json(text, ArchiveAsk)
    except msgspec.DecodeError as fault:
        raise InvalidRequest(describe_decode_fault(fault, ArchiveAsk, "the request")) from fault
    return ask


def _carry_out(ask: ArchiveAsk) -> ArchiveAnswer:
    if ask.parent_pid:
        die_with_parent(ask.parent_pid)
    here = paths.resolve(os.environ)
    try:
        if isinstance(ask, BackupAsk):
            return backup.back_up(here, ask, time.time())
        if isinstance(ask, RestoreAsk):
            return restore.restore(here, ask, time.time())
        return restore.compact(here)
    except OSError as fault:
        where = f": {fault.filename}" if fault.filename else ""
        raise Unavailable(
            f"{fault.strerror or fault}{where}", hint="nothing was replaced; mend that, and repeat"
        ) from fault


if __name__ == "__main__":
    main()
