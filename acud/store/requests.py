"""Replies of mutating requests, so that a repeat gets the first reply and never acts twice."""

from __future__ import annotations

from acud.base.errors import Conflict, OutcomeUnknown
from acud.store.connection import Table
from acud.store.rows import Row, load

_SQL = load("requests")
KEEP_S = 24 * 3600.0
"""How long a reply is kept; clients stop repeating long before."""


class RequestTable(Table):
    """The table `requests`. Every method may raise StoreUnavailable.

    A request with all its effects in the store calls `answer` in the effects' own turn. One with effects outside calls
    `start`, commits, acts, then `answer`. While it is still at work in this process, the caller has it parked and does
    not call `recall`, which would report an unknown outcome.
    """

    def recall(self, request_id: str, digest: str) -> bytes | None:
        """Return the reply to this request; None when it is new. Raises: Conflict when the id was used with other
        content; OutcomeUnknown when it started and has no reply.
        """
        rows = self._database.read(_SQL["get"], {"request_id": request_id})
        if not rows:
            return None
        if rows[0]["digest"] != digest:
            raise _other_content(request_id)
        reply = rows[0]["reply"]
        if not isinstance(reply, bytes):
            raise OutcomeUnknown(
                f"request {request_id} was started and its end never recorded",
                hint="look at what it was to change, then decide; it is not repeated",
                request_id=request_id,
            )
        return reply

    def start(self, request_id: str, digest: str, utc_s: float) -> None:
        """Record that an effect outside the store is about to begin. Raises: Conflict when the id is known."""
        self._database.write(_SQL["start"], {"request_id": request_id, "digest": digest, "utc_s": utc_s})

    def answer(self, request_id: str, digest: str, reply: bytes, utc_s: float) -> None:
        """Keep the reply. Raises: Conflict when the id has other content, or a reply already."""
        row: Row = {"request_id": request_id, "digest": digest, "utc_s": utc_s, "reply": reply}
        if self._database.write(_SQL["answer"], row) == 0:
            raise _other_content(request_id)

    def withdraw(self, request_id: str) -> None:
        """Forget a start whose effect certainly did not happen; an answered request stays."""
        self._database.write(_SQL["withdraw"], {"request_id": request_id})

    def trim(self, before_utc_s: float, limit: int = -1) -> int:
        """Delete requests older than the given time; return how many."""
        return self._database.write(_SQL["trim"], {"before_utc_s": before_utc_s, "limit": limit})


def _other_content(request_id: str) -> Conflict:
    return Conflict(
        f"request id {request_id} was used before with other content",
        hint="give each request an id of its own",
        request_id=request_id,
    )
