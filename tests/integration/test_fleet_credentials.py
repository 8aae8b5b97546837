"""Who is let into a fleet, and whom its members talk to: real servers with their own certificates and keys."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from acud.base.errors import ConfigError, Unavailable
from acud.config import JobSettings
from acud.config.fleet import FleetSettings
from acud.features.fleet.connection import NatsConnection
from acud.features.fleet.server_policy import rejection
from acud_fleet import initialisation
from acud_fleet.initialisation import FleetRoles
from acud_fleet.streams import PLACES_KEPT_S, Bucket
from tests.fixtures import nkey_files
from tests.fixtures.certificates import Authority, Pair
from tests.fixtures.nats_servers import Nats
from tests.fixtures.patience import LONG_S

pytestmark = pytest.mark.asyncio


@asynccontextmanager
async def _joined(url: str, **given: Any):  # type: ignore[no-untyped-def]
    async with NatsConnection(
        FleetSettings(url=url, **{name: str(value) for name, value in given.items()}), "t"
    ) as made:
        await asyncio.wait_for(made.ready(), LONG_S)
        yield made


async def _works(url: str, **given: Any) -> None:
    async with _joined(url, **given) as connection:
        await initialisation.check_parts(connection.settings, JobSettings(), FleetRoles(), change=True)
        bucket = Bucket(connection, "places", ttl_s=PLACES_KEPT_S)
        await bucket.put("a", b"1")
        found = await bucket.get("a")
        assert found is not None
        assert found.value == b"1"


async def _refused(url: str, words: str, **given: Any) -> None:
    """See that it is not let in, and that the fault says why and holds no seed."""
    settings = FleetSettings(url=url, **{name: str(value) for name, value in given.items()})
    news: list[bool] = []
    async with NatsConnection(settings, "t", lambda connected, text: news.append(connected)) as connection:
        try:
            async with asyncio.timeout(LONG_S):
                while words not in connection.fault:  # noqa: ASYNC110 - the server's doing
                    await asyncio.sleep(0.02)
        except TimeoutError:
            raise AssertionError(f"{words!r} is not what was said: {connection.fault}") from None
        assert not connection.connected
        with pytest.raises(Unavailable, match="no NATS server of the fleet answers"):
            await Bucket(connection, "places", ttl_s=PLACES_KEPT_S).get("a")
    assert True not in news


async def _unusable(words: str, **given: Any) -> None:
    settings = FleetSettings(url="tls://127.0.0.1:1", **{name: str(value) for name, value in given.items()})
    async with NatsConnection(settings, "t") as connection:
        with pytest.raises(ConfigError, match=words) as caught:
            await asyncio.wait_for(connection.ready(), LONG_S)
        assert "[fleet]" in caught.value.hint or "key without" in caught.value.hint
        assert "SU" not in str(caught.value)


def _tls(pair: Pair, ca: Path | None = None) -> str:
    verify = f'ca_file: "{ca}", verify: true' if ca else ""
    return f'tls {{ cert_file: "{pair.cert}", key_file: "{pair.key}", {verify} }}\n'


def _secure(nats: Nats) -> str:
    return nats.url.replace("nats://", "tls://")


# ---- the server's certificate ---------------------------------------------------------------------------------------


async def test_a_server_is_known_by_the_authority_that_is_named(tmp_path: Path) -> None:
    ours, theirs = Authority(tmp_path, "ours"), Authority(tmp_path, "theirs")
    with Nats(extra=_tls(ours.certify("server", "127.0.0.1"))) as nats:
        await _works(_secure(nats), tls_ca=ours.ca)
        await _works(nats.url, tls_ca=ours.ca)
        await _refused(_secure(nats), "certificate is not accepted: unable to get local issuer", tls_ca=theirs.ca)
        await _refused(_secure(nats), "certificate is not accepted")  # nor do those that the system trusts know it
        await _refused(nats.url, "certificate is not accepted")


async def test_an_expired_certificate_and_one_of_another_name_are_not_accepted(tmp_path: Path) -> None:
    ours = Authority(tmp_path)
    with Nats(extra=_tls(ours.certify("old", "127.0.0.1", expired=True))) as nats:
        await _refused(_secure(nats), "certificate is not accepted: certificate has expired", tls_ca=ours.ca)
    with Nats(extra=_tls(ours.certify("other", "nats-1.example"))) as nats:
        await _refused(_secure(nats), "IP address mismatch", tls_ca=ours.ca)
        named = _secure(nats).replace("127.0.0.1", "localhost")
        await _refused(named, "Hostname mismatch", tls_ca=ours.ca)


@pytest.mark.parametrize("how", ["tls_ca", "scheme"])
async def test_a_server_that_offers_no_tls_is_told_nothing(tmp_path: Path, how: str) -> None:
    """Whoever stands in the way can leave TLS out of a server's words: the client would then speak in the clear."""
    known = nkey_files.user(tmp_path / "seed")
    ca = Authority(tmp_path).ca
    with Nats(extra=f"authorization {{ users = [ {{ nkey: {known} }} ] }}\ndebug: true\ntrace: true\n") as nats:
        given: dict[str, Any] = {"nkey_seed_file": tmp_path / "seed"}
        if how == "tls_ca":
            await _refused(nats.url, "offers no TLS", tls_ca=ca, **given)
        else:
            await _refused(_secure(nats), "offers no TLS", **given)
        log = nats.servers[0].log()
    assert "<<- [INFO" not in log
    assert "<<- [CONNECT" not in log
    assert known not in log


# ---- this side's certificate ----------------------------------------------------------------------------------------


async def test_a_certificate_of_ones_own_lets_one_in(tmp_path: Path) -> None:
    ours, theirs = Authority(tmp_path, "ours"), Authority(tmp_path, "theirs")
    own, strange = ours.certify("host"), theirs.certify("stranger")
    old = ours.certify("old", expired=True)
    with Nats(extra=_tls(ours.certify("server", "127.0.0.1"), ours.ca)) as nats:
        await _works(_secure(nats), tls_ca=ours.ca, tls_cert=own.cert, tls_key=own.key)
        for pair in (strange, old):
            await _refused(
                _secure(nats),
                "does not accept this side's certificate",
                tls_ca=ours.ca,
                tls_cert=pair.cert,
                tls_key=pair.key,
            )
        await _refused(_secure(nats), "does not accept this side's certificate", tls_ca=ours.ca)


# ---- nkeys and credentials files ------------------------------------------------------------------------------------


async def test_an_nkey_goes_over_tls(tmp_path: Path) -> None:
    ours = Authority(tmp_path)
    known, stranger = nkey_files.user(tmp_path / "known"), nkey_files.user(tmp_path / "stranger")
    assert known != stranger
    extra = _tls(ours.certify("server", "127.0.0.1")) + f"authorization {{ users = [ {{ nkey: {known} }} ] }}\n"
    with Nats(extra=extra) as nats:
        await _works(_secure(nats), tls_ca=ours.ca, nkey_seed_file=tmp_path / "known")
        await _refused(_secure(nats), "does not let these credentials in", tls_ca=ours.ca)
        await _refused(
            _secure(nats), "does not let these credentials in", tls_ca=ours.ca, nkey_seed_file=tmp_path / "stranger"
        )


async def test_nothing_is_said_of_an_end_of_tls(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """What asyncio says without being asked is on the standard error of whoever runs a command."""
    ours = Authority(tmp_path)
    with Nats(extra=_tls(ours.certify("server", "127.0.0.1"))) as nats:
        await _works(_secure(nats), tls_ca=ours.ca)
        await asyncio.sleep(0)
    assert [one.message for one in caplog.records if one.name == "asyncio"] == []


async def test_a_credentials_file_of_the_operators_account_lets_one_in(tmp_path: Path) -> None:
    ours, theirs = nkey_files.Operator(), nkey_files.Operator()
    ours.credentials(tmp_path / "good.creds")
    ours.credentials(tmp_path / "old.creds", lasts_s=-60)
    theirs.credentials(tmp_path / "strange.creds")
    with Nats(extra=ours.config) as nats:
        await _works(nats.url, credentials_file=tmp_path / "good.creds")
        for name in ("old", "strange"):
            await _refused(nats.url, "does not let these credentials in", credentials_file=tmp_path / f"{name}.creds")


async def test_what_a_user_may_not_do_is_named(tmp_path: Path) -> None:
    known = nkey_files.user(tmp_path / "seed")
    rights = 'permissions { publish { deny: ["acud.job.*"] } }'
    with Nats(extra=f"authorization {{ users = [ {{ nkey: {known}, {rights} }} ] }}\n") as nats:
        async with _joined(nats.url, nkey_seed_file=tmp_path / "seed") as connection:
            denied = r"a job: .*the servers said: .*publish to \"acud.job.x\""
            with pytest.raises(Unavailable, match=denied), connection.translate_faults("a job"):
                await _denied(connection)
            await connection.nats.flush(int(LONG_S))
            with pytest.raises(Unavailable, match="a job: ") as caught, connection.translate_faults("a job"):
                await connection.streams.publish("acud.nowhere", b"", timeout=1.0)
            assert "the servers said" not in caught.value.message


async def _denied(connection: NatsConnection) -> None:
    """Publish what this user may not, and do not wait for an answer before the server's refusal has come."""
    await connection.nats.publish("acud.job.x", b"")
    await connection.nats.flush(int(LONG_S))  # its answer comes behind the refusal
    await connection.streams.publish("acud.job.x", b"", timeout=1.0)


# ---- files ----------------------------------------------------------------------------------------------------------


async def test_files_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    ours = Authority(tmp_path)
    own, locked = ours.certify("host"), ours.certify("locked", passphrase=b"opens")
    nkey_files.user(tmp_path / "seed")
    nkey_files.Operator().credentials(tmp_path / "user.creds")
    for name in ("nkey_seed_file", "credentials_file", "tls_ca"):
        await _unusable(f"cannot read {tmp_path}/none: No such file", **{name: tmp_path / "none"})
    await _unusable(f"cannot read {tmp_path}/none", tls_cert=tmp_path / "none", tls_key=own.key)
    await _unusable(f"cannot read {tmp_path}/none", tls_cert=own.cert, tls_key=tmp_path / "none")
    await _unusable("has a passphrase", tls_cert=locked.cert, tls_key=locked.key)
    await _unusable("no certificate with its key", tls_cert=own.cert, tls_key=locked.cert.with_name("seed"))
    await _unusable("no certificate with its key: key values mismatch", tls_cert=ours.ca, tls_key=own.key)
    await _unusable("holds no certificate", tls_ca=own.key)
    await _unusable("holds no nkey seed", nkey_seed_file=own.key)
    await _unusable("holds no JWT with its seed", credentials_file=tmp_path / "seed")
    whole = (tmp_path / "user.creds").read_text()
    (tmp_path / "user.creds").write_text(whole.replace("\nSU", "\nXX"))
    await _unusable("holds no nkey seed", credentials_file=tmp_path / "user.creds")


@pytest.mark.parametrize("mode", [0o640, 0o604])
async def test_secrets_that_others_can_read_are_refused(tmp_path: Path, mode: int) -> None:
    own = Authority(tmp_path).certify("host")
    nkey_files.user(tmp_path / "seed")
    nkey_files.Operator().credentials(tmp_path / "user.creds")
    for file in (own.key, tmp_path / "seed", tmp_path / "user.creds"):
        file.chmod(mode)
    await _unusable("host.key is open to others", tls_cert=own.cert, tls_key=own.key)
    await _unusable("seed is open to others", nkey_seed_file=tmp_path / "seed")
    await _unusable("user.creds is open to others", credentials_file=tmp_path / "user.creds")


# ---- beyond loopback ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("given", "host", "info", "words"), [
    ({}, "10.0.0.2", {"auth_required": True}, "nobody joins a fleet unknown"),  # told of by a server of loopback
    ({"nkey_seed_file": "s"}, "10.0.0.2", {}, "lets in whoever comes"),
    ({"nkey_seed_file": "s"}, "nats-1", {"tls_required": True}, "lets in whoever comes"),
    ({"nkey_seed_file": "s"}, "10.0.0.2", {"auth_required": True}, ""),
    ({"tls_cert": "c", "tls_key": "k"}, "10.0.0.2", {"auth_required": True}, "offers no TLS"),
    ({"tls_cert": "c", "tls_key": "k"}, "10.0.0.2", {"tls_required": True, "tls_verify": True}, ""),
    ({}, "127.0.0.2", {}, ""),
])  # fmt: skip
async def test_nobody_is_unknown_beyond_loopback(
    given: dict[str, str], host: str, info: dict[str, bool], words: str
) -> None:
    told = rejection(FleetSettings(url="nats://127.0.0.1", **given), "nats", host, info)  # type: ignore[arg-type]
    assert words in told
    assert bool(told) == bool(words)
