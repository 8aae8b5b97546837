"""The files of a managed display, and the environment of the programs on it."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import struct
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from acud.base import private_files
from acud.base.paths import Paths, make_private
from acud.supervisor.displays import numbers, proc_files

_FAMILY_LOCAL = 256
_FAMILY_WILD = 65535
_METHOD = b"MIT-MAGIC-COOKIE-1"
_COOKIE_BYTES = 16


def write_cookie(path: Path, number: int) -> None:
    """Create the file at `path` (0600, must not exist) with a fresh cookie for display `number`.

    The entry of family Local with the host's name serves libX11, XCB and python-xlib. The one of family Wild serves the
    first two also after the host's name changed; python-xlib skips it. Raises: OSError.
    """
    cookie = secrets.token_bytes(_COOKIE_BYTES)
    display = str(number).encode()
    host = os.fsencode(socket.gethostname())
    entries = _encode_entry(_FAMILY_LOCAL, host, display, cookie) + _encode_entry(_FAMILY_WILD, b"", display, cookie)
    with os.fdopen(private_files.open_regular(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as file:
        file.write(entries)


def _encode_entry(family: int, address: bytes, number: bytes, cookie: bytes) -> bytes:
    fields = (address, number, _METHOD, cookie)
    return struct.pack(">H", family) + b"".join(struct.pack(">H", len(field)) + field for field in fields)


# sockaddr_un holds 108 bytes with the closing zero (unix(7)); the accessibility bus has the longest name below.
_LONGEST_SOCKET_PATH = 107
_LONGEST_SOCKET_NAME = "/at-spi/bus_65535"

_OF_ANOTHER_DESKTOP = frozenset(
    {
        "AT_SPI_BUS_ADDRESS",
        "DBUS_SESSION_BUS_ADDRESS",
        "DBUS_STARTER_ADDRESS",
        "DBUS_STARTER_BUS_TYPE",
        "DESKTOP_STARTUP_ID",
        "NOTIFY_SOCKET",
        "SESSION_MANAGER",
        "WAYLAND_DISPLAY",
        "WINDOWID",
        "XDG_ACTIVATION_TOKEN",
        "XDG_SESSION_ID",
    }
)


# Qt and Chromium (with Electron) build no accessibility tree otherwise unless they see the session's switch in time.
_ENABLE_ACCESSIBILITY = {"QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1", "ACCESSIBILITY_ENABLED": "1"}


class DisplayFolders(Struct, frozen=True):
    """The folder of display `number` and its short runtime directory (which may lie inside the folder)."""

    number: int
    folder: Path
    runtime: Path

    @property
    def name(self) -> str:
        return f":{self.number}"

    @property
    def auth_file(self) -> Path:
        return self.folder / "Xauthority"

    @property
    def bus_socket(self) -> Path:
        return self.runtime / "bus"

    def log(self, program: str) -> Path:
        return self.folder / f"{program}.log"

    def create(self) -> None:
        """Make the directories and the cookie; nothing of an earlier display may be there. Raises: OSError, Refused."""
        self.folder.mkdir(mode=0o700)
        if self.runtime.parent != self.folder:
            make_private(self.runtime.parent)  # under /tmp: it must be ours, not a trap of another user
        make_private(self.runtime)
        write_cookie(self.auth_file, self.number)

    def remove(self) -> tuple[str, ...]:
        """Remove the directories, and X's lock and socket unless a server holds them; return what stays, and why."""
        left = []
        for place in (self.runtime, self.folder):
            shutil.rmtree(place, onerror=lambda _, path, fault: left.append(f"{path}: {fault[1]}"))
        try:
            numbers.clear(self.number)
        except OSError as fault:
            left.append(f"X lock of {self.name}: {fault}")
        return tuple(text for text in left if "No such file" not in text)

    def is_silent(self) -> bool:
        """Return whether no X server of this user listens; removes what a dead one left."""
        try:
            return numbers.clear(self.number)
        except OSError:
            return False

    def environment(self, base: Mapping[str, str], bus_address: str) -> dict[str, str]:
        """Return `base` with the variables of other desktops replaced by those of this display."""
        kept = {name: value for name, value in base.items() if name not in _OF_ANOTHER_DESKTOP}
        kept |= {
            "DISPLAY": self.name,
            "XAUTHORITY": str(self.auth_file),
            "XDG_RUNTIME_DIR": str(self.runtime),
            proc_files.MARKER: str(self.folder),
        }
        return kept | ({"DBUS_SESSION_BUS_ADDRESS": bus_address, **_ENABLE_ACCESSIBILITY} if bus_address else {})


def for_number(paths: Paths, number: int) -> DisplayFolders:
    """Return the places of display `number` of this instance; touches no file."""
    folder = paths.displays / str(number)
    runtime = folder / "run"
    if len(os.fsencode(runtime)) + len(_LONGEST_SOCKET_NAME) > _LONGEST_SOCKET_PATH:
        runtime = Path("/tmp") / f"acud-{os.getuid()}-{paths.instance}" / f"display-{number}"  # noqa: S108 - private
    return DisplayFolders(number, folder, runtime)


def find_existing(paths: Paths) -> tuple[DisplayFolders, ...]:
    """Return the places of every display folder, also of those that earlier runs left."""
    names = (path.name for path in paths.displays.iterdir() if path.is_dir() and path.name.isdigit())
    return tuple(for_number(paths, int(name)) for name in sorted(names))
