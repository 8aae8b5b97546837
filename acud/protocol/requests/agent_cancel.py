"""`agent_cancel`: end a run of the agent."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from acud.protocol.requests.gui_agent import RunReply
from acud.protocol.requests.spec import RequestSpec


class AgentCancel(Struct, frozen=True, tag="agent_cancel", forbid_unknown_fields=True):
    """End a run now; what is under way is dropped. Raises conflict when it has ended already."""

    run_id: Annotated[str, Meta(min_length=1, max_length=64)]
    reason: Annotated[str, Meta(max_length=500)] = ""


SPEC = RequestSpec(AgentCancel, RunReply, mutating=True)
