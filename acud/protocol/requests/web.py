"""Logins and access tokens of the gateway."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from acud.protocol.requests.command import Command, FleetRoute
from acud.protocol.web import AccessToken, AccessTokenName, Digest, DisplayName, Scope, TaskId


class WebLogin(Struct, frozen=True, tag="web_login", forbid_unknown_fields=True):
    """Let the code with this digest open one session, within two minutes (`new_secret` and `digest_of` of
    `acud.protocol.web` make both). The code itself stays with its maker.

    `name`: what the session is called. `displays`, `tasks`: what it is limited to.
    """

    digest: Digest
    scope: Scope = Scope.ADMIN
    name: AccessTokenName = ""
    displays: Annotated[tuple[DisplayName, ...], Meta(max_length=100)] = ()
    tasks: Annotated[tuple[TaskId, ...], Meta(max_length=100)] = ()


class WebLoginReply(Struct, frozen=True, forbid_unknown_fields=True):
    """Until when the code is good."""

    expires_utc_s: float


class WebLoginRedeem(Struct, frozen=True, tag="web_login_redeem", forbid_unknown_fields=True):
    """Spend the code with the digest `code`, and let the secret with the digest `session` in from now on."""

    code: Digest
    session: Digest


class WebPassReply(Struct, frozen=True, forbid_unknown_fields=True):
    """The access token, as it stands now."""

    found: AccessToken


class WebTokenCreate(Struct, frozen=True, tag="web_token_create", forbid_unknown_fields=True):
    """Let the token with this digest in from now on, for `for_s` (0: until it is revoked); `new_secret` and `digest_of`
    of `acud.protocol.web` make both. The token itself stays with its maker.
    """

    digest: Digest
    scope: Scope = Scope.READ
    name: AccessTokenName = ""
    displays: Annotated[tuple[DisplayName, ...], Meta(max_length=100)] = ()
    tasks: Annotated[tuple[TaskId, ...], Meta(max_length=100)] = ()
    for_s: Annotated[float, Meta(ge=0, le=315_360_000)] = 0.0


class WebTokenList(Struct, frozen=True, tag="web_token_list", forbid_unknown_fields=True):
    """Return every valid access token and session."""


class WebTokenListReply(Struct, frozen=True, forbid_unknown_fields=True):
    """The access tokens, newest first."""

    passes: tuple[AccessToken, ...]


class WebTokenRevoke(Struct, frozen=True, tag="web_token_revoke", forbid_unknown_fields=True):
    """Revoke one token or session (a unique beginning or ending of `pass_id` is enough), or `every` one of a kind.

    Unused codes go with `every` session. What it had open ends within a second.
    """

    pass_id: Annotated[str, Meta(max_length=64)] = ""
    every: Literal["", "token", "session", "pass"] = ""


class WebPass(Struct, frozen=True, tag="web_pass", forbid_unknown_fields=True):
    """Return the access token of the token or session with this digest."""

    digest: Digest


COMMANDS = (
    Command(WebLogin, WebLoginReply, mutating=True, fleet=FleetRoute.NEVER, positional=2),
    Command(
        WebLoginRedeem,
        WebPassReply,
        mutating=True,
        fleet=FleetRoute.NEVER,
        errors="NotFound for a code that is unknown, spent or too old",
    ),
    Command(WebTokenCreate, WebPassReply, mutating=True, fleet=FleetRoute.NEVER, positional=2),
    Command(WebTokenList, WebTokenListReply, fleet=FleetRoute.NEVER),
    Command(
        WebTokenRevoke,
        WebTokenListReply,
        mutating=True,
        fleet=FleetRoute.NEVER,
        positional=1,
        errors="NotFound",
        destroys=True,
    ),
    Command(WebPass, WebPassReply, fleet=FleetRoute.NEVER, errors="NotFound when it is unknown, revoked or expired"),
)
