"""`feed_list`: the feed."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from acud.analysis.nouns import FeedItem
from acud.protocol.requests.spec import RequestSpec


class FeedList(Struct, frozen=True, tag="feed_list", forbid_unknown_fields=True):
    """List the kept messages whose id is above `after`, oldest first."""

    after: Annotated[int, Meta(ge=0, le=2**53)] = 0


class FeedListReply(Struct, frozen=True, forbid_unknown_fields=True):
    """The messages."""

    messages: tuple[FeedItem, ...]


SPEC = RequestSpec(FeedList, FeedListReply)
