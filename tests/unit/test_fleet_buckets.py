"""A bucket whose servers fall silent over a question: it is asked again soon, and looked for again after a fault."""

import asyncio
import contextlib
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import nats.errors
import pytest

from acud.base.errors import Unavailable
from acud.features.fleet.names import FleetNames
from acud_fleet import streams
from acud_fleet.streams import Bucket

pytestmark = pytest.mark.asyncio


class Connection:
    """Finds a bucket whose first `silent` questions nobody answers, and which is not `there` for those after."""

    connected = True

    def __init__(self, silent: int = 0, *, there: bool = True) -> None:
        self.silent, self.there = silent, there
        self.found = self.written = 0
        self.names = FleetNames("acud")
        self.signatures = SimpleNamespace(header=lambda *_: {})

    async def bucket(self, name: str, *, ttl_s: float = 0.0) -> Any:
        self.found += 1
        return SimpleNamespace()

    @property
    def streams(self) -> Any:
        return SimpleNamespace(publish=self._publish)

    async def _publish(self, subject: str, value: bytes, headers: Any) -> None:
        if not self.there:
            raise nats.errors.NoRespondersError
        self.written += 1
        if self.written <= self.silent:
            await asyncio.Event().wait()

    @contextlib.contextmanager
    def translate_faults(self, what: str) -> Iterator[None]:
        try:
            yield
        except (nats.errors.Error, TimeoutError) as fault:
            raise Unavailable(what) from fault


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, seconds in {"_ANSWER_S": 0.02, "_ELECTION_S": 0.2, "_AGAIN_S": 0.01}.items():
        monkeypatch.setattr(streams, name, seconds)


async def test_a_write_that_a_lost_leader_took_is_written_again() -> None:
    servers: Any = Connection(silent=1)
    await Bucket(servers, "hosts").put("h1", b"lease")
    assert servers.written == 2


async def test_a_bucket_is_looked_for_again_after_a_fault() -> None:
    servers: Any = Connection(there=False)
    bucket = Bucket(servers, "hosts")
    for looks in (1, 2):
        with pytest.raises(Unavailable):
            await bucket.put("h1", b"lease")
        assert servers.found == looks
    servers.there = True
    for _ in range(2):
        await bucket.put("h1", b"lease")
    assert servers.found == 3
