"""A task as one ZIP file: the questions to the daemon, and the bytes in between. The caller may wait or await."""

from __future__ import annotations

import hashlib
import os
import time
import zipfile
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import Struct

from acud.base.errors import AcudError, NotFound, Unavailable
from acud.base.typed_values import decode_json
from acud.protocol.recordings import FRAMES_SUFFIX, VIDEO_SUFFIX, RecordingInfo, RecordingState, SegmentHead, file_name
from acud.protocol.requests.agents import AgentList, AgentListReply, AgentResult, AgentResultReply
from acud.protocol.requests.recordings import RecordList, RecordListReply
from acud.protocol.requests.tasks import (
    TaskActions,
    TaskActionsReply,
    TaskExportTexts,
    TaskExportTextsReply,
    TaskSummary,
    TaskSummaryReply,
    TaskThread,
    TaskThreadReply,
)
from acud.protocol.requests.waits import EvidenceGet, EvidenceReply, WaitList, WaitListReply, WaitShow, WaitShowReply
from acud.protocol.requests.wakes import WakeList, WakeListReply
from acud.types import WaitInfo
from acud.types.agent_runs import RunInfo
from acud.types.tasks import Detail, TaskView

_MOST = 1000
"""The most that one request returns; the notes count what is beyond."""
_MOST_RUNS = 500
_CHUNK = 1 << 20
_BATCH_CHARS, _BATCH_TEXTS = 10_000, 500
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

Reply = TypeVar("Reply", bound=Struct)


class Packed(Struct, frozen=True):
    """One file of the archive, by its content."""

    name: str
    size_bytes: int
    sha256: str


class Question(Struct, Generic[Reply]):
    """Something to ask of the daemon; the caller sends its reply (a `kind`), or throws its error into the generator."""

    request: Struct
    kind: type[Reply]


class Manifest(Struct, frozen=True):
    """What is in the file, each with the SHA-256 of its content, and in `notes` what is not."""

    exported_utc_s: float
    task: TaskView
    waits: tuple[str, ...]
    runs: tuple[str, ...]
    recordings: tuple[RecordingInfo, ...]
    files: tuple[Packed, ...]
    notes: tuple[str, ...]


Steps = Generator[Question[Any] | bytes, Any, Manifest]


def export(task_id: str) -> Steps:
    """Yield questions, and bytes of the ZIP file in order; return its manifest, which is its last file.

    Blocks on the disk, and for compressing. Raises: NotFound; AcudError that a question met.
    """
    return _Export().export_all(task_id)


class _ZipSink:
    """What zipfile writes to; without `seek` it never goes back, and sizes stand behind each file."""

    def __init__(self) -> None:
        self._data = bytearray()

    def write(self, data: bytes) -> int:
        self._data += data
        return len(data)

    def flush(self) -> None:
        """Nothing is held back."""

    def take(self) -> bytes:
        data, self._data = bytes(self._data), bytearray()
        return data


class Archive:
    """`packed` lists what is in it so far."""

    def __init__(self) -> None:
        self._sink = _ZipSink()
        self._zip = zipfile.ZipFile(self._sink, "w", zipfile.ZIP_DEFLATED)  # type: ignore[call-overload]  # a file in part
        self.packed: list[Packed] = []

    def add(self, name: str, data: bytes, *, stored: bool = False) -> bytes:
        """Add a file; return what follows in the archive. `stored`: it is compressed already."""
        with self._zip.open(_make_head(name, time.time(), stored=stored), "w") as entry:
            entry.write(data)
        self.packed.append(Packed(name, len(data), hashlib.sha256(data).hexdigest()))
        return self._sink.take()

    def add_file(self, name: str, descriptor: int, *, stored: bool = False) -> Iterator[bytes]:
        """Add the file behind `descriptor`, which stays open, as long as it is now; yield what follows, bit by bit."""
        found, digest, at = os.fstat(descriptor), hashlib.sha256(), 0
        with self._zip.open(_make_head(name, found.st_mtime, stored=stored), "w", force_zip64=True) as entry:
            while part := os.pread(descriptor, min(_CHUNK, found.st_size - at), at):
                digest.update(part)
                entry.write(part)
                at += len(part)
                yield self._sink.take()
        self.packed.append(Packed(name, at, digest.hexdigest()))
        yield self._sink.take()

    def close(self) -> bytes:
        """Return the end of the archive."""
        self._zip.close()
        return self._sink.take()


class _Export:
    """One archive in the making."""

    def __init__(self) -> None:
        self._archive = Archive()
        self._notes: list[str] = []
        self._task_id = ""
        self._redacts = self._shows_pictures = False

    def export_all(self, given_id: str) -> Steps:
        self._task_id = given_id
        rules: TaskExportTextsReply = yield Question(TaskExportTexts(given_id), TaskExportTextsReply)
        self._redacts, self._shows_pictures = rules.redacted, rules.pictures or not rules.redacted
        view = yield from self._add_task(given_id)
        task_id = view.task.task_id
        yield from self._add_actions(task_id)
        waits = yield from self._add_waits(task_id)
        runs = yield from self._add_runs(task_id)
        recordings = yield from self._add_recordings(task_id)
        files, notes = tuple(self._archive.packed), tuple(self._notes)
        manifest = Manifest(time.time(), view, waits, runs, recordings, files, notes)
        yield from self._add_json("manifest.json", manifest)
        yield self._archive.close()
        return manifest

    def _add_json(self, name: str, value: object) -> Generator[Question[Any] | bytes, Any, None]:
        if self._redacts:
            value = yield from self._without_secrets(msgspec.to_builtins(value))
        yield self._archive.add(name, msgspec.json.format(msgspec.json.encode(value)))

    def _without_secrets(self, value: Any) -> Generator[Question[Any] | bytes, Any, Any]:
        """Return plain data with each of its texts as it may leave the daemon."""
        texts = list(dict.fromkeys(_texts_in(value)))
        told: dict[str, str] = {}
        for part in _split_batches(texts):
            reply: TaskExportTextsReply = yield Question(TaskExportTexts(self._task_id, part), TaskExportTextsReply)
            told.update(zip(part, reply.texts, strict=True))
        return _replace_texts(value, told)

    def _note_left_out(self, total: int, listed_count: int, what: str) -> None:
        if total > listed_count:
            self._notes.append(f"{total - listed_count} older {what} are left out")

    def _add_task(self, given_id: str) -> Generator[Question[Any] | bytes, Any, TaskView]:
        request = TaskSummary(given_id, detail_level=Detail.FULL, max_tokens=100_000, as_data=True)
        reply: TaskSummaryReply = yield Question(request, TaskSummaryReply)
        if reply.view is None:
            raise NotFound(f"the daemon returned no plan of task {given_id}")
        if reply.left_out:
            self._notes.append("summary.txt leaves out: " + ", ".join(f"{n} {k}" for k, n in reply.left_out.items()))
        summary = (yield from self._without_secrets(reply.summary)) if self._redacts else reply.summary
        yield self._archive.add("summary.txt", summary.encode())
        yield from self._add_json("task.json", reply.view)
        return reply.view

    def _add_actions(self, task_id: str) -> Generator[Question[Any] | bytes, Any, None]:
        done: TaskActionsReply = yield Question(TaskActions(task_id, _MOST), TaskActionsReply)
        self._note_left_out(done.total, len(done.actions), "actions")
        yield from self._add_json("actions.json", done.actions)
        thread: TaskThreadReply = yield Question(TaskThread(task_id, _MOST), TaskThreadReply)
        self._note_left_out(thread.total, len(thread.messages), "messages")
        yield from self._add_json("messages.json", thread.messages)

    def _add_waits(self, task_id: str) -> Generator[Question[Any] | bytes, Any, tuple[str, ...]]:
        reply: WaitListReply = yield Question(WaitList(ended=True, limit=_MOST, tasks=(task_id,)), WaitListReply)
        self._note_left_out(reply.total, len(reply.waits), "waits")
        for wait in reply.waits:
            shown: WaitShowReply = yield Question(WaitShow(wait.wait_id, _MOST), WaitShowReply)
            yield from self._add_json(f"waits/{wait.wait_id}.json", shown)
            request = WakeList(seen=True, wait_id=wait.wait_id, limit=_MOST)
            wakes: WakeListReply = yield Question(request, WakeListReply)
            if wakes.wakes:
                yield from self._add_json(f"wakes/{wait.wait_id}.json", wakes.wakes)
            yield from self._add_evidence(wait)
        return tuple(wait.wait_id for wait in reply.waits)

    def _add_evidence(self, wait: WaitInfo) -> Generator[Question[Any] | bytes, Any, None]:
        if wait.evidence is None or not wait.evidence.name:
            return
        if not self._shows_pictures:
            self._notes.append(f"the pictures of {wait.wait_id} are left out: evidence is not redacted")
            return
        asked = [EvidenceGet(wait.wait_id)]
        asked += [EvidenceGet(wait.wait_id, "before")] if wait.evidence.before else []
        for request in asked:
            try:
                reply: EvidenceReply = yield Question(request, EvidenceReply)
            except (NotFound, Unavailable) as fault:
                self._notes.append(f"no picture ({request.part}) of {wait.wait_id}: {fault.message}")
                continue
            mark = "" if request.part == "after" else f"-{request.part}"
            yield self._archive.add(f"evidence/{wait.wait_id}{mark}.png", reply.image, stored=True)

    def _add_runs(self, task_id: str) -> Generator[Question[Any] | bytes, Any, tuple[str, ...]]:
        reply: AgentListReply = yield Question(AgentList(task_id, _MOST_RUNS), AgentListReply)
        if len(reply.runs) == _MOST_RUNS:
            self._notes.append(f"only the newest {_MOST_RUNS} runs of the agent are here")
        for run in reply.runs:
            found = yield from self._add_run(run)
            yield from self._add_json(f"runs/{run.run_id}.json", found)
        return tuple(run.run_id for run in reply.runs)

    def _add_run(self, run: RunInfo) -> Generator[Question[Any] | bytes, Any, RunInfo]:
        # Looked at only: an agent that waits for its wake still gets it.
        found: AgentResultReply = yield Question(AgentResult(run.run_id, peek=True), AgentResultReply)
        return found.run

    def _add_recordings(self, task_id: str) -> Generator[Question[Any] | bytes, Any, tuple[RecordingInfo, ...]]:
        reply: RecordListReply = yield Question(RecordList(task_id, _MOST), RecordListReply)
        for one in reply.recordings:
            if one.state is RecordingState.RECORDING:
                self._notes.append(f"{one.recording_id} is still being recorded: it is here as far as it went")
            for segment in one.segments:
                lines = Path(reply.path) / one.folder / file_name(one.recording_id, segment.number, FRAMES_SUFFIX)
                if self._redacts and not _is_redacted(lines):
                    self._notes.append(
                        f"segment {segment.number} of {one.recording_id} is left out: it is not redacted"
                    )
                    continue
                for suffix in (VIDEO_SUFFIX, FRAMES_SUFFIX):
                    name = file_name(one.recording_id, segment.number, suffix)
                    yield from self._add_file(Path(reply.path) / one.folder / name, f"recordings/{name}")
        return reply.recordings

    def _add_file(self, path: Path, name: str) -> Iterator[bytes]:
        try:
            descriptor = os.open(path, _OPEN)
        except OSError as fault:
            self._notes.append(f"{name} could not be read: {fault.strerror}")
            return
        try:
            yield from self._archive.add_file(name, descriptor, stored=path.suffix == VIDEO_SUFFIX)
        finally:
            os.close(descriptor)


def _texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from _texts_in(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _texts_in(one)


def _replace_texts(value: Any, texts: dict[str, str]) -> Any:
    if isinstance(value, str):
        return texts[value]
    if isinstance(value, dict):
        return {name: _replace_texts(one, texts) for name, one in value.items()}
    return [_replace_texts(one, texts) for one in value] if isinstance(value, list | tuple) else value


def _split_batches(texts: list[str]) -> Iterator[tuple[str, ...]]:
    """Yield the texts in batches that the daemon reads through in some milliseconds each."""
    part: list[str] = []
    size = 0
    for text in texts:
        if part and (size + len(text) > _BATCH_CHARS or len(part) == _BATCH_TEXTS):
            yield tuple(part)
            part, size = [], 0
        part.append(text)
        size += len(text)
    if part:
        yield tuple(part)


def _is_redacted(lines: Path) -> bool:
    """Return whether a segment was redacted as it was made."""
    try:
        with lines.open("rb") as found:
            return decode_json(found.readline(), SegmentHead).redacted
    except (OSError, msgspec.DecodeError):
        return False


def advance(steps: Steps, answer: Struct | AcudError | None) -> Question[Any] | bytes | Manifest:
    """Return the next question, bytes or manifest, given the answer to the last question (None after bytes).

    Raises: AcudError that the export cannot do without.
    """
    try:
        return steps.throw(answer) if isinstance(answer, AcudError) else steps.send(answer)
    except StopIteration as end:
        manifest: Manifest = end.value
        return manifest


def _make_head(name: str, at_utc_s: float, *, stored: bool) -> zipfile.ZipInfo:
    head = zipfile.ZipInfo(name, time.gmtime(at_utc_s)[:6])
    head.compress_type = zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED
    head.external_attr = 0o600 << 16
    return head
