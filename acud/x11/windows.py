"""The windows of a display as agents see them: titles, places, visibility, the focus; monitors.

With a window manager the client windows are `_NET_CLIENT_LIST_STACKING` (EWMH); without one they are found in the tree.
Popups (menus, tooltips, lists of combo boxes) are the mapped override-redirect windows that hold no client. Monitors
are RANDR 1.5's: areas of one screen that outputs make, or `xrandr --setmonitor`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Set
from typing import Any, Literal

from msgspec import Struct
from Xlib import X, error

from acud.types import MonitorInfo, Rect, WindowInfo
from acud.x11.compound_text import decode_compound_text
from acud.x11.connection import Connection
from acud.x11.display_scale import DisplayScale
from acud.x11.screen_covers import ScreenCovers
from acud.x11.window_tree import Outline, WindowTree, octets, words

_MAX = 64
_MAX_NAME = 100
MAX_TITLE = 500
MAX_WINDOWS = 500
MAX_POPUPS = 50
_MOST_FRAME_PX = 200  # no frame is wider on one side; a larger number in its property is none
Kind = Literal["normal", "dialog", "popup"]
_ROOT_EVENTS = X.SubstructureNotifyMask | X.StructureNotifyMask | X.PropertyChangeMask | X.FocusChangeMask
CLIENT_EVENTS = X.StructureNotifyMask | X.PropertyChangeMask | X.FocusChangeMask
_FOCUS_NOWHERE = {X.NONE, X.PointerRoot}


def monitors(connection: Connection) -> tuple[MonitorInfo, ...]:
    """Return the active monitors in the server's order; () where the server has none (RANDR before 1.5)."""
    if not connection.has("RANDR"):
        return ()
    try:
        found = connection.root.xrandr_get_monitors(is_active=True).monitors
    except (error.BadRequest, error.BadMatch):
        return ()
    return tuple(_describe_monitor(connection, one) for one in found[:_MAX])


class Atoms:
    """The property names read here, as the server's numbers."""

    def __init__(self, connection: Connection) -> None:
        atom = connection.wire.get_atom
        self.supporting: int = atom("_NET_SUPPORTING_WM_CHECK")
        self.stacking: int = atom("_NET_CLIENT_LIST_STACKING")
        self.clients: int = atom("_NET_CLIENT_LIST")
        self.active: int = atom("_NET_ACTIVE_WINDOW")
        self.title: int = atom("_NET_WM_NAME")
        self.old_title: int = atom("WM_NAME")
        self.wm_class: int = atom("WM_CLASS")
        self.pid: int = atom("_NET_WM_PID")
        self.wm_state: int = atom("WM_STATE")
        self.compound: int = atom("COMPOUND_TEXT")
        self.transient: int = atom("WM_TRANSIENT_FOR")
        self.leader: int = atom("WM_CLIENT_LEADER")
        self.type: int = atom("_NET_WM_WINDOW_TYPE")
        self.dialog: int = atom("_NET_WM_WINDOW_TYPE_DIALOG")
        self.desktop: int = atom("_NET_WM_WINDOW_TYPE_DESKTOP")
        self.state: int = atom("_NET_WM_STATE")
        self.modal: int = atom("_NET_WM_STATE_MODAL")
        self.extents: int = atom("_NET_FRAME_EXTENTS")
        self.a11y: int = atom("AT_SPI_BUS")
        self.nudge: int = atom("_ACUD_ROUSING")

    def of_root(self) -> tuple[int, ...]:
        return (self.supporting, self.stacking, self.clients, self.active, self.a11y)

    def of_client(self) -> tuple[int, ...]:
        about = (
            self.title,
            self.old_title,
            self.wm_class,
            self.pid,
            self.transient,
            self.leader,
            self.type,
            self.state,
        )
        return (*about, self.extents)

    @property
    def watched_properties(self) -> frozenset[int]:
        """The properties whose change makes the snapshot stale."""
        return frozenset((*self.of_root(), *self.of_client(), self.wm_state))


class WindowSnapshot(Struct, frozen=True):
    """The windows, topmost first, the focused one (0: none), the accessibility bus ("": none named), monitors.

    `scale_factor`: how much larger than plain pixels programs draw (see `display_scale`).
    """

    windows: tuple[WindowInfo, ...] = ()
    focused: int = 0
    a11y_address: str = ""
    monitors: tuple[MonitorInfo, ...] = ()
    scale_factor: float = 1.0


class WindowReader:
    """Reads snapshots, and has the server report the events that make the next one differ."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._tree = WindowTree(connection)
        self._scale = DisplayScale(connection)
        self._covers = ScreenCovers(connection)
        self.atoms = Atoms(connection)
        self._a11y_address = ""
        self._clients_of: dict[int, int] = {}
        self.is_managed = False  # whether a window manager was running at the newest snapshot
        connection.root.change_attributes(event_mask=_ROOT_EVENTS)

    def snapshot(self) -> WindowSnapshot:
        """Return the windows as they are now; a handful of round trips, about 0.2 ms a window."""
        saver = self._covers.read_saver()
        tops = [w for w in self._tree.children(self._tree.root) if w != saver] + ([saver] if saver else [])
        outlines = self._tree.outlines(tops)
        self._select_events(w for w in tops if w in outlines and outlines[w].is_ours_to_list)
        about_root = self._read_root()
        clients = self._list_clients(outlines, about_root)[:MAX_WINDOWS]
        self._select_events(clients)
        shown_on = monitors(self._connection)
        screens = (self._screen_box(), *(one.bounds for one in shown_on))
        top_of = self._tree.tops(clients)
        covers = self._covers.find(tops, outlines, top_of, screens) | ({saver} & outlines.keys())
        infos, focused = self._describe_windows(clients, tops, outlines, about_root, top_of, covers)
        return WindowSnapshot(infos, focused, self._a11y_address, shown_on, self._scale.read())

    def client_of(self, window: int) -> int:
        """Return the window of the newest snapshot that `window` is, lies in, or frames; of other windows the child of
        the root around it; 0 when it is gone.
        """
        at = window
        while at and at not in self._clients_of:
            above = self._tree.parent(at)
            if above in {X.NONE, self._tree.root}:
                return at
            at = above
        return self._clients_of.get(at, 0)

    def has_type(self, window: int, types: Iterable[str]) -> bool:
        """Return whether `window` has one of these types (names of atoms)."""
        found = self._tree.properties([window], [self.atoms.type]).get((window, self.atoms.type))
        return not {self._connection.wire.get_atom(name) for name in types}.isdisjoint(words(found))

    @property
    def watched_properties(self) -> frozenset[int]:
        """The properties whose change makes the snapshot stale."""
        return self.atoms.watched_properties | self._scale.properties

    def has_manager(self) -> bool:
        """Return whether a window manager is running; two round trips."""
        return self._has_manager(self._read_root())

    def nudge_manager(self) -> None:
        """Queue meaningless events for a window manager; they are sent with the next requests."""
        root = self._connection.root
        root.change_property(self.atoms.nudge, self.atoms.compound, 8, b"")
        root.delete_property(self.atoms.nudge)

    def _read_root(self) -> dict[int, list[int]]:
        found = self._tree.properties([self._tree.root], self.atoms.of_root())
        self._a11y_address = octets(found.get((self._tree.root, self.atoms.a11y))).decode("ascii", "replace")
        return {atom: words(value) for (_, atom), value in found.items()}

    def _select_events(self, windows: Iterable[int]) -> None:
        """Select the events of `windows` before these are read: a change in between then raises an event. Each time: X
        ids are reused, and a repeated request costs the server nothing.
        """
        for window in windows:
            self._connection.xlib.create_resource_object("window", window).change_attributes(event_mask=CLIENT_EVENTS)

    # ---- which ------------------------------------------------------------------------------------------------------

    def _list_clients(self, outlines: dict[int, Outline], about_root: dict[int, list[int]]) -> list[int]:
        self.is_managed = self._has_manager(about_root)
        if self.is_managed:
            listed = about_root.get(self.atoms.stacking) or about_root.get(self.atoms.clients, [])
            return list(dict.fromkeys(listed))
        # The windows without a manager: mapped top-level windows with an identity, or frames of such.
        shown = [o.window for o in outlines.values() if o.is_viewable and o.is_ours_to_list and o.has_pixels]
        marks = (self.atoms.wm_state, self.atoms.wm_class, self.atoms.title, self.atoms.old_title)
        marked = {window for window, _ in self._tree.properties(shown, marks)}
        found: list[int] = []
        for window in shown:
            inside = self._tree.children(window) if window not in marked else []
            held = {child for child, _ in self._tree.properties(inside, [self.atoms.wm_state])}
            found += [window] if window in marked else sorted(held)
        return found

    def _has_manager(self, about_root: dict[int, list[int]]) -> bool:
        """Return whether a window manager is running: its check window names itself (EWMH)."""
        check = about_root.get(self.atoms.supporting, [])
        if not check:
            return False
        own = self._tree.properties(check[:1], [self.atoms.supporting]).get((check[0], self.atoms.supporting))
        return words(own) == check[:1]

    # ---- what -------------------------------------------------------------------------------------------------------

    def _describe_windows(
        self,
        clients: list[int],
        tops: list[int],
        outlines: dict[int, Outline],
        about_root: dict[int, list[int]],
        top_of: dict[int, int],
        covers: Set[int],
    ) -> tuple[tuple[WindowInfo, ...], int]:
        popups = self._find_popups(outlines, {*clients, *top_of.values()})
        top_of |= {window: window for window in popups}
        clients = [*clients, *popups]
        boxes = self._tree.insides(clients)
        own = self._tree.outlines(clients)
        facts = self._tree.properties(clients, self.atoms.of_client())
        height = {window: index for index, window in enumerate(tops)}
        present = [w for w in clients if w in boxes and w in own and w in top_of]
        present.sort(key=lambda w: height.get(top_of[w], -1), reverse=True)
        self._clients_of = {top_of[w]: w for w in reversed(present)} | {w: w for w in present}
        stack = [outlines[w] for w in tops if w in outlines]
        screen = self._screen_box()
        kinds = self._find_kinds([w for w in present if w not in popups], popups, facts)
        frames = self._find_frames([w for w in present if own[w].is_viewable], top_of, boxes, outlines, facts)
        infos = tuple(
            self._describe_window(
                w,
                boxes[w],
                facts,
                visibility(boxes[w], own[w], top_of[w], stack, screen),
                kinds[w],
                frames.get(w),
                hides_screen=w in covers,
            )
            for w in present
        )
        return infos, self._find_focused(about_root, [w for w in present if w not in popups])

    def _find_popups(self, outlines: dict[int, Outline], taken: set[int]) -> list[int]:
        """Return the shown windows that no manager may touch, except frames of clients, topmost first."""
        screen = self._screen_box()
        shown = [o for o in outlines.values() if o.is_viewable and o.has_pixels and not o.is_ours_to_list]
        found = [o.window for o in shown if o.window not in taken and o.box.intersect(screen) and o.box.area > 1]
        return found[::-1][:MAX_POPUPS]

    def _find_kinds(
        self, clients: list[int], popups: list[int], facts: dict[tuple[int, int], Any]
    ) -> dict[int, tuple[Kind, int]]:
        """Return the kind of each window, and the client window it belongs to (0: unknown)."""
        transient = {w: self._first_word(facts, w, self.atoms.transient) for w in (*clients, *popups)}
        leader = {w: self._first_word(facts, w, self.atoms.leader) for w in (*clients, *popups)}
        kinds: dict[int, tuple[Kind, int]] = {}
        for window in clients:
            is_dialog = transient[window] or self._first_word(facts, window, self.atoms.type) == self.atoms.dialog
            kinds[window] = (
                "dialog" if is_dialog else "normal",
                transient[window] if transient[window] in clients else 0,
            )
        for window in popups:
            # A menu of a menu names the menu; a toolkit that names no owner still names its leader, as its windows do.
            group = [w for w in clients if leader[window] and leader[window] in {w, leader[w]}]
            named = transient[window] if transient[window] in kinds or transient[window] in popups else 0
            kinds[window] = "popup", named or (group[0] if group else 0)
        return kinds

    def _find_frames(
        self,
        shown: list[int],
        top_of: dict[int, int],
        boxes: dict[int, Rect],
        outlines: dict[int, Outline],
        facts: dict[tuple[int, int], Any],
    ) -> dict[int, Rect]:
        """Return the frame drawn around each of `shown`: the child of the root that a manager put it into, or its
        border. A child that holds several is a desktop, not a frame; then the manager's _NET_FRAME_EXTENTS give the
        frame's width.
        """
        alone = {top for top, count in Counter(top_of[w] for w in shown).items() if count == 1}
        frames: dict[int, Rect] = {}
        for window in shown:
            top, box = outlines.get(top_of[window]), boxes[window]
            if top is not None and top.has_pixels and top.window in alone and top.box != box:
                frames[window] = top.box
            elif len(sides := words(facts.get((window, self.atoms.extents)))) == 4 and max(sides) <= _MOST_FRAME_PX:
                left, right, above, below = sides
                frames[window] = Rect(box.x - left, box.y - above, box.w + left + right, box.h + above + below)
        return {window: frame for window, frame in frames.items() if frame != boxes[window]}

    def _first_word(self, facts: dict[tuple[int, int], Any], window: int, atom: int) -> int:
        return next(iter(words(facts.get((window, atom)))), 0)

    def _screen_box(self) -> Rect:
        width, height = self._connection.size()
        return Rect(0, 0, width, height)

    def _describe_window(
        self,
        window: int,
        box: Rect,
        facts: dict[tuple[int, int], Any],
        visibility: Any,
        kind: tuple[Kind, int],
        frame: Rect | None,
        *,
        hides_screen: bool,
    ) -> WindowInfo:
        pid = words(facts.get((window, self.atoms.pid)))
        return WindowInfo(
            window_id=window,
            title=self._read_title(window, facts),
            bounds=box,
            visibility=visibility,
            pid=pid[0] if pid else 0,
            wm_class=class_name(octets(facts.get((window, self.atoms.wm_class)))),
            kind=kind[0],
            owner=kind[1],
            modal=self.atoms.modal in words(facts.get((window, self.atoms.state))),
            frame=frame,
            hides_screen=hides_screen,
            is_desktop=self._first_word(facts, window, self.atoms.type) == self.atoms.desktop,
        )

    def _read_title(self, window: int, facts: dict[tuple[int, int], Any]) -> str:
        new = octets(facts.get((window, self.atoms.title)))
        if new:
            return decode_text(new)[:MAX_TITLE]
        old = facts.get((window, self.atoms.old_title))
        if old is None:
            return ""
        if old.property_type == self.atoms.compound:
            return decode_compound_text(octets(old))[:MAX_TITLE]
        return decode_text(octets(old))[:MAX_TITLE]

    def _find_focused(self, about_root: dict[int, list[int]], clients: list[int]) -> int:
        active = about_root.get(self.atoms.active, [])
        if active and active[0] in clients and self._has_manager(about_root):
            return active[0]
        at = self._tree.input_focus()
        if at in _FOCUS_NOWHERE or at == self._tree.root:
            return 0
        if at in clients:
            return at
        # Toolkits give the focus to a child of the client window.
        tops = self._tree.tops([at, *clients])
        return next((w for w in clients if at in tops and tops.get(w) == tops[at]), 0)


def _describe_monitor(connection: Connection, one: Any) -> MonitorInfo:
    name = connection.xlib.get_atom_name(one.name)[:_MAX_NAME]
    return MonitorInfo(name, Rect(one.x, one.y, one.width_in_pixels, one.height_in_pixels), bool(one.primary))


def visibility(box: Rect, own: Outline, top: int, stack: list[Outline], screen: Rect) -> str:
    if not own.is_viewable:
        return "unmapped"
    above = False
    for other in stack:
        if above and other.is_viewable and other.has_pixels and other.box.intersect(box):
            return "covered"
        if other.window == top and top != own.window and not other.box.contains(box):
            return "covered"  # its frame cuts it off, as while a manager animates its restoration
        above = above or other.window == top
    return "full" if screen.contains(box) else "covered"


def class_name(raw: bytes) -> str:
    """Return the class part of WM_CLASS: instance, zero, class, zero (ICCCM 4.1.2.5)."""
    parts = raw.split(b"\0")
    return parts[1].decode("latin-1") if len(parts) > 1 else ""


def decode_text(name: bytes) -> str:
    """Return a name or a copied text. STRING is Latin-1 (ICCCM 2.7.1), but programs put UTF-8 into it, and Latin-1 into
    UTF8_STRING. Non-ASCII bytes that decode as UTF-8 are hardly ever anything else.
    """
    try:
        return name.decode("utf-8")
    except UnicodeDecodeError:
        return name.decode("latin-1")
