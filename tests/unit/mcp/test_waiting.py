"""What smart_wait says comes next: woken where a route is set, else how the result is got."""

import asyncio
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from acud.base import png
from acud.base.errors import InvalidRequest, NotFound
from acud.protocol.requests.looks import Look, Picture
from acud.protocol.requests.waits import WaitCreate, WaitReply, WaitResult, WaitResultReply
from acud.types import (
    AllOf,
    Answer,
    Criteria,
    Rect,
    RouteName,
    ScreenImage,
    Target,
    Verdict,
    WaitInfo,
    WaitSpec,
    WaitState,
    unknown,
)
from acud_mcp.session_waits import SessionWaits
from acud_mcp.tool_calls import result
from acud_mcp.wait_tools import SmartWait, smart_wait, view_wait


class Asked:
    """A daemon that arms whatever it is asked for, with these wake routes."""

    def __init__(self, *routes: RouteName) -> None:
        self._routes = routes
        self.client = ""

    async def ask(self, request: WaitCreate) -> WaitReply:
        spec = WaitSpec(request.until, Target(), request.timeout_s or 0.0, wake=request.wake, note=request.note)
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
        if isinstance(request, Look):
            self.looks.append(request)
            return Picture(":7", 1, 1, Rect(0, 0, 48, 20), 48, 20, "png", self._picture, "", 0.0)
        self.waits.append(request)
        return await super().ask(request)


OPENCLAW, COMMAND = RouteName.OPENCLAW, RouteName.COMMAND
_UNSURE = "call wait_result, again while it is not over; its end also goes over "


@pytest.mark.parametrize(("routes", "client", "session_key", "told"), [
    ((), "claude-code", "", "no wake will come (no wake route is set): call wait_result"),
    ((COMMAND,), "claude-code", "", f"{_UNSURE}command"),
    ((OPENCLAW,), "claude-code", "", f"{_UNSURE}openclaw"),
    ((OPENCLAW,), "openclaw-bundle-mcp", "", "you are woken once when it ends; or call wait_result"),
    ((COMMAND,), "openclaw-bundle-mcp", "", _UNSURE),
    ((COMMAND,), "claude-code", "agent:main:main", "you are woken once"),
    ((), "claude-code", "agent:main:main", "no wake will come"),
])  # fmt: skip
def test_next_promises_a_wake_only_where_a_route_leads_to_the_caller(
    routes: tuple[RouteName, ...], client: str, session_key: str, told: str
) -> None:
    asked: Any = Asked(*routes)
    asked.client = client
    given = SmartWait(criteria="x", timeout=0, session_key=session_key)
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


def test_a_note_comes_back_with_the_end_as_the_agent_s_own_words() -> None:
    armed = asyncio.run(Asked().ask(WaitCreate(Criteria("x"), note="then deploy"))).wait
    ended = replace(armed, state=WaitState.RESOLVED)
    assert (view_wait(armed).your_note, view_wait(ended).your_note) == ("", "then deploy")
    told = list(result(view_wait(replace(ended, verdict=Verdict(Answer.YES, "seen"))))["structuredContent"])
    assert told.index("your_note") < told.index("untrusted") < told.index("evidence")


class Waiting(Asked):
    """A daemon whose waits `ended` have ended; the others do not."""

    def __init__(self, *ended: str) -> None:
        super().__init__()
        self._ended = ended

    async def ask_slowly(self, request: WaitResult, _seconds: float) -> WaitResultReply:
        """Answer at once for what has ended, else never."""
        if request.wait_id not in self._ended:
            await asyncio.sleep(3600)
        wait = (await self.ask(WaitCreate(Criteria("x")))).wait
        return WaitResultReply(replace(wait, wait_id=request.wait_id), ended=True)


def test_the_first_wait_of_a_session_to_end_needs_no_id() -> None:
    waits = SessionWaits()
    with pytest.raises(NotFound, match="no wait of this session"):
        asyncio.run(waits.find_first_end(Waiting(), 30))  # type: ignore[arg-type]
    armed = WaitCreate(Criteria("x"))
    for wait_id in ("wait-1", "wait-2", "wait-3"):
        reply = asyncio.run(Asked().ask(armed))
        waits.note_reply(armed, replace(reply, wait=replace(reply.wait, wait_id=wait_id)))
    call: Any = Waiting("wait-2")
    assert asyncio.run(waits.find_first_end(call, 30)) == "wait-2"
    fetched = WaitResultReply(replace(reply.wait, wait_id="wait-2"), ended=True)
    waits.note_reply(WaitResult("wait-2", peek=True), fetched)
    assert asyncio.run(waits.find_first_end(call, 30)) == "wait-2"
    waits.note_reply(WaitResult("wait-2"), fetched)
    call = Waiting("wait-1", "wait-2")
    assert asyncio.run(waits.find_first_end(call, 30)) == "wait-1"
