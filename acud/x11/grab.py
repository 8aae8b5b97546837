"""Ways from the server's pixels into a slot: AttachFd, System V shared memory, GetImage over the socket.

`choose` tries them in this order and gives the reason for a later one. python-xlib has no MIT-SHM: the requests of 1.2
are packed here, as in xorgproto `shmproto.h`. The descriptor of AttachFd travels with the very bytes of its request
(SCM_RIGHTS, unix(7)), so that request is sent alone, past python-xlib's queue.
"""

from __future__ import annotations

import ctypes
import os
import socket
import struct
from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable
from typing import Any, ClassVar

from msgspec import Struct
from Xlib import X, error
from Xlib.protocol import request

from acud.base.errors import Unavailable
from acud.x11.connection import Connection
from acud.x11.wire import PackedQuery, PackedRequest

EXTENSION = "MIT-SHM"
_Z_PIXMAP = 2

# QueryVersion (minor opcode 0), whose reply has the two numbers 8 bytes from the start; Attach (1): segment, System V
# id; Detach (2): segment; AttachFd (6): segment. Attached memory may be written to: the last byte is 0.
_QUERY_VERSION = struct.Struct("=BBH")
SHM_VERSION = struct.Struct("=8xHH")
_ATTACH = struct.Struct("=BBHIIB3x")
_DETACH = struct.Struct("=BBHI")
_ATTACH_FD = struct.Struct("=BBHIB3x")
# GetImage (minor opcode 4, 8 words): drawable, x, y, width, height, plane mask, format, segment, offset. In the reply
# the bytes written stand 12 bytes from the start.
_GET_IMAGE = struct.Struct("=BBHIhhHHIB3xII")
IMAGE_SIZE = struct.Struct("=12xI")
_ALL_PLANES = 0xFFFFFFFF
METHODS = ("attachfd", "sysv", "getimage")
"""0.10-0.17, 0.2-0.3 and 6-12 ms for a 1280x720 frame (`scripts/bench capture`)."""
_PROBE_BYTES = 4096
_IPC_CREAT, _IPC_RMID = 0o1000, 0  # sys/ipc.h; IPC_PRIVATE is key 0


class SegmentRefused(Unavailable):
    """The X server would not, or could not, map the memory."""

    code: ClassVar[str] = "segment_refused"


class SharedMemory:
    """The extension on one connection. `version` is (0, 0) when the server lacks it."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._wire = connection.wire
        found = connection.xlib.query_extension(EXTENSION)
        self._opcode: int = found.major_opcode if found else 0
        self.version = self._ask_version() if found else (0, 0)

    def _ask_version(self) -> tuple[int, int]:
        major, minor = PackedQuery(self._wire, _QUERY_VERSION.pack(self._opcode, 0, 1), SHM_VERSION).answer()
        return major, minor

    def attach_fd(self, fd: int) -> int:
        """Attach the file `fd` whole, writable for the server, and return the segment's X id; `fd` stays the caller's.
        Raises: SegmentRefused.
        """
        segment: int = self._wire.allocate_resource_id()
        refused = error.CatchError()
        self._connection.sync()  # everything queued leaves before, so that the descriptor can't ride on other bytes
        PackedRequest(self._wire, _ATTACH_FD.pack(self._opcode, 6, 3, segment, 0), refused).send()
        # Send the newest request in the queue, and `fd` with its bytes.
        wire = self._wire
        queued, _ = wire.request_queue.pop()
        wire.sent_requests.append(queued)
        wire.socket.sendmsg([queued._binary], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array("i", [fd]))])
        return self._confirm_segment(segment, refused)

    def attach_sysv(self, shmid: int) -> int:
        """Attach the System V segment `shmid` and return its X id. Raises: SegmentRefused."""
        segment: int = self._wire.allocate_resource_id()
        refused = error.CatchError()
        PackedRequest(self._wire, _ATTACH.pack(self._opcode, 1, 4, segment, shmid, 0), refused).send()
        return self._confirm_segment(segment, refused)

    def detach(self, segment: int) -> None:
        PackedRequest(self._wire, _DETACH.pack(self._opcode, 2, 2, segment)).send()
        self._wire.free_resource_id(segment)
        self._connection.flush()

    def get_image(self, area: Area, segment: int, offset: int) -> int:
        """Have the server write the pixels of `area` to `offset`; wait; return their bytes. Raises: PixelsGone."""
        packed = _GET_IMAGE.pack(
            self._opcode, 4, 8, area.drawable, area.x, area.y, area.width, area.height, _ALL_PLANES, _Z_PIXMAP, segment,
            offset,
        )  # fmt: skip
        try:
            size: int
            (size,) = PackedQuery(self._wire, packed, IMAGE_SIZE).answer()
        except _GONE as fault:
            raise _build_pixels_gone(area, fault) from fault
        return size

    def _confirm_segment(self, segment: int, catcher: Any) -> int:
        self._connection.sync()
        fault = catcher.get_error()
        if fault is not None:
            self._wire.free_resource_id(segment)
            raise SegmentRefused(f"the X server refused the shared memory: {type(fault).__name__}")
        return segment


class PixelsGone(Unavailable):
    """The drawable vanished or is smaller than the requested area; measure it again before the next grab."""

    code: ClassVar[str] = "pixels_gone"


class Area(Struct, frozen=True):
    """The box of a drawable that makes a frame; `drawable` is an X id."""

    drawable: int
    x: int
    y: int
    width: int
    height: int


class GrabMemory(Struct, frozen=True):
    """The caller's memory for frames: a mapped file and, per slot, the place of its pixels in it.

    `views[k]` are the writable bytes of slot k, as long as a frame; `offsets[k]` their place in the file `fd`.
    """

    fd: int
    offsets: list[int]
    views: list[memoryview]


class GrabPath(ABC):
    """One way. Call `attach` before the first `grab`; closing twice is harmless."""

    method: ClassVar[str]

    @abstractmethod
    def attach(self, target: GrabMemory) -> None:
        """Write pixels into `target` from now on, and release the former target."""

    @abstractmethod
    def grab(self, area: Area, slot: int) -> None:
        """Fill `slot` with the pixels of `area`, sending all queued requests before; returns when they are complete.
        Raises: PixelsGone.
        """

    @abstractmethod
    def close(self) -> None:
        """Release the target."""


class AttachFdPath(GrabPath):
    """The server has the ring mapped and writes into the slot itself.

    An unlinked file stays allocated until it is detached here.
    """

    method = "attachfd"

    def __init__(self, shm: SharedMemory) -> None:
        self._shm = shm
        self._segment = 0
        self._offsets: list[int] = []

    def attach(self, target: GrabMemory) -> None:
        self.close()
        self._segment = self._shm.attach_fd(target.fd)
        self._offsets = target.offsets

    def grab(self, area: Area, slot: int) -> None:
        self._shm.get_image(area, self._segment, self._offsets[slot])

    def close(self) -> None:
        if self._segment:
            segment, self._segment = self._segment, 0
            self._shm.detach(segment)


class SysvPath(GrabPath):
    """The server writes into a System V segment of one frame, which is copied into the slot."""

    method = "sysv"

    def __init__(self, shm: SharedMemory) -> None:
        self._shm = shm
        self._segment = 0
        self._memory: SysvMemory | None = None
        self._frame = memoryview(b"")
        self._slots: list[memoryview] = []

    def attach(self, target: GrabMemory) -> None:
        self.close()
        self._memory = memory = SysvMemory(len(target.views[0]))
        self._frame = memory.view
        self._segment = self._shm.attach_sysv(memory.shmid)
        memory.forget_name()
        self._slots = list(target.views)

    def grab(self, area: Area, slot: int) -> None:
        self._shm.get_image(area, self._segment, 0)
        self._slots[slot][:] = self._frame

    def close(self) -> None:
        self._slots.clear()
        if self._segment:
            segment, self._segment = self._segment, 0
            self._shm.detach(segment)
        if self._memory is not None:
            self._memory.close()
            self._memory = None


class SocketPath(GrabPath):
    """The core protocol's GetImage: works everywhere, also over TCP, and costs forty times as much."""

    method = "getimage"

    def __init__(self, connection: Connection) -> None:
        self._wire = connection.wire
        self._slots: list[memoryview] = []

    def attach(self, target: GrabMemory) -> None:
        self._slots = list(target.views)

    def grab(self, area: Area, slot: int) -> None:
        try:
            image = request.GetImage(
                display=self._wire, format=X.ZPixmap, drawable=area.drawable, x=area.x, y=area.y,
                width=area.width, height=area.height, plane_mask=0xFFFFFFFF,
            )  # fmt: skip
        except _GONE as fault:
            raise _build_pixels_gone(area, fault) from fault
        self._slots[slot][:] = image.data

    def close(self) -> None:
        self._slots.clear()


class SysvMemory:
    """A private System V segment of `size` bytes, mapped (shmget(2), shmat(2)); it vanishes with its last user."""

    def __init__(self, size: int) -> None:
        self._libc = _load_libc()
        self.shmid: int = self._libc.shmget(0, size, _IPC_CREAT | 0o600)
        if self.shmid < 0:
            raise OSError(ctypes.get_errno(), f"shmget of {size} bytes: {os.strerror(ctypes.get_errno())}")
        self._address = self._libc.shmat(self.shmid, None, 0)
        if self._address in {None, ctypes.c_void_p(-1).value}:
            code = ctypes.get_errno()
            self.forget_name()
            raise OSError(code, f"shmat: {os.strerror(code)}")
        self.view = memoryview((ctypes.c_char * size).from_address(self._address)).cast("B")

    def forget_name(self) -> None:
        """Mark the segment for removal, so that a crash of ours leaks nothing; attachments stay."""
        self._libc.shmctl(self.shmid, _IPC_RMID, None)

    def close(self) -> None:
        if self._address:
            self.view.release()
            self._libc.shmdt(ctypes.c_void_p(self._address))
            self._address = 0


def _load_libc() -> Any:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.shmget.argtypes = (ctypes.c_int, ctypes.c_size_t, ctypes.c_int)
    libc.shmat.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_int)
    libc.shmat.restype = ctypes.c_void_p
    libc.shmctl.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_void_p)
    return libc


_GONE = (error.BadMatch, error.BadDrawable, error.BadWindow, error.BadPixmap)


def _build_pixels_gone(area: Area, fault: Exception) -> PixelsGone:
    return PixelsGone(f"no {area.width}x{area.height} pixels in {area.drawable:#x}: {type(fault).__name__}")


class Choice(Struct, frozen=True):
    """The chosen way, and why no earlier one ("" for the first)."""

    method: str
    reason: str


def choose(connection: Connection, wanted: str) -> tuple[Choice, Callable[[], GrabPath]]:
    """Return the first way that works from `wanted` (`auto`: all of `METHODS`) on, and a maker of such paths. Each
    candidate is tried with a small segment of its own.
    """
    shm = SharedMemory(connection)
    first = 0 if wanted == "auto" else METHODS.index(wanted)
    why = f"[capture] method is {wanted}" if first else ""
    for method in METHODS[first:]:
        obstacle = _find_obstacle(shm, method)
        if not obstacle:
            makers: dict[str, Callable[[], GrabPath]] = {
                "attachfd": lambda: AttachFdPath(shm),
                "sysv": lambda: SysvPath(shm),
                "getimage": lambda: SocketPath(connection),
            }
            return Choice(method, why), makers[method]
        why = "; ".join(filter(None, (why, f"no {method}: {obstacle}")))
    raise AssertionError("getimage has no obstacle")


def _find_obstacle(shm: SharedMemory, method: str) -> str:
    """Return what keeps `method` from working here, "" for nothing."""
    if method == "getimage":
        return ""
    if shm.version < ((1, 2) if method == "attachfd" else (1, 0)):
        return (
            "the X server has no MIT-SHM" if shm.version == (0, 0) else f"MIT-SHM is {shm.version[0]}.{shm.version[1]}"
        )
    try:
        _try_fd(shm) if method == "attachfd" else _try_sysv(shm)
    except (OSError, SegmentRefused) as fault:
        return str(fault)
    return ""


def _try_fd(shm: SharedMemory) -> None:
    fd = os.memfd_create("acud-probe", os.MFD_CLOEXEC)
    try:
        os.ftruncate(fd, _PROBE_BYTES)
        shm.detach(shm.attach_fd(fd))
    finally:
        os.close(fd)


def _try_sysv(shm: SharedMemory) -> None:
    memory = SysvMemory(_PROBE_BYTES)
    try:
        shm.detach(shm.attach_sysv(memory.shmid))
    finally:
        memory.forget_name()
        memory.close()
