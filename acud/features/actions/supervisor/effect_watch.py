"""Looking for the effect of what was just done, and then for everything else that happened.

An effect is a change of what was reached, or of the list of windows. What moves by itself, before or after, is none: a
caret, a clock. A change that is as small as those is watched for a moment, to see whether it does so again.
"""

from __future__ import annotations

from typing import Literal

from msgspec.structs import replace

from acud.features.actions.supervisor.instruction_run import InstructionEnding, InstructionRun
from acud.features.actions.widget_effects import caret_stands, describe_toggle, is_same, widget_effect
from acud.features.actions.window_effects import EffectArea, focus_now, is_effect, on_tiles, window_changes, without
from acud.protocol.observation import Observed, WidgetNow
from acud.supervisor.coroutines import first, sleep
from acud.supervisor.waits.active_waits import ActiveWait
from acud.types import TILE_PX, Answer, Change, Rect, Until, Verdict, WaitSpec, WaitState, no, unknown, yes
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
"""A program reports its widgets by then; after the second look pixels and windows alone decide."""
_MOST_LOOKS = 3
"""A program reports a dialog's widgets a moment after opening it."""


async def verify(
    run: InstructionRun,
    did: str,
    *points: Point,
    beside: Rect | None = None,
    note: str = "",
    field: FieldReading | None = None,
    moves_caret: bool = False,
) -> InstructionEnding:
    """Return the ending with whether what was expected came in time.

    By default that is an effect: a change where one can show, but for `beside` (a button lights up for any click).
    `points`: where it was done. `note` is added to the words. `field`: how a field read before; one that could not be
    read leaves it unverified, unless what was expected came. `moves_caret`: it can do nothing in a field but move its
    caret.
    """
    if run.request.timeout_s <= 0:
        verdict = unknown("not_judged", "no time was given to see an effect")
    elif run.request.expect is not None:
        verdict = await _judge_expected(run, run.request.expect)
    else:
        verdict = await EffectWatch(run, points, beside, moves_caret=moves_caret).watch()
    return await conclude(run, did, verdict, note, field)


async def conclude(
    run: InstructionRun, did: str, verdict: Verdict, note: str = "", field: FieldReading | None = None
) -> InstructionEnding:
    seen = verdict.answer is Answer.YES
    words = (
        f"done, and the effect was seen: {verdict.detail}" if seen else f"done; no effect was seen: {verdict.detail}"
    )
    is_unread = field is not None and field.outcome == "unreadable" and run.request.expect is None
    status: Literal["verified", "unverified"] = "verified" if seen and not is_unread else "unverified"
    return await add_effects(run, InstructionEnding(status, f"{did}: {words}{note}", did, verdict, field))


async def _judge_expected(run: InstructionRun, expect: Until) -> Verdict:
    is_change = isinstance(expect, Change)
    if isinstance(expect, Change) and not expect.baseline:
        expect = replace(expect, baseline=run.baseline)
    spec = WaitSpec(expect, run.target, run.request.timeout_s, judge=run.request.judge)
    active = await run.judge(spec, run.request.task_id)
    run.spent = active.spent
    verdict = _verdict(active, run.request.timeout_s)
    is_gone = run.target.window and not any(str(w.window_id) == run.target.window for w in run.watched.windows)
    if not is_gone or verdict.answer is Answer.YES:
        return verdict
    gone = "the window that was acted in closed"
    return yes(gone) if is_change else unknown("window_missing", f"{gone}, so what was expected can't be seen in it")


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
        self, run: InstructionRun, points: tuple[Point, ...], beside: Rect | None, *, moves_caret: bool = False
    ) -> None:
        self._run = run
        self._moves_caret = moves_caret
        self._points = points
        # Where an effect shows: not in a button itself, what moves, or the widget that loses the focus.
        area, focus = run.area, run.before.focus
        boxes = [_rim_of(beside)] if beside is not None and _rim_of(beside).area < _WHOLE * area.box.area else []
        lost = focus.box if focus is not None and not is_same(focus, run.before.at) else None
        if lost is not None and lost.area < area.box.area // 4:
            boxes.append(_rim_of(lost))
        self._area = without(area, *boxes, *run.moving)
        self._until_s = run.now_s() + run.request.timeout_s
        self._moved_by_itself = bool(run.moving)

    async def watch(self) -> Verdict:
        """Return the first verdict: an effect that one of the three shows, or what the pixels showed until the end."""
        verdict = await first(self._run.later, self._watch_windows(), self._watch_pixels(), self._ask_widgets())
        assert verdict is not None
        return verdict

    async def _watch_windows(self) -> Verdict:
        run = self._run
        while True:
            now = run.watched.windows
            changes = window_changes(run.windows, now)
            effect = next((one for one in changes if is_effect(one, run.area, run.windows, now, self._points)), None)
            if effect is not None:
                return yes(f"a {_KINDS[effect.kind]} {_CHANGES[effect.change]}")
            await sleep(run.core.loop, _POLL_S)

    async def _ask_widgets(self) -> Verdict | None:
        """The focus, the caret and a text that programs report count; a caret is drawn too small to be sure of."""
        run, point = self._run, self._points[0] if self._points else None
        for delay_s in _WIDGETS_S:
            await sleep(run.core.loop, delay_s)
            now = await run.observe(point=point)
            effect = widget_effect(run.before, now, is_pointed=bool(self._points))
            if effect:
                return yes(effect)
        if self._moves_caret and caret_stands(run.before.field, now.field):
            return no("the caret stands where it stood")
        return None

    async def _watch_pixels(self) -> Verdict:
        run, is_on_tiles = self._run, False
        while (left_s := self._until_s - run.now_s()) > 0:
            if _is_covered(self._area):
                return unknown("engine", "all that can show an effect changes by itself: expect more")
            spec = WaitSpec(Change(baseline=run.baseline), run.seen_in(self._area), left_s)
            active = await run.judge(spec, run.request.task_id)
            verdict, doubt = _verdict(active, run.request.timeout_s), _find_doubt(active)
            if active.state is not WaitState.RESOLVED:
                return no(self._describe_no_change()) if verdict.answer is Answer.NO else verdict
            if doubt and is_on_tiles:
                return unknown("engine", f"it can't be said what changed: {doubt}")
            if doubt:
                # What only counts as changed, for a tile of it is others' in part, shows no effect.
                is_on_tiles, self._area = True, on_tiles(self._area, run.screen)
            elif not _is_small(active):
                return yes(verdict.detail)
            elif (effect := await self._watch_small_change()) is not None:
                return effect
        return no(self._describe_no_change())

    async def _watch_small_change(self) -> Verdict | None:
        """A change as small as a caret was seen: return yes if it grows or stays; None where it goes on by itself, and
        leave its place out from now on.
        """
        run = self._run
        box = (await run.change(_SETTLE_TIMEOUT_S, _SETTLED_S, area=self._area)).box
        if box is None or box.area > _SMALL_PX:
            return yes("it changed")
        if self._points:
            # The mark of a check box is small too, and its program reports it.
            effect = describe_toggle(run.before.at, (await run.observe(point=self._points[0])).at)
            if effect:
                return yes(effect)
        place = box.shift(self._area.box.x, self._area.box.y)
        if (await run.change(_BLINK_S, area=EffectArea(place), baseline=run.make_baseline())).box is None:
            return yes("it changed a little, and stayed so")
        self._moved_by_itself = True
        self._area = without(self._area, place)
        return None

    def _describe_no_change(self) -> str:
        beyond = " but what changes by itself" if self._moved_by_itself else ""
        return f"nothing changed in {self._run.request.timeout_s:g} s{beyond}"


_KINDS = {"normal": "window", "dialog": "dialog", "popup": "popup"}
_CHANGES = {"opened": "opened", "closed": "closed", "retitled": "got another title"}


def _rim_of(box: Rect) -> Rect:
    return Rect(box.x - _RIM_PX, box.y - _RIM_PX, box.w + 2 * _RIM_PX, box.h + 2 * _RIM_PX)


def _is_covered(area: EffectArea) -> bool:
    whole = Rect(0, 0, area.box.w, area.box.h)
    return any((part := one.intersect(whole)) is not None and part.area >= _WHOLE * whole.area for one in area.ignore)


def _find_doubt(active: ActiveWait) -> str:
    """Return why the change may be another program's ("": no doubt)."""
    view_state = active.machine.view_state
    return view_state.changes[0].doubt or view_state.changes[0].unsure if view_state is not None else ""


def _is_small(active: ActiveWait) -> bool:
    view_state = active.machine.view_state
    if view_state is None:
        return False
    box = view_state.view.grid.box(view_state.changes[0].touched, view_state.view.box)
    return box is not None and box.area <= _SMALL_PX


async def add_effects(run: InstructionRun, ending: InstructionEnding) -> InstructionEnding:
    """Return `ending` with what else happened, once the wait has ended and what was reached is at rest."""
    await run.follow_wait()
    is_read_back = ending.status == "verified" and ending.field is not None
    if run.request.timeout_s <= 0 or (is_read_back and not run.is_last and not run.new_windows()):
        changes = window_changes(run.origin.windows, run.watched.windows)
        return replace(ending, effects=ActionEffects(changes, focus=_describe_focus(run, None)))
    await run.steps.idle(run.watched, _SETTLED_S, _SETTLE_TIMEOUT_S, run.seen_in(without(run.area, *run.moving)))
    now = await _look_after(run)
    effects = ActionEffects(
        windows=window_changes(run.origin.windows, run.watched.windows),
        dialogs=_list_dialogs(run, now),
        focus=_describe_focus(run, now.focus),
        unread=now.unread if run.watched.focused else "",
    )
    return replace(ending, effects=effects)


async def _look_after(run: InstructionRun) -> Observed:
    """Return the widgets of what was reached and has opened; look again where a dialog has no words yet, or a busy
    program was too slow.
    """
    for looks in range(1, _MOST_LOOKS + 1):
        now = await run.observe()
        new = {one.window_id for one in run.new_windows()}
        silent = next((one for one in now.dialogs if one.window_id in new and not one.texts and not one.buttons), None)
        if now.is_late and looks == 1:
            continue
        if silent is None:
            return now
        if looks < _MOST_LOOKS:
            await sleep(run.core.loop, _AGAIN_S)
    assert silent is not None
    window = next((one for one in run.watched.windows if one.window_id == silent.window_id), None)
    box = window.bounds.intersect(run.screen) if window is not None else None
    if box is None:
        return now
    read = await run.read_text(box)
    with_text = replace(silent, texts=read.lines, unread=read.unread)
    return replace(now, dialogs=tuple(with_text if one is silent else one for one in now.dialogs))


def _list_dialogs(run: InstructionRun, now: Observed) -> tuple[OpenDialog, ...]:
    """Return the open dialogs; those that opened since the instruction began come first."""
    ids = {one.window_id for one in run.origin.windows}
    before = {(one.title, one.texts, one.buttons) for one in run.origin.before.dialogs}
    marked = [
        replace(
            one, is_new=one.window_id not in ids if one.window_id else (one.title, one.texts, one.buttons) not in before
        )
        for one in now.dialogs
    ]
    return tuple(sorted(marked, key=lambda one: not one.is_new)[:MAX_TOLD])


def _describe_focus(run: InstructionRun, widget: WidgetNow | None) -> FocusNow:
    words = (widget.role, widget.name) if widget is not None else ()
    return focus_now(run.watched.windows, run.watched.focused, run.origin.focused, *words)
