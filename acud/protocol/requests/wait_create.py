"""`wait_create`: hand over a condition and leave."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from acud.protocol.requests.spec import RequestSpec
from acud.types import Budget, JudgeName, Policy, Rect, RouteName, Until, WaitInfo, WakeAddress


class WaitCreate(Struct, frozen=True, tag="wait_create", forbid_unknown_fields=True):
    """Arm a wait and return at once.

    `target`: `screen`, `display:<name>`, `window:<title or id>`, `region:x,y,w,h`, `pty:<session>`,
    `monitor:<name or number>`; `display` qualifies all but the second.
    `ignore` boxes are in the target's own pixels. Without `timeout_s` the default in the settings holds; 0 looks
    once: the first answer on the target as it is now ends the wait.
    `wake` says how to wake whoever waits; `budget` what judging may cost.
    A sentence that no configured judge could answer is an error `no_judge`, unless `force` arms it anyway.
    With a `task_id`, `screen` is that task's display, and the wait ends with the task.
    """

    until: Until
    target: str = "screen"
    display: str = ""
    ignore: Annotated[tuple[Rect, ...], Meta(max_length=64)] = ()
    timeout_s: float | None = None
    policy: Policy = Policy()
    judge: JudgeName = JudgeName.AUTO
    task_id: Annotated[str, Meta(max_length=64)] = ""
    label: Annotated[str, Meta(max_length=200)] = ""
    wake: WakeAddress = WakeAddress()
    budget: Budget = Budget()
    force: bool = False


class WaitReply(Struct, frozen=True, forbid_unknown_fields=True):
    """The wait. `notes`: what the caller should know now (a missing window, a condition that needs a vision
    backend). `woken_by`: the routes over which its end wakes somebody; without any the result is to be fetched
    (`wait_result`).
    """

    wait: WaitInfo
    notes: tuple[str, ...] = ()
    woken_by: tuple[RouteName, ...] = ()


SPEC = RequestSpec(WaitCreate, WaitReply, mutating=True, deferred=True)
