"""Who wants the outcome of an instruction in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from acud.errors import AcudError
from acud.protocol.requests.gui import DoReply

Thing = TypeVar("Thing")


class Asker(Protocol):
    """Who wants the answer: see `acud.supervisor.control.Call`, which is one."""

    def later(self, step: Callable[[Thing], None]) -> Callable[[Thing], None]:
        """Return `step` as a callback whose faults are this asker's alone."""
        ...

    def touch(self) -> None:
        """Something is about to be done outside the store."""
        ...

    def answer(self, reply: DoReply) -> None:
        """Take the answer."""
        ...

    def fail(self, fault: AcudError) -> None:
        """Take the fault."""
        ...
