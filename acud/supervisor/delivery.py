"""The supervisor's side of the delivery process: a queue, some places and the health of each route.

After a failure, one wake at a time tries the route, with growing pauses; the others fail at once, as it is shut. So a
dead route delays only the wakes that have no other.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from statistics import median

from msgspec import Struct
from msgspec.structs import replace

from acud.base import log
from acud.config import Settings, secret
from acud.metrics.catalogue import SLOW_S
from acud.metrics.counters import Histograms, Tally
from acud.process.event_loop import EventLoop
from acud.protocol.bootstrap import DeliveryOptions
from acud.protocol.delivery import Deliver, Delivered, DeliveryHello, Notified, Notify, Push, Pushed
from acud.protocol.requests.wakes import RouteHealth
from acud.supervisor.children import Child, ChildKeeper, ChildState, Message
from acud.supervisor.coroutines import Resume
from acud.supervisor.journal import Effect
from acud.supervisor.observers import Observers
from acud.supervisor.publisher import DaemonEvents
from acud.types import RouteName

_LOG = log.logger("relay")
_LATE_S = 10.0  # the time beyond its route's limit after which a delivery counts as lost
_CHECK_S = 1.0
_MEASURED = 64  # the median time of a route is that of so many deliveries
_AGAIN_S = 60.0  # A delivery process that was given up is started again after this, without waiting for a person


class Undone(Struct, frozen=True):
    """A delivery that was not made, or with an unknown end. `shut_s`: the route is shut for so long (0: the delivery
    process failed, not the route).
    """

    reason: str
    shut_s: float = 0.0


OnEnded = Callable[[Delivered | Undone], None]


class _Ticket:
    """A delivery in the queue, or with the delivery process since `since_s`."""

    def __init__(self, delivery: Deliver, on_ended: OnEnded) -> None:
        self.delivery, self.on_ended = delivery, on_ended
        self.since_s = 0.0

    @property
    def key(self) -> tuple[str, int]:
        return self.delivery.wake_id, self.delivery.attempt


class _Route:
    """A route's queue, its deliveries under way, and its health."""

    def __init__(self, places: int, limit_s: float) -> None:
        self.places, self.limit_s = places, limit_s
        self.firsts: deque[_Ticket] = deque()
        self.reminders: deque[_Ticket] = deque()
        self.running: dict[tuple[str, int], _Ticket] = {}
        self.failures = 0
        self.shut_until_s = 0.0
        self.reason = ""
        self.unsent = 0
        self.sent = 0
        self.sent_s = 0.0
        self.took_ms: deque[float] = deque(maxlen=_MEASURED)

    def describe_health(self, name: RouteName, utc_s: float, now_s: float) -> RouteHealth:
        """Return the route's health since the start; `utc_s` and `now_s` are the same moment on two clocks."""
        if not self.sent:
            return RouteHealth(name, failures=self.unsent)
        sent_utc_s = utc_s - (now_s - self.sent_s)
        return RouteHealth(name, self.sent, sent_utc_s, self.took_ms[-1], median(self.took_ms), self.unsent)

    def note(self, message: Delivered, now_s: float) -> None:
        """Note the outcome of a delivery; a refusal counts as unsent, but shuts no route."""
        if message.result != "sent":
            self.unsent += 1
            return
        self.unsent = 0
        self.sent += 1
        self.sent_s = now_s
        self.took_ms.append(message.ms)

    def put(self, ticket: _Ticket) -> None:
        """Queue a delivery: first deliveries go before reminders."""
        (self.reminders if ticket.delivery.reminder else self.firsts).append(ticket)

    def next(self) -> _Ticket | None:
        queue = self.firsts or self.reminders
        return queue.popleft() if queue else None

    @property
    def is_busy(self) -> bool:
        return bool(self.running or self.firsts or self.reminders)

    def take_all(self) -> list[_Ticket]:
        """Empty the queue, in its order."""
        waiting = [*self.firsts, *self.reminders]
        self.firsts.clear()
        self.reminders.clear()
        return waiting


class DeliveryProcess:
    """Owns the delivery process, started when the first route is needed. Outcomes come by callback, within a turn."""

    def __init__(self, keeper: ChildKeeper, loop: EventLoop, settings: Settings, events: DaemonEvents) -> None:
        """Raises: ConfigError when a secret's file cannot be read."""
        wake = settings.wake
        self._keeper, self._loop = keeper, loop
        self._now = loop.now_s
        self._wake = wake
        token = secret("openclaw_token", wake.openclaw_token, wake.openclaw_token_file)
        self._options = DeliveryOptions(
            wake, token, secret("webhook_secret", wake.webhook_secret, wake.webhook_secret_file), settings.notify
        )
        self.child = Child("0", "relay", "acud.delivery", self)
        self._carriers: dict[RouteName, Child] = {}
        """Other processes that make the deliveries of a route; the route fails while its carrier is absent."""
        self._absent: dict[RouteName, str] = {}
        """Why routes get nothing: their carrier is absent, or the receiver wants no more wakes (a retry or a test by
        hand, or a restart, tries it again).
        """
        self.deliveries = Tally()  # deliveries tried, by route and result
        self.delivery_s = Histograms(SLOW_S)
        self._ready = False
        self._started = False
        self._checking = False
        self._on_settled: Resume[None] | None = None
        self._routes = {name: _Route(wake.places(name), wake.limit_s(name)) for name in RouteName}
        self._events = events
        self.reopened = Observers[Callable[[RouteName], None]]()  # called with a route that failed and works again
        self.ready = Observers[Effect]()  # called when the process takes notifications and pushes
        self.notified = Observers[Callable[[Notified | Undone], None]]()
        """Called with the outcome of each notification, and with `Undone` at the end of the process."""
        self.pushed = Observers[Callable[[Pushed | Undone], None]]()
        """Called with the outcome of each push, and with `Undone` at the end of the process."""

    def set_push_key(self, key: str) -> None:
        """Sign pushes with the private `key` ("": send none), from the next start of the process on."""
        self._options = replace(self._options, push_key=key)

    def start(self) -> None:
        if not self._started:
            self._started = True
            self._keeper.start(self.child, self._options)
            self._begin_checking()

    def _begin_checking(self) -> None:
        if not self._checking:
            self._checking = True
            self._loop.call_each(_CHECK_S, self._drop_late)

    def submit(self, delivery: Deliver, on_ended: OnEnded, *, patient: bool = False) -> None:
        """Make `delivery` as soon as its route has a place; `on_ended` gets its outcome, `Undone` if the route is shut.
        A `patient` one (a test by hand) is tried on a shut route too.
        """
        if self._on_settled is None and delivery.route not in self._carriers:
            self.start()
        ticket = _Ticket(delivery, on_ended)
        if patient and self._is_reachable(delivery.route) and self._on_settled is None:
            self._send_ticket(self._routes[delivery.route], ticket)
        else:
            self._routes[delivery.route].put(ticket)
            self._send_queued(delivery.route)

    def mark_failing(self, name: RouteName, reason: str, shut_s: float) -> None:
        """Note, at start, that the route failed last: one delivery tries it `shut_s` from now."""
        route = self._routes[name]
        route.failures = route.unsent = 1
        route.reason = reason
        route.shut_until_s = max(route.shut_until_s, self._now() + shut_s)

    def try_now(self, names: tuple[RouteName, ...]) -> None:
        """Let one delivery try each of these failing routes now, as a user asks for it."""
        for name in names:
            self._routes[name].shut_until_s = 0.0
            if name not in self._carriers:
                self._absent.pop(name, None)

    # ---- routes with a carrier, another process that makes their deliveries -----------------------------------------

    def set_carrier(self, name: RouteName, carrier: Child, reason: str) -> None:
        """Have `carrier` make the deliveries of this route, from `carrier_came` on; `reason`: why it is absent now."""
        self._carriers[name] = carrier
        self._absent[name] = reason
        self._begin_checking()

    def carrier_came(self, name: RouteName) -> None:
        """Open the route and send what is queued: its carrier is there."""
        self._absent.pop(name, None)
        route = self._routes[name]
        route.failures, route.reason, route.shut_until_s = 0, "", 0.0
        self._send_queued(name)
        self._report_reopened(name)

    def _report_reopened(self, name: RouteName) -> None:
        for observer in self.reopened:
            observer(name)

    def carrier_went(self, name: RouteName, reason: str) -> None:
        """Shut the route until the carrier comes again, and fail its deliveries under way."""
        self._absent[name] = reason
        _fail_running(self._routes[name], reason)
        self._send_queued(name)
        self._check_settled()

    def _is_reachable(self, name: RouteName) -> bool:
        return name not in self._absent if name in self._carriers else self._ready

    def notify(self, notice: Notify) -> bool:
        """Send a notification to the process; return False when it cannot be reached now."""
        return self._ready and self._on_settled is None and self._keeper.send(self.child, notice)

    def push(self, push: Push) -> bool:
        """Send a push to the process; return False when it cannot be reached now."""
        return self._ready and self._on_settled is None and self._keeper.send(self.child, push)

    def finish_deliveries(self, on_done: Resume[None]) -> None:
        """Finish the deliveries under way and those queued for carriers, as this host may never start again. Then call
        `on_done`, at once if there are none; it may be called repeatedly.
        """
        self._on_settled = on_done
        if self.child.process is None:
            self._check_settled()
        else:
            self._keeper.stop(self.child)

    def _check_settled(self) -> None:
        carried = [self._routes[name] for name in self._carriers]
        if self._on_settled is not None and self.child.process is None and not any(one.is_busy for one in carried):
            self._on_settled(None)

    def find_failing(self) -> dict[RouteName, str]:
        """Return the failing routes, those with a failed newest delivery, each with the reason."""
        failing = {name: route.reason for name, route in self._routes.items() if route.failures}
        return failing | {name: reason for name, reason in self._absent.items() if name in self._wake.routes}

    def describe_health(self, utc_s: float) -> tuple[RouteHealth, ...]:
        """Return the health of each route that is set up or was tried; `utc_s` is now."""
        now_s = self._now()
        used = (*self._wake.routes, *(name for name, route in self._routes.items() if route.sent or route.unsent))
        return tuple(self._routes[name].describe_health(name, utc_s, now_s) for name in dict.fromkeys(used))

    # ---- the queue -------------------------------------------------------------------------------------------------

    def _send_queued(self, name: RouteName) -> None:
        route = self._routes[name]
        if self._on_settled is not None and name not in self._carriers:
            return
        if name in self._absent:
            # With the longest pause: all are let through when the carrier comes.
            self._end_queued(route, self._absent[name], self._wake.retry_max_s)
            return
        if not self._is_reachable(name):
            return
        while len(route.running) < self._count_places(route) and (ticket := route.next()) is not None:
            self._send_ticket(route, ticket)
        if route.failures:
            self._end_queued(route, route.reason, max(route.shut_until_s - self._now(), self._wake.retry_first_s))

    def _count_places(self, route: _Route) -> int:
        if not route.failures:
            return route.places
        return 0 if self._now() < route.shut_until_s else 1

    def _end_queued(self, route: _Route, reason: str, shut_s: float) -> None:
        for ticket in route.take_all():
            ticket.on_ended(Undone(f"the route fails: {reason}", shut_s))

    def _send_ticket(self, route: _Route, ticket: _Ticket) -> None:
        ticket.since_s = self._now()
        route.running[ticket.key] = ticket
        if not self._keeper.send(self._carriers.get(ticket.delivery.route, self.child), ticket.delivery):
            del route.running[ticket.key]
            ticket.on_ended(Undone("the delivery process could not be reached", self._wake.retry_first_s))

    # ---- messages of the process -----------------------------------------------------------------------------------

    def handle_message(self, child: Child, message: Message) -> None:
        if isinstance(message, Delivered):
            self.handle_outcome(message)
        elif isinstance(message, DeliveryHello):
            self._ready = True
            for name in self._routes.keys() - self._carriers.keys():
                self._send_queued(name)
            for ready in self.ready:
                ready()
        elif isinstance(message, Notified):
            for notified in self.notified:
                notified(message)
        elif isinstance(message, Pushed):
            for pushed in self.pushed:
                pushed(message)

    def handle_outcome(self, message: Delivered) -> None:
        route = self._routes[message.route]
        ticket = route.running.pop((message.wake_id, message.attempt), None)
        if ticket is None:
            return
        self.deliveries.add(message.route.value, message.result)
        self.delivery_s.observe(message.ms / 1000, message.route.value)
        route.note(message, self._now())
        if message.ends_route:
            self._absent[message.route] = f"its receiver wants no more wakes ({message.reason})"
        healed = self._note_health(route, message)
        if message.result == "sent" and message.route not in self._carriers:
            healed |= self._absent.pop(message.route, None) is not None
        ticket.on_ended(message)
        if healed:
            self._report_reopened(message.route)
        self._send_queued(message.route)
        self._check_settled()

    def _note_health(self, route: _Route, message: Delivered) -> bool:
        """Note the route's health; return whether it had failed and works again."""
        if message.result == "retry":
            pause_s = min(self._wake.retry_max_s, self._wake.retry_first_s * 2.0 ** min(route.failures, 60))
            route.failures += 1
            route.shut_until_s = self._now() + max(pause_s, message.retry_after_s)
            route.reason = message.reason
            pause_s = round(route.shut_until_s - self._now(), 1)
            _LOG.debug("route.failed", route=message.route, failures=route.failures, pause_s=pause_s)
            return False
        healed = route.failures > 0
        if healed:
            _LOG.debug("route.works_again", route=message.route, failures=route.failures)
        route.failures, route.reason = 0, ""
        return healed

    def child_ended(self, child: Child, reason: str) -> None:
        """Fail the deliveries, notifications and pushes that the dead delivery process had under way."""
        self._ready = False
        words = f"the delivery process ended: {reason}"
        for route in [route for name, route in self._routes.items() if name not in self._carriers]:
            _fail_running(route, words)
        for observer in (*self.notified, *self.pushed):
            observer(Undone(words))
        if self._on_settled is not None:
            self._check_settled()
            return
        if child.state is ChildState.FAILED:
            self._loop.call_later(_AGAIN_S, lambda: self._keeper.start(child, self._options))
        self._events.child_ended(child)

    def _drop_late(self) -> None:
        for name, route in self._routes.items():
            late = [t for t in route.running.values() if self._now() - t.since_s > route.limit_s + _LATE_S]
            for ticket in late:
                del route.running[ticket.key]
                _LOG.warning("wake.lost", wake=ticket.delivery.wake_id, route=name)
                ticket.on_ended(Undone("the delivery process lost the delivery", self._wake.retry_first_s))


def _fail_running(route: _Route, reason: str) -> None:
    running, route.running = route.running, {}
    for ticket in running.values():
        ticket.on_ended(Undone(reason))
