"""The web process seen from the supervisor: started when `[relay]`, `[web]` or `[otel]` asks for it, and tried again
when it cannot listen. Whatever becomes of it, the daemon goes on.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from acud import log
from acud.config import Settings
from acud.loop import Loop
from acud.protocol.bootstrap import WebOptions
from acud.protocol.serving import WebHello
from acud.supervisor.children import Child, ChildKeeper, ChildState, Message

_LOG = log.logger("web")
_AGAIN_S = 10.0
"""A port that is taken may be free again; each try costs a process start of 0.3 s."""
_FIX = "acud logs --level error, then acud daemon restart"


class Web:
    """Owns the web process, if there is to be one."""

    def __init__(self, keeper: ChildKeeper, loop: Loop, settings: Settings, home: Path) -> None:
        self._keeper = keeper
        self._loop = loop
        self._relay, self._gateway = settings.relay, settings.web
        self._options = WebOptions(settings.relay, settings.web, str(home), settings.otel)
        self.child = Child("0", "web", "acud_web", self)
        self.url = ""
        """Where it serves the relay endpoints now."""
        self.gateway_url = ""
        """Where it serves the gateway now."""
        self.token_file = ""
        self.fault = ""
        """Why it does not serve, and is not simply being started again."""
        self.fix = ""
        self.ended: Callable[[Child], None] = lambda child: None

    @property
    def asks_for_token(self) -> bool:
        """Whether nobody gets in without the token."""
        return not self._relay.allow_tokenless

    def served(self) -> dict[str, str]:
        """Return what is served now, and where."""
        return {name: url for name, url in (("gateway", self.gateway_url), ("relay", self.url)) if url}

    def start(self) -> None:
        """Start the process, where one is wanted."""
        if self._relay.enabled or self._gateway.enabled or self._options.otel.url:
            self._keeper.start(self.child, self._options)

    def child_said(self, child: Child, message: Message) -> None:
        """Learn that it serves; a port that was chosen for us is kept over restarts, because clients know it."""
        if not isinstance(message, WebHello):
            return
        self.url, self.gateway_url, self.token_file = message.url, message.gateway_url, message.token_file
        self.fault, self.fix = message.fault, message.fix
        self._options = child.options = self._kept(message)
        _LOG.info("web.serving", url=message.url, gateway=message.gateway_url)

    def _kept(self, hello: WebHello) -> WebOptions:
        options = self._options
        if hello.url:
            options = replace(options, listener=replace(self._relay, port=hello.port))
        if hello.gateway_url:
            options = replace(options, gateway=replace(self._gateway, port=hello.gateway_port))
        return options

    def child_ended(self, child: Child, reason: str) -> None:
        """Try again later what a restart at once would not mend: it said itself why it cannot serve."""
        self.url = self.gateway_url = ""
        if child.state is ChildState.STOPPED:
            return
        if child.fault is None and child.state is not ChildState.FAILED:
            self.ended(child)
            return
        self.fault = reason
        self.fix = (child.fault.hint if child.fault is not None else "") or _FIX
        self._keeper.hold(child)
        self._loop.call_later(_AGAIN_S, self._again)

    def _again(self) -> None:
        if self.child.state is ChildState.HELD:
            self._keeper.start(self.child, self._options)
