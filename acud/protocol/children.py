"""What every child and the supervisor say to each other on the `children` socket. Pixels never ride here.

What one kind of child says and is told besides lies in a file of its own: `capture`; `asks` and `evaluation`; `relay`;
`serving` (the web process); `recordings` (recorders); `fleet`.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from acud.types import Number

MonoNs = Annotated[int, Meta(ge=0, le=2**63 - 1)]
"""CLOCK_MONOTONIC in nanoseconds."""


class Heartbeat(Struct, frozen=True, tag="heartbeat", forbid_unknown_fields=True):
    """At most one a second. `newest`: per source the (epoch, frame) last published; `compared`: CLOCK_MONOTONIC (ns) of
    the newest grab that was compared with that frame, which need not have found anything new. `jobs`: ids still being
    worked on.
    """

    newest: dict[str, tuple[Number, Number]] = {}
    jobs: tuple[str, ...] = ()
    rss_mb: float = 0.0
    counters: dict[str, float] = {}
    compared: dict[str, MonoNs] = {}


class Fault(Struct, frozen=True, tag="fault", forbid_unknown_fields=True):
    """The child cannot go on, and says why before it exits; `code` as in `acud.errors`."""

    code: str
    message: str
    hint: str = ""


class Stop(Struct, frozen=True, tag="stop", forbid_unknown_fields=True):
    """End in good order."""
