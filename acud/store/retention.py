"""Retention: what is deleted, by age and number; and free pages of the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from acud.config import StoreSettings
from acud.store.connection import Database, Table
from acud.store.requests import KEEP_S
from acud.store.rows import Row, load, load_of_features

if TYPE_CHECKING:
    from acud.store.store import Store


_DAY_S = 86_400.0
_MB = 1_000_000
STEP_ROWS = 500
"""Rows of each table that one step of the supervisor deletes: some milliseconds, also on a slow disk."""
_FEATURES_SQL = load_of_features("retention")
_SPACE_SQL = load("space")
_INCREMENTAL = 2  # sqlite.org/pragma.html#pragma_auto_vacuum
_SPARE_PAGES = 1000  # 4 MB stay free in the file: the next writes would only make it grow again


class TrimResult(Struct, frozen=True):
    """The numbers of deleted rows. `files`: for `EvidenceFiles.remove_files`, after the commit."""

    waits: int
    images: int
    evaluations: int
    pictures: int
    usage: int
    events: int
    requests: int
    displays: int
    wakes: int
    web_passes: int
    features: dict[str, int]
    """By the name of the block in a feature's `retention.sql`."""
    files: tuple[str, ...]
    more: bool
    """Whether a step was too short for all there is to delete."""


def trim(store: Store, settings: StoreSettings, now_utc_s: float, limit: int = -1) -> TrimResult:
    """Delete, in the current turn, rows beyond the age and number that `settings` keeps. Live rows always stay.

    At most `limit` rows of each table (-1: all): call it again while `more` is set. Free pages go back to the file
    system in the same way. Raises: StoreUnavailable.
    """
    with store.savepoint():
        trimmed = _trim_tables(store, settings, now_utc_s, limit)
        gives = store.free_pages.give_back() if limit >= 0 else False
    return msgspec.structs.replace(trimmed, more=trimmed.more or gives)


def _trim_tables(store: Store, settings: StoreSettings, now_utc_s: float, limit: int) -> TrimResult:
    old_utc_s = now_utc_s - settings.keep_days * _DAY_S
    judged_utc_s = now_utc_s - settings.keep_evaluations_days * _DAY_S
    files = store.evidence.trim(old_utc_s, int(settings.evidence_max_mb * _MB), limit)
    gone = {
        "evaluations": store.evaluations.trim(judged_utc_s, limit)
        + store.evaluations.trim_surplus(settings.keep_evaluations, limit)
        + store.evaluations.trim_of_waits(old_utc_s, limit),
        "pictures": store.verdict_pictures.trim(int(settings.verdict_pictures_max_mb * _MB), limit),
        "usage": store.usage.trim(judged_utc_s, limit),
        "waits": store.waits.trim(old_utc_s, limit),
        "images": store.images.trim(old_utc_s, limit),
        "events": store.events.trim(settings.keep_events, limit),
        "requests": store.requests.trim(now_utc_s - KEEP_S, limit),
        "displays": store.displays.trim(old_utc_s, limit),
        "wakes": store.outbox.trim(old_utc_s, limit),
    }
    kept: Row = {
        "before_utc_s": old_utc_s,
        "now_utc_s": now_utc_s,
        "keep_actions": settings.keep_actions,
        "limit": limit,
    }
    # Every block in its order, whether its feature runs or not.
    of_features = {name: store.write(sql, kept) for name, sql in _FEATURES_SQL.items()}
    more = limit >= 0 and max(len(files), *gone.values(), *of_features.values()) >= limit
    return TrimResult(**gone, web_passes=store.web.trim(now_utc_s), features=of_features, files=files, more=more)


class FreePages(Table):
    """The free pages of the file."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.shrinks = self._read_number(_SPACE_SQL["mode"]) == _INCREMENTAL
        """Whether free pages can be given back; a database of an early acud cannot until `acud vacuum`."""

    def free_pages(self) -> int:
        return self._read_number(_SPACE_SQL["free"])

    def give_back(self) -> bool:
        """Give back 200 free pages in this turn, where many are free; return whether more are left to give."""
        if not self.shrinks or self.free_pages() <= _SPARE_PAGES:
            return False
        self._database.write(_SPACE_SQL["give_back"])
        return self.free_pages() > _SPARE_PAGES
