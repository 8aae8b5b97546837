"""`sense_post`: tell of something seen."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from acud.analysis.nouns import SenseMeta
from acud.protocol.requests.feed_post import Posted
from acud.protocol.requests.spec import RequestSpec


class SensePost(Struct, frozen=True, tag="sense_post", forbid_unknown_fields=True):
    """Add a sense event from outside; the newest 30 are kept. `ts`: milliseconds since the epoch. Pictures ride in
    `roi.data` and `diff.data` (base64) as they came; a message is at most 1 MiB, and its objects at most 32 deep.
    """

    kind: Literal["text", "visual", "context"]
    ts: Annotated[int, Meta(ge=0, le=2**53)]
    ocr: Annotated[str, Meta(max_length=100_000)] = ""
    meta: SenseMeta = SenseMeta()
    roi: dict[str, Any] | None = None
    diff: dict[str, Any] | None = None
    observation: dict[str, Any] | None = None


SPEC = RequestSpec(SensePost, Posted, mutating=True)
