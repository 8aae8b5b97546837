"""`agent_result`: long-poll a run of the agent."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from acud.agent.nouns import RunInfo
from acud.protocol.requests.spec import RequestSpec


class AgentResult(Struct, frozen=True, tag="agent_result", forbid_unknown_fields=True):
    """Return when `run_id` (or its unambiguous beginning) has ended, or after `block_s` with its state so far.

    A reply that tells of the end marks the run's wake as seen; with `peek` it does not.
    """

    run_id: Annotated[str, Meta(min_length=1, max_length=64)]
    block_s: Annotated[float, Meta(ge=0, le=300)] = 0.0
    peek: bool = False


class AgentResultReply(Struct, frozen=True, forbid_unknown_fields=True):
    """`ended` tells which of the two it was."""

    run: RunInfo
    ended: bool


SPEC = RequestSpec(AgentResult, AgentResultReply, deferred=True)
