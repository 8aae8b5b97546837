"""The parsers of other window systems' answers, by golden vectors."""

from __future__ import annotations

import json

import pytest

from acud.errors import ProtocolError, Unavailable
from acud.scene import compositors as c
from acud.types import Rect

MONITORS = json.dumps([{"id": 0, "x": 0, "y": 0}, {"id": 1, "x": 1920, "y": 0}])
CLIENTS = [
    {"at": [10, 20], "size": [800, 600], "monitor": 0, "title": "Term", "class": "foot", "pid": 7},
    {"at": "nowhere", "size": [1, 1], "monitor": 0, "title": "broken"},
    {"at": [2000, 40], "size": [640, 480], "monitor": 1, "title": "", "class": "kitty", "pid": 8},
]


def test_hyprland_counts_over_all_displays_and_broken_windows_take_no_number() -> None:
    one, two = c.hyprland(json.dumps(CLIENTS), MONITORS)
    assert (one.id, one.label, one.bbox, one.display_id, one.pid) == ("a0-1", "Term", Rect(10, 20, 800, 600), 0, 7)
    assert (two.id, two.label, two.bbox, two.display_id) == ("a1-2", "kitty", Rect(80, 40, 640, 480), 1)


def test_a_window_on_an_unknown_monitor_is_left_out() -> None:
    assert c.hyprland(json.dumps([{**CLIENTS[0], "monitor": -1}]), MONITORS) == ()


@pytest.mark.parametrize("text", ["", "{", "not json", "{}", "null"])
def test_a_broken_answer_is_no_empty_desktop(text: str) -> None:
    with pytest.raises(ProtocolError):
        c.hyprland(text, MONITORS)
    with pytest.raises(ProtocolError):
        c.hyprland("[]", text)


def _rect(x: int, y: int, w: int, h: int) -> dict[str, int]:
    return {"x": x, "y": y, "width": w, "height": h}


def test_sway_goes_through_containers_and_takes_floating_windows_last() -> None:
    leaf = {"type": "con", "name": "Term", "pid": 3, "app_id": "foot", "rect": _rect(5, 6, 70, 80), "nodes": []}
    inner = {"type": "con", "name": None, "rect": _rect(0, 0, 100, 100), "nodes": [leaf]}
    web = {"type": "con", "name": None, "app_id": "firefox", "rect": _rect(1920, 0, 500, 400), "nodes": []}
    floating = {"type": "floating_con", "name": "Float", "window": 9, "rect": _rect(2000, 50, 30, 40), "nodes": []}
    space = {
        "type": "workspace",
        "name": "2",
        "nodes": [web],
        "floating_nodes": [floating],
        "rect": _rect(1920, 0, 1, 1),
    }
    tree = {
        "type": "root",
        "nodes": [
            {"type": "output", "name": "__i3", "nodes": [leaf], "rect": _rect(0, 0, 0, 0)},
            {"type": "output", "name": "eDP-1", "rect": _rect(0, 0, 1920, 1080), "nodes": [inner]},
            {"type": "output", "name": "HDMI-1", "rect": _rect(1920, 0, 1920, 1080), "nodes": [space]},
        ],
    }
    found = c.sway(json.dumps(tree))
    assert [(one.id, one.label) for one in found] == [("a0-1", "Term"), ("a1-2", "firefox"), ("a1-3", "Float")]
    assert [one.bbox for one in found] == [Rect(5, 6, 70, 80), Rect(0, 0, 500, 400), Rect(80, 50, 30, 40)]


@pytest.mark.parametrize("text", ["", "[]", "x"])
def test_a_broken_tree_is_no_empty_desktop(text: str) -> None:
    with pytest.raises(ProtocolError):
        c.sway(text)


def test_xrandr_monitors() -> None:
    (one,) = c.xrandr_monitors(" 1: +HDMI-0 3840/600x2160/340+2560+0  HDMI-0")
    assert (one.id, one.bounds, one.primary, one.name) == (1, Rect(2560, 0, 3840, 2160), False, "HDMI-0")
    both = c.xrandr_monitors(
        "Monitors: 2\n 0: +*eDP-1 1920/344x1080/194+0+0  eDP-1\n 1: +DP-1 800/1x600/1+-800+-20  DP-1\n"
    )
    assert [(m.id, m.bounds, m.primary) for m in both] == [
        (0, Rect(0, 0, 1920, 1080), True),
        (1, Rect(-800, -20, 800, 600), False),
    ]
    assert c.xrandr_monitors("Monitors: 0\n") == ()


def test_a_scan_in_which_every_window_failed_is_not_clean() -> None:
    swept = c.at_spi_payload('{"nodes":[],"failed":4,"total":4}')
    assert (swept.failed, swept.total, swept.is_clean) == (4, 4, False)
    assert c.at_spi_payload('{"nodes":[{"role":"frame"}],"failed":0,"total":1}').is_clean
    assert not c.at_spi_payload('{"nodes":[],"failed":0,"total":0,"error":"timeout"}').is_clean


@pytest.mark.parametrize("text", ["{}", "[]", ""])
def test_other_payloads_raise(text: str) -> None:
    with pytest.raises(ProtocolError):
        c.at_spi_payload(text)


def test_a_payload_that_says_unavailable_is_unavailable() -> None:
    with pytest.raises(Unavailable):
        c.at_spi_payload('{"nodes":[],"unavailable":true}')


def test_processes() -> None:
    text = "  100 /System/Library/CoreServices/loginwindow.app/Contents/MacOS/loginwindow\n  7 zsh\nnone\n"
    assert c.ps_processes(text) == ((100, "loginwindow"), (7, "zsh"))
    assert c.powershell_processes('{"Id": 4, "ProcessName": "System"}') == ((4, "System"),)
    assert c.powershell_processes('[{"Id": 4, "ProcessName": "a"}, {"Id": 5}]') == ((4, "a"),)
    with pytest.raises(ProtocolError):
        c.powershell_processes("")
