"""The web process seen from the supervisor: started when `[relay] enabled` asks for it, and tried again when it cannot
listen. Whatever becomes of it, the daemon goes on.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from acud import log
from acud.listener import ListenerSettings
from acud.loop import Loop
from acud.protocol.bootstrap import WebOptions
from acud.protocol.children import WebHello
from acud.supervisor.children import Child, ChildKeeper, ChildState, Message

_LOG = log.logger("web")
_AGAIN_S = 10.0
"""A port that is taken may be free again; each try costs a process start of 0.3 s."""
_FIX = "acud logs --level error, then acud daemon restart"


class Web:
    """Owns the web process, if there is to be one."""

    def __init__(self, keeper: ChildKeeper, loop: Loop, settings: ListenerSettings, home: Path) -> None:
        self._keeper = keeper
        self._loop = loop
        self._settings = settings
        self._options = WebOptions(settings, str(home))
        self.child = Child("0", "web", "acud_web", self)
        self.url = ""
        """Where it serves now."""
        self.token_file = ""
        self.fault = ""
        """Why it does not serve, and is not simply being started again."""
        self.fix = ""
        self.ended: Callable[[Child], None] = lambda child: None

    @property
    def asks_for_token(self) -> bool:
        """Whether nobody gets in without the token."""
        return not self._settings.allow_tokenless

    def start(self) -> None:
        """Start the process, where one is wanted."""
        if self._settings.enabled:
            self._keeper.start(self.child, self._options)

    def child_said(self, child: Child, message: Message) -> None:
        """Learn that it serves; a port that was chosen for us is kept over restarts, because clients know it."""
        if not isinstance(message, WebHello):
            return
        self.url, self.token_file, self.fault, self.fix = message.url, message.token_file, "", ""
        kept = msgspec.structs.replace(self._settings, port=message.port)
        self._options = child.options = msgspec.structs.replace(self._options, listener=kept)
        _LOG.info("web.serving", url=message.url)

    def child_ended(self, child: Child, reason: str) -> None:
        """Try again later what a restart at once would not mend: it said itself why it cannot serve."""
        self.url = ""
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
