"""`daemon_drain`: take nothing new, and end once what runs has finished."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from acud.protocol.requests.spec import RequestSpec


class DaemonDrain(Struct, frozen=True, tag="daemon_drain", forbid_unknown_fields=True):
    """Refuse new waits, tasks, runs, displays and recordings from now on, and end the daemon as soon as no wait is
    live, no task active and no run at work, at the latest in `timeout_s`: live waits stay armed for the next start.

    Asked again it moves the end; `cancel` takes it back. Managed displays end too, unless `keep_displays`. A daemon
    that is killed meanwhile drains no longer when it is started again.
    """

    timeout_s: Annotated[float, Meta(ge=0, le=604_800)] = 3600.0
    keep_displays: bool = False
    cancel: bool = False


class DaemonDrainReply(Struct, frozen=True, forbid_unknown_fields=True):
    """Whether it drains, and what is waited for. `pid`: the process to wait for. Times are 0 when it doesn't."""

    draining: bool
    pid: int
    since_utc_s: float
    until_utc_s: float
    waits: int
    tasks: int
    runs: int


SPEC = RequestSpec(DaemonDrain, DaemonDrainReply)
