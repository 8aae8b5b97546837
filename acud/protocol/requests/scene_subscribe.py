"""`scene_subscribe`: have displays looked at for a while."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from acud.protocol.requests.spec import RequestSpec


class SceneSubscribe(Struct, frozen=True, tag="scene_subscribe", forbid_unknown_fields=True):
    """Look at `displays` (empty: all) as they change, for `for_s` from now on; asked again it goes on. Each scene that
    differs is told as an event `scene.updated` with its id and what made it; `scene` with mode null fetches it.

    `for_s` 0 ends the subscription `subscription`.
    """

    displays: Annotated[tuple[str, ...], Meta(max_length=256)] = ()
    for_s: Annotated[float, Meta(ge=0, le=3600)] = 60.0
    subscription: Annotated[str, Meta(max_length=64)] = ""


class SceneSubscribed(Struct, frozen=True, forbid_unknown_fields=True):
    """The subscription's id, and the id of the scene as it is now."""

    subscription: str
    scene_id: int


SPEC = RequestSpec(SceneSubscribe, SceneSubscribed)
