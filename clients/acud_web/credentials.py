"""The secret that a request carries: a token in its head, or a session's in a cookie. Never in an address."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct
from starlette.types import Scope

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
