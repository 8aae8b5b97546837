"""Notifications to browsers: chosen from committed events by their permissions, never waited for."""

from __future__ import annotations

import msgspec

from acud.base import log
from acud.base.clock import Clock
from acud.base.errors import Conflict, InvalidRequest, NotEnabled, NotFound, Refused, StoreUnavailable
from acud.base.extras import install_command, is_installed
from acud.base.ids import new_id
from acud.base.paths import Paths, keep_secret
from acud.config import NotifySettings
from acud.features.notifications.notice import Notification, Rate, describe_event
from acud.features.notifications.supervisor.push_queue import PushQueue
from acud.features.notifications.tables import PushSubscriptions, Subscription
from acud.process.event_loop import EventLoop
from acud.protocol.events import Event
from acud.protocol.push import PushInfo, PushTarget, is_service
from acud.supervisor.delivery import DeliveryProcess
from acud.supervisor.journal import Journal
from acud.supervisor.ports import TaskMemory
from acud.supervisor.redaction import Redaction

_LOG = log.logger("web_push")
_MOST = 50
"""Browsers in all: each event is encrypted for every one of them."""
_OF_ONE_PASS = 10


class Body(msgspec.Struct, frozen=True):
    """The content for the page's service worker, as JSON."""

    title: str
    body: str
    path: str
    urgent: bool


def load_key_pair(settings: NotifySettings, paths: Paths) -> tuple[str, str, str]:
    """Return the private and the public key, made at first use, and "" or why they are missing."""
    if not settings.push:
        return "", "", "[notify] push is off"
    if not is_installed("push"):
        return "", "", f"acud[push] is not installed: {install_command('push')}"
    from acud.features.notifications import vapid

    try:
        private = keep_secret(paths.push_key, vapid.new_key)
        return private.decode("ascii"), vapid.public_key(private), ""
    except (OSError, Refused, ValueError) as fault:
        return "", "", f"the key in {paths.push_key.name} is not taken: {fault}"


class WebPush:
    """Gets every committed event. `off`: why nothing is sent to browsers ("": it is)."""

    def __init__(
        self,
        journal: Journal,
        delivery: DeliveryProcess,
        loop: EventLoop,
        clock: Clock,
        settings: NotifySettings,
        keys: tuple[str, str, str],
        tasks: TaskMemory,
        redaction: Redaction,
    ) -> None:
        self._journal = journal
        self._store = journal.store
        self._subscriptions = PushSubscriptions(journal.store)
        self._clock = clock
        self.queue = PushQueue(delivery, loop, settings, self._list_valid, self._delete_subscription)
        self._settings = settings
        self._tasks = tasks
        _, self.public_key, self.off = keys
        self._screen_text = redaction.redact if settings.screen_text else None
        self._rates: dict[str, Rate] = {}

    def subscribe(self, pass_id: str, target: PushTarget) -> PushInfo:
        """Add a browser. Raises: InvalidRequest; NotFound for an invalid access token; Conflict with too many;
        NotEnabled while it is off.
        """
        if self.off:
            raise NotEnabled(f"notifications to browsers are off: {self.off}", hint="set [notify] push = true")
        if not is_service(target.endpoint, self._settings.push_services):
            raise InvalidRequest("that is no push service that is known here", hint="[notify] push_services names them")
        made = self._make_subscription(pass_id, target)
        others = [one for one in self._subscriptions.valid(self._utc_s()) if one.endpoint != target.endpoint]
        if len(others) >= _MOST or sum(one.pass_id == pass_id for one in others) >= _OF_ONE_PASS:
            raise Conflict("too many browsers take notifications", hint="end some: GET and DELETE /api/push")
        self._subscriptions.put(made)
        return made.info

    def _make_subscription(self, pass_id: str, target: PushTarget) -> Subscription:
        now, whose = self._utc_s(), self._store.web.find(pass_id)
        if whose.pass_id != pass_id or whose.is_expired(now):
            raise NotFound("no such token or session", hint="acud web token list")
        until = whose.expires_utc_s if whose.kind == "token" else 0.0
        return Subscription(
            new_id("push"),
            pass_id,
            whose.kind,
            whose.displays,
            whose.tasks,
            target.endpoint,
            target.p256dh,
            target.auth,
            now,
            until,
        )

    def list_all(self, pass_id: str) -> tuple[PushInfo, ...]:
        """Return all subscriptions, or those of an access token, oldest first."""
        return tuple(one.info for one in self._subscriptions.valid(self._utc_s()) if pass_id in ("", one.pass_id))

    def unsubscribe(self, push_id: str, pass_id: str) -> PushInfo:
        """Remove a subscription and return it. Raises: NotFound, also for one of another token than `pass_id`."""
        found = [one for one in self.list_all(pass_id) if one.push_id == push_id]
        if not found:
            raise NotFound(f"no subscription {push_id[:80]}", hint="GET /api/push lists them")
        self._subscriptions.delete(push_id)
        return found[0]

    def _list_valid(self) -> set[str] | None:
        try:
            return {one.push_id for one in self._subscriptions.valid(self._utc_s())}
        except StoreUnavailable as fault:
            self.queue.fault = f"the subscriptions are unknown: {fault.message}"
            return None

    def _utc_s(self) -> float:
        return self._clock.instant().utc_s

    def _delete_subscription(self, push_id: str) -> None:
        self._journal.keep(lambda: self._subscriptions.delete(push_id))

    def on_event(self, event: Event) -> None:
        """Notify the browsers that may see `event`, if the settings ask for its kind and the rate allows it."""
        if self.off:
            return
        notice = describe_event(event.topic, event.subject, event.data, self._screen_text)
        if notice is None or notice.kind not in self._settings.kinds:
            return
        try:
            self._send_to_takers(event, notice)
        except StoreUnavailable as fault:
            self.queue.fault = f"the subscriptions are unknown: {fault.message}"
            _LOG.warning("push.unsent", fault=fault.message)

    def _send_to_takers(self, event: Event, notice: Notification) -> None:
        takers = self._subscriptions.valid(self._utc_s())
        self._rates = {one.push_id: self._rates.get(one.push_id) or Rate(self._settings.per_minute) for one in takers}
        if not takers:
            return
        display, task_id = self._find_owner(event)
        for one in takers:
            if one.sees(display, task_id):
                self._queue_push(one, notice, _dashboard_path(event))

    def _queue_push(self, one: Subscription, notice: Notification, path: str) -> None:
        rate = self._rates[one.push_id]
        held = rate.try_pass(self._clock.monotonic_s())
        if held is None:
            return
        more = f" (and {held} more that were not sent)" if held else ""
        body = msgspec.json.encode(Body(notice.title, notice.body + more, path, notice.urgent)).decode()
        if not self.queue.submit(one.push_id, one.target, body, urgent=notice.urgent):
            rate.count_held()

    def _find_owner(self, event: Event) -> tuple[str, str]:
        """Return the display's name and the task's id of an event; both empty if they are gone."""
        kind = event.topic.partition(".")[0]
        task_id = str(event.data.get("task_id") or "")
        wait_id = event.subject if kind == "wait" else str(event.data.get("wait_id") or "")
        try:
            if kind == "display":
                return event.subject, ""
            if kind == "task":
                return self._tasks.find(event.subject).display, event.subject
            if wait_id:
                wait = self._store.waits.get(wait_id)
                return wait.display, wait.spec.task_id or task_id
        except (NotFound, NotEnabled):
            _LOG.info("push.nobodys", topic=event.topic)
        return "", task_id


def _dashboard_path(event: Event) -> str:
    kind = event.topic.partition(".")[0]
    if kind == "task":
        return f"#/tasks/{event.subject}"
    return {"wait": f"#/waits/{event.subject}", "wake": "#/wakes", "display": f"#/screens/{event.subject}"}.get(
        kind, "#/"
    )
