"""A restored state put in the place of the present one, by renames that a kill can only delay.

The note `restore.json` is written once the new state lies whole in `.restoring`; from then on every start (of the
daemon, or of a restore) finishes what the note says before anything opens the database.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import msgspec
from msgspec import Struct

from acud.errors import StoreUnavailable

STAGE = ".restoring"
_NOTE = "restore.json"
_ITEMS = ("evidence", "recordings", "data.db")
_BESIDE = ("data.db-wal", "data.db-shm")
"""Of the present database: without it they are meaningless, beside another they would be its end."""


class _Note(Struct, frozen=True, forbid_unknown_fields=True):
    aside: str


def begin(home: Path, aside: str) -> None:
    """Write the note: what lies in `.restoring` is to be the state, and the present one to be kept in `aside`."""
    draft = home / f".{_NOTE}"
    with draft.open("wb") as file:
        file.write(msgspec.json.encode(_Note(aside)))
        file.flush()
        os.fsync(file.fileno())
    draft.replace(home / _NOTE)
    _sync(home)


def finish(home: Path) -> str:
    """Do what the note says, again from wherever it stopped; return where the former state is, "" for no note.

    Raises: StoreUnavailable when the note is damaged; OSError.
    """
    note = home / _NOTE
    if not note.exists():
        return ""
    aside = home / _read(note).aside
    aside.mkdir(mode=0o700, exist_ok=True)
    for item in _ITEMS:
        _exchange(home, aside, item)
    _sync(aside)
    _sync(home)
    note.unlink()
    shutil.rmtree(home / STAGE, ignore_errors=True)
    _sync(home)
    return str(aside)


def _read(note: Path) -> _Note:
    try:
        found = msgspec.json.decode(note.read_bytes(), type=_Note)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as fault:
        raise StoreUnavailable(f"{note} is damaged: {fault}", hint="restore the backup again: acud restore") from fault
    if Path(found.aside).name != found.aside or found.aside in ("", ".", ".."):
        raise StoreUnavailable(f"{note} names no folder: {found.aside[:80]!r}", hint="remove it, and restore again")
    return found


def _exchange(home: Path, aside: Path, item: str) -> None:
    staged = home / STAGE / item
    if not staged.exists():
        return  # it is in its place already, or was never there
    for name in (*(_BESIDE if item == "data.db" else ()), item):
        # A kill between the two renames of an item leaves its place empty; then nothing is to be moved away.
        if (home / name).exists():
            (home / name).rename(aside / name)
    staged.rename(home / item)


def _sync(folder: Path) -> None:
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
