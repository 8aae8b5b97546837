"""A wake in the fleet's stream, as JSON: what an agent on any host gets."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from acud.types import WakeKind

Id = Annotated[
    str, Meta(pattern=r"^([A-Za-z0-9][A-Za-z0-9._-]{0,63})?$", description="an id of letters, digits, '.', '_', '-'")
]
"""What may become a word of a command line elsewhere: never an option."""


class SharedWake(Struct, frozen=True, forbid_unknown_fields=False):
    """The body of a signed webhook, and the `host` whose outbox it came from. `id` is the same however often it comes;
    fields of newer versions are ignored.
    """

    id: Annotated[
        str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$", description="an id of letters, digits, '.', '_', '-'")
    ]
    host: Id
    kind: WakeKind
    text: Annotated[str, Meta(max_length=20_000)]
    created_utc_s: float
    wait_id: Id = ""
    task_id: Id = ""
    run_id: Id = ""
    session_key: Annotated[
        str,
        Meta(
            pattern=r"^([A-Za-z0-9][A-Za-z0-9:._@/+#-]{0,254})?$",
            description="the key of a session, such as agent:main:main",
        ),
    ] = ""
    agent_id: Id = ""


class SeenWake(Struct, frozen=True, forbid_unknown_fields=False):
    """Its agent acknowledged the wake `id`."""

    id: Id
