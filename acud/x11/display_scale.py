"""How much larger than plain pixels a display's programs draw, by its settings or its resources.

    XSETTINGS Gdk/WindowScalingFactor > 1  ->  XSETTINGS Xft/DPI  ->  resource Xft.dpi  ->  1.0

That is the order of toolkits. 96 dots per inch are 1.0. A desktop that scales by fractions leaves
the whole factor at 1 and raises the dots per inch.

Formats: XSETTINGS 0.5 (freedesktop.org), section "Format of the _XSETTINGS_SETTINGS Property"; xrdb(1).
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping

from Xlib import X, Xatom
from Xlib.protocol import request

from acud.x11.connection import Connection
from acud.x11.window_tree import get_reply, octets, resource_id

FACTOR, DPI = "Gdk/WindowScalingFactor", "Xft/DPI"
_PLAIN_DPI = 96.0
_DPI_UNITS = 1024  # `Xft/DPI` counts 1/1024 dots per inch
_LEAST, _MOST = 0.25, 16.0
"""A factor outside means "not set" (some desktops write -1), or is one that no program could draw with."""
_MAX_WORDS = 1 << 18
_RESOURCE = re.compile(r"^Xft[.*]dpi[ \t]*:[ \t]*([0-9]+(?:\.[0-9]*)?)[ \t]*$", re.MULTILINE)
_INTEGER, _STRING, _COLOUR = 0, 1, 2


def scale_of(settings: Mapping[str, int], resources: str) -> float:
    """Return the scale by XSETTINGS' integers and the text of RESOURCE_MANAGER; 1.0 where neither has one."""
    factor = float(settings.get(FACTOR, 1))
    named = _RESOURCE.findall(resources)
    said = [settings[DPI] / _DPI_UNITS / _PLAIN_DPI] if DPI in settings else []
    said += [float(named[-1]) / _PLAIN_DPI] if named else []
    candidates = [factor] if factor > 1 else []
    return next((round(one, 3) for one in (*candidates, *said) if _LEAST <= one <= _MOST), 1.0)


def integers_of(data: bytes) -> dict[str, int]:
    """Return the integers of a property _XSETTINGS_SETTINGS by name. Raises: ValueError when it is malformed."""
    try:
        return _parse_integers(data)
    except struct.error as fault:
        raise ValueError(f"settings of {len(data)} bytes are cut off: {fault}") from fault


def _parse_integers(data: bytes) -> dict[str, int]:
    (order,) = struct.unpack_from("B", data)
    if order > 1:
        raise ValueError(f"settings in byte order {order}")
    end = "<>"[order]
    (count,) = struct.unpack_from(f"{end}I", data, 8)
    found: dict[str, int] = {}
    at = 12
    for _ in range(count):
        kind, length = struct.unpack_from(f"{end}BxH", data, at)
        (name,) = struct.unpack_from(f"{length}s", data, at + 4)
        at += 4 + _pad_length(length) + 4  # and the serial of its last change
        if kind == _INTEGER:
            (found[name.decode("latin-1")],) = struct.unpack_from(f"{end}i", data, at)
            at += 4
        elif kind == _STRING:
            at += 4 + _pad_length(struct.unpack_from(f"{end}I", data, at)[0])
        elif kind == _COLOUR:
            at += 8
        else:
            raise ValueError(f"a setting of type {kind}")
    return found


def _pad_length(length: int) -> int:
    return length + -length % 4


class DisplayScale:
    """Reads the scale of one display, and has the server report its possible changes. Nothing is cached."""

    def __init__(self, connection: Connection) -> None:
        self._wire = connection.wire
        self._xlib = connection.xlib
        self._root: int = connection.root.id
        self.selection: int = connection.wire.get_atom(f"_XSETTINGS_S{connection.xlib.get_default_screen()}")
        self._settings: int = connection.wire.get_atom("_XSETTINGS_SETTINGS")
        self.properties = frozenset((self._settings, Xatom.RESOURCE_MANAGER))
        """Properties whose change may change the scale."""

    def read(self) -> float:
        """Return the scale now; three round trips."""
        return scale_of(self._read_integers(), self._read_octets(self._root, Xatom.RESOURCE_MANAGER).decode("latin-1"))

    def _read_integers(self) -> dict[str, int]:
        """Return the settings of their owner; nothing where there is none, or they are malformed, as toolkits do."""
        owner = resource_id(request.GetSelectionOwner(display=self._wire, selection=self.selection).owner)
        if owner == X.NONE:
            return {}
        # Before it is read, so that a change in between raises an event.
        window = self._xlib.create_resource_object("window", owner)
        window.change_attributes(event_mask=X.StructureNotifyMask | X.PropertyChangeMask)
        try:
            return integers_of(self._read_octets(owner, self._settings))
        except ValueError:
            return {}

    def _read_octets(self, window: int, atom: int) -> bytes:
        asked = request.GetProperty(
            display=self._wire, defer=True, delete=False, window=window, property=atom, type=X.AnyPropertyType,
            long_offset=0, long_length=_MAX_WORDS,
        )  # fmt: skip
        found = get_reply(asked)
        return octets(found) if found is not None and found.value is not None else b""
