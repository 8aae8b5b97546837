"""Acting on displays, and taking them over, as methods, sync and async: a part of each client."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Literal, TypeVar

import msgspec

from acud.protocol.requests.actions import ActionReply, DesktopAction
from acud.protocol.requests.displays import DisplayRelease, DisplayReply, DisplayTake, TakeReply
from acud.types.actions import Action

Reply = TypeVar("Reply", bound=msgspec.Struct)


class ActCalls(ABC):
    """The acting requests of a client that can `ask`."""

    @abstractmethod
    def ask(self, request: msgspec.Struct, kind: type[Reply], *, request_id: str = "") -> Reply:
        """Send `request` and return its reply."""

    def desktop_action(
        self,
        actions: Sequence[Action] | Action,
        *,
        target: str = "screen",
        display: str = "",
        view: str = "",
        picture: bool = False,
        format: Literal["png", "jpeg"] = "png",  # noqa: A002 - the protocol's word
        settle_s: float = 0.3,
        settle_timeout_s: float = 5.0,
        max_side_px: int = 0,
        quality: int = 90,
        task_id: str = "",
        lease: str = "",
    ) -> ActionReply:
        """Do `actions` (or the one) in order; the error of the first that fails says how many were done
        (`facts["done"]`).

        Points are pixels of `target`, or of the picture that `view` is of. `picture`: with one of the display after
        nothing changed for `settle_s`. Raises: Refused while a person has the display, unless `lease` is theirs;
        OutcomeUnknown when nobody knows whether it was done."""
        request = DesktopAction(
            _all(actions), target, display, view, picture, format, settle_s, settle_timeout_s, max_side_px, quality,
            task_id, lease,
        )  # fmt: skip
        return self.ask(request, ActionReply)

    def display_take(
        self, display: str = "", *, who: str = "", for_s: float = 900.0, note: str = "", lease: str = ""
    ) -> TakeReply:
        """Take a display over for `for_s`: others' actions are refused. `lease`: prolong what it proves."""
        return self.ask(DisplayTake(display, who, for_s, note, lease), TakeReply)

    def display_release(self, display: str, *, lease: str = "", force: bool = False) -> DisplayReply:
        """Give a display back. Raises: Refused without its lease, unless `force`; Conflict when nobody has it."""
        return self.ask(DisplayRelease(display, lease, force), DisplayReply)


class AsyncActCalls(ABC):
    """The same, awaited."""

    @abstractmethod
    async def ask(self, request: msgspec.Struct, kind: type[Reply], *, request_id: str = "") -> Reply:
        """Send `request` and return its reply."""

    async def desktop_action(
        self,
        actions: Sequence[Action] | Action,
        *,
        target: str = "screen",
        display: str = "",
        view: str = "",
        picture: bool = False,
        format: Literal["png", "jpeg"] = "png",  # noqa: A002 - the protocol's word
        settle_s: float = 0.3,
        settle_timeout_s: float = 5.0,
        max_side_px: int = 0,
        quality: int = 90,
        task_id: str = "",
        lease: str = "",
    ) -> ActionReply:
        """Do `actions` (or the one) in order; the error of the first that fails says how many were done
        (`facts["done"]`).

        Points are pixels of `target`, or of the picture that `view` is of. `picture`: with one of the display after
        nothing changed for `settle_s`. Raises: Refused while a person has the display, unless `lease` is theirs;
        OutcomeUnknown when nobody knows whether it was done."""
        request = DesktopAction(
            _all(actions), target, display, view, picture, format, settle_s, settle_timeout_s, max_side_px, quality,
            task_id, lease,
        )  # fmt: skip
        return await self.ask(request, ActionReply)

    async def display_take(
        self, display: str = "", *, who: str = "", for_s: float = 900.0, note: str = "", lease: str = ""
    ) -> TakeReply:
        """Take a display over for `for_s`: others' actions are refused. `lease`: prolong what it proves."""
        return await self.ask(DisplayTake(display, who, for_s, note, lease), TakeReply)

    async def display_release(self, display: str, *, lease: str = "", force: bool = False) -> DisplayReply:
        """Give a display back. Raises: Refused without its lease, unless `force`; Conflict when nobody has it."""
        return await self.ask(DisplayRelease(display, lease, force), DisplayReply)


def _all(actions: Sequence[Action] | Action) -> tuple[Action, ...]:
    return tuple(actions) if isinstance(actions, Sequence) else (actions,)
