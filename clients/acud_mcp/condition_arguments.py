"""What to wait for, as tools take it: an argument for each kind of condition, made from the kinds' declarations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import Meta
from msgspec.structs import asdict

from acud.base.errors import InvalidRequest
from acud.protocol.requests.looks import Look, Picture
from acud.types import OnHostLost, Policy, Priority, Seconds, Until, picture_views
from acud.types.conditions.arguments import ARGUMENTS, join_parts, list_refinements, read_parts
from acud_client.image_files import part_of, png_of
from acud_mcp.tool import ToolCall

NO_IMAGES: Mapping[str, bytes] = {}


_ARGUMENTS = tuple(one for one in ARGUMENTS if one.words)


def _declare_arguments() -> Iterator[tuple[str, Any, Any]]:
    """Yield name, type and default of what the kinds of conditions take."""
    kinds: dict[type, tuple[Any, Any]] = {bool: (bool, False), float: (Seconds, 0.0)}
    yield from ((one.name, *kinds.get(one.gives, (str, ""))) for one in _ARGUMENTS)
    yield from (("any", bool, False), ("appears_then_goes", str, ""), ("then", tuple[str, ...], ()))
    yield from ((one.field, field.type, field.default) for one, field in list_refinements() if one.words)


if TYPE_CHECKING:
    ConditionArguments = msgspec.Struct
else:
    ConditionArguments = msgspec.defstruct("ConditionArguments", _declare_arguments(), frozen=True, kw_only=True)


class Condition(ConditionArguments, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to wait for; every part given must hold on one picture, or one of them with `any`."""

    fresh: bool = False
    hold_s: Annotated[float, Meta(ge=0, le=3600)] | None = None
    poll_interval: Annotated[float, Meta(ge=0.05, le=3600)] | None = None
    priority: Priority | None = None
    on_host_lost: OnHostLost | None = None


def make_condition(condition: Condition, images: Mapping[str, bytes] = NO_IMAGES) -> Until | None:
    """Return the condition, or None when no part was given. `images`: see `read_images`. Raises: InvalidRequest."""
    asked = asdict(condition)
    asked["stable"] = asked["stable"] or None
    asked["change"] = asked["change"] or bool(asked["baseline"])
    return join_parts(read_parts(asked, {bytes: images.__getitem__, Path: str.strip}), asked)


async def _read_png(call: ToolCall, words: str) -> bytes:
    """Return the picture in a file here, or of what is now where `words` name a part of an earlier look."""
    name, part = part_of(words)
    if not name.startswith(":"):
        return png_of(words)
    view = picture_views.parse(name)
    if part is None or view.window:
        raise InvalidRequest(
            "a view names no image by itself" if not view.window else "the view is of a covered window",
            hint="write VIEW#x,y,w,h with a box of the picture of desktop_look, or give the path of a PNG file",
        )
    box = view.area(part)
    picture: Picture = await call.ask(Look(f"region:{box.x},{box.y},{box.w},{box.h}", view.display))
    return picture.image


async def read_images(call: ToolCall, condition: Condition) -> dict[str, bytes]:
    """Return the PNG of each image that is named. Raises: InvalidRequest; AcudError of the daemon."""
    named = (getattr(condition, one.name) for one in _ARGUMENTS if one.gives is bytes)
    return {words: await _read_png(call, words) for words in named if words}


def require_condition(condition: Condition, images: Mapping[str, bytes] = NO_IMAGES) -> Until:
    """Return the condition. Raises: InvalidRequest when there is none."""
    until = make_condition(condition, images)
    if until is None:
        known = [one.name for one in _ARGUMENTS]
        raise InvalidRequest("nothing to wait for", hint=f"give {', '.join(known[:-1])} or {known[-1]}")
    return until


def make_policy(condition: Condition, base: Policy) -> Policy | None:
    """Return `base` changed by `poll_interval` and its like, None if none is given: judge on changes, and never later
    than `poll_interval`.
    """
    wanted = {
        "interval_s": condition.poll_interval,
        "hold_s": condition.hold_s,
        "fresh": condition.fresh or None,
        "priority": condition.priority,
        "on_host_lost": condition.on_host_lost,
    }
    changes = {name: value for name, value in wanted.items() if value is not None}
    return msgspec.structs.replace(base, **changes) if changes else None
