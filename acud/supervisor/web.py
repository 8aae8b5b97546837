"""The web process and its listening sockets, which the daemon keeps over restarts. It works without either."""

from __future__ import annotations

import contextlib
import os
import socket
import struct
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from acud.base import log
from acud.base.errors import Refused
from acud.config import Settings, http_listeners
from acud.config.http_listeners import is_taken_by_another
from acud.process.event_loop import EventLoop
from acud.process.systemd_notify import SystemdNotifier
from acud.protocol.bootstrap import WebOptions
from acud.protocol.children import Stop, WebHello
from acud.supervisor.children import Child, ChildKeeper, ChildState, Message
from acud.supervisor.optional_child import OptionalChild
from acud.supervisor.publisher import DaemonEvents

_PEER = struct.Struct("3i")  # pid, uid, gid: unix(7), SO_PEERCRED
_SECTIONS = {"gateway": "web", "relay": "http_endpoints"}  # the settings table of each listener
_LOG = log.logger("listeners")


class ListenerSockets:
    """Owns the sockets. `sockets`: those that this process was started with. `place`: the path of the Unix socket
    where a restart fetches them. Nothing here blocks.
    """

    def __init__(
        self, sockets: dict[str, socket.socket], place: Path, loop: EventLoop, notifier: SystemdNotifier
    ) -> None:
        self._inherited, self._place, self._loop, self._notifier = sockets, place, loop, notifier
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
        """Return whether the former daemon handed the socket of `name` over, and it was not opened yet."""
        return name in self._inherited

    def start(self) -> None:
        """Close inherited sockets that were not opened, and listen for a restart that fetches the others."""
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
        """Close every socket; duplicates that were handed over stay open."""
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


_AGAIN_S = 10.0
_ENDED = "; every session was ended, for browsers may have sent it their cookie"
_LOG_web = log.logger("web")


class Web(OptionalChild):
    """Owns the web process, if one is enabled. Borrows `listeners`. `end_sessions` logs every browser out."""

    def __init__(
        self,
        keeper: ChildKeeper,
        loop: EventLoop,
        settings: Settings,
        home: Path,
        listeners: ListenerSockets,
        end_sessions: Callable[[], None],
        events: DaemonEvents,
    ) -> None:
        self._endpoints, self._gateway = settings.http_endpoints, settings.web
        self._home, self._otel = str(home), settings.otel
        self._listeners, self._end_sessions = listeners, end_sessions
        self._fds: dict[str, int] = {}
        self._faults: dict[str, Refused] = {}  # by listener: why its port can't be bound
        super().__init__(keeper, loop, "web", "acud_web", self._build_options(), events)
        self.url = ""  # where it serves the HTTP endpoints now
        self.gateway_url = ""  # where it serves the gateway now
        self.token_file = ""

    @property
    def asks_for_token(self) -> bool:
        return not self._endpoints.allow_tokenless

    @property
    def served_urls(self) -> dict[str, str]:
        """The listeners that serve now, with their URLs."""
        return {name: url for name, url in (("gateway", self.gateway_url), ("relay", self.url)) if url}

    def start(self) -> None:
        """Bind the ports and start the web process, if a listener is enabled."""
        if self._gateway.enabled and not self._gateway.port and not self._listeners.was_inherited("gateway"):
            self._end_sessions()  # another port than before, whose new owner gets the requests of open pages
        self._bind_ports()
        self._start_process()
        self._bind_later()

    def handle_message(self, child: Child, message: Message) -> None:
        if not isinstance(message, WebHello):
            return
        self.url, self.gateway_url, self.token_file = message.url, message.gateway_url, message.token_file
        self._set_fault(message.fault, message.fix)
        _LOG_web.info("web.serving", url=message.url, gateway=message.gateway_url)

    def on_lost(self, reason: str) -> None:
        self.url = self.gateway_url = ""

    def _bind_ports(self) -> bool:
        """Bind the enabled ports that are not held yet; return whether a port was bound."""
        took = False
        for name, wanted in (("relay", self._endpoints), ("gateway", self._gateway)):
            if not wanted.enabled or name in self._fds:
                continue
            before = self._faults.pop(name, None)
            try:
                self._fds[name] = self._listeners.open(name, wanted.host, wanted.port).fileno()
                took = True
            except Refused as fault:
                self._faults[name] = self._note_port_fault(name, fault, before)
        return took

    def _note_port_fault(self, name: str, fault: Refused, before: Refused | None) -> Refused:
        """Return the fault to report, and end the sessions if another user holds the gateway's port."""
        if name != "gateway" or not is_taken_by_another(fault):
            return fault
        if before is not None and before.facts == fault.facts:
            return before
        self._end_sessions()
        _LOG_web.warning("web.port_foreign", port=self._gateway.port, **fault.facts)
        return Refused(fault.message + _ENDED, hint=fault.hint, **fault.facts)

    def _build_options(self) -> WebOptions:
        """Return the options for the listeners that are bound now."""
        endpoints, gateway = self._fds.get("relay", -1), self._fds.get("gateway", -1)
        return WebOptions(
            replace(self._endpoints, enabled=endpoints >= 0),
            replace(self._gateway, enabled=gateway >= 0),
            self._home,
            self._otel,
            endpoints,
            gateway,
        )

    def _start_process(self) -> None:
        self._set_fault("", "")
        self._options = self.child.options = self._build_options()
        self.child.passed_fds = tuple(self._fds.values())
        if not (self._fds or self._otel.url):
            return
        if self.child.state is ChildState.STOPPED:
            self.begin()
        elif not self._keeper.send(self.child, Stop()):
            self._keeper.kill(self.child, "it was started before its port could be had")

    def _set_fault(self, fault: str, fix: str) -> None:
        unbound = next(iter(self._faults.values()), None)
        self.fault, self.fix = (unbound.message, unbound.hint) if unbound is not None else (fault, fix)

    def _bind_later(self) -> None:
        if self._faults:
            self._loop.call_later(_AGAIN_S, self._bind_again)

    def _bind_again(self) -> None:
        if self._bind_ports():
            self._start_process()
        elif self._faults:
            self._set_fault("", "")
        self._bind_later()
