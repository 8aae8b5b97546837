"""The tools that see: `desktop_look`, `wait_for_change`, `display_list`, `scene`; and the files of their pictures."""

from __future__ import annotations

import contextlib
import json
import os
import time
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from acud.base.errors import Refused
from acud.base.ids import new_id
from acud.base.paths import Paths, make_private
from acud.protocol.requests.displays import DisplayCreate, DisplayList, DisplayListReply, DisplayReply
from acud.protocol.requests.looks import Baseline, BaselineReply, Look, Picture
from acud.protocol.requests.scenes import SceneGet, SceneReply
from acud.protocol.requests.waits import ChangeReply, WaitCreate, WaitForChange, WaitReply
from acud.types import Change, DisplayInfo, MonitorInfo, Rect, Seconds, Share, WindowInfo
from acud.types.scene import LeftOut, SceneMode
from acud_mcp.tool import ImageResult, TextResult, Tool, ToolCall, View, make_view
from acud_mcp.tool_calls import UNTRUSTED

Side = Annotated[int, Meta(ge=0, le=16384)]

MAX_PICTURES = 200
MAX_PICTURE_AGE_S = 24 * 3600.0
MAX_IMAGE_BYTES = 750_000
"""The largest picture in an image block; base64 makes a third more of it, and hosts refuse messages of a few MB."""

_SHRINK_SIDES_PX = (1200, 800, 480)
_QUALITY = 72


class LookArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    target: str = "screen"
    display: str = ""
    image: bool = False
    max_side: Side = 1200
    format: Literal["jpeg", "png"] = "jpeg"
    window: str = ""
    task_id: str = ""


class PictureView(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A picture in the file `path`. Its point (px, py) is the display's (x + px * scale, y + py * scale); with `view`
    desktop_action takes the picture's own points."""

    path: str
    width: int
    height: int
    x: int
    y: int
    scale: float
    display: str
    baseline: str
    view: str
    untrusted: str = ""


async def desktop_look(call: ToolCall, args: LookArguments) -> PictureView | ImageResult:
    """Take a picture now, into a file, and with `image` into the answer too."""
    target = f"window:{args.window}" if args.window else args.target
    request = Look(target, args.display, args.format, args.max_side, _QUALITY, task_id=args.task_id)
    picture: Picture = await call.ask(request)
    if args.image:
        picture = await shrink_picture(call, request, picture)
    view = store_picture(call, picture)
    return with_image(view, picture if args.image else None)


def make_look(target: str, max_side: int, display: str = "") -> Look:
    """Return the request for a picture such as tools show."""
    return Look(target, display, "jpeg", max_side, _QUALITY)


async def shrink_picture(call: ToolCall, request: Look, picture: Picture) -> Picture:
    """Return `picture`, or a smaller one of the same `request`, so that it fits an image block. Raises: Refused."""
    for side in _SHRINK_SIDES_PX:
        if len(picture.image) <= MAX_IMAGE_BYTES:
            return picture
        smaller = msgspec.structs.replace(request, format="jpeg", max_side_px=side)
        picture = await call.ask(smaller)
    if len(picture.image) > MAX_IMAGE_BYTES:
        raise Refused("the picture is too large for an image block", hint="call without image and read the file")
    return picture


def store_picture(call: ToolCall, picture: Picture) -> PictureView:
    path = save_picture(call.options.paths, picture.image, "jpg" if picture.format == "jpeg" else picture.format)
    crop, scale = picture.crop, round(picture.crop.w / picture.width, 4)
    return make_view(PictureView, picture, path=str(path), x=crop.x, y=crop.y, scale=scale, untrusted=UNTRUSTED)


def with_image(view: View, picture: Picture | None) -> View | ImageResult:
    """Return `view` with the picture as an image block beside it, if there is one."""
    return view if picture is None else ImageResult(view, picture.image, f"image/{picture.format}")


class ChangeArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    target: str = "screen"
    display: str = ""
    timeout: Annotated[float, Meta(ge=0, le=604_800)] = 10
    settle: Seconds = 0
    share: Share = 0
    baseline: str = ""
    image: bool = False
    max_side: Side = 1200
    task_id: str = ""


class ChangeView(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`changed`: whether it did. `share` and `box`: how much of the target, and where in it. With a `wait_id` the time
    was longer than one call may block, and a wait goes on in the daemon."""

    changed: bool
    message: str
    share: float = 0.0
    box: Rect | None = None
    picture: PictureView | None = None
    wait_id: str = ""
    next: str = ""
    untrusted: str = ""


async def wait_for_change(call: ToolCall, args: ChangeArguments) -> ChangeView | ImageResult:
    """Block until something changed; a wait goes on in the daemon when the call must end before."""
    block_s = min(args.timeout, call.block_s)
    rest_s = args.timeout - block_s
    token = args.baseline or (await _take_token(call, args) if rest_s else "")
    request = WaitForChange(
        args.target,
        args.display,
        timeout_s=block_s,
        settle_s=args.settle,
        share=args.share,
        baseline=token,
        format="jpeg",
        max_side_px=args.max_side,
        quality=_QUALITY,
        task_id=args.task_id,
    )
    reply: ChangeReply = await call.ask_slowly(request, block_s)
    if rest_s and not reply.changed:
        return await _leave_watching(call, args, token, rest_s)
    return await _with_picture(call, args, reply)


async def _take_token(call: ToolCall, args: ChangeArguments) -> str:
    reply: BaselineReply = await call.ask(Baseline(args.target, args.display, task_id=args.task_id))
    return reply.baseline


async def _leave_watching(call: ToolCall, args: ChangeArguments, token: str, rest_s: float) -> ChangeView:
    until = Change(args.share, args.settle, token)
    request = WaitCreate(until, args.target, args.display, timeout_s=rest_s, task_id=args.task_id)
    reply: WaitReply = await call.ask(request)
    message = f"no change in {args.timeout - rest_s:g} s; a wait goes on for {rest_s:g} s"
    return ChangeView(changed=False, message=message, wait_id=reply.wait.wait_id, next="call wait_result")


async def _with_picture(call: ToolCall, args: ChangeArguments, reply: ChangeReply) -> ChangeView | ImageResult:
    picture = reply.picture
    if args.image:
        picture = await shrink_picture(call, make_look(args.target, args.max_side, args.display), picture)
    stored = store_picture(call, picture)
    view = make_view(ChangeView, reply, share=round(reply.share, 4), picture=stored, untrusted=UNTRUSTED)
    return with_image(view, picture if args.image else None)


class DisplaysAsked(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `display_list`."""


class WindowView(msgspec.Struct, frozen=True, omit_defaults=True):
    """A window: id (for `window:ID`), title, box on its display, and whether it is full, covered or unmapped.

    `kind`: only of dialogs and popups.
    """

    id: int
    title: str
    box: Rect
    visibility: str
    kind: str = "normal"


class DisplayView(msgspec.Struct, frozen=True, omit_defaults=True):
    """A display and its windows, topmost first."""

    name: str
    state: str
    width: int
    height: int
    windows: tuple[WindowView, ...] = ()
    managed: bool = False
    reason: str = ""
    monitors: tuple[MonitorInfo, ...] = ()
    taken_by: str = ""


class DisplaysView(msgspec.Struct, frozen=True):
    """`default` is what the target `screen` means."""

    default: str
    displays: tuple[DisplayView, ...]
    untrusted: str = UNTRUSTED


async def display_list(call: ToolCall, args: DisplaysAsked) -> DisplaysView:
    reply: DisplayListReply = await call.ask(DisplayList())
    return DisplaysView(reply.default, tuple(_display_view(display) for display in reply.displays))


class NewDisplay(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `display_create`: pixels, 0 as in the settings."""

    width: Annotated[int, Meta(ge=0, le=16384)] = 0
    height: Annotated[int, Meta(ge=0, le=16384)] = 0


async def display_create(call: ToolCall, args: NewDisplay) -> DisplayView:
    reply: DisplayReply = await call.ask(DisplayCreate(args.width, args.height))
    return _display_view(reply.display)


def _display_view(display: DisplayInfo) -> DisplayView:
    windows, monitors = tuple(map(window_view, display.windows)), display.monitors if len(display.monitors) > 1 else ()
    return make_view(DisplayView, display, state=display.state.value, windows=windows, monitors=monitors)


def window_view(window: WindowInfo) -> WindowView:
    return WindowView(window.window_id, window.title, window.bounds, window.visibility, window.kind)


_READ_S = 5.0


class SceneArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    target: str = ""
    display: str = ""
    mode: Literal["agent-turn", "active", "idle", "none"] = "agent-turn"
    since: Annotated[int, Meta(ge=0)] = 0
    max_tokens: Annotated[int, Meta(ge=100, le=100_000)] = 6000
    task_id: str = ""


async def scene(call: ToolCall, args: SceneArguments) -> TextResult:
    """Return the scene; with `since` the differences, if that scene is still kept and they are shorter."""
    named = args.target.removeprefix("display:") if args.target.startswith("display:") else ""
    display, target = args.display or named, "" if named else args.target
    request = SceneGet(
        None if args.mode == "none" else SceneMode(args.mode),
        (display,) if display else (),
        "prompt",
        args.max_tokens,
        args.since,
        task_id=args.task_id,
        target=target,
    )
    reply: SceneReply = await call.ask_slowly(request, _READ_S)
    call.scenes.note_scene(display, reply.scene_id)
    head, _, rest = reply.text.partition("\n")
    parts = [head, *(_describe_left_out(one, target) for one in reply.left_out), rest]
    return TextResult("\n".join(part for part in parts if part))


def _describe_left_out(one: LeftOut, target: str) -> str:
    again = {"display": one.display, **({"target": target} if target else {}), "max_tokens": one.tokens}
    return f"left out of {one.display}: {one.widgets} widgets, {one.texts} texts; all of it: scene {json.dumps(again)}"


def save_picture(paths: Paths, image: bytes, suffix: str) -> Path:
    """Write `image` to a new file, whole or not at all, and return its path; older pictures are swept."""
    folder = paths.home / "looks"
    make_private(folder)
    sweep_pictures(folder, time.time())
    path = folder / f"{new_id('look')}.{suffix}"
    partial = path.with_suffix(".part")
    opened = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(opened, "wb") as file:
        file.write(image)
    partial.replace(path)
    return path


def sweep_pictures(folder: Path, now_utc_s: float) -> None:
    """Remove what is older than `MAX_PICTURE_AGE_S`, and all but the newest `MAX_PICTURES` - 1 pictures."""
    dated = []
    for path in folder.glob("look*"):
        with contextlib.suppress(FileNotFoundError):
            dated.append((path.stat().st_mtime, path))
    newest = sorted(dated, reverse=True)
    for number, (mtime, path) in enumerate(newest):
        if number >= MAX_PICTURES - 1 or now_utc_s - mtime > MAX_PICTURE_AGE_S:
            path.unlink(missing_ok=True)


TOOLS = (
    Tool(
        "wait_for_change",
        "core",
        "Block until the screen, window or region changes; returns a screenshot file, or a wait_id for wait_result.",
        request=WaitForChange,
        arguments=ChangeArguments,
        result=ChangeView,
        shows=("changed", "message", "picture", "wait_id", "next"),
        run=wait_for_change,
        aliases={"timeout_s": "timeout", "text": "timeout", "settle_s": "settle"},
        hidden=("display", "share", "max_side", "task_id"),
        params={
            "share": "at least this part of it, 0 to 1",
            "settle": "then seconds without change",
            "baseline": "token of before",
            "image": "return the picture too",
        },
    ),
    Tool(
        "desktop_look",
        "core",
        "Take a screenshot of the screen, a window or a region: returns a file path; image=true returns it too.",
        request=Look,
        arguments=LookArguments,
        result=PictureView,
        shows=("path", "view", "baseline"),
        run=desktop_look,
        aliases={"window_name": "window", "max_side_px": "max_side"},
        hidden=("display", "window", "format"),
        params={"max_side": "pixels; 0: full size", "window": "title, in place of target", "format": "jpeg or png"},
    ),
    Tool(
        "scene",
        "core",
        "Describe the screen as text: windows, widgets with ids (places for gui_do), values, texts. Actions then"
        " return what changed in it.",
        request=SceneGet,
        arguments=SceneArguments,
        result=TextResult,
        run=scene,
        hidden=("display", "task_id", "mode", "max_tokens"),
        params={
            "target": "element id, window:TITLE or app",
            "mode": "how closely to look; active: fast, none: what is known",
            "since": "earlier scene id: what changed",
        },
        always_load=True,
    ),
)

DISPLAY_CREATE = Tool(
    "display_create",
    "core",
    "Start an empty display of its own; launch programs on it. Tasks get one by themselves.",
    request=DisplayCreate,
    arguments=NewDisplay,
    result=DisplayView,
    run=display_create,
    hidden=("width", "height"),
    params={"width": "in pixels; 0: as in the settings", "height": "in pixels; 0: as in the settings"},
)
DISPLAY_LIST = Tool(
    "display_list",
    "core",
    "List displays and their windows.",
    request=DisplayList,
    arguments=DisplaysAsked,
    result=DisplaysView,
    run=display_list,
)
