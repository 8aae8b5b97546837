"""Signatures on messages between members of a fleet, made with their nkeys and checked by the receiver.

The servers let no member send in another's name, but their operators can. A signature covers the sender of a message,
its time, its subject, and every byte of it. The owner of a key is in the list of keys, which the administrator signs
and puts into a bucket: `[fleet] admin_key` is all that a member has to trust. Without it nothing is checked.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from enum import StrEnum
from functools import lru_cache

import msgspec
import nacl.exceptions
import nacl.signing
import nkeys
from msgspec import Struct

from acud.base import log
from acud.base.errors import AcudError, InvalidRequest, Unavailable
from acud.base.typed_values import decode_json
from acud.config.fleet import FleetSettings
from acud.features.fleet.names import key_of
from acud.protocol import codec

SIGNATURE = "Acud-Signature"
"""Header of a signed message, base64 of 79 bytes: a part of the public key, the time, and the Ed25519 signature. It is
kept with every entry and event of a week, so it leaves out what its reader knows (the key, the subject).
"""
_LOG = log.logger("fleet")
_TAG = "acud-fleet-1"
FRESH_S = 60.0
"""How far the clocks of a sender and a receiver may differ, and how old a request may be."""
_KEY_BYTES = 8
_TIME_BYTES = 7
_REPEATED = 8192
"""Checks that are remembered: of entries, which are read again and again (4 MB at most)."""
_AGAIN_S = 1.0
"""A key that is not in the list may have been granted since: the list is read again, but no more often than this."""
_STALE_S = 600.0
"""A list of keys that could not be read again for so long may hold keys that were revoked: it counts no more."""
_SHOWN_S = 600.0
"""How long a refused message is reported."""
_MEND = "acud fleet grants; [fleet] admin_key and nkey_seed_file on both sides, then acud fleet init: docs/scaling.md"


class Signed(StrEnum):
    """The kind of a signed message. One is never taken for another."""

    REQUEST = "request"
    REPLY = "reply"
    EVENT = "event"
    TOLD = "told"
    WAKE = "wake"
    SEEN = "seen"
    JOB = "job"
    ANSWER = "answer"
    OPEN = "open"
    ENTRY = "entry"
    KEYS = "keys"


_FRESH = (Signed.REQUEST, Signed.TOLD)
"""The kinds that nothing else protects from being sent again: neither a remembered id nor a question that they
answer.
"""


class Identity(Struct, frozen=True):
    """A member, or a pattern for members: a role, and its name as in a subject ("": any name)."""

    role: str
    name: str = ""

    def __str__(self) -> str:
        return f"{self.role} {self.name}" if self.name else f"an {self.role}"


class Stamp(Struct, frozen=True):
    """The content of a header: the part of the public key by which it is found, the signing time, and the signature."""

    key_id: bytes
    utc_us: int
    signature: bytes

    def text(self) -> str:
        """Return the header's value."""
        parts = self.key_id, self.utc_us.to_bytes(_TIME_BYTES), self.signature
        return base64.urlsafe_b64encode(b"".join(parts)).decode().rstrip("=")

    def key_start(self) -> str:
        """Return the beginning of the key, as people read it."""
        return base64.b32encode(bytes([nkeys.PREFIX_BYTE_USER]) + self.key_id)[:9].decode()


class MemberKeys(Struct, frozen=True):
    """The public keys of a member: a part of a grant."""

    role: str
    name: str
    keys: tuple[str, ...] = ()


class KeyList(Struct, frozen=True):
    """All members' public keys: a part of the administrator's grants."""

    prefix: str
    grants: tuple[MemberKeys, ...] = ()

    def owners(self) -> dict[str, Identity]:
        return {key: Identity(one.role, key_of(one.name)) for one in self.grants for key in one.keys}


class SignedKeys(Struct, frozen=True):
    """An entry of the bucket of keys: a `KeyList` as JSON, and the administrator's signature."""

    grants: bytes
    signature: str


class Signer:
    """Signs with an nkey seed."""

    def __init__(self, seed: bytes) -> None:
        self._pair = nkeys.from_seed(bytearray(seed))
        self.key: str = self._pair.public_key.decode()

    def sign(self, kind: Signed, subject: str, body: bytes, about: str = "") -> str:
        """Return the header's value for `body` on `subject`. `about`: the id of the message, or of the answered one."""
        utc_us = int(time.time() * 1e6)
        signature = self._pair.sign(_join_signed(kind, subject, body, about, self.key, utc_us))
        return Stamp(key_id(self.key), utc_us, bytes(signature)).text()


def key_id(key: str) -> bytes:
    """Return the part of a public key that finds it. Raises: ValueError for text that is no key."""
    return bytes(_verify_key(key))[:_KEY_BYTES]


def read_stamp(value: str) -> Stamp:
    """Return the content of a header's value. Raises: InvalidRequest for any other text."""
    try:
        raw = base64.b64decode(value + "=" * (-len(value) % 4), altchars=b"-_", validate=True)
    except ValueError as fault:
        raise InvalidRequest("that is no signature") from fault
    if len(raw) != _KEY_BYTES + _TIME_BYTES + 64:
        raise InvalidRequest("that is no signature")
    time_at, signature_at = _KEY_BYTES, _KEY_BYTES + _TIME_BYTES
    return Stamp(raw[:time_at], int.from_bytes(raw[time_at:signature_at]), raw[signature_at:])


def check_stamp(stamp: Stamp, key: str, kind: Signed, subject: str, body: bytes, about: str = "") -> None:
    """Raises: InvalidRequest when `stamp` is not a signature of just this by `key`."""
    holds = _holds_again if kind is Signed.ENTRY else _is_valid
    if not holds(key, _join_signed(kind, subject, body, about, key, stamp.utc_us), stamp.signature):
        raise InvalidRequest(f"the signature of the {kind} on {subject} is false")


def _join_signed(kind: Signed, subject: str, body: bytes, about: str, key: str, utc_us: int) -> bytes:
    return msgspec.msgpack.encode((_TAG, kind, subject, about, key, utc_us, hashlib.sha256(body).digest()))


def _is_valid(key: str, words: bytes, signature: bytes) -> bool:
    try:
        _verify_key(key).verify(words, signature)
    except nacl.exceptions.CryptoError:
        return False
    return True


_holds_again = lru_cache(_REPEATED)(_is_valid)


@lru_cache(1024)
def _verify_key(key: str) -> nacl.signing.VerifyKey:
    raw = base64.b32decode(key + "=" * (-len(key) % 8))  # prefix, key, CRC-16: nats-io/nkeys
    if len(raw) != 35 or raw[0] != nkeys.PREFIX_BYTE_USER or key != key.upper():
        raise ValueError("no public key of a user")
    return nacl.signing.VerifyKey(raw[1:33])


def sign_keys(signer: Signer, prefix: str, grants: bytes) -> bytes:
    """Return the entry for the bucket of keys, signed. `grants`: a `KeyList` as JSON."""
    return codec.encode(SignedKeys(grants, signer.sign(Signed.KEYS, prefix, grants)))


def read_keys(data: bytes, prefix: str, admin_keys: tuple[str, ...]) -> tuple[KeyList, Stamp]:
    """Return the list in an entry of the bucket. Raises: InvalidRequest for one that no administrator signed."""
    entry = codec.decode(data, SignedKeys)
    stamp = read_stamp(entry.signature)
    key = next((one for one in admin_keys if key_id(one) == stamp.key_id), "")
    if not key:
        raise InvalidRequest(f"the list of keys is signed by {stamp.key_start()}…, not by [fleet] admin_key")
    check_stamp(stamp, key, Signed.KEYS, prefix, entry.grants)
    try:
        found = decode_json(entry.grants, KeyList)
        for one in found.owners():
            key_id(one)
    except (msgspec.DecodeError, ValueError) as fault:
        raise InvalidRequest(f"the list of keys can't be read: {fault}") from fault
    return found, stamp


class Signatures:
    """Signs and checks for one member. `read` returns the entry of the bucket of keys, and raises Unavailable;
    `warn(about, text, fix)` reports a fault, and without a text its end.
    """

    def __init__(
        self, settings: FleetSettings, read: Callable[[], Awaitable[bytes]], warn: Callable[[str, str, str], None]
    ) -> None:
        self._settings = settings
        self._read = read
        self._warn = warn
        self._signer: Signer | None = None
        self._owners: dict[bytes, tuple[str, Identity]] = {}
        """Each granted key and its owner; by the key's part in a header."""
        self._revoked = asyncio.Event()
        self._listed_us = 0
        """When the administrator signed the list in use: an older one is a list that was put back."""
        self._read_s = self._tried_s = float("-inf")
        self._reading = asyncio.Lock()
        self._taken: OrderedDict[bytes, float] = OrderedDict()
        """Signatures of messages that are taken once, each with the time from which it is too old anyway."""
        self._logged: OrderedDict[str, float] = OrderedDict()
        self._refused_s = float("-inf")

    @property
    def checks(self) -> bool:
        """Whether what comes is checked."""
        return bool(self._settings.admin_keys)

    def use(self, seed: bytes | None) -> None:
        """Sign with `seed` from now on; with None sign nothing."""
        self._signer = None if seed is None else Signer(seed)

    def header(self, kind: Signed, subject: str, body: bytes, about: str = "") -> dict[str, str]:
        """Return the header that signs a message; nothing where this side has no nkey."""
        return {} if self._signer is None else {SIGNATURE: self._signer.sign(kind, subject, body, about)}

    async def check(
        self,
        kind: Signed,
        subject: str,
        body: bytes,
        headers: Mapping[str, str] | None,
        sender: Identity,
        about: str = "",
        also: Identity | None = None,
    ) -> None:
        """Return when `sender`, or `also` another one, signed the message. Refusals are logged, and reported for ten
        minutes.

        Raises: InvalidRequest for a message that another sender made or altered, or that came before; Unavailable for
        one that may be true: its `reason` is `unproven` when it is not signed or by a key that is in no list, and
        `keys_unread` when there is no list.
        """
        if not self.checks:
            return
        try:
            value = (headers or {}).get(SIGNATURE, "")
            await self._verify(kind, subject, body, value, (sender,) if also is None else (sender, also), about)
        except AcudError as fault:
            self._log_unproven(kind, subject, fault)
            self._refused_s = time.monotonic()
            self._warn("signatures", f"refused: {fault.message}", _MEND)
            raise
        if self._refused_s > float("-inf") and time.monotonic() - self._refused_s > _SHOWN_S:
            self._refused_s = float("-inf")
            self._warn("signatures", "", "")

    def _log_unproven(self, kind: Signed, subject: str, fault: AcudError) -> None:
        now_s = time.monotonic()
        if kind is Signed.ENTRY:  # it is read again and again
            if now_s - self._logged.get(fault.message, float("-inf")) < _SHOWN_S:
                return
            self._logged[fault.message] = now_s
            if len(self._logged) > _REPEATED:
                self._logged.popitem(last=False)
        _LOG.warning("fleet.unproven", kind=kind, subject=subject, fault=fault.message)

    async def _verify(
        self, kind: Signed, subject: str, body: bytes, value: str, senders: tuple[Identity, ...], about: str
    ) -> None:
        if not value:
            raise _build_unproven(f"the {kind} on {subject} carries no signature")
        stamp = read_stamp(value)
        owner = await self._find_owner(stamp.key_id)
        if owner is None:
            raise _build_unproven(f"the {kind} on {subject} is signed by {stamp.key_start()}…, which nobody is granted")
        key, identity = owner
        check_stamp(stamp, key, kind, subject, body, about)
        if not any(identity.role == one.role and one.name in ("", identity.name) for one in senders):
            allowed = " or ".join(map(str, senders))
            raise InvalidRequest(f"the {kind} on {subject} is signed by {identity}, not by {allowed}")
        if kind in _FRESH:
            self._check_new(kind, stamp)

    def _check_new(self, kind: Signed, stamp: Stamp) -> None:
        late_s = abs(time.time() - stamp.utc_us / 1e6)
        if late_s > FRESH_S:
            raise InvalidRequest(f"the {kind} was signed {late_s:.0f} s from now: sent again, or a clock is wrong")
        if stamp.signature in self._taken:
            raise InvalidRequest(f"the {kind} came a second time")
        now_s = time.monotonic()
        self._taken[stamp.signature] = now_s + 2 * FRESH_S
        while next(iter(self._taken.values())) < now_s:
            self._taken.popitem(last=False)

    async def wait_for_revocation(self) -> None:
        """Return when a valid key was revoked; once for each time, to one waiter."""
        await self._revoked.wait()
        self._revoked.clear()

    async def _find_owner(self, key_id: bytes) -> tuple[str, Identity] | None:
        now_s = time.monotonic()
        if now_s - self._read_s > self._settings.lease_s or (
            key_id not in self._owners and now_s - self._read_s > _AGAIN_S
        ):
            await self._refresh_keys(now_s)
        return self._owners.get(key_id)

    async def _refresh_keys(self, asked_s: float) -> None:
        """Read the list unless another caller just did. Raises: Unavailable when no list can be read."""
        async with self._reading:
            if self._tried_s <= asked_s:
                self._tried_s = time.monotonic()
                await self._reread_keys()
        if time.monotonic() - self._read_s > _STALE_S:
            raise Unavailable("the list of keys can't be read", hint=_MEND, reason="keys_unread")

    async def _reread_keys(self) -> None:
        try:
            keys, stamp = read_keys(await self._read(), self._settings.prefix, self._settings.admin_keys)
            if stamp.utc_us < self._listed_us:
                raise InvalidRequest("the list of keys is older than the one before: somebody put it back")
            owners = {key_id(key): (key, owner) for key, owner in keys.owners().items()}
        except AcudError as fault:
            _LOG.warning("fleet.keys_unread", fault=fault.message)
            self._warn("keys", f"whose keys are whose can't be told: {fault.message}", fault.hint or _MEND)
            return
        self._warn("keys", "", "")
        if self._owners.keys() - owners.keys():
            self._revoked.set()
        self._owners, self._listed_us, self._read_s = owners, stamp.utc_us, time.monotonic()


def _build_unproven(text: str) -> Unavailable:
    return Unavailable(text, hint=_MEND, reason="unproven")
