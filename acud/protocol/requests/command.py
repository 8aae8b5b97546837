"""What a request's file declares about it."""

from __future__ import annotations

from typing import Any

from msgspec import Struct


class Command(Struct, frozen=True):
    """One request: its type (whose tag is its name and whose docstring documents it), its reply, and its nature.

    `mutating`: its (id, digest, reply) is stored in its transaction, so a repeat answers as the first did.
    `deferred`: the reply may come later; the client re-asks with the same id after a time-out.
    `outside`: it has effects outside the store, so its start is recorded first: a repeat that finds no reply (the
    supervisor died over it) answers `outcome_unknown`. Others are done anew then: nothing of them was kept.
    """

    request: type[Struct]
    reply: type[Struct]
    mutating: bool = False
    deferred: bool = False
    outside: bool = False

    @property
    def name(self) -> str:
        """The tag on the wire."""
        return name_of(self.request)


def name_of(request: type[Struct]) -> str:
    """Return the tag of a request's type: its name on the wire."""
    tag: Any = request.__struct_config__.tag
    return str(tag)
