"""The connection to real NATS servers: credentials, servers that go and come back, buckets."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from acud.errors import ConfigError, Unavailable
from acud.fleet import FleetSettings
from acud.jetstream.connection import Connection
from acud_fleet.buckets import Bucket
from tests.nats_servers import Nats

_LONG_S = 30.0


async def until(check, what: str) -> None:  # type: ignore[no-untyped-def]
    """Return once `check()` is true."""
    async with asyncio.timeout(_LONG_S):
        while not check():  # noqa: ASYNC110 - what is waited for is another process's doing
            await asyncio.sleep(0.02)


async def test_a_bucket_is_written_read_and_compared() -> None:
    with Nats() as nats:
        async with Connection(FleetSettings(url=nats.url), "test") as connection:
            await connection.ready()
            bucket = Bucket(connection, "places")
            assert await bucket.get("a") is None
            await bucket.put("a.x.1", b"1")
            await bucket.put("b.x.2", b"2")
            found = await bucket.get("a.x.1")
            assert found is not None
            assert await bucket.swap("a.x.1", b"3", found.revision)
            assert not await bucket.swap("a.x.1", b"4", found.revision)
            assert [(one.key, one.value) for one in await bucket.entries("a.>")] == [("a.x.1", b"3")]
            await bucket.remove("a.x.1")
            assert [one.key for one in await bucket.entries()] == ["b.x.2"]


async def test_a_lease_of_another_length_is_refused_by_name() -> None:
    with Nats() as nats:
        async with Connection(FleetSettings(url=nats.url), "test") as connection:
            await connection.ready()
            await Bucket(connection, "hosts", ttl_s=10).put("a", b"")
            with pytest.raises(ConfigError, match="keeps keys for 10 s, not 20"):
                await Bucket(connection, "hosts", ttl_s=20).put("a", b"")


async def test_a_server_that_is_killed_is_told_and_found_again() -> None:
    news: list[bool] = []
    with Nats() as nats:
        settings = FleetSettings(url=nats.url)
        async with Connection(settings, "test", lambda connected, text: news.append(connected)) as connection:
            await connection.ready()
            bucket = Bucket(connection, "places")
            await bucket.put("a", b"1")
            nats.servers[0].kill()
            await until(lambda: not connection.connected, "the loss")
            with pytest.raises(Unavailable, match="no NATS server"):
                await bucket.get("a")
            nats.servers[0].start()
            await until(lambda: connection.connected, "the server")
            found = await bucket.get("a")
            assert found is not None
            assert found.value == b"1"
    assert news[0] is True
    assert news[-1] is True
    assert False in news


async def test_an_unknown_nkey_is_not_let_in_and_a_known_one_is(tmp_path: Path) -> None:
    known, stranger = _nkey(tmp_path / "known"), _nkey(tmp_path / "stranger")
    with Nats(extra=f"authorization {{ users = [ {{ nkey: {known} }} ] }}\n") as nats:
        async with Connection(FleetSettings(url=nats.url, nkey_seed_file=str(tmp_path / "known")), "test") as good:
            await good.ready()
            assert good.connected
        assert stranger != known
        async with Connection(FleetSettings(url=nats.url, nkey_seed_file=str(tmp_path / "stranger")), "test") as bad:
            await until(lambda: "uthorization" in bad.fault, "the refusal")
            assert not bad.connected
            assert (tmp_path / "stranger").read_text().strip() not in bad.fault


async def test_a_seed_that_others_can_read_is_refused(tmp_path: Path) -> None:
    _nkey(tmp_path / "seed")
    (tmp_path / "seed").chmod(0o644)
    settings = FleetSettings(url="nats://127.0.0.1:1", nkey_seed_file=str(tmp_path / "seed"))
    async with Connection(settings, "test") as connection:
        with pytest.raises(ConfigError, match="is open to others"):
            await connection.ready()


def _nkey(file: Path) -> str:
    import nacl.signing
    import nkeys

    seed = nkeys.encode_seed(bytes(nacl.signing.SigningKey.generate()), nkeys.PREFIX_BYTE_USER)
    file.write_bytes(seed)
    file.chmod(0o600)
    return nkeys.from_seed(seed).public_key.decode()


pytestmark = pytest.mark.asyncio
