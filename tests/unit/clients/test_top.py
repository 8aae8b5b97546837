"""`acud top`: what is on the screen at several sizes, and what the keys do. A wall of 63 displays and 502 waits."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace
from rich.console import Console
from rich.text import Text as RichText

from acud.protocol.evaluation import JudgeHealth
from acud.protocol.requests.daemon import ChildStatus, StatusReply
from acud.protocol.requests.waits import WaitListReply
from acud.types import DisplayInfo, DisplayState, Target, Text, WaitInfo, WaitSpec, WaitState, no
from acud_cli.formatting import FittedTable
from acud_cli.top import Board, TopSnapshot, sparkline

DISPLAYS = tuple(
    DisplayInfo(
        f":{100 + place}", place, True, DisplayState.UP, width=1280, height=720, fps=place / 10, frame_age_s=1.0
    )
    for place in range(63)
)


def wait(number: int) -> WaitInfo:
    display = f":{100 + number % 63}"
    spec = WaitSpec(Text(f"order {number}"), Target(display=display), 3600.0)
    verdict = no("\x1b[31mnot there")
    name = f"wait-00t45sz4yzc68ctq{number:07}"
    return WaitInfo(name, WaitState.WATCHING, spec, display, 0.0, 3600.0, 3600.0 - number, verdict, judged=number)


def reading(calls: int = 7) -> TopSnapshot:
    children = tuple(ChildStatus(one.name, "capture", "ready", 4000, 0, 0.5, 42.0) for one in DISPLAYS)
    status = StatusReply(
        version="0.0.1",
        protocol=1,
        pid=4711,
        started_utc_s=1.0,
        uptime_s=3723.0,
        home="/h",
        server_start="s",
        displays=DISPLAYS,
        children=children,
        judges=(JudgeHealth("ocr", "ready"), JudgeHealth("ollama", "down", "it does not answer")),
        waits_live=502,
        waits_ended=13,
        judge_calls=calls,
        cost_usd_today=None,
        queued_jobs=3,
        degraded=("a reason " * 30,),
    )
    return TopSnapshot(status, WaitListReply(tuple(map(wait, range(502))), 502))


def draw(board: Board, width: int = 120, height: int = 40) -> list[str]:
    console = Console(width=width, height=height, markup=False, force_terminal=True, color_system=None)
    with console.capture() as captured:
        console.print(board.draw_screen(width, height))
    return captured.get().splitlines()


@pytest.fixture
def board() -> Board:
    found = Board()
    found.show_snapshot(reading())
    return found


def nothing(_: str) -> list[RichText]:
    raise AssertionError("no wait is opened")


def press(board: Board, *keys: str, opened: Callable[[str], list[RichText]] = nothing) -> bool:
    goes_on = True
    for key in keys:
        goes_on = board.press(key, opened)
    return goes_on


@pytest.mark.parametrize(("width", "height"), [(60, 24), (80, 24), (120, 40), (200, 60), (40, 10)])
def test_a_wall_of_displays_fits_and_shows_waits(board: Board, width: int, height: int) -> None:
    lines = draw(board, width, height)
    assert len(lines) <= height
    assert max(map(len, lines)) <= width
    waits = [line for line in lines if "text" in line]
    assert len(waits) >= (2 if height < 24 else 4)
    assert "\x1b[31m" not in "".join(lines)
    if height >= 24:
        assert sum("displays" in line and "of 63" in line for line in lines) == 1
        assert any(line.startswith(":162") for line in lines), "the display that changes most is on top"


def test_lists_scroll_to_their_ends_and_back(board: Board) -> None:
    first = [line for line in draw(board) if "order" in line]
    assert "order 501" in first[0], "the wait that ends first is on top"
    press(board, "end")
    last = [line for line in draw(board) if "order" in line]
    assert '"order 0"' in last[-1]
    press(board, *["pagedown"] * 3)
    assert [line for line in draw(board) if "order" in line] == last
    press(board, "home")
    assert [line for line in draw(board) if "order" in line] == first


def test_sorting_goes_through_columns_and_turns_round(board: Board) -> None:
    press(board, "right", "right", "right", "right")
    assert any("by judged ↓" in line for line in draw(board))
    assert '"order 501"' in next(line for line in draw(board) if "order" in line)
    press(board, "r")
    assert '"order 0"' in next(line for line in draw(board) if "order" in line)
    press(board, "left", "left", "left", "left")
    assert any("by left ↑" in line for line in draw(board))


def test_waits_on_windows_with_any_digits_are_sorted_by_place(board: Board) -> None:
    odd = wait(0)
    odd = replace(odd, spec=replace(odd.spec, target=Target(display=":100", window="5 m²")))
    view = reading()
    board.show_snapshot(replace(view, waits=replace(view.waits, waits=(odd, *view.waits.waits[1:]))))
    press(board, "right", "right", "right")
    assert any("by where ↑" in line for line in draw(board))


def test_the_list_with_the_focus_has_the_greatest_part(board: Board) -> None:
    assert sum("order" in line for line in draw(board)) > sum(line.startswith(":1") for line in draw(board))
    press(board, "tab")
    assert sum("order" in line for line in draw(board)) < sum(line.startswith(":1") for line in draw(board))
    press(board, "3")
    assert sum(line.startswith("capture") for line in draw(board)) > 10


def test_a_filter_leaves_what_matches_in_every_list(board: Board) -> None:
    press(board, "/", *":117", "enter")
    lines = draw(board)
    assert sum("order" in line for line in lines) == 8
    assert sum(line.startswith(":1") for line in lines) == 1
    press(board, "escape")
    assert any("of 502" in line for line in draw(board))


def test_the_selection_stays_with_its_wait_as_readings_come(board: Board) -> None:
    opened: list[str] = []

    def show(wait_id: str) -> list[RichText]:
        opened.append(wait_id)
        return [RichText("the whole wait")]

    press(board, "down", "down", "enter", opened=show)
    assert draw(board)[0].startswith("the whole wait")
    press(board, "x")
    board.show_snapshot(reading())
    press(board, "enter", "x", opened=show)
    assert opened == [wait(499).wait_id] * 2


def test_q_ends_it_but_not_in_a_filter(board: Board) -> None:
    assert press(board, "/", "q", "escape", " ")
    assert board.paused
    assert not press(board, "q")


def test_a_daemon_that_is_away_is_told_beside_the_last_reading(board: Board) -> None:
    board.fault = "the acud daemon is not running"
    assert any("not running" in line for line in draw(board))
    assert any("order" in line for line in draw(board))


def test_sparklines_rise_to_the_highest() -> None:
    assert sparkline([0.0, 1.0, 2.0, 4.0], 4) == "▁▃▅█"
    assert sparkline([0.0, 0.0], 4) == "  ▁▁"
    assert sparkline([1.0], 1, 10.0) == "▂"


def listing(width: int, *, terminal: bool = True) -> list[str]:
    table = FittedTable("state, what+, why+, where-, empty-, id")
    table.add_row(
        "watching",
        "a condition of some length or other",
        "because it is not there yet",
        ":100",
        "-",
        "wait-00t45sz4yzc68ctqpabc123",
    )
    console = Console(width=width, force_terminal=terminal, color_system=None)
    with console.capture() as captured:
        console.print(table)
    return [line.rstrip() for line in captured.get().splitlines()]


def test_a_narrow_listing_keeps_what_matters() -> None:
    assert listing(60)[0].split() == ["state", "what", "why", "id"]
    assert listing(60)[1].endswith("abc123")
    assert listing(100)[0].split() == ["state", "what", "why", "where", "id"]
    assert listing(4000, terminal=False)[0].split() == ["state", "what", "why", "where", "empty", "id"]
    assert max(map(len, listing(60))) <= 60
