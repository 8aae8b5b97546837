"""`evaluators_restart`: fresh evaluators, one after the other."""

from __future__ import annotations

from msgspec import Struct

from acud.protocol.requests.spec import RequestSpec


class EvaluatorsRestart(Struct, frozen=True, tag="evaluators_restart", forbid_unknown_fields=True):
    """End each evaluator and start it again, one at a time: it gets no new jobs, finishes what it has in hand for ten
    seconds, and hands over the rest. No job is lost and no wait notices. The reply waits for the last one.
    """


class EvaluatorRestarted(Struct, frozen=True, forbid_unknown_fields=True):
    """One of them. `handed_over`: jobs that others, or its successor, took from it."""

    name: str
    old_pid: int
    pid: int
    handed_over: int


class EvaluatorsRestartReply(Struct, frozen=True, forbid_unknown_fields=True):
    """All of them, in order."""

    restarted: tuple[EvaluatorRestarted, ...]


SPEC = RequestSpec(EvaluatorsRestart, EvaluatorsRestartReply, deferred=True)
