"""Requests about the daemon itself."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from msgspec import Meta, Struct

from acud.protocol.evaluation import JudgeHealth
from acud.protocol.events import Event
from acud.protocol.requests.command import Command, FleetRoute, RestOperation
from acud.protocol.web import Scope
from acud.types import DisplayInfo, RouteName
from acud.types.metrics import Metric


class Status(Struct, frozen=True, tag="status", forbid_unknown_fields=True):
    """Ask for the daemon's state: version, displays, children, judges, numbers of waits, cost today."""


class ChildStatus(Struct, frozen=True, forbid_unknown_fields=True):
    """A child process. `state`: starting, ready, restarting, stopped, failed. `beat_age_s`: since its heartbeat."""

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
    hidden_waits: dict[str, str] = {}
    """By live wait, what hides from it what it watches: a lock screen, or windows over where it was."""
    wake_routes: tuple[RouteName, ...] = ()
    """The routes in the settings, in order; empty: results wait to be fetched."""
    web: dict[str, str] = {}
    """Where the web process serves what: `gateway`, `relay`."""
    fleet: dict[str, str] = {}
    """What this host is called in its fleet (`host`) and whether it is in it now (`state`); empty without a fleet."""


class Doctor(Struct, frozen=True, tag="doctor", forbid_unknown_fields=True):
    """Ask for findings: each part, its version, the fallback in use and why, and the fix for each fault. `acud doctor`
    adds what can only be seen from outside.
    """


class Finding(Struct, frozen=True, forbid_unknown_fields=True):
    """One part's health. `level`: ok, warning, fault. `fix`: the next step for anything but ok."""

    part: str
    level: Literal["ok", "warning", "fault"]
    text: str
    fix: str = ""


class DoctorReply(Struct, frozen=True, forbid_unknown_fields=True):
    """The daemon's findings; the CLI adds what can only be checked from outside."""

    findings: tuple[Finding, ...]


class Metrics(Struct, frozen=True, tag="metrics", forbid_unknown_fields=True):
    """Ask for every figure that the daemon measures; docs/metrics.md lists them. `acud metrics` prints them as text,
    which `acud_client.exposition` makes.
    """


class MetricsReply(Struct, frozen=True, forbid_unknown_fields=True):
    """Every family with its samples as of now."""

    metrics: tuple[Metric, ...]


class Purpose(StrEnum):
    """What a judge or model was asked for: a wait's condition; whether an act had its effect, with what an agent waits
    for and checks; where something is; the agent's next step; what a screen shows; the commentary.
    """

    WAIT = "wait"
    EFFECT = "effect"
    FIND = "find"
    AGENT = "agent"
    ANNOTATE = "annotate"
    COMMENTARY = "commentary"


class Usage(Struct, frozen=True, tag="usage", forbid_unknown_fields=True):
    """Add up what was asked in the last `days` by day (UTC), purpose, judge, model and task. `task_id`: of this one."""

    days: Annotated[int, Meta(ge=1, le=3650)] = 7
    task_id: Annotated[str, Meta(max_length=64)] = ""


class UsageRow(Struct, frozen=True, forbid_unknown_fields=True):
    """Answers of one day, purpose, judge, model ("": not known) and task ("": of no task). `evaluations`: how many;
    `cost_usd` adds up the known costs (None: none is known), `unpriced` of them have no known cost.
    """

    day: str
    purpose: Purpose
    judge: str
    model: str
    task_id: str
    evaluations: int
    tokens_in: int | None
    tokens_out: int | None
    cost_usd: float | None
    unpriced: int


class UsageReply(Struct, frozen=True, forbid_unknown_fields=True):
    """Rows newest day first. Single answers are kept for `kept_days`; what is older counts nowhere."""

    rows: tuple[UsageRow, ...]
    evaluations: int
    cost_usd: float | None
    unpriced: int
    kept_days: float


class EventsSince(Struct, frozen=True, tag="events_since", forbid_unknown_fields=True):
    """Return stored events with a number above `after`, oldest first, of topics that begin with `topic`."""

    after: Annotated[int, Meta(ge=0)] = 0
    topic: str = ""
    limit: Annotated[int, Meta(ge=1, le=1000)] = 200


class EventsSinceReply(Struct, frozen=True, forbid_unknown_fields=True):
    """`newest`: the newest number there is. `trimmed`: the oldest still kept, when some asked for are gone (else 0)."""

    events: tuple[Event, ...]
    newest: int
    trimmed: int = 0


class DaemonReload(Struct, frozen=True, tag="daemon_reload", forbid_unknown_fields=True):
    """Read acud.toml again and take what can change while the daemon runs. A malformed file is refused as a whole. The
    reply lists what was taken and what needs a restart.
    """


class DaemonReloadReply(Struct, frozen=True, forbid_unknown_fields=True):
    """Settings (`section.key`) that differ: `taken` ones hold now, those in `restart` from the next start on."""

    taken: tuple[str, ...]
    restart: tuple[str, ...]


class DaemonDrain(Struct, frozen=True, tag="daemon_drain", forbid_unknown_fields=True):
    """Refuse new waits, tasks, runs, displays and recordings from now on, and end the daemon as soon as no wait is
    live, no task active and no run at work, at the latest in `timeout_s`: what is live then ends, or stays, as with
    `shutdown`. Asked again it moves the end; `cancel` takes it back. A daemon that is killed meanwhile drains no longer
    when it is started again.
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


class EvaluatorsRestart(Struct, frozen=True, tag="evaluators_restart", forbid_unknown_fields=True):
    """End each evaluator and start it again, one at a time: it gets no new jobs, finishes what it has in hand for ten
    seconds, and hands over the rest. No job is lost and no wait notices. The reply waits for the last one.
    """


class EvaluatorRestarted(Struct, frozen=True, forbid_unknown_fields=True):
    """A restarted evaluator. `handed_over`: jobs that other evaluators, or its successor, took from it."""

    name: str
    old_pid: int
    pid: int
    handed_over: int


class EvaluatorsRestartReply(Struct, frozen=True, forbid_unknown_fields=True):
    """All restarted evaluators, in order."""

    restarted: tuple[EvaluatorRestarted, ...]


class Shutdown(Struct, frozen=True, tag="shutdown", forbid_unknown_fields=True):
    """End the daemon: managed displays end too and waits on them fail, unless `keep_displays`; other waits stay armed
    for the next start. Wait for the process `pid` of the reply.
    """

    keep_displays: bool = False


class ShutdownReply(Struct, frozen=True, forbid_unknown_fields=True):
    """The daemon is stopping; `pid` is the process to wait for."""

    pid: int


_RENEWAL_S = 600.0
"""Each evaluator in turn finishes its jobs (10 s at most) and restarts."""
COMMANDS = (
    Command(Status, StatusReply, fleet=FleetRoute.ALL),
    Command(
        Doctor,
        DoctorReply,
        fleet=FleetRoute.ALL,
        rest=RestOperation("GET", "/api/doctor", Scope.READ, "how the whole daemon does"),
    ),
    Command(Metrics, MetricsReply),
    Command(Usage, UsageReply, fleet=FleetRoute.ALL),
    Command(EventsSince, EventsSinceReply, positional=1, fleet=FleetRoute.ENDPOINT),
    Command(DaemonReload, DaemonReloadReply, errors="ConfigError for a malformed file", writes=True),
    Command(DaemonDrain, DaemonDrainReply, positional=1, writes=True),
    Command(EvaluatorsRestart, EvaluatorsRestartReply, deferred=True, limit_s=_RENEWAL_S, writes=True),
    Command(Shutdown, ShutdownReply, fleet=FleetRoute.ENDPOINT, destroys=True),
)
