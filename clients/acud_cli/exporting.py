"""A task's ZIP file on disk: whole, or not there at all."""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct

from acud.errors import AcudError
from acud_client.exporting import Manifest, advance, export
from acud_client.sync import Client


def export_task(client: Client, task_id: str, output: Path) -> Manifest:
    """Write everything of a task to `output`. Raises: NotFound; OSError naming the file."""
    partial = output.with_name(f".{output.name}.{os.getpid()}.part")
    try:
        with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            manifest = _written(client, task_id, file)
        partial.replace(output)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    return manifest


def _written(client: Client, task_id: str, file: BinaryIO) -> Manifest:
    steps, answer = export(task_id), None
    while not isinstance(step := advance(steps, answer), Manifest):
        answer = None
        if isinstance(step, bytes):
            file.write(step)
        else:
            answer = _reply(client, step.request, step.kind)
    return step


def _reply(client: Client, request: Struct, kind: type[Struct]) -> Struct | AcudError:
    try:
        return client.ask(request, kind)
    except AcudError as fault:
        return fault
