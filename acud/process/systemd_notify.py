"""systemd's readiness and watchdog protocol (sd_notify(3)): one datagram to the socket that NOTIFY_SOCKET names."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping, Sequence


class SystemdNotifier:
    """Notifies systemd of this process's state; without NOTIFY_SOCKET every call does nothing."""

    def __init__(self, env: Mapping[str, str]) -> None:
        address = env.get("NOTIFY_SOCKET", "")
        self._address = "\0" + address[1:] if address.startswith("@") else address
        mine = env.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
        usec = env.get("WATCHDOG_USEC", "")
        self.watchdog_s = int(usec) / 1e6 if mine and usec.isdigit() else 0.0
        """systemd restarts this process after so long without `alive`; 0: it does not."""

    def ready(self, status: str) -> None:
        """Report that requests are answered."""
        self._send_text(f"READY=1\nSTATUS={status}")

    def alive(self) -> None:
        self._send_text("WATCHDOG=1")

    def stopping(self) -> None:
        """Report that the end has begun."""
        self._send_text("STOPPING=1")

    def keep(self, name: str, given: socket.socket) -> None:
        """Have systemd keep a duplicate of a socket for the next run, if FileDescriptorStoreMax= allows it."""
        self._send_text(f"FDSTORE=1\nFDNAME={name}", [given.fileno()])

    def drop(self, name: str) -> None:
        """Have systemd close a socket that it keeps."""
        self._send_text(f"FDSTOREREMOVE=1\nFDNAME={name}")

    def _send_text(self, text: str, fds: Sequence[int] = ()) -> None:
        if not self._address:
            return
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sender:
            sender.connect(self._address)
            socket.send_fds(sender, [text.encode()], list(fds))
