"""Searches in progress: coordinates at once, then one job for each method, each on a fresh frame.

Each method is a job of its own, so that a search holds the OCR engine's one place only while it reads: an accessibility
bus may be slow and a model take minutes, and most searches end before any text is read.
"""

from __future__ import annotations

from functools import partial

from msgspec.structs import replace

from acud.base.errors import AcudError, Unavailable
from acud.config import Settings
from acud.features.grounding import search_progress
from acud.features.grounding.visible_words import coordinates
from acud.protocol.evaluation import Job, JobResult
from acud.protocol.questions import FindAsk, Hide, View
from acud.protocol.requests.daemon import Purpose
from acud.protocol.requests.gui import FindReply, GuiFind
from acud.supervisor.control import Call, handles
from acud.supervisor.core import Core
from acud.supervisor.evaluator_pool import EvaluatorPool
from acud.supervisor.feature import RunningFeature
from acud.supervisor.frame_sources import Source
from acud.supervisor.fresh_frames import FreshTarget
from acud.supervisor.job_queues import FrameWork, Lane
from acud.supervisor.ports import ElementPlaces, LocatedElement, Mapped, SearchDone, SearchOutcome, SearchRequest
from acud.supervisor.redaction import Redaction
from acud.supervisor.screenshots import ScreenshotTarget
from acud.supervisor.usage_log import UsageLog
from acud.types import Rect
from acud.types.actions import Point
from acud.types.grounding import Candidate, Found, GroundingBackend, GroundingMethod, Tried
from acud.types.scene import handle_of
from acud.types.tasks import ActionType


def area(fresh_target: FreshTarget) -> Rect:
    """Return the target's place on its display."""
    target, origin = fresh_target.picture, origin_of(fresh_target.picture)
    crop = target.crop or Rect(0, 0, target.source.width, target.source.height)
    return crop.shift(origin.x, origin.y)


def origin_of(target: ScreenshotTarget) -> Point:
    """Return where the top left pixel of the source of `target` is on the display."""
    return Point(0, 0) if target.place is None else Point(target.place.x, target.place.y)


def mapping(fresh_target: FreshTarget) -> Mapped:
    """Return the function from pixels of the target to points of the display."""
    box = area(fresh_target)

    def to_display(x: float, y: float) -> Point | None:
        point = Point(box.x + int(x), box.y + int(y))
        return point if box.holds(point.x, point.y) else None

    return to_display


class _Search:
    """One search: the result so far, and the next method."""

    def __init__(
        self, search: ElementSearch, fresh_target: FreshTarget, wanted: SearchRequest, done: SearchDone
    ) -> None:
        self._search = search
        self._wanted = wanted
        self._done = done
        self._found = search_progress.nothing_yet()
        self._fresh_target = fresh_target
        self._source = fresh_target.picture.source
        self._epoch, self._frame = self._source.epoch, self._source.frame

    def begin(self, mapped: Mapped) -> None:
        """Resolve an element's id or coordinates at once, else ask the first method."""
        handle = handle_of(self._wanted.description)
        if handle is not None:
            self._search.elements.locate(self._fresh_target.watched, handle, self._on_located)
            return
        given = coordinates(self._wanted.description)
        if given is not None:
            self._end_directly(given, mapped(*given))
            return
        tried = Tried(GroundingMethod.DIRECT, "nothing", "the description holds no coordinates")
        self._found = search_progress.add(self._found, tried, ())
        self._go_on()

    def _end_directly(self, given: tuple[float, float], point: Point | None) -> None:
        if point is None:
            where = f"({given[0]:g}, {given[1]:g}) lies outside the target"
            tried = Tried(GroundingMethod.DIRECT, "nothing", where)
            self._end(Found("not_found", (), (tried,), where))
            return
        candidate = Candidate(point, None, 1.0, GroundingMethod.DIRECT)
        self._end(search_progress.add(self._found, Tried(GroundingMethod.DIRECT, "sure"), (candidate,)))

    def _on_located(self, outcome: LocatedElement | AcudError) -> None:
        """Return the element of an id, if it lies in the target."""
        if isinstance(outcome, AcudError):
            self._done(outcome)
            return
        if not area(self._fresh_target).holds(outcome.point.x, outcome.point.y):
            where = f"{outcome.id} at {outcome.point.x},{outcome.point.y} lies outside the target"
            self._end(Found("not_found", (), (Tried(GroundingMethod.SCENE, "nothing", where),), where))
            return
        one = Candidate(outcome.point, outcome.box, 1.0, GroundingMethod.SCENE, outcome.words, outcome.role)
        self._end(Found("found", (one,), (Tried(GroundingMethod.SCENE, "sure"),)))

    def _go_on(self) -> None:
        backend = self._search.backend(self._wanted)
        method = search_progress.next_method(search_progress.methods(backend), self._found)
        if method is None:
            self._end(self._found)
            return
        target = self._fresh_target.picture
        view = View(self._source.name, target.crop, target.ignore)
        fill, looked = partial(self._fill_job, method), partial(self._on_result, method)
        submit = self._search.pool.submit
        submit(FrameWork(submit, self._search.lane(method), self._source, fill, looked, view=view))

    def _fill_job(self, method: GroundingMethod, job: Job) -> Job:
        """Return `job` with the question for `method` and the current windows."""
        watched = self._fresh_target.watched
        ask = FindAsk(
            self._wanted.description,
            (method,),
            self._found,
            origin_of(self._fresh_target.picture),
            watched.windows,
            watched.focused,
            watched.bus_address,
            watched.a11y_address,
            self._wanted.verb,
            self._wanted.max_candidates,
        )
        return replace(job, find=ask, hide=self._search.hide(self._source, method))

    def _on_result(self, method: GroundingMethod, outcome: JobResult | Unavailable) -> None:
        """Add a method's result, or why it could not look; a lost source ends the search."""
        if isinstance(outcome, Unavailable) and not self._source.live:
            self._done(outcome)
        elif isinstance(outcome, Unavailable):
            self._note_blind(method, outcome.message)
        elif outcome.status == "done" and outcome.found is not None:
            for tried in outcome.found.tried[len(self._found.tried) :]:
                self._search.pay(tried, self._wanted.task_id)
            self._found, self._epoch, self._frame = outcome.found, outcome.epoch, outcome.frame
            self._go_on()
        else:
            overwritten = "its frame was overwritten each time" if outcome.status == "frame_gone" else ""
            self._note_blind(method, overwritten or outcome.reason or outcome.status)

    def _note_blind(self, method: GroundingMethod, reason: str) -> None:
        """Record that a method could not look."""
        self._found = search_progress.add(self._found, Tried(method, "unavailable", reason), ())
        self._go_on()

    def _end(self, found: Found) -> None:
        limited = replace(found, candidates=found.candidates[: self._wanted.max_candidates])
        self._done(SearchOutcome(limited, self._source, self._epoch, self._frame))


class ElementSearch:
    """Runs searches over the evaluator pool."""

    def __init__(
        self,
        pool: EvaluatorPool,
        redaction: Redaction,
        settings: Settings,
        elements: ElementPlaces,
        usage_log: UsageLog,
    ) -> None:
        self.pool = pool
        self.elements = elements
        self._redaction = redaction
        self._settings = settings
        self._usage_log = usage_log

    def find(
        self, fresh_target: FreshTarget, wanted: SearchRequest, done: SearchDone, mapped: Mapped | None = None
    ) -> None:
        """Search `fresh_target`, a fresh frame of a target; `done` gets the result or the fault.

        `mapped` maps coordinates in the description to the display (None: they are pixels of the target).
        """
        _Search(self, fresh_target, wanted, done).begin(mapped or mapping(fresh_target))

    def backend(self, wanted: SearchRequest) -> GroundingBackend:
        """Return the backend that decides which methods may be tried."""
        return wanted.backend or GroundingBackend(self._settings.grounding.backend)

    def lane(self, method: GroundingMethod) -> Lane:
        """Return the lane for `method`: OmniParser reads text too, and remote models get redacted pictures."""
        if method is GroundingMethod.OCR:
            return Lane.OCR
        if method is GroundingMethod.OMNIPARSER:
            return Lane.REDACT
        reads = self._redaction.needs_reader(local=self._is_local(method), keeps_evidence=False)
        return Lane.REDACT if reads else Lane.JUDGE

    def hide(self, source: Source, method: GroundingMethod) -> Hide | None:
        """Return what to hide of `source` from a remote model."""
        return self._redaction.find_hidden(source, leaves=not self._is_local(method))

    def pay(self, tried: Tried, task_id: str) -> None:
        """Record the cost of a method that asked a model."""
        via, model = self._model_of(tried.method)
        if via and tried.is_paid:
            tokens = (tried.tokens_in, tried.tokens_out)
            self._usage_log.enter(Purpose.FIND, via, tried.cost_usd, tokens, model=model, task_id=task_id)

    def _is_local(self, method: GroundingMethod) -> bool:
        """Return whether the pictures for `method` stay on this machine."""
        via, _ = self._model_of(method)
        return not via or self._settings.backends[via].is_local

    def _model_of(self, method: GroundingMethod) -> tuple[str, str]:
        """Return the backend and the model of `method`, both "" for a method without a model."""
        grounding, backends = self._settings.grounding, self._settings.backends
        via = {
            GroundingMethod.UITARS: grounding.uitars_via or "ollama",
            GroundingMethod.CLAUDE_CU: "claude",
            GroundingMethod.OMNIPARSER: grounding.omniparser_picker,
        }.get(method, "")
        own = {
            GroundingMethod.UITARS: grounding.uitars_model(backends),
            GroundingMethod.OMNIPARSER: grounding.omniparser_picker_model,
        }.get(method, "")
        return via, own or (backends[via].model if via else "")


class GroundingFeature(RunningFeature):
    """Finds elements by their description."""

    def __init__(self, core: Core) -> None:
        self.fresh_frames = core.fresh_frames
        self.targets = core.waits.targets
        self.tasks = core.ports.tasks
        self.elements = core.ports.elements
        self.search = ElementSearch(core.pool, core.redaction, core.settings, self.elements, core.usage_log)
        core.ports.provide(finder=self.search)


def start(core: Core) -> GroundingFeature:
    """Start the feature."""
    return GroundingFeature(core)


@handles(GuiFind)
def gui_find(feature: GroundingFeature, request: GuiFind, call: Call) -> None:
    """Search a grab made after this call."""
    named = request.display or ("" if request.task_id else feature.elements.display_of(request.description))
    place = feature.tasks.place(request.task_id, request.target, named)
    log = feature.tasks.begin_action(
        place.task_id, ActionType.VISION, f"find {request.description[:200]} in {request.target}"
    )
    wanted = SearchRequest(
        request.description, request.backend, max_candidates=request.max_candidates, task_id=place.task_id
    )

    def fail(fault: AcudError) -> None:
        log(fault, None)
        call.fail(fault)

    def finish(outcome: SearchOutcome | AcudError) -> None:
        if isinstance(outcome, AcudError):
            fail(outcome)
            return
        found, source = outcome.found, outcome.source
        log(None, {"status": found.status, "candidates": len(found.candidates)})
        token = feature.targets.make_token(source, outcome.frame)
        call.reply(FindReply(source.display, found, outcome.epoch, outcome.frame, token))

    def on_target(outcome: FreshTarget | AcudError) -> None:
        if isinstance(outcome, AcudError):
            fail(outcome)
        else:
            feature.search.find(outcome, wanted, call.later(finish))

    feature.fresh_frames.resolve(request.target, place.display, (), call.later(on_target))
