"""What a client may ask for, and what it is told when it may not."""

import math
from typing import Any

import pytest

from acud.base.errors import AcudError, InvalidRequest, Refused
from acud.types import (
    AllOf,
    AnyOf,
    Change,
    Criteria,
    NameMatch,
    NotOf,
    Policy,
    Rect,
    Stable,
    Target,
    Text,
    Until,
    Widget,
    WindowTitle,
    display_name,
)
from acud.waits.targets import parse_target
from acud.waits.validation import check_until, update_spec, validate


@pytest.mark.parametrize(("text", "display", "target"), [
    ("screen", "", Target()), (" Screen ", ":7", Target(":7")), ("display::100", "", Target(":100")),
    ("display:100", "", Target(":100")), ("display::100", "100", Target(":100")),
    ("window: Save as ", ":7", Target(":7", window="Save as")), ("window:0x1A", "", Target(window="0x1A")),
    ("window:a:b", "", Target(window="a:b")), ("region:1,2,3,4", "", Target(region=Rect(1, 2, 3, 4))),
    ("region: 1 , 2 , 3 , 4 ", ":7", Target(":7", region=Rect(1, 2, 3, 4))),
    ("pty:/dev/pts/3", ":7.0", Target(":7", pty="pts/3")), ("pty:pts/03", "", Target(pty="pts/3")),
    ("pty: build 2", "", Target(pty="build 2")), ("pty:tmux:work/build", "", Target(pty="tmux:work/build")),
    ("pty:tmux:/run/t/s/build", "", Target(pty="tmux:/run/t/s/build")), ("pty:tmux:build", "", Target(pty="build")),
    ("monitor:HDMI-1", "7.1", Target(":7.1", monitor="HDMI-1")),
])  # fmt: skip
def test_targets(text: str, display: str, target: Target) -> None:
    assert parse_target(text, display) == target


@pytest.mark.parametrize("text", [
    "", "screens", "screen:", "screen:1", "display:", "window:", "window:  ", "region:", "region:1,2,3",
    "region:1,2,0,4", "region:-1,2,3,4", "region:1,2,3,99999", "region:a,b,c,d", "region:１,2,3,4",
    "pty:", "pty:a.b", "pty:a/b", "pty:tmux:/../s/main", "pty:tmux:-x/main", "pty:tmux:s/", "monitor:", "tty:1",
])  # fmt: skip
def test_no_targets(text: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        parse_target(text)
    assert caught.value.hint


def test_a_display_has_one_name_and_a_second_screen_its_own() -> None:
    spelled = ("7", ":7", ":7.0", "7.0", ":07", ":007.00", "unix:7", "unix:07.0", " :7 ")
    assert {display_name(name) for name in spelled} == {":7"}
    assert {display_name(name) for name in ("7.1", ":7.1", ":07.01", "unix:7.1")} == {":7.1"}
    assert {display_name(name) for name in ("h1/:7", "h1/:07", "h1/:7.0")} == {"h1/:7"}
    for other in ("", "host:7", "localhost:7.0", ":7x", ":٧", "h1/"):  # another machine's, and none at all
        assert display_name(other) == other


def test_two_displays_are_one_too_many() -> None:
    with pytest.raises(InvalidRequest, match="names display :1, and the request names :2"):
        parse_target("display::1", ":2")
    with pytest.raises(InvalidRequest, match="ignored box"):
        parse_target("screen", ignore=(Rect(0, 0, 0, 5),))


def deep(levels: int) -> Until:
    until: Until = Stable(1)
    for _ in range(levels - 1):
        until = NotOf(until)
    return until


def test_words_are_stripped_and_patterns_are_not() -> None:
    until = AllOf((Criteria(" done "), Text(" a b "), Text(" a+ ", regex=True), AnyOf((WindowTitle(" x "),))))
    assert check_until(until) == AllOf(
        (Criteria("done"), Text("a b"), Text(" a+ ", regex=True), AnyOf((WindowTitle("x"),)))
    )
    assert check_until(deep(8)) == deep(8)


@pytest.mark.parametrize(
    "until",
    [
        Criteria("  "),
        Criteria("a\0b"),
        Text(" "),
        Text("(", regex=True),
        Text(r"(a)\1", regex=True),
        WindowTitle("(?<=a)b", regex=True),
        Text("a{1001}", regex=True),
        Text("a" * 501, regex=True),
        Text("  ", regex=True),
        WindowTitle("\n"),
        WindowTitle("*", regex=True),
        WindowTitle(f"(?i){'a?' * 240}", regex=True),  # 4 ms a title, in the supervisor
        Widget(name="(?:[^x]?[^y]?){100}", match=NameMatch.REGEX),
        Change(baseline="yesterday"),
        Change(settle_s=math.nan),
        Stable(math.inf),
        AllOf(()),
        deep(9),
        AllOf(tuple(AnyOf((Stable(1),) * 16) for _ in range(5))),
        NotOf(AnyOf((Criteria(" "),))),
    ],
)
def test_no_conditions(until: Until) -> None:
    with pytest.raises(InvalidRequest) as caught:
        check_until(until)
    assert caught.value.hint


def test_a_pattern_for_a_terminal_is_bounded_as_one_for_titles_is() -> None:
    """The supervisor searches both; what evaluators read may take longer."""
    wanted: dict[str, Any] = {"timeout_s": 5, "default_timeout_s": 5, "max_timeout_s": 9}
    large, small = Text(f"(?i){'a?' * 240}", regex=True), Text("error.*[0-9]+", regex=True)
    assert validate(large, Target(), **wanted).until == large
    spec = validate(small, Target(pty="build"), **wanted)
    for refuse in (
        lambda: validate(large, Target(pty="build"), **wanted),
        lambda: update_spec(spec, until=NotOf(large), timeout_s=None, policy=None, max_timeout_s=9),
    ):
        with pytest.raises(InvalidRequest, match="text pattern is too large"):
            refuse()


@pytest.mark.parametrize(
    "pattern", ["(a|b)c", "(abc)+", "[ab]+c*", r"\(a+\)+", "(?:ab){2}", "a{1,3}b", "[(+]+", "(a+)+$", "(?:A?){60}b"]
)
def test_harmless_patterns_pass(pattern: str) -> None:
    assert check_until(Text(pattern, regex=True))


@pytest.mark.parametrize("timeout_s", [-1.0, math.nan, math.inf, -math.inf])
def test_no_timeouts(timeout_s: float) -> None:
    with pytest.raises(InvalidRequest):
        validate(Stable(1), Target(), timeout_s=timeout_s, default_timeout_s=300, max_timeout_s=1000)


def test_timeouts_have_a_default_and_a_limit() -> None:
    assert validate(Stable(1), Target(), timeout_s=None, default_timeout_s=300, max_timeout_s=1000).timeout_s == 300
    assert validate(Stable(1), Target(), timeout_s=0, default_timeout_s=300, max_timeout_s=1000).timeout_s == 0
    with pytest.raises(Refused, match="above the limit of 1000"):
        validate(Stable(1), Target(), timeout_s=1001, default_timeout_s=300, max_timeout_s=1000)


def test_updates_change_only_what_is_given() -> None:
    spec = validate(Stable(1), Target(), timeout_s=5, default_timeout_s=300, max_timeout_s=1000)
    policy = Policy(confirm=3)
    assert update_spec(spec, until=None, timeout_s=None, policy=policy, max_timeout_s=10).policy is policy
    again = update_spec(spec, until=Criteria(" x "), timeout_s=7, policy=None, max_timeout_s=10)
    assert (again.until, again.timeout_s, again.target) == (Criteria("x"), 7, spec.target)
    for wrong in ({"timeout_s": 0.0}, {"timeout_s": 11.0}, {}, {"policy": Policy(interval_s=math.nan)}):
        with pytest.raises(AcudError):
            update_spec(spec, **{"until": None, "timeout_s": None, "policy": None, "max_timeout_s": 10, **wrong})  # type: ignore[arg-type]


@pytest.mark.parametrize("unseen", ["\u200b", "\u00ad\ufeff", " \u2060 ", "\u3164", "\ufe0f\u0301", "\x07"])
def test_words_of_nothing_that_can_be_seen_are_refused(unseen: str) -> None:
    for leaf in (Text(unseen), Text(unseen, gone=True), Criteria(unseen), WindowTitle(unseen)):
        with pytest.raises(InvalidRequest, match="nothing that can be seen"):
            check_until(leaf)
    assert check_until(Text(f"a{unseen}"))
    assert check_until(Text("\ue0a0"))
