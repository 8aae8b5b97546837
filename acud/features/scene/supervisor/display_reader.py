"""One display's scene, read by evaluators: which requests share a reading, its mode, and what must be read again.

A request that comes before a reading's frame is grabbed shares that reading, which takes the strongest mode of them. A
later one gets the next reading: a frame grabbed before a call may not show what its caller just did.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import repeat
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from acud.errors import AcudError, Unavailable
from acud.features.scene.element_ids import SeenElement
from acud.features.scene.settings import SceneSettings
from acud.features.scene.supervisor.unpainted_windows import UnpaintedWindows, is_beneath
from acud.features.scene.tables import ReservedNumbers, StandingElements
from acud.protocol.evaluation import Job, JobResult
from acud.protocol.questions import Hide
from acud.protocol.scene_parts import NodePart, SceneAsk, SceneParts, TextPart
from acud.supervisor.frame_sources import Source, Sources
from acud.supervisor.fresh_frames import FrameRequests
from acud.supervisor.job_queues import FrameWork, Lane, Work
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
    """What a look has to read again."""

    ocr: bool
    ax: bool
    fresh: bool


class ReaderPorts(Struct, frozen=True):
    """What every look needs. `hidden` returns what rules hide of a source; `looked` is called as a look ends."""

    unpainted: UnpaintedWindows
    sources: Sources
    frame_requests: FrameRequests
    settings: SceneSettings
    now_s: Callable[[], float]
    submit: Callable[[Work], None]
    hidden: Callable[[Source], Hide | None]
    looked: Callable[[DisplayReader], object]


class DisplayReader:
    """One display's looks, one at a time."""

    def __init__(self, parts: ReaderPorts, watched: WatchedDisplay, seen: DisplayElements) -> None:
        self._parts = parts
        self.watched = watched
        self.seen = seen
        self.mode = SceneMode.IDLE
        self.begun_s = float("-inf")
        self._asked: list[tuple[SceneMode, Callable[[], None]]] = []
        self._served: list[Callable[[], None]] = []
        self._running = False
        self._windows: object = None
        self._beneath: tuple[int, tuple[WindowInfo, ...], frozenset[int]] = 0, (), frozenset()
        """The frame that is read, the windows then, and those of them that were not painted yet."""
        self._hidden: object = None
        """What was hidden of the pixels that the text was read of."""

    def ask(self, mode: SceneMode, done: Callable[[], None]) -> None:
        """Look, at least as `mode` says, at a frame grabbed from now on; then call `done`."""
        self._asked.append((mode, done))
        if not self._running:
            self._begin()

    def _begin(self) -> None:
        self._running = True
        source = self._parts.sources.by_name.get(self.watched.name)
        if self.watched.state is not DisplayState.UP or source is None:
            self.lost(self.watched.reason or f"the display is {self.watched.state.value}")
            self._take_asked()
            self._end()
        else:
            self._parts.frame_requests.fresh(source, self._grabbed)

    def _take_asked(self) -> None:
        asked, self._asked = self._asked, []
        self.mode = max((mode for mode, _ in asked), key=list(SceneMode).index)  # each does all that those before it do
        self._served = [done for _, done in asked]
        self.begun_s = self._parts.now_s()

    def _grabbed(self, outcome: Source | AcudError) -> None:
        self._take_asked()
        if isinstance(outcome, AcudError):
            self._unread(outcome.message)
            self._end()
            return
        needs = self._needs(outcome)
        if not needs.ocr:
            self.seen.text_stands(outcome.compared_mono_ns / 1e9)
        if needs.ocr or needs.ax:
            self._read(outcome, needs)
        else:
            self.seen.unchanged(outcome.compared_mono_ns / 1e9)
            self._end()

    def _needs(self, source: Source) -> Needs:
        seen, now_s = self.seen, self._parts.now_s()
        if self.mode is SceneMode.AGENT_TURN:
            return Needs(ocr=True, ax=True, fresh=True)
        frame = source.epoch, source.frame
        # However old they are: the same pixels say the same. What is hidden of them may be another.
        told_otherwise = self._hidden != _places(self._parts.hidden(source)) or not seen.ocr_secure_is_all
        ocr = frame != seen.ocr_frame or seen.ocr.state != "ready" or told_otherwise
        moved = self._windows != (self.watched.windows, self.watched.focused)
        ax = moved or frame != seen.ax_frame or now_s - seen.ax_at_s > self._parts.settings.ax_max_age_s
        return Needs(ocr, ax, fresh=False)

    def _read(self, source: Source, needs: Needs) -> None:
        def fill(job: Job) -> Job:
            hide = self._parts.hidden(source)
            self._beneath = source.frame, self.watched.windows, self._parts.unpainted.find(self.watched)
            if needs.ocr:
                self._hidden = _places(hide)
            return replace(job, scene=self._ask(needs), hide=hide)

        # An evaluator with an engine, but not the engine's one place: a hung application must not hold that.
        self._parts.submit(FrameWork(self._parts.submit, Lane.REDACT, source, fill, partial(self._done, source)))

    def _ask(self, needs: Needs) -> SceneAsk:
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

    def _done(self, source: Source, outcome: JobResult | Unavailable) -> None:
        if isinstance(outcome, Unavailable):
            self._unread(outcome.message)
        elif outcome.status != "done":
            self._unread(outcome.reason or outcome.status)
        elif outcome.scene is None or outcome.epoch != source.epoch or not source.live:
            self._unread("the display began anew while it was read")
        else:
            parts = self._leave_out_beneath(outcome, outcome.scene)
            self.seen.take(outcome, parts, (source.width, source.height), self._parts.now_s())
            if self.seen.ocr_frame == (source.epoch, source.frame):
                self.seen.text_stands(source.compared_mono_ns / 1e9)
        self._end()

    def _leave_out_beneath(self, outcome: JobResult, parts: SceneParts) -> SceneParts:
        """Return what was read without the texts of windows beneath one that was not painted yet."""
        frame, windows, unpainted = self._beneath
        if parts.ocr is None or outcome.frame != frame:  # a newer frame was read: it may show what was painted since
            return parts
        kept = tuple(one for one in parts.lines if not is_beneath(one, windows, unpainted))
        left_out = len(parts.lines) - len(kept)
        if not left_out:
            return parts
        told = ProviderState(
            parts.ocr.name, "incomplete", f"lines left out under a window that is not painted yet: {left_out}"
        )
        return replace(parts, ocr=told, lines=kept, lines_total=parts.lines_total - left_out)

    def _unread(self, reason: str) -> None:
        """Say that what is known is old; of a display without pixels nothing is known."""
        source = self._parts.sources.by_name.get(self.watched.name)
        if source is None or not source.live:
            self.lost(self.watched.reason or reason)
        else:
            self.seen.went_old(reason)

    def note_late(self, within_s: float) -> None:
        """Mark what is known as old, with its age, because a look takes longer than `within_s`; the look goes on."""
        seen, source = self.seen, self._parts.sources.by_name.get(self.watched.name)
        never = float("-inf")
        read_s, frame = (seen.ocr_at_s, seen.ocr_frame) if seen.ocr_at_s > never else (seen.ax_at_s, seen.ax_frame)
        if read_s == never:
            self._unread(f"not read yet: the first look takes longer than {within_s:g} s and goes on, ask again")
            return
        is_same = source is not None and frame == (source.epoch, source.frame)
        since = "has not changed" if is_same else "changed"
        age_s = self._parts.now_s() - read_s
        self._unread(
            f"read {age_s:.0f} s ago, and the screen {since} since; it is being read again, which takes longer than "
            f"{within_s:g} s, ask again"
        )

    def lost(self, reason: str) -> None:
        """The display has no pixels: nothing of it is shown any more, and why is said."""
        self._windows = None
        self.seen.forget(ProviderState("", "unavailable", reason))

    def _end(self) -> None:
        self.seen.drop_old_texts(self._parts.now_s(), self._parts.settings.ocr_ttl_s)
        self._running = False
        served, self._served = self._served, []
        self._parts.looked(self)
        for done in served:
            done()
        if self._asked and not self._running:
            self._begin()


def _places(hide: Hide | None) -> object:
    return None if hide is None else (hide.boxes, hide.fault)


NOT_ASKED = ProviderState("", "off", "nobody has looked at this display yet")


class DisplayElements:
    """One display of the store's number `number`. Times are the monotonic clock's: of the walk, and of when the pixels
    were last seen to be on the screen.
    """

    def __init__(self, number: int, numbers: ReservedNumbers, standing: StandingElements) -> None:
        self.number = number
        self._numbers = numbers
        self._standing = standing
        self._ids = {letter: standing.ids(letter, number, numbers.first(f"{letter}{number}")) for letter in ("t", "a")}
        self.forget(NOT_ASKED)

    def forget(self, state: ProviderState) -> None:
        """Drop every element: nothing of what was read may be shown as present. ElementIds are never given again."""
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
        """The password fields that were known when the text was read."""
        self.ocr_at_s = self.ax_at_s = float("-inf")

    # ---- what was read ---------------------------------------------------------------------------------------------

    def take(self, result: JobResult, parts: SceneParts, size: tuple[int, int], now_s: float) -> None:
        """Take in what an evaluator read of a frame of `size`."""
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
            self.ocr = _kept(state, bool(self.texts))
            return
        ids = self._given("t", [SeenElement(one.text, one.bbox) for one in parts.lines])
        self.texts = tuple(_text(id_, one, self.number, size) for id_, one in zip(ids, parts.lines, strict=True))
        self._rules["t"] = tuple(Redacted(i, p.rule) for i, p in zip(ids, parts.lines, strict=True) if p.rule)
        self.ocr, self.totals["ocr"] = state, parts.lines_total
        self.ocr_frame, self.ocr_at_s = (self.epoch, self.frame), self.frame_mono_s

    def _take_widgets(self, state: ProviderState, parts: SceneParts, now_s: float) -> None:
        self.ax_at_s, self.ax_frame = now_s, (self.epoch, self.frame)
        if state.state == "unavailable":
            self.ax = state
            self.widgets, self._rules["a"], self.totals["ax"] = (), (), 0
            return
        ids = self._given(
            "a", [SeenElement(f"{one.role} {one.label}", one.bbox, one.role, one.key) for one in parts.nodes]
        )
        around = [ids[one.parent] if 0 <= one.parent < len(ids) else "" for one in parts.nodes]
        self.widgets = tuple(map(_widget, ids, parts.nodes, around, repeat(self.number)))
        self._rules["a"] = tuple(Redacted(i, _rule(p)) for i, p in zip(ids, parts.nodes, strict=True) if _rule(p))
        self.ax, self.totals["ax"] = state, parts.nodes_total

    def text_stands(self, compared_mono_s: float) -> None:
        """The screen was compared then with the frame that the text was read of, and showed the same."""
        if self.ocr.state == "ready":
            self.ocr_at_s = max(self.ocr_at_s, compared_mono_s)

    def unchanged(self, frame_mono_s: float) -> None:
        """A look at `frame_mono_s` saw the frame that is known already."""
        self.frame_mono_s = frame_mono_s
        self.change = ChangeTiers(0, self.change.dhash if self.change is not None else "", 0, 0, 1.0)

    def _given(self, letter: str, seen: Sequence[SeenElement]) -> list[str]:
        ids = self._ids[letter]
        before = ids.last_seen
        given = ids.given(seen)
        self._numbers.given(ids.name, ids.next_number)
        if ids.last_seen is not before:
            self._standing.changed(ids)
        return given

    def went_old(self, reason: str) -> None:
        """Nothing could be read: what is known is said to be old, and what is not stays unknown."""
        self.ocr = _kept(ProviderState(self.ocr.name, "unavailable", reason), bool(self.texts))
        self.ax = _kept(ProviderState(self.ax.name, "unavailable", reason), bool(self.widgets))

    def drop_old_texts(self, now_s: float, ttl_s: float) -> None:
        """Drop text that could not be read again for longer than it may stand."""
        if self.ocr.state == "stale" and now_s - self.ocr_at_s > ttl_s:
            self.texts, self._rules["t"] = (), ()
            self.ocr = ProviderState(self.ocr.name, "unavailable", self.ocr.reason)

    # ---- told ------------------------------------------------------------------------------------------------------

    @property
    def providers(self) -> DisplayProviders:
        """Who read what."""
        return DisplayProviders(self.number, self.ocr, self.ax)

    @property
    def redactions(self) -> tuple[Redacted, ...]:
        """What was taken out of which element."""
        return (*self._rules["t"], *self._rules["a"])

    @property
    def ocr_secure_is_all(self) -> bool:
        """Tell whether each password field was known when the text was read. One that nobody tells of any more does
        not count: its pixels are the same, and were masked.
        """
        return set(self.secure) <= set(self.ocr_secure)

    @property
    def secure(self) -> tuple[Rect, ...]:
        """Boxes of the password fields that are in sight."""
        return tuple(one.bbox for one in self.widgets if one.secure and not one.offscreen)


def _kept(state: ProviderState, has_some: bool) -> ProviderState:
    return ProviderState(state.name, "stale" if has_some else "unavailable", state.reason)


def _rule(part: NodePart) -> str:
    return part.rule or ("secure" if part.secure else "")


def _text(id_: str, part: TextPart, number: int, size: tuple[int, int]) -> OcrElement:
    place = position(part.bbox, *size)
    return OcrElement(id_, part.text, part.bbox, part.conf, number, part.words, place, part.reader)


def _widget(id_: str, part: NodePart, parent: str, number: int) -> AxElement:
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
