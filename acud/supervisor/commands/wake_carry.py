"""Answer `wake_carry`."""

from __future__ import annotations

from acud.errors import InvalidRequest
from acud.protocol.relay import Deliver, Delivered
from acud.protocol.requests.wakes import WakeCarry, WakeCarryReply
from acud.protocol.wakes import SharedWake
from acud.supervisor.app import App
from acud.supervisor.control import Call
from acud.supervisor.relay import Undone
from acud.types import RouteName


def handle(app: App, request: WakeCarry, call: Call) -> None:
    """Try one route after the other; answer with the first that took it, or when none did."""
    routes = app.settings.wake.own_routes
    if not routes:
        raise InvalidRequest("no route but fleet is set up here", hint="set routes in [wake], or leave carry empty")
    _Carriage(app, request.wake, call).go(list(routes), refused=True)


class _Carriage:
    """One wake on its way over the routes."""

    def __init__(self, app: App, wake: SharedWake, call: Call) -> None:
        self._app = app
        self._wake = wake
        self._call = call
        self._attempt = 0

    def go(self, left: list[RouteName], *, refused: bool, reason: str = "") -> None:
        """Try the first of the routes `left`; `refused`: those before did for good, `reason`: why the last did."""
        if not left:
            self._call.reply(WakeCarryReply("refused" if refused else "retry", None, reason))
            return
        self._attempt += 1
        route = left[0]

        def ended(outcome: Delivered | Undone) -> None:
            if isinstance(outcome, Delivered) and outcome.result == "sent":
                self._call.reply(WakeCarryReply("sent", route))
                return
            final = isinstance(outcome, Delivered) and outcome.result == "refused"
            self.go(left[1:], refused=refused and final, reason=f"{route.value}: {outcome.reason}")

        self._app.relay.submit(delivery_of(self._wake, route, self._attempt), self._call.later(ended))


def delivery_of(wake: SharedWake, route: RouteName, attempt: int) -> Deliver:
    """Return what the relay is told of one attempt."""
    return Deliver(
        wake_id=wake.id,
        attempt=attempt,
        route=route,
        kind=wake.kind,
        text=wake.text,
        created_utc_s=wake.created_utc_s,
        wait_id=wake.wait_id,
        task_id=wake.task_id,
        session_key=wake.session_key,
        agent_id=wake.agent_id,
        run_id=wake.run_id,
    )
