"""The tool that acts: `desktop_action`, called flatly, as models know it from other computer tools."""

from __future__ import annotations

import asyncio
import re
import shlex
import time
from collections.abc import Callable
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from acud.base.errors import InvalidRequest
from acud.base.typed_values import convert
from acud.base.value_errors import value_fault
from acud.protocol.requests.actions import ActionReply, DesktopAction, LaunchStatus, LaunchStatusReply
from acud.protocol.requests.displays import NotificationAnswer, NotificationReply
from acud.types import actions
from acud.types.action_effects import effect_lines
from acud.types.actions import Action, Button, Direction, Place, Point, WindowVerb
from acud.types.conditions.host import parse_pid
from acud_mcp import look_tools
from acud_mcp.look_tools import ChangeArguments, ChangeView, LookArguments, PictureView, WindowView
from acud_mcp.scene_changes import SceneChanges, scene_changes
from acud_mcp.tool import ImageResult, Tool, ToolCall, make_view
from acud_mcp.tool_calls import UNTRUSTED
from acud_mcp.wait_tools import SmartWait, Timeout, WaitView, action_block_s, make_action_wait, view_action_wait

Pair = tuple[int, int]
Name = Literal[
    "left_click",
    "right_click",
    "middle_click",
    "double_click",
    "triple_click",
    "left_click_drag",
    "mouse_move",
    "scroll",
    "type",
    "key",
    "hold",
    "release",
    "screenshot",
    "cursor_position",
    "wait",
    "wait_idle",
    "wait_for_change",
    "window_list",
    "window_focus",
    "window_raise",
    "window_move",
    "window_resize",
    "window_close",
    "window_minimise",
    "window_maximise",
    "window_restore",
    "clipboard_get",
    "clipboard_set",
    "launch",
    "launch_status",
    "notification",
]
XDOTOOL = {
    "click": "left_click",
    "press_key": "key",
    "exec": "launch",
    "getmouselocation": "cursor_position",
    "keydown": "hold",
    "keyup": "release",
    "mousemove": "mouse_move",
    "search": "window_list",
    "windowactivate": "window_focus",
    "windowclose": "window_close",
    "windowfocus": "window_focus",
    "windowmaximize": "window_maximise",
    "windowminimize": "window_minimise",
    "windowmove": "window_move",
    "windowraise": "window_raise",
    "windowsize": "window_resize",
    "window_maximize": "window_maximise",
    "window_minimize": "window_minimise",
}
"""Words of models that know xdotool(1), and American spelling."""
_LOOKS = frozenset({"screenshot", "wait", "wait_for_change", "launch_status", "notification"})
_POINTING = frozenset(
    ("double_click", "left_click", "left_click_drag", "middle_click", "right_click", "scroll", "triple_click")
)
_BLIND = frozenset({"cursor_position", "window_list", "clipboard_get"})
"""Actions called for their answer: no picture follows, unless the caller wants the image."""

_QUALITY = 72
_MAX_WAIT_S = 45.0
_Timeout = Annotated[float, Meta(ge=0, le=_MAX_WAIT_S)]


class ActArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    action: Name
    coordinate: Pair | str | None = None
    element: str = ""
    x: int | None = None
    y: int | None = None
    start: Pair | str | None = None
    text: str = ""
    direction: Literal["up", "down", "left", "right"] = "down"
    amount: int = 3
    window: str = ""
    duration: Annotated[float, Meta(ge=0, le=_MAX_WAIT_S)] = 0
    until: SmartWait | str | None = None
    timeout: Timeout | None = None
    target: str = "screen"
    view: str = ""
    picture: bool | None = None
    image: bool = False
    baseline: str = ""
    display: str = ""
    max_side: look_tools.Side = 1200
    lease: str = ""
    task_id: str = ""


class ActView(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The outcome of an action. `baseline`: hand it to wait_for_change, which then misses nothing that it did. `wait`:
    how the wait of `until` stands. `scene`: what differs from the newest scene that the session was given.
    """

    display: str
    baseline: str
    cursor: Pair | None = None
    text: str = ""
    windows: tuple[WindowView, ...] | None = None
    pid: int = 0
    idle: bool | None = None
    picture: PictureView | None = None
    note: str = ""
    happened: tuple[str, ...] = ()
    scene: str = ""
    wait: WaitView | None = None
    untrusted: str = ""


class LaunchView(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a launched program fares. `state`: running or ended. `last_lines`: what it wrote last."""

    pid: int
    display: str
    state: str
    end: str = ""
    program: str = ""
    untrusted: str = ""
    last_lines: tuple[str, ...] = ()


async def desktop_action(
    call: ToolCall, args: ActArguments
) -> ActView | PictureView | ChangeView | LaunchView | ImageResult:
    """Do one action; then, unless switched off, take a picture of the display at rest."""
    if args.action in _LOOKS and args.until is not None:
        raise InvalidRequest(f"desktop_action: {args.action} takes no until", hint="call smart_wait")
    match args.action:
        case "launch_status":
            return await _launch_status(call, args)
        case "notification":
            return await _answer_notification(call, args)
        case "screenshot":
            return await _take_screenshot(call, args)
        case "wait_for_change":
            return await _wait_for_change(call, args)
        case "wait":
            seconds = _find_duration(args)
            if seconds > call.block_s:
                hint = "call it again, or have smart_wait tell when it is there"
                raise InvalidRequest(f"desktop_action: wait takes at most {call.block_s:g} s here", hint=hint)
            await asyncio.sleep(seconds)
            return await _take_screenshot(call, args)
        case "wait_idle":
            args = msgspec.structs.replace(args, duration=min(_find_duration(args) or 10.0, call.block_s))
    until_s = time.monotonic() + call.block_s
    wait = await make_action_wait(call, args.until, args.timeout)
    request = DesktopAction(
        (parse_action(args),),
        args.target,
        args.display,
        args.view,
        picture=(args.image and args.action != "clipboard_get")
        or (args.picture is not False and args.action not in _BLIND),
        format="jpeg",
        max_side_px=args.max_side,
        quality=_QUALITY,
        lease=args.lease,
        task_id=args.task_id,
        wait=wait,
        block_s=action_block_s(call),
    )
    block_s = request.block_s if request.wait is not None else 0.0
    reply: ActionReply = await call.ask_slowly(request, _find_duration(args) + request.settle_timeout_s + block_s)
    blind = args.action in _BLIND
    left_s, points = (until_s - time.monotonic(), (reply.cursor,) if reply.cursor and args.action in _POINTING else ())
    changed = SceneChanges() if blind else await scene_changes(call, (reply.display,), left_s, points)
    return await _view_outcome(call, args, reply, changed)


def _find_duration(args: ActArguments) -> float:
    """Return how long an action is to take: `timeout`, if there is no `until`. Raises: InvalidRequest."""
    seconds = args.duration or (args.timeout or 0.0 if args.until is None else 0.0)
    if seconds > _MAX_WAIT_S:
        raise InvalidRequest(f"desktop_action: timeout must be between 0 and {_MAX_WAIT_S:g}", hint="or give until")
    return seconds


async def _take_screenshot(call: ToolCall, args: ActArguments) -> PictureView | ImageResult:
    looked = LookArguments(args.target, args.display, image=args.image, max_side=args.max_side, task_id=args.task_id)
    return await look_tools.desktop_look(call, looked)


async def _answer_notification(call: ToolCall, args: ActArguments) -> ActView:
    number, _, key = _require_text(args, '"3" to close number 3 of the scene, "3 open" to choose its action').partition(
        " "
    )
    if not args.display or not number.isdigit():
        hint = 'give display, and text: the number, or the number and an action ("3 open")'
        raise InvalidRequest("desktop_action: which notification?", hint=hint)
    asked = NotificationAnswer(args.display, int(number), key.strip())
    answered: NotificationReply = await call.ask(asked)
    return ActView(
        display=args.display, baseline="", text=answered.notification.title, note="done", untrusted=UNTRUSTED
    )


async def _launch_status(call: ToolCall, args: ActArguments) -> LaunchView:
    found: LaunchStatusReply = await call.ask(
        LaunchStatus(parse_pid(_require_text(args, "the pid that launch returned")))
    )
    return make_view(LaunchView, found, state="running" if found.running else "ended", untrusted=UNTRUSTED)


async def _wait_for_change(call: ToolCall, args: ActArguments) -> ChangeView | ImageResult:
    timeout_s = args.duration or args.timeout or _parse_duration(args.text) or 10.0
    waited = ChangeArguments(
        args.target, args.display, timeout_s, baseline=args.baseline, image=args.image,
        max_side=args.max_side, task_id=args.task_id,
    )  # fmt: skip
    return await look_tools.wait_for_change(call, waited)


def _parse_duration(text: str) -> float:
    """Return the time in `text`, where other computer tools have it. Raises: InvalidRequest."""
    try:
        return convert(text or "0", _Timeout, strict=False)
    except msgspec.ValidationError as fault:
        words = f"desktop_action: wait_for_change: text is no number of seconds: {text[:40]!r}"
        raise InvalidRequest(words, hint="give timeout, in seconds") from fault


_UNSETTLED = "still changing when the picture was taken"


async def _view_outcome(
    call: ToolCall, args: ActArguments, reply: ActionReply, changed: SceneChanges
) -> ActView | ImageResult:
    picture = reply.picture
    if picture is not None and args.image:
        picture = await look_tools.shrink_picture(
            call, look_tools.make_look(f"display:{reply.display}", args.max_side), picture
        )
    listed = args.action == "window_list"
    is_shown = args.image or args.picture or not changed.is_known
    happened = _list_effects(reply, changed)
    view = make_view(
        ActView,
        reply,
        cursor=(reply.cursor.x, reply.cursor.y) if reply.cursor else None,
        windows=tuple(map(look_tools.window_view, reply.windows)) if listed else None,
        picture=look_tools.store_picture(call, picture) if picture is not None and is_shown else None,
        happened=happened,
        scene=changed.words,
        wait=view_action_wait(call, reply.wait),
        note="; ".join(filter(None, (_UNSETTLED if reply.settled is False else "", reply.note))),
        untrusted=UNTRUSTED
        if picture or reply.text or reply.clipboard_picture or reply.windows or reply.wait or happened or changed.words
        else "",
    )
    if reply.clipboard_picture:
        return ImageResult(view, reply.clipboard_picture, "image/png")
    return look_tools.with_image(view, picture if args.image else None)


def _list_effects(reply: ActionReply, changed: SceneChanges) -> tuple[str, ...]:
    """Return what became of windows, and a focus that moved."""
    if reply.effects is None:
        return ()
    return effect_lines(reply.effects, only_moved_focus=True, is_scene_told=changed.is_known)


def parse_action(args: ActArguments) -> Action:
    """Return the action of a call. Raises: InvalidRequest naming the argument that is missing or malformed."""
    made = MAKERS[args.action](args)
    try:
        # Arguments are checked as the daemon will check them: a clear fault here, with the name of the argument.
        return convert(msgspec.to_builtins(made), type(made))
    except msgspec.ValidationError as fault:
        words = value_fault(fault, type(made)).of("the action")
        raise InvalidRequest(f"desktop_action: {args.action}: {words}", hint="mend the argument and call again") from (
            fault
        )


_POINT = re.compile(r"[\[(]?\s*(-?\d{1,6})\s*,\s*(-?\d{1,6})\s*[\])]?")


def _parse_place(place: Pair | str | None) -> Place | None:
    """Return the point, also from "x,y", or the element with that id; the whole action is checked later."""
    if isinstance(place, tuple):
        return Point(*place)
    point = _POINT.fullmatch((place or "").strip())
    return Point(int(point[1]), int(point[2])) if point else place or None


def _parse_point(args: ActArguments) -> Place | None:
    if (args.x is None) is not (args.y is None):
        raise _build_missing(args, "x and y", "[x, y] as coordinate")
    if args.x is not None and args.y is not None:
        return Point(args.x, args.y)
    return _parse_place(args.coordinate) or _parse_place(args.element)


def _parse_target(args: ActArguments) -> Place:
    to = _parse_point(args)
    if to is None:
        raise _build_missing(args, "coordinate", "[x, y]")
    return to


def _parse_pair(args: ActArguments) -> Point:
    """Return two numbers that are no point of a picture, so no element can stand for them."""
    to = _parse_target(args)
    if isinstance(to, str):
        raise _build_missing(args, "coordinate", "[x, y]")
    return to


def _require_text(args: ActArguments, example: str) -> str:
    if not args.text:
        raise _build_missing(args, "text", example)
    return args.text


def _build_missing(args: ActArguments, name: str, example: str) -> InvalidRequest:
    return InvalidRequest(f"desktop_action: {args.action} needs {name}", hint=f"such as {example}")


def _make_click(button: Button, count: int = 1) -> Callable[[ActArguments], Action]:
    return lambda args: actions.Click(_parse_point(args), button, count, args.text)


def _make_drag(args: ActArguments) -> Action:
    return actions.Drag(_parse_target(args), _parse_place(args.start), keys=args.text)


def _make_scroll(args: ActArguments) -> Action:
    return actions.Scroll(Direction(args.direction), args.amount, _parse_point(args), args.text)


def _make_launch(args: ActArguments) -> Action:
    try:
        words = shlex.split(_require_text(args, '"xterm -title Work"'))
    except ValueError as fault:
        raise InvalidRequest(f"desktop_action: launch: {fault}", hint="mend the quotes in text") from fault
    return actions.Launch(tuple(words))


def _make_idle(args: ActArguments) -> Action:
    return actions.WaitIdle(timeout_s=_find_duration(args) or 10.0)


def _make_window_maker(verb: WindowVerb) -> Callable[[ActArguments], Action]:
    def make(args: ActArguments) -> Action:
        name = args.window or args.text
        if not name:
            raise _build_missing(args, "window", "a part of its title, its id, or active")
        if verb is WindowVerb.RESIZE:
            size = _parse_pair(args)
            return actions.WindowDo(name, verb, size=(size.x, size.y))
        return actions.WindowDo(name, verb, _parse_pair(args) if verb is WindowVerb.MOVE else None)

    return make


MAKERS: dict[str, Callable[[ActArguments], Action]] = {
    "left_click": _make_click(Button.LEFT),
    "right_click": _make_click(Button.RIGHT),
    "middle_click": _make_click(Button.MIDDLE),
    "double_click": _make_click(Button.LEFT, 2),
    "triple_click": _make_click(Button.LEFT, 3),
    "left_click_drag": _make_drag,
    "mouse_move": lambda args: actions.Move(_parse_target(args)),
    "scroll": _make_scroll,
    "type": lambda args: actions.TypeText(_require_text(args, '"Hello"')),
    "key": lambda args: actions.Key(_require_text(args, '"ctrl+s"')),
    "hold": lambda args: actions.Hold(_require_text(args, '"shift" or "mouse:left"'), _find_duration(args)),
    "release": lambda args: actions.Release(args.text),
    "cursor_position": lambda args: actions.CursorPosition(),
    "wait_idle": _make_idle,
    "window_list": lambda args: actions.WindowList(args.window or args.text),
    "clipboard_get": lambda args: actions.ClipboardGet(picture=args.image),
    "clipboard_set": lambda args: actions.ClipboardSet(args.text),
    "launch": _make_launch,
    **{f"window_{verb.value}": _make_window_maker(verb) for verb in WindowVerb},
}


TOOLS = (
    Tool(
        "desktop_action",
        "core",
        "Act on the desktop: mouse, keyboard, windows, clipboard, launch. Returns what changed in the scene, else a"
        " screenshot file.",
        request=DesktopAction,
        arguments=ActArguments,
        result=ActView,
        shows=("baseline", "picture", "text", "windows", "note"),
        run=desktop_action,
        aliases={
            "start_coordinate": "start",
            "scroll_direction": "direction",
            "scroll_amount": "amount",
            "window_name": "window",
            "size": "coordinate",
        },
        value_aliases={"action": XDOTOOL},
        hidden=("x", "y", "display", "max_side", "lease", "baseline", "picture", "target", "duration"),
        params={
            "coordinate": "[x, y]; size for window_resize",
            "element": "id from scene, in place of it",
            "until": "then wait, as smart_wait: {text: Saved}",
            "start": "[x, y] of a drag",
            "x": "with y, in place of coordinate",
            "y": "with x, in place of coordinate",
            "duration": "seconds that it takes, or timeout",
            "lease": "of the display, where it is leased",
            "baseline": "for wait_for_change",
            "picture": "whether one is taken after it; by default one is unless scene was called",
            "text": "text to type; keys (ctrl+s); keys held in a click; command; pid",
            "window": "title part, id, or active",
            "view": "of the picture with the points",
            "image": "return the picture too",
        },
    ),
)
