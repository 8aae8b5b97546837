"""Where a target's pixels are."""

from msgspec.structs import replace

from acud.base.patterns import is_found
from acud.protocol.questions import display_of
from acud.types import MonitorInfo, Rect, Target, WindowInfo, WindowTitle, unknown
from acud.waits.events import TargetLocated
from acud.waits.local_answers import judge_titles
from acud.waits.targets import TargetLocation, locate, parse_window_id
from acud.waits.view_state import make_view

EDITOR = WindowInfo(10, "Editor – notes.txt", Rect(100, 50, 300, 200))
TERMINAL = WindowInfo(0x20, "Terminal", Rect(-50, 600, 200, 200))
HIDDEN = WindowInfo(30, "Hidden notes", Rect(0, 0, 10, 10), "unmapped")
BEHIND = WindowInfo(40, "Notes behind", Rect(0, 0, 640, 480), "covered")
ALL = (HIDDEN, EDITOR, TERMINAL, BEHIND)


def at(target: Target, held: int = 0) -> TargetLocation:
    return locate(target, ":1", 800, 700, ALL, held)


def test_screen_and_region() -> None:
    assert at(Target(ignore=(Rect(790, 0, 50, 20),))) == TargetLocation(":1", None, (Rect(790, 0, 10, 20),))
    assert at(Target(region=Rect(700, 600, 200, 200))) == TargetLocation(":1", Rect(700, 600, 100, 100))
    outside = at(Target(region=Rect(800, 0, 10, 10)))
    assert outside.missing is not None
    assert outside.missing.code == "not_viewable"


def test_windows_by_title_id_and_order() -> None:
    assert at(Target(window="NOTES")).window_id == 10
    assert at(Target(window="notes behind")).source == ":1.w40"
    assert at(Target(window="0x20")).window_id == 32
    assert at(Target(window="32")).window_id == 32
    assert at(Target(window="99")).missing is not None


def test_a_window_half_off_the_screen_is_cropped_with_its_ignored_boxes() -> None:
    found = at(Target(window="terminal", ignore=(Rect(40, 10, 20, 5), Rect(0, 0, 10, 10))))
    assert found == TargetLocation(":1", Rect(0, 600, 150, 100), (Rect(0, 10, 10, 5),), 32)


def test_missing_and_unviewable_are_told_apart() -> None:
    missing, hidden = at(Target(window="browser")).missing, at(Target(window="hidden")).missing
    assert missing is not None
    assert hidden is not None
    assert (missing.code, hidden.code) == ("window_missing", "not_viewable")


def test_a_window_is_followed_while_it_can_be_seen() -> None:
    assert at(Target(window="notes"), held=40).window_id == 40
    assert at(Target(window="notes"), held=30).window_id == 10
    assert at(Target(window="browser"), held=32).window_id == 32
    assert at(Target(window="0x20"), held=10).window_id == 32


def test_a_popup_is_meant_by_its_id_alone() -> None:
    menu = WindowInfo(50, "Notes menu", Rect(0, 0, 9, 9), kind="popup")
    assert locate(Target(window="notes"), ":1", 800, 700, (menu, EDITOR)).window_id == 10
    assert locate(Target(window="notes menu"), ":1", 800, 700, (menu, EDITOR)).missing is not None
    assert locate(Target(window="50"), ":1", 800, 700, (menu, EDITOR)) == TargetLocation(":1", Rect(0, 0, 9, 9), (), 50)
    assert judge_titles(WindowTitle("menu"), (menu,)).answer == "no"


def test_monitors_by_name_then_number() -> None:
    left, two = MonitorInfo("2", Rect(0, 0, 400, 700)), MonitorInfo("HDMI-1", Rect(400, 0, 900, 700), primary=True)

    def on(name: str, *there: MonitorInfo) -> TargetLocation:
        return locate(Target(monitor=name, ignore=(Rect(390, 0, 20, 5),)), ":1", 800, 700, ALL, monitors=there)

    assert on("hdmi-1", left, two) == TargetLocation(":1", Rect(400, 0, 400, 700), (Rect(390, 0, 10, 5),))
    assert on("2", left, two).crop == left.bounds
    assert on("1", left, two).crop == Rect(400, 0, 400, 700)
    for name, there in (("2", (two,)), ("0", ()), ("VGA", (left, two)), ("²", (left, two))):
        gone = on(name, *there).missing
        assert gone is not None
        assert gone.code == "monitor_missing"


def test_a_terminal_is_the_window_that_was_found_for_it() -> None:
    target = Target(pty="build")
    assert locate(target, ":1", 800, 700, ALL, shown_in=40).source == ":1.w40"
    for terminal, code in (
        (None, "not_judged"),
        (unknown("session_missing", "x"), "session_missing"),
        (7, "window_missing"),
    ):
        gone = locate(target, ":1", 800, 700, ALL, window_id=40, shown_in=terminal).missing
        assert gone is not None
        assert gone.code == code


def test_the_display_of_a_source() -> None:
    assert [display_of(name) for name in (":1", ":1.w40", ":7.1", ":7.1.w9")] == [":1", ":1", ":7.1", ":7.1"]


def test_numbers() -> None:
    texts = ("0x1f", "12", "2048 game", "0x", "", "1_0", "٣")
    assert [parse_window_id(text) for text in texts] == [31, 12, None, None, None, None, None]


def test_titles() -> None:
    assert judge_titles(WindowTitle("EDITOR"), ALL).answer == "yes"
    assert judge_titles(WindowTitle("editor", gone=True), ALL).answer == "no"
    assert judge_titles(WindowTitle("browser", gone=True), ALL).answer == "yes"
    assert judge_titles(WindowTitle(r"^Term\w+$", regex=True), ALL).answer == "yes"
    assert judge_titles(WindowTitle("EDITOR"), ALL).boxes == ()
    assert judge_titles(WindowTitle("notes"), ()).detail == 'no window titled "notes" is there'


def test_the_box_of_a_window_is_in_the_pixels_of_the_target() -> None:
    display = make_view(TargetLocated(0.0, ":1", 1, "server", 800, 700, Rect(50, 0, 300, 400)))
    own = make_view(TargetLocated(0.0, ":1.w10", 1, "server", 300, 200))
    gone = WindowTitle("editor", gone=True)
    assert judge_titles(WindowTitle("editor"), ALL, display).boxes == (Rect(50, 50, 250, 200),)
    assert judge_titles(gone, ALL, display).boxes == (Rect(50, 50, 250, 200),)
    assert judge_titles(WindowTitle("Terminal"), ALL, display).boxes == (), "it is outside of the target"
    assert judge_titles(WindowTitle("Hidden"), ALL, display).boxes == (), "it shows nowhere"
    assert judge_titles(WindowTitle("editor"), ALL, own).boxes == (), "another window's pixels"


def test_a_pattern_is_searched_once_in_each_title() -> None:
    """20 waits on 300 titles, of which one changes: the supervisor searches 301 times, not 12,000."""
    windows = tuple(replace(ALL[0], title=f"document {number}") for number in range(300))
    changed = (*windows[1:], replace(ALL[0], title="another"))
    is_found.cache_clear()
    for seen in (windows, changed):
        for _ in range(20):
            assert judge_titles(WindowTitle("nowhere [0-9]", regex=True), seen).answer == "no"
    assert is_found.cache_info().misses == 301
