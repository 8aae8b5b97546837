"""When a capture process reads the clipboard for conditions."""

from types import SimpleNamespace
from typing import Any, cast

from acud.capture.clipboard_watch import ClipboardWatch
from acud.protocol.capture import ClipboardSeen
from acud.x11.connection import Connection
from acud.x11.events import SelectionTaken, Translator


def _make_watch(reports: list[ClipboardSeen]) -> ClipboardWatch:
    """Return a watch on an X server without XFIXES, which refuses each reading at once."""
    connection: Any = SimpleNamespace(
        name=":1", has=lambda extension: False, flush=lambda: None, wire=SimpleNamespace(get_atom=hash),
        root=SimpleNamespace(create_window=lambda *_, **__: SimpleNamespace(id=1)),
    )  # fmt: skip
    translator: Any = SimpleNamespace(follow=lambda window: None)
    return ClipboardWatch(cast(Connection, connection), cast(Translator, translator), reports.append)


def test_a_program_that_copies_without_end_is_read_at_a_pace() -> None:
    reports: list[ClipboardSeen] = []
    watch = _make_watch(reports)
    watch.want(is_wanted=True)
    for ms in range(1000):
        watch.on_event(SelectionTaken(7, 0))
        while watch.advance(ms / 1000):
            pass
    assert 2 <= len(reports) <= 11
    newest, due_s = reports[-1].copies, watch.due_s()
    assert newest < 1000
    assert due_s is not None
    assert due_s <= 1.1
    while watch.advance(due_s):
        pass
    assert reports[-1].copies == 1000, "the newest is read, too"
    assert watch.due_s() is None
