"""Keys of NATS users for tests: seeds and .creds files as nk and nsc write them, and who is behind them."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import time
from pathlib import Path
from typing import Any

import nacl.signing
import nkeys

from acud_fleet.access import Grant, Grants, Role, permissions

USERS = {
    "ADMIN": (Role.ADMIN, "admin"), "H1": (Role.HOST, "h1"), "H2": (Role.HOST, "h2"),
    "ENDPOINT": (Role.ENDPOINT, "endpoint"), "WORKER": (Role.WORKER, "vision"), "AGENT": (Role.AGENT, "main"),
}  # fmt: skip
"""Members of a fleet by the names of their seeds."""


def user(file: Path) -> str:
    """Write a new user's seed to `file`, mode 600, and return its public key."""
    pair = _pair(nkeys.PREFIX_BYTE_USER)
    file.write_bytes(bytes(pair.seed))
    file.chmod(0o600)
    return _public(pair)


def grants(seeds: Path) -> Grants:
    """Return what `USERS` are granted, whose seeds are written to `seeds`."""
    held = Grants("acud")
    for name, (role, own) in USERS.items():
        kinds = ("vision",) if role is Role.HOST else ()
        held = held.with_grant(Grant(role, own, (user(seeds / name),), kinds=kinds))
    return held


def granted(seeds: Path) -> str:
    """Return what a server's configuration says of `USERS`, whose seeds are written to `seeds`."""
    return permissions(grants(seeds))


def with_operators(permissions: str) -> str:
    """Return `permissions` with a user in each account who may do everything there, as who runs the servers can: named
    like its account, with the password `operator`.
    """
    for account in re.findall(r'^  "(\S+)" \{', permissions, re.MULTILINE):
        before, head, after = permissions.partition(f'  "{account}" {{\n')
        users = f'    users = [\n      {{ user: "{account}", password: "operator" }}\n'
        permissions = before + head + after.replace("    users = [\n", users, 1)
    return permissions


class Operator:
    """An operator with one account that has JetStream; users carry JWTs which it vouches for. `config`: what a server
    that trusts it has in its configuration.
    """

    def __init__(self) -> None:
        self._operator = _pair(nkeys.PREFIX_BYTE_OPERATOR)
        self._account = _pair(nkeys.PREFIX_BYTE_ACCOUNT)
        limits = dict.fromkeys(("subs", "data", "payload", "imports", "exports", "conn", "leaf"), -1)
        storage = {"mem_storage": -1, "disk_storage": -1, "streams": -1, "consumer": -1}
        system = _pair(nkeys.PREFIX_BYTE_ACCOUNT)
        about: dict[str, Any] = {"type": "operator", "version": 2, "system_account": _public(system)}
        held = {
            _public(self._account): self._jwt(
                self._operator, self._account, {"type": "account", "version": 2, "limits": limits | storage}
            ),
            _public(system): self._jwt(self._operator, system, {"type": "account", "version": 2, "limits": limits}),
        }
        kept = "".join(f"  {key}: {jwt}\n" for key, jwt in held.items())
        self.config = (
            f"operator: {self._jwt(self._operator, self._operator, about)}\nresolver: MEMORY\n"
            f"system_account: {_public(system)}\nresolver_preload: {{\n{kept}}}\n"
        )

    def credentials(self, file: Path, *, lasts_s: float = 3600) -> None:
        """Write the .creds file of a new user, mode 600."""
        pair = _pair(nkeys.PREFIX_BYTE_USER)
        about = {"type": "user", "version": 2, "subs": -1, "data": -1, "payload": -1}
        jwt = self._jwt(self._account, pair, about, exp=int(time.time() + lasts_s))
        file.write_text(
            f"-----BEGIN NATS USER JWT-----\n{jwt}\n------END NATS USER JWT------\n\n"
            f"-----BEGIN USER NKEY SEED-----\n{bytes(pair.seed).decode()}\n------END USER NKEY SEED------\n"
        )
        file.chmod(0o600)

    def _jwt(self, issuer: nkeys.KeyPair, subject: nkeys.KeyPair, about: dict[str, Any], **more: Any) -> str:
        """Return a token as NATS wants it (nats-io/jwt, version 2): Ed25519, its id the hash of its claims."""
        claims = {"iat": int(time.time()), "iss": _public(issuer), "sub": _public(subject), "name": "t", "nats": about}
        claims |= more
        claims["jti"] = base64.b32encode(hashlib.sha256(json.dumps(claims).encode()).digest()).decode().rstrip("=")
        said = f"{_b64(json.dumps({'typ': 'JWT', 'alg': 'ed25519-nkey'}))}.{_b64(json.dumps(claims))}"
        return f"{said}.{_b64(issuer.sign(said.encode()))}"


def _b64(data: str | bytes) -> str:
    raw = data.encode() if isinstance(data, str) else data
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _pair(prefix: int) -> nkeys.KeyPair:
    return nkeys.from_seed(bytearray(nkeys.encode_seed(bytes(nacl.signing.SigningKey.generate()), prefix)))


def _public(pair: nkeys.KeyPair) -> str:
    return str(pair.public_key.decode())
