"""The tool that tells what is on screen in words: `scene`."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from acud.protocol.requests.scenes import SceneGet, SceneReply
from acud.scene.nouns import SceneMode
from acud_mcp.tool import Asking
from acud_mcp.views import UNTRUSTED

_READ_S = 5.0


class SceneArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `scene`."""

    display: str = ""
    mode: Literal["agent-turn", "active", "idle", "none"] = "agent-turn"
    since: Annotated[int, Meta(ge=0)] = 0
    max_tokens: Annotated[int, Meta(ge=100, le=100_000)] = 2000
    task_id: str = ""


class SceneView(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`scene`: a line for each display, window, text and widget, with its id and box. `changes`: JSON, by id."""

    scene: str = ""
    changes: str = ""
    note: str = ""
    untrusted: str = ""


async def scene(call: Asking, given: SceneArguments) -> SceneView:
    """Look, and tell what is there; with `since` only what differs, where that scene is still kept."""
    request = SceneGet(
        None if given.mode == "none" else SceneMode(given.mode),
        (given.display,) if given.display else (),
        "prompt",
        given.max_tokens,
        given.since,
        task_id=given.task_id,
    )
    reply: SceneReply = await call.ask_slowly(request, _READ_S)
    if reply.diff is not None:
        return SceneView(changes=msgspec.json.encode(reply.diff).decode(), untrusted=UNTRUSTED)
    note = f"scene {given.since} is no longer kept: this is the whole one" if given.since else ""
    return SceneView(scene=reply.text, note=note, untrusted=UNTRUSTED)
