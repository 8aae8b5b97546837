"""The scene as text: deterministic, bounded, honest about what it leaves out, deaf to what the screen says."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acud.features.scene.prompt import CHARACTERS_PER_TOKEN, prompt_text, quoted
from acud.types import Rect
from acud.types.scene import DisplayProviders, FocusedWindow, ProviderState, Redacted, SceneDisplay, SceneTruncation
from tests.unit.features.scene.scenes import scene, text, widget


def test_the_form() -> None:
    assert prompt_text(scene(42)).splitlines() == [
        "scene 42 active 2025-11-22T10:00:00.000Z",
        "display 1 :100 1280x720",
        'focus "report" "editor" pid 812 [0,0,800,600] d1',
        'app "editor" 812: 0x60000a "report" [0,0,800,600] d1',
        't1-1 "line 1" [10,20,90,16]',
        't1-2 "line 2" [10,40,90,16]',
        'a1-1 button "Save" [200,20,60,18] click',
        "providers d1: ocr rapidocr ready; ax at-spi ready",
    ]


def test_what_failed_and_what_was_taken_out_always_shows() -> None:
    dead = DisplayProviders(1, ProviderState("rapidocr", "ready"), ProviderState("at-spi", "unavailable", "no bus"))
    down = SceneDisplay(2, Rect(0, 0, 0, 0), name=":101", state="down", reason="the X server is gone")
    cut = SceneTruncation(ax=(20_000, 2_000), reason="the walk's limit")
    up = SceneDisplay(1, Rect(0, 0, 1280, 720), name=":100", truncation=cut)
    found = scene(
        ocr=tuple(text(n) for n in range(500)),
        ax=(),
        displays=(up, down),
        providers=(dead,),
        redactions=(Redacted("t1-3", "card"),),
    )
    said = prompt_text(found, 200)
    assert 'ax at-spi unavailable: "no bus"' in said
    assert 'display 2 :101 0x0 down: "the X server is gone"' in said
    assert "redacted t1-3: card" in said
    assert "truncated d1: ax 2000 of 20000 (the walk's limit)" in said


def test_each_display_has_its_own_focus() -> None:
    other = FocusedWindow("xterm", 9, Rect(1, 2, 3, 4), "top", 2)
    displays = (*scene().displays, SceneDisplay(2, Rect(0, 0, 9, 9), name=":101", focused_window=other))
    lines = prompt_text(scene(displays=displays)).splitlines()
    assert [line.rpartition(" ")[2] for line in lines if line.startswith("focus ")] == ["d1", "d2"]


@pytest.mark.parametrize("max_tokens", [150, 300, 600, 2000])
def test_the_budget_holds_and_what_is_left_out_is_counted(max_tokens: int) -> None:
    found = scene(ocr=tuple(text(n) for n in range(300)), ax=tuple(widget(n, f"b{n}") for n in range(200)))
    said = prompt_text(found, max_tokens)
    assert len(said) <= max_tokens * CHARACTERS_PER_TOKEN + 120
    shown = len(re.findall(r"^t1-", said, re.MULTILINE))
    left = re.search(r"\((\d+) more texts left out\)", said)
    assert left is not None
    assert shown + int(left[1]) == 300
    assert prompt_text(found, max_tokens) == said


def test_what_matters_more_comes_first() -> None:
    ocr = (text(1, "doubtful", conf=0.5), text(2, "sure"), text(3, "elsewhere", display=2))
    ids = re.findall(r"^(t\d-\d)", prompt_text(scene(ocr=ocr)), re.MULTILINE)
    assert ids == ["t1-2", "t1-1", "t2-3"]


@given(st.text(max_size=400))
def test_words_of_a_screen_stay_one_quoted_word(words: str) -> None:
    said = quoted(words)
    assert "\n" not in said
    assert said.startswith('"')
    assert said.endswith('"')
    assert len(prompt_text(scene(ocr=(text(1, words),))).split("\n")) == 7
