"""Who a member of the fleet is, and whom it trusts: files that `[fleet]` names, checked before a server is asked."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Any

import nkeys

from acud.errors import ConfigError
from acud.fleet import FleetSettings

_JWT = b"BEGIN NATS USER JWT"
_SEED = b"BEGIN USER NKEY SEED"


def options(settings: FleetSettings) -> dict[str, Any]:
    """Return what the NATS client is to be given. Raises: ConfigError for a file that can't be used, naming it."""
    found: dict[str, Any] = {}
    if settings.nkey_seed_file:
        found["nkeys_seed"] = str(_seed(settings.nkey_seed_file))
    if settings.credentials_file:
        found["user_credentials"] = str(_credentials(settings.credentials_file))
    if settings.demands_tls or any(url.startswith("tls://") for url in settings.urls):
        found["tls"] = _tls(settings)
    return found


def _seed(file: str) -> Path:
    path, data = _secret("nkey_seed_file", file)
    _check_seed(path, data.strip(), "nkey_seed_file")
    return path


def _credentials(file: str) -> Path:
    """Return the path of a .creds file that holds both parts; without one the client would look for it for ever."""
    path, data = _secret("credentials_file", file)
    lines = data.splitlines()
    places = {mark: number for number, line in enumerate(lines) for mark in (_JWT, _SEED) if mark in line}
    if len(places) < 2 or max(places.values()) + 1 >= len(lines):
        raise ConfigError(f"{path} holds no JWT with its seed", hint="[fleet] credentials_file names a .creds file")
    _check_seed(path, lines[places[_SEED] + 1].strip(), "credentials_file")
    return path


def _check_seed(path: Path, seed: bytes, name: str) -> None:
    try:
        nkeys.from_seed(bytearray(seed)).wipe()
    except (nkeys.NkeysError, ValueError, IndexError):
        # The cause is left out: what the library says of a seed may quote it.
        raise ConfigError(f"{path} holds no nkey seed", hint=f"[fleet] {name} names it; nsc or nk makes one") from None


def _secret(name: str, file: str) -> tuple[Path, bytes]:
    path = Path(file).expanduser()
    try:
        if path.stat().st_mode & 0o077:
            raise ConfigError(f"{path} is open to others", hint=f"chmod 600 {path}; [fleet] {name} names it")
        return path, path.read_bytes()
    except OSError as fault:
        raise ConfigError(f"cannot read {path}: {fault.strerror}", hint=f"[fleet] {name} names it") from fault


def _tls(settings: FleetSettings) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if settings.tls_ca:
        context = _trusting(_public("tls_ca", settings.tls_ca))
    if settings.tls_cert:
        _present(context, _public("tls_cert", settings.tls_cert), _secret("tls_key", settings.tls_key)[0])
    return context


def _public(name: str, file: str) -> Path:
    path = Path(file).expanduser()
    try:
        path.read_bytes()
    except OSError as fault:
        raise ConfigError(f"cannot read {path}: {fault.strerror}", hint=f"[fleet] {name} names it") from fault
    return path


def _trusting(ca: Path) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=str(ca))
    except ssl.SSLError as fault:
        raise ConfigError(
            f"{ca} holds no certificate: {_reason(fault)}", hint="[fleet] tls_ca is a PEM file"
        ) from fault


def _present(context: ssl.SSLContext, cert: Path, key: Path) -> None:
    try:
        context.load_cert_chain(cert, key, password=_no_passphrase)
    except ssl.SSLError as fault:
        raise ConfigError(
            f"{cert} and {key} are no certificate with its key: {_reason(fault)}", hint="[fleet] tls_cert and tls_key"
        ) from fault


def _no_passphrase() -> str:
    # Without this OpenSSL would ask for it at a terminal that a daemon does not have.
    raise ConfigError("the key of [fleet] tls_key has a passphrase", hint="give a key without one, mode 600")


def _reason(fault: ssl.SSLError) -> str:
    return (fault.reason or str(fault)).lower().replace("_", " ")
