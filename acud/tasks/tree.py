"""Everything that is known of one task, as the store has it: what summaries and packets are made from."""

from __future__ import annotations

from msgspec import Struct

from acud.types import WaitInfo
from acud.types.tasks import (
    ActionView,
    Message,
    PlanItem,
    Task,
)


class Tree(Struct, frozen=True):
    """`actions` and `messages` oldest first; `waits` live ones first. A caller loads only what will be told."""

    task: Task
    items: tuple[PlanItem, ...]
    actions: tuple[ActionView, ...] = ()
    messages: tuple[Message, ...] = ()
    waits: tuple[WaitInfo, ...] = ()

    def of_item(self, ordinal: int | None) -> tuple[ActionView, ...]:
        """Return the actions under an item (None: under none)."""
        return tuple(view for view in self.actions if view.action.ordinal == ordinal)
