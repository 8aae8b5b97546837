"""The notification server of one display (Desktop Notifications Specification 1.2): it keeps them and draws nothing.

A notification without a time of its own expires after `_USUAL_S`, a critical one never, as other servers do it.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections import deque
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from jeepney import (
    DBusAddress,
    HeaderFields,
    Message,
    MessageFlag,
    MessageType,
    new_error,
    new_method_return,
    new_signal,
)

from acud import __version__
from acud.base.clock import Clock
from acud.process.event_loop import EventLoop, Timer
from acud.supervisor.displays.proc_files import comm
from acud.supervisor.displays.session_bus import BUS, SessionBusClient
from acud.types import DisplayNotification, Urgency

if TYPE_CHECKING:
    from acud.supervisor.display_notifications import DisplayNotifications, NotifiedDisplay

_NAME = "org.freedesktop.Notifications"
_PLACE = DBusAddress("/org/freedesktop/Notifications", _NAME, _NAME)
_FAILED = "org.freedesktop.DBus.Error."
_ALLOW_REPLACEMENT = 1
_OWNER, _ALREADY_OWNER = 1, 4
_USUAL_S = 30.0
_AGAIN_S = 2.0
_MOST_OPEN = 50
_MOST_KEPT = 200
_TITLE_CHARS, _BODY_CHARS, _MOST_ACTIONS = 500, 4000, 16
_INTROSPECTION = f"""<node><interface name="{_NAME}">
<method name="GetCapabilities"><arg type="as" direction="out"/></method>
<method name="Notify"><arg type="s" direction="in"/><arg type="u" direction="in"/><arg type="s" direction="in"/>
<arg type="s" direction="in"/><arg type="s" direction="in"/><arg type="as" direction="in"/>
<arg type="a{{sv}}" direction="in"/><arg type="i" direction="in"/><arg type="u" direction="out"/></method>
<method name="CloseNotification"><arg type="u" direction="in"/></method>
<method name="GetServerInformation"><arg type="s" direction="out"/><arg type="s" direction="out"/>
<arg type="s" direction="out"/><arg type="s" direction="out"/></method>
<signal name="NotificationClosed"><arg type="u"/><arg type="u"/></signal>
<signal name="ActionInvoked"><arg type="u"/><arg type="s"/></signal></interface></node>"""


class CloseReason(IntEnum):
    """Why a notification is no longer open, by the numbers of the specification."""

    EXPIRED = 1
    DISMISSED = 2
    CLOSED_BY_PROGRAM = 3
    UNDEFINED = 4


class NotificationServer(ABC):
    """Owns the name of notification servers on one bus, or knows which program does."""

    def __init__(self, loop: EventLoop, clock: Clock, address: str) -> None:
        self.address = address
        self.open: dict[int, DisplayNotification] = {}
        self.kept: deque[DisplayNotification] = deque(maxlen=_MOST_KEPT)  # the newest that came, open or not
        self.fault = "the session bus has not been asked yet"  # why none can be read ("": they are)
        self.is_settled = False  # whether it is known which program is the server
        self._loop, self._clock = loop, clock
        self._expiries: dict[int, Timer] = {}
        self._resident: set[int] = set()
        self._next_id = 1
        self._bus: SessionBusClient | None = None
        self._retry: Timer | None = None
        self._connect_to_bus()

    @abstractmethod
    def on_shown(self, shown: DisplayNotification) -> None:
        """Handle that a program showed a notification."""

    @abstractmethod
    def on_changed(self) -> None:
        """Handle a change of `open`, `kept` or `fault`."""

    def close(self) -> None:
        for timer in (*self._expiries.values(), self._retry):
            if timer is not None:
                timer.cancel()
        if self._bus is not None:
            self._bus.close()

    def invoke(self, number: int, action: str) -> None:
        """Choose an action of an open notification, which then closes unless it is resident."""
        self._emit_signal("ActionInvoked", "us", number, action)
        if number not in self._resident:
            self.dismiss(number)

    def dismiss(self, number: int, reason: CloseReason = CloseReason.DISMISSED) -> None:
        """Close an open notification, and signal the reason to programs."""
        self._cancel_expiry(number)
        self._resident.discard(number)
        del self.open[number]
        self._emit_signal("NotificationClosed", "uu", number, int(reason))
        self.on_changed()

    def _cancel_expiry(self, number: int) -> None:
        timer = self._expiries.pop(number, None)
        if timer is not None:
            timer.cancel()

    # ---- the bus -----------------------------------------------------------------------------------------------------

    def _connect_to_bus(self) -> None:
        try:
            self._bus = SessionBusClient(self._loop, self.address, self)
        except (OSError, RuntimeError) as fault:
            self.bus_lost(str(fault))
            return
        rule = f"type='signal',sender='{BUS.bus_name}',member='NameOwnerChanged',arg0='{_NAME}'"
        self._bus.call(BUS, "AddMatch", "s", rule)
        self._bus.call(BUS, "RequestName", "su", _NAME, _ALLOW_REPLACEMENT, on_done=self._on_name_reply)

    def bus_lost(self, reason: str) -> None:
        """Try again later to be the server."""
        self._set_fault(f"its session bus does not answer: {reason}")
        self._retry = self._loop.call_later(_AGAIN_S, self._connect_to_bus)

    def _on_name_reply(self, body: tuple[Any, ...] | None) -> None:
        if body is not None and body[0] in (_OWNER, _ALREADY_OWNER):
            self._set_fault("")
        else:
            self._ask_owner()

    def _ask_owner(self) -> None:
        if self._bus is not None:
            self._bus.call(BUS, "GetConnectionUnixProcessID", "s", _NAME, on_done=self._on_owner_reply)

    def _on_owner_reply(self, body: tuple[Any, ...] | None) -> None:
        pid = body[0] if body is not None else 0
        if pid == os.getpid():
            self._set_fault("")
            return
        name = comm(pid)
        program = f"{name} (process {pid})" if name else "another program"
        self._set_fault(f"{program} is the notification server there, and acud leaves that to it")

    def _set_fault(self, fault: str) -> None:
        self.fault, self.is_settled = fault, True
        self.on_changed()

    def handle_message(self, message: Message) -> None:
        """Answer a call, or note which program is the server now."""
        fields = message.header.fields
        member = fields.get(HeaderFields.member, "")
        if message.header.message_type is MessageType.method_call:
            answer = self._answer_call(message, fields.get(HeaderFields.interface, _NAME), member)
            if self._bus is not None and not message.header.flags & MessageFlag.no_reply_expected:
                self._bus.send(answer)
        elif member in {"NameAcquired", "NameLost"} and message.body[0] == _NAME:
            self._on_name_reply((_OWNER,) if member == "NameAcquired" else None)
        elif member == "NameOwnerChanged" and self.fault:
            self._ask_owner()

    def _answer_call(self, call: Message, interface: str, member: str) -> Message:
        signature = call.header.fields.get(HeaderFields.signature, "")
        match interface, member, signature:
            case (_, "Introspect", ""):
                return new_method_return(call, "s", (_INTROSPECTION,))
            case ("org.freedesktop.DBus.Peer", "Ping", ""):
                return new_method_return(call)
            case (str(known), "GetCapabilities", "") if known == _NAME:
                return new_method_return(call, "as", (["actions", "body", "persistence"],))
            case (str(known), "GetServerInformation", "") if known == _NAME:
                return new_method_return(call, "ssss", ("acud", "acud", __version__, "1.2"))
            case (str(known), "Notify", "susssasa{sv}i") if known == _NAME:
                return new_method_return(call, "u", (self._take_notification(*call.body),))
            case (str(known), "CloseNotification", "u") if known == _NAME:
                if call.body[0] not in self.open:
                    return new_error(call, f"{_FAILED}InvalidArgs", "s", ("no such notification is open",))
                self.dismiss(call.body[0], CloseReason.CLOSED_BY_PROGRAM)
                return new_method_return(call)
        return new_error(call, f"{_FAILED}UnknownMethod", "s", (f"no method {member} of {interface}"[:300],))

    def _emit_signal(self, member: str, signature: str, *body: Any) -> None:
        if self._bus is not None:
            self._bus.send(new_signal(_PLACE, member, signature, body))

    # ---- notifications -----------------------------------------------------------------------------------------------

    def _take_notification(
        self, app: str, replaces: int, _icon: str, title: str, body: str, actions: list[str], hints: Any, expire_ms: int
    ) -> int:
        """Keep what a program wants shown; return its number."""
        number = replaces if replaces in self.open else self._next_id
        self._next_id = max(self._next_id, number + 1)
        urgency = hints.get("urgency", ("y", 1))[1]
        pairs = tuple(zip(actions[::2], actions[1::2], strict=False))[:_MOST_ACTIONS]
        shown = DisplayNotification(
            id=number,
            app=app[:_TITLE_CHARS],
            title=title[:_TITLE_CHARS],
            body=body[:_BODY_CHARS],
            urgency=tuple(Urgency)[urgency] if urgency in (0, 1, 2) else Urgency.NORMAL,
            actions=tuple((key[:_TITLE_CHARS], label[:_TITLE_CHARS]) for key, label in pairs),
            utc_s=self._clock.instant().utc_s,
        )
        if len(self.open) >= _MOST_OPEN and number not in self.open:
            self.dismiss(next(iter(self.open)), CloseReason.UNDEFINED)
        self.open[number] = shown
        self.kept.append(shown)
        self._resident.discard(number)
        if hints.get("resident", ("b", False))[1] is True:
            self._resident.add(number)
        self._cancel_expiry(number)
        seconds = expire_ms / 1000 if expire_ms >= 0 else 0 if shown.urgency is Urgency.CRITICAL else _USUAL_S
        if seconds:
            self._expiries[number] = self._loop.call_later(seconds, lambda: self.dismiss(number, CloseReason.EXPIRED))
        self.on_shown(shown)
        self.on_changed()
        return number


class DisplayServer(NotificationServer):
    """The notification server of `display`."""

    def __init__(
        self, loop: EventLoop, clock: Clock, address: str, owner: DisplayNotifications, display: NotifiedDisplay
    ) -> None:
        self._owner, self._display = owner, display
        super().__init__(loop, clock, address)

    def on_shown(self, shown: DisplayNotification) -> None:
        self._owner.on_shown(self._display, shown)

    def on_changed(self) -> None:
        self._owner.on_changed(self._display)
