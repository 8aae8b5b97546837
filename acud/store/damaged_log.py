"""What a damaged write-ahead log would lose, and how that is kept beside the database.

SQLite reads a log up to its first bad frame and takes the rest for the remains of an unfinished write; it gives no
warning when they were commits. What is lost so is kept under `rescue/`: the files as they were found, and a note. A
folder stays there until a person removes it; until then the loss is reported (`acud doctor`).
"""

from __future__ import annotations

import os
import shutil
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import Struct

from acud.base.clock import utc_iso
from acud.base.paths import free_bytes, sync
from acud.base.typed_values import decode_json
from acud.store.faults import unavailable

_MAGIC = 0x377F0682  # the magic number of a log with checksums of little-endian words; one more: of big-endian ones
_VERSION = 3_007_000
_HEADER = struct.Struct(">8I")
_FRAME = struct.Struct(">6I")
_INDEX = struct.Struct("=3I2BH8I")  # the index's header; its two salts lie there as in the log, which is big-endian
_INDEX_CHECKED = 40
_BACKFILL = 96
_WORD = 0xFFFF_FFFF

Sums = tuple[int, int]
FOLDER = "rescue"
_NOTE = "lost.json"
_SPARE_BYTES = 16_000_000
RESCUE_FIX = (
    "acud wait list --all shows what is left: arm again what is missing, or acud restore a backup; "
    "then remove that folder"
)


class Loss(Struct, frozen=True):
    """Commits in the log of a database that will not be read again. `frames`: pages written there; `commits`: at least
    this many transactions; `reason`: what is damaged. `salts` identifies the log.
    """

    frames: int
    commits: int
    reason: str
    salts: str


class _Index(NamedTuple):
    """The last state of the log's index: `frames` were committed, of which `copied` are in the database itself."""

    frames: int
    copied: int
    salts: tuple[int, int]


class _Frame(NamedTuple):
    number: int
    is_commit: bool
    salts: tuple[int, int]
    sums: Sums
    checked: bytes


def find_loss(path: Path) -> Loss | None:
    """Return the loss when SQLite opens the database at `path`; None for a whole log, or no log. Reads the log once:
    about 0.1 s for each 4 MB. Raises: OSError.
    """
    log = path.with_name(f"{path.name}-wal")
    data = log.read_bytes() if log.exists() else b""
    index = _read_index(path.with_name(f"{path.name}-shm"))
    if not log.exists() or (not data and index is None):
        return None
    header = _HEADER.unpack_from(data) if len(data) >= _HEADER.size else None
    if header is not None and _is_whole(header, data):
        return _loss_after_break(data, header, index)
    return _loss_without_header(data, path, index)


def _is_whole(header: tuple[int, ...], data: bytes) -> bool:
    magic, version = header[:2]
    return (
        magic & ~1 == _MAGIC and version == _VERSION and _add_checksums(data[:24], (0, 0), _endian(magic)) == header[6:]
    )


def _endian(magic: int) -> str:
    return ">" if magic & 1 else "<"


def _loss_after_break(data: bytes, header: tuple[int, ...], index: _Index | None) -> Loss | None:
    magic, _, page, _, *salts = header[:6]
    own = (salts[0], salts[1])
    good = last_commit = 0
    sums: Sums = (header[6], header[7])
    ours: list[_Frame] = []
    is_broken = False
    for frame in _split_frames(data, page):
        is_broken = is_broken or frame.salts != own or _add_checksums(frame.checked, sums, _endian(magic)) != frame.sums
        if not is_broken:
            good, sums = frame.number, frame.sums
            last_commit = frame.number if frame.is_commit else last_commit
        elif frame.salts == own:
            ours.append(frame)
    known = index.frames if index is not None and index.salts == own else 0
    commits = sum(frame.is_commit for frame in ours)
    if not commits and known <= last_commit:
        return None  # what was not committed when its writer ended, or nothing
    end = max(known, good + len(ours))
    cut = not ours and len(data) < _HEADER.size + (known * (_FRAME.size + page))
    what = f"it is cut off after frame {good} of {end}" if cut else f"frame {good + 1} of {end} is damaged"
    return Loss(end - last_commit, max(1, commits), what, _log_name(own))


def _loss_without_header(data: bytes, path: Path, index: _Index | None) -> Loss | None:
    frames = list(_split_frames(data, _page_size(path)))
    salts = index.salts if index is not None else next((frame.salts for frame in frames if any(frame.salts)), None)
    ours = [frame for frame in frames if frame.salts == salts]
    copied = index.copied if index is not None else 0
    commits = sum(frame.is_commit for frame in ours if frame.number > copied)
    end = max(index.frames if index is not None else 0, max((frame.number for frame in ours), default=0))
    if salts is None or end <= copied or (not commits and index is None):
        return None
    what = "its header is damaged" if data else "it is empty"
    return Loss(end - copied, max(1, commits), what, _log_name(salts))


def _split_frames(data: bytes, page: int) -> Iterator[_Frame]:
    size = _FRAME.size + page
    for number, at in enumerate(range(_HEADER.size, len(data) - size + 1, size), 1):
        _, pages, salt, pepper, first, second = _FRAME.unpack_from(data, at)
        checked = data[at : at + 8] + data[at + _FRAME.size : at + size]
        yield _Frame(number, pages != 0, (salt, pepper), (first, second), checked)


def _add_checksums(data: bytes, sums: Sums, order: str) -> Sums:
    first, second = sums
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    for one, two in zip(words[::2], words[1::2], strict=True):
        first = (first + one + second) & _WORD
        second = (second + two + first) & _WORD
    return first, second


def _read_index(path: Path) -> _Index | None:
    """Return the content of the index; None where it is missing or not whole: it is not synced, so it may be old."""
    if not path.exists():
        return None
    with path.open("rb") as file:
        data = file.read(_BACKFILL + 4)
    if len(data) < _BACKFILL + 4 or data[:48] != data[48:96]:
        return None
    found = _INDEX.unpack_from(data)
    if found[0] != _VERSION or _add_checksums(data[:_INDEX_CHECKED], (0, 0), "=") != found[12:14]:
        return None
    salt, pepper = struct.unpack_from(">2I", data, 32)
    return _Index(found[6], struct.unpack_from("=I", data, _BACKFILL)[0], (salt, pepper))


def _page_size(path: Path) -> int:
    with path.open("rb") as file:
        header = file.read(18)
    size = int.from_bytes(header[16:18], "big")
    return 65536 if size == 1 else max(512, size)


def _log_name(salts: tuple[int, int]) -> str:
    return f"{salts[0]:08x}{salts[1]:08x}"


class RescuedLog(Struct, frozen=True):
    """One loss. `folder`: the place of data.db, data.db-wal and data.db-shm as they were found."""

    folder: str
    found_utc_s: float
    loss: Loss

    def words(self) -> str:
        loss = self.loss
        return (
            f"the write-ahead log was damaged ({loss.reason}): at least {loss.commits} committed transactions "
            f"({loss.frames} pages) were lost before {utc_iso(self.found_utc_s)}; the files as they were: {self.folder}"
        )


def rescue_log(path: Path, loss: Loss, now_utc_s: float) -> RescuedLog:
    """Copy the database at `path` and its log to a folder of their own, and return it; the same log is kept once.
    Raises: StoreUnavailable (`full`, `cannot_open`): then nothing may be opened that would destroy the log.
    """
    folder = path.parent / FOLDER / f"log-{loss.salts}"
    note = folder / _NOTE
    try:
        if note.exists():
            return _read_note(note)
        return _copy_log(path, folder, RescuedLog(str(folder), now_utc_s, loss))
    except OSError as fault:
        raise unavailable("cannot_open", folder, f"the copy of a damaged log: {fault.strerror}") from fault


def _copy_log(path: Path, folder: Path, log: RescuedLog) -> RescuedLog:
    files = [path.with_name(path.name + end) for end in ("", "-wal", "-shm")]
    present = [file for file in files if file.exists()]
    needed = sum(file.stat().st_size for file in present)
    free = free_bytes(path.parent)
    if free < needed + _SPARE_BYTES:
        detail = f"its log is damaged; a copy of both needs {needed / 1e6:.0f} MB, and {free / 1e6:.0f} MB are free"
        raise unavailable("full", path, detail)
    folder.parent.mkdir(mode=0o700, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    for file in present:
        _copy_file(folder / file.name, file)
    draft = folder / f".{_NOTE}"
    draft.write_bytes(msgspec.json.encode(log))
    draft.chmod(0o600)
    draft.replace(folder / _NOTE)
    sync(folder / _NOTE, folder, folder.parent)
    return log


def _copy_file(target: Path, source: Path) -> None:
    shutil.copyfile(source, target)
    target.chmod(0o600)
    sync(target)


def rescued_logs(home: Path) -> tuple[RescuedLog, ...]:
    """Return the losses with files still below `home`, oldest first."""
    try:
        with os.scandir(f"{home}/{FOLDER}") as folders:  # read at each status: a glob takes five times as long
            notes = [Path(folder.path, _NOTE) for folder in folders]
    except (FileNotFoundError, NotADirectoryError):
        return ()
    found = [_read_note(note) for note in sorted(notes) if note.exists()]
    return tuple(sorted(found, key=lambda one: one.found_utc_s))


def _read_note(note: Path) -> RescuedLog:
    """Return the note; for an unreadable one a loss without numbers: the folder alone proves that."""
    try:
        return decode_json(note.read_bytes(), RescuedLog)
    except (OSError, msgspec.MsgspecError) as fault:
        found_utc_s = note.parent.stat().st_mtime if note.parent.exists() else 0.0
        reason = f"the note of what is gone cannot be read: {fault}"
        return RescuedLog(str(note.parent), found_utc_s, Loss(1, 1, reason, note.parent.name))
