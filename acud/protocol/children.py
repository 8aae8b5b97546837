"""Messages that every child and the supervisor exchange on the `children` socket, and those of the web process.

Pixels never travel here. Messages of the other kinds of children lie in `capture`, `questions`, `evaluation`,
`delivery`, `recordings` and `fleet`.
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
    worked on. `rests_s`: the next one comes up to so much later than usual: nothing happens (as usual once something
    does), or other messages of this child come each second.
    """

    newest: dict[str, tuple[Number, Number]] = {}
    jobs: tuple[str, ...] = ()
    rss_mb: float = 0.0
    counters: dict[str, float] = {}
    compared: dict[str, MonoNs] = {}
    rests_s: Annotated[float, Meta(ge=0, le=60)] = 0.0


class Fault(Struct, frozen=True, tag="fault", forbid_unknown_fields=True):
    """The child cannot go on, and exits after this message; `code` as in `acud.base.errors`."""

    code: str
    message: str
    hint: str = ""


class Stop(Struct, frozen=True, tag="stop", forbid_unknown_fields=True):
    """End in good order."""


ToWeb = Stop


class WebHello(Struct, frozen=True, tag="web_hello", forbid_unknown_fields=True):
    """The web process serves the HTTP endpoints at `url` and the gateway at `gateway_url` ("": not served).

    `token_file`: where the token of the endpoints lies ("": it is in the settings, or none is asked for). `fault`: why
    one of the two is not served though it should be; the process tries again, and sends another hello.
    """

    pid: int
    url: str = ""
    token_file: str = ""
    gateway_url: str = ""
    fault: str = ""
    fix: str = ""


FromWeb = Heartbeat | Fault | WebHello
