"""What carrying other hosts' wakes costs: as many wakes at once by a daemon's webhook alone, and carried by it from the
fleet's stream over the same webhook.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path

from acud.config.fleet import FleetSettings
from acud.features.fleet.connection import NatsConnection
from acud.protocol.delivery import Deliver
from acud.types import RouteName, WakeInfo, WakeKind, WakeState
from acud_fleet.host_wakes import WakePublisher
from tests.e2e.fleet_support import joined
from tests.fixtures.daemon import Daemon
from tests.fixtures.fleet_servers import FleetServers, nothing_told
from tests.fixtures.wake_receiver import Receiver
from tests.integration.store_support import open_store

WAKES = 1000
_PUBLISHED_AT_ONCE = 100
_TEXT = "[smart_wait resolved] Job wait-01jd: the download has finished → the bar is full. Next: wait_result"
_SETTINGS = """
[fleet]
url = "{url}"
host = "h1"
[wake]
routes = ["webhook"]
webhook_url = "{hook}"
webhook_secret = "bench"
carry = ["main"]
remind_after_s = 0
"""


def measured(wakes: int = WAKES) -> dict[str, float]:
    """Return the seconds from the first to the last of `wakes` that arrive at the receiver, either way; and how many
    times longer the carried ones take. Its names are of `WAKES`, also where a quick run takes fewer.
    """
    with FleetServers() as nats, Receiver() as receiver, tempfile.TemporaryDirectory(prefix="acud-test-") as folder:
        home = Path(folder)
        _store_undelivered(home, wakes)
        with Daemon(_SETTINGS.format(url=nats.url, hook=receiver.url), home=home) as daemon:
            joined(daemon)
            daemon.client.wake_retry(undelivered=True)
            alone_s = _took_s(receiver, wakes, wakes)
            asyncio.run(_publish(nats.url, wakes))
            carried_s = _took_s(receiver, 2 * wakes, wakes)
    return {
        "webhook_1000_s": round(alone_s, 2),
        "carry_1000_s": round(carried_s, 2),
        "carry_1000_x": round(carried_s / alone_s, 2),
    }


def _store_undelivered(home: Path, wakes: int) -> None:
    with open_store(home) as store, store.turn():
        for number in range(wakes):
            now_s = time.time()
            wake = WakeInfo(
                f"wake-own-{number}", WakeKind.RESOLVED, _TEXT, state=WakeState.UNDELIVERED, created_utc_s=now_s
            )
            store.outbox.insert(wake)


def _took_s(receiver: Receiver, count: int, newest: int) -> float:
    taken = receiver.wait_for(count, 300)[count - newest : count]
    return taken[-1].at_s - taken[0].at_s


async def _publish(url: str, wakes: int) -> None:
    async with NatsConnection(FleetSettings(url=url), "bench") as connection:
        await connection.ready()
        publisher = WakePublisher("h2", connection, nothing_told)
        for at in range(0, wakes, _PUBLISHED_AT_ONCE):
            some = range(at, min(wakes, at + _PUBLISHED_AT_ONCE))
            outcomes = await asyncio.gather(*(publisher.publish_wake(_delivery(f"wake-{number}")) for number in some))
            if any(one.result != "sent" for one in outcomes):
                raise RuntimeError("the stream did not take a wake")


def _delivery(wake_id: str) -> Deliver:
    return Deliver(wake_id, 1, RouteName.FLEET, WakeKind.RESOLVED, _TEXT, time.time())
