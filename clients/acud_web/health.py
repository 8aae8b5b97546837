"""/health: that the daemon answers, and how the commentary does."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from acud.protocol.requests.commentary import AnalysisStatus, AnalysisStatusReply
from acud_web import views
from acud_web.answers import answer


async def get(request: Request) -> Response:
    """Return the state of rings and loop; 503 with the reason when the daemon does not answer."""
    return answer(views.health(await request.state.desk.ask(AnalysisStatus(), AnalysisStatusReply)))
