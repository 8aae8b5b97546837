"""What a signature of a fleet's member holds for, whose list of keys counts, and what is sent twice."""

import os
import time
from collections.abc import Callable
from typing import Any

import msgspec
import nkeys
import pytest
from msgspec.structs import replace

from acud.base.errors import AcudError, InvalidRequest, Unavailable
from acud.config.fleet import FleetSettings
from acud.features.fleet import signatures as signing
from acud.features.fleet.signatures import SIGNATURE, Identity, KeyList, MemberKeys, Signatures, Signed, Signer

SUBJECT, BODY = "acud.wake.main.h1", b"it is done"
HOST, ENDPOINT = Identity("host", "h1"), Identity("endpoint")


def seed() -> bytes:
    return bytes(nkeys.encode_seed(os.urandom(32), nkeys.PREFIX_BYTE_USER))


ADMIN = Signer(seed())


class Member:
    """One that checks, and the list of keys that it reads."""

    def __init__(self, *granted: MemberKeys, admin_key: str = ADMIN.key) -> None:
        self.warnings: dict[str, str] = {}
        self.entry: bytes | AcudError = b""
        self.list(*granted)
        settings = FleetSettings(url="nats://127.0.0.1", nkey_seed_file="x", admin_key=admin_key)
        self.signatures = Signatures(settings, self._read, lambda about, text, fix: self.warnings.update({about: text}))

    def list(self, *granted: MemberKeys, admin: Signer = ADMIN) -> None:
        self.entry = signing.sign_keys(admin, "acud", msgspec.json.encode(KeyList("acud", granted)))

    async def _read(self) -> bytes:
        if isinstance(self.entry, AcudError):
            raise self.entry
        return self.entry

    async def takes(self, kind: Signed, value: str, sender: Identity = HOST, subject: str = SUBJECT) -> None:
        await self.signatures.check(kind, subject, BODY, {SIGNATURE: value}, sender)


@pytest.fixture
def host() -> Signer:
    return Signer(seed())


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    clock = {"monotonic": time.monotonic(), "time": time.time()}

    def pass_s(seconds: float) -> None:
        for name in clock:
            clock[name] += seconds

    class Clock:
        monotonic = staticmethod(lambda: clock["monotonic"])
        time = staticmethod(lambda: clock["time"])

    monkeypatch.setattr(signing, "time", Clock)
    return pass_s


def test_a_signature_holds_for_just_what_was_signed(host: Signer) -> None:
    value = host.sign(Signed.WAKE, SUBJECT, BODY, "wake-1")
    stamp = signing.read_stamp(value)
    assert stamp.text() == value
    assert len(value) == 106  # kept with every event and entry of a week
    assert host.key.startswith(stamp.key_start())
    assert abs(stamp.utc_us / 1e6 - time.time()) < 60
    signing.check_stamp(stamp, host.key, Signed.WAKE, SUBJECT, BODY, "wake-1")
    altered: list[tuple[Any, ...]] = [
        (stamp, host.key, Signed.SEEN, SUBJECT, BODY, "wake-1"),
        (stamp, host.key, Signed.ENTRY, SUBJECT, BODY, "wake-1"),
        (stamp, host.key, Signed.WAKE, "acud.wake.main.h2", BODY, "wake-1"),
        (stamp, host.key, Signed.WAKE, SUBJECT, BODY + b".", "wake-1"),
        (stamp, host.key, Signed.WAKE, SUBJECT, BODY, "wake-2"),
        (stamp, host.key, Signed.WAKE, SUBJECT + "wake", BODY, "-1"),
        (stamp, Signer(seed()).key, Signed.WAKE, SUBJECT, BODY, "wake-1"),
        (replace(stamp, utc_us=stamp.utc_us + 1), host.key, Signed.WAKE, SUBJECT, BODY, "wake-1"),
        (replace(stamp, signature=bytes(64)), host.key, Signed.WAKE, SUBJECT, BODY, "wake-1"),
    ]
    for words in altered:
        with pytest.raises(InvalidRequest, match="is false"):
            signing.check_stamp(*words)


def test_an_entry_that_is_read_again_is_not_checked_again_and_another_is(
    host: Signer, monkeypatch: pytest.MonkeyPatch
) -> None:
    stamp = signing.read_stamp(host.sign(Signed.ENTRY, SUBJECT, BODY))
    signing.check_stamp(stamp, host.key, Signed.ENTRY, SUBJECT, BODY)
    monkeypatch.setattr(signing, "_verify_key", None)
    signing.check_stamp(stamp, host.key, Signed.ENTRY, SUBJECT, BODY)
    with pytest.raises(TypeError):
        signing.check_stamp(stamp, host.key, Signed.ENTRY, SUBJECT, BODY + b".")


@pytest.mark.parametrize("value", [
    "", " ", "a b c", "A" * 105, "A" * 107, "A" * 108, "ü" * 106, "\x00" * 106, "A" * 104 + "==",
    "A" * 53 + " " + "A" * 52,
])  # fmt: skip
def test_nonsense_is_no_signature(value: str) -> None:
    with pytest.raises(InvalidRequest):
        signing.read_stamp(value)
    signing.read_stamp("A" * 106)


@pytest.mark.asyncio
async def test_only_who_is_granted_the_role_may_have_signed(host: Signer) -> None:
    other = Signer(seed())
    member = Member(MemberKeys("host", "h1", (host.key,)), MemberKeys("worker", "h1", (other.key,)))
    await member.takes(Signed.WAKE, host.sign(Signed.WAKE, SUBJECT, BODY))
    with pytest.raises(InvalidRequest, match="signed by worker h1, not by host h1"):
        await member.takes(Signed.WAKE, other.sign(Signed.WAKE, SUBJECT, BODY))
    with pytest.raises(InvalidRequest, match="signed by host h1, not by host h2"):
        await member.takes(Signed.WAKE, host.sign(Signed.WAKE, SUBJECT, BODY), Identity("host", "h2"))
    with pytest.raises(InvalidRequest, match="signed by host h1, not by an endpoint"):
        await member.takes(Signed.WAKE, host.sign(Signed.WAKE, SUBJECT, BODY), ENDPOINT)
    for value in ("", Signer(seed()).sign(Signed.WAKE, SUBJECT, BODY)):
        with pytest.raises(Unavailable) as caught:
            await member.takes(Signed.WAKE, value)
        assert caught.value.facts["reason"] == "unproven"
    assert member.warnings["signatures"].startswith("refused: the wake")


@pytest.mark.asyncio
async def test_without_an_administrators_key_nothing_is_checked() -> None:
    member = Member(admin_key="")
    member.entry = Unavailable("not asked")
    assert not member.signatures.checks
    await member.takes(Signed.WAKE, "")
    assert member.signatures.header(Signed.WAKE, SUBJECT, BODY) == {}


@pytest.mark.asyncio
async def test_a_request_is_taken_once_and_soon(host: Signer, later: Callable[[float], None]) -> None:
    member = Member(MemberKeys("endpoint", "endpoint", (host.key,)))
    value, waiting = (host.sign(Signed.REQUEST, SUBJECT, BODY) for _ in range(2))
    await member.takes(Signed.REQUEST, value, ENDPOINT)
    with pytest.raises(InvalidRequest, match="a second time"):
        await member.takes(Signed.REQUEST, value, ENDPOINT)
    later(61.0)
    for late in (value, waiting):
        with pytest.raises(InvalidRequest, match="sent again, or a clock is wrong"):
            await member.takes(Signed.REQUEST, late, ENDPOINT)
    await member.takes(Signed.REQUEST, host.sign(Signed.REQUEST, SUBJECT, BODY), ENDPOINT)
    later(1000.0)
    await member.takes(Signed.REQUEST, host.sign(Signed.REQUEST, SUBJECT, BODY), ENDPOINT)


@pytest.mark.asyncio
async def test_keys_are_granted_and_revoked_while_it_runs(host: Signer, later: Callable[[float], None]) -> None:
    new = Signer(seed())
    member = Member(MemberKeys("host", "h1", (host.key,)))
    await member.takes(Signed.WAKE, host.sign(Signed.WAKE, SUBJECT, BODY))
    later(1.1)
    member.list(MemberKeys("host", "h1", (new.key, host.key)))
    for one in (new, host):
        await member.takes(Signed.WAKE, one.sign(Signed.WAKE, SUBJECT, BODY))
    member.list(MemberKeys("host", "h1", (new.key,)))
    later(10.1)
    await member.takes(Signed.WAKE, new.sign(Signed.WAKE, SUBJECT, BODY))
    with pytest.raises(Unavailable, match="nobody is granted"):
        await member.takes(Signed.WAKE, host.sign(Signed.WAKE, SUBJECT, BODY))


@pytest.mark.asyncio
async def test_only_the_newest_list_of_the_administrator_counts(host: Signer, later: Callable[[float], None]) -> None:
    thief = Signer(seed())
    member = Member()
    old = member.entry
    later(1.0)
    member.list(MemberKeys("host", "h1", (host.key,)))
    await member.takes(Signed.WAKE, host.sign(Signed.WAKE, SUBJECT, BODY))
    forged = Signer(seed())
    member.list(MemberKeys("host", "h1", (thief.key,)), admin=forged)
    bad = [member.entry, old, b"", b"\x93", Unavailable("the servers have no list of keys")]
    for entry in bad:
        member.entry = entry
        later(10.1)
        await member.takes(Signed.WAKE, host.sign(Signed.WAKE, SUBJECT, BODY))  # by the list of before
        assert member.warnings["keys"]
        with pytest.raises(Unavailable):
            await member.takes(Signed.WAKE, thief.sign(Signed.WAKE, SUBJECT, BODY))
    later(601.0)
    with pytest.raises(Unavailable) as caught:
        await member.takes(Signed.WAKE, host.sign(Signed.WAKE, SUBJECT, BODY))
    assert caught.value.facts["reason"] == "keys_unread"
    member.list(MemberKeys("host", "h1", (host.key,)))
    await member.takes(Signed.WAKE, host.sign(Signed.WAKE, SUBJECT, BODY))
    assert member.warnings["keys"] == ""


@pytest.mark.asyncio
async def test_what_was_refused_is_told_for_ten_minutes(host: Signer, later: Callable[[float], None]) -> None:
    member = Member(MemberKeys("host", "h1", (host.key,)))
    with pytest.raises(Unavailable):
        await member.takes(Signed.WAKE, "")
    await member.takes(Signed.WAKE, host.sign(Signed.WAKE, SUBJECT, BODY))
    assert "carries no signature" in member.warnings["signatures"]
    later(601.0)
    await member.takes(Signed.WAKE, host.sign(Signed.WAKE, SUBJECT, BODY))
    assert member.warnings["signatures"] == ""


def test_the_list_of_one_fleet_is_not_anothers(host: Signer) -> None:
    entry = signing.sign_keys(ADMIN, "acud", msgspec.json.encode(KeyList("acud")))
    with pytest.raises(InvalidRequest):
        signing.read_keys(entry, "other", (ADMIN.key,))
