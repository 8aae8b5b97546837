"""Finding things by their description, and doing what a sentence says, as methods, sync and async."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TypeVar

import msgspec

from acud.protocol.requests.gui import DoReply, FindReply, GuiDo, GuiFind
from acud.types import JudgeName, Until
from acud.types.grounding import GroundingBackend

Reply = TypeVar("Reply", bound=msgspec.Struct)


class GroundingCalls(ABC):
    """The grounding requests of a client that can `ask`."""

    @abstractmethod
    def ask(self, request: msgspec.Struct, kind: type[Reply], *, request_id: str = "") -> Reply:
        """Send `request` and return its reply."""

    def gui_find(
        self,
        description: str,
        target: str = "screen",
        *,
        display: str = "",
        backend: GroundingBackend | None = None,
        max_candidates: int = 8,
        task_id: str = "",
    ) -> FindReply:
        """Return where what `description` describes is in `target`, on a grab made after this call; nothing is done.

        `backend`: which methods may be asked (None: as set; `auto` sends nothing off this machine)."""
        return self.ask(GuiFind(description, target, display, backend, max_candidates, task_id), FindReply)

    def gui_do(
        self,
        instruction: str,
        target: str = "screen",
        *,
        display: str = "",
        view: str = "",
        backend: GroundingBackend | None = None,
        expect: Until | None = None,
        timeout_s: float = 2.0,
        picture: bool = False,
        max_side_px: int = 0,
        quality: int = 90,
        task_id: str = "",
        lease: str = "",
        judge: JudgeName = JudgeName.AUTO,
    ) -> DoReply:
        """Find, act, verify: "click the Export button", "click(847, 523)". `expect`: what shows the effect within
        `timeout_s` (None: something in the target changed), as `judge` sees it. Nothing is done unless one thing alone
        was found.

        Raises: InvalidRequest, with every form, for an instruction that fits none; Refused while a person has the
        display, unless `lease` is theirs; OutcomeUnknown when nobody knows whether it was done."""
        request = GuiDo(
            instruction, target, display, view, backend, expect, timeout_s, picture, max_side_px, quality, task_id,
            lease, judge,
        )  # fmt: skip
        return self.ask(request, DoReply)


class AsyncGroundingCalls(ABC):
    """The same, awaited."""

    @abstractmethod
    async def ask(self, request: msgspec.Struct, kind: type[Reply], *, request_id: str = "") -> Reply:
        """Send `request` and return its reply."""

    async def gui_find(
        self,
        description: str,
        target: str = "screen",
        *,
        display: str = "",
        backend: GroundingBackend | None = None,
        max_candidates: int = 8,
        task_id: str = "",
    ) -> FindReply:
        """Return where what `description` describes is in `target`, on a grab made after this call; nothing is done.

        `backend`: which methods may be asked (None: as set; `auto` sends nothing off this machine)."""
        return await self.ask(GuiFind(description, target, display, backend, max_candidates, task_id), FindReply)

    async def gui_do(
        self,
        instruction: str,
        target: str = "screen",
        *,
        display: str = "",
        view: str = "",
        backend: GroundingBackend | None = None,
        expect: Until | None = None,
        timeout_s: float = 2.0,
        picture: bool = False,
        max_side_px: int = 0,
        quality: int = 90,
        task_id: str = "",
        lease: str = "",
        judge: JudgeName = JudgeName.AUTO,
    ) -> DoReply:
        """Find, act, verify: "click the Export button", "click(847, 523)". `expect`: what shows the effect within
        `timeout_s` (None: something in the target changed), as `judge` sees it. Nothing is done unless one thing alone
        was found.

        Raises: InvalidRequest, with every form, for an instruction that fits none; Refused while a person has the
        display, unless `lease` is theirs; OutcomeUnknown when nobody knows whether it was done."""
        request = GuiDo(
            instruction, target, display, view, backend, expect, timeout_s, picture, max_side_px, quality, task_id,
            lease, judge,
        )  # fmt: skip
        return await self.ask(request, DoReply)
