"""A scene as text for a prompt: a line an element, deterministic, within a budget, saying what was left out.

    scene 42 active 2026-11-22T10:00:00.000Z
    display 3 :100 1280x720
    focus "report - Editor" editor pid 812 [0,0,800,600] d3
    app editor 812: 0x60000a "report - Editor" [0,0,800,600]
    t3-12 "Save" [10,40,32,16]
    a3-4 button "Save" [4,36,60,24] click focused
    providers d3: ocr rapidocr ready; ax at-spi unavailable: no bus

Boxes are x,y,w,h in pixels of the display whose number is in the id. Words on screens are quoted and made one line, so
that they can neither end a line nor look like one of ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from acud import untrusted_text
from acud.types import Rect
from acud.types.scene import (
    AxElement,
    DisplayProviders,
    FocusedWindow,
    OcrElement,
    ProviderState,
    Scene,
    SceneApp,
    SceneDisplay,
    SceneTruncation,
    SceneWindow,
    VlmElement,
)

CHARACTERS_PER_TOKEN = 2.0
"""Boxes and ids are dense in tokens; a test holds this estimate to the safe side of a real tokeniser."""
MAX_WORDS = 200
"""Characters of one element's words."""


def prompt_text(scene: Scene, max_tokens: int = 0) -> str:
    """Return the scene as text of at most about `max_tokens` (0: no limit).

    What says where one is always stays: displays, focus, providers, redactions. Then apps, texts and widgets share the
    rest: the focused display first, surer texts before doubtful ones, widgets that can be acted on before others.
    """
    head, tail = _head(scene), _tail(scene)
    lists = [
        ("apps", [_app(app) for app in scene.apps]),
        ("texts", [_text(one) for one in sorted(scene.ocr, key=lambda one: (_behind(scene, one), -one.conf))]),
        ("widgets", [_widget(one) for one in sorted(scene.ax, key=lambda one: (_behind(scene, one), not one.actions))]),
        ("vlm", [_vlm(one) for one in scene.vlm_elements or ()]),
    ]
    room = int(max_tokens * CHARACTERS_PER_TOKEN) - _size([*head, *tail]) if max_tokens else None
    return "\n".join([*head, *_fitted(lists, room), *tail])


# ---- lines ---------------------------------------------------------------------------------------------------------


def quoted(words: str) -> str:
    """Return words from a screen as a JSON string of one line, clipped, without control characters."""
    folded = " ".join("".join(c if c.isprintable() else " " for c in words).split())
    return untrusted_text.quoted(folded[:MAX_WORDS] + ("…" if len(folded) > MAX_WORDS else ""))


def _box(box: Rect) -> str:
    return f"[{box.x},{box.y},{box.w},{box.h}]"


def _head(scene: Scene) -> list[str]:
    at = datetime.fromtimestamp(scene.timestamp / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    lines = [f"scene {scene.scene_id} {scene.reason.value} {at}", *map(_display, scene.displays)]
    foci = [scene.focused_window, *(display.focused_window for display in scene.displays)]
    lines += [_focus(window) for window in dict.fromkeys(foci) if window is not None]
    if scene.vlm_scene is not None:
        lines.append(f"seen by a model: {quoted(scene.vlm_scene)}")
    return lines


def _display(display: SceneDisplay) -> str:
    size = f"{display.bounds.w}x{display.bounds.h}"
    state = "" if display.state == "up" else f" {display.state}: {quoted(display.reason)}"
    return f"display {display.id} {display.name} {size}{state}"


def _focus(window: FocusedWindow) -> str:
    pid = f" pid {window.pid}" if window.pid else ""
    return f"focus {quoted(window.title)} {quoted(window.app)}{pid} {_box(window.bounds)} d{window.display_id}"


def _app(app: SceneApp) -> str:
    return f"app {quoted(app.name)} {app.pid}: " + ", ".join(map(_window, app.windows))


def _window(window: SceneWindow) -> str:
    return f"{window.id} {quoted(window.title)} {_box(window.bounds)} d{window.display_id}"


def _text(one: OcrElement) -> str:
    doubt = f" {one.conf:.2f}" if one.conf < 0.8 else ""
    return f"{one.id} {quoted(one.text)} {_box(one.bbox)}{doubt}"


def _widget(one: AxElement) -> str:
    parts = [one.id, one.role, quoted(one.label) if one.label else "", _box(one.bbox), *one.actions, *one.states]
    return " ".join(part for part in parts if part)


def _vlm(one: VlmElement) -> str:
    return f"{one.id} {one.kind} {quoted(one.desc)} {_box(one.bbox)}"


def _tail(scene: Scene) -> list[str]:
    lines = [_providers(one) for one in scene.providers]
    lines += [f"redacted {one.where}: {one.rule}" for one in scene.redactions]
    lines += [_cut(one.id, one.truncation) for one in scene.displays if one.truncation is not None]
    return lines


def _cut(display_id: int, cut: SceneTruncation) -> str:
    named = (("ocr", cut.ocr), ("ax", cut.ax), ("apps", cut.apps))
    parts = [f"{name} {pair[1]} of {pair[0]}" for name, pair in named if pair is not None]
    return f"truncated d{display_id}: {', '.join(parts)}" + (f" ({cut.reason})" if cut.reason else "")


def _providers(one: DisplayProviders) -> str:
    return f"providers d{one.display_id}: ocr {_provider(one.ocr)}; ax {_provider(one.ax)}"


def _provider(one: ProviderState) -> str:
    return f"{one.name} {one.state}" + (f": {quoted(one.reason)}" if one.reason else "")


# ---- the budget ----------------------------------------------------------------------------------------------------


def _behind(scene: Scene, one: OcrElement | AxElement) -> bool:
    return scene.focused_window is not None and scene.focused_window.display_id != one.display_id


def _size(lines: Sequence[str]) -> int:
    return sum(len(line) + 1 for line in lines)


def _fitted(lists: list[tuple[str, list[str]]], room: int | None) -> list[str]:
    if room is None:
        return [line for _, lines in lists for line in lines]
    out: list[str] = []
    shares = len([1 for _, lines in lists if lines])
    for name, lines in lists:
        if not lines:
            continue
        kept = _within(lines, max(0, room) // shares)
        shares -= 1
        out += kept
        if len(kept) < len(lines):
            kept = [*kept, f"({len(lines) - len(kept)} more {name} left out)"]
            out.append(kept[-1])
        room -= _size(kept)
    return out


def _within(lines: list[str], room: int) -> list[str]:
    note = 40
    if _size(lines) <= room:
        return lines
    kept: list[str] = []
    left = room - note
    for line in lines:
        left -= len(line) + 1
        if left < 0:
            break
        kept.append(line)
    return kept
