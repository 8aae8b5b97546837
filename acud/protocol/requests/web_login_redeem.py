"""`web_login_redeem`: a session for a one-time code."""

from __future__ import annotations

from msgspec import Struct

from acud.protocol.requests.spec import RequestSpec
from acud.protocol.web import Digest, Pass


class WebLoginRedeem(Struct, frozen=True, tag="web_login_redeem", forbid_unknown_fields=True):
    """Spend the code with the digest `code`, and let the secret with the digest `session` in from now on.

    A code that is unknown, spent or too old is `not_found`.
    """

    code: Digest
    session: Digest


class WebPassReply(Struct, frozen=True, forbid_unknown_fields=True):
    """The pass, as it stands now."""

    found: Pass


SPEC = RequestSpec(WebLoginRedeem, WebPassReply, mutating=True)
