"""A rolling restart of the evaluators: one at a time, its jobs finished or handed over, the next once it is ready."""

from __future__ import annotations

from collections.abc import Callable

from acud import log
from acud.errors import AcudError, Conflict, Unavailable
from acud.event_loop import EventLoop
from acud.protocol.requests.daemon import EvaluatorRestarted
from acud.supervisor.children import ChildKeeper, ChildState
from acud.supervisor.evaluator_pool import EvaluatorPool
from acud.supervisor.job_queues import Worker

_LOG = log.logger("upkeep")
_LOOK_S = 0.05
_FINISH_S = 10.0
"""For the jobs in hand: an OCR takes seconds, a slow model's call is made again by another."""
_READY_S = 60.0
"""A fresh evaluator says hello within a second; on a machine that loaded it is given this."""

Done = Callable[[tuple[EvaluatorRestarted, ...] | AcudError], None]


class RollingRestart:
    """At most one such restart at a time."""

    def __init__(self, pool: EvaluatorPool, keeper: ChildKeeper, loop: EventLoop) -> None:
        self._pool = pool
        self._keeper = keeper
        self._loop = loop
        self._going = False

    def begin(self, done: Done) -> None:
        """Renew every evaluator; `done` is told of all of them, or of the one that did not get ready again.

        Raises: Conflict while one goes on.
        """
        if self._going:
            raise Conflict("the evaluators are being restarted already", hint="wait for that restart")
        self._going = True
        self._next(list(self._pool.workers), [], done)

    def _next(self, left: list[Worker], made: list[EvaluatorRestarted], done: Done) -> None:
        if not left:
            self._going = False
            done(tuple(made))
            return
        worker = left.pop(0)
        old_pid = worker.child.pid
        self._pool.retire(worker)

        def finished() -> None:
            handed = self._pool.hand_over(worker)
            _LOG.info("evaluator.retired", evaluator=worker.child.name, handed_over=handed)
            self._keeper.stop(worker.child)
            self._when(lambda: worker.child.process is None, _READY_S, lambda: started(handed))

        def started(handed: int) -> None:
            self._pool.renew(worker)
            self._when(lambda: _settled(worker), _READY_S, lambda: ready(handed))

        def ready(handed: int) -> None:
            if not worker.ready:
                self._going = False
                reason = worker.child.reason or "it said nothing"
                fault = f"evaluator {worker.child.name} did not get ready again: {reason}"
                done(Unavailable(fault, hint="acud logs --level error; the others were left alone"))
                return
            made.append(EvaluatorRestarted(worker.child.name, old_pid, worker.child.pid, handed))
            self._next(left, made, done)

        self._when(lambda: not worker.running, _FINISH_S, finished)

    def _when(self, holds: Callable[[], bool], within_s: float, then: Callable[[], None]) -> None:
        """Call `then` as soon as `holds`, or when so much time is over."""
        end_s = self._loop.now_s() + within_s

        def look() -> None:
            if holds() or self._loop.now_s() >= end_s:
                then()
            else:
                self._loop.call_later(_LOOK_S, look)

        look()


def _settled(worker: Worker) -> bool:
    return worker.ready or worker.child.state is ChildState.FAILED
