"""The sockets of the HTTP listeners: bound here, held over every restart of who serves on them, and handed to the next
daemon, so that no other user can take their port meanwhile and be sent what browsers and programs send there.
"""

from __future__ import annotations

import contextlib
import os
import socket
import struct
from pathlib import Path

from acud import http_listeners, log
from acud.event_loop import EventLoop
from acud.supervisor.systemd_notify import SystemdNotifier

_PEER = struct.Struct("3i")  # pid, uid, gid: unix(7), SO_PEERCRED
_SECTIONS = {"gateway": "web", "relay": "http_endpoints"}
"""The settings table of each listener."""
_LOG = log.logger("listeners")


class ListenerSockets:
    """Owns the sockets. `inherited`: what this process was started with. `place`: the path of the Unix socket at which
    a restart asks for them. Nothing here blocks.
    """

    def __init__(
        self, inherited: dict[str, socket.socket], place: Path, loop: EventLoop, notifier: SystemdNotifier
    ) -> None:
        self._inherited = inherited
        self._place = place
        self._loop = loop
        self._notifier = notifier
        self._held: dict[str, socket.socket] = {}
        self._asked: socket.socket | None = None

    def open(self, name: str, host: str, port: int) -> socket.socket:
        """Return the socket of the listener `name`, held from now on. Raises: Refused."""
        given = self._inherited.pop(name, None)
        if given is not None and http_listeners.serves_address(given, host, port):
            _LOG.info("listener.inherited", listener=name, port=given.getsockname()[1])
        else:
            if given is not None:
                given.close()
            given = http_listeners.bind(host, port, _SECTIONS[name])
        given.setblocking(False)
        self._held[name] = given
        self._notifier.keep(http_listeners.stored_name(name), given)
        return given

    def was_inherited(self, name: str) -> bool:
        """Tell whether the former daemon handed the socket of `name` over, and it was not opened yet."""
        return name in self._inherited

    def start(self) -> None:
        """Let go of what nobody wants any more, and hand over what is held to whoever restarts the daemon."""
        for name, unwanted in self._inherited.items():
            unwanted.close()
            self._notifier.drop(http_listeners.stored_name(name))
        self._inherited.clear()
        asked = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        asked.bind(str(self._place))
        self._place.chmod(0o600)
        asked.listen(1)
        asked.setblocking(False)
        self._asked = asked
        self._loop.watch(asked, self._hand_over)

    def close(self) -> None:
        """Let go of every socket; who was given a duplicate keeps it open."""
        for one in (*self._held.values(), *self._inherited.values(), *([self._asked] if self._asked else [])):
            one.close()

    def _hand_over(self) -> None:
        assert self._asked is not None
        try:
            connected, _ = self._asked.accept()
        except OSError:
            return
        with connected, contextlib.suppress(OSError):
            _, uid, _ = _PEER.unpack(connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size))
            if uid == os.getuid():
                connected.setblocking(False)
                http_listeners.send_sockets(connected, self._held)
