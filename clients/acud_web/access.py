"""The sender of a request: its secret, its access token from the daemon, what that is good for, and what ends with
it.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Coroutine
from typing import Any, Literal, TypeVar

from msgspec import Struct
from starlette.requests import HTTPConnection
from starlette.types import Scope as AsgiScope
from starlette.websockets import WebSocket

from acud.base.errors import AcudError, NotFound
from acud.base.rate_limits import TokenBucket
from acud.protocol.events import Event
from acud.protocol.requests.web import WebPass, WebPassReply
from acud.protocol.web import AccessToken, Scope, digest_of
from acud_client.aio import AsyncClient
from acud_http.errors import wrong
from acud_http.request_filter import bearer_of, values
from acud_web.daemon_gateway import DaemonGateway

COOKIE = "acud_session"
_LONGEST = 256
_MOST_COOKIES = 4
"""Cookies name neither their port nor their setter: another program or daemon of this host may have set one too."""


class Credential(Struct, frozen=True):
    """`kind`: where it came from; a token is no good as a cookie, nor a session as a token."""

    kind: Literal["token", "session"]
    secret: str


def find_credentials(scope: AsgiScope) -> list[Credential]:
    """Return what `scope` carries: the one token of its head, else its session cookies, one of which may be ours."""
    token = bearer_of(scope)
    if token is not None:
        return [Credential("token", token)] if 0 < len(token) <= _LONGEST else []
    cookies = dict.fromkeys(one for one in _read_cookies(scope) if len(one) <= _LONGEST)
    return [Credential("session", one) for one in cookies][:_MOST_COOKIES]


def _read_cookies(scope: AsgiScope) -> list[str]:
    pairs = (pair.strip().partition("=") for line in values(scope, b"cookie") for pair in line.split(";"))
    return [value for name, _, value in pairs if name == COOKIE and value]


_ADDRESSES = 1024
"""So many are remembered; the one that was wrong longest ago is forgotten first."""


class LoginThrottle:
    """`most` wrong tries at once, and one more each `again_s`."""

    def __init__(self, most: int, again_s: float) -> None:
        self._most = most
        self._again_s = again_s
        self._spent: OrderedDict[str, TokenBucket] = OrderedDict()
        """By address; one that is not here has all its tries."""

    def wait_s(self, address: str, now_s: float) -> float:
        """Return how long `address` has to wait until it may be wrong again; 0: not at all."""
        return self._spent[address].due_s(now_s) if address in self._spent else 0.0

    def note_wrong(self, address: str, now_s: float) -> None:
        self._spent.setdefault(address, TokenBucket(1 / self._again_s, self._most, now_s)).take(now_s)
        self._spent.move_to_end(address)
        if len(self._spent) > _ADDRESSES:
            self._spent.popitem(last=False)


_KEPT_S = 1.0
_KEPT = 1024
_TRIES, _AGAIN_S = 200, 0.05
"""Secrets can't be guessed; this slows down a client that tries (or has an old token)."""
UNKNOWN_AT_ONCE = 2
"""So many unknown secrets are looked up at a time, in the order they came: a flood of wrong ones keeps the daemon from
nothing else, and a right one waits for those before it alone.
"""
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


class _WrongSecret(Exception):
    """The daemon knows no access token of this kind with this secret."""


class Authenticator:
    """Borrows `gateway`."""

    def __init__(self, gateway: DaemonGateway) -> None:
        self._gateway = gateway
        self._known: OrderedDict[str, tuple[AccessToken, float]] = OrderedDict()
        """By digest, with the time of asking; a token that was good once is asked about again without a limit."""
        self._throttle = LoginThrottle(_TRIES, _AGAIN_S)
        self._unknown = asyncio.Semaphore(UNKNOWN_AT_ONCE)

    async def admit(self, connection: HTTPConnection) -> AccessToken:
        """Return the access token of `connection`. Raises: Fault 401 without one, 403 where a page may not have sent
        it, 429 after too many wrong ones; AcudError when the daemon can't be asked.
        """
        fault: Exception = make_unauthorized()
        for given in find_credentials(connection.scope):
            if given.kind == "session":
                check_page(connection)
            try:
                return await self._find_token(given)
            except _WrongSecret:
                fault = wrong_try(self._throttle, address_of(connection), make_unauthorized())
        raise fault

    def forget(self, pass_id: str) -> None:
        """Ask anew for the access token with this id."""
        for digest in [digest for digest, (found, _) in self._known.items() if found.pass_id == pass_id]:
            del self._known[digest]

    async def _find_token(self, credential: Credential) -> AccessToken:
        digest = digest_of(credential.secret)
        known, asked_s = self._known.get(digest, (None, 0.0))
        if known is not None and known.kind != credential.kind:
            raise _WrongSecret  # a token is no session, and the other way round, also while it is remembered
        if known is not None and time.monotonic() - asked_s < _KEPT_S and not known.is_expired(time.time()):
            return known
        if known is not None:
            return await self._ask_daemon(credential, digest)
        async with self._unknown:
            return await self._ask_daemon(credential, digest)

    async def _ask_daemon(self, credential: Credential, digest: str) -> AccessToken:
        asked_s = time.monotonic()
        try:
            found = (await self._gateway.ask(WebPass(digest), WebPassReply)).found
        except NotFound:
            found = None
        if found is None or found.kind != credential.kind:
            self._known.pop(digest, None)
            raise _WrongSecret
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
    is_safe = connection.scope["method"] in SAFE
    if not is_safe and not (has_origin and values(connection.scope, b"x-acud") == ["1"]):
        raise wrong(403, "origin", "what changes something needs the header X-Acud: 1 and an Origin")


def wrong_try(throttle: LoginThrottle, address: str, fault: Exception) -> Exception:
    """Note that a secret from `address` was wrong; return the answer: `fault`, or 429 after too many of late.

    Only senders of wrong secrets are throttled. If addresses were refused before their secret is looked at, any program
    on this machine could keep the owner out.
    """
    now_s = time.monotonic()
    wait_s = throttle.wait_s(address, now_s)
    if wait_s:
        return wrong(429, "too_many", "too many wrong tries from this address", f"try again in {wait_s:.0f} s")
    throttle.note_wrong(address, now_s)
    return fault


def address_of(connection: HTTPConnection) -> str:
    return connection.client.host if connection.client is not None else ""


def make_unauthorized() -> Exception:
    """Return the fault of a request without an access token; the same whatever is wrong with its secret."""
    return wrong(
        401, "unauthorized", "no token or session that is good here", "acud web login, or acud web token create"
    )


def access_token_of(request: HTTPConnection) -> AccessToken:
    """Return the access token that let `request` in; only routes with a scope have one."""
    found: AccessToken = request.state.access_token
    return found


def need(request: HTTPConnection, scope: Scope) -> AccessToken:
    """Return the access token if it has `scope`. Raises: Fault 403."""
    found = access_token_of(request)
    if not found.allows(scope):
        raise wrong(
            403, "forbidden", f"this needs the scope {scope.value}, and this access token has {found.scope.value}"
        )
    return found


def need_unlimited(request: HTTPConnection, scope: Scope) -> AccessToken:
    """Return the access token when it has `scope` over everything. Raises: Fault 403 for a limited one."""
    found = need(request, scope)
    if not found.unlimited:
        raise wrong(403, "forbidden", "this access token is limited to some displays or tasks")
    return found


def need_display(request: HTTPConnection, name: str, scope: Scope, task_id: str = "") -> AccessToken:
    """Return the access token when it has `scope` over the display `name`, or over the task `task_id` whose display
    that is.
    Raises: Fault 403, in the same words whether there is such a display or not.
    """
    found = need(request, scope)
    if not found.sees(name, task_id):
        raise wrong(403, "forbidden", "this access token is not good for that display")
    return found


_LOOK_S = 30.0
"""Clocks may be set, and machines sleep: an expiry is looked at this often at least."""
_LISTEN_AGAIN_S = 0.5

End = Literal["revoked", "expired"]
Result = TypeVar("Result")


class Revocations:
    """Hears `web.revoked`. `run` it beside the server."""

    def __init__(self, admission: Authenticator) -> None:
        self._admission = admission
        self._waiting: dict[str, set[asyncio.Future[End]]] = {}

    async def until_ended(self, token: AccessToken) -> End:
        """Return when `token` is no longer good, with the reason. Cancel it when what it guards has ended."""
        told: asyncio.Future[End] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(token.pass_id, set()).add(told)
        try:
            while not token.is_expired(time.time()):
                left_s = token.expires_utc_s - time.time() if token.expires_utc_s else _LOOK_S
                await asyncio.wait({told}, timeout=min(left_s, _LOOK_S))
                if told.done():
                    return told.result()
            return "expired"
        finally:
            waiting = self._waiting[token.pass_id]
            waiting.discard(told)
            if not waiting:
                del self._waiting[token.pass_id]

    async def run(self, client: AsyncClient) -> None:
        """Listen until cancelled; a daemon may come and go meanwhile."""
        async with client.events(topic="web.revoked") as stream:
            while True:
                try:
                    event = await anext(stream)
                except AcudError:
                    await asyncio.sleep(_LISTEN_AGAIN_S)
                    continue
                for pass_id in [event.subject] if isinstance(event, Event) else list(self._waiting):
                    self._end_revoked(
                        pass_id
                    )  # the owner of trimmed events is not known: all log in again or come back

    def _end_revoked(self, pass_id: str) -> None:
        self._admission.forget(pass_id)
        for told in self._waiting.get(pass_id, ()):
            if not told.done():
                told.set_result("revoked")


async def first_of(*works: Coroutine[Any, Any, Result]) -> Result:
    """Return the result of the first of `works` to end; by then the others were cancelled, and have ended."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return next(task for task in tasks if task.done()).result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
