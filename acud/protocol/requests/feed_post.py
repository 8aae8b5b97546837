"""`feed_post`: put a message into the feed."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from acud.protocol.requests.spec import RequestSpec


class FeedPost(Struct, frozen=True, tag="feed_post", forbid_unknown_fields=True):
    """Add a message (a transcript, a note for whoever watches) to the feed; the newest 100 are kept."""

    text: Annotated[str, Meta(min_length=1, max_length=100_000)]
    priority: Annotated[str, Meta(max_length=40)] = "normal"
    source: Annotated[str, Meta(max_length=60)] = ""


class Posted(Struct, frozen=True, forbid_unknown_fields=True):
    """The number it got; numbers grow over restarts."""

    id: int


SPEC = RequestSpec(FeedPost, Posted, mutating=True)
