"""An administrator's way with `acud fleet grant` and `acud fleet init`, on a real server that is restarted."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from acud.errors import Unavailable
from acud.features.fleet.connection import NatsConnection
from acud.fleet import FleetSettings
from acud_fleet import streams
from tests.e2e.cli_support import CommandLine
from tests.nats_servers import Nats

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
        assert "seen-h1" not in fleet("init", "--check")
        before = json.loads(fleet("grant", "host", "h1", "--json"))
        assert "host-h1.nk" in before["done"]
        _restart(nats, folder)
        assert "seen-h1: made" in fleet("init")
        settings = FleetSettings(url=nats.url, nkey_seed_file=str(folder / "host-h1.nk"))
        async with NatsConnection(settings, "host", inbox="host-h1") as connection:
            await connection.ready()
            await connection.find(streams.events(connection.names))
            await connection.consumer("ACUD_WAKES", "seen-h1", "host h1")
            with pytest.raises(Unavailable):
                await connection.consumer("ACUD_WAKES", "wakes-main", "agent main")
            fleet("grant", "host", "h1", "--rotate")
            (fresh,) = folder.glob("host-h1-*.nk")
            _restart(nats, folder)
            async with NatsConnection(_with(settings, fresh), "host", inbox="host-h1") as other:
                await other.ready()
                await other.find(streams.events(other.names))
                fleet("revoke", "host", "h1", "--old-keys")
                _restart(nats, folder)
                async with asyncio.timeout(30):
                    while "does not let these credentials in" not in connection.fault:  # noqa: ASYNC110 - the server's doing
                        await asyncio.sleep(0.05)
                await other.find(streams.events(other.names))
    assert fleet("grants").splitlines()[0].startswith("admin admin: U")


def _with(settings: FleetSettings, seed: Path) -> FleetSettings:
    return FleetSettings(url=settings.url, nkey_seed_file=str(seed))


def _include(folder: Path) -> str:
    return (folder / "permissions.conf").read_text(encoding="utf-8")


def _restart(nats: Nats, folder: Path) -> None:
    """Start the server again with what the folder says now."""
    (server,) = nats.servers
    server.kill()
    server.extra = _include(folder)
    server.start()
