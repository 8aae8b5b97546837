"""Notifications on the administrator's desktop (freedesktop.org, Desktop Notifications Specification 1.2)."""

from __future__ import annotations

import asyncio
import html
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dbus_fast import Message, MessageType, Variant
from dbus_fast.aio import MessageBus
from dbus_fast.errors import AuthError, InvalidAddressError

from acud.base.errors import Unavailable
from acud.config import NotifySettings

_NAME = "org.freedesktop.Notifications"
_PATH = "/org/freedesktop/Notifications"
_NORMAL, _CRITICAL = 1, 2
_SERVERS_CHOICE = -1  # the time to show it: the server's choice
_NO_BUS = "start the daemon in the desktop session, or set [notify] bus_address"
_NO_SERVER = "run a notification server in that session (most desktops do; else dunst or mako)"


class DesktopNotifier:
    """Shows notifications, each over its own connection, as they are rare and a new session may start meanwhile."""

    def __init__(self, settings: NotifySettings, env: Mapping[str, str]) -> None:
        self._settings, self._env = settings, env
        self._turn = asyncio.Lock()

    async def show(self, title: str, body: str, *, urgent: bool) -> str:
        """Show a notification; return the name of the server that took it. Raises: Unavailable."""
        address = session_bus(self._settings, self._env)
        async with self._turn:
            try:
                async with asyncio.timeout(self._settings.timeout_s):
                    return await self._show_notification(address, title, body, urgent=urgent)
            except TimeoutError as fault:
                raise Unavailable(f"no answer in {self._settings.timeout_s:g} s", hint=_NO_SERVER) from fault
            except (OSError, EOFError, AuthError, InvalidAddressError) as fault:
                raise Unavailable(f"the session bus does not answer: {fault}", hint=_NO_BUS) from fault

    async def _show_notification(self, address: str, title: str, body: str, *, urgent: bool) -> str:
        bus = await MessageBus(address).connect()
        try:
            server = str((await _call_server(bus, "GetServerInformation"))[0])
            capabilities = (await _call_server(bus, "GetCapabilities"))[0]
            # If the server reads markup, a "<" from outside must not become a tag or a link.
            text = html.escape(body, quote=False) if "body-markup" in capabilities else body
            hints = {"urgency": Variant("y", _CRITICAL if urgent else _NORMAL)}
            given: tuple[Any, ...] = ("acud", 0, "", title, text, [], hints, _SERVERS_CHOICE)
            await _call_server(bus, "Notify", "susssasa{sv}i", *given)
            return server
        finally:
            bus.disconnect()


async def _call_server(bus: MessageBus, member: str, signature: str = "", *body: Any) -> list[Any]:
    message = Message(_NAME, _PATH, _NAME, member, signature=signature, body=list(body))
    reply: Message | None = await bus.call(message)
    if reply is None:
        raise EOFError("it closed the connection")
    if reply.message_type is not MessageType.METHOD_RETURN:
        words = " ".join(str(part) for part in reply.body)[:200]
        raise Unavailable(f"the notification server does not take it: {reply.error_name}: {words}", hint=_NO_SERVER)
    return list(reply.body)


def session_bus(settings: NotifySettings, env: Mapping[str, str]) -> str:
    """Return the address of the administrator's session bus. Raises: Unavailable when this machine has none."""
    address = settings.bus_address or env.get("DBUS_SESSION_BUS_ADDRESS", "") or _find_usual_bus(env)
    if not address:
        raise Unavailable("there is no session bus", hint=_NO_BUS)
    if not all(part.startswith("unix:") for part in address.split(";") if part):
        raise Unavailable("the session bus is not on a unix socket", hint="set [notify] bus_address")
    return address


def _find_usual_bus(env: Mapping[str, str]) -> str:
    place = Path(env.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}", "bus")
    return f"unix:path={place}" if place.is_socket() else ""
