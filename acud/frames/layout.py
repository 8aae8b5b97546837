"""Where each byte of a ring lies; the single place that knows it. Everything is a little-endian 8-byte word or a pixel.

    header   4096 B: magic, version, epoch, width, height, stride, pixel format, slot count, length and text of `server`
    slot k   head: sequence, frame, time, box, cursor, then one word per tile; padded to pages
             pixels: height x stride bytes of BGRX, 16 bytes into a page, the fourth byte undefined

A sequence is 0 (never written), odd (being written, or given up) or even (valid). It is stored and loaded as one 8-byte
word: `struct.pack_into` zeroes its target first, which a tight reader sees.
"""

from __future__ import annotations

import platform

from msgspec import Struct

from acud.base.errors import ProtocolError, Refused
from acud.types import MAX_NUMBER, MAX_SIDE_PX, TILE_PX

WORD = 8
PAGE = 4096
BYTES_PER_PIXEL = 4
MAGIC = int.from_bytes(b"ACUDRING", "little")
VERSION = 3
BGRX = int.from_bytes(b"BGRX", "little")
HEADER_BYTES = PAGE
_PIXELS_IN_PAGE = 16
"""The offset of pixels in a page: that of a large block of glibc's malloc, which the X server's screen is. The server
copies row by row with memcpy, which uses `rep movsb` for 2 kB and more where the processor has FSRM. AMD's Zen 3 and
later then need half as long again between places that differ modulo 32 (`scripts/bench capture`, `server_ms`)."""

# Words of the file's header.
H_MAGIC, H_VERSION, H_EPOCH, H_WIDTH, H_HEIGHT, H_STRIDE, H_FORMAT, H_SLOTS, H_SERVER_BYTES, H_SERVER = range(10)
MAX_SERVER_BYTES = 256
"""Of the text that identifies the run of the X server within which frame numbers count (`acud.waits.baselines`)."""

# Words of a slot's head, from the slot's start. A box of width 0 is no box. The cursor's place is signed.
S_SEQUENCE, S_FRAME, S_MONO_NS, S_BOX_X, S_BOX_Y, S_BOX_W, S_BOX_H, S_CURSOR_X, S_CURSOR_Y, S_CURSOR_SERIAL = range(10)
S_TILES = 16
MAX_SLOTS = 64


class Layout(Struct, frozen=True):
    """The sizes and places that follow from a frame's geometry and the number of slots, in bytes."""

    width: int
    height: int
    slots: int

    @property
    def stride(self) -> int:
        """Bytes from one row of pixels to the next."""
        return self.width * BYTES_PER_PIXEL

    @property
    def columns(self) -> int:
        """Tiles in a row; the last may be partial."""
        return -(-self.width // TILE_PX)

    @property
    def rows(self) -> int:
        """Rows of tiles; the last may be partial."""
        return -(-self.height // TILE_PX)

    @property
    def tiles(self) -> int:
        return self.columns * self.rows

    @property
    def pixel_bytes(self) -> int:
        """Size of a frame's pixels."""
        return self.stride * self.height

    @property
    def head_bytes(self) -> int:
        """Size of a slot's head, up to its pixels."""
        return _whole_pages((S_TILES + self.tiles) * WORD) + _PIXELS_IN_PAGE

    @property
    def slot_bytes(self) -> int:
        """Size of a slot, whole pages."""
        return _whole_pages(self.head_bytes + self.pixel_bytes)

    @property
    def file_bytes(self) -> int:
        return HEADER_BYTES + self.slots * self.slot_bytes

    def same_frames(self, other: Layout) -> bool:
        """Return whether frames of `other` have the same size as ours; the number of slots may differ."""
        return (self.width, self.height) == (other.width, other.height)

    def slot_word(self, slot: int) -> int:
        """Return the index of the first word of `slot` in the file."""
        return (HEADER_BYTES + slot * self.slot_bytes) // WORD

    def pixels_at(self, slot: int) -> int:
        """Return the offset of the pixels of `slot` in the file."""
        return HEADER_BYTES + slot * self.slot_bytes + self.head_bytes


def _whole_pages(size: int) -> int:
    return -(-size // PAGE) * PAGE


def write_header(words: memoryview, layout: Layout, epoch: int, server: str = "") -> None:
    """Describe the ring in its first words; `words` is the file as 8-byte words. Raises: ProtocolError when `server` is
    too long to be kept.
    """
    text = server.encode()
    if len(text) > MAX_SERVER_BYTES:
        raise ProtocolError(f"the name of an X server's run has {len(text)} bytes, {MAX_SERVER_BYTES} at most")
    for number in range(0, len(text), WORD):
        words[H_SERVER + number // WORD] = int.from_bytes(text[number : number + WORD], "little")
    words[H_SERVER_BYTES] = len(text)
    words[H_VERSION], words[H_EPOCH] = VERSION, epoch
    words[H_WIDTH], words[H_HEIGHT], words[H_STRIDE] = layout.width, layout.height, layout.stride
    words[H_FORMAT], words[H_SLOTS] = BGRX, layout.slots
    words[H_MAGIC] = MAGIC


def read_header(words: memoryview, size: int) -> tuple[Layout, int]:
    """Return the layout and epoch in `words`, checked against the file's `size` in bytes. Raises: ProtocolError naming
    the fault.
    """
    if size < HEADER_BYTES or words[H_MAGIC] != MAGIC:
        raise ProtocolError("not a frame ring")
    if words[H_VERSION] != VERSION:
        raise ProtocolError(f"frame ring of layout version {words[H_VERSION]}, not {VERSION}", hint="restart acud")
    layout = Layout(words[H_WIDTH], words[H_HEIGHT], words[H_SLOTS])
    check_sizes(layout)
    if words[H_STRIDE] != layout.stride or words[H_FORMAT] != BGRX or size != layout.file_bytes:
        raise ProtocolError(f"damaged frame ring: {size} bytes for {layout}")
    if words[H_EPOCH] > MAX_NUMBER:
        raise ProtocolError(f"damaged frame ring: no epoch can be {words[H_EPOCH]}")
    return layout, words[H_EPOCH]


def read_server(words: memoryview) -> str:
    """Return the `server` in the header of `words`. Raises: ProtocolError when it is damaged."""
    size = words[H_SERVER_BYTES]
    if size > MAX_SERVER_BYTES:
        raise ProtocolError(f"damaged frame ring: {size} bytes for the name of an X server's run")
    text = words[H_SERVER : H_SERVER + MAX_SERVER_BYTES // WORD].tobytes()[:size]
    try:
        return text.decode()
    except UnicodeDecodeError as fault:
        raise ProtocolError("damaged frame ring: the name of an X server's run is no text") from fault


def check_sizes(layout: Layout) -> None:
    """Raise ProtocolError unless the geometry and slot count are valid for a ring."""
    sides = 1 <= layout.width <= MAX_SIDE_PX and 1 <= layout.height <= MAX_SIDE_PX
    if not sides or not 2 <= layout.slots <= MAX_SLOTS:
        raise ProtocolError(f"no frame ring can be {layout.width}x{layout.height} with {layout.slots} slots")


def check_machine(machine: str | None = None) -> None:
    """Refuse machines with a memory order that the sequences were not tested on.

    x86 keeps stores in order, and loads in order (Intel SDM vol. 3A, 9.2.2), so a sequence needs no fence there; on
    aarch64 it would. Raises: Refused naming the machine.
    """
    machine = platform.machine() if machine is None else machine
    if machine.lower() not in {"x86_64", "amd64"}:
        raise Refused(f"frame rings are tested on x86-64 only, not on {machine}", hint="run acud on an x86-64 machine")
