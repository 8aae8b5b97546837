"""`web_token_revoke`: let somebody in no longer."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from acud.protocol.requests.spec import RequestSpec
from acud.protocol.requests.web_token_list import WebTokenListReply


class WebTokenRevoke(Struct, frozen=True, tag="web_token_revoke", forbid_unknown_fields=True):
    """Revoke one token or session (a unique beginning of `pass_id` is enough), or `every` one of a kind.

    Codes that nobody has used yet go with `every` session. What it had open ends within a second.
    """

    pass_id: Annotated[str, Meta(max_length=64)] = ""
    every: Literal["", "token", "session", "pass"] = ""


SPEC = RequestSpec(WebTokenRevoke, WebTokenListReply, mutating=True)
