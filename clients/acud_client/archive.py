"""A ZIP file made piece by piece, for a file or a network: what is held in memory is the piece at hand."""

from __future__ import annotations

import hashlib
import os
import time
import zipfile
from collections.abc import Iterator

from msgspec import Struct

_CHUNK = 1 << 20


class Packed(Struct, frozen=True):
    """One file of the archive, by its content."""

    name: str
    size_bytes: int
    sha256: str


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
    """`packed` tells what is in it so far."""

    def __init__(self) -> None:
        self._sink = _ZipSink()
        self._zip = zipfile.ZipFile(self._sink, "w", zipfile.ZIP_DEFLATED)  # type: ignore[call-overload]  # a file in part
        self.packed: list[Packed] = []

    def add(self, name: str, data: bytes, *, stored: bool = False) -> bytes:
        """Add a file; return what follows in the archive. `stored`: it is compressed already."""
        with self._zip.open(_head(name, time.time(), stored=stored), "w") as entry:
            entry.write(data)
        self.packed.append(Packed(name, len(data), hashlib.sha256(data).hexdigest()))
        return self._sink.take()

    def pour(self, name: str, descriptor: int, *, stored: bool = False) -> Iterator[bytes]:
        """Add the file behind `descriptor`, which stays open, as long as it is now; yield what follows, bit by bit."""
        found, digest, at = os.fstat(descriptor), hashlib.sha256(), 0
        with self._zip.open(_head(name, found.st_mtime, stored=stored), "w", force_zip64=True) as entry:
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


def _head(name: str, at_utc_s: float, *, stored: bool) -> zipfile.ZipInfo:
    head = zipfile.ZipInfo(name, time.gmtime(at_utc_s)[:6])
    head.compress_type = zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED
    head.external_attr = 0o600 << 16
    return head
