"""`wake_retry`: send wakes again."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from acud.protocol.requests.spec import RequestSpec
from acud.types import WakeInfo

WakeId = Annotated[str, Meta(min_length=1, max_length=64)]


class WakeRetry(Struct, frozen=True, tag="wake_retry", forbid_unknown_fields=True):
    """Try the wakes `wake_ids` (unique beginnings are enough) again now, or every undelivered one with `undelivered`.

    Routes are those set up now. One that was sent goes out as a marked reminder; one that was seen is a conflict.
    """

    wake_ids: Annotated[tuple[WakeId, ...], Meta(max_length=1000)] = ()
    undelivered: bool = False


class WakeRetryReply(Struct, frozen=True, forbid_unknown_fields=True):
    """The wakes that are being tried, as they stand now."""

    wakes: tuple[WakeInfo, ...]


SPEC = RequestSpec(WakeRetry, WakeRetryReply, mutating=True)
