"""What is known of a display: old text says that it is old, then goes; numbers are never given twice."""

from collections.abc import Callable
from typing import Any, cast

import msgspec

from acud.features.scene.element_ids import StoredElements
from acud.features.scene.supervisor.display_reader import DisplayElements
from acud.features.scene.tables import ReservedNumbers, StandingElements
from acud.protocol.evaluation import JobResult
from acud.protocol.scene_parts import NodePart, SceneParts, TextPart
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import Rect
from acud.types.scene import ProviderState

READY, BROKEN = ProviderState("reader", "ready"), ProviderState("reader", "unavailable", "no tokens")
BOX = Rect(1, 2, 30, 10)


class Kept:
    """A store and journal of numbers in memory."""

    def __init__(self) -> None:
        self.reserved: dict[str, int] = {}
        self.standing: dict[str, bytes] = {}

    def keep(self, mutation: Any, *, droppable: bool = False) -> None:
        mutation()

    def reserve(self, name: str, upto: int) -> None:
        self.reserved[name] = max(upto, self.reserved.get(name, 1))

    def first_free(self, name: str) -> int:
        return self.reserved.get(name, 1)

    def forget(self, names: list[str]) -> None:
        for name in names:
            self.reserved.pop(name, None)
            self.standing.pop(name, None)

    def keep_elements(self, name: str, elements: StoredElements) -> None:
        self.standing[name] = msgspec.msgpack.encode(elements)

    def elements(self, name: str) -> StoredElements | None:
        return msgspec.msgpack.decode(self.standing[name], type=StoredElements) if name in self.standing else None


def reserved_numbers(kept: Kept | None = None) -> ReservedNumbers:
    made = cast(Any, kept or Kept())
    return ReservedNumbers(made, made)


class Pauses:
    """A loop whose timers fire when told to."""

    def __init__(self) -> None:
        self.timers: list[Callable[[], None]] = []

    def call_later(self, delay_s: float, callback: Callable[[], None]) -> None:
        self.timers.append(callback)

    def end(self) -> None:
        timers, self.timers = self.timers, []
        for callback in timers:
            callback()


def standing_elements(kept: Kept | None = None, pauses: Pauses | None = None) -> StandingElements:
    made = cast(Any, kept or Kept())
    return StandingElements(made, made, cast(Any, pauses or Pauses()))


def display(kept: Kept, pauses: Pauses | None = None) -> DisplayElements:
    return DisplayElements(3, reserved_numbers(kept), standing_elements(kept, pauses))


def lines(*words: str) -> SceneParts:
    texts = tuple(TextPart(one, Rect(5, 20 * n, 60, 12), 0.9) for n, one in enumerate(words))
    return SceneParts(ocr=READY, lines=texts, lines_total=len(texts))


def ids(seen: DisplayElements) -> dict[str, str]:
    return {one.text: one.id for one in seen.texts}


def read(seen: DisplayElements, parts: SceneParts, at_s: float = 10.0) -> None:
    result = JobResult("job", "done", epoch=1, frame=7, frame_mono_ns=int(at_s * 1e9))
    seen.take_reading(result, parts, (100, 100), at_s)


def test_text_that_cannot_be_read_again_is_stale_and_then_gone() -> None:
    seen = display(Kept())
    read(seen, SceneParts(ocr=READY, lines=(TextPart("Save", BOX, 0.9),), lines_total=1))
    read(seen, SceneParts(ocr=BROKEN), 20.0)
    assert seen.ocr == ProviderState("reader", "stale", "no tokens")
    assert [one.text for one in seen.texts] == ["Save"]
    seen.drop_old_texts(39.9, 30.0)
    assert seen.texts
    seen.drop_old_texts(40.1, 30.0)
    assert (seen.texts, seen.ocr) == ((), BROKEN)


def test_nothing_known_is_unavailable_not_stale() -> None:
    seen = display(Kept())
    read(seen, SceneParts(ocr=BROKEN, ax=BROKEN))
    assert (seen.ocr.state, seen.ax.state) == ("unavailable", "unavailable")


def test_widgets_of_a_dead_bus_are_not_shown() -> None:
    seen = display(Kept())
    read(seen, SceneParts(ax=READY, nodes=(NodePart("push button", BOX, "Save", key="a"),), nodes_total=1))
    assert [one.id for one in seen.widgets] == ["a3-1"]
    read(seen, SceneParts(ax=BROKEN))
    assert (seen.widgets, seen.ax) == ((), BROKEN)


def test_a_password_field_is_told_as_redacted() -> None:
    seen = display(Kept())
    read(seen, SceneParts(ax=READY, nodes=(NodePart("password text", BOX, key="a", secure=True),), nodes_total=1))
    assert [(one.where, one.rule) for one in seen.redactions] == [("a3-1", "secure")]
    assert seen.secure == (BOX,)


def test_what_still_stands_after_a_restart_keeps_its_id_and_numbers_go_on_where_nobody_can_have_been() -> None:
    kept = Kept()
    seen = display(kept)
    read(seen, lines("Save", "Draft of 9:14", "Cancel"))
    again = display(kept)
    read(again, lines("Save", "Draft of 9:15", "Cancel"))
    assert (ids(again)["Save"], ids(again)["Cancel"]) == ("t3-1", "t3-3")
    assert int(ids(again)["Draft of 9:15"].partition("-")[2]) == kept.reserved["t3"] - 1000 - 1 > 3
    again.drop_all(BROKEN)
    read(again, lines("Save"))
    assert ids(again) == {"Save": "t3-1"}
    assert b"Save" not in kept.standing["t3"]


def test_a_display_that_keeps_changing_is_written_now_and_then() -> None:
    kept, pauses = Kept(), Pauses()
    seen = display(kept, pauses)
    read(seen, lines("Save"))
    first = kept.standing["t3"]
    read(seen, lines("Save", "1 %"))
    read(seen, lines("Save", "2 %"))
    assert kept.standing["t3"] == first
    pauses.end()
    newest = ids(seen)
    again = display(kept)
    read(again, lines("Save", "2 %"))
    assert ids(again) == newest
    pauses.end()
    assert not pauses.timers


def test_the_numbers_of_a_removed_display_go_with_it() -> None:
    kept = Kept()
    numbers = reserved_numbers(kept)
    for name in ("scene", "t3", "t4", "v3"):
        numbers.record_given(name, 5)
    numbers.forget(WatchedDisplay(":9", 3, managed=False, auth_file=""))
    assert set(kept.reserved) == set(numbers._reserved) == {"scene", "t4"}
