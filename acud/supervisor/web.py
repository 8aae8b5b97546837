"""The web process and its listening sockets, which are held here over restarts. The daemon goes on without either."""

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
from acud.config.http_listeners import ListenerSettings, WebSettings, taken_by_another
from acud.process.event_loop import EventLoop
from acud.process.systemd_notify import SystemdNotifier
from acud.protocol.bootstrap import WebOptions
from acud.protocol.children import Stop, WebHello
from acud.supervisor.children import Child, ChildKeeper, ChildState, Message
from acud.supervisor.optional_child import OptionalChild

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


_AGAIN_S = 10.0
_ENDED = "; every session was ended, for browsers may have sent it their cookie"
_LOG_web = log.logger("web")


class Web(OptionalChild):
    """Owns the web process, if there is to be one. Borrows `listeners`. `end_sessions` logs every browser out."""

    def __init__(
        self,
        keeper: ChildKeeper,
        loop: EventLoop,
        settings: Settings,
        home: Path,
        listeners: ListenerSockets,
        end_sessions: Callable[[], None],
        on_ended: Callable[[Child], None],
    ) -> None:
        self._endpoints, self._gateway = settings.http_endpoints, settings.web
        self._home, self._otel = str(home), settings.otel
        self._listeners = listeners
        self._end_sessions = end_sessions
        self._fds: dict[str, int] = {}
        self._faults: dict[str, Refused] = {}
        """Why a port can't be had."""
        super().__init__(keeper, loop, "web", "acud_web", self._wanted(), on_ended)
        self.url = ""
        """Where it serves the HTTP endpoints now."""
        self.gateway_url = ""
        """Where it serves the gateway now."""
        self.token_file = ""

    @property
    def asks_for_token(self) -> bool:
        """Whether the token is required."""
        return not self._endpoints.allow_tokenless

    def served(self) -> dict[str, str]:
        """Return what is served now, and where."""
        return {name: url for name, url in (("gateway", self.gateway_url), ("relay", self.url)) if url}

    def start(self) -> None:
        """Take the ports and start the process, where one is wanted."""
        if self._gateway.enabled and not self._gateway.port and not self._listeners.was_inherited("gateway"):
            self._end_sessions()  # another port than before: who has that one now is sent what open pages ask
        self._bind()
        self._go()
        self._bind_later()

    def handle_message(self, child: Child, message: Message) -> None:
        """Learn that it serves."""
        if not isinstance(message, WebHello):
            return
        self.url, self.gateway_url, self.token_file = message.url, message.gateway_url, message.token_file
        self._tell(message.fault, message.fix)
        _LOG_web.info("web.serving", url=message.url, gateway=message.gateway_url)

    def lost(self, reason: str) -> None:
        """Nothing is served now."""
        self.url = self.gateway_url = ""

    def _bind(self) -> bool:
        """Take the ports that are wanted and not held yet; tell whether one was taken."""
        took = False
        for name, wanted in self._listened():
            if not wanted.enabled or name in self._fds:
                continue
            before = self._faults.pop(name, None)
            try:
                self._fds[name] = self._listeners.open(name, wanted.host, wanted.port).fileno()
                took = True
            except Refused as fault:
                self._faults[name] = self._noted(name, fault, before)
        return took

    def _noted(self, name: str, fault: Refused, before: Refused | None) -> Refused:
        """Return what is told of `fault`, and end the sessions where another user came by the gateway's port."""
        if name != "gateway" or not taken_by_another(fault):
            return fault
        if before is not None and before.facts == fault.facts:
            return before
        self._end_sessions()
        _LOG_web.warning("web.port_foreign", port=self._gateway.port, **fault.facts)
        return Refused(fault.message + _ENDED, hint=fault.hint, **fault.facts)

    def _listened(self) -> tuple[tuple[str, ListenerSettings | WebSettings], ...]:
        return (("relay", self._endpoints), ("gateway", self._gateway))

    def _wanted(self) -> WebOptions:
        """Return what can be served now."""
        endpoints, gateway = self._fds.get("relay", -1), self._fds.get("gateway", -1)
        return WebOptions(
            replace(self._endpoints, enabled=endpoints >= 0),
            replace(self._gateway, enabled=gateway >= 0),
            self._home,
            self._otel,
            endpoints,
            gateway,
        )

    def _go(self) -> None:
        """Start the process with what is held, or have it start again with that."""
        self._tell("", "")
        self._options = self.child.options = self._wanted()
        self.child.passed_fds = tuple(self._fds.values())
        if not (self._fds or self._otel.url):
            return
        if self.child.state is ChildState.STOPPED:
            self.begin()
        elif not self._keeper.send(self.child, Stop()):
            self._keeper.kill(self.child, "it was started before its port could be had")

    def _tell(self, fault: str, fix: str) -> None:
        unbound = next(iter(self._faults.values()), None)
        self.fault, self.fix = (unbound.message, unbound.hint) if unbound is not None else (fault, fix)

    def _bind_later(self) -> None:
        if self._faults:
            self._loop.call_later(_AGAIN_S, self._bind_again)

    def _bind_again(self) -> None:
        if self._bind():
            self._go()
        elif self._faults:
            self._tell("", "")
        self._bind_later()
