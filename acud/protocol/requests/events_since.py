"""`events_since`: the stored events after a number."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from acud.protocol.events import Event
from acud.protocol.requests.spec import RequestSpec


class EventsSince(Struct, frozen=True, tag="events_since", forbid_unknown_fields=True):
    """Return stored events with a number above `after`, oldest first, of topics that begin with `topic`."""

    after: Annotated[int, Meta(ge=0)] = 0
    topic: str = ""
    limit: Annotated[int, Meta(ge=1, le=1000)] = 200


class EventsSinceReply(Struct, frozen=True, forbid_unknown_fields=True):
    """`newest`: the newest number there is. `trimmed`: the oldest still kept, when some asked for are gone (else 0)."""

    events: tuple[Event, ...]
    newest: int
    trimmed: int = 0


SPEC = RequestSpec(EventsSince, EventsSinceReply)
