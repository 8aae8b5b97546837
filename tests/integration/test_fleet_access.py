"""An administrator's way with `acud fleet grant` and `acud fleet init`, on a real server that is restarted."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path

import pytest

from acud.base.errors import Unavailable
from acud.config.fleet import FleetSettings
from acud.features.fleet.connection import NatsConnection
from acud.features.fleet.signatures import SIGNATURE, Identity, Signed
from acud_fleet import streams
from tests.e2e.cli_support import CommandLine
from tests.fixtures.nats_servers import Nats

pytestmark = pytest.mark.asyncio


async def test_members_are_let_in_and_out_while_the_servers_run(tmp_path: Path) -> None:
    home, folder = tmp_path / "home", tmp_path / "access"
    home.mkdir()

    def fleet(*words: str) -> str:
        return CommandLine(home).run("fleet", *words, "--folder", str(folder))

    (home / "acud.toml").write_text('[fleet]\nurl = "nats://127.0.0.1:1"\n')
    assert "with the seed" in fleet("grant", "admin")
    with Nats(extra=_include(folder)) as nats:
        (home / "acud.toml").write_text(f'[fleet]\nurl = "{nats.url}"\nnkey_seed_file = "{folder / "admin.nk"}"\n')
        assert {line.split(": ")[1] for line in fleet("init").splitlines()} == {"made"}
        assert "list of keys: well" in fleet("init", "--check")
        assert "seen-h1" not in fleet("init", "--check")
        before = json.loads(fleet("grant", "host", "h1", "--json"))
        assert "host-h1.nk" in before["done"]
        (admin_key,) = re.findall(r'admin_key = "(U[A-Z2-7]{55})"', before["done"])
        _restart(nats, folder)
        told = fleet("init")
        assert "seen-h1: made" in told
        assert "list of keys: changed" in told
        other_seed = (*("init", "--check"), *("--nkey-seed-file", str(folder / "host-h1.nk")))
        CommandLine(home).run("fleet", *other_seed, "--folder", str(folder), code=1)
        settings = FleetSettings(url=nats.url, nkey_seed_file=str(folder / "host-h1.nk"))
        async with NatsConnection(settings, "host", inbox="host-h1") as connection:
            await connection.ready()
            await connection.find_stream(streams.events(connection.names))
            await connection.read_consumer("ACUD_WAKES", "seen-h1", "host h1")
            with pytest.raises(Unavailable):
                await connection.read_consumer("ACUD_WAKES", "wakes-main", "agent main")
            checking = _with(settings, folder / "host-h1.nk", admin_key=admin_key)
            async with NatsConnection(checking, "other", inbox="host-h1") as other:
                await other.ready()
                signature = connection.signatures.header(Signed.EVENT, "acud.event.h1.x", b"")
                await other.signatures.check(Signed.EVENT, "acud.event.h1.x", b"", signature, Identity("host", "h1"))
            fleet("grant", "host", "h1", "--rotate")
            (fresh,) = folder.glob("host-h1-*.nk")
            _restart(nats, folder)
            async with NatsConnection(_with(settings, fresh), "host", inbox="host-h1") as other:
                await other.ready()
                await other.find_stream(streams.events(other.names))
                fleet("revoke", "host", "h1", "--old-keys")
                _restart(nats, folder)
                async with asyncio.timeout(60):
                    while "does not let these credentials in" not in connection.fault:  # noqa: ASYNC110 - the server's doing
                        await asyncio.sleep(0.05)
                await other.find_stream(streams.events(other.names))
                fresh.replace(folder / "host-h1.nk")  # whoever has its new seed gets in again by itself
                _restart(nats, folder)
                async with asyncio.timeout(60):
                    while not connection.connected:  # noqa: ASYNC110 - the server's doing
                        await asyncio.sleep(0.05)
                assert (
                    connection.signatures.header(Signed.EVENT, "x", b"")[SIGNATURE].split(" ")[0]
                    not in signature[SIGNATURE]
                )
    assert fleet("grants").splitlines()[0].startswith("admin admin: U")


def _with(settings: FleetSettings, seed: Path, admin_key: str = "") -> FleetSettings:
    return FleetSettings(url=settings.url, nkey_seed_file=str(seed), admin_key=admin_key)


def _include(folder: Path) -> str:
    return (folder / "permissions.conf").read_text(encoding="utf-8")


def _restart(nats: Nats, folder: Path) -> None:
    """Start the server again with what the folder says now."""
    (server,) = nats.servers
    server.kill()
    server.extra = _include(folder)
    server.start()
