"""What other window systems' tools print, as scene elements: pure parsers with vectors, for providers to come.

acud itself looks at X11 displays only; nothing here is asked on them. Boxes are `[x, y, w, h]`; elements of Wayland
compositors are in their output's own pixels, numbered `a<display>-<n>` with one count over all displays.

What can't be read raises ProtocolError: an answer that is broken is no empty desktop. Single windows that are broken
are left out, and take no number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from acud.errors import ProtocolError, Unavailable
from acud.scene.nouns import AxElement, SceneDisplay
from acud.types import Rect

_MAX_LABEL = 300
_LISTED = re.compile(
    r"^\s*(\d{1,9}):\s+\+?(\*?)(\S+)\s+(\d{1,9})/\d+x(\d{1,9})/\d+\+(-?\d{1,9})\+(-?\d{1,9})\s*(\S*)\s*$"
)
_PROCESS = re.compile(r"^\s*(\d{1,10})\s+(.+?)\s*$")


class Swept(msgspec.Struct, frozen=True):
    """A scan of windows: the `nodes` that answered, and how many of `total` did not. It is `clean` when all did."""

    nodes: tuple[dict[str, Any], ...]
    failed: int
    total: int
    error: str = ""

    @property
    def is_clean(self) -> bool:
        """Whether nothing is missing."""
        return not self.failed and not self.error


def hyprland(clients: str, monitors: str) -> tuple[AxElement, ...]:
    """Return the windows of `hyprctl clients -j`, placed by `hyprctl monitors -j`."""
    places = {}
    for monitor in _listed(monitors, "hyprctl monitors"):
        match monitor:
            case {"id": int(number), "x": int(x), "y": int(y)}:
                places[number] = (x, y)
    found = []
    for client in _listed(clients, "hyprctl clients"):
        match client:
            case {"at": [int(x), int(y)], "size": [int(w), int(h)], "monitor": int(number)} if number in places:
                left, top = places[number]
                label = _label(client.get("title"), client.get("class"))
                found.append((number, Rect(x - left, y - top, w, h), label, _whole(client.get("pid"))))
    return _numbered(found)


def sway(tree: str) -> tuple[AxElement, ...]:
    """Return the windows of `swaymsg -t get_tree`, tiled before floating; outputs count from 0 in their order."""
    root = _json(tree, "swaymsg")
    if not isinstance(root, dict):
        raise ProtocolError("swaymsg answered no object")
    outputs = [
        node for node in _objects(root.get("nodes")) if node.get("type") == "output" and node.get("name") != "__i3"
    ]
    found = []
    for number, output in enumerate(outputs):
        at = _box(output.get("rect")) or Rect(0, 0, 0, 0)
        for window in _windows(output):
            if box := _box(window.get("rect")):
                label = _label(window.get("name"), window.get("app_id"))
                found.append((number, box.moved(-at.x, -at.y), label, _whole(window.get("pid"))))
    return _numbered(found)


def _windows(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    stack = [node]
    while stack:
        one = stack.pop()
        if one.get("type") in ("con", "floating_con") and not _objects(one.get("nodes")) and _is_window(one):
            yield one
        stack.extend(reversed([*_objects(one.get("nodes")), *_objects(one.get("floating_nodes"))]))


def _is_window(node: dict[str, Any]) -> bool:
    return any(node.get(key) is not None for key in ("app_id", "window", "pid", "window_properties"))


def xrandr_monitors(text: str) -> tuple[SceneDisplay, ...]:
    """Return the monitors of `xrandr --listmonitors`; lines that list none are passed over."""
    found = []
    for line in text.splitlines():
        if listed := _LISTED.match(line):
            number, star, name, w, h, x, y, output = listed.groups()
            box = Rect(int(x), int(y), int(w), int(h))
            found.append(SceneDisplay(int(number), box, primary=bool(star), name=output or name))
    return tuple(found)


def at_spi_payload(text: str) -> Swept:
    """Return what a scan in another process printed: `{nodes, failed, total, error?}`.

    Raises: Unavailable for `{unavailable: true}`, ProtocolError for anything else.
    """
    answer = _json(text, "the scan of widgets")
    match answer:
        case {"unavailable": True}:
            raise Unavailable("the scan of widgets found no accessibility bus")
        case {"nodes": list(nodes), "failed": int(failed), "total": int(total), **more}:
            return Swept(tuple(_objects(nodes)), failed, total, str(more.get("error") or ""))
    raise ProtocolError("the scan of widgets answered neither nodes nor why there are none")


def ps_processes(text: str) -> tuple[tuple[int, str], ...]:
    """Return (pid, name) of each line of `ps -axo pid=,comm=`; of a path the last part is the name."""
    listed = (_PROCESS.match(line) for line in text.splitlines())
    return tuple((int(one[1]), one[2].rsplit("/", 1)[-1]) for one in listed if one)


def powershell_processes(text: str) -> tuple[tuple[int, str], ...]:
    """Return (pid, name) of `Get-Process | Select-Object Id, ProcessName | ConvertTo-Json`, which prints one process
    without a list around it.
    """
    answer = _json(text, "Get-Process")
    if not isinstance(answer, dict | list):
        raise ProtocolError("Get-Process answered neither an object nor a list")
    found = []
    for one in _objects([answer] if isinstance(answer, dict) else answer):
        match one:
            case {"Id": int(pid), "ProcessName": str(name)}:
                found.append((pid, name))
    return tuple(found)


# ---- pieces ----------------------------------------------------------------------------------------------------------


def _json(text: str, what: str) -> object:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as fault:
        raise ProtocolError(f"{what} answered no JSON: {fault}") from fault


def _listed(text: str, what: str) -> list[dict[str, Any]]:
    answer = _json(text, what)
    if not isinstance(answer, list):
        raise ProtocolError(f"{what} answered no list")
    return _objects(answer)


def _objects(values: object) -> list[dict[str, Any]]:
    return [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []


def _box(value: object) -> Rect | None:
    match value:
        case {"x": int(x), "y": int(y), "width": int(w), "height": int(h)}:
            return Rect(x, y, w, h)
    return None


def _label(*names: object) -> str:
    return next((name[:_MAX_LABEL] for name in names if isinstance(name, str) and name), "")


def _whole(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _numbered(found: Sequence[tuple[int, Rect, str, int]]) -> tuple[AxElement, ...]:
    return tuple(
        AxElement(f"a{display}-{count}", "window", box, display, label, pid=pid)
        for count, (display, box, label, pid) in enumerate(found, start=1)
    )
