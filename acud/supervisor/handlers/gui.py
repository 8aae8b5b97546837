"""Answer requests: elements found and acted on by their description."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from msgspec.structs import replace

from acud.errors import AcudError
from acud.features.actions.supervisor.instruction import RunningInstruction
from acud.features.grounding.supervisor import SearchOutcome, SearchRequest
from acud.protocol.requests.gui import DoReply, FindReply, GuiDo, GuiFind
from acud.supervisor.app import App
from acud.supervisor.control import Call
from acud.supervisor.fresh_frames import Aimed
from acud.supervisor.handlers.registry import handles
from acud.types.grounding import GroundingBackend
from acud.types.tasks import ActionType


@handles(GuiFind)
def gui_find(app: App, request: GuiFind, call: Call) -> None:
    """Search a grab made after this call."""
    named = request.display or ("" if request.task_id else app.elements.display_of(request.description))
    place = app.tasks.place(request.task_id, request.target, named)
    log = app.task_log.doing(place.task_id, ActionType.VISION, f"find {request.description[:200]} in {request.target}")
    backend = request.backend or GroundingBackend(app.settings.grounding.backend)
    wanted = SearchRequest(request.description, backend, max_candidates=request.max_candidates, task_id=place.task_id)

    def fail(fault: AcudError) -> None:
        log(fault, None)
        call.fail(fault)

    def done(outcome: SearchOutcome | AcudError) -> None:
        if isinstance(outcome, AcudError):
            fail(outcome)
            return
        found, source = outcome.found, outcome.source
        log(None, {"status": found.status, "candidates": len(found.candidates)})
        token = app.waits.targets.token(source, outcome.frame)
        call.reply(FindReply(source.display, found, outcome.epoch, outcome.frame, token))

    def aimed(outcome: Aimed | AcudError) -> None:
        if isinstance(outcome, AcudError):
            fail(outcome)
        else:
            app.element_search.find(outcome, wanted, call.later(done))

    app.fresh_frames.fresh(request.target, place.display, (), call.later(aimed))


Thing = TypeVar("Thing")


class _Caller:
    """A client's call as the caller of an instruction."""

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


@handles(GuiDo)
def gui_do(app: App, request: GuiDo, call: Call) -> None:
    """Do it once the start of the request is on disk: no repeat will do it again."""
    call.when_started(RunningInstruction(app, request, _Caller(call)).begin)
