"""`shutdown`: end the daemon in good order."""

from __future__ import annotations

from msgspec import Struct

from acud.protocol.requests.spec import RequestSpec


class Shutdown(Struct, frozen=True, tag="shutdown", forbid_unknown_fields=True):
    """End the daemon: managed displays end too, unless `keep_displays`; live waits stay armed for the next start."""

    keep_displays: bool = False


class ShutdownReply(Struct, frozen=True, forbid_unknown_fields=True):
    """The daemon is stopping; `pid` is the process to wait for."""

    pid: int


SPEC = RequestSpec(Shutdown, ShutdownReply)
