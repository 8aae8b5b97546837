"""Answer `gui_find`."""

from __future__ import annotations

from acud.desktop.found import GroundingBackend
from acud.errors import AcudError
from acud.protocol.requests.gui import FindReply, GuiFind
from acud.supervisor.aiming import Aimed
from acud.supervisor.app import App
from acud.supervisor.control import Call
from acud.supervisor.finding import Outcome, Wanted
from acud.tasks.nouns import ActionType


def handle(app: App, request: GuiFind, call: Call) -> None:
    """Search a grab made after this call."""
    named = request.display or ("" if request.task_id else app.handles.display_of(request.description))
    place = app.tasks.place(request.task_id, request.target, named)
    log = app.diary.doing(place.task_id, ActionType.VISION, f"find {request.description[:200]} in {request.target}")
    backend = request.backend or GroundingBackend(app.settings.grounding.backend)
    wanted = Wanted(request.description, backend, max_candidates=request.max_candidates, task_id=place.task_id)

    def fail(fault: AcudError) -> None:
        log(fault, None)
        call.fail(fault)

    def done(outcome: Outcome | AcudError) -> None:
        if isinstance(outcome, AcudError):
            fail(outcome)
            return
        found, source = outcome.found, outcome.source
        log(None, {"status": found.status, "candidates": len(found.candidates)})
        token = app.waits.aims.token(source, outcome.frame)
        call.reply(FindReply(source.display, found, outcome.epoch, outcome.frame, token))

    def aimed(outcome: Aimed | AcudError) -> None:
        if isinstance(outcome, AcudError):
            fail(outcome)
        else:
            app.finding.find(outcome, wanted, call.later(done))

    app.aiming.fresh(request.target, place.display, (), call.later(aimed))
