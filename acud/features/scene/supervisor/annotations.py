"""What vision models said of displays: told by a client or asked for here, numbered, and dropped as pixels change.

Only a request leads here. No look at a display ever asks a model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from acud.config import Settings
from acud.errors import AcudError, InvalidRequest, NotFound, Unavailable
from acud.features.scene.annotations import ChangedSince, DisplayAnnotation, numbered, standing
from acud.features.scene.element_ids import ElementIds
from acud.features.scene.tables import ReservedNumbers
from acud.protocol.evaluation import Described, Job, JobResult
from acud.protocol.questions import DescribeAsk, Hide, View
from acud.protocol.requests.daemon import Purpose
from acud.supervisor.evaluator_pool import EvaluatorPool
from acud.supervisor.frame_sources import Source
from acud.supervisor.job_queues import Lane
from acud.supervisor.redaction import Redaction
from acud.supervisor.usage_log import UsageLog
from acud.supervisor.waits.target_tracker import TargetTracker
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import Rect
from acud.types.scene import Remark
from acud.waits.tiles import Grid

_TRIES = 5


class Description(Struct, frozen=True):
    """What a model said, and the number of the frame it was shown."""

    described: Described
    frame: int


Done = Callable[[Description | AcudError], None]


class _Statement(Struct, frozen=True):
    """Something said of the frame that `token` names."""

    token: str
    what: DisplayAnnotation


class _AnnotatedDisplay:
    """What was said of one display, the sentence and the elements each of a frame of its own."""

    def __init__(self, ids: ElementIds) -> None:
        self.ids = ids
        self.sentence: _Statement | None = None
        self.elements: _Statement | None = None


class SceneAnnotations:
    """Keeps what was said of each display, by its number."""

    def __init__(
        self,
        targets: TargetTracker,
        numbers: ReservedNumbers,
        pool: EvaluatorPool,
        redaction: Redaction,
        settings: Settings,
        usage_log: UsageLog,
    ) -> None:
        self._targets = targets
        self._numbers = numbers
        self._pool = pool
        self._redaction = redaction
        self._settings = settings
        self._usage_log = usage_log
        self._displays: dict[int, _AnnotatedDisplay] = {}

    def of(self, number: int, source: Source | None) -> DisplayAnnotation:
        """Return what still holds of the display; nothing where it has no pixels now."""
        kept = self._displays.get(number)
        if kept is None:
            return DisplayAnnotation()
        sentence, elements = (self._standing(said, source) for said in (kept.sentence, kept.elements))
        return DisplayAnnotation(sentence.vlm_scene, elements.vlm_elements)

    def _standing(self, said: _Statement | None, source: Source | None) -> DisplayAnnotation:
        if said is None or source is None or not source.live:
            return DisplayAnnotation()
        changed = self._targets.touched(source, said.token)
        return standing(said.what, None if changed is None else _since(source, changed))

    def forget(self, watched: WatchedDisplay) -> None:
        """Drop what was said of a display that is not watched any more."""
        self._displays.pop(watched.number, None)

    # ---- said ------------------------------------------------------------------------------------------------------

    def say(self, number: int, source: Source, frame: int, scene: str | None, remarks: Sequence[Remark] | None) -> None:
        """Keep what was said of `frame` of the display; None leaves what was said before, "" takes the sentence back.

        Raises: InvalidRequest for a box outside the display; nothing is kept then.
        """
        inside = None if remarks is None else [_inside(one, source) for one in remarks]
        token = self._targets.token(source, frame)
        kept = self._display(number)
        if scene is not None:
            kept.sentence = _Statement(token, DisplayAnnotation(" ".join(scene.split()) or None))
        if inside is not None:
            # An element that fell is gone for good: what is said of its place now is another one.
            left = self._standing(kept.elements, source).vlm_elements or ()
            numbered([Remark(one.kind, one.desc, one.bbox) for one in left], kept.ids, number)
            kept.elements = _Statement(token, DisplayAnnotation(None, numbered(inside, kept.ids, number)))
            self._numbers.given(f"v{number}", kept.ids.next_number)

    def _display(self, number: int) -> _AnnotatedDisplay:
        if number not in self._displays:
            self._displays[number] = _AnnotatedDisplay(ElementIds("v", number, self._numbers.first(f"v{number}")))
        return self._displays[number]

    # ---- asked -----------------------------------------------------------------------------------------------------

    def backend(self, asked: str) -> str:
        """Return the name of the model to ask; "auto" is the first that `vision` names, else ollama.

        Raises: NotFound for a name that no model has.
        """
        known = self._settings.backends().named()
        chain = [name for name in self._settings.vision.chain() if name in known] or ["ollama"]
        name = chain[0] if asked == "auto" else asked
        if name not in known:
            raise NotFound(f"no vision model is called {name!r}", hint=f"there are: auto, {', '.join(known)}")
        return name

    def ask(self, source: Source, backend: str, secure: tuple[Rect, ...], done: Done, task_id: str = "") -> None:
        """Ask the model `backend` about the newest frame, for `task_id`; `done` gets what it said, or the fault."""
        is_local = self._settings.backends().named()[backend].is_local
        reads = self._redaction.reads(local=is_local, keeps_evidence=False)
        lane = Lane.REDACT if reads else Lane.JUDGE
        self._pool.submit(_DescribeWork(self, source, lane, DescribeAsk(backend, secure), done, task_id))

    def again(self, work: _DescribeWork) -> None:
        """Queue `work` once more."""
        self._pool.submit(work)

    def pay(self, backend: str, said: Described, task_id: str) -> None:
        """Enter what asking cost, also where the answer was of no use."""
        tokens = (said.tokens_in, said.tokens_out)
        self._usage_log.enter(Purpose.ANNOTATE, backend, said.cost_usd, tokens, model=said.model, task_id=task_id)

    def hide(self, source: Source) -> Hide | None:
        """Return what rules hide of `source` from a model elsewhere."""
        return self._redaction.of(source)


def _since(source: Source, changed: int) -> ChangedSince:
    grid = Grid(source.width, source.height)
    share = changed.bit_count() / max(1, grid.columns * grid.rows)
    return ChangedSince(share, lambda box: bool(grid.touched(box) & changed))


def _inside(remark: Remark, source: Source) -> Remark:
    box = remark.bbox.intersect(Rect(0, 0, source.width, source.height))
    if box is None:
        x, y, w, h = remark.bbox.x, remark.bbox.y, remark.bbox.w, remark.bbox.h
        raise InvalidRequest(
            f"the box {x},{y},{w},{h} of {remark.desc[:60]!r} is not on the display, which is"
            f" {source.width}x{source.height}",
            hint="give boxes in pixels of the display",
        )
    return Remark(remark.kind, remark.desc, box)


class _DescribeWork:
    """One question about the newest frame of a display that is at least the one of now."""

    priority = 0

    def __init__(
        self, annotations: SceneAnnotations, source: Source, lane: Lane, ask: DescribeAsk, done: Done, task_id: str
    ) -> None:
        self.display = source.display
        self.lane = lane
        self._annotations = annotations
        self._source = source
        self._ask = ask
        self._done = done
        self._task_id = task_id
        self._epoch, self._frame = source.epoch, source.frame
        self._tries = 0

    def build(self, job_id: str) -> Job | None:
        """Return the job for the ring as it is now; the source may have been lost meanwhile."""
        source = self._source
        if not source.live or source.path is None:
            self._done(Unavailable(f"{source.name} was lost before it was described: {source.lost_reason}"))
            return None
        least = min(self._frame, source.frame) if source.epoch == self._epoch else source.frame
        hide = self._annotations.hide(source)
        return Job(job_id, View(source.name), str(source.path), source.epoch, least, describe=self._ask, hide=hide)

    def partly(self, result: JobResult) -> None:
        """An answer has no parts."""

    def finished(self, result: JobResult) -> None:
        """Hand on the answer, or try the next frame when this one was overwritten."""
        if result.status == "frame_gone" and self._tries < _TRIES:
            self._tries += 1
            self._annotations.again(self)
        elif result.status == "done" and result.described is not None:
            self._annotations.pay(self._ask.backend, result.described, self._task_id)
            self._done(_answer(Description(result.described, result.frame)))
        else:
            self._done(Unavailable(f"nobody described {self.display}: {result.reason or result.status}"))

    def lost(self, reason: str) -> None:
        """Nobody could be asked."""
        self._done(Unavailable(f"nobody described {self.display}: {reason}", hint="acud status"))


def _answer(told: Description) -> Description | Unavailable:
    said = told.described
    if not said.code:
        return told
    cost = {"cost_usd": said.cost_usd} if said.cost_usd is not None else {}
    return Unavailable(f"no description: {said.code}: {said.reason}", hint="acud status; docs/scene.md", **cost)
