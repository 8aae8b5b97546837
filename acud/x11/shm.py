"""MIT-SHM 1.2 in python-xlib's own idiom; that library has no such extension.

Source: the MIT-SHM protocol as in xorgproto `shmproto.h`. The descriptor of AttachFd rides on the very bytes of its
request (SCM_RIGHTS, unix(7)), so that request is sent alone, past python-xlib's queue.
"""

from __future__ import annotations

import socket
import struct
from array import array
from typing import Any, ClassVar, cast

from Xlib import error
from Xlib.protocol import rq

from acud.errors import Unavailable
from acud.x11.connection import Connection
from acud.x11.request_templates import PackedQuery

EXTENSION = "MIT-SHM"
_Z_PIXMAP = 2

# GetImage (minor opcode 4, 8 words): drawable, x, y, width, height, plane mask, format, segment, offset. In the reply
# the bytes written stand 12 bytes from the start.
_GET_IMAGE = struct.Struct("=BBHIhhHHIB3xII")
IMAGE_SIZE = struct.Struct("=12xI")
_ALL_PLANES = 0xFFFFFFFF


class SegmentRefused(Unavailable):
    """The X server would not, or could not, map the memory."""

    code: ClassVar[str] = "segment_refused"


class QueryVersion(rq.ReplyRequest):
    """Which version, and whether shared pixmaps work."""

    _request = rq.Struct(rq.Card8("opcode"), rq.Opcode(0), rq.RequestLength())
    _reply = rq.Struct(
        rq.ReplyCode(),
        rq.Card8("shared_pixmaps"),
        rq.Card16("sequence_number"),
        rq.ReplyLength(),
        rq.Card16("major_version"),
        rq.Card16("minor_version"),
        rq.Card16("uid"),
        rq.Card16("gid"),
        rq.Card8("pixmap_format"),
        rq.Pad(15),
    )


class AttachRequest(rq.Request):
    """Attach a System V segment."""

    _request = rq.Struct(
        rq.Card8("opcode"),
        rq.Opcode(1),
        rq.RequestLength(),
        rq.Card32("segment"),
        rq.Card32("shmid"),
        rq.Bool("read_only"),
        rq.Pad(3),
    )


class Detach(rq.Request):
    """Detach a segment of either kind."""

    _request = rq.Struct(rq.Card8("opcode"), rq.Opcode(2), rq.RequestLength(), rq.Card32("segment"))


class AttachFd(rq.Request):
    """Attach a mapped file; its descriptor rides along."""

    _request = rq.Struct(
        rq.Card8("opcode"),
        rq.Opcode(6),
        rq.RequestLength(),
        rq.Card32("segment"),
        rq.Bool("read_only"),
        rq.Pad(3),
    )


class SharedMemory:
    """The extension on one connection. `version` is (0, 0) when the server lacks it."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._wire = connection.wire
        found = connection.xlib.query_extension(EXTENSION)
        self._opcode: int = found.major_opcode if found else 0
        self.version = self._version() if found else (0, 0)

    def _version(self) -> tuple[int, int]:
        said = QueryVersion(display=self._wire, opcode=self._opcode)
        return said.major_version, said.minor_version

    def attach_fd(self, fd: int) -> int:
        """Attach the file `fd` whole, writable for the server, and return the segment's X id; `fd` stays the caller's.

        Raises: SegmentRefused.
        """
        segment: int = self._wire.allocate_resource_id()
        refused = error.CatchError()
        self._connection.sync()  # everything queued leaves before, so that the descriptor can't ride on other bytes
        request = AttachFd(display=self._wire, onerror=refused, opcode=self._opcode, segment=segment, read_only=False)
        self._send_with(request, fd)
        return self._confirmed(segment, refused)

    def attach_sysv(self, shmid: int) -> int:
        """Attach the System V segment `shmid` and return its X id. Raises: SegmentRefused."""
        segment: int = self._wire.allocate_resource_id()
        refused = error.CatchError()
        AttachRequest(
            display=self._wire, onerror=refused, opcode=self._opcode, segment=segment, shmid=shmid, read_only=False
        )
        return self._confirmed(segment, refused)

    def detach(self, segment: int) -> None:
        """Have the server unmap `segment`."""
        Detach(display=self._wire, opcode=self._opcode, segment=segment)
        self._wire.free_resource_id(segment)
        self._connection.flush()

    def get_image(self, drawable: int, place: tuple[int, int, int, int], segment: int, offset: int) -> int:
        """Have the server write the box `place` (x, y, w, h) of `drawable` to `offset`; wait; return the bytes written.

        Raises: Xlib's BadMatch when the box is not inside the drawable, BadDrawable when that is gone.
        """
        x, y, width, height = place
        request = _GET_IMAGE.pack(
            self._opcode, 4, 8, drawable, x, y, width, height, _ALL_PLANES, _Z_PIXMAP, segment, offset
        )
        (size,) = PackedQuery(self._wire, request, IMAGE_SIZE).answer()
        return cast(int, size)

    def _send_with(self, request: Any, fd: int) -> None:
        wire = self._wire
        queued, _ = wire.request_queue.pop()
        wire.sent_requests.append(queued)
        wire.socket.sendmsg([queued._binary], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array("i", [fd]))])

    def _confirmed(self, segment: int, refused: Any) -> int:
        self._connection.sync()
        fault = refused.get_error()
        if fault is not None:
            self._wire.free_resource_id(segment)
            raise SegmentRefused(f"the X server refused the shared memory: {type(fault).__name__}")
        return segment
