"""An XSETTINGS manager for a test: it owns a display's settings, changes them, and goes."""

from __future__ import annotations

import struct
from types import TracebackType
from typing import Self

from Xlib import X
from Xlib.protocol import event

from acud.x11.connection import Connection
from tests.integration.xserver import XServer

COLOUR = (65535, 0, 0, 65535)
Setting = int | str | tuple[int, int, int, int]


def encoded(settings: dict[str, Setting], order: str = "<") -> bytes:
    """Return the property _XSETTINGS_SETTINGS of these settings (XSETTINGS 0.5)."""
    parts = [struct.pack(f"{order}BxxxII", order == ">", 7, len(settings))]
    for name, value in settings.items():
        kind = 0 if isinstance(value, int) else 1 if isinstance(value, str) else 2
        parts.append(struct.pack(f"{order}BxH", kind, len(name)) + _padded(name.encode()) + struct.pack(f"{order}I", 7))
        if isinstance(value, int):
            parts.append(struct.pack(f"{order}i", value))
        elif isinstance(value, str):
            parts.append(struct.pack(f"{order}I", len(value)) + _padded(value.encode()))
        else:
            parts.append(struct.pack(f"{order}4H", *value))
    return b"".join(parts)


def _padded(text: bytes) -> bytes:
    return text + bytes(-len(text) % 4)


class SettingsManager:
    """Owns the settings of `server`'s first screen, as ICCCM 2.8 has managers do. A context manager."""

    def __init__(self, server: XServer) -> None:
        self._connection = Connection(server.display, server.auth_file)
        self._atom = self._connection.wire.get_atom
        self._window = self._connection.root.create_window(-1, -1, 1, 1, 0, X.CopyFromParent, X.InputOutput)

    def __enter__(self) -> Self:
        return self

    def set(self, **settings: Setting) -> None:
        """Say these settings; `__` in a name stands for `/`."""
        data = encoded({name.replace("__", "/"): value for name, value in settings.items()})
        self._window.change_property(self._atom("_XSETTINGS_SETTINGS"), self._atom("_XSETTINGS_SETTINGS"), 8, data)
        self._connection.sync()

    def take(self) -> None:
        selection = self._atom("_XSETTINGS_S0")
        self._window.set_selection_owner(selection, X.CurrentTime)
        told = event.ClientMessage(
            window=self._connection.root, client_type=self._atom("MANAGER"),
            data=(32, [X.CurrentTime, selection, self._window.id, 0, 0]),
        )  # fmt: skip
        self._connection.root.send_event(told, event_mask=X.StructureNotifyMask)
        self._connection.sync()

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self._connection.close()
