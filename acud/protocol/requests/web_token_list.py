"""`web_token_list`: who is let in over HTTP."""

from __future__ import annotations

from msgspec import Struct

from acud.protocol.requests.spec import RequestSpec
from acud.protocol.web import Pass


class WebTokenList(Struct, frozen=True, tag="web_token_list", forbid_unknown_fields=True):
    """Return every token and every session that is good now."""


class WebTokenListReply(Struct, frozen=True, forbid_unknown_fields=True):
    """The passes, newest first."""

    passes: tuple[Pass, ...]


SPEC = RequestSpec(WebTokenList, WebTokenListReply)
