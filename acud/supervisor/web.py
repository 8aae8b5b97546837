"""The web process seen from the supervisor: started when `[relay]`, `[web]` or `[otel]` asks for it, and tried again
when it cannot listen. Whatever becomes of it, the daemon goes on.
"""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from acud import log
from acud.config import Settings
from acud.loop import Loop
from acud.protocol.bootstrap import WebOptions
from acud.protocol.serving import WebHello
from acud.supervisor.child import Child, Message
from acud.supervisor.children import ChildKeeper
from acud.supervisor.optional import OptionalChild

_LOG = log.logger("web")


class Web(OptionalChild):
    """Owns the web process, if there is to be one."""

    def __init__(self, keeper: ChildKeeper, loop: Loop, settings: Settings, home: Path) -> None:
        self._relay, self._gateway = settings.relay, settings.web
        self._served = WebOptions(settings.relay, settings.web, str(home), settings.otel)
        super().__init__(keeper, loop, "web", "acud_web", self._served)
        self.url = ""
        """Where it serves the relay endpoints now."""
        self.gateway_url = ""
        """Where it serves the gateway now."""
        self.token_file = ""

    @property
    def asks_for_token(self) -> bool:
        """Whether nobody gets in without the token."""
        return not self._relay.allow_tokenless

    def served(self) -> dict[str, str]:
        """Return what is served now, and where."""
        return {name: url for name, url in (("gateway", self.gateway_url), ("relay", self.url)) if url}

    def start(self) -> None:
        """Start the process, where one is wanted."""
        if self._relay.enabled or self._gateway.enabled or self._served.otel.url:
            self.begin()

    def child_said(self, child: Child, message: Message) -> None:
        """Learn that it serves; a port that was chosen for us is kept over restarts, because clients know it."""
        if not isinstance(message, WebHello):
            return
        self.url, self.gateway_url, self.token_file = message.url, message.gateway_url, message.token_file
        self.fault, self.fix = message.fault, message.fix
        self._served = self._options = child.options = self._kept(message)
        _LOG.info("web.serving", url=message.url, gateway=message.gateway_url)

    def _kept(self, hello: WebHello) -> WebOptions:
        options = self._served
        if hello.url:
            options = replace(options, listener=replace(self._relay, port=hello.port))
        if hello.gateway_url:
            options = replace(options, gateway=replace(self._gateway, port=hello.gateway_port))
        return options

    def lost(self, reason: str) -> None:
        """Nothing is served now."""
        self.url = self.gateway_url = ""
