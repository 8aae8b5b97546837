"""`web_pass`: whose secret it is."""

from __future__ import annotations

from msgspec import Struct

from acud.protocol.requests.spec import RequestSpec
from acud.protocol.requests.web_login_redeem import WebPassReply
from acud.protocol.web import Digest


class WebPass(Struct, frozen=True, tag="web_pass", forbid_unknown_fields=True):
    """Return the pass of the token or session with this digest; `not_found` when it is unknown, revoked or expired."""

    digest: Digest


SPEC = RequestSpec(WebPass, WebPassReply)
