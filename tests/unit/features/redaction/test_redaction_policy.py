"""What a job is told to hide: windows where the frame may show them, regions, the unknown; nothing without rules."""

from types import SimpleNamespace
from typing import Any

import pytest

from acud.config import HiddenRegion, HiddenWindow, RedactionSettings
from acud.features.redaction.supervisor import RedactionPolicy
from acud.protocol.questions import Hide
from acud.supervisor.observers import Observers
from acud.types import Rect, WindowInfo

VAULT = WindowInfo(7, "KeePass 2", Rect(10, 10, 50, 40), wm_class="Vault")
MAIL = WindowInfo(8, "mail", Rect(0, 0, 200, 100), wm_class="Mail")


class Stage:
    """One display `:1` with its windows and frames, as the supervisor knows them."""

    def __init__(self, **settings: Any) -> None:
        self.screen = SimpleNamespace(name=":1", windows=(), windows_known=False)
        self.display = SimpleNamespace(name=":1", display=":1", window_id=0, frame=5, width=200, height=100)
        self.followed: list[tuple[int, ...]] = []
        self.screens: Any = SimpleNamespace(
            by_name={":1": self.screen},
            watchers=Observers(),
            removed=Observers(),
            follow=lambda s, c, w: self.followed.append(w),
        )
        sources: Any = SimpleNamespace(by_name={":1": self.display})
        self.redaction = RedactionPolicy(RedactionSettings(**settings), self.screens, sources)

    def show(self, *windows: WindowInfo) -> None:
        self.screen.windows, self.screen.windows_known = windows, True
        self.redaction.windows_seen(self.screen)  # type: ignore[arg-type]

    def boxes(self, source: Any = None) -> set[tuple[str, Rect]]:
        hide = self.redaction.find_hidden(source or self.display)
        assert hide is not None
        assert not hide.fault
        return {(one.rule, one.box) for one in hide.boxes}


def test_without_rules_there_is_nothing_to_tell() -> None:
    stage = Stage()
    assert stage.redaction.find_hidden(stage.display) is None  # type: ignore[arg-type]


def test_before_the_windows_are_known_nothing_may_leave() -> None:
    stage = Stage(windows=(HiddenWindow(title="keepass"),))
    hide = stage.redaction.find_hidden(stage.display)  # type: ignore[arg-type]
    assert hide == Hide(frame=5, fault="which windows are to be hidden is not known yet")


def test_a_window_that_moved_is_hidden_in_both_places_until_the_next_frame() -> None:
    stage = Stage(windows=(HiddenWindow(title="keepass"),))
    stage.show(VAULT, MAIL)
    assert stage.followed == [(0,)]
    moved = WindowInfo(7, "KeePass 2", Rect(90, 10, 50, 40))
    stage.display.frame = 6
    stage.show(moved, MAIL)
    assert stage.boxes() == {("window", VAULT.bounds), ("window", moved.bounds)}
    stage.show(MAIL)
    assert stage.boxes() == {("window", VAULT.bounds), ("window", moved.bounds)}
    stage.display.frame = 7
    assert stage.boxes() == set()


def test_title_and_class_must_both_fit_and_unmapped_windows_hide_nothing() -> None:
    stage = Stage(windows=(HiddenWindow(title="keepass", wm_class="^vault$"),))
    unmapped = WindowInfo(9, "KeePass", Rect(0, 0, 9, 9), "unmapped", wm_class="Vault")
    stage.show(VAULT, MAIL, unmapped, WindowInfo(10, "KeePass", Rect(1, 1, 9, 9), wm_class="Other"))
    assert stage.boxes() == {("window", VAULT.bounds)}


def test_regions_are_of_one_display_or_of_all_and_follow_into_a_covered_window() -> None:
    regions = (HiddenRegion((0, 0, 30, 30)), HiddenRegion((5, 5, 9, 9), ":1"), HiddenRegion((1, 1, 1, 1), ":2"))
    stage = Stage(regions=regions, windows=(HiddenWindow(title="keepass"),))
    stage.show(VAULT, MAIL)
    places = {("region", Rect(0, 0, 30, 30)), ("region", Rect(5, 5, 9, 9))}
    assert stage.boxes() == {*places, ("window", VAULT.bounds)}
    covered = SimpleNamespace(name=":1.w8", display=":1", window_id=8, frame=2, width=200, height=100)
    assert stage.boxes(covered) == places
    itself = SimpleNamespace(name=":1.w7", display=":1", window_id=7, frame=2, width=50, height=40)
    assert stage.boxes(itself) == {("window", Rect(0, 0, 50, 40))}


def test_expressions_that_cannot_be_searched_for_stop_the_start() -> None:
    with pytest.raises(ValueError, match="longer than 500"):
        Stage(patterns=("x" * 600,))
    with pytest.raises(ValueError, match=r"looks ahead or behind, as in \(\?!\.\.\.\) \(use "):
        Stage(patterns=(r"(?<!\d)\d{6}",))


def test_who_needs_an_engine() -> None:
    reads = Stage().redaction.needs_reader
    assert not reads(local=True, keeps_evidence=True)
    assert reads(local=False, keeps_evidence=False)
    assert Stage(evidence="redacted").redaction.needs_reader(local=True, keeps_evidence=True)
    assert not Stage(evidence="redacted", ocr=False).redaction.needs_reader(local=False, keeps_evidence=True)


def test_wakes_quote_as_the_settings_say() -> None:
    assert Stage().redaction.redact_for_wake("Password: hunter2") == "Password: [REDACTED_PASSWORD]"
    assert Stage(redact_wakes=False).redaction.redact_for_wake("Password: hunter2") == "Password: hunter2"


def test_what_is_kept_of_a_screen_s_words_is_redacted_line_by_line() -> None:
    stage = Stage(patterns=("case \\d+",))
    written = stage.redaction.redact("see case 4711\nand case 12 " + "x" * 2000 + "\npassword: hunter2hunter2")
    assert "4711" not in written
    assert "case 12" not in written
    assert "hunter2" not in written
    assert written.count("x") == 2000
    assert Stage().redaction.redact("see case 4711") == "see case 4711"


def test_a_removed_display_leaves_nothing_to_its_successor_of_that_name() -> None:
    stage = Stage(windows=(HiddenWindow(title="keepass"),))
    stage.show(VAULT)
    stage.screen.windows_known = False
    for told in stage.screens.removed:
        told(stage.screen)
    stage.screen.windows, stage.screen.windows_known = (), True
    assert stage.boxes() == set()
