"""Pictures to files and pipes."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click


def write_picture(output: Path, data: bytes) -> None:
    """Write `data` to the file `output`, whole or not at all, or to standard output for `-`.

    Raises: click.UsageError when standard output is a terminal; OSError naming the file.
    """
    if str(output) == "-":
        _write_to_pipe(data)
    elif output.exists() and not output.is_file():
        output.write_bytes(data)  # a device or a pipe: nothing to replace
    else:
        _replace(output, data)


def _write_to_pipe(data: bytes) -> None:
    if sys.stdout.isatty():
        raise click.UsageError("standard output is a terminal; send it to a file or a pipe, or give -o FILE")
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def _replace(output: Path, data: bytes) -> None:
    partial = output.with_name(f".{output.name}.{os.getpid()}.part")
    try:
        partial.write_bytes(data)
        partial.replace(output)
    except OSError as fault:
        partial.unlink(missing_ok=True)
        raise OSError(fault.errno, fault.strerror, str(output)) from fault
