"""From the arguments of `smart_wait` and `wait_update` to a condition, and from a condition to words."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from acud.errors import InvalidRequest
from acud.types import (
    AllOf,
    AnyOf,
    Change,
    Criteria,
    NotOf,
    Policy,
    Priority,
    Seconds,
    Stable,
    Text,
    Until,
    WindowTitle,
)

Timeout = Annotated[float, Meta(ge=0)]


class Condition(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to wait for; every part given must hold on one picture, or one of them with `any`."""

    criteria: str = ""
    text: str = ""
    gone: str = ""
    window: str = ""
    change: bool = False
    stable: Seconds = 0.0
    any: bool = False
    regex: bool = False
    baseline: str = ""
    poll_interval: Annotated[float, Meta(ge=0.05, le=3600)] | None = None
    priority: Priority | None = None


def until_of(given: Condition) -> Until | None:
    """Return the condition, or None when no part was given. Raises: InvalidRequest."""
    parts: list[Until] = [Criteria(given.criteria)] if given.criteria.strip() else []
    parts += [Text(given.text, regex=given.regex)] if given.text else []
    parts += [Text(given.gone, regex=given.regex, gone=True)] if given.gone else []
    parts += [WindowTitle(given.window, regex=given.regex)] if given.window else []
    parts += [Change(baseline=given.baseline)] if given.change or given.baseline else []
    parts += [Stable(given.stable)] if given.stable else []
    if len(parts) < 2:
        return parts[0] if parts else None
    return AnyOf(tuple(parts)) if given.any else AllOf(tuple(parts))


def wanted_until(given: Condition) -> Until:
    """Return the condition. Raises: InvalidRequest when there is none."""
    until = until_of(given)
    if until is None:
        hint = "give criteria (a sentence), text, gone, window, change or stable"
        raise InvalidRequest("nothing to wait for", hint=hint)
    return until


def policy_of(given: Condition, base: Policy) -> Policy | None:
    """Return `base` with what `poll_interval` and `priority` ask for, None when that is nothing: judged on changes,
    and never later than `poll_interval`.
    """
    wanted = {"interval_s": given.poll_interval, "priority": given.priority}
    changes = {name: value for name, value in wanted.items() if value is not None}
    return msgspec.structs.replace(base, **changes) if changes else None


def in_words(until: Until) -> str:
    """Return the condition as a person would say it."""
    match until:
        case Criteria():
            return until.criteria
        case Text():
            return f'text "{until.text}"{" gone" if until.gone else ""}'
        case WindowTitle():
            return f'window "{until.title}"{" gone" if until.gone else ""}'
        case Change():
            return "a change"
        case Stable():
            return f"no change for {until.stable_s:g} s"
        case NotOf():
            return f"not ({in_words(until.part)})"
        case AllOf():
            return " and ".join(in_words(part) for part in until.parts)
        case AnyOf():
            return " or ".join(in_words(part) for part in until.parts)
