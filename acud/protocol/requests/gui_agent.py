"""`gui_agent`: hand over several steps in words."""

from __future__ import annotations

from msgspec import Struct

from acud.agent.nouns import RunInfo, RunLimits
from acud.protocol.requests.spec import RequestSpec
from acud.types import JudgeName, RouteName, ShortText, Until, WakeAddress


class GuiAgent(Struct, frozen=True, tag="gui_agent", forbid_unknown_fields=True):
    """Carry out `instruction` step by step: plan with a chat model, find, act, verify. Returns at once; the end wakes
    whoever `wake` names, and `agent_result` tells of it.

    It ends as done only when `expect` (or, without one, the condition that the model names) was seen to hold.
    `backend` and `model` "" are those in `[gui_agent]`.
    """

    instruction: ShortText
    target: str = "screen"
    display: str = ""
    expect: Until | None = None
    backend: str = ""
    model: str = ""
    judge: JudgeName = JudgeName.AUTO
    limits: RunLimits | None = None
    task_id: str = ""
    wake: WakeAddress = WakeAddress()


class RunReply(Struct, frozen=True, forbid_unknown_fields=True):
    """A run as it is now. `woken_by`: the routes over which its end wakes somebody; without any, ask `agent_result`."""

    run: RunInfo
    woken_by: tuple[RouteName, ...] = ()


SPEC = RequestSpec(GuiAgent, RunReply, mutating=True, deferred=True)
