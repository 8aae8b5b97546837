"""Notifications on a real session bus: what the server gets, and what is said when there is none to take them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from acud.base.errors import Unavailable
from acud.config import NotifySettings
from acud.delivery.desktop_notifications import DesktopNotifier, session_bus
from tests.fixtures.notification_server import NotificationServer, Shown

pytestmark = pytest.mark.asyncio


@pytest.fixture
def server() -> Iterator[NotificationServer]:
    with NotificationServer() as running:
        yield running


def notices(server: NotificationServer, timeout_s: float = 30) -> DesktopNotifier:
    return DesktopNotifier(NotifySettings(timeout_s=timeout_s), {"DBUS_SESSION_BUS_ADDRESS": server.address})


async def test_a_notification_arrives_with_its_urgency(server: NotificationServer) -> None:
    one = notices(server)
    assert await one.show("Title", "a <b> & c", urgent=True) == "keeper"
    await one.show("Next", "plain", urgent=False)
    assert server.shown == [Shown("Title", "a <b> & c", 2), Shown("Next", "plain", 1)]


async def test_a_server_that_reads_markup_gets_no_tag_from_outside() -> None:
    with NotificationServer(markup=True) as server:
        await notices(server).show("Title", '<a href="http://example.org">x</a> & y', urgent=False)
        assert server.shown[0].body == '&lt;a href="http://example.org"&gt;x&lt;/a&gt; &amp; y'


async def test_whoever_does_not_take_it_is_named_and_the_next_is_shown_again(server: NotificationServer) -> None:
    patient, hasty = notices(server, timeout_s=30), notices(server, timeout_s=0.3)
    server.mood = "refuses"
    with pytest.raises(Unavailable, match=r"does not take it: org.example.Refused: not now"):
        await patient.show("Title", "body", urgent=False)
    server.mood = "hangs"
    with pytest.raises(Unavailable, match=r"no answer in 0.3 s"):
        await hasty.show("Title", "body", urgent=False)
    server.mood = ""
    assert await patient.show("Title", "body", urgent=False) == "keeper"


async def test_no_server_and_no_bus_are_told_apart(server: NotificationServer) -> None:
    one = notices(server)
    server.leave()
    with pytest.raises(Unavailable, match="does not take it") as fault:
        await one.show("Title", "body", urgent=False)
    assert "notification server" in fault.value.hint
    server.end_bus()
    with pytest.raises(Unavailable, match="the session bus does not answer") as fault:
        await one.show("Title", "body", urgent=False)
    assert "bus_address" in fault.value.hint


async def test_the_bus_is_the_setting_then_the_environment_then_the_usual_place(
    server: NotificationServer, tmp_path: Path
) -> None:
    env = {"DBUS_SESSION_BUS_ADDRESS": "unix:path=/a", "XDG_RUNTIME_DIR": str(tmp_path)}
    assert session_bus(NotifySettings(bus_address="unix:path=/b"), env) == "unix:path=/b"
    assert session_bus(NotifySettings(), env) == "unix:path=/a"
    folder = Path(server.address.partition("=")[2]).parent
    assert session_bus(NotifySettings(), {"XDG_RUNTIME_DIR": str(folder)}) == server.address
    with pytest.raises(Unavailable, match="there is no session bus"):
        session_bus(NotifySettings(), {"XDG_RUNTIME_DIR": str(tmp_path)})
    with pytest.raises(Unavailable, match="not on a unix socket"):
        session_bus(NotifySettings(bus_address="tcp:host=127.0.0.1,port=9"), env)
