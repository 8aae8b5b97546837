"""What `acud doctor` says of permissions: what of the instance, and of the secrets it names, others can reach."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path

from acud import config, private_files
from acud.config import Settings
from acud.errors import ConfigError
from acud.paths import Paths
from acud.protocol.requests.daemon import Finding


def findings(paths: Paths, env: Mapping[str, str]) -> Iterator[Finding]:
    """Yield each deviation with the command that mends it; a fault is one that the daemon does not start on."""
    # That ACU_HOME itself can be read is told with its other faults.
    found = [one for one in private_files.deviations(paths) if one.grave or one.path != paths.home]
    for one in found:
        yield Finding("permissions", "fault" if one.grave else "warning", f"{one.path} {one.fault}", one.fix)
    yield from _named_secrets(paths, env)
    if not found and paths.home.exists():
        yield Finding("permissions", "ok", "directories, sockets, store, keys and cookies are closed to others")


def _named_secrets(paths: Paths, env: Mapping[str, str]) -> Iterator[Finding]:
    try:
        settings = config.load(paths.config, env)
    except ConfigError:
        return  # told as a fault of the settings
    for key, file in _secret_files(settings):
        why = private_files.secret_exposure(Path(file).expanduser())
        if why:
            yield Finding("permissions", "warning", f"{file} ({key}) {why}", f"chmod 600 {shlex.quote(file)}")


def _secret_files(settings: Settings) -> Iterator[tuple[str, str]]:
    named = {
        "[wake] openclaw_token_file": settings.wake.openclaw_token_file,
        "[wake] webhook_secret_file": settings.wake.webhook_secret_file,
        "[relay] token_file": settings.relay.token_file,
        "[web] tls_key": settings.web.tls_key,
    }
    named |= {f"[{name}] api_key_file": one.api_key_file for name, one in settings.backends().named().items()}
    return ((key, file) for key, file in named.items() if file)
