"""Answer `gui_do`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from msgspec.structs import replace

from acud.errors import AcudError
from acud.protocol.requests.gui import DoReply, GuiDo
from acud.supervisor.app import App
from acud.supervisor.control import Call
from acud.supervisor.errands import Errand

Thing = TypeVar("Thing")


class _Caller:
    """A client's call as the asker of an errand."""

    def __init__(self, call: Call) -> None:
        self._call = call

    def later(self, step: Callable[[Thing], None]) -> Callable[[Thing], None]:
        """Return a part of the call."""
        return self._call.later(step)

    def touch(self) -> None:
        """From here on its error is the recorded answer too."""
        self._call.touch()

    def answer(self, reply: DoReply) -> None:
        """Reply; a picture is not stored for a repeat."""
        self._call.reply(reply, kept=replace(reply, picture=None))

    def fail(self, fault: AcudError) -> None:
        """Answer with the fault."""
        self._call.fail(fault)


def handle(app: App, request: GuiDo, call: Call) -> None:
    """Do it once the start of the request is on disk: no repeat will do it again."""
    call.when_started(Errand(app, request, _Caller(call)).begin)
