"""Who makes a request: its secret, what the daemon says of it, how often an address may be wrong."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from typing import Literal

from msgspec import Struct
from starlette.requests import HTTPConnection
from starlette.types import Scope
from starlette.websockets import WebSocket

from acud.errors import NotFound
from acud.protocol.requests.web import WebPass, WebPassReply
from acud.protocol.web import Pass, digest_of
from acud_web.daemon_gateway import DaemonGateway
from acud_web.faults import wrong
from acud_web.origins import raw, values

COOKIE = "acud_session"
_LONGEST = 256


class Credential(Struct, frozen=True):
    """`kind` says where it came from; a token is no good as a cookie, nor a session as a token."""

    kind: Literal["token", "session"]
    secret: str


def credential_of(scope: Scope) -> Credential | None:
    """Return what `scope` carries, the head first; None for nothing, or for several of one kind."""
    heads = raw(scope, b"authorization")
    if heads:
        scheme, _, token = heads[0].decode("latin-1").partition(" ")
        good = len(heads) == 1 and scheme.lower() == "bearer" and 0 < len(token.strip()) <= _LONGEST
        return Credential("token", token.strip()) if good else None
    cookies = _cookies(scope)
    return Credential("session", cookies[0]) if len(cookies) == 1 and len(cookies[0]) <= _LONGEST else None


def _cookies(scope: Scope) -> list[str]:
    pairs = (pair.strip().partition("=") for line in values(scope, b"cookie") for pair in line.split(";"))
    return [value for name, _, value in pairs if name == COOKIE and value]


_ADDRESSES = 1024
"""So many are remembered; the one that was wrong longest ago is forgotten first."""


class Tries:
    """`most` wrong tries at once, and one more each `again_s`."""

    def __init__(self, most: int, again_s: float) -> None:
        self._most = most
        self._again_s = again_s
        self._spent: OrderedDict[str, tuple[float, float]] = OrderedDict()
        """By address: how many tries are spent, and as of when."""

    def wait_s(self, address: str, now_s: float) -> float:
        """Return how long `address` has to wait until it may be wrong again; 0: not at all."""
        return max(0.0, (self._now(address, now_s) + 1 - self._most) * self._again_s)

    def wrong(self, address: str, now_s: float) -> None:
        """Note a wrong try."""
        self._spent[address] = (self._now(address, now_s) + 1, now_s)
        self._spent.move_to_end(address)
        if len(self._spent) > _ADDRESSES:
            self._spent.popitem(last=False)

    def _now(self, address: str, now_s: float) -> float:
        spent, at_s = self._spent.get(address, (0.0, now_s))
        return max(0.0, spent - (now_s - at_s) / self._again_s)


_KEPT_S = 1.0
_KEPT = 1024
_TRIES, _AGAIN_S = 200, 0.05
"""Secrets can't be guessed; this tells one who tries (or whose token is old) to slow down."""
UNKNOWN_AT_ONCE = 2
"""So many secrets that are not known yet are looked up at a time, in the order they came: a flood of wrong ones keeps
the daemon from nothing else, and a right one waits for those before it alone."""
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


class Authenticator:
    """Borrows `desk`."""

    def __init__(self, desk: DaemonGateway) -> None:
        self._desk = desk
        self._known: OrderedDict[str, tuple[Pass, float]] = OrderedDict()
        """By digest, with the time of asking; a pass that was good once is asked about again without a limit."""
        self._tries = Tries(_TRIES, _AGAIN_S)
        self._unknown = asyncio.Semaphore(UNKNOWN_AT_ONCE)

    async def admit(self, connection: HTTPConnection) -> Pass:
        """Return the pass of `connection`. Raises: Fault 401 without one, 403 where a page may not have sent it, 429
        after too many wrong ones; AcudError when the daemon can't be asked.
        """
        given = credential_of(connection.scope)
        if given is None:
            raise unauthorized()
        if given.kind == "session":
            check_page(connection)
        return await self._pass(given, address_of(connection))

    def forget(self, pass_id: str) -> None:
        """Ask anew for the pass with this id."""
        for digest in [digest for digest, (found, _) in self._known.items() if found.pass_id == pass_id]:
            del self._known[digest]

    async def _pass(self, given: Credential, address: str) -> Pass:
        digest = digest_of(given.secret)
        known, asked_s = self._known.get(digest, (None, 0.0))
        if known is not None and known.kind != given.kind:
            raise unauthorized()  # a token is no session, and the other way round, also while it is remembered
        if known is not None and time.monotonic() - asked_s < _KEPT_S and not known.expired(time.time()):
            return known
        if known is not None:
            return await self._ask(given, digest, address)
        async with self._unknown:
            return await self._ask(given, digest, address)

    async def _ask(self, given: Credential, digest: str, address: str) -> Pass:
        asked_s = time.monotonic()
        try:
            found = (await self._desk.ask(WebPass(digest), WebPassReply)).found
        except NotFound:
            found = None
        if found is None or found.kind != given.kind:
            self._known.pop(digest, None)
            raise wrong_try(self._tries, address, unauthorized())
        self._known[digest] = (found, asked_s)
        if len(self._known) > _KEPT:
            self._known.popitem(last=False)
        return found


def check_page(connection: HTTPConnection) -> None:
    """Raises: Fault 403 for what a browser would also send on behalf of another site's page.

    Origins that are there were found to be ours already. A form can set no header; a WebSocket always has an Origin.
    """
    has_origin = bool(values(connection.scope, b"origin"))
    if isinstance(connection, WebSocket):
        if not has_origin:
            raise wrong(403, "origin", "a WebSocket with the cookie needs its Origin")
        return
    is_safe = connection.scope["method"] in _SAFE
    if not is_safe and not (has_origin and values(connection.scope, b"x-acud") == ["1"]):
        raise wrong(403, "origin", "what changes something needs the header X-Acud: 1 and an Origin")


def wrong_try(tries: Tries, address: str, fault: Exception) -> Exception:
    """Note that a secret from `address` was wrong; return what it is told: `fault`, or 429 after too many of late.

    Only who was wrong is throttled. Were an address refused before its secret is looked at, anyone on this machine
    could keep the owner out.
    """
    now_s = time.monotonic()
    wait_s = tries.wait_s(address, now_s)
    if wait_s:
        return wrong(429, "too_many", "too many wrong tries from this address", f"try again in {wait_s:.0f} s")
    tries.wrong(address, now_s)
    return fault


def address_of(connection: HTTPConnection) -> str:
    """Return the peer's address."""
    return connection.client.host if connection.client is not None else ""


def unauthorized() -> Exception:
    """Return the fault of a request without a pass; the same whatever is wrong with what it has."""
    return wrong(
        401, "unauthorized", "no token or session that is good here", "acud web login, or acud web token create"
    )
