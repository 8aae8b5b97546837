"""Whose request it is: asks the daemon, and remembers the answer for a second."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict

from starlette.requests import HTTPConnection
from starlette.websockets import WebSocket

from acud.errors import NotFound
from acud.protocol.requests.web import WebPass, WebPassReply
from acud.protocol.web import Pass, digest_of
from acud_web.credentials import Credential, credential_of
from acud_web.desk import Desk
from acud_web.faults import wrong
from acud_web.origins import values
from acud_web.tries import Tries

_KEPT_S = 1.0
_KEPT = 1024
_TRIES, _AGAIN_S = 200, 0.05
"""Secrets can't be guessed; this tells one who tries (or whose token is old) to slow down."""
UNKNOWN_AT_ONCE = 2
"""So many secrets that are not known yet are looked up at a time, in the order they came: a flood of wrong ones keeps
the daemon from nothing else, and a right one waits for those before it alone."""
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


class Admission:
    """Borrows `desk`."""

    def __init__(self, desk: Desk) -> None:
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
