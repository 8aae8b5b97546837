"""Browsers that show a page and expose none of its widgets: which ones, and the switch that makes each do so.

Chromium and what is built on it (Electron) expose a page's widgets only when started so; Firefox exposes none when its
settings forbid it. A browser that exposes nothing is not even on the accessibility bus: it is recognised by its
window's class, or by the child processes that Chromium's engine starts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from acud.accessibility.nodes import PAGES, AccessibleApp, FailedApp, Node
from acud.types import WindowInfo

_CHROMIUM, _FIREFOX = "chromium", "firefox"
_CHROMIUM_SWITCH = "--force-renderer-accessibility"
_FIREFOX_SWITCH = "GNOME_ACCESSIBILITY=1, or set accessibility.force_disabled to -1 in about:config"
_ENGINES = {
    **dict.fromkeys(("chromium", "chrome", "google-chrome", "brave-browser", "microsoft-edge"), _CHROMIUM),
    **dict.fromkeys(("opera", "vivaldi-stable", "electron"), _CHROMIUM),
    **dict.fromkeys(("firefox", "firefox-esr", "librewolf", "thunderbird", "navigator"), _FIREFOX),
}
"""Engines by the class of a browser's windows, in small letters (chromium-browser and the like begin with it)."""
_TOOLKITS = {"Chromium": _CHROMIUM, "Gecko": _FIREFOX}
_MAX_CHILDREN = 32
_MEMORY = re.compile(r" - [^\W\d][^\d-]{2,60} - [\d.,]+ ?[^\W\d]{1,4}$")


def tab_title(name: str) -> str:
    """Return the title in the name of a tab of Chromium's, which ends with the memory that the tab uses now, in the
    browser's language (`Inbox - Memory usage - 87 MB`). A tab whose memory is not measured has its title alone.
    """
    return _MEMORY.sub("", name) or name


class _WindowOwner(NamedTuple):
    """A process with windows."""

    pid: int
    wm_class: str


def silent_browsers(
    apps: Sequence[AccessibleApp], nodes: Sequence[Node], windows: Sequence[WindowInfo]
) -> tuple[FailedApp, ...]:
    """Return the browsers among the processes of `windows` that expose no widget of their pages, with what helps.

    `apps` and `nodes`: what was read. An empty page counts too: it looks the same. Reads files of /proc for processes
    that are not on the bus; does not block for longer.
    """
    exposing = {apps[nodes[node.parent].app].pid for node in nodes if _is_in_page(node, nodes)}
    on_bus = {app.pid: app for app in apps}
    shown = dict.fromkeys(_WindowOwner(one.pid, one.wm_class) for one in windows if one.pid and one.kind != "popup")
    found: dict[int, FailedApp] = {}
    for process in shown:
        if process.pid in exposing or process.pid in found:
            continue
        app = on_bus.get(process.pid)
        engine = _TOOLKITS.get(app.toolkit, "") if app is not None else _engine_of(process)
        if engine:
            name = app.name if app is not None else process.wm_class
            found[process.pid] = FailedApp(name, process.pid, _explain_silence(engine, is_on_bus=app is not None))
    return tuple(found.values())


def _explain_silence(engine: str, *, is_on_bus: bool) -> str:
    if engine == _FIREFOX:
        switch = _FIREFOX_SWITCH
    else:
        switch = _CHROMIUM_SWITCH if is_on_bus else f"ACCESSIBILITY_ENABLED=1 and {_CHROMIUM_SWITCH}"
    what = "tells nothing of its page" if is_on_bus else "is not on the accessibility bus"
    return f"it {what}; if that stays so, start it with {switch}"


def _is_in_page(node: Node, nodes: Sequence[Node]) -> bool:
    return node.parent >= 0 and nodes[node.parent].role in PAGES


def _engine_of(process: _WindowOwner) -> str:
    name = process.wm_class.lower()
    known = next((engine for key, engine in _ENGINES.items() if name == key or name.startswith(f"{key}-")), "")
    return known or (_CHROMIUM if _has_zygote(process.pid) else "")


def _has_zygote(pid: int) -> bool:
    """Return whether a process has started one of Chromium's, as each program with its engine does on Linux."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
        return any(_is_zygote(child) for child in children[:_MAX_CHILDREN])
    except OSError:
        return False  # gone, or another user's


def _is_zygote(pid: str) -> bool:
    try:
        return b"--type=zygote" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
