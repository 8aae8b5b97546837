"""Wakes: how an agent is reached, and the state of that."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from msgspec import Meta, Struct


class RouteName(StrEnum):
    """A way to reach an agent; each is set up in `[wake]`."""

    OPENCLAW = "openclaw"
    """OpenClaw's webhook, `POST /hooks/wake`."""
    OPENCLAW_CLI = "openclaw_cli"
    """`openclaw system event`: slow, and needs no open port."""
    WEBHOOK = "webhook"
    """Any HTTP receiver; signed."""
    COMMAND = "command"
    """A program of the operator's."""
    FLEET = "fleet"
    """The fleet's stream of wakes, which outlives this host; set up in `[fleet]`."""


class WakeKind(StrEnum):
    """What a wake announces."""

    RESOLVED = "resolved"
    TIMEOUT = "timeout"
    FAILED = "failed"
    TASK_STUCK = "task_stuck"
    AGENT_DONE = "agent_done"
    AGENT_ESCALATED = "agent_escalated"
    TEST = "test"


class WakeState(StrEnum):
    """The life of a wake; the transition table is in `acud.waits.wakes`.

    `pending`: a route is still to be tried. `sent`: a route took it. `reminding`: it was sent, not seen, and is being
    sent again, marked. `seen`: its agent fetched the result. `undelivered`: no route took it, and none is tried now.
    """

    PENDING = "pending"
    SENT = "sent"
    REMINDING = "reminding"
    SEEN = "seen"
    UNDELIVERED = "undelivered"


class WakeAddress(Struct, frozen=True, forbid_unknown_fields=True):
    """How to wake the agent: `routes` in this order (null: those in the settings; empty: none, the result is
    fetched); `session_key` and `agent_id` name an OpenClaw session and agent ("": the main ones).
    """

    routes: Annotated[tuple[RouteName, ...], Meta(max_length=8)] | None = None
    session_key: Annotated[
        str,
        Meta(
            pattern=r"^([A-Za-z0-9][A-Za-z0-9:._@/+#-]{0,254})?$",
            description="the key of a session, such as agent:main:main",
        ),
    ] = ""
    agent_id: Annotated[
        str,
        Meta(pattern=r"^([A-Za-z0-9][A-Za-z0-9._-]{0,63})?$", description="an id of letters, digits, '.', '_', '-'"),
    ] = ""


class RouteTry(Struct, frozen=True, forbid_unknown_fields=True):
    """One route of one wake: how often it was tried in this round, when it may be tried next, and why it failed.

    `refused`: it is not tried again in this round. `shut`: it was passed over because it failed for other wakes.
    `asked_until_utc_s`: the receiver asked not to be tried before. `hurried`: its pause for this wake was cut short
    because it worked for another wake, which happens once.
    """

    name: RouteName
    tries: int = 0
    not_before_utc_s: float = 0.0
    refused: bool = False
    shut: bool = False
    reason: str = ""
    asked_until_utc_s: float = 0.0
    hurried: bool = False


class WakeInfo(Struct, frozen=True, forbid_unknown_fields=True):
    """A wake as clients see it. `begun_utc_s`: since when its routes are being tried. `next_utc_s`: when something
    happens by itself (0: never). `sent_utc_s`, `sent_by`: time and route of the newest delivery.
    """

    wake_id: str
    kind: WakeKind
    text: str
    wait_id: str = ""
    task_id: str = ""
    address: WakeAddress = WakeAddress()
    routes: tuple[RouteTry, ...] = ()
    state: WakeState = WakeState.PENDING
    created_utc_s: float = 0.0
    begun_utc_s: float = 0.0
    next_utc_s: float = 0.0
    attempts: int = 0
    sent_utc_s: float = 0.0
    sent_by: str = ""
    seen_utc_s: float = 0.0
    reminders: int = 0
    reason: str = ""
    """Why the newest attempt failed, or why there is none."""
    flight: int = 0
    """The number of the attempt under way; 0 for none."""
    run_id: str = ""
    """The agent's run that it announces, "" for none."""
