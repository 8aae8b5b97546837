"""One turn of a chat model over a fresh picture, as work for the evaluator pool."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from acud.errors import AcudError, Unavailable
from acud.protocol.evaluation import Job, JobResult, Thought
from acud.protocol.questions import ThinkAsk, View
from acud.supervisor.job_queues import Lane
from acud.supervisor.redaction import Redaction
from acud.supervisor.screenshots import ScreenshotTarget
from acud.waits.schedule import NORMAL_PRIORITY

_TRIES = 5


class TurnOutcome(Struct, frozen=True):
    """What the model said, and the size in pixels of the picture it was shown."""

    thought: Thought
    width: int
    height: int


Done = Callable[[TurnOutcome | AcudError], None]


class ThinkWork:
    """Asks once; a frame that was overwritten meanwhile is taken anew. `local`: the model is on this machine."""

    priority = NORMAL_PRIORITY
    """The priority of a wait's judgement: an agent waits for both."""

    def __init__(
        self,
        target: ScreenshotTarget,
        ask: ThinkAsk,
        redaction: Redaction,
        again: Callable[[ThinkWork], None],
        done: Done,
        *,
        local: bool,
    ) -> None:
        self._target = target
        self._ask = ask
        self._again = again
        self._redaction = redaction
        self._local = local
        self.lane = Lane.REDACT if redaction.reads(local=local, keeps_evidence=False) else Lane.JUDGE
        self._done = done
        self._tries = 0
        self._min_frame = target.source.frame
        self.display = target.source.display

    def build(self, job_id: str) -> Job | None:
        """Return the job for the ring as it is now; the source may have been lost meanwhile."""
        source = self._target.source
        if not source.live or source.path is None:
            self._done(Unavailable(f"{source.name} was lost: {source.lost_reason}", hint="acud display list"))
            return None
        view = View(source.name, self._target.crop, self._target.ignore)
        frame = min(self._min_frame, source.frame)
        hide = self._redaction.of(source, leaves=not self._local)
        return Job(job_id, view, str(source.path), source.epoch, frame, think=self._ask, hide=hide)

    def partly(self, result: JobResult) -> None:
        """A thought has no parts."""

    def finished(self, result: JobResult) -> None:
        """Hand the thought on."""
        self._tries += 1
        if result.status == "frame_gone" and self._tries < _TRIES:
            self._again(self)
        elif result.thought is None:
            self._done(Unavailable(f"the model was not asked: {result.reason or result.status}", hint="acud logs"))
        else:
            self._done(TurnOutcome(result.thought, result.width, result.height))

    def lost(self, reason: str) -> None:
        """Nobody knows whether the model was asked, or what it cost."""
        self._done(Unavailable(f"the model's answer was lost: {reason}"))
