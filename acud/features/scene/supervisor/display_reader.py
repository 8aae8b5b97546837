"""One display's scene, read by evaluators: which requests share a reading, its mode, and what must be read again.

Requests that arrive before a reading's frame is grabbed share it, in the strongest of their modes. A later one gets the
next reading: a frame grabbed before a call may not show what its caller just did.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import repeat
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from acud.base.errors import AcudError, Unavailable
from acud.features.scene.element_ids import SeenElement
from acud.features.scene.settings import SceneSettings
from acud.features.scene.supervisor.unpainted_windows import UnpaintedWindows, is_beneath
from acud.features.scene.tables import ReservedNumbers, StandingElements
from acud.protocol.evaluation import Job, JobResult
from acud.protocol.questions import Hide
from acud.protocol.scene_parts import NodePart, SceneAsk, SceneParts, TextPart
from acud.supervisor.coroutines import Callback, Resume, run_steps
from acud.supervisor.evaluator_pool import EvaluatorPool
from acud.supervisor.frame_sources import Source, Sources
from acud.supervisor.fresh_frames import FrameRequests
from acud.supervisor.job_queues import Lane
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import DisplayState, Rect, WindowInfo
from acud.types.scene import (
    AxElement,
    ChangeTiers,
    DisplayProviders,
    OcrElement,
    ProviderState,
    Redacted,
    SceneMode,
    position,
)


class Needs(NamedTuple):
    """What a look must read again."""

    ocr: bool
    ax: bool
    fresh: bool


class ReaderPorts(Struct, frozen=True):
    """What every look needs. `hidden` returns what rules hide of a source; `looked` is called when a look ends."""

    unpainted: UnpaintedWindows
    sources: Sources
    frame_requests: FrameRequests
    settings: SceneSettings
    now_s: Callable[[], float]
    pool: EvaluatorPool
    hidden: Callable[[Source], Hide | None]
    looked: Callable[[DisplayReader], object]


class DisplayReader:
    """Takes the looks at one display, one after the other."""

    def __init__(self, ports: ReaderPorts, watched: WatchedDisplay, seen: DisplayElements) -> None:
        self._ports = ports
        self.watched = watched
        self.seen = seen
        self.mode = SceneMode.IDLE
        self.begun_s = float("-inf")
        self._asked: list[tuple[SceneMode, Resume[None]]] = []
        self._served: list[Resume[None]] = []
        self._running = False
        self._windows: object = None
        self._beneath: tuple[int, tuple[WindowInfo, ...], frozenset[int]] = 0, (), frozenset()
        """The frame being read, its windows, and those of them not painted yet."""
        self._hidden: object = None
        """What rules hid of the pixels from which the text was read."""

    def look(self, mode: SceneMode) -> Callback[None]:
        """Await a look in at least `mode` at a frame grabbed from now on."""
        return Callback(partial(self._queue_request, mode))

    def _queue_request(self, mode: SceneMode, resume: Resume[None]) -> None:
        self._asked.append((mode, resume))
        if not self._running:
            run_steps(self._serve_requests())

    async def _serve_requests(self) -> None:
        """Look once for all requests made before its frame is grabbed, and again while there are others."""
        self._running = True
        try:
            while self._asked:
                outcome: AcudError | None = None
                try:
                    await self._look_once()
                    self.seen.drop_old_texts(self._ports.now_s(), self._ports.settings.ocr_ttl_s)
                    self._ports.looked(self)
                except AcudError as fault:
                    outcome = fault
                    if not self._served:
                        self._take_asked()
                served, self._served = self._served, []
                for resume in served:
                    resume(outcome)
        finally:
            self._running = False

    async def _look_once(self) -> None:
        """Look at the next frame, which serves all requests made before its grab. Raises: AcudError of the store."""
        source = self._ports.sources.by_name.get(self.watched.name)
        if self.watched.state is not DisplayState.UP or source is None:
            self.mark_lost(self.watched.reason or f"the display is {self.watched.state.value}")
            self._take_asked()
            return
        try:
            grabbed = await Callback[Source](partial(self._ports.frame_requests.grab, source))
        except AcudError as fault:
            self._take_asked()
            self._note_failure(fault.message)
            return
        self._take_asked()
        needs = self._find_needs(grabbed)
        if not needs.ocr:
            self.seen.confirm_text(grabbed.compared_mono_ns / 1e9)
        if needs.ocr or needs.ax:
            await self._read_display(grabbed, needs)
        else:
            self.seen.mark_unchanged(grabbed.compared_mono_ns / 1e9)

    def _take_asked(self) -> None:
        asked, self._asked = self._asked, []
        self.mode = max((mode for mode, _ in asked), key=list(SceneMode).index)  # each does all that those before it do
        self.begun_s = self._ports.now_s()
        self._served = [resume for _, resume in asked]

    def _find_needs(self, source: Source) -> Needs:
        seen, now_s = self.seen, self._ports.now_s()
        if self.mode is SceneMode.AGENT_TURN:
            return Needs(ocr=True, ax=True, fresh=True)
        frame = source.epoch, source.frame
        # The same pixels show the same text, however old they are; but what rules hide of them may differ.
        is_other_hidden = self._hidden != _list_hidden(self._ports.hidden(source)) or not seen.ocr_secure_is_all
        ocr = frame != seen.ocr_frame or seen.ocr.state != "ready" or is_other_hidden
        moved = self._windows != (self.watched.windows, self.watched.focused)
        ax = moved or frame != seen.ax_frame or now_s - seen.ax_at_s > self._ports.settings.ax_max_age_s
        return Needs(ocr, ax, fresh=False)

    async def _read_display(self, source: Source, needs: Needs) -> None:
        """Take what an evaluator reads, or note why it could not."""
        # This lane has an evaluator with an OCR engine, but not its only slot, which a hung application must not hold.
        try:
            result = await self._ports.pool.look(Lane.REDACT, source, partial(self._fill_job, source, needs))
        except Unavailable as fault:
            self._note_failure(fault.message)
            return
        if result.status != "done":
            self._note_failure(result.reason or result.status)
        elif result.scene is None or result.epoch != source.epoch or not source.live:
            self._note_failure("the display began anew while it was read")
        else:
            parts = self._leave_out_beneath(result, result.scene)
            self.seen.take_reading(result, parts, (source.width, source.height), self._ports.now_s())
            if self.seen.ocr_frame == (source.epoch, source.frame):
                self.seen.confirm_text(source.compared_mono_ns / 1e9)

    def _fill_job(self, source: Source, needs: Needs, job: Job) -> Job:
        hide = self._ports.hidden(source)
        self._beneath = source.frame, self.watched.windows, self._ports.unpainted.find(self.watched)
        if needs.ocr:
            self._hidden = _list_hidden(hide)
        return replace(job, scene=self._make_ask(needs), hide=hide)

    def _make_ask(self, needs: Needs) -> SceneAsk:
        watched = self.watched
        self._windows = (watched.windows, watched.focused)
        return SceneAsk(
            needs.ocr,
            needs.ax,
            needs.fresh,
            watched.windows,
            watched.focused,
            watched.bus_address,
            watched.a11y_address,
            self.seen.secure,
        )

    def _leave_out_beneath(self, outcome: JobResult, parts: SceneParts) -> SceneParts:
        """Return the parts without texts of windows beneath one that was not painted yet."""
        frame, windows, unpainted = self._beneath
        if parts.ocr is None or outcome.frame != frame:  # a newer frame was read: it may show what was painted since
            return parts
        kept = tuple(one for one in parts.lines if not is_beneath(one, windows, unpainted))
        left_out = len(parts.lines) - len(kept)
        if not left_out:
            return parts
        state = ProviderState(
            parts.ocr.name, "incomplete", f"lines left out under a window that is not painted yet: {left_out}"
        )
        return replace(parts, ocr=state, lines=kept, lines_total=parts.lines_total - left_out)

    def _note_failure(self, reason: str) -> None:
        """Mark the elements as old; drop them if the display has no pixels."""
        source = self._ports.sources.by_name.get(self.watched.name)
        if source is None or not source.live:
            self.mark_lost(self.watched.reason or reason)
        else:
            self.seen.mark_stale(reason)

    def mark_late(self, within_s: float) -> None:
        """Mark the elements as old, with their age, because a look takes longer than `within_s`; the look goes on."""
        seen, source = self.seen, self._ports.sources.by_name.get(self.watched.name)
        never = float("-inf")
        read_s, frame = (seen.ocr_at_s, seen.ocr_frame) if seen.ocr_at_s > never else (seen.ax_at_s, seen.ax_frame)
        if read_s == never:
            self._note_failure(f"not read yet: the first look takes longer than {within_s:g} s and goes on, ask again")
            return
        is_same = source is not None and frame == (source.epoch, source.frame)
        since = "has not changed" if is_same else "changed"
        age_s = self._ports.now_s() - read_s
        self._note_failure(
            f"read {age_s:.0f} s ago, and the screen {since} since; it is being read again, which takes longer than "
            f"{within_s:g} s, ask again"
        )

    def mark_lost(self, reason: str) -> None:
        """Drop all elements of a display without pixels, for `reason`."""
        self._windows = None
        self.seen.drop_all(ProviderState("", "unavailable", reason))


def _list_hidden(hide: Hide | None) -> object:
    return None if hide is None else (hide.boxes, hide.fault)


NOT_ASKED = ProviderState("", "off", "nobody has looked at this display yet")


class DisplayElements:
    """The elements of display `number`. Times are monotonic: widgets have the time of the reading, texts the time when
    their pixels were last on the screen.
    """

    def __init__(self, number: int, numbers: ReservedNumbers, standing: StandingElements) -> None:
        self.number = number
        self._numbers = numbers
        self._standing = standing
        self._ids = {letter: standing.ids(letter, number, numbers.first(f"{letter}{number}")) for letter in ("t", "a")}
        self.drop_all(NOT_ASKED)

    def drop_all(self, state: ProviderState) -> None:
        """Drop every element and put both providers in `state`. Their ids are never given again."""
        self.texts: tuple[OcrElement, ...] = ()
        self.widgets: tuple[AxElement, ...] = ()
        self._rules: dict[str, tuple[Redacted, ...]] = {"t": (), "a": ()}
        self.totals = {"ocr": 0, "ax": 0}
        self.cut = ""
        self.ocr = self.ax = state
        self.change: ChangeTiers | None = None
        self.epoch = self.frame = 0
        self.frame_mono_s = 0.0
        self.ocr_frame = self.ax_frame = (0, 0)
        self.ocr_secure: tuple[Rect, ...] = ()
        """The password fields known when the text was read."""
        self.ocr_at_s = self.ax_at_s = float("-inf")

    def take_reading(self, result: JobResult, parts: SceneParts, size: tuple[int, int], now_s: float) -> None:
        """Take an evaluator's reading of a frame of `size`."""
        self.epoch, self.frame, self.frame_mono_s = result.epoch, result.frame, result.frame_mono_ns / 1e9
        self.change = parts.change
        if parts.ocr is not None:
            self._take_texts(parts.ocr, parts, size)
        if parts.ax is not None:
            self._take_widgets(parts.ax, parts, now_s)
        if parts.ocr is not None:
            self.ocr_secure = self.secure
        self.cut = parts.cut

    def _take_texts(self, state: ProviderState, parts: SceneParts, size: tuple[int, int]) -> None:
        if state.state == "unavailable":
            self.ocr = _mark_stale(state, bool(self.texts))
            return
        ids = self._assign_ids("t", [SeenElement(one.text, one.bbox) for one in parts.lines])
        self.texts = tuple(_make_text(id_, one, self.number, size) for id_, one in zip(ids, parts.lines, strict=True))
        self._rules["t"] = tuple(Redacted(i, p.rule) for i, p in zip(ids, parts.lines, strict=True) if p.rule)
        self.ocr, self.totals["ocr"] = state, parts.lines_total
        self.ocr_frame, self.ocr_at_s = (self.epoch, self.frame), self.frame_mono_s

    def _take_widgets(self, state: ProviderState, parts: SceneParts, now_s: float) -> None:
        self.ax_at_s, self.ax_frame = now_s, (self.epoch, self.frame)
        if state.state == "unavailable":
            self.ax = state
            self.widgets, self._rules["a"], self.totals["ax"] = (), (), 0
            return
        ids = self._assign_ids(
            "a", [SeenElement(f"{one.role} {one.label}", one.bbox, one.role, one.key) for one in parts.nodes]
        )
        around = [ids[one.parent] if 0 <= one.parent < len(ids) else "" for one in parts.nodes]
        self.widgets = tuple(map(_make_widget, ids, parts.nodes, around, repeat(self.number)))
        self._rules["a"] = tuple(
            Redacted(i, _find_rule(p)) for i, p in zip(ids, parts.nodes, strict=True) if _find_rule(p)
        )
        self.ax, self.totals["ax"] = state, parts.nodes_total

    def confirm_text(self, compared_mono_s: float) -> None:
        """Date the text `compared_mono_s`, when the screen still showed its frame."""
        if self.ocr.state == "ready":
            self.ocr_at_s = max(self.ocr_at_s, compared_mono_s)

    def mark_unchanged(self, frame_mono_s: float) -> None:
        """Date the elements `frame_mono_s`: a look then saw the same frame."""
        self.frame_mono_s = frame_mono_s
        self.change = ChangeTiers(0, self.change.dhash if self.change is not None else "", 0, 0, 1.0)

    def _assign_ids(self, letter: str, seen: Sequence[SeenElement]) -> list[str]:
        ids = self._ids[letter]
        before = ids.last_seen
        given = ids.assign(seen)
        self._numbers.record_given(ids.name, ids.next_number)
        if ids.last_seen is not before:
            self._standing.keep(ids)
        return given

    def mark_stale(self, reason: str) -> None:
        """Mark what was read as stale, and what was not as unavailable, because a reading failed."""
        self.ocr = _mark_stale(ProviderState(self.ocr.name, "unavailable", reason), bool(self.texts))
        self.ax = _mark_stale(ProviderState(self.ax.name, "unavailable", reason), bool(self.widgets))

    def drop_old_texts(self, now_s: float, ttl_s: float) -> None:
        if self.ocr.state == "stale" and now_s - self.ocr_at_s > ttl_s:
            self.texts, self._rules["t"] = (), ()
            self.ocr = ProviderState(self.ocr.name, "unavailable", self.ocr.reason)

    @property
    def providers(self) -> DisplayProviders:
        """The providers that read the texts and the widgets."""
        return DisplayProviders(self.number, self.ocr, self.ax)

    @property
    def redactions(self) -> tuple[Redacted, ...]:
        return (*self._rules["t"], *self._rules["a"])

    @property
    def ocr_secure_is_all(self) -> bool:
        """Whether each present password field was known when the text was read. A field no longer reported does not
        count: its pixels are the same, and were masked.
        """
        return set(self.secure) <= set(self.ocr_secure)

    @property
    def secure(self) -> tuple[Rect, ...]:
        """Boxes of the password fields in sight."""
        return tuple(one.bbox for one in self.widgets if one.secure and not one.offscreen)


def _mark_stale(state: ProviderState, has_some: bool) -> ProviderState:
    return ProviderState(state.name, "stale" if has_some else "unavailable", state.reason)


def _find_rule(part: NodePart) -> str:
    return part.rule or ("secure" if part.secure else "")


def _make_text(id_: str, part: TextPart, number: int, size: tuple[int, int]) -> OcrElement:
    place = position(part.bbox, *size)
    return OcrElement(id_, part.text, part.bbox, part.conf, number, part.words, place, part.reader)


def _make_widget(id_: str, part: NodePart, parent: str, number: int) -> AxElement:
    return AxElement(
        id=id_,
        role=part.role,
        bbox=part.bbox,
        display_id=number,
        label=part.label,
        value=part.value,
        placeholder=part.placeholder,
        parent=parent,
        window=f"{part.window:#x}" if part.window else "",
        offscreen=part.offscreen,
        actions=part.actions,
        states=part.states,
        app=part.app,
        pid=part.pid,
        secure=part.secure,
    )
