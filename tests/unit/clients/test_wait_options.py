"""Options to conditions, targets and policies."""

from pathlib import Path
from typing import Any

import click
import pytest

from acud.base.errors import InvalidRequest
from acud.types import (
    AllOf,
    AnyOf,
    Cadence,
    Change,
    Comparison,
    ConditionWords,
    Criteria,
    FileState,
    GateKind,
    NotOf,
    Policy,
    ProcessExit,
    Rect,
    ScreenImage,
    ScreenNumber,
    Stable,
    Target,
    Text,
    Then,
    Until,
    Widget,
    WidgetState,
    WindowTitle,
    appears_then_goes,
    condition_text,
    target_text,
)
from acud_cli.options import target_of
from acud_cli.wait_options import find_condition, replace_given

NOTHING = dict.fromkeys(
    (
        "cadence", "interval", "min_interval", "force_after", "gate", "gate_threshold", "confirm", "on_display_lost",
        "on_host_lost", "priority",
    ),
    None,
)  # fmt: skip


@pytest.mark.parametrize(("wanted", "until"), [
    ({}, None),
    ({"criteria": "done"}, Criteria("done")),
    ({"text": ("a",)}, Text("a")),
    ({"pattern": ("a+",), "match_case": True}, Text("a+", regex=True, match_case=True)),
    ({"gone": ("a",)}, Text("a", gone=True)),
    ({"text": ("a",), "whole_words": True, "count": 2}, Text("a", whole_words=True, count=2)),
    ({"pattern": ("a",), "count": 2}, Text("a", regex=True, count=2)),
    ({"gone": ("a",), "whole_words": True}, Text("a", gone=True, whole_words=True)),
    ({"widget": ('button "Submit" enabled',)}, Widget("button", "Submit", states=(WidgetState.ENABLED,))),
    ({"number": ("Progress >= 90 %",)}, ScreenNumber(Comparison.AT_LEAST, 90, "Progress", "%")),
    ({"window": ("w",)}, WindowTitle("w")),
    ({"window_gone": ("w",)}, WindowTitle("w", gone=True)),
    ({"change": True, "share": 0.1, "settle_s": 2.0, "baseline": "t"}, Change(0.1, 2.0, "t")),
    ({"stable": 3.0}, Stable(3.0)),
    ({"file": ("/srv/a",)}, FileState("/srv/a")),
    ({"file": ("~/a*",), "still_s": 0.0, "newer": False}, FileState("~/a*", 0.0, newer=False)),
    ({"file": ("a",)}, FileState(str(Path.cwd() / "a"))),
    ({"file_gone": ("/srv/a",)}, FileState("/srv/a", gone=True)),
    ({"process": ("12",)}, ProcessExit(12)),
    ({"stable": 3.0, "ignore_blinking": True}, Stable(3.0, ignore_blinking=True)),
    ({"change": True, "settle_s": 1.0, "ignore_blinking": True}, Change(settle_s=1.0, ignore_blinking=True)),
    ({"criteria": "c", "stable": 3.0}, AllOf((Criteria("c"), Stable(3.0)))),
    ({"text": ("a", "b"), "any": True}, AnyOf((Text("a"), Text("b")))),
    ({"appears_then_goes": "a"}, Then((Text("a"), Text("a", gone=True)))),
    (
        {"appears_then_goes": "a", "then": ("b",), "whole_words": True},
        Then((Text("a", whole_words=True), Text("a", gone=True, whole_words=True), Text("b", whole_words=True))),
    ),
    (
        {"change": True, "stable": 2.0, "then": ("b", "c")},
        Then((AllOf((Change(), Stable(2.0))), Text("b"), Text("c"))),
    ),
    ({"until": '{"type": "not", "part": {"type": "text", "text": "a"}}'}, NotOf(Text("a"))),
])  # fmt: skip
def test_conditions(wanted: dict[str, Any], until: Until | None) -> None:
    assert find_condition(wanted) == until


def test_images_are_read_from_files(tmp_path: Path) -> None:
    icon = tmp_path / "icon.png"
    icon.write_bytes(b"\x89PNG\r\n\x1a\n")
    wanted = {"image": (str(icon),), "image_gone": (str(icon),), "similarity": 0.8}
    both = (ScreenImage(icon.read_bytes(), gone=gone, similarity=0.8) for gone in (False, True))
    assert find_condition(wanted) == AllOf(tuple(both))


@pytest.mark.parametrize("wanted", [
    {"text": ("a",), "share": 0.5}, {"text": ("a",), "baseline": "token"}, {"change": True, "match_case": True},
    {"change": True, "whole_words": True}, {"gone": ("a",), "count": 2}, {"file_gone": ("a",), "still_s": 2.0},
    {"text": ("a",), "newer": True}, {"then": ("a",)}, {"change": True, "ignore_blinking": True},
    {"text": ("a",), "appears_then_goes": "b"}, {"number": ("Progress 90",)}, {"image": ("/nowhere.png",)},
    {"text": ("a",), "similarity": 0.8}, {"until": "{"}, {"until": '{"type": "text"}'},
    {"until": '{"type": "nonsense"}'},
])  # fmt: skip
def test_options_that_do_not_fit(wanted: dict[str, Any]) -> None:
    with pytest.raises((click.UsageError, InvalidRequest)):
        find_condition(wanted)


@pytest.mark.parametrize(("until", "words"), [
    (Criteria("the build is done"), "the build is done"), (Text("a"), 'text "a"'),
    (Text("a+", regex=True, gone=True), "text /a+/ gone"),
    (Text("a", whole_words=True, count=3), 'words "a" at least 3 times'),
    (ScreenNumber(Comparison.LESS, 1.5, "Free", "GB"), 'number "Free" < 1.5 GB'),
    (ScreenImage(width=48, height=20), "image 48x20"),
    (ScreenImage(width=48, height=20, gone=True, similarity=0.8), "image 48x20 at 0.8 gone"),
    (WindowTitle("w", gone=True), 'window "w" gone'), (Change(), "a change"),
    (Change(0.25, 2.0), "a change of 25%, then 2 s without one"), (Stable(3), "no change for 3 s"),
    (FileState("~/*.pdf", 2, newer=True), 'new file "~/*.pdf", unchanged for 2 s'),
    (FileState("/a", gone=True), 'file "/a" gone'), (ProcessExit(12), "end of process 12"),
    (Stable(3, ignore_blinking=True), "no change for 3 s but for blinking"),
    (AllOf((Text("a"), AnyOf((Text("b"), Stable(1))))), 'text "a" and (text "b" or no change for 1 s)'),
    (NotOf(Text("a")), 'not (text "a")'), (appears_then_goes(Text("a")), 'text "a", then no longer'),
    (Then((AllOf((Text("a"), Change())), Stable(1))), '(text "a" and a change), then no change for 1 s'),
])  # fmt: skip
def test_conditions_in_words(until: Until, words: str) -> None:
    assert condition_text(until, ConditionWords.DETAILED) == words


def test_targets() -> None:
    assert target_of("", None) == "screen"
    assert target_of("window:x", None) == "window:x"
    assert target_of("", (0, 1, 2, 3)) == "region:0,1,2,3"
    assert target_of("", None, window="Firefox") == "window:Firefox"
    with pytest.raises(click.UsageError, match="two targets"):
        target_of("screen", (0, 1, 2, 3))


def test_targets_in_words() -> None:
    assert target_text(Target(), ":100") == ":100"
    assert target_text(Target(window="Firefox"), ":100") == 'window "Firefox" on :100'
    assert target_text(Target(region=Rect(1, 2, 30, 40)), "") == "30x40+1+2 of the default display"


def test_a_policy_changes_only_what_is_given() -> None:
    assert replace_given(Policy(), NOTHING) == Policy()
    base = Policy(confirm=3, interval_s=2.0)
    changed = replace_given(base, NOTHING | {"cadence": "fixed", "gate": "none"})
    assert changed == Policy(Cadence.FIXED, 2.0, gate=GateKind.NONE, confirm=3)
