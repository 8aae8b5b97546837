"""Replies as a daemon would give them, for tests of the command line."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from acud.protocol.envelope import RequestEnvelope
from acud.protocol.requests.waits import Evaluation, WaitReply, WaitResultReply, WaitShowReply
from acud.types import Target as TargetType
from acud.types import Text, Verdict, WaitInfo, WaitSpec, WaitState, no, yes
from tests.integration.client_stand_in import Answer, Sending, refusal, reply

WAIT_ID = "wait-00t403fe5j5y0mp5rjy05dq"


def wait_info(state: WaitState = WaitState.WATCHING, verdict: Verdict | None = None) -> WaitInfo:
    """Return a wait for the text "done" on :100, armed at 1000 s, in `state`."""
    ended = state is not WaitState.WATCHING
    return WaitInfo(
        WAIT_ID,
        state,
        WaitSpec(Text("done"), TargetType(display=":100"), 300.0),
        ":100",
        1000.0,
        1300.0,
        0.0 if ended else 280.0,
        verdict or (yes("it says done") if state is WaitState.RESOLVED else no("not there yet")),
        judged=3,
        judge_calls=2,
        frames_seen=9,
        ended_utc_s=1006.5 if ended else 0.0,
        changed_to_resolved_ms=142.4 if state is WaitState.RESOLVED else None,
    )


class Script:
    """Answers by request name; an unscripted request is an error that names it."""

    def __init__(self, **by_name: Callable[[RequestEnvelope, int], list[Sending]] | msgspec.Struct) -> None:
        self.by_name = by_name

    def __call__(self, request: RequestEnvelope, times: int) -> list[Sending]:
        scripted = self.by_name.get(str(request.body["type"]))
        if scripted is None:
            return [refusal(request, "internal", f"unscripted {request.body['type']}")]
        if isinstance(scripted, msgspec.Struct):
            return [reply(request, scripted)]
        return scripted(request, times)


def waiting(*stages: WaitInfo, ask_s: float = 0.0) -> Answer:
    """Return a daemon that arms a wait, and whose `wait_result` goes through `stages`, each `ask_s` after the call."""
    left = list(stages)

    def result(request: RequestEnvelope, _times: int) -> list[Sending]:
        now = left.pop(0) if len(left) > 1 else left[0]
        ended = now.state is not WaitState.WATCHING
        path = "/evidence/picture.png" if now.state is WaitState.RESOLVED else ""
        return [reply(request, WaitResultReply(now, ended, path), after_s=ask_s)]

    shown = Evaluation(1001.0, 1, 7, no("\x1b[2Jnot there"), "ocr", "judge", 31.5)
    return Script(
        wait_create=WaitReply(stages[0], ("a note",)),
        wait_result=result,
        wait_show=WaitShowReply(stages[-1], (shown,), ""),
        wait_cancel=WaitReply(stages[-1]),
    )
