"""The notifications of all managed displays: keeps them, records them as events, and judges conditions on them."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from acud.base.clock import Clock
from acud.base.errors import NotFound, Unavailable
from acud.base.extras import install_command, is_installed
from acud.base.patterns import compile_pattern
from acud.base.rate_limits import TokenBucket
from acud.base.untrusted_text import quote
from acud.process.event_loop import EventLoop
from acud.supervisor.coroutines import Resume
from acud.supervisor.journal import Journal
from acud.supervisor.observers import Observers
from acud.supervisor.redaction import Redaction
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import DisplayNotification, DisplayState, NotificationText, Verdict, no, unknown, yes
from acud.waits.read_text import comparable

if TYPE_CHECKING:
    from acud.supervisor.displays.notification_server import NotificationServer

_MARKUP = re.compile(r"</?[biu]>|</?a\b[^<>]*>|<img\b[^<>]*>")
"""The markup that the specification allows in a body. Programs send it even if the server does not support it."""
_SHOWN = 200
_EVENTS_PER_S, _EVENTS_AT_ONCE = 2.0, 60.0
_OFF = "set notifications = true of [display], then restart the daemon"

OnVerdict = Callable[[Verdict], None]


class NotifiedDisplay:
    """One display, its notification server, and the rate at which its notifications may become events."""

    def __init__(self, watched: WatchedDisplay, events: TokenBucket) -> None:
        self.watched = watched
        self.server: NotificationServer | None = None
        self.events = events
        self.unrecorded = 0
        self.on_settled: list[Resume[None]] = []


class DisplayNotifications:
    """`is_enabled`: whether acud serves notifications at all."""

    def __init__(
        self, journal: Journal, loop: EventLoop, clock: Clock, redaction: Redaction, *, is_enabled: bool
    ) -> None:
        self._journal, self._loop, self._clock, self._redact = journal, loop, clock, redaction.redact
        self._is_enabled = is_enabled and is_installed("actions")
        self._off, self._fix = "[display] notifications is off", _OFF
        if is_enabled:
            self._off, self._fix = "acud[actions] is not installed", install_command("actions")
        self._displays: dict[str, NotifiedDisplay] = {}
        self._conditions: dict[str, dict[Hashable, tuple[NotificationText, OnVerdict, Verdict]]] = {}
        """By display name, as a display of that name may come again."""
        self.changed = Observers[Callable[[WatchedDisplay], None]]()
        """Called after each change of a display's open notifications."""

    # ---- displays ----------------------------------------------------------------------------------------------------

    def follow(self, watched: WatchedDisplay) -> None:
        """Serve the present session bus of a managed display, if it has one."""
        if not watched.managed:
            return
        display = self._find_display(watched)
        if display.server is not None and display.server.address != watched.bus_address:
            display.server.close()
            display.server = None
        if display.server is None and watched.bus_address and self._is_enabled:
            from acud.supervisor.displays.notification_server import DisplayServer

            display.server = DisplayServer(self._loop, self._clock, watched.bus_address, self, display)
        self.on_changed(display)

    def when_settled(self, watched: WatchedDisplay, on_done: Resume[None]) -> None:
        """Call `on_done` once it is known which program is the server there, or that there is none."""
        display = self._displays.get(watched.name)
        if display is None or display.server is None or display.server.is_settled:
            on_done(None)
        else:
            display.on_settled.append(on_done)

    def forget(self, watched: WatchedDisplay) -> None:
        """Stop serving a display that has ended or is not watched any more."""
        display = self._displays.pop(watched.name, None)
        if display is None:
            return
        if display.server is not None:
            display.server.close()
            display.server = None
        self.on_changed(display)

    def answer(self, watched: WatchedDisplay, number: int, action: str) -> DisplayNotification:
        """Choose an action of an open notification, or close it (""). Raises: NotFound, Unavailable."""
        display = self._displays.get(watched.name)
        if display is None or display.server is None or display.server.fault:
            words = f"acud reads no notifications of {watched.name}: {self._explain_fault(display)}"
            raise Unavailable(words, hint="" if self._is_enabled else self._fix)
        found = display.server.open.get(number)
        if found is None:
            raise NotFound(f"no notification {number} is open on {watched.name}", hint="acud display show lists them")
        keys = [key for key, _ in found.actions]
        if action and action not in keys:
            offers = f"it offers {', '.join(map(quote, keys))}" if keys else "it offers none; leave the action out"
            raise NotFound(f"notification {number} has no action {quote(action)}", hint=offers)
        if action:
            display.server.invoke(number, action)
        else:
            display.server.dismiss(number)
        return self._redact_notification(found)

    def close(self) -> None:
        for display in self._displays.values():
            if display.server is not None:
                display.server.close()

    # ---- conditions --------------------------------------------------------------------------------------------------

    def pin(self, leaf: NotificationText) -> NotificationText:
        """Return the leaf with the time from which a notification counts."""
        return leaf if leaf.since_utc_s else replace(leaf, since_utc_s=self._clock.instant().utc_s)

    def watch(
        self, key: Hashable, leaf: NotificationText, watched: WatchedDisplay | None, on_verdict: OnVerdict
    ) -> Verdict:
        """Return the present verdict; `on_verdict` gets each one that follows, until `unwatch`."""
        if watched is None or not watched.managed:
            return unknown("no_notifications", "acud reads the notifications of managed displays alone")
        display = self._find_display(watched)
        verdict = self._judge_leaf(display, leaf)
        self._conditions.setdefault(watched.name, {})[key] = leaf, on_verdict, verdict
        return verdict

    def unwatch(self, key: Hashable) -> None:
        """Stop judging the condition `key`; harmless for an unknown key."""
        for name, conditions in list(self._conditions.items()):
            if conditions.pop(key, None) is not None and not conditions:
                del self._conditions[name]

    def _find_display(self, watched: WatchedDisplay) -> NotifiedDisplay:
        known = self._displays.get(watched.name)
        if known is None or known.watched is not watched:
            events = TokenBucket(_EVENTS_PER_S, _EVENTS_AT_ONCE, self._clock.monotonic_s())
            known = self._displays[watched.name] = NotifiedDisplay(watched, events)
        return known

    def _judge_leaf(self, display: NotifiedDisplay, leaf: NotificationText) -> Verdict:
        server, name = display.server, display.watched.name
        if display.watched.state is DisplayState.ENDED:
            return unknown("display_down", f"display {name} has ended")
        if server is None or server.fault:
            return unknown("no_notifications", f"acud reads no notifications of {name}: {self._explain_fault(display)}")
        counted = [one for one in server.kept if one.utc_s >= leaf.since_utc_s or server.open.get(one.id) is one]
        found = next((one for one in reversed(counted) if is_meant(leaf, one)), None)
        if found is None:
            last = f"; the last of {len(counted)} is {self._quote_notification(counted[-1])}" if counted else ""
            return no(f"no such notification was given{last}")
        before_s = leaf.since_utc_s - found.utc_s
        was = f", {before_s:.0f} s before the wait began, and is open" if before_s > 0 else ""
        return yes(f"the notification {self._quote_notification(found)} was given{was}")

    def _explain_fault(self, display: NotifiedDisplay | None) -> str:
        if not self._is_enabled:
            return self._off
        if display is None:
            return "it is not a managed display"
        return display.server.fault if display.server is not None else "it has no session bus"

    def _quote_notification(self, one: DisplayNotification) -> str:
        safe = self._redact_notification(one)
        return quote(f"{safe.title}: {safe.body}"[:_SHOWN] if safe.body else safe.title[:_SHOWN])

    # ---- events ------------------------------------------------------------------------------------------------------

    def _redact_notification(self, one: DisplayNotification) -> DisplayNotification:
        return replace(one, title=self._redact(one.title), body=self._redact(one.body))

    def on_shown(self, display: NotifiedDisplay, shown: DisplayNotification) -> None:
        """Record a notification as an event, unless too many come."""
        if display.events.due_s(self._clock.monotonic_s()) > 0:
            display.unrecorded += 1
            return
        display.events.take(self._clock.monotonic_s())
        safe, name, left_out = self._redact_notification(shown), display.watched.name, display.unrecorded
        display.unrecorded = 0
        facts = {"id": safe.id, "app": safe.app, "title": safe.title, "body": safe.body, "urgency": safe.urgency.value}
        more: dict[str, object] = {"actions": [list(pair) for pair in safe.actions]} if safe.actions else {}
        more |= {"left_out": left_out} if left_out else {}
        self._journal.keep(lambda: self._journal.event("display.notified", name, **facts, **more), droppable=True)

    def on_changed(self, display: NotifiedDisplay) -> None:
        """Store the open notifications of a display, and judge the conditions on them."""
        server, watched = display.server, display.watched
        before = {one.id: one for one in watched.notifications}
        is_open = server.open.values() if server is not None else ()
        watched.notifications = tuple(self._redact_once(one, before.get(one.id)) for one in is_open)
        watched.notifications_fault = self._explain_fault(display) if server is None or server.fault else ""
        conditions = self._conditions.get(watched.name, {})
        for key, (leaf, on_verdict, verdict) in list(conditions.items()):
            now = self._judge_leaf(display, leaf)
            if now != verdict and key in conditions:
                conditions[key] = leaf, on_verdict, now
                on_verdict(now)
        for observer in self.changed:
            observer(watched)
        if server is None or server.is_settled:
            waiting, display.on_settled = display.on_settled, []
            for done in waiting:
                done(None)

    def _redact_once(self, one: DisplayNotification, before: DisplayNotification | None) -> DisplayNotification:
        """Return the notification redacted; apply the rules only the first time."""
        return before if before is not None and before.utc_s == one.utc_s else self._redact_notification(one)


def is_meant(leaf: NotificationText, one: DisplayNotification) -> bool:
    """Return whether the title or body of a notification has the text or pattern, with or without its markup."""
    texts = dict.fromkeys((f"{one.title}\n{one.body}", f"{one.title}\n{html.unescape(_MARKUP.sub('', one.body))}"))
    if leaf.regex:
        pattern = compile_pattern(leaf.text, ignore_case=True, lines=True)
        return any(pattern.search(text) is not None for text in texts)
    return any(comparable(leaf.text) in comparable(text) for text in texts)
