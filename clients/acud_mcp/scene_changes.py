"""What an action changed in the scene that its agent knows: it need not ask again after each step."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, NamedTuple

from acud.base.errors import AcudError
from acud.protocol.requests.scenes import SceneGet, SceneReply
from acud.types.actions import Point
from acud.types.scene import SceneMode
from acud_mcp.next_steps import error_words

if TYPE_CHECKING:
    from acud_mcp.tool import ToolCall

_MAX_TOKENS = 300
_GRACE_S = 0.6
"""A host gives a call up some time after the longest that acud blocks for it."""
_LEAST_S = 0.4
_MOST_S = 5.0


class SceneChanges(NamedTuple):
    """A scene's part in the result of an action. `is_known`: `words` are the differences; else they are the reason why
    those are not known ("": the session uses no scenes).
    """

    words: str = ""
    is_known: bool = False


class KnownScenes:
    """The newest scenes that one session was given, by the display that they are of ("": all)."""

    def __init__(self) -> None:
        self._newest: dict[str, int] = {}

    def note_scene(self, display: str, scene_id: int) -> None:
        """Note that the session was given the whole scene of `display`, or its differences."""
        self._newest[display] = max(scene_id, self._newest.get(display, 0))

    def find_newest(self, display: str) -> int:
        """Return the id of the newest known scene with `display` in it, 0 without one."""
        return max(self._newest.get(display, 0), self._newest.get("", 0))


async def scene_changes(
    call: ToolCall, displays: tuple[str, ...], left_s: float, points: tuple[Point, ...] = ()
) -> SceneChanges:
    """Return what an action at `points` changed on `displays` since the scene that the session was given last.

    `left_s`: how long the call may still block. The action is done already: a look that fails does not fail it.
    """
    since = min(map(call.scenes.find_newest, displays))
    if not since:
        return SceneChanges()
    request = SceneGet(SceneMode.ACTIVE, displays, "prompt", _MAX_TOKENS, since, acted=points, within_s=0.0)
    try:
        async with asyncio.timeout(min(max(left_s + _GRACE_S, _LEAST_S), _MOST_S)):
            reply: SceneReply = await call.ask(request)
    except TimeoutError:
        return SceneChanges(f"not looked at in time: call scene {json.dumps({'since': since})}")
    except AcudError as fault:
        return SceneChanges(f"not looked at: {error_words(fault)}")
    for display in displays:
        call.scenes.note_scene(display, reply.scene_id)
    return SceneChanges(reply.text, is_known=True)
