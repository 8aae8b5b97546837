"""Password fields, and widgets with content to hide, found through the accessibility bus of a display."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from acud.accessibility.ask import AccessibilityAsk
from acud.accessibility.nodes import Limits, Tree
from acud.base.errors import Unavailable
from acud.config import AccessibilitySettings
from acud.evaluator.accessibility.bus import AccessibilityBuses
from acud.evaluator.accessibility.provider import MAX_AGE_S, AtSpiProvider
from acud.evaluator.accessibility.reader import TreeReader
from acud.evaluator.expression_time_limit import limit_cpu_time
from acud.evaluator.view_pixels import ViewPixels
from acud.features.redaction.evaluator import FIND_LIMIT_S, FieldsUnknown
from acud.features.redaction.spans import Rule
from acud.features.redaction.text_rules import TextRules
from acud.features.redaction.widgets import rules_of_widgets
from acud.protocol.questions import WidgetSources
from acud.types import HiddenBox, Rect

_NAME, _REASON = 40, 120


class SecureFields:
    """Finds password fields. A bus that does not answer reports none: the fields then show dots, as on the screen. A
    bus that answers in part may leave a field out: then no box is returned at all.

    `mirrors` are the caller's: a display that is mirrored for its scenes need not be read again.
    """

    def __init__(self, settings: AccessibilitySettings, mirrors: AtSpiProvider) -> None:
        self._mirrors = mirrors
        self._limits = Limits(settings.max_depth, settings.max_nodes, settings.walk_s, settings.answer_s)
        self._buses = AccessibilityBuses()

    async def boxes(self, shot: ViewPixels) -> list[Rect]:
        """Return the boxes of the password fields in `shot`; none for a shot that need not leave this machine."""
        return [found.box for found in await self.find_hidden(shot, TextRules(frozenset()))]

    async def find_hidden(self, shot: ViewPixels, rules: TextRules) -> list[HiddenBox]:
        """Return the boxes in `shot` of password fields and of widgets with content that `rules` hide.

        Raises: TookTooLong when the rules took too long, FieldsUnknown when a limit cut widgets off, or an application
        did not answer.
        """
        sources = shot.told
        if sources is None:
            return []
        try:
            tree = await self._read_mirror(shot.source, sources) or await self._walk_tree(sources)
        except Unavailable:
            return []
        bounds = Rect(0, 0, shot.pixels.shape[1], shot.pixels.shape[0])
        dx, dy = -sources.x - shot.crop.x, -sources.y - shot.crop.y
        gap = _describe_missing_app(tree)
        if gap:
            raise FieldsUnknown(f"where password fields are is not known: {gap}")
        with limit_cpu_time(FIND_LIMIT_S, "searching the widgets for what is to be hidden"):
            shown = rules_of_widgets(tree.nodes, rules) if rules.active else [""] * len(tree.nodes)
        found = []
        for node, rule in zip(tree.nodes, shown, strict=True):
            box = node.box.shift(dx, dy).intersect(bounds) if node.box and (node.secure or rule) else None
            if box is not None:
                found.append(HiddenBox(Rule.SECURE.value if node.secure else rule, box))
        return found

    async def _read_mirror(self, display: str, sources: WidgetSources) -> Tree | None:
        # With the limits of scenes: other limits would make the mirror read again, for them and for us.
        limits = replace(self._limits, actions=True)
        ask = AccessibilityAsk(display, sources.windows, sources.bus_address, sources.a11y_address, MAX_AGE_S, limits)
        try:
            return await self._mirrors.sure(ask)
        except Unavailable:
            return None  # its connection may have been the fault; the walk has one of its own

    async def _walk_tree(self, sources: WidgetSources) -> Tree:
        bus = await self._buses.of(sources.bus_address, sources.a11y_address)
        return await TreeReader(bus).read(sources.windows, self._limits)

    async def close(self) -> None:
        await self._buses.close()


def _describe_missing_app(tree: Tree) -> str:
    """Return which running application `tree` lacks, or that a limit cut it off; "" if it lacks nothing.

    An application without a window counts too: process ids of sandboxes do not identify the owner of a window.
    """
    if tree.truncated:
        return tree.gaps()[0]
    for app in tree.failed:
        if not app.pid or Path(f"/proc/{app.pid}").exists():
            return f"{(app.name or str(app.pid))[:_NAME]}: {app.reason[:_REASON]}"
    return ""
