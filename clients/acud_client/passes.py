"""The requests about who is let in over HTTP as methods, sync and async: a part of each client."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Literal, TypeVar

import msgspec

from acud.protocol.requests.web import (
    WebLogin,
    WebLoginRedeem,
    WebLoginReply,
    WebPass,
    WebPassReply,
    WebTokenCreate,
    WebTokenList,
    WebTokenListReply,
    WebTokenRevoke,
)
from acud.protocol.web import Scope

Reply = TypeVar("Reply", bound=msgspec.Struct)
Every = Literal["", "token", "session", "pass"]


class PassCalls(ABC):
    """The requests about passes of a client that can `ask`."""

    @abstractmethod
    def ask(self, request: msgspec.Struct, kind: type[Reply], *, request_id: str = "") -> Reply:
        """Send `request` and return its reply."""

    def web_login(
        self,
        digest: str,
        scope: Scope = Scope.ADMIN,
        *,
        name: str = "",
        displays: Sequence[str] = (),
        tasks: Sequence[str] = (),
    ) -> WebLoginReply:
        """Let the code with this digest (`new_secret`, `digest_of`) open one session within two minutes."""
        return self.ask(WebLogin(digest, scope, name, tuple(displays), tuple(tasks)), WebLoginReply)

    def web_login_redeem(self, code: str, session: str) -> WebPassReply:
        """Spend the code with the digest `code` for a session with the digest `session`. Raises: NotFound."""
        return self.ask(WebLoginRedeem(code, session), WebPassReply)

    def web_token_create(
        self,
        digest: str,
        scope: Scope = Scope.READ,
        *,
        name: str = "",
        displays: Sequence[str] = (),
        tasks: Sequence[str] = (),
        for_s: float = 0.0,
    ) -> WebPassReply:
        """Let the token with this digest (`new_secret`, `digest_of`) in, for `for_s` (0: until it is revoked)."""
        return self.ask(WebTokenCreate(digest, scope, name, tuple(displays), tuple(tasks), for_s), WebPassReply)

    def web_token_list(self) -> WebTokenListReply:
        """Return every token and session that is good now."""
        return self.ask(WebTokenList(), WebTokenListReply)

    def web_token_revoke(self, pass_id: str = "", *, every: Every = "") -> WebTokenListReply:
        """Revoke one, or `every` one of a kind, and return them. Raises: NotFound."""
        return self.ask(WebTokenRevoke(pass_id, every), WebTokenListReply)

    def web_pass(self, digest: str) -> WebPassReply:
        """Return the pass of the token or session with this digest. Raises: NotFound."""
        return self.ask(WebPass(digest), WebPassReply)


class AsyncPassCalls(ABC):
    """The same for a client whose `ask` is awaited."""

    @abstractmethod
    async def ask(self, request: msgspec.Struct, kind: type[Reply], *, request_id: str = "") -> Reply:
        """Send `request` and return its reply."""

    async def web_login(
        self,
        digest: str,
        scope: Scope = Scope.ADMIN,
        *,
        name: str = "",
        displays: Sequence[str] = (),
        tasks: Sequence[str] = (),
    ) -> WebLoginReply:
        """Let the code with this digest (`new_secret`, `digest_of`) open one session within two minutes."""
        return await self.ask(WebLogin(digest, scope, name, tuple(displays), tuple(tasks)), WebLoginReply)

    async def web_login_redeem(self, code: str, session: str) -> WebPassReply:
        """Spend the code with the digest `code` for a session with the digest `session`. Raises: NotFound."""
        return await self.ask(WebLoginRedeem(code, session), WebPassReply)

    async def web_token_create(
        self,
        digest: str,
        scope: Scope = Scope.READ,
        *,
        name: str = "",
        displays: Sequence[str] = (),
        tasks: Sequence[str] = (),
        for_s: float = 0.0,
    ) -> WebPassReply:
        """Let the token with this digest (`new_secret`, `digest_of`) in, for `for_s` (0: until it is revoked)."""
        return await self.ask(WebTokenCreate(digest, scope, name, tuple(displays), tuple(tasks), for_s), WebPassReply)

    async def web_token_list(self) -> WebTokenListReply:
        """Return every token and session that is good now."""
        return await self.ask(WebTokenList(), WebTokenListReply)

    async def web_token_revoke(self, pass_id: str = "", *, every: Every = "") -> WebTokenListReply:
        """Revoke one, or `every` one of a kind, and return them. Raises: NotFound."""
        return await self.ask(WebTokenRevoke(pass_id, every), WebTokenListReply)

    async def web_pass(self, digest: str) -> WebPassReply:
        """Return the pass of the token or session with this digest. Raises: NotFound."""
        return await self.ask(WebPass(digest), WebPassReply)
