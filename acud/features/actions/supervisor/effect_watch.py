"""Looking for the effect of what was just done, and then for everything else that happened.

An effect is a change of what was reached, or of the list of windows. What moves by itself, before or after, is none: a
caret, a clock. A change that is as small as those is watched for a moment, to see whether it does so again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from msgspec.structs import replace

from acud.features.actions.supervisor.instruction_run import InstructionEnding, InstructionRun
from acud.features.actions.widget_effects import caret_stands, is_same, toggled, widget_effect
from acud.features.actions.window_effects import EffectArea, focus_now, is_effect, on_tiles, window_changes, without
from acud.protocol.observation import ObserveAsk, Observed, WidgetNow
from acud.supervisor.waits.active_waits import ActiveWait, ChangedShare
from acud.types import TILE_PX, Answer, Change, Rect, Verdict, WaitSpec, WaitState, no, unknown, yes
from acud.types.action_effects import MAX_TOLD, ActionEffects, FieldReading, FocusNow, OpenDialog
from acud.types.actions import Point

_RIM_PX = 8
"""Focus rings and shadows reach so far around a control."""
_WHOLE = 0.9
"""A box that covers more of its area than this leaves nothing to look at."""
_POLL_S = 0.05
_SMALL_PX = 6 * TILE_PX * TILE_PX
"""A caret, or some digits of a clock."""
_BLINK_S = 1.3
"""A caret blinks, and a clock ticks, in less."""
_SETTLED_S = 0.15
_SETTLE_TIMEOUT_S = 0.8
_AGAIN_S = 0.2
_WIDGETS_S = (0.15, 0.3)
"""A program tells of its widgets by then; after the second look pixels and windows alone decide."""
_MOST_LOOKS = 3
"""A program tells of a dialog's widgets a moment after it has opened it."""

Judged = Callable[[Verdict], None]


def verify(
    run: InstructionRun,
    did: str,
    points: tuple[Point, ...] = (),
    *,
    beside: Rect | None = None,
    note: str = "",
    field: FieldReading | None = None,
    moves_caret: bool = False,
) -> None:
    """End with whether what was expected came in time.

    By default that is an effect: a change where one can show, but for `beside` (a button lights up for any click).
    `points`: where it was done. `note` is told too. `field`: how a field read before; one that could not be read leaves
    it unverified, unless what was expected came. `moves_caret`: it can do nothing in a field but move its caret.
    """
    request = run.request

    def judged(verdict: Verdict) -> None:
        conclude(run, did, verdict, note, field)

    if request.timeout_s <= 0:
        judged(unknown("not_judged", "no time was given to see an effect"))
    elif request.expect is not None:
        _expect(run, judged)
    else:
        EffectWatch(run, points, beside, judged, moves_caret=moves_caret).begin()


def conclude(
    run: InstructionRun, did: str, verdict: Verdict, note: str = "", field: FieldReading | None = None
) -> None:
    """End what was done with `verdict` on its effect."""
    seen = verdict.answer is Answer.YES
    told = f"done, and the effect was seen: {verdict.detail}" if seen else f"done; no effect was seen: {verdict.detail}"
    is_unread = field is not None and field.outcome == "unreadable" and run.request.expect is None
    status: Literal["verified", "unverified"] = "verified" if seen and not is_unread else "unverified"
    finish(run, InstructionEnding(status, f"{did}: {told}{note}", did, verdict, field))


def _expect(run: InstructionRun, judged: Judged) -> None:
    """Judge the condition that the request expects, in its target."""
    expect = run.request.expect
    assert expect is not None
    if isinstance(expect, Change) and not expect.baseline:
        expect = replace(expect, baseline=run.baseline)
    spec = WaitSpec(expect, run.target, run.request.timeout_s, judge=run.request.judge)

    def ended(active: ActiveWait) -> None:
        run.spent = active.spent
        verdict = _verdict(active, run.request.timeout_s)
        is_gone = run.target.window and not any(str(w.window_id) == run.target.window for w in run.watched.windows)
        if is_gone and verdict.answer is not Answer.YES:
            gone = "the window that was acted in closed"
            shown = isinstance(expect, Change)
            judged(
                yes(gone) if shown else unknown("window_missing", f"{gone}, so what was expected can't be seen in it")
            )
        else:
            judged(verdict)

    run.core.waits.run_transient(spec, run.watched, run.later(ended), run.request.task_id)


def _verdict(active: ActiveWait, timeout_s: float) -> Verdict:
    verdict = active.machine.verdict
    if active.state is WaitState.RESOLVED:
        return yes(verdict.detail) if verdict.answer is Answer.YES else verdict
    if verdict.answer is Answer.UNKNOWN:
        return verdict
    return no(verdict.detail or f"nothing changed in {timeout_s:g} s")


class EffectWatch:
    """Watches pixels, windows and widgets until there is an effect, or the time is over."""

    def __init__(
        self,
        run: InstructionRun,
        points: tuple[Point, ...],
        beside: Rect | None,
        judged: Judged,
        *,
        moves_caret: bool = False,
    ) -> None:
        self._run = run
        self._moves_caret = moves_caret
        self._points = points
        self._judged = judged
        self._area = _watched_area(run, beside)
        self._is_on_tiles = False
        self._until_s = run.core.clock.monotonic_s() + run.request.timeout_s
        self._give_up: Callable[[], None] | None = None
        self._over = False
        self._moved_by_itself = bool(run.moving)

    def begin(self) -> None:
        """Look until one of them shows an effect."""
        self._poll()
        if not self._over:
            self._look()
        if not self._over:
            self._ask_widgets(_WIDGETS_S)

    def _end(self, verdict: Verdict) -> None:
        if not self._over:
            self._over = True
            if self._give_up is not None:
                self._give_up()
            self._judged(verdict)

    # ---- windows ---------------------------------------------------------------------------------------------------

    def _poll(self) -> None:
        if self._over:
            return
        run = self._run
        now = run.watched.windows
        changes = window_changes(run.windows, now)
        told = next((one for one in changes if is_effect(one, run.area, run.windows, now, self._points)), None)
        if told is not None:
            self._end(yes(f"a {_KINDS[told.kind]} {_CHANGES[told.change]}"))
        else:
            run.core.loop.call_later(_POLL_S, lambda: run.later(lambda _: self._poll())(None))

    # ---- widgets ---------------------------------------------------------------------------------------------------

    def _ask_widgets(self, delays_s: tuple[float, ...]) -> None:
        run, point = self._run, self._points[0] if self._points else None

        def ask(_: None) -> None:
            if not self._over:
                run.observe(lambda now: self._told(now, delays_s[1:]), point=point)

        asking = run.later(ask)
        run.core.loop.call_later(delays_s[0], lambda: asking(None))

    def _told(self, now: Observed, delays_s: tuple[float, ...]) -> None:
        """What programs tell of the focus, the caret and a text counts; a caret is drawn too small to be sure of."""
        if self._over:
            return
        told = widget_effect(self._run.before, now, is_pointed=bool(self._points))
        if told:
            self._end(yes(told))
        elif delays_s:
            self._ask_widgets(delays_s)
        elif self._moves_caret and caret_stands(self._run.before.field, now.field):
            self._end(no("the caret stands where it stood"))

    # ---- pixels ----------------------------------------------------------------------------------------------------

    def _look(self) -> None:
        run, left_s = self._run, self._until_s - self._run.core.clock.monotonic_s()
        if left_s <= 0:
            self._end(no(self._nothing()))
            return
        if _covered(self._area):
            self._end(unknown("engine", "all that can show an effect changes by itself: expect more"))
            return
        spec = WaitSpec(Change(baseline=run.baseline), run.seen_in(self._area), left_s)
        self._give_up = run.core.waits.run_transient(spec, run.watched, run.later(self._changed), run.request.task_id)

    def _changed(self, active: ActiveWait) -> None:
        if self._over:
            return
        self._give_up = None
        verdict = _verdict(active, self._run.request.timeout_s)
        if active.state is not WaitState.RESOLVED:
            self._end(no(self._nothing()) if verdict.answer is Answer.NO else verdict)
        elif _doubt(active):
            self._look_again(_doubt(active))
        elif not _is_small(active):
            self._end(yes(verdict.detail))
        else:
            self._run.changed(self._whole, _SETTLE_TIMEOUT_S, _SETTLED_S, area=self._area)

    def _look_again(self, doubt: str) -> None:
        """What only counts as changed, for a tile of it is others' in part, shows no effect: leave such tiles out."""
        if self._is_on_tiles:
            self._end(unknown("engine", f"it can't be said what changed: {doubt}"))
            return
        self._is_on_tiles = True
        self._area = on_tiles(self._area, self._run.screen)
        self._look()

    def _whole(self, share: ChangedShare) -> None:
        """A change as small as a caret has settled: is it larger by now, or does it go on by itself?"""
        if self._over:
            return
        box = share.box
        if box is None or box.area > _SMALL_PX:
            self._end(yes("it changed"))
        elif self._points:
            self._run.observe(lambda now: self._small(box, now), point=self._points[0])
        else:
            self._stays(box)

    def _small(self, box: Rect, now: Observed) -> None:
        """The mark of a check box is small too, and its program tells of it."""
        told = toggled(self._run.before.at, now.at)
        if told:
            self._end(yes(told))
        else:
            self._stays(box)

    def _stays(self, box: Rect) -> None:
        if self._over:
            return
        run = self._run
        place = box.shift(self._area.box.x, self._area.box.y)
        source = run.feature.pixels(run.watched)
        token = run.core.waits.targets.token(source, source.frame)

        def watched(again: ChangedShare) -> None:
            if self._over:
                return
            if again.box is None:
                self._end(yes("it changed a little, and stayed so"))
            else:
                self._moved_by_itself = True
                self._area = without(self._area, place)
                self._look()

        run.changed(watched, _BLINK_S, area=EffectArea(place), baseline=token)

    def _nothing(self) -> str:
        beyond = " but what changes by itself" if self._moved_by_itself else ""
        return f"nothing changed in {self._run.request.timeout_s:g} s{beyond}"


_KINDS = {"normal": "window", "dialog": "dialog", "popup": "popup"}
_CHANGES = {"opened": "opened", "closed": "closed", "retitled": "got another title"}


def _watched_area(run: InstructionRun, beside: Rect | None) -> EffectArea:
    """Return where an effect shows: not in a button itself, what moves, or the widget that loses the focus."""
    focus = run.before.focus
    area = run.area
    boxes = [_rim(beside)] if beside is not None and _rim(beside).area < _WHOLE * area.box.area else []
    loses_focus = focus is not None and focus.box is not None and focus.box.area < area.box.area // 4
    if loses_focus and focus is not None and focus.box is not None and not is_same(focus, run.before.at):
        boxes.append(_rim(focus.box))
    return without(area, *boxes, *run.moving)


def _rim(box: Rect) -> Rect:
    return Rect(box.x - _RIM_PX, box.y - _RIM_PX, box.w + 2 * _RIM_PX, box.h + 2 * _RIM_PX)


def _covered(area: EffectArea) -> bool:
    whole = Rect(0, 0, area.box.w, area.box.h)
    return any((part := one.intersect(whole)) is not None and part.area >= _WHOLE * whole.area for one in area.ignore)


def _doubt(active: ActiveWait) -> str:
    """Return why what changed may be others' ("": it is not)."""
    view_state = active.machine.view_state
    return view_state.changes[0].doubt or view_state.changes[0].unsure if view_state is not None else ""


def _is_small(active: ActiveWait) -> bool:
    view_state = active.machine.view_state
    if view_state is None:
        return False
    box = view_state.view.grid.box(view_state.changes[0].touched, view_state.view.box)
    return box is not None and box.area <= _SMALL_PX


# ---- what happened besides -------------------------------------------------------------------------------------------


def finish(run: InstructionRun, ending: InstructionEnding) -> None:
    """End with `ending` and what else happened, once what is waited for has come and what was reached is at rest."""
    run.when_awaited(lambda: _finish(run, ending))


def _finish(run: InstructionRun, ending: InstructionEnding) -> None:
    is_read_back = ending.status == "verified" and ending.field is not None
    if run.request.timeout_s <= 0 or (is_read_back and not run.is_last and not run.new_windows()):
        changes = window_changes(run.origin.windows, run.watched.windows)
        run.end(replace(ending, effects=ActionEffects(changes, focus=_focus(run, None))))
        return
    run.feature.idle(
        run.watched,
        _SETTLED_S,
        _SETTLE_TIMEOUT_S,
        run.later(lambda _: _Aftermath(run, ending).look()),
        run.seen_in(without(run.area, *run.moving)),
    )


class _Aftermath:
    """Looks at what is there after an action, again where a dialog has no words yet, or a busy program was too slow."""

    def __init__(self, run: InstructionRun, ending: InstructionEnding) -> None:
        self._run = run
        self._ending = ending
        self._looks = 0

    def look(self) -> None:
        """Look at the widgets of what was reached, and of what has opened."""
        self._looks += 1
        self._run.observe(self._seen)

    def _seen(self, now: Observed) -> None:
        new = {one.window_id for one in self._run.new_windows()}
        silent = next((one for one in now.dialogs if one.window_id in new and not one.texts and not one.buttons), None)
        if now.is_late and self._looks == 1:
            self.look()
        elif silent is not None and self._looks < _MOST_LOOKS:
            again = self._run.later(lambda _: self.look())
            self._run.core.loop.call_later(_AGAIN_S, lambda: again(None))
        elif silent is not None:
            self._read(now, silent)
        else:
            self._end(now)

    def _read(self, now: Observed, silent: OpenDialog) -> None:
        """Read the text of a dialog that tells of no widgets."""
        window = next((one for one in self._run.watched.windows if one.window_id == silent.window_id), None)
        box = window.bounds.intersect(self._run.screen) if window is not None else None
        if box is None:
            self._end(now)
            return

        def read(seen: Observed) -> None:
            told = replace(silent, texts=seen.lines, unread=seen.unread)
            self._end(replace(now, dialogs=tuple(told if one is silent else one for one in now.dialogs)))

        self._run.feature.observe(self._run.watched, ObserveAsk(read_text=True), self._run.later(read), box)

    def _end(self, now: Observed) -> None:
        run = self._run
        effects = ActionEffects(
            windows=window_changes(run.origin.windows, run.watched.windows),
            dialogs=_dialogs(run, now),
            focus=_focus(run, now.focus),
            unread=now.unread if run.watched.focused else "",
        )
        run.end(replace(self._ending, effects=effects))


def _dialogs(run: InstructionRun, now: Observed) -> tuple[OpenDialog, ...]:
    """Return the open dialogs, those that were not there before first."""
    ids = {one.window_id for one in run.origin.windows}
    before = {(one.title, one.texts, one.buttons) for one in run.origin.before.dialogs}

    def is_new(one: OpenDialog) -> bool:
        known = one.window_id in ids if one.window_id else (one.title, one.texts, one.buttons) in before
        return not known

    told = [replace(one, is_new=is_new(one)) for one in now.dialogs]
    return tuple(sorted(told, key=lambda one: not one.is_new)[:MAX_TOLD])


def _focus(run: InstructionRun, widget: WidgetNow | None) -> FocusNow:
    words = (widget.role, widget.name) if widget is not None else ()
    return focus_now(run.watched.windows, run.watched.focused, run.origin.focused, *words)
