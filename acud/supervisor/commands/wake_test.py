"""Answer `wake_test`."""

from __future__ import annotations

from functools import partial

from msgspec.structs import replace

from acud.errors import InvalidRequest
from acud.protocol.relay import Delivered
from acud.protocol.requests.wakes import RouteTest, WakeTest, WakeTestReply
from acud.supervisor.app import App
from acud.supervisor.control import Call
from acud.supervisor.relay import Undone
from acud.types import RouteName


def handle(app: App, request: WakeTest, call: Call) -> None:
    """Send a test over every route, side by side; answer when the last has ended."""
    routes = tuple(dict.fromkeys(request.routes or request.address.routes or app.settings.wake.routes))
    if not routes:
        raise InvalidRequest("no route is set up", hint="set routes in [wake], or name one to test")
    app.wakes.check(replace(request.address, routes=routes))
    results: dict[RouteName, RouteTest] = {}

    def ended(route: RouteName, outcome: Delivered | Undone) -> None:
        results[route] = _result(route, outcome)
        if len(results) == len(routes):
            call.reply(WakeTestReply(tuple(results[name] for name in routes)))

    for route in routes:
        app.wakes.test(route, request.address, call.later(partial(ended, route)))


def _result(route: RouteName, outcome: Delivered | Undone) -> RouteTest:
    if isinstance(outcome, Undone):
        return RouteTest(route, "unknown", outcome.reason)
    return RouteTest(route, outcome.result, outcome.reason, outcome.ms)
