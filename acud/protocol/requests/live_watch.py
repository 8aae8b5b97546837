"""`live_watch`: have a display grabbed as it changes, for whoever shows it to a person."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from acud.protocol.requests.spec import RequestSpec
from acud.types import HiddenBox


class LiveWatch(Struct, frozen=True, tag="live_watch", forbid_unknown_fields=True):
    """Grab `display` as it changes, up to `fps` times a second, for `for_s` from now on; asked again with the `watch`
    of the reply it goes on, with `for_s` 0 it ends. Several watches of one display share the fastest.

    While one lasts, each comparison is told as an event `live.frame` {epoch, frame, checked_mono_ns, hidden, fault} (at
    least each second), and the lack of pixels as `live.lost` {code, reason}; neither is stored.
    """

    display: Annotated[str, Meta(min_length=1, max_length=64)]
    fps: Annotated[float, Meta(ge=0.1, le=60)] = 10.0
    for_s: Annotated[float, Meta(ge=0, le=60)] = 10.0
    watch: Annotated[str, Meta(max_length=64)] = ""


class LiveWatched(Struct, frozen=True, forbid_unknown_fields=True):
    """The watch's id, the task whose display it is ("": none's), and where the frames are: the ring `path` on the
    daemon's host, its `epoch` and newest `frame`.

    `checked_mono_ns`: CLOCK_MONOTONIC when a grab last equalled that frame, or was it. `hidden`: what the rules of
    `[redaction]` for places hide of that frame; `fault`: why that is not known ("" when it is). Without pixels `path`
    is "", and `code` and `reason` say why: `ended` when there will be none again.
    """

    watch: str
    display: str
    task_id: str = ""
    path: str = ""
    epoch: int = 0
    width: int = 0
    height: int = 0
    frame: int = 0
    checked_mono_ns: int = 0
    hidden: tuple[HiddenBox, ...] = ()
    fault: str = ""
    code: str = ""
    reason: str = ""


SPEC = RequestSpec(LiveWatch, LiveWatched)
