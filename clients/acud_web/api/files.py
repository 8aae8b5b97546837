"""Files, pictures and the frames of a segment over HTTP: ranges, validators, safe paths (RFC 9110)."""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import stat
from pathlib import Path

import msgspec
from msgspec import Struct
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from acud.base.errors import NotFound
from acud.base.typed_values import decode_json, json_decoder
from acud.protocol.recordings import SegmentHead

_CHUNK = 256 * 1024
_RANGE = re.compile(r"bytes=(?P<first>[0-9]{0,18})-(?P<last>[0-9]{0,18})", re.ASCII)
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_PRIVATE = "private, no-cache"
"""Kept by the browser that has it, and asked about each time, so that an access token that ended is noticed."""


class ByteRange(Struct, frozen=True):
    """Bytes `first` up to and with `last`."""

    first: int
    last: int


class Unsatisfiable(Exception):
    """No byte of the file is in the range."""


def open_below(root: Path, folder: str, name: str) -> int:
    """Return a descriptor of the regular file `name` in `root`/`folder`, following no link below `root`.

    Raises: NotFound when there is none.
    """
    if any(part in ("", ".", "..") or "/" in part or "\0" in part for part in (folder, name)):
        raise NotFound("that is no place of a file")
    try:
        return _open_file(root, folder, name)
    except OSError as fault:
        raise NotFound(f"its file is not there: {fault.strerror}", hint="old files may have been deleted") from fault


def _open_file(root: Path, folder: str, name: str) -> int:
    top = os.open(root, _FOLDER)
    try:
        inner = os.open(folder, _FOLDER, dir_fd=top)
    finally:
        os.close(top)
    try:
        # O_NONBLOCK: what is there instead of a file (a pipe) is not waited for.
        found = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=inner)
    finally:
        os.close(inner)
    if not stat.S_ISREG(os.fstat(found).st_mode):
        os.close(found)
        raise FileNotFoundError(0, "not a regular file")
    return found


def picture(connection: HTTPConnection, data: bytes, media: str = "image/png") -> Response:
    """Return a picture, or 304 if the client has it."""
    etag = f'"{hashlib.sha256(data).hexdigest()[:32]}"'
    headers = {"ETag": etag, "Cache-Control": _PRIVATE}
    if _has_newest(connection, etag):
        return Response(status_code=304, headers=headers)
    return Response(data, headers=headers, media_type=media)


class FileAnswer(Response):
    """Sends the file behind `descriptor`, which it owns, as long as it is now. `settled`: it grows no more."""

    def __init__(self, connection: HTTPConnection, descriptor: int, media: str, *, settled: bool) -> None:
        super().__init__(media_type=media)
        self._descriptor = descriptor
        found = os.fstat(descriptor)
        self._size = found.st_size
        # A file that grows changes each time: no validator would hold.
        etag = f'"{found.st_ino:x}-{found.st_mtime_ns:x}-{found.st_size:x}"' if settled else ""
        self._span = ByteRange(0, self._size - 1)
        self.headers["Accept-Ranges"] = "bytes"
        self.headers["Cache-Control"] = _PRIVATE
        if etag:
            self.headers["ETag"] = etag
        self._decide_answer(connection, etag)

    def _decide_answer(self, connection: HTTPConnection, etag: str) -> None:
        if etag and _has_newest(connection, etag):
            self.status_code, self._span = 304, ByteRange(0, -1)
            del self.headers["content-length"]
            return
        try:
            asked = parse_range(_choose_range(connection, etag), self._size)
        except Unsatisfiable:
            self.status_code, self._span = 416, ByteRange(0, -1)
            self.headers["Content-Range"] = f"bytes */{self._size}"
            return
        if asked is not None:
            self.status_code, self._span = 206, asked
            self.headers["Content-Range"] = f"bytes {asked.first}-{asked.last}/{self._size}"
        self.headers["Content-Length"] = str(self._span.last - self._span.first + 1)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it, and close the file."""
        try:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            if scope["method"] != "HEAD":
                await self._send_body(send)
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            os.close(self._descriptor)

    async def _send_body(self, send: Send) -> None:
        at, end = self._span.first, self._span.last + 1
        while at < end:
            part = await asyncio.to_thread(os.pread, self._descriptor, min(_CHUNK, end - at), at)
            if not part:
                # It was cut off meanwhile. The connection ends short of what was announced, so the client knows.
                raise NotFound("the file became shorter while it was sent")
            await send({"type": "http.response.body", "body": part, "more_body": True})
            at += len(part)


def _choose_range(connection: HTTPConnection, etag: str) -> str:
    """Return the header Range, or "" if it is for another version."""
    meant = connection.headers.get("if-range")
    return connection.headers.get("range", "") if meant is None or (etag and meant == etag) else ""


def parse_range(header: str, size: int) -> ByteRange | None:
    """Return the part of `size` bytes that `header` asks for; None for the whole: no range, one that is malformed, or
    several, which a server may answer so. Raises: Unsatisfiable.
    """
    found = _RANGE.fullmatch(header.strip())
    if found is None or not (found["first"] or found["last"]):
        return None
    if not found["first"]:
        first, last = max(0, size - int(found["last"])), size - 1
    else:
        first, last = int(found["first"]), min(int(found["last"] or size), size - 1)
        if found["last"] and int(found["last"]) < first:
            return None
    if first >= size:
        raise Unsatisfiable
    return ByteRange(first, last)


def _has_newest(connection: HTTPConnection, etag: str) -> bool:
    given = connection.headers.get("if-none-match", "")
    return given.strip() == "*" or etag in (part.strip().removeprefix("W/") for part in given.split(","))


_LONGEST_LINE = 1 << 20


class FrameAt(Struct, frozen=True):
    """Where a frame is in the video (`at_ms`), when it was taken (`utc_ms`), and its number in its `epoch`."""

    at_ms: float
    utc_ms: int
    frame: int
    epoch: int


class FramesPage(Struct, frozen=True):
    """Frames in the order of their times. `more`: there are later ones; ask from after the last."""

    frames: tuple[FrameAt, ...]
    more: bool


_ROW = json_decoder(FrameAt)


def read_head(descriptor: int) -> SegmentHead:
    """Return the encoding of a segment. Closes `descriptor`. Blocks. Raises: NotFound for a file without that."""
    with os.fdopen(descriptor, "rb") as lines:
        try:
            return decode_json(lines.readline(_LONGEST_LINE), SegmentHead)
        except msgspec.DecodeError as fault:
            raise NotFound("the list of its frames can't be read", hint="its disk may be full or broken") from fault


def read_page(descriptor: int, from_ms: float, limit: int) -> FramesPage:
    """Return the first `limit` frames from `from_ms` on. Closes `descriptor`. Blocks."""
    found: list[FrameAt] = []
    with os.fdopen(descriptor, "rb") as lines:
        lines.readline(_LONGEST_LINE)  # the head
        while len(found) <= limit and (line := lines.readline(_LONGEST_LINE)).endswith(b"\n"):
            row = _ROW.decode(line)
            if row.at_ms >= from_ms:
                found.append(row)
    return FramesPage(tuple(found[:limit]), len(found) > limit)
