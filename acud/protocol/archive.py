"""Backups: the request to `python -m acud.archive` on standard input, its answers, and a backup's manifest.

All of it is JSON; no socket is used, and no daemon is needed.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

Name = Annotated[str, Meta(min_length=1, max_length=4096)]

MANIFEST = "manifest.json"


class BackupAsk(Struct, frozen=True, tag="backup", forbid_unknown_fields=True):
    """Make a backup at the absolute path `target`: a folder, or one file when it ends in `.tar`."""

    target: Name
    evidence: bool = False
    recordings: bool = False
    parent_pid: int = 0


class RestoreAsk(Struct, frozen=True, tag="restore", forbid_unknown_fields=True):
    """Put the backup at `source` (a folder, a `.tar`, or a database alone) in place; `check`: only verify it."""

    source: Name
    check: bool = False
    parent_pid: int = 0


class CompactAsk(Struct, frozen=True, tag="compact", forbid_unknown_fields=True):
    """Rewrite the database without its free pages."""

    parent_pid: int = 0


ArchiveAsk = BackupAsk | RestoreAsk | CompactAsk


class FileInBackup(Struct, frozen=True, forbid_unknown_fields=True):
    """`path`: below the backup's folder, with `/`. `sha256`: in hexadecimal."""

    path: str
    size_bytes: int
    sha256: str


class BackupManifest(Struct, frozen=True, forbid_unknown_fields=True):
    """What a backup holds. `migration`: the newest that its database has. `skipped`: files that retention removed while
    the backup was made.
    """

    version: int
    acud: str
    made_utc_s: float
    migration: str
    files: tuple[FileInBackup, ...]
    skipped: tuple[str, ...] = ()


class BackupMade(Struct, frozen=True, tag="made", forbid_unknown_fields=True):
    """The backup is at `path`, whole and on the disk."""

    path: str
    size_bytes: int
    manifest: BackupManifest


class Restored(Struct, frozen=True, tag="restored", forbid_unknown_fields=True):
    """`aside`: where the replaced files lie now ("" for a check). `verified`: files whose hashes are right."""

    source: str
    migration: str
    verified: int
    aside: str


class Compacted(Struct, frozen=True, tag="compacted", forbid_unknown_fields=True):
    """Sizes of the database in bytes."""

    before: int
    after: int


class ArchiveFault(Struct, frozen=True, tag="fault", forbid_unknown_fields=True):
    """Why the backup or restore was not made."""

    code: str
    message: str
    hint: str


ArchiveAnswer = BackupMade | Restored | Compacted | ArchiveFault
