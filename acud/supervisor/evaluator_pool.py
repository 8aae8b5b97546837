"""The evaluator pool: sends queued work to evaluators with free places, with leases, and a second try when one dies.

Order: by priority, and among equals evenly by display. The queues and workers are in `acud.supervisor.job_queues`.

One evaluator reads the text of a display, as it knows its views. Another display goes to an evaluator that reads
nothing now, preferably the one that read last: so only as many engines are loaded as have work at once, at most
`[ocr] workers`. An idle engine is unloaded (`acud.evaluator.ocr.reader`).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Protocol

from acud.base import log
from acud.base.errors import ProtocolError
from acud.base.paths import Paths
from acud.config import Settings
from acud.config.api_keys import ApiKey
from acud.config.backends import without_secrets
from acud.metrics.counters import Tally
from acud.process.event_loop import EventLoop
from acud.protocol.bootstrap import EvaluatorOptions
from acud.protocol.children import Heartbeat
from acud.protocol.evaluation import EvaluatorHello, JobResult, JudgeHealth, Judges, WaitsOver
from acud.protocol.questions import View
from acud.protocol.widgets import WidgetAnswer, WidgetMessage
from acud.supervisor.children import Child, ChildKeeper, ChildState, Message
from acud.supervisor.coroutines import Callback
from acud.supervisor.frame_sources import Source, Sources
from acud.supervisor.job_queues import FairQueue, FillJob, FrameWork, JobEntry, Lane, Work, Worker, most_jobs
from acud.supervisor.journal import Effect
from acud.supervisor.judge_metrics import JudgeMetrics
from acud.supervisor.observers import Observers
from acud.supervisor.publisher import DaemonEvents
from acud.supervisor.watched_displays import WatchedDisplays
from acud.types.metrics import Sample

_LOG = log.logger("pool")
_TRIES = 2
_CHECK_S = 1.0
_MOST_READERS = 1024
_RECENT_RESULTS = 8  # the time of a picture is averaged over so many


class WidgetAsker(Protocol):
    """Asks evaluators about widgets."""

    def evaluator_ready(self, worker: Worker) -> None:
        """Handle the start of an evaluator."""

    def evaluator_ended(self, worker: Worker) -> None:
        """Handle the end of an evaluator's process."""

    def widgets_answered(self, worker: Worker, answer: WidgetAnswer) -> None:
        """Handle an evaluator's answer."""


class EvaluatorPool:
    """Owns the evaluators. `judge_metrics` counts each result, and each part of one, before its receivers get it."""

    def __init__(
        self,
        keeper: ChildKeeper,
        loop: EventLoop,
        settings: Settings,
        paths: Paths,
        cores: int,
        keys: Mapping[str, ApiKey],
        *,
        events: DaemonEvents,
        judge_metrics: JudgeMetrics,
        sources: Sources,
        watched_displays: WatchedDisplays,
    ) -> None:
        self._keeper, self._loop = keeper, loop
        self._now = loop.now_s
        self._settings, self._paths = settings, paths
        self._keys = dict(keys)
        self._queue: dict[Lane, FairQueue[JobEntry]] = {
            lane: FairQueue(lambda entry: entry.work.priority) for lane in Lane
        }
        self._over: list[str] = []  # waits that ended in this turn
        self._leases_lost = 0
        self._results = Tally()  # results by status
        self._paces_s: dict[Lane, float] = {}
        self._result_s: dict[Lane, float] = {}
        self._events = events
        self.judges_changed = Observers[Effect]()
        self._judge_metrics, self._sources, self._watched_displays = judge_metrics, sources, watched_displays
        count = settings.evaluator.workers or cores
        self.widget_askers = Observers[WidgetAsker]()
        self.workers = [self._make_worker(number, number < settings.ocr.workers) for number in range(count)]
        self._readers: OrderedDict[str, Worker] = OrderedDict()  # by display: the evaluator that reads its text
        self._loop.call_each(_CHECK_S, self._check_leases)
        keeper.on_absence.append(self._on_absence)

    def _make_worker(self, number: int, owns_ocr: bool) -> Worker:
        return Worker(Child(str(number), "evaluator", "acud.evaluator", self), owns_ocr)

    def start(self) -> None:
        for worker in self.workers:
            self._keeper.start(worker.child, self._build_options(worker))

    # ---- renewal ---------------------------------------------------------------------------------------------------

    def retire(self, worker: Worker) -> None:
        """Give `worker` no more jobs."""
        worker.retiring = True

    def hand_over(self, worker: Worker) -> int:
        """Requeue the worker's jobs and return how many. Its own later results for them are ignored."""
        running, worker.running = worker.running, {}
        self._requeue_jobs(running)
        return len(running)

    def _requeue_jobs(self, running: Mapping[str, JobEntry]) -> None:
        for entry in running.values():
            entry.tries -= 1
            self._queue[entry.work.lane].charge(entry.work.display, 0.0)
            self._enqueue_job(entry)

    def restart_worker(self, worker: Worker) -> None:
        """Start another process for `worker`, after the old one ended."""
        worker.retiring = False
        self._keeper.start(worker.child, self._build_options(worker))

    def _build_options(self, worker: Worker) -> EvaluatorOptions:
        return EvaluatorOptions(
            vision=self._settings.vision,
            ocr=self._settings.ocr,
            accessibility=self._settings.accessibility,
            owns_ocr=worker.owns_ocr,
            evidence_dir=str(self._paths.evidence),
            spool_dir=str(self._paths.spool),
            max_jobs=most_jobs(self._settings.evaluator.jobs_per_worker),
            diff_max_width=self._settings.wait.diff_max_width,
            prices=self._settings.prices,
            backends=without_secrets(self._settings.backends),
            keys=self._keys,
            call_share=1 / len(self.workers),
            redaction=self._settings.redaction,
            grounding=self._settings.grounding,
            fleet=self._settings.fleet,
            jobs=self._settings.jobs,
            features=self._settings.features,
        )

    # ---- requests --------------------------------------------------------------------------------------------------

    def submit(self, work: Work) -> None:
        """Queue `work`; `dispatch` at the end of this turn sends it when there is room."""
        self._enqueue_job(JobEntry(work))

    def look(
        self, lane: Lane, source: Source, fill: FillJob, view: View | None = None, priority: int = 0
    ) -> Callback[JobResult]:
        """Await a look at the newest frame of `source`; see `FrameWork`. Raises: Unavailable."""
        submit = self.submit
        return Callback(lambda done: submit(FrameWork(submit, lane, source, fill, done, view=view, priority=priority)))

    def reader_of(self, display: str) -> Worker | None:
        """Return the evaluator that reads the display's text, or its home evaluator if none does yet; None while none
        is ready.
        """
        ready = [worker for worker in self.workers if worker.ready and not worker.retiring]
        reader = self._readers.get(display)
        return (
            reader
            if reader in ready
            else min(ready, key=lambda one: self._measure_distance(one, display), default=None)
        )

    def send_message(self, worker: Worker, message: WidgetMessage) -> bool:
        """Send an evaluator a message about widgets; return False when it could not be sent."""
        return worker.ready and self._keeper.send(worker.child, message)

    def wait_over(self, wait_id: str) -> None:
        """Have evaluators forget a wait that ended, from the end of this turn on."""
        self._over.append(wait_id)

    def dispatch(self) -> None:
        """Fill free places. Call at the end of a turn, so that all requests for one frame share a job."""
        self._send_over()
        for lane in Lane:
            fit = [worker for worker in self.workers if lane is Lane.JUDGE or worker.owns_ocr]
            if all(worker.child.state is ChildState.FAILED for worker in fit):
                self._fail_queue(lane, f"no evaluator is left: {fit[0].child.reason}")
            self._dispatch_jobs(lane)

    def _send_over(self) -> None:
        """Send all evaluators the waits that ended, as any may remember something of them."""
        over, self._over = tuple(self._over), []
        for worker in self.workers if over else ():
            if worker.ready:
                self._keeper.send(worker.child, WaitsOver(over))

    def _enqueue_job(self, entry: JobEntry) -> None:
        self._queue[entry.work.lane].push(entry.work.display, entry)

    @property
    def sendable(self) -> bool:
        """Whether `dispatch` could send a job now."""
        return any(self._has_room(lane) for lane, queue in self._queue.items() if queue)

    @property
    def queued(self) -> int:
        """Works that wait for a place."""
        return sum(len(queue) for queue in self._queue.values())

    @property
    def backlog(self) -> str:
        """Why work may have to wait: evaluators that are ready, and jobs in the queue."""
        ready = sum(worker.ready for worker in self.workers)
        hands = f"{ready} of {len(self.workers)} evaluators are ready"
        reasons = sorted({worker.child.reason for worker in self.workers if not worker.ready and worker.child.reason})
        ends = f" (the last end: {'; '.join(reasons)})" if reasons else ""
        return f"{hands}{ends}, {self.queued} jobs wait"

    def describe_queue(self, work: Work) -> str:
        """Describe how many works an evaluator takes before the queued `work`, and how long each took lately."""
        before = self._queue[work.lane].count_before(lambda entry: entry.work is work) + self.running_in(work.lane)
        pace_s = self._paces_s.get(work.lane)
        return f"{before} before it in the queue" + (f", {pace_s:.2g} s a picture" if pace_s else "")

    def samples(self) -> Iterator[tuple[str, Sample]]:
        """Yield the pool's metrics."""
        yield "acud_pool_workers_ready", Sample((), sum(worker.ready for worker in self.workers))
        for lane, queue in self._queue.items():
            yield "acud_pool_queued_jobs", Sample((lane.value,), len(queue))
            yield "acud_pool_running_jobs", Sample((lane.value,), self.running_in(lane))
        yield from (("acud_pool_jobs_total", sample) for sample in self._results.samples())
        yield "acud_pool_leases_lost_total", Sample((), self._leases_lost)

    def running_in(self, lane: Lane) -> int:
        """Return how many works of `lane` evaluators have in hand."""
        return sum(worker.running_in(lane) for worker in self.workers)

    def find_judge(self, name: str) -> JudgeHealth | None:
        """Return the best health that any evaluator reports of the judge `name`; None before the first report."""
        found = [j for w in self.workers if w.ready for j in w.judges if j.name == name]
        return min(found, key=lambda j: ("ready", "idle", "down").index(j.state), default=None)

    def list_judges(self) -> tuple[JudgeHealth, ...]:
        names = sorted({j.name for w in self.workers for j in w.judges})
        return tuple(health for health in map(self.find_judge, names) if health is not None)

    def missing_readers(self) -> dict[str, tuple[str, ...]]:
        """Return the scripts that an evaluator met and can't read, with the packages that it lacks for each."""
        return {one.script: one.packages for w in self.workers for judge in w.judges for one in judge.missing}

    # ---- dispatch --------------------------------------------------------------------------------------------------

    def _dispatch_jobs(self, lane: Lane) -> None:
        queue = self._queue[lane]
        if queue and self._has_room(lane):
            queue.rerank()
        while queue:
            worker = self._pick_worker(lane, queue.next())
            if worker is None:
                return
            self._send_job(worker, queue.pop())

    def _has_room(self, lane: Lane) -> bool:
        limit = self._settings.evaluator.jobs_per_worker
        return any(worker.count_free(lane, limit) > 0 for worker in self.workers)

    def _pick_worker(self, lane: Lane, display: str) -> Worker | None:
        limit = self._settings.evaluator.jobs_per_worker
        free = [w for w in self.workers if w.count_free(lane, limit) > 0]
        if not free:
            return None
        if lane is not Lane.JUDGE:
            return self._pick_reader(free, display)
        # A display keeps its evaluator (its caches are there) until that one is gone or has no place.
        return min(free, key=lambda w: self._measure_distance(w, display))

    def _measure_distance(self, worker: Worker, display: str) -> int:
        """Return how far an evaluator is from the display's home among them."""
        return (int(worker.child.name) - sum(display.encode())) % len(self.workers)

    def _pick_reader(self, free: list[Worker], display: str) -> Worker:
        reader = self._readers.get(display)
        if reader is None or reader not in free:
            reader = min(free, key=lambda w: (w.running_in(Lane.OCR), -w.read_s))
        reader.read_s = self._now()
        self._readers[display] = reader
        self._readers.move_to_end(display)
        if len(self._readers) > _MOST_READERS:
            self._readers.popitem(last=False)
        return reader

    def _send_job(self, worker: Worker, entry: JobEntry) -> None:
        entry.sent_s = entry.listed_s = self._now()
        job = entry.work.build(entry.job_id)
        if job is None:
            self._charge_display(entry)
            return
        entry.tries += 1
        entry.source = job.view.source
        worker.running[entry.job_id] = entry
        waits = [ask.wait_id for ask in job.asks] + list(job.remember)
        _LOG.debug(
            "job.sent",
            job=job.job_id,
            lane=entry.work.lane.value,
            worker=worker.child.name,
            source=job.view.source,
            frame=job.min_frame,
            waits=waits,
            tries=entry.tries,
        )
        if not self._keeper.send(worker.child, job):
            del worker.running[entry.job_id]
            self._retry_job(entry, "the evaluator could not be reached")

    def _charge_display(self, entry: JobEntry) -> None:
        self._queue[entry.work.lane].charge(entry.work.display, self._now() - entry.sent_s)

    def _retry_job(self, entry: JobEntry, reason: str) -> None:
        self._charge_display(entry)
        if entry.tries >= _TRIES:
            entry.work.on_lost(reason)
            return
        self._enqueue_job(entry)

    # ---- messages of evaluators ------------------------------------------------------------------------------------

    def handle_message(self, child: Child, message: Message) -> None:
        worker = self.workers[int(child.name)]
        if isinstance(message, JobResult):
            self._handle_result(worker, message)
        elif isinstance(message, EvaluatorHello):
            worker.ready = True
            for asker in self.widget_askers:
                asker.evaluator_ready(worker)
        elif isinstance(message, WidgetAnswer):
            for asker in self.widget_askers:
                asker.widgets_answered(worker, message)
        elif isinstance(message, Judges):
            worker.judges = message.judges
            if self._events.judges_changed(self.list_judges()):
                for observer in self.judges_changed:
                    observer()
        elif isinstance(message, Heartbeat):
            self._renew_jobs(worker, message.jobs)

    def _handle_result(self, worker: Worker, claimed: JobResult) -> None:
        result = self._check_result(worker, claimed)
        if result.status == "part":
            self._handle_part(worker, result)
            return
        running = worker.running.pop(result.job_id, None)
        if running is None:
            return  # its lease ended; another worker has it
        self._results.add(result.status)
        ms = round((self._now() - running.sent_s) * 1000, 1)
        _LOG.debug("job.result", job=result.job_id, status=result.status, frame=result.frame, ms=ms)
        self._judge_metrics.count_result(result)
        self._charge_display(running)
        self._measure_pace(running)
        running.work.on_result(result)

    def _measure_pace(self, entry: JobEntry) -> None:
        """Update the lane's time per picture with the time since its last result, or since this job was sent."""
        lane, now_s = entry.work.lane, self._now()
        took_s = now_s - max(self._result_s.get(lane, 0.0), entry.sent_s)
        pace_s = self._paces_s.get(lane, took_s)
        self._paces_s[lane] = pace_s + (took_s - pace_s) / _RECENT_RESULTS
        self._result_s[lane] = now_s

    def _check_result(self, worker: Worker, result: JobResult) -> JobResult:
        """Return `result`, or a failure when its frame is impossible because the ring is damaged. Raises: ProtocolError
        when the ring is fine, so that the evaluator made that frame up.
        """
        running = worker.running.get(result.job_id)
        if running is None or self._sources.can_have_frame(running.source, result.frame):
            return result
        reason = f"{running.source} cannot have come to frame {result.frame} already"
        if not self._watched_displays.end_damaged(running.source):
            raise ProtocolError(reason)
        return JobResult(result.job_id, "failed", f"{reason}: its ring is damaged")

    def _handle_part(self, worker: Worker, result: JobResult) -> None:
        running = worker.running.get(result.job_id)
        if running is not None:
            self._judge_metrics.count_result(result)
            running.work.on_part(result)

    def _renew_jobs(self, worker: Worker, jobs: tuple[str, ...]) -> None:
        for job_id in jobs:
            running = worker.running.get(job_id)
            if running is not None:
                running.listed_s = self._now()

    def child_ended(self, child: Child, reason: str) -> None:
        """Give the dead worker's jobs to another worker."""
        worker = self.workers[int(child.name)]
        worker.ready = False
        worker.read_s = 0.0
        for display in [name for name, reader in self._readers.items() if reader is worker]:
            del self._readers[display]
        for asker in self.widget_askers:
            asker.evaluator_ended(worker)
        running, worker.running = worker.running, {}
        for entry in running.values():
            self._retry_job(entry, f"evaluator {child.name} ended: {reason}")
        self._events.child_ended(child)

    def _fail_queue(self, lane: Lane, reason: str) -> None:
        for entry in self._queue[lane].clear():
            entry.work.on_lost(reason)

    def _check_leases(self) -> None:
        if not self._keeper.receive_all():
            return
        lease_s = self._settings.evaluator.lease_s
        for worker in self.workers:
            heard_s = self._now() - worker.child.unserved_s
            late = [k for k, r in worker.running.items() if heard_s - r.listed_s > lease_s]
            for job_id in late:
                running = worker.running.pop(job_id)
                self._leases_lost += 1
                _LOG.warning("job.lease_lost", job=job_id, worker=worker.child.name)
                self._retry_job(running, f"evaluator {worker.child.name} lost the job")
            self._end_hung(worker)

    def _on_absence(self, seconds: float) -> None:
        """Extend leases by the time in which no heartbeat could be received."""
        for worker in self.workers:
            for running in worker.running.values():
                running.listed_s += seconds
                running.sent_s += seconds

    def _end_hung(self, worker: Worker) -> None:
        """Kill a worker that lists a job for too long: a hung engine or driver cannot be interrupted."""
        limit_s = self._settings.evaluator.job_max_s
        hung = {k: r for k, r in worker.running.items() if self._now() - r.sent_s > limit_s}
        if not hung or not worker.ready:
            return
        worker.ready = False
        innocent = {k: r for k, r in worker.running.items() if k not in hung}
        worker.running = hung
        self._requeue_jobs(innocent)
        _LOG.error("job.hung", jobs=sorted(hung), worker=worker.child.name, handed_over=len(innocent))
        self._keeper.kill(worker.child, f"a job in it took longer than {limit_s:g} s ([evaluator] job_max_s)")
