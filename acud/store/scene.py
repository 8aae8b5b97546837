"""Numbers of scenes and their elements that are never given twice, over restarts too."""

from __future__ import annotations

from collections.abc import Iterable

from acud.store import statements
from acud.store.connection import Database

_SQL = statements.load("scene")


class SceneNumbers:
    """The table `scene_numbers`. Every method may raise StoreUnavailable."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def reserve(self, name: str, upto: int) -> None:
        """Keep that numbers of `name` below `upto` may have been given; a lower one than kept changes nothing."""
        self._database.write(_SQL["reserve"], {"name": name, "reserved": upto})

    def forget(self, names: Iterable[str]) -> None:
        """Drop what is known of `names`, for what will never be numbered again."""
        for name in names:
            self._database.write(_SQL["forget"], {"name": name})

    def first_free(self, name: str) -> int:
        """Return the first number of `name` that was certainly not given yet: 1 for a new name."""
        rows = self._database.read(_SQL["reserved"], {"name": name})
        return int(rows[0]["reserved"] or 1) if rows else 1
