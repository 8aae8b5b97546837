"""Check a client's request into a `WaitSpec`: conditions, their patterns, timeouts, policies, budgets."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from msgspec.structs import astuple, replace

from acud.accessibility.roles import WORDS, roles_of
from acud.base.errors import InvalidRequest, Refused, suggest
from acud.base.patterns import MAX_PATTERN, MAX_SIZE, PatternFault, compile_pattern
from acud.types import (
    AllOf,
    AnyOf,
    Budget,
    Change,
    FileState,
    JudgeChoice,
    JudgeName,
    Leaf,
    NotOf,
    Policy,
    ScreenImage,
    Target,
    Then,
    Until,
    WaitSpec,
    WakeAddress,
    Widget,
)
from acud.waits import baselines, condition_tree
from acud.waits.condition_tree import leaves
from acud.waits.host_files import parse_path
from acud.waits.images import normalise_image

MAX_DEPTH = 8
MAX_LEAVES = 64
"""One job carries every leaf; more than this is a program, not a condition."""
DEFAULT_POLICY = Policy()
DEFAULT_WAKE = WakeAddress()
NO_BUDGET = Budget()


def check_pattern(pattern: str, name: str) -> None:
    """Raise InvalidRequest, with the next step, when `pattern` is too long or cannot be searched for."""
    _check_program(pattern, name, ways=((False, False),))


def check_leaf(leaf: Leaf, *, most: float = math.inf) -> None:
    """Raise InvalidRequest as `check_pattern` does for a leaf with a pattern, in each way it is searched. `most`: the
    number of steps allowed in the program of a text's pattern.
    """
    pattern = leaf.find_pattern()
    if pattern is not None:
        _check_program(pattern.text, pattern.noun, pattern.ways, MAX_SIZE if pattern.is_bounded else most)


def explain_unsearchable(spec: WaitSpec) -> str:
    """Return why the condition of a wait from an older version cannot be searched for, "" when it can."""
    try:
        _check_patterns(spec.until, spec.target)
    except InvalidRequest as fault:
        return str(fault)
    return ""


def _check_patterns(until: Until, target: Target) -> None:
    """Check every pattern; patterns for terminals are bounded in size, as the supervisor itself searches these."""
    for leaf in leaves(until):
        check_leaf(leaf, most=MAX_SIZE if target.pty else math.inf)


def _check_program(pattern: str, name: str, ways: Iterable[tuple[bool, bool]], most: float = math.inf) -> None:
    """Check one pattern; `most`: the number of steps allowed in its program."""
    if len(pattern) > MAX_PATTERN:
        raise InvalidRequest(f"the {name} pattern is longer than {MAX_PATTERN} characters", hint="shorten it")
    size = 0
    try:
        for ignore_case, lines in ways:
            size = compile_pattern(pattern, ignore_case=ignore_case, lines=lines).size
    except PatternFault as fault:
        raise InvalidRequest(f"the {name} pattern {fault.message}", hint=fault.hint) from fault
    if size > most:
        reason = f"the {name} pattern is too large ({size} steps, at most {most:g})"
        raise InvalidRequest(reason, hint="repeat less: .* in place of .{0,100}")


def validate(
    until: Until,
    target: Target,
    *,
    timeout_s: float | None,
    default_timeout_s: float,
    max_timeout_s: float,
    policy: Policy = DEFAULT_POLICY,
    judge: JudgeChoice = JudgeName.AUTO,
    task_id: str = "",
    label: str = "",
    wake: WakeAddress = DEFAULT_WAKE,
    budget: Budget = NO_BUDGET,
    note: str = "",
) -> WaitSpec:
    """Return the checked, normalised wait; `timeout_s` None takes the default, 0 looks once. Raises: InvalidRequest or
    Refused, naming the value and the next step.
    """
    seconds = check_timeout(default_timeout_s if timeout_s is None else timeout_s, max_timeout_s)
    if isinstance(until, Then) and not seconds:
        raise InvalidRequest("a sequence needs more than one look", hint="give it a timeout above 0")
    checked = check_until(until), target, seconds, check_policy(policy)
    _check_patterns(checked[0], target)
    return WaitSpec(*checked, judge, task_id, label, wake, check_budget(budget), note)


def update_spec(
    spec: WaitSpec,
    *,
    until: Until | None,
    timeout_s: float | None,
    policy: Policy | None,
    budget: Budget | None = None,
    max_timeout_s: float,
) -> WaitSpec:
    """Return `spec` with the given changes, checked as in `validate`; a timeout of 0 is refused here. Raises:
    InvalidRequest or Refused.
    """
    if until is None and timeout_s is None and policy is None and budget is None:
        raise InvalidRequest("the update changes nothing", hint="give until, timeout_s, policy or budget")
    if until is not None:
        until = check_until(until)
        _check_patterns(until, spec.target)
    return replace(
        spec,
        until=until or spec.until,
        timeout_s=spec.timeout_s if timeout_s is None else _check_new_timeout(timeout_s, max_timeout_s),
        policy=spec.policy if policy is None else check_policy(policy),
        budget=spec.budget if budget is None else check_budget(budget),
    )


def check_timeout(timeout_s: float, max_s: float) -> float:
    """Return the timeout in seconds, or raise InvalidRequest or Refused (above `max_s`); 0 is one look."""
    if not math.isfinite(timeout_s) or timeout_s < 0:
        raise InvalidRequest(f"timeout_s is {timeout_s}", hint="give seconds, or 0 to look once")
    if timeout_s > max_s:
        hint = "ask for less, or raise `max_timeout_s` in [wait]"
        raise Refused(f"timeout_s {timeout_s:g} is above the limit of {max_s:g}", hint=hint)
    return timeout_s


def _check_new_timeout(timeout_s: float, max_s: float) -> float:
    if timeout_s == 0:
        raise InvalidRequest(
            "timeout_s is 0", hint="give seconds above 0, or cancel the wait; a new one with 0 looks once"
        )
    return check_timeout(timeout_s, max_s)


def check_policy(policy: Policy) -> Policy:
    """Return the wait's policy, or raise InvalidRequest for numbers that are not finite."""
    numbers = (policy.interval_s, policy.min_interval_s, policy.force_after_s, policy.gate_threshold or 0.0)
    if not all(math.isfinite(number) for number in numbers):
        raise InvalidRequest("the policy has a number that is not finite", hint="give plain seconds")
    return policy


def check_budget(budget: Budget) -> Budget:
    """Return the budget, or raise InvalidRequest for a limit that is not finite."""
    if not math.isfinite(budget.max_cost_usd or 0.0):
        raise InvalidRequest("max_cost_usd is not finite", hint="give dollars")
    return budget


def check_until(until: Until) -> Until:
    """Return the condition with its words stripped, or raise InvalidRequest naming the part at fault."""
    if condition_tree.is_deeper_than(until, MAX_DEPTH):
        raise InvalidRequest(f"the condition is nested deeper than {MAX_DEPTH}", hint="flatten it")
    if len(condition_tree.leaves(until)) > MAX_LEAVES:
        raise InvalidRequest(f"the condition has more than {MAX_LEAVES} parts", hint="split it over several waits")
    if isinstance(until, Then):
        return Then(tuple(_normalise_until(part) for part in _check_sequence(until)))
    return _normalise_until(until)


def _check_sequence(until: Then) -> tuple[Until, ...]:
    later = until.parts[1:]
    if not later:
        raise InvalidRequest("a sequence needs at least two parts", hint="give what holds first, and what later")
    changes = (leaf for part in later for leaf in leaves(part) if isinstance(leaf, Change))
    if any(leaf.baseline for leaf in changes):
        raise InvalidRequest(
            "a change in a later part of a sequence counts from when the part before it held",
            hint="leave its baseline out",
        )
    return until.parts


def _normalise_until(until: Until) -> Until:
    match until:
        case AllOf(parts=parts):
            return AllOf(tuple(_normalise_until(part) for part in _check_parts(parts)))
        case AnyOf(parts=parts):
            return AnyOf(tuple(_normalise_until(part) for part in _check_parts(parts)))
        case NotOf(part=part):
            return NotOf(_normalise_until(part))
        case Then():
            raise InvalidRequest(
                "a sequence (then) cannot be a part of another condition",
                hint="make it the whole condition, with the other conditions in its parts; or arm two waits",
            )
    return _normalise_leaf(until)


def _check_parts(parts: tuple[Until, ...]) -> tuple[Until, ...]:
    if not parts:
        raise InvalidRequest("all and any need at least one part", hint="give parts")
    return parts


def _normalise_leaf(leaf: Leaf) -> Leaf:
    if not all(math.isfinite(value) for value in astuple(leaf) if isinstance(value, float)):
        raise InvalidRequest("the condition has a number that is not finite", hint="give plain seconds")
    leaf = leaf.normalise()
    match leaf:
        case ScreenImage():
            return normalise_image(leaf)
        case Widget():
            _check_role(leaf.role)
        case Change() if leaf.baseline:
            baselines.parse_token(leaf.baseline)
        case FileState():
            parse_path(leaf.path, "/")
    check_leaf(leaf)
    return leaf


def _check_role(role: str) -> None:
    if role and not roles_of(role):
        known = sorted({*WORDS.values(), "dialog", "slider", "link", "label", "window", "switch", "heading"})
        near = suggest(re.split(r"[^\w ]", role)[0], known)
        raise InvalidRequest(
            f"no widget has the role {role!r}", hint=f"{near}one of: {', '.join(known)}; or a role of AT-SPI"
        )
