"""Processes joined with the windows they show, from the window list and /proc."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from acud.scene.nouns import FocusedWindow, SceneApp, SceneWindow
from acud.supervisor.displays import proc
from acud.supervisor.screens import Screen
from acud.types import WindowInfo

NAMELESS = "unknown"

Quote = Callable[[Screen, WindowInfo], str]
"""A window's title as it may be told."""


class Programs:
    """Which processes run on managed displays: all that carry a display's mark, looked for at most every `every_s`.

    A look through /proc takes about 20 µs a process.
    """

    def __init__(self, now_s: Callable[[], float], own: Callable[[], set[int]], every_s: float = 2.0) -> None:
        self._now = now_s
        self._own = own
        self._every_s = every_s
        self._at_s = float("-inf")
        self._found: dict[str, tuple[int, ...]] = {}

    def of(self, folder: str) -> tuple[int, ...]:
        """Return the processes of the display in `folder`, without those that make the display itself."""
        if self._now() - self._at_s > self._every_s:
            self._at_s = self._now()
            self._found = _by_folder(proc.marked(), self._own())
        return self._found.get(folder, ())


def _by_folder(marked: Mapping[int, str], own: set[int]) -> dict[str, tuple[int, ...]]:
    found: dict[str, list[int]] = {}
    for pid, folder in marked.items():
        if pid not in own:
            found.setdefault(folder, []).append(pid)
    return {folder: tuple(sorted(pids)) for folder, pids in found.items()}


class Shown(NamedTuple):
    """A display's windows and the programs without any."""

    screen: Screen
    pids: Sequence[int] = ()


def apps(shown: Iterable[Shown], quote: Quote) -> tuple[SceneApp, ...]:
    """Return the processes of each display, those with windows first in the order of stacking; pid 0 gathers windows
    that name no process. Nothing of one display is told with another's: some may see the one alone.
    """
    by_display = [(_windowed(one, quote), one) for one in shown]
    found = [app for windowed, _ in by_display for app in windowed]
    return (*found, *(app for windowed, one in by_display for app in _windowless(one, {app.pid for app in windowed})))


def _windowed(one: Shown, quote: Quote) -> list[SceneApp]:
    windows: dict[int, list[SceneWindow]] = {}
    names: dict[int, str] = {}
    for window in one.screen.windows:
        windows.setdefault(window.pid, []).append(_window(one.screen, window, quote))
        names.setdefault(window.pid, window.wm_class)
    return [SceneApp(_name(pid, names[pid]), pid, tuple(found), one.screen.number) for pid, found in windows.items()]


def _windowless(one: Shown, shown: set[int]) -> Iterable[SceneApp]:
    named = ((proc.comm(pid), pid) for pid in one.pids if pid not in shown)
    return (SceneApp(name, pid, (), one.screen.number) for name, pid in named if name)


def focused(screen: Screen, quote: Quote) -> FocusedWindow | None:
    """Return the window that has the display's input focus, as the X server says; None when none has it."""
    window = next((one for one in screen.windows if one.window_id == screen.focused), None)
    if window is None or not screen.focused:
        return None
    name = _name(window.pid, window.wm_class)
    return FocusedWindow(name, window.pid or None, window.bounds, quote(screen, window), screen.number)


def _name(pid: int, wm_class: str) -> str:
    return (proc.comm(pid) if pid else "") or wm_class or NAMELESS


def _window(screen: Screen, window: WindowInfo, quote: Quote) -> SceneWindow:
    return SceneWindow(f"{window.window_id:#x}", quote(screen, window), window.bounds, screen.number)
