"""`web_token_create`: a token for a program."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from acud.protocol.requests.spec import RequestSpec
from acud.protocol.requests.web_login_redeem import WebPassReply
from acud.protocol.web import Digest, DisplayName, PassName, Scope, TaskId


class WebTokenCreate(Struct, frozen=True, tag="web_token_create", forbid_unknown_fields=True):
    """Let the token with this digest in from now on, for `for_s` (0: until it is revoked). The token itself stays with
    its maker.
    """

    digest: Digest
    scope: Scope = Scope.READ
    name: PassName = ""
    displays: Annotated[tuple[DisplayName, ...], Meta(max_length=100)] = ()
    tasks: Annotated[tuple[TaskId, ...], Meta(max_length=100)] = ()
    for_s: Annotated[float, Meta(ge=0, le=315_360_000)] = 0.0


SPEC = RequestSpec(WebTokenCreate, WebPassReply, mutating=True)
