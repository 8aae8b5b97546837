"""A task as one ZIP file, written as it is read: no part of it is held in memory but the one at hand."""

from __future__ import annotations

import os
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from acud.errors import NotFound, Unavailable
from acud.protocol.recordings import FRAMES_SUFFIX, VIDEO_SUFFIX, RecordingInfo, file_name
from acud.tasks.nouns import Detail, TaskView
from acud.types import WaitInfo
from acud_client.sync import Client, EvidencePart

_MOST = 1000
"""What one request returns at most; what is beyond is said in the notes."""
_EVALUATIONS = 1000
_CHUNK = 1 << 20
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC


class Manifest(Struct, frozen=True):
    """What is in the file, and in `notes` what is not."""

    task: TaskView
    waits: tuple[str, ...]
    recordings: tuple[RecordingInfo, ...]
    notes: tuple[str, ...]


def export_task(client: Client, task_id: str, output: Path) -> Manifest:
    """Write everything of a task to `output`, whole or not at all. Raises: NotFound; OSError naming the file."""
    partial = output.with_name(f".{output.name}.{os.getpid()}.part")
    try:
        with (
            os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file,
            zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive,
        ):
            manifest = _Export(client, archive).everything(task_id)
        partial.replace(output)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    return manifest


class _Export:
    """One archive in the making."""

    def __init__(self, client: Client, archive: zipfile.ZipFile) -> None:
        self._client = client
        self._archive = archive
        self._notes: list[str] = []

    def everything(self, given_id: str) -> Manifest:
        view = self._task(given_id)
        task_id = view.task.task_id
        self._actions(view)
        thread = self._client.task_thread(task_id, limit=_MOST)
        if thread.total > len(thread.messages):
            self._notes.append(f"{thread.total - len(thread.messages)} older messages are left out")
        self._add("messages.json", thread.messages)
        waits = tuple(self._waits(task_id))
        recordings = self._recordings(task_id)
        manifest = Manifest(view, waits, recordings, tuple(self._notes))
        self._add("manifest.json", manifest)
        return manifest

    def _add(self, name: str, value: object) -> None:
        self._archive.writestr(name, msgspec.json.format(msgspec.json.encode(value)))

    def _task(self, given_id: str) -> TaskView:
        reply = self._client.task_summary(given_id, detail_level=Detail.FULL, max_tokens=100_000, as_data=True)
        if reply.view is None:
            raise NotFound(f"task {given_id} tells nothing of itself")
        if reply.left_out:
            self._notes.append("summary.txt leaves out: " + ", ".join(f"{n} {k}" for k, n in reply.left_out.items()))
        self._archive.writestr("summary.txt", reply.summary)
        self._add("task.json", reply.view)
        return reply.view

    def _actions(self, view: TaskView) -> None:
        for item in view.items:
            reply = self._client.task_drill_down(view.task.task_id, item.ordinal, limit=_MOST)
            if item.actions > len(reply.actions):
                self._notes.append(f"{item.actions - len(reply.actions)} older actions of item {item.ordinal} left out")
            self._add(f"actions/item-{item.ordinal}.json", reply)

    def _waits(self, task_id: str) -> Iterator[str]:
        reply = self._client.wait_list(ended=True, limit=_MOST)
        if reply.total > len(reply.waits):
            self._notes.append(f"only the newest {_MOST} of {reply.total} waits were looked through")
        for wait in reply.waits:
            if wait.spec.task_id == task_id:
                shown = self._client.wait_show(wait.wait_id, evaluations=_EVALUATIONS)
                self._add(f"waits/{wait.wait_id}.json", shown)
                self._evidence(wait)
                yield wait.wait_id

    def _evidence(self, wait: WaitInfo) -> None:
        if wait.evidence is None or not wait.evidence.name:
            return
        self._picture(wait.wait_id, "after", "")
        if wait.evidence.before:
            self._picture(wait.wait_id, "before", "-before")

    def _picture(self, wait_id: str, part: EvidencePart, mark: str) -> None:
        try:
            image = self._client.evidence(wait_id, part=part).image
        except (NotFound, Unavailable) as fault:
            self._notes.append(f"no picture of {wait_id}: {fault.message}")
            return
        self._archive.writestr(f"evidence/{wait_id}{mark}.png", image, zipfile.ZIP_STORED)

    def _recordings(self, task_id: str) -> tuple[RecordingInfo, ...]:
        reply = self._client.record_list(task_id=task_id, limit=_MOST)
        for one in reply.recordings:
            for segment in one.segments:
                for suffix in (VIDEO_SUFFIX, FRAMES_SUFFIX):
                    name = file_name(one.recording_id, segment.number, suffix)
                    self._file(Path(reply.path) / one.folder / name, f"recordings/{name}")
        return reply.recordings

    def _file(self, path: Path, name: str) -> None:
        try:
            descriptor = os.open(path, _OPEN)
        except OSError as fault:
            self._notes.append(f"{name} could not be read: {fault.strerror}")
            return
        kept = zipfile.ZipInfo.from_file(path, name)
        kept.compress_type = zipfile.ZIP_STORED if path.suffix == VIDEO_SUFFIX else zipfile.ZIP_DEFLATED
        with os.fdopen(descriptor, "rb") as file, self._archive.open(kept, "w", force_zip64=True) as entry:
            shutil.copyfileobj(file, entry, _CHUNK)
