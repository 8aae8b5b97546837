"""Feeds the machines of waits: where each target is now, its frames, the windows, and what was lost."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from functools import partial

from msgspec.structs import replace

from acud.base import log
from acud.process.event_loop import EventLoop
from acud.protocol.capture import Notice
from acud.supervisor.frame_sources import Source, Sources
from acud.supervisor.host_conditions import HostConditions
from acud.supervisor.observers import Order
from acud.supervisor.terminal_sessions import Sessions
from acud.supervisor.terminal_sessions.service import TerminalText
from acud.supervisor.waits.active_waits import ActiveWait, ActiveWaits, Step
from acud.supervisor.waits.baseline_recovery import BaselineRecovery
from acud.supervisor.waits.opened_windows import OpenedWindows
from acud.supervisor.waits.target_notes import TargetNotes
from acud.supervisor.waits.widget_requests import WidgetRequests
from acud.supervisor.watched_displays import WatchedDisplay, WatchedDisplays
from acud.types import DisplayState, HostLeaf, Rect, TextLeaf, Verdict, WindowInfo, screen_cover, unknown
from acud.types.actions import Point
from acud.waits import baselines
from acud.waits import events as happened
from acud.waits.anew import add_typed
from acud.waits.condition_tree import NOT_JUDGED, leaves
from acud.waits.events import TargetLook
from acud.waits.frame_coalescing import MOST_BEHIND, ChangeBuffer, can_coalesce, is_relevant
from acud.waits.model import NO_DISPLAY
from acud.waits.presence import judge_hidden_region
from acud.waits.schedule import asks_quiet, ignores_blinking
from acud.waits.targets import TargetLocation, judge_hidden_screen, locate
from acud.waits.terminals import parse_session_name, search_lines
from acud.waits.tiles import TileHistory, from_bytes, parse_looks, subtract

_LOG = log.logger("target_tracker")

_SEARCH_S = 0.005  # one turn searches a terminal's text for a pattern for so long (seconds)
_PTY = "pty:"
_JUST_S = 120.0  # lines typed longer ago than this, with nothing since, are no echo for a wait that is armed now
PAUSED = unknown("paused", "its task is paused: nothing is judged until the task is active again")


class TargetTracker:
    """Watches sources and windows for the waits in `active`; passes every event to a machine through `step`."""

    def __init__(
        self,
        active: ActiveWaits,
        watched_displays: WatchedDisplays,
        sources: Sources,
        step: Step,
        sessions: Sessions,
        host_conditions: HostConditions,
        recovery: BaselineRecovery,
        widgets: WidgetRequests,
        loop: EventLoop,
    ) -> None:
        self._active, self._watched_displays, self._sources = active, watched_displays, sources
        self._now = loop.now_s
        self._step, self._sessions = step, sessions
        self._host = host_conditions
        self._recovery, self._widgets, self._loop = recovery, widgets, loop
        self.opened_windows = OpenedWindows()
        self.notes = TargetNotes(watched_displays, host_conditions)
        self._unread: dict[str, deque[TerminalText]] = {}
        """By wait: texts of its terminal still to be searched for its patterns; the first is being searched."""
        self._histories: dict[str, tuple[tuple[int, int, str], TileHistory]] = {}
        self._buffers: dict[str, ChangeBuffer] = {}
        self._held: set[str] = set()
        self._blinded: dict[str, tuple[str, int, int]] = {}
        """By wait: the last source, epoch and frame before its task was paused."""
        self._typed: dict[str, tuple[float, tuple[str, ...]]] = {}
        """By display, or `pty:` and session: when acud typed there last, and the lines typed."""
        sources.watchers.add(self, Order.WAITS)
        sources.forgotten.append(self._forget_source)
        watched_displays.watchers.add(self, Order.WAITS)
        sessions.watchers.add(self, Order.WAITS)

    def make_token(self, source: Source, frame: int, identity: str = "", box: Rect | None = None) -> str:
        """Return the baseline token of a frame of `source`; the target in it looked like `identity`, at `box`."""
        size = source.width, source.height
        return baselines.encode_token(baselines.BaselineToken(source.name, source.server, *size, frame, identity, box))

    def changed_since(self, source: Source, token: str) -> int | None:
        """Return the tiles of `source` that changed after the baseline `token`; None when that is not known."""
        known = self._histories.get(source.name)
        named = baselines.parse_token(token)
        here = (source.name, source.server, source.width, source.height)
        if known is None or here != (named.source, named.server, named.width, named.height):
            return None
        return known[1].since(named.frame)

    def _history_of(self, source: Source) -> TileHistory:
        """Return the tile history of a new source, begun from a former supervisor's ring if there is one."""
        past = self._sources.orphaned_rings.find(source.name)
        if past is None or source.frame != past.frame:
            return TileHistory()
        here = source.server, source.width, source.height
        same = here == (past.server, past.layout.width, past.layout.height)
        return TileHistory(past.changed, past.frame) if same else TileHistory()

    # ---- one wait --------------------------------------------------------------------------------------------------

    def pass_known(self, active: ActiveWait) -> None:
        """Pass everything known of its target to a freshly armed wait."""
        if active.spec.task_id in self._held:
            self._blind_wait(active)
            return
        if active.spec.target.pty:
            reads = any(isinstance(leaf, TextLeaf) for leaf in leaves(active.spec.until))
            self._sessions.watch(active.wait_id, active.spec.target.pty, text=reads)
        for line in () if active.reads_back else self._find_typed_before(active):
            self._step(active, happened.Typed(self._now(), line))
        self._begin_host(active)
        self.point(active)
        watched = self._watched_displays.by_name.get(active.display)
        if watched is not None and watched.windows_known and not active.ended:
            self._step(active, happened.WindowsSeen(self._now(), watched.windows))

    def note_typed(self, place: str, text: str) -> None:
        """Notify waits that acud is about to type `text` on a display, or into a terminal session (`pty:` and its
        name); "": it clicks, so that it types elsewhere from then on.
        """
        lines = self._typed.get(place, (0.0, ()))[1]
        lines = add_typed(lines, text) if text else (*(line for line in lines if line.endswith("\n")), "")
        self._typed[place] = self._now(), lines
        for active in list(self._active.values()):
            if place in _typing_places(active) and not active.ended:
                self._step(active, happened.Typed(self._now(), text))

    def _find_typed_before(self, active: ActiveWait) -> list[str]:
        """Return the lines that acud typed just before the wait; only finished ones in a terminal read after a mark."""
        now_s, found = self._now(), []
        for place in _typing_places(active):
            typed_s, lines = self._typed.get(place, (0.0, ()))
            if now_s - typed_s > _JUST_S:
                self._typed.pop(place, None)
                continue
            is_after = place.startswith(_PTY) and parse_session_name(active.spec.target.pty).since is not None
            found += [line for line in lines if line.endswith("\n") or not is_after]
        return found

    def next_stage(self, active: ActiveWait) -> None:
        """Switch the wait's widgets and host conditions to its present stage; `begin_stage` follows."""
        self._widgets.next_stage(active)
        self._host.unwatch(active.wait_id)

    def begin_stage(self, active: ActiveWait) -> None:
        """Pass what the new stage of a wait needs, and the one before did not."""
        if active.ended or active.spec.task_id in self._held:
            return
        self._begin_host(active)
        if not active.ended:
            self.point(active)

    def _begin_host(self, active: ActiveWait) -> None:
        stage = active.machine.stage

        def on_verdicts(verdicts: dict[int, Verdict]) -> None:
            if active.machine.stage == stage:
                self._step(active, happened.HostSeen(self._now(), verdicts))

        watched = self._watched_displays.by_name.get(active.display)
        known = self._host.watch(active.wait_id, active.machine.until, watched, on_verdicts)
        if known:
            on_verdicts(known)

    def hide_targets(self, task_id: str) -> None:
        """Hide the targets of a paused task's waits, so that nothing is judged; deadlines run on."""
        self._held.add(task_id)
        for active in self._find_of_task(task_id):
            self._blind_wait(active)

    def show_targets(self, task_id: str) -> None:
        """Show the targets of a resumed task's waits again; what changed meanwhile counts as one change."""
        if task_id in self._held:
            self._held.discard(task_id)
            for active in self._find_of_task(task_id):
                self.pass_known(active)
                self._catch_up(active)

    def _catch_up(self, active: ActiveWait) -> None:
        """Pass what changed meanwhile to a wait that was blind: its own next grab would find nothing new."""
        name, epoch, frame = self._blinded.pop(active.wait_id, ("", 0, 0))
        source = self._sources.by_name.get(active.source)
        if active.ended or source is None or (source.name, source.epoch) != (name, epoch) or source.frame <= frame:
            return
        tiles = self._histories[name][1].since(frame)
        grabbed_at = source.compared_mono_ns / 1e9
        self._step(active, happened.FrameSeen(self._now(), epoch, source.frame, tiles, grabbed_at, 0.0))

    def _blind_wait(self, active: ActiveWait) -> None:
        source = self._sources.by_name.get(active.source)
        if source is not None:
            self._blinded[active.wait_id] = (source.name, source.epoch, source.frame)
        self._step(active, happened.SourceLost(self._now(), PAUSED.code, PAUSED.detail))
        host = {index: PAUSED for index, leaf in enumerate(active.machine.leaves) if isinstance(leaf, HostLeaf)}
        if host and not active.ended:
            self._step(active, happened.HostSeen(self._now(), host))
        self.end_tracking(active)
        active.source = ""

    def _find_of_task(self, task_id: str) -> list[ActiveWait]:
        return [active for active in self._active.values() if active.spec.task_id == task_id and not active.ended]

    def end_tracking(self, active: ActiveWait) -> None:
        if active.ended:
            self._blinded.pop(active.wait_id, None)
            self._recovery.let_go(active)
        self._sessions.unwatch(active.wait_id)
        self._widgets.unwatch(active.wait_id)
        self._host.unwatch(active.wait_id)
        watched = self._watched_displays.by_name.get(active.display)
        if watched is not None:
            self._watched_displays.follow(watched, active.wait_id, ())
        source = self._sources.by_name.get(active.source)
        if source is not None:
            self._sources.want(source, active.wait_id, 0.0)

    def find_target(self, active: ActiveWait) -> TargetLocation:
        """Return where the wait's target is now, or why there is no such target."""
        if active.spec.task_id in self._held:
            return TargetLocation(missing=PAUSED)
        if not active.display:
            place = self._sessions.find_window(active.spec.target.pty, ()) if active.spec.target.pty else None
            is_lost = isinstance(place, Verdict) and place.code.startswith("session_")
            return TargetLocation(missing=place if is_lost and isinstance(place, Verdict) else NO_DISPLAY)
        watched = self._watched_displays.by_name.get(active.display)
        display = self._sources.by_name.get(active.display)
        if watched is None or display is None or watched.state is not DisplayState.UP:
            reason = watched.reason if watched is not None else "it is not watched any more"
            return TargetLocation(
                missing=unknown("display_down", f"display {active.display} is not up: {reason or 'starting'}")
            )
        target, windows = active.spec.target, watched.windows
        if target.in_windows and not watched.windows_known:
            return TargetLocation(missing=unknown("window_missing", "the window list has not been read yet"))
        shown_in = self._sessions.find_window(target.pty, windows) if target.pty else None
        if target.opened_by is not None:
            shown_in = self.opened_windows.find(active, windows)
        size = display.width, display.height
        found = locate(target, active.display, *size, windows, active.window_id, watched.monitors, shown_in)
        hidden = judge_hidden_screen(windows, found.crop) if found.source and not found.window_id else None
        hidden = hidden or judge_hidden_region(active.machine, windows, target.region)
        return TargetLocation(missing=hidden) if hidden is not None else found

    def note_launch(self, active: ActiveWait) -> None:
        """Note the present windows of a wait's display as not opened by its launch."""
        watched = self._watched_displays.by_name.get(active.display)
        if watched is not None and watched.windows_known:
            active.stood = frozenset(one.window_id for one in watched.windows)
        self.point(active)

    def origin(self, source: Source) -> Point:
        """Return where the top left pixel of a source is on its display: for a covered window, the window's corner."""
        watched = self._watched_displays.by_name.get(source.display)
        windows = watched.windows if watched is not None and source.window_id else ()
        window = next((one for one in windows if one.window_id == source.window_id), None)
        return Point(0, 0) if window is None else Point(window.bounds.x, window.bounds.y)

    def windows(self, source: Source) -> tuple[WindowInfo, ...]:
        """Return the windows of a source's display, topmost first; for a window's own source only that window."""
        watched = self._watched_displays.by_name.get(source.display)
        windows = watched.windows if watched is not None else ()
        return tuple(one for one in windows if not source.window_id or one.window_id == source.window_id)

    def find_place(self, active: ActiveWait) -> tuple[Rect | None, bool]:
        """Return where on its display a wait's target is now (None: missing), and whether it is covered or partly off
        the screen, so that it has a source of its own.
        """
        found = self.find_target(active)
        source = self._sources.by_name.get(found.source)
        if found.missing is not None or source is None:
            return None, False
        at = self.origin(source)
        return (found.crop or Rect(0, 0, source.width, source.height)).shift(at.x, at.y), bool(source.window_id)

    def point(self, active: ActiveWait) -> None:
        """Locate the wait's target again and notify its machine."""
        found = self.find_target(active)
        active.window_id = found.window_id or active.window_id
        self._follow_window(active, found)
        source = self._sources.by_name.get(found.source)
        self._leave_source(active, found.source)
        if found.missing is not None or source is None or not source.up:
            self._recovery.hold_rings(active)
        if found.missing is not None:
            self._widgets.unwatch(active.wait_id)
            _LOG.debug("wait.aim_lost", wait=active.wait_id, code=found.missing.code)
            self._step(active, happened.TargetLost(self._now(), found.missing, self._is_coming(active, found.missing)))
        elif source is None or not source.up:
            detail = f"pixels of the covered window are being fetched from {found.source}"
            self._step(active, happened.TargetLost(self._now(), unknown("not_viewable", detail), coming=True))
        else:
            self._set_target(active, found, source)

    def _is_coming(self, active: ActiveWait, missing: Verdict) -> bool:
        watched = self._watched_displays.by_name.get(active.display)
        if watched is None:
            return False
        unread = active.spec.target.in_windows and watched.state is DisplayState.UP and not watched.windows_known
        return watched.state is DisplayState.STARTING or unread or missing.code == NOT_JUDGED.code

    def demand(self, active: ActiveWait) -> None:
        """Request the frame rate that the wait's machine asks for."""
        source = self._sources.by_name.get(active.source)
        if source is not None:
            whole = active.crop or Rect(0, 0, source.width, source.height)
            quiet = subtract(whole, active.ignore) if active.fps and asks_quiet(active.machine) else ()
            looks = bool(quiet) and ignores_blinking(active.machine.leaves)
            self._sources.want(source, active.wait_id, active.fps, quiet, looks=looks)

    def read_target(self, active: ActiveWait) -> None:
        """Read the terminal that the wait looks at, and its widgets, now."""
        self._sessions.survey_now(active.spec.target.pty)
        self._widgets.read_widgets(active)

    def _set_target(self, active: ActiveWait, location: TargetLocation, source: Source) -> None:
        active.source, active.crop, active.ignore = source.name, location.crop, location.ignore
        _LOG.debug("wait.aimed", wait=active.wait_id, source=source.name, epoch=source.epoch, frame=source.frame)
        self.demand(active)
        kept = {one.token for one in active.baselines.values()}
        touched = {
            token: self.changed_since(source, token) for token in baselines.collect_tokens(active.spec.until) | kept
        }
        self._step(
            active,
            happened.TargetLocated(
                at=self._now(),
                source=source.name,
                epoch=source.epoch,
                server=source.server,
                width=source.width,
                height=source.height,
                crop=location.crop,
                ignore=location.ignore,
                touched=touched,
                awaited_baselines=self._recovery.begin_recovery(active, location, source),
            ),
        )
        if not active.ended:
            self._widgets.watch(active, location)

    def _follow_window(self, active: ActiveWait, location: TargetLocation) -> None:
        watched = self._watched_displays.by_name.get(active.display)
        if watched is not None and active.spec.target.in_windows:
            self._watched_displays.follow(watched, active.wait_id, (location.window_id,) if location.window_id else ())

    def _leave_source(self, active: ActiveWait, source: str) -> None:
        before = self._sources.by_name.get(active.source)
        if before is not None and before.name != source:
            self._sources.want(before, active.wait_id, 0.0)

    def _find_watching(self, display: str) -> list[ActiveWait]:
        return [active for active in self._active.on_display(display) if not active.ended]

    # ---- events of sources and displays ----------------------------------------------------------------------------

    def source_up(self, source: Source) -> None:
        """Locate every target on the display again: the source has a ring with a new epoch."""
        identity = (source.width, source.height, source.x_server)
        known = self._histories.get(source.name)
        if known is None or known[0] != identity:
            self._histories[source.name] = (identity, self._history_of(source))
        for active in self._find_watching(source.display):
            self.point(active)

    def frame_seen(self, source: Source, notice: Notice) -> None:
        """Record what changed, and pass the frame to the waits that look at this source."""
        tiles = None if notice.fresh else from_bytes(notice.tiles)
        self._histories[source.name][1].record(notice.frame, tiles)
        seen = happened.FrameSeen(
            at=self._now(),
            epoch=notice.epoch,
            frame=notice.frame,
            tiles=tiles,
            grabbed_at=notice.mono_ns / 1e9,
            damaged_at=notice.damage_ns / 1e9,
            unsure=from_bytes(notice.unsure),
            looks=parse_looks(tiles, notice.looks) if tiles and notice.looks else {},
            took_s=notice.took_ns / 1e9,
        )
        self._pass_frame(source, seen, notice)

    def _pass_frame(self, source: Source, seen: happened.FrameSeen, notice: Notice) -> None:
        """Pass a frame to the waits that are awake, after buffering it for the others: one wait may wake another."""
        watching = [active for active in self._find_watching(source.display) if active.source == source.name]
        awake = [active for active in watching if not active.holds_frames]
        buffer = self._buffers.setdefault(source.name, ChangeBuffer())
        if seen.tiles or seen.unsure:
            buffer.record(seen)
        moved = [
            active
            for active in watching
            if active.holds_frames and (seen.tiles is None or active.frames_held >= MOST_BEHIND)
        ]
        for active in moved:
            self._step(active, seen)
        moved += [active for active in awake if self._pass_to_wait(active, seen, notice)]
        for active in moved:  # the other machines are as they were
            if not active.holds_frames and active.source == source.name and can_coalesce(active.machine):
                active.hold_frames(buffer)

    def _pass_to_wait(self, active: ActiveWait, seen: happened.FrameSeen, notice: Notice) -> bool:
        """Pass a frame to the wait if it may concern it; return whether it does."""
        if seen.tiles != 0:
            active.count_frame()
        concerned = 0 < active.grab <= notice.grab or is_relevant(active.machine, seen)
        if concerned:
            active.grab = active.grab if active.grab > notice.grab else 0
            here = (one for one in notice.shown if (one.ask.crop, one.ask.ignore) == (active.crop, active.ignore))
            look = max(here, key=lambda one: len(one.tiles), default=None)
            self._step(active, seen if look is None else replace(seen, look=TargetLook(look.identity, look.tiles)))
        return concerned

    def source_lost(self, source: Source, code: str, reason: str) -> None:
        """Notify the waits on a source that its pixels are unknown from now on."""
        for active in self._find_watching(source.display):
            if source.window_id == 0:
                self._step(active, happened.SourceLost(self._now(), code, reason))
            elif active.source == source.name:
                self._step(active, happened.TargetLost(self._now(), unknown(code, reason)))

    def _forget_source(self, source: Source) -> None:
        """Drop the history of a source that is gone: if it comes back, what changed meanwhile is unknown."""
        self._histories.pop(source.name, None)
        self._buffers.pop(source.name, None)

    def windows_seen(self, watched: WatchedDisplay) -> None:
        """Locate targets among windows and monitors again, and pass the list to every machine."""
        is_hidden = screen_cover(watched.windows) is not None
        for active in self._find_watching(watched.name):
            missing = active.machine.missing
            target, was_hidden = active.spec.target, missing is not None and missing.code in ("locked", "covered")
            is_covered = judge_hidden_region(active.machine, watched.windows, target.region) is not None
            if target.in_windows or is_hidden or is_covered or was_hidden:
                self.point(active)
            if not active.ended and active.spec.task_id not in self._held:
                self._step(active, happened.WindowsSeen(self._now(), watched.windows))

    def sessions_seen(self, wanted: str) -> None:
        """Pass this session's text to its waits, and locate their targets again."""
        for active in [active for active in self._active.values() if active.spec.target.pty == wanted]:
            if not active.ended and active.spec.task_id not in self._held:
                unread = self._unread.setdefault(active.wait_id, deque())
                unread.append(self._sessions.read_text(wanted, active.machine.armed_at))
                if len(unread) == 1:
                    self._read_on(active, _search_text(active, unread[0]))
            if not active.ended:
                self.point(active)

    def _read_on(self, active: ActiveWait, searching: Iterator[None]) -> None:
        """Continue `searching` the first unread text of the terminal of `active`, for some milliseconds a turn; then
        pass it to the wait and take the next one.
        """
        until_s, unread = self._now() + _SEARCH_S, self._unread[active.wait_id]
        while unread and not active.ended:
            for _ in searching:
                if self._now() > until_s:
                    self._loop.call_later(0.0, partial(self._read_on, active, searching))
                    return
            found = unread[0]
            self._step(active, happened.TerminalSeen(self._now(), found.screen, found.read_at, found.written))
            unread.popleft()  # only now: what comes meanwhile is read by this loop, not by another
            searching = _search_text(active, unread[0]) if unread else iter(())
        del self._unread[active.wait_id]


def _search_text(active: ActiveWait, text: TerminalText) -> Iterator[None]:
    return search_lines(active.machine.leaves, f"{text.screen or ''}\n{text.written}")


def _typing_places(active: ActiveWait) -> tuple[str, ...]:
    """Return the display and the terminal where typing by acud concerns a wait."""
    pty = active.spec.target.pty
    return tuple(filter(None, (active.display, f"{_PTY}{parse_session_name(pty).name}" if pty else "")))
