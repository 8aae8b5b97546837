"""`daemon_reload`: read the settings again."""

from __future__ import annotations

from msgspec import Struct

from acud.protocol.requests.spec import RequestSpec


class DaemonReload(Struct, frozen=True, tag="daemon_reload", forbid_unknown_fields=True):
    """Read acud.toml again and take what can change while the daemon runs. A malformed file is refused as a whole."""


class DaemonReloadReply(Struct, frozen=True, forbid_unknown_fields=True):
    """Settings (`section.key`) that differ: `taken` ones hold now, those in `restart` from the next start on."""

    taken: tuple[str, ...]
    restart: tuple[str, ...]


SPEC = RequestSpec(DaemonReload, DaemonReloadReply)
