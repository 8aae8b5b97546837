"""Permissions over HTTP: access tokens and their scopes. Of secrets only the digests are kept."""

from __future__ import annotations

import hashlib
import secrets
from enum import StrEnum
from typing import Annotated, Literal

from msgspec import Meta, Struct

Digest = Annotated[str, Meta(pattern="^[0-9a-f]{64}$", description="a SHA-256 in hexadecimal")]
"""SHA-256 of a secret of 256 random bits, in hexadecimal digits: nothing that can be guessed, so no salt."""
DisplayName = Annotated[
    str, Meta(pattern=r"^((unix)?:)?[0-9]{1,5}(\.[0-9]{1,2})?$", description="a display, such as :100")
]
TaskId = Annotated[str, Meta(min_length=1, max_length=64)]
AccessTokenName = Annotated[str, Meta(max_length=100)]


class Scope(StrEnum):
    """What an access token is good for; each includes the one before.

    `read` looks. `wait` arms, changes and ends waits, and keeps tasks without a display of their own: nothing of it
    reaches a program on a display. `act` does. `admin` deletes, launches programs and overrides takeovers.
    """

    READ = "read"
    WAIT = "wait"
    ACT = "act"
    ADMIN = "admin"


_ORDER = tuple(Scope)


class AccessToken(Struct, frozen=True, forbid_unknown_fields=True):
    """What a token or a browser's session may do. `displays` and `tasks`: it is limited to these (both empty: to
    nothing). `expires_utc_s` 0: never. `used_utc_s`: about when it was last used (0: never).
    """

    pass_id: str
    kind: Literal["token", "session"]
    name: str
    scope: Scope
    displays: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    created_utc_s: float = 0.0
    expires_utc_s: float = 0.0
    used_utc_s: float = 0.0

    def allows(self, scope: Scope) -> bool:
        return _ORDER.index(self.scope) >= _ORDER.index(scope)

    @property
    def unlimited(self) -> bool:
        """Whether the token is good for every display and every task."""
        return not self.displays and not self.tasks

    def sees_display(self, name: str) -> bool:
        return self.unlimited or name in self.displays

    def sees_task(self, task_id: str) -> bool:
        return self.unlimited or task_id in self.tasks

    def sees(self, display: str = "", task_id: str = "") -> bool:
        """Return whether the token is good for objects of `display` or of `task_id`; one of the two is enough."""
        return self.unlimited or display in self.displays or task_id in self.tasks

    def is_expired(self, utc_s: float) -> bool:
        return 0 < self.expires_utc_s <= utc_s


def new_secret() -> str:
    """Return a token, a code or a session's secret: 256 random bits in 43 letters, digits, `-` and `_`."""
    return secrets.token_urlsafe(32)


def digest_of(secret: str) -> str:
    """Return the digest that is kept of `secret`. Lone surrogates and the like are as wrong as any other secret."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
