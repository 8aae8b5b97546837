"""Which views a leaf has already answered no to, by identity: a blinking caret costs two calls, not one a second."""

from __future__ import annotations

from msgspec import Struct

SIZE = 16
"""Identities kept per leaf: a caret has 2, a spinner up to 12; more would only delay a second opinion."""


class Memo(Struct, frozen=True):
    """The identities that each leaf said no to, oldest use first. A forced judgement does not ask the memo."""

    noes: dict[int, tuple[str, ...]] = {}

    def of(self, index: int) -> tuple[str, ...]:
        """Return the identities that leaf `index` said no to."""
        return self.noes.get(index, ())

    def said_no(self, index: int, identity: str) -> Memo:
        """Return the memo with `identity` as the newest; the one unused longest leaves when it is full."""
        others = tuple(known for known in self.of(index) if known != identity)
        return Memo({**self.noes, index: (*others, identity)[-SIZE:]})

    def forgot(self, index: int, identity: str) -> Memo:
        """Return the memo without `identity`: the leaf said something else on it."""
        return Memo({**self.noes, index: tuple(known for known in self.of(index) if known != identity)})
