"""Kept pictures: one row for each file under `$ACU_HOME/evidence`.

The file comes first (a fresh name, fsync, fsync of the directory), then the row. The row goes first, then the file,
after the commit. So a file may lack its row (a leftover), but never a row its file.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec import Struct

from acud.base.errors import InternalError, InvalidRequest, NotFound, StoreUnavailable
from acud.base.ids import is_id
from acud.store.connection import Database, Table
from acud.store.rows import Row, RowCodec, load

SUFFIX = ".png"
NOUN = "evidence"


class StoredEvidence(Struct, frozen=True):
    """A kept picture. `name`: `<evidence id>.png`. `identity`: as in `acud.types.Evidence`."""

    name: str
    wait_id: str
    identity: str
    size_bytes: int
    utc_s: float


_CODEC = RowCodec(StoredEvidence)
_SQL = load("evidence", _CODEC)


def file_path(directory: Path, name: str) -> Path:
    """Return the path of the picture `name`. Raises: InvalidRequest unless it is an evidence id with our suffix."""
    if not name.endswith(SUFFIX) or not is_id(name.removesuffix(SUFFIX), NOUN):
        raise InvalidRequest(f"not the name of an evidence file: {name[:80]!r}")
    return directory / name


class EvidenceFiles(Table):
    """The table `evidence` and the files in `directory`. Methods that touch the table may raise StoreUnavailable."""

    def __init__(self, database: Database, directory: Path) -> None:
        super().__init__(database)
        self._directory = directory

    def add(self, name: str, wait_id: str, identity: str, utc_s: float) -> None:
        """Keep the row of an existing file. Raises: InvalidRequest (bad name), NotFound (no file), Conflict."""
        path = file_path(self._directory, name)
        try:
            size_bytes = path.stat().st_size
        except OSError:
            raise _build_missing(name) from None
        self._database.write(_SQL["insert"], _CODEC.bind(StoredEvidence(name, wait_id, identity, size_bytes, utc_s)))

    def get(self, name: str) -> StoredEvidence:
        """Return the row of `name`. Raises: NotFound."""
        found = self._read_first(_CODEC, _SQL["get"], {"name": name})
        if found is None:
            raise NotFound(
                f"no evidence {name[:80]}", hint="it may have passed store.keep_days or store.evidence_max_mb"
            )
        return found

    def path(self, name: str) -> Path:
        """Return the file of a kept picture. Raises: InvalidRequest, NotFound (no row, or the file is missing)."""
        self.get(name)
        path = file_path(self._directory, name)
        if not path.is_file():
            raise _build_missing(name)
        return path

    def missing(self) -> tuple[StoredEvidence, ...]:
        """Return the rows whose file is missing, as another program removed it."""
        return tuple(
            row for row in self._read_all(_CODEC, _SQL["all"]) if not file_path(self._directory, row.name).exists()
        )

    def trim(self, before_utc_s: float, max_bytes: int, limit: int = -1) -> tuple[str, ...]:
        """Delete the rows of waits that ended before, then the oldest rows over `max_bytes`; return their names. At
        most `limit` of each (-1: all). Pass the names to `remove_files` after the commit.
        """
        old = self._delete_rows(self._read_names("too_old", {"before_utc_s": before_utc_s, "limit": limit}))
        return old + self._delete_rows(self._read_names("over_size", {"max_bytes": max_bytes, "limit": limit}))

    def remove_files(self, names: tuple[str, ...]) -> None:
        """Remove the files of deleted rows; missing files are fine. Raises: StoreUnavailable when one cannot be
        removed; InternalError inside a turn.
        """
        if self._database.in_turn:
            raise InternalError("evidence files are removed after the commit, not inside a turn")
        for name in names:
            _remove_file(file_path(self._directory, name))

    def orphans(self) -> tuple[Path, ...]:
        """Return every file in the directory that no row names. For the start: a newer file may be about to get one."""
        kept = set(self._read_names("names", {}))
        return tuple(sorted(path for path in self._directory.iterdir() if path.name not in kept and path.is_file()))

    def remove_orphans(self) -> tuple[str, ...]:
        """Remove the orphans; return their names. Raises: as `remove_files`."""
        if self._database.in_turn:
            raise InternalError("orphans are swept outside a turn")
        found = self.orphans()
        for path in found:
            _remove_file(path)
        return tuple(path.name for path in found)

    def _read_names(self, block: str, bindings: Row) -> tuple[str, ...]:
        return tuple(str(row["name"]) for row in self._database.read(_SQL[block], bindings))

    def _delete_rows(self, names: tuple[str, ...]) -> tuple[str, ...]:
        if names:
            self._database.write(_SQL["delete"], {"names": msgspec.json.encode(names).decode()})
        return names


def _build_missing(name: str) -> NotFound:
    return NotFound(f"the evidence file {name} is missing", hint="somebody removed it from the directory")


def _remove_file(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as fault:
        raise StoreUnavailable(
            f"cannot remove {path}: {fault.strerror}", hint="check its permissions", fault="io", path=str(path)
        ) from fault
