"""`web_login`: a one-time code for a browser."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from acud.protocol.requests.spec import RequestSpec
from acud.protocol.web import Digest, DisplayName, PassName, Scope, TaskId


class WebLogin(Struct, frozen=True, tag="web_login", forbid_unknown_fields=True):
    """Let the code with this digest open one session, within two minutes. The code itself stays with its maker.

    `name`: what the session is called. `displays`, `tasks`: what it is limited to.
    """

    digest: Digest
    scope: Scope = Scope.ADMIN
    name: PassName = ""
    displays: Annotated[tuple[DisplayName, ...], Meta(max_length=100)] = ()
    tasks: Annotated[tuple[TaskId, ...], Meta(max_length=100)] = ()


class WebLoginReply(Struct, frozen=True, forbid_unknown_fields=True):
    """Until when the code is good."""

    expires_utc_s: float


SPEC = RequestSpec(WebLogin, WebLoginReply, mutating=True)
