"""`Idempotency-Key`: the id of a request that its client may repeat without doing anything twice."""

from __future__ import annotations

import hashlib
import re
from typing import TypeVar

from msgspec import Struct
from starlette.requests import HTTPConnection

from acud.base.errors import Conflict, InvalidRequest
from acud.protocol.requests import find_command
from acud.protocol.web import AccessToken
from acud_http.errors import wrong
from acud_http.request_filter import values
from acud_web.daemon_gateway import DaemonGateway

HEADER = "Idempotency-Key"
PATTERN = r"^[!-~]{1,200}$"
_VALID = re.compile(PATTERN)
_DIGITS = 40

Reply = TypeVar("Reply", bound=Struct)


class IdempotencyKey:
    """The key of one HTTP request, or none. It is its access token's own: another's key is another key.

    The daemon keeps the answer of each request that changes something for a day. A repeat gets that answer, and one
    with another content is refused.
    """

    def __init__(self, connection: HTTPConnection, access_token: AccessToken) -> None:
        """Raises: InvalidRequest for a header that is no key, or that is there twice."""
        given = values(connection.scope, HEADER.lower().encode("ascii"))
        if len(given) > 1 or any(_VALID.fullmatch(one) is None for one in given):
            hint = "send one, of 1 to 200 printable ASCII characters without spaces, such as a UUID"
            raise InvalidRequest(f"{HEADER}: not a key", field=HEADER, hint=hint)
        self._seed = f"{access_token.pass_id}\n{given[0]}" if given else ""
        self._made = 0

    async def ask(self, gateway: DaemonGateway, request: Struct, kind: type[Reply]) -> Reply:
        """Return the daemon's reply; a request that changes something goes by the key.

        Raises: AcudError of the daemon; HttpFault 422 when the key was used for another request.
        """
        if not self._seed or not find_command(type(request)).mutating:
            return await gateway.ask(request, kind)
        # The id of the next change that is made for this HTTP request.
        digest = hashlib.sha256(f"{self._seed}\n{self._made}".encode("ascii")).hexdigest()
        self._made += 1
        request_id = f"idem_{digest[:_DIGITS]}"
        try:
            return await gateway.ask(request, kind, request_id)
        except Conflict as fault:
            if fault.facts.get("request_id") != request_id:
                raise
            words = f"this {HEADER} was used for another request"
            raise wrong(422, "key_reused", words, "a new request needs a new key") from fault
