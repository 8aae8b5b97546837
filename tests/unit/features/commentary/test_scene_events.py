"""Senses from scenes: new text, other pictures, never too often, never from what could not be read."""

from types import SimpleNamespace
from typing import Any, cast

from msgspec.structs import replace

from acud.features.commentary.supervisor.senses import SCENE_PAUSE_S, SceneEvents, SenseOutput
from acud.process.event_loop import EventLoop
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import Rect, WindowInfo
from acud.types.commentary import SenseEvent
from acud.types.scene import ChangeTiers, DisplayProviders, OcrElement, ProviderState, Scene, SceneDisplay, SceneMode
from tests.fixtures.manual_clock import ManualClock

BOX = Rect(0, 0, 10, 10)
READY = ProviderState("rapidocr", "ready")


class _Rig:
    def __init__(self) -> None:
        self.clock = ManualClock()
        self.loop = EventLoop(self.clock.monotonic_s)
        self.told: list[SenseEvent] = []
        self.wanted = True
        self.screen: WatchedDisplay | None = WatchedDisplay(":7", 3, managed=False, auth_file="")
        self.screen.windows, self.screen.focused = (WindowInfo(5, "notes.txt", BOX, wm_class="Editor"),), 5
        self.reading = SceneEvents(
            cast("Any", SimpleNamespace(find_by_number=lambda number: self.screen)),
            SenseOutput(
                self.loop, self.clock, lambda: self.wanted, lambda screen, window: window.title, self.told.append
            ),
        )

    def show(self, *texts: str, ssim: float | None = None, ocr: ProviderState = READY) -> None:
        change = ChangeTiers(1, ssim=ssim) if ssim is not None else None
        lines = tuple(OcrElement(f"t3-{hash(text)}", text, BOX, 1.0, 3) for text in texts)
        scene = Scene(1, 0, SceneMode.ACTIVE, (SceneDisplay(3, BOX, change=change),), None, (), lines, ())
        self.reading.on_scene(replace(scene, providers=(DisplayProviders(3, ocr, READY),)))

    def after(self, seconds: float) -> None:
        self.clock.advance(seconds)
        self.loop.turn(0.0)


def test_new_text_is_told_with_where_it_is() -> None:
    rig = _Rig()
    rig.show("make: *** Error 2", ssim=0.97)
    [event] = rig.told
    assert (event.type, event.ocr, event.source) == ("text", "make: *** Error 2", "acud")
    assert (event.meta.app, event.meta.windowTitle, event.meta.screen, event.meta.ssim) == (
        "Editor", "notes.txt", 3, 0.97,
    )  # fmt: skip


def test_another_picture_without_text_is_visual_a_small_change_is_nothing() -> None:
    rig = _Rig()
    rig.show(ssim=0.95)
    assert rig.told == []
    rig.show(ssim=0.5)
    assert [event.type for event in rig.told] == ["visual"]


def test_what_comes_in_the_pause_is_told_after_it_together() -> None:
    rig = _Rig()
    rig.show("first screen")
    rig.show("second of them")
    rig.show("second of them", "and a third line", ssim=0.4)
    rig.show("second of them", "and a third line", ssim=0.9)
    assert len(rig.told) == 1
    rig.after(SCENE_PAUSE_S)
    assert [event.ocr for event in rig.told] == ["first screen", "second of them\nand a third line"]
    assert rig.told[1].meta.ssim == 0.4
    rig.after(SCENE_PAUSE_S)
    assert len(rig.told) == 2


def test_text_that_could_not_be_read_is_not_gone() -> None:
    rig = _Rig()
    rig.show("steady text")
    rig.after(SCENE_PAUSE_S)
    rig.show(ocr=ProviderState("rapidocr", "unavailable", "crashed"))
    rig.show("steady text")
    assert len(rig.told) == 1


def test_nothing_is_kept_of_what_nobody_wants_or_of_a_display_that_went() -> None:
    rig = _Rig()
    rig.wanted = False
    rig.show("secret matters")
    assert rig.told == []
    rig.wanted = True
    rig.show("open matters")
    rig.show("something else entirely")
    rig.screen = None
    rig.after(SCENE_PAUSE_S)
    assert [event.ocr for event in rig.told] == ["open matters"]


def test_nothing_is_told_of_a_display_that_was_removed_in_the_pause() -> None:
    rig = _Rig()
    assert rig.screen is not None
    rig.show("steady text")
    rig.show("steady text", "one line more")
    rig.reading.forget(rig.screen)
    rig.after(SCENE_PAUSE_S)
    assert [event.ocr for event in rig.told] == ["steady text"]
    rig.show("steady text")
    assert [event.ocr for event in rig.told] == ["steady text"] * 2
