"""The widgets of a display, as its accessibility bus tells them, redacted."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import NamedTuple

from msgspec.structs import replace

from acud.accessibility.nodes import App, Limits, Node, Tree
from acud.config import AccessibilitySettings
from acud.errors import Unavailable
from acud.evaluator.accessibility.bus import AccessibilityBus
from acud.evaluator.accessibility.reader import TreeReader
from acud.evaluator.ocr.pattern import PatternFault
from acud.evaluator.redact import Redactor
from acud.evaluator.scene.texts import covering
from acud.protocol.scene_parts import NodePart, SceneAsk
from acud.redaction.lines import Hidden
from acud.redaction.spans import mark
from acud.scene.nouns import ProviderState
from acud.types import Rect

_NAME = "at-spi"
_MOST_BUSES = 16
_NOWHERE = Rect(0, 0, 0, 0)


class Widgets(NamedTuple):
    """What was read; `cut` names the limit that left something out ("": nothing was)."""

    state: ProviderState
    parts: tuple[NodePart, ...] = ()
    cut: str = ""


class WidgetReading:
    """Reads widgets. Owns a connection for each display's bus; `close` ends them."""

    def __init__(self, settings: AccessibilitySettings, redactor: Redactor) -> None:
        self._limits = Limits(settings.max_depth, settings.max_nodes, settings.walk_s, settings.answer_s, actions=True)
        self._redactor = redactor
        self._buses: OrderedDict[tuple[str, str], AccessibilityBus] = OrderedDict()

    async def read(self, ask: SceneAsk, hide: Sequence[Hidden], hide_fault: str = "") -> Widgets:
        """Return the display's widgets as they may leave this process. `hide`: boxes of rules, in display pixels."""
        if hide_fault:
            return Widgets(ProviderState(_NAME, "unavailable", hide_fault))
        try:
            tree = await TreeReader(await self._bus(ask)).read(ask.windows, self._limits)
            parts = self._parts(tree, hide)
        except (Unavailable, PatternFault) as fault:
            return Widgets(ProviderState(_NAME, "unavailable", fault.message[:1000]))
        if not tree.apps:
            reason = "no application tells of its widgets: see docs/grounding.md"
            return Widgets(ProviderState(_NAME, "ready", reason))
        return Widgets(ProviderState(_NAME, "ready", _gaps(tree)), parts, tree.truncated)

    async def _bus(self, ask: SceneAsk) -> AccessibilityBus:
        key = (ask.bus_address, ask.a11y_address)
        bus = self._buses.pop(key, None) or AccessibilityBus(*key)
        self._buses[key] = bus
        while len(self._buses) > _MOST_BUSES:
            _, unused = self._buses.popitem(last=False)
            await unused.close()
        return bus

    def _parts(self, tree: Tree, hide: Sequence[Hidden]) -> tuple[NodePart, ...]:
        found = [_part(node, tree.apps[node.app]) for node in tree.nodes]
        labels = [part.label for part in found]
        masked = dict(zip(labels, self._redactor.all_quoted(labels), strict=True))
        return tuple(_redacted(part, masked[part.label], hide) for part in found)

    async def close(self) -> None:
        """Close every connection."""
        while self._buses:
            _, bus = self._buses.popitem()
            await bus.close()


def _part(node: Node, app: App) -> NodePart:
    label = node.name or node.description
    if node.text and not node.secure:
        label = f"{label}: {node.text}" if label else node.text
    return NodePart(
        role=node.role,
        bbox=node.box or _NOWHERE,
        label=label[:300],
        actions=node.actions,
        states=node.state_names(),
        app=app.name,
        pid=app.pid,
        key=node.ref,
        secure=node.secure,
    )


def _redacted(part: NodePart, label: tuple[str, str], hide: Sequence[Hidden]) -> NodePart:
    hidden = covering(part.bbox, hide)
    if hidden is not None and _inside(part.bbox, hidden.box):
        return replace(part, label=mark(hidden.rule), rule=hidden.rule.value)
    if label[1]:
        return replace(part, label=label[0], rule=label[1])
    return part


def _inside(box: Rect, outer: Rect) -> bool:
    """Tell whether most of `box` lies in `outer`: what only holds something hidden has a name of its own."""
    common = box.intersect(outer)
    return common is not None and 2 * common.area >= box.area


def _gaps(tree: Tree) -> str:
    return "; ".join(f"{app.name or app.pid}: {app.reason}" for app in tree.failed)[:1000]
