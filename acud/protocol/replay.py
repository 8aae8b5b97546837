"""A replay's request, JSON on its standard input, and its output, JSON line by line. It uses no socket.

Times `at_s` are seconds in the recording: from its first frame, pauses between its segments included.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from acud.types import Budget, JudgeChoice, JudgeName, Policy, Rect, Until, Verdict

Gate = Literal["judged", "forced", "memo", "held", "tiles"]
"""What became of a frame: a judge was asked, because its pixels were new or because it was time (`forced`); the same
pixels had been judged before (`memo`); a lossy gate held it back (`held`); tiles alone decided (`tiles`)."""


class ReplayAsk(Struct, frozen=True, forbid_unknown_fields=True):
    """A condition, and the recording to try it on.

    `recording`: an id, a unique beginning or ending of one, or the path of one of its files or their folder.
    `timeout_s` None: to the end of what is replayed; 0: one look. `latency_s`: how long an answer takes in the
    recording's time; None: as long as it takes here. `parent_pid`: the process that must still live.
    """

    recording: Annotated[str, Meta(min_length=1, max_length=4096)]
    until: Until
    target: str = "screen"
    ignore: tuple[Rect, ...] = ()
    judges: Annotated[tuple[JudgeChoice, ...], Meta(min_length=1, max_length=8)] = (JudgeName.AUTO,)
    policy: Policy = Policy()
    budget: Budget = Budget()
    timeout_s: float | None = None
    from_s: Annotated[float, Meta(ge=0)] = 0.0
    to_s: float | None = None
    latency_s: Annotated[float, Meta(ge=0)] | None = 0.0
    parent_pid: int = 0


class ReplayBegan(Struct, frozen=True, tag="began", forbid_unknown_fields=True):
    """What is replayed. `notes`: what is not as it was live."""

    recording_id: str
    display: str
    segments: int
    frames: int
    seconds: float
    from_s: float
    to_s: float
    notes: tuple[str, ...] = ()


class ReplayRow(Struct, frozen=True, tag="row", forbid_unknown_fields=True):
    """A verdict, or the reason why there is none for a frame. `run`: its run, counted from 0. `judge` "": none."""

    run: int
    at_s: float
    utc_ms: int
    epoch: int
    frame: int
    gate: Gate
    verdict: Verdict
    judge: str = ""
    latency_ms: float = 0.0
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None


class ReplayRun(Struct, frozen=True, tag="run", forbid_unknown_fields=True):
    """How one judge's run ended.

    `state`: `resolved`, `timeout`, `failed`, or `watching` where the recording ended first. `at_s`, `utc_ms`: when.
    `frame`: on which it resolved (-1: none). `frames`: new ones it was shown, `touching` of those its target.
    `judged` frames cost `judge_calls`; `memo` and `held` frames cost nothing. `cost_usd` None: not known.
    """

    run: int
    judge: str
    state: str
    at_s: float
    utc_ms: int
    frame: int
    verdict: Verdict
    frames: int
    touching: int
    judged: int
    judge_calls: int
    memo: int
    held: int
    tokens_in: int
    tokens_out: int
    cost_usd: float | None
    note: str = ""


class ReplayPair(Struct, frozen=True, tag="pair", forbid_unknown_fields=True):
    """How often two runs agreed on a frame that both judged; `differ`: the frames on which they disagreed."""

    runs: tuple[int, int]
    both: int
    same: int
    differ: tuple[int, ...]


class ReplayFault(Struct, frozen=True, tag="fault", forbid_unknown_fields=True):
    """What could not be read, or why nothing was replayed; sent last, after all readable frames."""

    code: str
    message: str
    hint: str = ""


class ReplayDone(Struct, frozen=True, tag="done", forbid_unknown_fields=True):
    """The replay is complete."""


ReplayLine = ReplayBegan | ReplayRow | ReplayRun | ReplayPair | ReplayFault | ReplayDone
