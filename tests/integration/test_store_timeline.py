"""What happened while something was recorded, page by page, on a real file."""

from __future__ import annotations

from pathlib import Path

from acud.base.ids import new_id
from acud.features.recording.tables import Timeline, TimelineSpan
from acud.features.tasks.tables import TaskTable
from acud.protocol.requests.recordings import Mark
from acud.store.store import Store
from acud.types.tasks import Message, Task, TaskStatus
from tests.integration.store_support import NOW_S, open_store


def _told(store: Store, *after_ms: int) -> TimelineSpan:
    """Store a message so long after now each, and return the span that holds them."""
    task = Task(new_id("task"), "Book", TaskStatus.ACTIVE, NOW_S - 9, NOW_S, "main", {}, None, ":100", 7)
    tasks = TaskTable(store)
    tasks.insert(task)
    for at, after in enumerate(after_ms):
        tasks.add_message(task.task_id, Message("agent", f"message {at}", "text", NOW_S + (after + 0.5) / 1000))
    return TimelineSpan(NOW_S - 1, NOW_S + 100, ":100", 7, task.task_id)


def _paged(store: Store, span: TimelineSpan, limit: int) -> list[list[Mark]]:
    pages, more = [], True
    while more:
        marks, more = Timeline(store).page(span, limit)
        pages.append(list(marks))
        if marks:
            span = TimelineSpan((marks[-1].utc_ms + 1) / 1000, span.end_s, span.display, span.number, span.task_id)
    return pages


def test_pages_hold_every_mark_once_in_order(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        pages = _paged(store, _told(store, 0, 5, 10, 15, 20), 2)
    assert [len(page) for page in pages] == [2, 2, 1]
    assert [mark.text for page in pages for mark in page] == [f"message {at}" for at in range(5)]


def test_marks_of_one_millisecond_are_of_one_page_however_many(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        pages = _paged(store, _told(store, 0, 5, 5, 5, 5, 5, 9), 2)
    assert [len(page) for page in pages] == [1, 5, 1]
    assert [mark.text for page in pages for mark in page] == [f"message {at}" for at in range(7)]
