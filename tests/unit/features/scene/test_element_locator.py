"""Ids on their way to pixels: which display they are of, the look that is made first, and each refusal."""

from collections.abc import Sequence
from typing import Any, cast

import pytest
from msgspec.structs import replace

from acud.base.errors import AcudError, Conflict, DisplayDown, InvalidRequest, NotFound, Unavailable
from acud.features.scene.supervisor.feature import ElementLocator
from acud.supervisor.coroutines import StepTask, directly
from acud.supervisor.ports import LocatedElement, SceneObservers
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import Rect, WindowInfo
from acud.types.actions import Point
from acud.types.scene import (
    AxElement,
    DisplayProviders,
    ElementHandle,
    OcrElement,
    ProviderState,
    Scene,
    SceneDisplay,
    SceneMode,
)

SAVE = AxElement("a3-1", "push button", Rect(100, 100, 80, 20), 3, label="Save", actions=("click",), pid=77)
HELLO = OcrElement("t3-1", "hello", Rect(10, 10, 50, 12), 0.9, 3)
READY = DisplayProviders(3, ProviderState("rapidocr", "ready"), ProviderState("at-spi", "ready"))
FIRST = Scene(
    1, 0, SceneMode.ACTIVE, (SceneDisplay(3, Rect(0, 0, 1280, 720)),), None, (), (HELLO,), (SAVE,), providers=(READY,)
)


class FakeScreen:
    """A display by name and number, with windows."""

    def __init__(self, name: str, number: int, windows: tuple[WindowInfo, ...] = ()) -> None:
        self.name, self.number, self.windows = name, number, windows


class FakeScenes:
    """Shows `now` from the next look on."""

    def __init__(self, *kept: Scene) -> None:
        self.kept = list(kept)
        self.now = kept[-1]
        self.screenshots: list[SceneMode] = []
        self.shown = SceneObservers()

    async def look(self, screens: Sequence[WatchedDisplay], mode: SceneMode) -> None:
        self.screenshots.append(mode)
        self.kept.append(self.now)

    def newest(self, screens: Sequence[WatchedDisplay]) -> Scene:
        return self.kept[-1]

    def list_kept(self) -> Sequence[Scene]:
        return self.kept[::-1]


class Rig:
    """Handles over display 3 (`:100`) and 4 (`:101`)."""

    def __init__(self, *windows: WindowInfo) -> None:
        self.scenes = FakeScenes(FIRST)
        self.screens = {3: FakeScreen(":100", 3, windows), 4: FakeScreen(":101", 4)}
        self.followed: list[WatchedDisplay] = []
        self.elements = ElementLocator(cast(Any, self.scenes), cast(Any, self))

    def find_by_number(self, number: int) -> FakeScreen | None:
        return self.screens.get(number)

    def follow(self, screen: WatchedDisplay, key: str, windows: tuple[int, ...]) -> None:
        self.followed.append(screen)

    def spot(self, element_id: str, number: int = 3) -> LocatedElement | AcudError:
        found: list[LocatedElement | AcudError] = []
        handle = ElementHandle(element_id, int(element_id[1:].partition("-")[0]))
        StepTask(self.elements.locate(cast(Any, self.screens[number]), handle), directly, found.append).begin()
        (one,) = found
        return one


def test_the_display_follows_from_the_id() -> None:
    elements = Rig().elements
    assert elements.display_of("t3-1", "the Save button", "a3-9") == ":100"
    assert elements.display_of("element v4-1") == ":101"
    assert elements.display_of("the Save button") == ""
    with pytest.raises(InvalidRequest, match="several displays: t3-1, a4-1"):
        elements.display_of("t3-1", "a4-1")
    with pytest.raises(NotFound, match="display number 9, which is not watched"):
        elements.display_of("t9-1")


def test_an_element_is_clicked_in_its_middle_after_an_active_look() -> None:
    rig = Rig()
    assert rig.spot("a3-1") == LocatedElement("a3-1", "Save", "push button", SAVE.bbox, Point(140, 110))
    assert rig.scenes.screenshots == [SceneMode.ACTIVE]
    assert [screen.name for screen in rig.followed] == [":100"]


def test_one_that_moved_is_clicked_where_it_is_now() -> None:
    rig = Rig()
    rig.scenes.now = replace(FIRST, ax=(replace(SAVE, bbox=Rect(500, 400, 80, 20)),))
    found = rig.spot("a3-1")
    assert isinstance(found, LocatedElement)
    assert found.point == Point(540, 410)


def test_one_that_is_gone_names_what_it_was_and_what_reads_alike() -> None:
    rig = Rig()
    rig.scenes.now = replace(FIRST, ax=(replace(SAVE, id="a3-7", bbox=Rect(500, 400, 80, 20)),))
    found = rig.spot("a3-1")
    assert isinstance(found, NotFound)
    assert found.facts["candidates"] == ["a3-7"]
    assert "it was 'Save' at 100,100" in found.message


def test_one_that_never_was_is_not_found() -> None:
    found = Rig().spot("t3-99")
    assert isinstance(found, NotFound)
    assert found.facts["candidates"] == []


def test_a_covered_one_is_refused_with_what_covers_it() -> None:
    above = WindowInfo(2, "dialog", Rect(50, 50, 300, 300), pid=5)
    found = Rig(above, WindowInfo(1, "home", Rect(0, 0, 400, 400), pid=77)).spot("a3-1")
    assert isinstance(found, Conflict)
    assert "covered by 'dialog'" in found.message


@pytest.mark.parametrize("state", ["unavailable", "stale", "off"])
def test_who_cannot_look_does_not_say_that_it_is_gone(state: str) -> None:
    rig = Rig()
    rig.scenes.now = replace(
        FIRST, ax=(), providers=(replace(READY, ax=ProviderState("at-spi", cast(Any, state), "the bus is gone")),)
    )
    found = rig.spot("a3-1")
    assert isinstance(found, Unavailable)
    assert f"at-spi is {state}: the bus is gone" in found.message
    assert isinstance(rig.spot("t3-1"), LocatedElement)


def test_a_display_that_is_down_is_said_to_be() -> None:
    rig = Rig()
    rig.scenes.now = replace(FIRST, displays=(replace(FIRST.displays[0], state="down", reason="Xvfb died"),), ocr=())
    found = rig.spot("t3-1")
    assert isinstance(found, DisplayDown)
    assert "Xvfb died" in found.message


def test_an_id_of_another_display_is_refused() -> None:
    found = Rig().spot("t3-1", number=4)
    assert isinstance(found, InvalidRequest)
    assert "t3-1 is not of :101" in found.message


def test_an_incomplete_reading_finds_what_it_shows_and_says_nothing_of_the_rest() -> None:
    rig = Rig()
    gap = ProviderState("at-spi", "incomplete", "5 of at least 9 widgets told")
    incomplete = DisplayProviders(3, READY.ocr, gap)
    rig.scenes.now = replace(FIRST, providers=(incomplete,))
    assert isinstance(rig.spot("a3-1"), LocatedElement)
    rig.scenes.now = replace(FIRST, ax=(), providers=(incomplete,))
    refused = rig.spot("a3-1")
    assert isinstance(refused, Unavailable)
    assert "5 of at least 9 widgets told" in refused.message
