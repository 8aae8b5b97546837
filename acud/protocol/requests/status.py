"""`status`: what the daemon is doing now."""

from __future__ import annotations

from msgspec import Struct

from acud.protocol.evaluation import JudgeHealth
from acud.protocol.requests.spec import RequestSpec
from acud.types import DisplayInfo, RouteName


class Status(Struct, frozen=True, tag="status", forbid_unknown_fields=True):
    """Ask for the daemon's state: version, displays, children, judges, numbers of waits, cost today."""


class ChildStatus(Struct, frozen=True, forbid_unknown_fields=True):
    """A child process. `state`: starting, ready, restarting, stopped, failed. `beat_age_s`: since its last
    heartbeat.
    """

    name: str
    kind: str
    state: str
    pid: int
    restarts: int
    beat_age_s: float | None = None
    rss_mb: float = 0.0
    busy_jobs: int = 0
    reason: str = ""
    counters: dict[str, float] = {}


class StatusReply(Struct, frozen=True, forbid_unknown_fields=True):
    """`queued_jobs`: due work waiting for a free evaluator. `degraded`: every reason the daemon is not fully well."""

    version: str
    protocol: int
    pid: int
    started_utc_s: float
    uptime_s: float
    home: str
    server_start: str
    displays: tuple[DisplayInfo, ...]
    children: tuple[ChildStatus, ...]
    judges: tuple[JudgeHealth, ...]
    waits_live: int
    waits_ended: int
    judge_calls: int
    cost_usd_today: float | None
    queued_jobs: int
    degraded: tuple[str, ...] = ()
    rss_mb: float = 0.0
    wakes: dict[str, int] = {}
    """How many wakes are kept in each state."""
    waits: dict[str, int] = {}
    """How many waits are kept in each state."""
    wake_routes: tuple[RouteName, ...] = ()
    """The routes in the settings, in order; empty: results wait to be fetched."""
    web: dict[str, str] = {}
    """Where the web process serves what: `gateway`, `relay`."""
    fleet: dict[str, str] = {}
    """What this host is called in its fleet (`host`) and whether it is in it now (`state`); empty without a fleet."""


SPEC = RequestSpec(Status, StatusReply)
