"""`agent_list`: the newest runs of the agent."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from acud.agent.nouns import RunInfo
from acud.protocol.requests.spec import RequestSpec


class AgentList(Struct, frozen=True, tag="agent_list", forbid_unknown_fields=True):
    """List runs, newest first; of one task with `task_id`. Steps are left out."""

    task_id: Annotated[str, Meta(max_length=64)] = ""
    limit: Annotated[int, Meta(ge=1, le=500)] = 50


class AgentListReply(Struct, frozen=True, forbid_unknown_fields=True):
    """The runs."""

    runs: tuple[RunInfo, ...]


SPEC = RequestSpec(AgentList, AgentListReply)
