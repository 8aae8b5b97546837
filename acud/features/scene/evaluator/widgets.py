"""The widgets of a display, redacted, from the first accessibility provider that can read them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from acud.accessibility.ask import AccessibilityAsk, ProvidedTree
from acud.accessibility.nodes import AccessibleApp, Node, State
from acud.base.errors import Unavailable
from acud.config import AccessibilitySettings
from acud.evaluator.accessibility.provider import (
    MAX_AGE_S,
    AccessibilityChain,
    AtSpiProvider,
    display_limits,
    load_installed,
)
from acud.evaluator.expression_time_limit import TookTooLong
from acud.evaluator.ports import Redactor
from acud.features.scene.evaluator.texts import find_hiding_box
from acud.protocol.scene_parts import NodePart, SceneAsk
from acud.types import HiddenBox, Rect, RedactedText, redaction_mark
from acud.types.scene import ProviderState

_NAME = "at-spi"
_NOWHERE = Rect(0, 0, 0, 0)
_MOST_LETTERS = 300
_EMBEDDED = "\ufffc"
"""Stands in a text where another widget is (Unicode: object replacement character)."""


class FrameFacts(NamedTuple):
    """What the widget reader needs of a frame. `hide`: boxes of rules, in display pixels; `hide_fault`: why they are
    unknown. `changed`: where pixels changed since the last reading, None when unknown.
    """

    display: str
    hide: tuple[HiddenBox, ...] = ()
    hide_fault: str = ""
    changed: tuple[Rect, ...] | None = None


class SceneWidgets(NamedTuple):
    """The widgets read; `cut` names the limit that left some out ("": none), `left_out` how many at least."""

    state: ProviderState
    parts: tuple[NodePart, ...] = ()
    cut: str = ""
    left_out: int = 0


class WidgetReader:
    """Reads widgets through the chain of providers, made when first needed and closed by `close`.

    `mirrors` is acud's own provider.
    """

    def __init__(self, settings: AccessibilitySettings, mirrors: AtSpiProvider, redactor: Redactor) -> None:
        self._limits = display_limits(settings)
        self._mirrors = mirrors
        self._redactor = redactor
        self._chain: AccessibilityChain | None = None
        self._making = asyncio.Lock()

    async def read(self, ask: SceneAsk, look: FrameFacts) -> SceneWidgets:
        if look.hide_fault:
            return SceneWidgets(ProviderState(_NAME, "unavailable", look.hide_fault))
        try:
            found = await (await self._get_chain()).read(self._make_ask(ask, look))
            parts = self._redact_widgets(found, look.hide)
        except (Unavailable, TookTooLong) as fault:
            return SceneWidgets(ProviderState(_NAME, "unavailable", fault.message[:1000]))
        tree = found.tree
        state = ProviderState(found.provider, "incomplete" if tree.gaps() else "ready", _describe_gaps(found))
        return SceneWidgets(state, parts, tree.truncated, tree.left_out)

    def _make_ask(self, ask: SceneAsk, look: FrameFacts) -> AccessibilityAsk:
        return AccessibilityAsk(
            display=look.display,
            windows=ask.windows,
            bus_address=ask.bus_address,
            a11y_address=ask.a11y_address,
            max_age_s=0.0 if ask.fresh else MAX_AGE_S,
            limits=self._limits,
            changed=look.changed,
        )

    async def _get_chain(self) -> AccessibilityChain:
        async with self._making:
            if self._chain is None:
                others, broken = await load_installed()
                self._chain = AccessibilityChain([self._mirrors, *others], broken)
            return self._chain

    def _redact_widgets(self, provided: ProvidedTree, hide: Sequence[HiddenBox]) -> tuple[NodePart, ...]:
        tree = provided.tree
        found = [_make_part(node, tree.apps[node.app]) for node in tree.nodes]
        words = [word for part in found for word in (part.label, part.value, part.placeholder)]
        masked = dict(zip(words, self._redactor.redact_texts(words), strict=True))
        rules = zip(found, self._redactor.in_widgets(tree.nodes), strict=True)
        plain = ((replace(part, placeholder=masked[part.placeholder].text), part, rule) for part, rule in rules)
        return tuple(_redact_part(new, *_mask_words(part, masked, rule), hide) for new, part, rule in plain)

    async def close(self) -> None:
        if self._chain is not None:
            await self._chain.close()


def _make_part(node: Node, app: AccessibleApp) -> NodePart:
    return NodePart(
        role=node.role,
        bbox=node.box or _NOWHERE,
        label=(node.name or node.description)[:_MOST_LETTERS],
        value="" if node.secure else node.text.replace(_EMBEDDED, "").strip(" ")[:_MOST_LETTERS],
        parent=node.parent,
        window=node.window,
        offscreen=node.has(State.VISIBLE) and not node.has(State.SHOWING),
        actions=node.actions,
        states=node.state_names(),
        app=app.name,
        pid=app.pid,
        key=node.ref,
        secure=node.secure,
        placeholder=node.placeholder[:_MOST_LETTERS],
    )


def _mask_words(part: NodePart, masked: Mapping[str, RedactedText], rule: str) -> tuple[RedactedText, RedactedText]:
    """Return a widget's label and value, redacted. `rule` hides its content: a field keeps its label."""
    label, value = masked[part.label], masked[part.value]
    if not rule:
        return label, value
    mark = RedactedText(redaction_mark(rule), rule)
    if part.value and part.value != part.label:
        return label, mark
    return mark, mark if part.value else value


def _redact_part(part: NodePart, label: RedactedText, value: RedactedText, hide: Sequence[HiddenBox]) -> NodePart:
    hidden = None if part.offscreen else find_hiding_box(part.bbox, hide)
    if hidden is not None and _is_mostly_inside(part.bbox, hidden.box):
        return replace(part, label=redaction_mark(hidden.rule), value="", placeholder="", rule=hidden.rule)
    if label.rule or value.rule:
        return replace(part, label=label.text, value=value.text, rule=label.rule or value.rule)
    return part


def _is_mostly_inside(box: Rect, outer: Rect) -> bool:
    """Return whether most of `box` lies in `outer`: a container of something hidden keeps its name."""
    common = box.intersect(outer)
    return common is not None and 2 * common.area >= box.area


def _describe_gaps(provided: ProvidedTree) -> str:
    """Describe the gaps: providers that failed, applications that did not answer, limits that cut."""
    faults = [f"{fault.name}: {fault.reason}" for fault in provided.faults]
    gaps = provided.tree.gaps()
    silent = [] if provided.tree.apps or gaps else ["no application reports its widgets: see docs/accessibility.md"]
    return "; ".join([*faults, *gaps, *silent])[:1000]
