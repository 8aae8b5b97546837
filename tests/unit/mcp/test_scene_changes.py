"""What an action changed in the scene: told once a scene was, and never in place of the action's own outcome."""

import asyncio
from typing import Any

import pytest

from acud.base.errors import AcudError, DisplayDown
from acud.protocol.requests.scenes import SceneReply
from acud_mcp.scene_changes import KnownScenes, SceneChanges, scene_changes

pytestmark = pytest.mark.asyncio


class Call:
    """A call whose daemon answers with `outcome`; None: never."""

    def __init__(self, outcome: SceneReply | AcudError | None) -> None:
        self.scenes = KnownScenes()
        self.asked: list[Any] = []
        self._outcome = outcome

    async def ask(self, request: Any) -> SceneReply:
        self.asked.append(request)
        if self._outcome is None:
            await asyncio.Event().wait()
        if isinstance(self._outcome, AcudError):
            raise self._outcome
        assert self._outcome is not None
        return self._outcome


async def changes(call: Call, *displays: str, left_s: float = 5.0) -> SceneChanges:
    return await scene_changes(call, displays, left_s)  # type: ignore[arg-type]


async def test_a_session_that_was_told_no_scene_is_told_no_changes() -> None:
    call = Call(SceneReply(text="scene 4", scene_id=4))
    call.scenes.note_scene(":1", 3)
    assert await changes(call, ":2") == SceneChanges()
    assert call.asked == []


async def test_changes_are_since_the_scene_that_was_told_last() -> None:
    call = Call(SceneReply(text="scene 4, what differs from scene 3", scene_id=4))
    call.scenes.note_scene("", 3)
    assert await changes(call, ":1", ":2") == SceneChanges("scene 4, what differs from scene 3", is_known=True)
    await changes(call, ":1")
    assert [one.since for one in call.asked] == [3, 4]


async def test_a_look_that_fails_or_is_late_is_no_failure_of_the_action() -> None:
    failed = Call(DisplayDown("display :1 went away", hint="acud display list"))
    failed.scenes.note_scene("", 3)
    assert await changes(failed, ":1") == SceneChanges("not looked at: display :1 went away; display_list")
    late = Call(None)
    late.scenes.note_scene("", 3)
    assert await changes(late, ":1", left_s=-9.0) == SceneChanges('not looked at in time: call scene {"since": 3}')
