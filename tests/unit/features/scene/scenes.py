"""Scenes to test with."""

from typing import Any

from acud.types import Rect
from acud.types.scene import (
    AxElement,
    DisplayProviders,
    FocusedWindow,
    OcrElement,
    ProviderState,
    Scene,
    SceneApp,
    SceneDisplay,
    SceneMode,
    SceneWindow,
)


def text(number: int, words: str = "", *, display: int = 1, conf: float = 0.97) -> OcrElement:
    box = Rect(10, 20 * number, 90, 16)
    return OcrElement(f"t{display}-{number}", words or f"line {number}", box, conf, display)


def widget(number: int, label: str = "", *, display: int = 1, actions: tuple[str, ...] = ("click",)) -> AxElement:
    return AxElement(f"a{display}-{number}", "button", Rect(200, 20 * number, 60, 18), display, label, actions)


def scene(number: int = 1, **given: Any) -> Scene:
    ready = ProviderState("rapidocr", "ready"), ProviderState("at-spi", "ready")
    fields: dict[str, Any] = {
        "displays": (SceneDisplay(1, Rect(0, 0, 1280, 720), name=":100", primary=True),),
        "focused_window": FocusedWindow("editor", 812, Rect(0, 0, 800, 600), "report", 1),
        "apps": (SceneApp("editor", 812, (SceneWindow("0x60000a", "report", Rect(0, 0, 800, 600), 1),)),),
        "ocr": (text(1), text(2)),
        "ax": (widget(1, "Save"),),
        "providers": (DisplayProviders(1, *ready),),
    }
    return Scene(number, 1_763_805_600_000, SceneMode.ACTIVE, **(fields | given))
