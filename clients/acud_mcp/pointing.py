"""The tools that find and act by description: `gui_find`, `gui_do`."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from acud.desktop.found import Candidate, Found, GroundingBackend
from acud.protocol.requests.gui import DoReply, FindReply, GuiDo, GuiFind
from acud.types import Criteria, Rect, ShortText, Text
from acud_mcp import looks
from acud_mcp.tool import Asking, Shown
from acud_mcp.views import UNTRUSTED

_QUALITY = 72
_SEARCH_S = 5.0
_BACKENDS = Literal["auto", "direct", "uitars", "claude_cu", "omniparser"]


class FindArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `gui_find`."""

    description: ShortText
    target: str = "screen"
    display: str = ""
    backend: _BACKENDS | None = None
    task_id: str = ""


class DoArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `gui_do`."""

    instruction: ShortText
    target: str = "screen"
    display: str = ""
    expect: str = ""
    expect_text: str = ""
    timeout: Annotated[float, Meta(ge=0, le=45)] = 2.0
    image: bool = False
    view: str = ""
    backend: _BACKENDS | None = None
    max_side: Annotated[int, Meta(ge=0, le=16384)] = 1200
    task_id: str = ""


class ThingView(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing that fits; `x`, `y` in display pixels."""

    x: int
    y: int
    confidence: float
    method: str
    box: Rect | None = None
    label: str = ""
    role: str = ""
    window: str = ""


class FindView(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`status`: found, ambiguous (several fit), not_found, unknown (a method could not look)."""

    status: str
    things: tuple[ThingView, ...] = ()
    reason: str = ""
    display: str = ""
    baseline: str = ""
    untrusted: str = ""


class DoView(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`status`: verified (its effect was seen), unverified (done, none seen); ambiguous, not_found, unknown: nothing
    was done."""

    status: str
    message: str
    things: tuple[ThingView, ...] = ()
    evidence: str = ""
    baseline: str = ""
    path: str = ""
    untrusted: str = ""


async def gui_find(call: Asking, given: FindArguments) -> FindView:
    """Find something by its description."""
    request = GuiFind(given.description, given.target, given.display, _backend(given.backend), task_id=given.task_id)
    reply: FindReply = await call.ask_slowly(request, _SEARCH_S)
    return FindView(
        status=reply.found.status,
        things=_things(reply.found),
        reason=reply.found.reason,
        display=reply.display,
        baseline=reply.baseline,
        untrusted=UNTRUSTED,
    )


async def gui_do(call: Asking, given: DoArguments) -> DoView | Shown:
    """Find, act, verify."""
    expect = Text(given.expect_text) if given.expect_text else Criteria(given.expect) if given.expect else None
    request = GuiDo(
        given.instruction,
        given.target,
        given.display,
        given.view,
        _backend(given.backend),
        expect,
        given.timeout,
        given.image,
        given.max_side,
        _QUALITY,
        given.task_id,
    )
    reply: DoReply = await call.ask_slowly(request, _SEARCH_S + given.timeout)
    return _done(call, reply)


def _done(call: Asking, reply: DoReply) -> DoView | Shown:
    nothing_done = reply.status not in ("verified", "unverified")
    told = reply.target_found or reply.found
    path = "" if reply.picture is None else str(looks.save(call.options.paths, reply.picture.image, "jpg"))
    view = DoView(
        status=reply.status,
        message=reply.message,
        things=_things(told) if nothing_done and told is not None else (),
        evidence=reply.verdict.detail if reply.verdict is not None else "",
        baseline=reply.baseline,
        path=path,
        untrusted=UNTRUSTED,
    )
    return view if reply.picture is None else Shown(view, reply.picture.image, "image/jpeg")


def _backend(name: str | None) -> GroundingBackend | None:
    return None if name is None else GroundingBackend(name)


def _things(found: Found) -> tuple[ThingView, ...]:
    return tuple(_thing(one) for one in found.candidates)


def _thing(one: Candidate) -> ThingView:
    return ThingView(
        one.point.x, one.point.y, one.confidence, one.method.value, one.box, one.label, one.role, one.window
    )
