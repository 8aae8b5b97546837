"""What smart_wait says comes next: woken where a route is set, else how the result is got."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from acud import png
from acud.errors import InvalidRequest
from acud.protocol.requests.looks import Look, Picture
from acud.protocol.requests.waits import WaitCreate, WaitReply
from acud.types import AllOf, Rect, RouteName, ScreenImage, Target, WaitInfo, WaitSpec, WaitState, unknown
from acud_mcp.wait_tools import SmartWait, smart_wait


class Asked:
    """A daemon that arms whatever it is asked for, with these wake routes."""

    def __init__(self, *routes: RouteName) -> None:
        self._routes = routes

    async def ask(self, request: WaitCreate) -> WaitReply:
        """Arm."""
        spec = WaitSpec(request.until, Target(), request.timeout_s or 0.0)
        info = WaitInfo(
            "wait-1", WaitState.WATCHING, spec, ":1", 0.0, 0.0, 0.0, unknown("not_judged", "not judged yet")
        )
        return WaitReply(info, (), self._routes)


class Looked(Asked):
    """A daemon that also shows the same picture, whatever is asked for."""

    def __init__(self, picture: bytes) -> None:
        super().__init__()
        self._picture = picture
        self.looks: list[Look] = []
        self.waits: list[WaitCreate] = []

    async def ask(self, request: Any) -> Any:
        """Look or arm."""
        if isinstance(request, Look):
            self.looks.append(request)
            return Picture(":7", 1, 1, Rect(0, 0, 48, 20), 48, 20, "png", self._picture, "", 0.0)
        self.waits.append(request)
        return await super().ask(request)


@pytest.mark.parametrize(
    ("routes", "told"), [((RouteName.COMMAND,), "you are woken once"), ((), "no wake will come (no wake route is set)")]
)
def test_next_says_how_the_result_comes(routes: tuple[RouteName, ...], told: str) -> None:
    asked: Any = Asked(*routes)
    given = SmartWait(criteria="x", timeout=0)
    view = asyncio.run(smart_wait(asked, given))
    assert view.next.startswith(told)
    assert "wait_result" in view.next


def test_an_image_is_a_file_or_what_is_now_in_a_part_of_an_earlier_look(tmp_path: Path) -> None:
    icon = png.encode(np.zeros((20, 48, 4), np.uint8))
    (tmp_path / "icon.png").write_bytes(icon)
    asked = Looked(icon)
    call: Any = asked
    given = SmartWait(image=str(tmp_path / "icon.png"), image_gone=":7/1280x720/0,0,1280,720@640x360#10,20,24,10")
    asyncio.run(smart_wait(call, given))
    assert asked.looks == [Look("region:20,40,48,20", ":7")]
    (wait,) = asked.waits
    assert wait.until == AllOf((ScreenImage(icon), ScreenImage(icon, gone=True)))
    for words in (
        ":7/1280x720/0,0,1280,720@640x360",
        ":7/1280x720/0,0,1280,720@640x360#0,0,0,5",
        ":7.w9/9x9/0,0,9,9@9x9#0,0,9,9",
    ):
        with pytest.raises(InvalidRequest):
            asyncio.run(smart_wait(call, SmartWait(image=words)))
