"""What is known of a display: old text says that it is old, then goes; numbers are never given twice."""

from __future__ import annotations

from typing import Any, cast

from acud.features.scene.supervisor.display_reader import DisplayElements
from acud.features.scene.tables import ReservedNumbers
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

    def keep(self, mutation: Any, *, droppable: bool = False) -> None:
        mutation()

    def reserve(self, name: str, upto: int) -> None:
        self.reserved[name] = max(upto, self.reserved.get(name, 1))

    def first_free(self, name: str) -> int:
        return self.reserved.get(name, 1)

    def forget(self, names: list[str]) -> None:
        for name in names:
            self.reserved.pop(name, None)


def reserved_numbers(kept: Kept | None = None) -> ReservedNumbers:
    made = cast(Any, kept or Kept())
    return ReservedNumbers(made, made)


def display(kept: Kept) -> DisplayElements:
    return DisplayElements(3, reserved_numbers(kept))


def read(seen: DisplayElements, parts: SceneParts, at_s: float = 10.0) -> None:
    result = JobResult("job", "done", epoch=1, frame=7, frame_mono_ns=int(at_s * 1e9))
    seen.take(result, parts, (100, 100), at_s)


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


def test_numbers_go_on_where_nobody_can_have_been() -> None:
    kept = Kept()
    seen = display(kept)
    read(seen, SceneParts(ocr=READY, lines=(TextPart("Save", BOX, 0.9),), lines_total=1))
    assert seen.texts[0].id == "t3-1"
    again = display(kept)
    read(again, SceneParts(ocr=READY, lines=(TextPart("Save", BOX, 0.9),), lines_total=1))
    assert int(again.texts[0].id.partition("-")[2]) == kept.reserved["t3"] - 1000 - 1 > 1
    again.forget(BROKEN)
    read(again, SceneParts(ocr=READY, lines=(TextPart("Save", BOX, 0.9),), lines_total=1))
    assert again.texts[0].id.startswith("t3-")


def test_the_numbers_of_a_removed_display_go_with_it() -> None:
    kept = Kept()
    numbers = reserved_numbers(kept)
    for name in ("scene", "t3", "t4", "v3"):
        numbers.given(name, 5)
    numbers.forget(WatchedDisplay(":9", 3, managed=False, auth_file=""))
    assert set(kept.reserved) == set(numbers._reserved) == {"scene", "t4"}
