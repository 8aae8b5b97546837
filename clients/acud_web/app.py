"""The routes, and what becomes of faults."""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.routing import Route

from acud.errors import AcudError
from acud_web import agent, answers, feed, health, sense

ROUTES = (
    Route("/feed", feed.post, methods=["POST"]),
    Route("/feed", feed.get, methods=["GET"]),
    Route("/sense", sense.post, methods=["POST"]),
    Route("/sense", sense.get, methods=["GET"]),
    Route("/health", health.get, methods=["GET"]),
    Route("/agent/last", agent.last, methods=["GET"]),
    Route("/agent/history", agent.history, methods=["GET"]),
    Route("/agent/context", agent.context, methods=["GET"]),
    Route("/agent/config", agent.get_config, methods=["GET"]),
    Route("/agent/config", agent.set_config, methods=["POST"]),
)

application = Starlette(
    routes=ROUTES,
    exception_handlers={
        404: answers.not_found,
        405: answers.not_found,
        answers.Fault: answers.told,
        AcudError: answers.failed,
        500: answers.broken,
    },
)
application.router.redirect_slashes = False
