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
from acud.protocol.evaluation import Job
from acud.protocol.questions import FindAsk, Hide, View
from acud.protocol.requests.daemon import Purpose
from acud.protocol.requests.gui import FindReply, GuiFind
from acud.supervisor.control import Call, handles
from acud.supervisor.core import Core
from acud.supervisor.evaluator_pool import EvaluatorPool
from acud.supervisor.feature import RunningFeature
from acud.supervisor.frame_sources import Source
from acud.supervisor.fresh_frames import FreshTarget
from acud.supervisor.job_queues import Lane
from acud.supervisor.ports import ElementPlaces, LocatedElement, Mapped, SearchOutcome, SearchRequest
from acud.supervisor.redaction import Redaction
from acud.supervisor.screenshots import ScreenshotTarget
from acud.supervisor.usage_log import UsageLog
from acud.types import Rect
from acud.types.actions import Point
from acud.types.grounding import Candidate, Found, GroundingBackend, GroundingMethod, Tried
from acud.types.scene import handle_of
from acud.types.tasks import ActionType
from acud.waits.targets import parse_target


def area(fresh_target: FreshTarget) -> Rect:
    target, origin = fresh_target.picture, origin_of(fresh_target.picture)
    crop = target.crop or Rect(0, 0, target.source.width, target.source.height)
    return crop.shift(origin.x, origin.y)


def origin_of(target: ScreenshotTarget) -> Point:
    """Return where the top left pixel of the source of `target` is on the display."""
    return Point(0, 0) if target.place is None else Point(target.place.x, target.place.y)


def _map_point(box: Rect, x: float, y: float) -> Point | None:
    """Return the point of the display for coordinates in `box`; None outside of it."""
    point = Point(box.x + int(x), box.y + int(y))
    return point if box.holds(point.x, point.y) else None


class _Search:
    """One search: the result so far is of the newest frame that a method looked at."""

    def __init__(self, search: ElementSearch, fresh_target: FreshTarget, request: SearchRequest) -> None:
        self._search = search
        self._request = request
        self._fresh_target = fresh_target
        self._source = fresh_target.picture.source
        self._epoch, self._frame = self._source.epoch, self._source.frame

    async def find(self, mapped: Mapped) -> SearchOutcome:
        """Resolve an element's id or coordinates at once, else ask the methods. Raises: AcudError."""
        handle, given = handle_of(self._request.description), coordinates(self._request.description)
        if handle is not None:
            found = self._find_located(await self._search.elements.locate(self._fresh_target.watched, handle))
        elif given is not None:
            found = _find_directly(given, mapped(*given))
        else:
            found = await self._ask_methods()
        limited = replace(found, candidates=found.candidates[: self._request.max_candidates])
        return SearchOutcome(limited, self._source, self._epoch, self._frame)

    def _find_located(self, element: LocatedElement) -> Found:
        if not area(self._fresh_target).holds(element.point.x, element.point.y):
            where = f"{element.id} at {element.point.x},{element.point.y} lies outside the target"
            return Found("not_found", (), (Tried(GroundingMethod.SCENE, "nothing", where),), where)
        one = Candidate(element.point, element.box, 1.0, GroundingMethod.SCENE, element.words, element.role)
        return Found("found", (one,), (Tried(GroundingMethod.SCENE, "sure"),))

    async def _ask_methods(self) -> Found:
        """Ask the methods in turn until a method is sure. Raises: Unavailable."""
        tried = Tried(GroundingMethod.DIRECT, "nothing", "the description holds no coordinates")
        found = search_progress.add(search_progress.nothing_yet(), tried, ())
        methods = search_progress.methods(self._search.backend(self._request))
        while (method := search_progress.next_method(methods, found)) is not None:
            found = await self._ask_method(method, found)
        return found

    async def _ask_method(self, method: GroundingMethod, found: Found) -> Found:
        """Return `found` with what `method` adds, or why it could not look. Raises: Unavailable for a lost source."""
        target = self._fresh_target.picture
        view = View(self._source.name, target.crop, target.ignore)
        fill = partial(self._fill_job, method, found)
        try:
            result = await self._search.pool.look(self._search.lane(method), self._source, fill, view)
        except Unavailable as fault:
            if not self._source.live:
                raise
            return _note_blind(found, method, fault.message)
        if result.status != "done" or result.found is None:
            overwritten = "its frame was overwritten each time" if result.status == "frame_gone" else ""
            return _note_blind(found, method, overwritten or result.reason or result.status)
        for tried in result.found.tried[len(found.tried) :]:
            self._search.pay(tried, self._request.task_id)
        self._epoch, self._frame = result.epoch, result.frame
        return result.found

    def _fill_job(self, method: GroundingMethod, found: Found, job: Job) -> Job:
        watched = self._fresh_target.watched
        ask = FindAsk(
            self._request.description,
            (method,),
            found,
            origin_of(self._fresh_target.picture),
            watched.windows,
            watched.focused,
            watched.bus_address,
            watched.a11y_address,
            self._request.verb,
            self._request.max_candidates,
        )
        return replace(job, find=ask, hide=self._search.hide(self._source, method))


def _find_directly(given: tuple[float, float], point: Point | None) -> Found:
    if point is None:
        where = f"({given[0]:g}, {given[1]:g}) lies outside the target"
        return Found("not_found", (), (Tried(GroundingMethod.DIRECT, "nothing", where),), where)
    candidate = Candidate(point, None, 1.0, GroundingMethod.DIRECT)
    return search_progress.add(search_progress.nothing_yet(), Tried(GroundingMethod.DIRECT, "sure"), (candidate,))


def _note_blind(found: Found, method: GroundingMethod, reason: str) -> Found:
    """Return `found` with why `method` could not look."""
    return search_progress.add(found, Tried(method, "unavailable", reason), ())


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

    async def find(
        self, fresh_target: FreshTarget, request: SearchRequest, mapped: Mapped | None = None
    ) -> SearchOutcome:
        """Return what was found on `fresh_target`, a fresh frame of a target. Raises: AcudError.

        `mapped` maps coordinates in the description to the display (None: they are pixels of the target).
        """
        return await _Search(self, fresh_target, request).find(mapped or partial(_map_point, area(fresh_target)))

    def backend(self, request: SearchRequest) -> GroundingBackend:
        """Return the backend that decides which methods may be tried."""
        return request.backend or GroundingBackend(self._settings.grounding.backend)

    def lane(self, method: GroundingMethod) -> Lane:
        """Return the lane for `method`: OmniParser reads text too, and remote models get redacted pictures."""
        if method is GroundingMethod.OCR:
            return Lane.OCR
        if method is GroundingMethod.OMNIPARSER:
            return Lane.REDACT
        reads = self._redaction.needs_reader(local=self._is_local(method), keeps_evidence=False)
        return Lane.REDACT if reads else Lane.JUDGE

    def hide(self, source: Source, method: GroundingMethod) -> Hide | None:
        return self._redaction.find_hidden(source, leaves=not self._is_local(method))

    def pay(self, tried: Tried, task_id: str) -> None:
        """Record the cost of a method that asked a model."""
        via, model = self._model_of(tried.method)
        if via and tried.is_paid:
            tokens = (tried.tokens_in, tried.tokens_out)
            self._usage_log.enter(Purpose.FIND, via, tried.cost_usd, tokens, model=model, task_id=task_id)

    def _is_local(self, method: GroundingMethod) -> bool:
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


start = GroundingFeature


@handles(GuiFind)
async def gui_find(feature: GroundingFeature, request: GuiFind, call: Call) -> FindReply:
    """Search a grab made after this call."""
    named = request.display or ("" if request.task_id else feature.elements.display_of(request.description))
    place = feature.tasks.find_place(request.task_id, request.target, named)
    target = parse_target(request.target, place.display)
    log = feature.tasks.begin_action(
        place.task_id, ActionType.VISION, f"find {request.description[:200]} in {request.target}"
    )
    wanted = SearchRequest(
        request.description, request.backend, max_candidates=request.max_candidates, task_id=place.task_id
    )
    try:
        fresh = await feature.fresh_frames.find(target)
        outcome = await feature.search.find(fresh, wanted)
    except AcudError as fault:
        log(fault, None)
        raise
    found, source = outcome.found, outcome.source
    log(None, {"status": found.status, "candidates": len(found.candidates)})
    token = feature.targets.make_token(source, outcome.frame)
    return FindReply(source.display, found, outcome.epoch, outcome.frame, token)
