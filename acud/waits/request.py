"""From what a client says to a checked `WaitSpec`: targets, conditions, timeouts."""

from __future__ import annotations

import math
import re
from typing import assert_never

from msgspec.structs import replace

from acud.errors import InvalidRequest, Refused
from acud.types import (
    MAX_SIDE_PX,
    AllOf,
    AnyOf,
    Budget,
    Change,
    Criteria,
    JudgeName,
    Leaf,
    NotOf,
    Policy,
    Rect,
    Stable,
    Target,
    Text,
    Until,
    WaitSpec,
    WakeAddress,
    WindowTitle,
    display_name,
)
from acud.waits import baseline, conditions
from acud.waits.patterns import check_leaf
from acud.waits.terminals import session_name

MAX_DEPTH = 8
MAX_LEAVES = 64
"""One job carries every leaf; more than this is a program, not a condition."""

DEFAULT_POLICY = Policy()
DEFAULT_WAKE = WakeAddress()
NO_BUDGET = Budget()

TARGETS = "use screen, display:<name>, window:<title or id>, region:x,y,w,h, pty:<session> or monitor:<name or number>"


def parse_target(text: str, display: str = "", ignore: tuple[Rect, ...] = ()) -> Target:
    """Return the target that `text` names on `display` ("": the default display), without the `ignore` boxes.

    Raises: InvalidRequest, with the next step, when it is none of the known kinds.
    """
    kind, colon, rest = text.strip().partition(":")
    rest = rest.strip()
    where = display_name(display)
    _check_ignore(ignore)
    match kind.strip().lower():
        case "screen" if not colon:
            return Target(where, ignore=ignore)
        case "display" if rest:
            return Target(_one_display(display_name(rest), where), ignore=ignore)
        case "window" if rest:
            return Target(where, window=rest, ignore=ignore)
        case "region" if rest:
            return Target(where, region=_region(rest), ignore=ignore)
        case "pty" if rest:
            return Target(where, pty=session_name(rest).text, ignore=ignore)
        case "monitor" if rest:
            return Target(where, monitor=rest, ignore=ignore)
    raise InvalidRequest(f"{text!r} is not a target", hint=TARGETS)


def _one_display(named: str, given: str) -> str:
    if given and given != named:
        raise InvalidRequest(
            f"the target names display {named}, and the request names {given}", hint="name one display"
        )
    return named


def _region(text: str) -> Rect:
    numbers = re.fullmatch(r"(\d{1,5})\s*,\s*(\d{1,5})\s*,\s*(\d{1,5})\s*,\s*(\d{1,5})", text, re.ASCII)
    if numbers is None:
        raise InvalidRequest(
            f"{text!r} is not a region", hint="write region:x,y,w,h in whole pixels, for example region:0,0,640,480"
        )
    x, y, w, h = (int(n) for n in numbers.groups())
    _check_size(Rect(x, y, w, h), "region")
    return Rect(x, y, w, h)


def _check_size(box: Rect, name: str) -> None:
    if box.w < 1 or box.h < 1 or max(box.right, box.bottom) > MAX_SIDE_PX or min(box.x, box.y) < 0:
        raise InvalidRequest(
            f"the {name} {box.x},{box.y},{box.w},{box.h} is empty, negative or beyond {MAX_SIDE_PX} px",
            hint="x and y start at 0, w and h at 1",
        )


def _check_ignore(ignore: tuple[Rect, ...]) -> None:
    for box in ignore:
        _check_size(box, "ignored box")


def validate(
    until: Until,
    target: Target,
    *,
    timeout_s: float | None,
    default_timeout_s: float,
    max_timeout_s: float,
    policy: Policy = DEFAULT_POLICY,
    judge: JudgeName = JudgeName.AUTO,
    task_id: str = "",
    label: str = "",
    wake: WakeAddress = DEFAULT_WAKE,
    budget: Budget = NO_BUDGET,
) -> WaitSpec:
    """Return the checked, normalised wait; `timeout_s` None takes the default, 0 looks once.

    Raises: InvalidRequest or Refused, naming the value and the next step.
    """
    seconds = check_timeout(default_timeout_s if timeout_s is None else timeout_s, max_timeout_s)
    checked = check_until(until), target, seconds, check_policy(policy)
    return WaitSpec(*checked, judge, task_id, label, wake, check_budget(budget))


def updated(
    spec: WaitSpec,
    *,
    until: Until | None,
    timeout_s: float | None,
    policy: Policy | None,
    budget: Budget | None = None,
    max_timeout_s: float,
) -> WaitSpec:
    """Return `spec` with what is given, checked as in `validate`; a timeout of 0 is refused here.

    Raises: InvalidRequest or Refused.
    """
    if until is None and timeout_s is None and policy is None and budget is None:
        raise InvalidRequest("the update changes nothing", hint="give until, timeout_s, policy or budget")
    return replace(
        spec,
        until=spec.until if until is None else check_until(until),
        timeout_s=spec.timeout_s if timeout_s is None else _more_time(timeout_s, max_timeout_s),
        policy=spec.policy if policy is None else check_policy(policy),
        budget=spec.budget if budget is None else check_budget(budget),
    )


def check_timeout(timeout_s: float, max_s: float) -> float:
    """Return the timeout, which is never above `max_s`; 0 is one look."""
    if not math.isfinite(timeout_s) or timeout_s < 0:
        raise InvalidRequest(f"timeout_s is {timeout_s}", hint="give seconds, or 0 to look once")
    if timeout_s > max_s:
        hint = "ask for less, or raise `max_timeout_s` in [wait]"
        raise Refused(f"timeout_s {timeout_s:g} is above the limit of {max_s:g}", hint=hint)
    return timeout_s


def _more_time(timeout_s: float, max_s: float) -> float:
    if timeout_s == 0:
        raise InvalidRequest(
            "timeout_s is 0", hint="give seconds above 0, or cancel the wait; a new one with 0 looks once"
        )
    return check_timeout(timeout_s, max_s)


def check_policy(policy: Policy) -> Policy:
    """Return the policy, or raise InvalidRequest for numbers that are none."""
    numbers = (policy.interval_s, policy.min_interval_s, policy.force_after_s, policy.gate_threshold or 0.0)
    if not all(math.isfinite(number) for number in numbers):
        raise InvalidRequest("the policy has a number that is not finite", hint="give plain seconds")
    return policy


def check_budget(budget: Budget) -> Budget:
    """Return the budget, or raise InvalidRequest for one that bounds nothing it says it bounds."""
    if not math.isfinite(budget.max_cost_usd or 0.0):
        raise InvalidRequest("max_cost_usd is not finite", hint="give dollars")
    return budget


def check_until(until: Until) -> Until:
    """Return the condition with its words stripped, or raise InvalidRequest naming the part at fault."""
    if conditions.deeper_than(until, MAX_DEPTH):
        raise InvalidRequest(f"the condition is nested deeper than {MAX_DEPTH}", hint="flatten it")
    if len(conditions.leaves(until)) > MAX_LEAVES:
        raise InvalidRequest(f"the condition has more than {MAX_LEAVES} parts", hint="split it over several waits")
    return _checked(until)


def _checked(until: Until) -> Until:
    match until:
        case AllOf(parts=parts):
            return AllOf(tuple(_checked(part) for part in _some(parts)))
        case AnyOf(parts=parts):
            return AnyOf(tuple(_checked(part) for part in _some(parts)))
        case NotOf(part=part):
            return NotOf(_checked(part))
    return _checked_leaf(until)


def _some(parts: tuple[Until, ...]) -> tuple[Until, ...]:
    if not parts:
        raise InvalidRequest("all and any need at least one part", hint="give parts")
    return parts


def _checked_leaf(leaf: Leaf) -> Leaf:
    match leaf:
        case Criteria():
            return Criteria(_words(leaf.criteria, "criteria"))
        case Text():
            words = _words(leaf.text, "text")
            return _searched(leaf) if leaf.regex else replace(leaf, text=words)
        case WindowTitle():
            words = _words(leaf.title, "window title")
            return _searched(leaf) if leaf.regex else replace(leaf, title=words)
        case Change():
            if leaf.baseline:
                baseline.parse(leaf.baseline)
            _finite(leaf.share, leaf.settle_s)
            return leaf
        case Stable():
            _finite(leaf.stable_s)
            return leaf
    assert_never(leaf)


def _finite(*numbers: float) -> None:
    if not all(math.isfinite(number) for number in numbers):
        raise InvalidRequest("the condition has a number that is not finite", hint="give plain seconds")


def _words(text: str, name: str) -> str:
    stripped = text.strip()
    if not stripped or "\0" in stripped:
        raise InvalidRequest(f"the {name} is blank", hint="say in words what must be visible")
    return stripped


def _searched(leaf: Text | WindowTitle) -> Leaf:
    check_leaf(leaf)
    return leaf
