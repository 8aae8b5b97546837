"""The frames around a request and its reply on the control socket."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

from acud.protocol import VERSION

RequestId = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=64,
        pattern=r"^[A-Za-z0-9._:-]+$",
        description="an id of letters, digits, '.', '_', ':', '-'",
    ),
]


class RequestEnvelope(Struct, frozen=True, forbid_unknown_fields=True):
    """`v`: protocol version. `id`: chosen by the client, the same when a call is repeated. `body`: a tagged request."""

    v: int
    id: RequestId
    body: dict[str, Any]


class ErrorBody(Struct, frozen=True, forbid_unknown_fields=True):
    """A typed error: see `acud.base.errors`."""

    code: str
    message: str
    hint: str = ""
    facts: dict[str, Any] = {}


class ReplyEnvelope(Struct, frozen=True, forbid_unknown_fields=True):
    """Exactly one of `body` and `error`. `n`: the newest event number.

    `body` is the request's reply struct when sent, and the plain map it became when received.
    """

    id: str
    n: int
    body: Any = None
    error: ErrorBody | None = None
    v: int = VERSION
