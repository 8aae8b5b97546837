"""Vision models' descriptions of displays: sent by a client or asked for here, numbered, and dropped as pixels change.

Only a request for one asks a model; a look at a display never does.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from acud.base.errors import InvalidRequest, NotFound, Unavailable
from acud.features.scene.annotations import ChangedSince, DisplayAnnotation, drop_outdated, number_remarks
from acud.features.scene.element_ids import ElementIds
from acud.features.scene.tables import ReservedNumbers
from acud.protocol.evaluation import Described, Job
from acud.protocol.questions import DescribeAsk
from acud.protocol.requests.daemon import Purpose
from acud.supervisor.core import Core
from acud.supervisor.frame_sources import Source
from acud.supervisor.job_queues import Lane
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import Rect
from acud.types.scene import Remark
from acud.waits.tiles import Grid


class Description(Struct, frozen=True):
    """A model's description, and the number of the frame that it describes."""

    described: Described
    frame: int


class _Statement(Struct, frozen=True):
    """Annotations of the frame that `token` names."""

    token: str
    what: DisplayAnnotation


class _AnnotatedDisplay:
    """The annotations of one display; the sentence and the elements may be of different frames."""

    def __init__(self, ids: ElementIds) -> None:
        self.ids = ids
        self.sentence: _Statement | None = None
        self.elements: _Statement | None = None


class SceneAnnotations:
    """Keeps the annotations of each display, by its number."""

    def __init__(self, core: Core, numbers: ReservedNumbers) -> None:
        self._targets, self._pool, self._redaction = core.waits.targets, core.pool, core.redaction
        self._settings, self._usage_log = core.settings, core.usage_log
        self._numbers = numbers
        self._displays: dict[int, _AnnotatedDisplay] = {}

    def find_valid(self, number: int, source: Source | None) -> DisplayAnnotation:
        """Return the valid annotations of the display; none while it has no pixels."""
        kept = self._displays.get(number)
        if kept is None:
            return DisplayAnnotation()
        sentence, elements = (self._drop_outdated(kept_one, source) for kept_one in (kept.sentence, kept.elements))
        return DisplayAnnotation(sentence.vlm_scene, elements.vlm_elements)

    def _drop_outdated(self, statement: _Statement | None, source: Source | None) -> DisplayAnnotation:
        if statement is None or source is None or not source.live:
            return DisplayAnnotation()
        changed = self._targets.changed_since(source, statement.token)
        return drop_outdated(statement.what, None if changed is None else _describe_change(source, changed))

    def forget(self, watched: WatchedDisplay) -> None:
        """Drop the annotations of a display that is not watched any more."""
        self._displays.pop(watched.number, None)

    def record(
        self, number: int, source: Source, frame: int, scene: str | None, remarks: Sequence[Remark] | None
    ) -> None:
        """Keep annotations of `frame` of the display; None keeps the earlier ones, "" removes the sentence.

        Raises: InvalidRequest for a box outside the display, without a change.
        """
        inside = None if remarks is None else [_clip_remark(one, source) for one in remarks]
        token = self._targets.make_token(source, frame)
        if number not in self._displays:
            self._displays[number] = _AnnotatedDisplay(ElementIds("v", number, self._numbers.first(f"v{number}")))
        kept = self._displays[number]
        if scene is not None:
            kept.sentence = _Statement(token, DisplayAnnotation(" ".join(scene.split()) or None))
        if inside is not None:
            # Match with valid elements only: a new element in the place of a dropped one gets a new id.
            left = self._drop_outdated(kept.elements, source).vlm_elements or ()
            number_remarks([Remark(one.kind, one.desc, one.bbox) for one in left], kept.ids, number)
            kept.elements = _Statement(token, DisplayAnnotation(None, number_remarks(inside, kept.ids, number)))
            self._numbers.record_given(f"v{number}", kept.ids.next_number)

    def choose_backend(self, backend: str) -> str:
        """Return the name of the model to ask; "auto" is the first that `vision` names, else ollama.

        Raises: NotFound for an unknown name.
        """
        known = self._settings.backends
        chain = [name for name in self._settings.vision.chain() if name in known] or ["ollama"]
        name = chain[0] if backend == "auto" else backend
        if name not in known:
            raise NotFound(f"no vision model is called {name!r}", hint=f"there are: auto, {', '.join(known)}")
        return name

    async def ask(self, source: Source, backend: str, secure: tuple[Rect, ...], task_id: str = "") -> Description:
        """Return what the model `backend` sees in the newest frame, for `task_id`. Raises: Unavailable."""
        is_local = self._settings.backends[backend].is_local
        reads = self._redaction.needs_reader(local=is_local, keeps_evidence=False)
        lane, fill = Lane.REDACT if reads else Lane.JUDGE, partial(self._fill_job, source, backend, secure)
        try:
            result = await self._pool.look(lane, source, fill)
            described, reason = result.described if result.status == "done" else None, result.reason or result.status
        except Unavailable as lost:
            described, reason = None, lost.message
        if described is None:
            raise Unavailable(f"no model described {source.display}: {reason}", hint="acud status")
        tokens = (described.tokens_in, described.tokens_out)
        self._usage_log.enter(
            Purpose.ANNOTATE, backend, described.cost_usd, tokens, model=described.model, task_id=task_id
        )
        if described.code:
            cost = {"cost_usd": described.cost_usd} if described.cost_usd is not None else {}
            fault = f"no description: {described.code}: {described.reason}"
            raise Unavailable(fault, hint="acud status; docs/scene.md", **cost)
        return Description(described, result.frame)

    def _fill_job(self, source: Source, backend: str, secure: tuple[Rect, ...], job: Job) -> Job:
        hide = self._redaction.find_hidden(source, leaves=not self._settings.backends[backend].is_local)
        return replace(job, describe=DescribeAsk(backend, secure), hide=hide)


def _describe_change(source: Source, changed: int) -> ChangedSince:
    grid = Grid(source.width, source.height)
    share = changed.bit_count() / max(1, grid.columns * grid.rows)
    return ChangedSince(share, lambda box: bool(grid.find_touching(box) & changed))


def _clip_remark(remark: Remark, source: Source) -> Remark:
    box = remark.bbox.intersect(Rect(0, 0, source.width, source.height))
    if box is None:
        x, y, w, h = remark.bbox.x, remark.bbox.y, remark.bbox.w, remark.bbox.h
        raise InvalidRequest(
            f"the box {x},{y},{w},{h} of {remark.desc[:60]!r} is not on the display, which is"
            f" {source.width}x{source.height}",
            hint="give boxes in pixels of the display",
        )
    return Remark(remark.kind, remark.desc, box)
