"""Who has taken which display over, and until when."""

from __future__ import annotations

from msgspec import Struct

from acud.clock import Instant
from acud.store import statements
from acud.store.connection import Database
from acud.store.rows import RowCodec

_SQL = statements.load("takeovers")


class Takeover(Struct, frozen=True):
    """A person's hold on the display `number`; `lease` is what proves it, and is told to nobody else."""

    number: int
    lease: str
    who: str
    note: str
    since_utc_s: float
    until: Instant


_CODEC = RowCodec(Takeover)


class Takeovers:
    """The table `takeovers`, one row a display at most. Every method may raise StoreUnavailable."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, takeover: Takeover) -> None:
        """Keep `takeover` in place of whatever its display had."""
        self._database.write(_SQL["put"], _CODEC.bind(takeover))

    def of(self, number: int) -> Takeover | None:
        """Return the display's takeover, which may have run out, or None."""
        rows = self._database.read(_SQL["of"], {"number": number})
        return _CODEC.read(rows[0]) if rows else None

    def all(self) -> tuple[Takeover, ...]:
        """Return every takeover, those that ran out too."""
        return tuple(map(_CODEC.read, self._database.read(_SQL["all"])))

    def drop(self, number: int) -> None:
        """Forget the display's; harmless when it has none."""
        self._database.write(_SQL["drop"], {"number": number})
