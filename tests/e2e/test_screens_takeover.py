"""A person takes a display over in the browser: keys and clicks land exactly, agents are refused meanwhile."""

from __future__ import annotations

import itertools
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Page

from acud.base.errors import Refused
from acud.protocol.web import Scope
from acud.types import DisplayInfo
from acud.types.actions import Click, ClipboardGet, ClipboardSet, Launch, Point, TypeText
from tests.e2e.chromium import SETTINGS, Chromium, Visit, is_there
from tests.e2e.desktop import titled, until
from tests.e2e.recording import Recording, act
from tests.fixtures.daemon import Daemon

pytestmark = pytest.mark.skipif(not is_there(), reason="there is no Chromium")

TYPED = "Grüße, 5 € + (a_b) ~ [x]|\\ 'q' 世界\nsecond line\n"


DAEMON_SETTINGS = SETTINGS


@pytest.fixture
def view(daemon: Daemon) -> Iterator[DisplayInfo]:
    made = daemon.client.display_create(640, 480).display
    # A key that is held types again and again, and one whose release comes late on its way here is held.
    env = {"PATH": "/usr/bin:/bin", "DISPLAY": made.name, "XAUTHORITY": made.auth_file}
    subprocess.run(["xset", "r", "off"], env=env, check=True, capture_output=True)
    yield made
    daemon.client.display_remove(made.name, force=True)


@pytest.fixture(scope="module")
def session(daemon: Daemon, chromium: Chromium) -> Iterator[Visit]:
    """A page for all: each login starts a renderer, which loads the dashboard anew."""
    with chromium.visit(daemon, "usage") as one:
        yield one


@pytest.fixture(scope="module")
def phone(daemon: Daemon, chromium: Chromium) -> Iterator[Visit]:
    """The same where two pixels lie in one of CSS, and fingers can be used."""
    with chromium.visit(daemon, "usage", device_scale_factor=2, has_touch=True) as one:
        yield one


@contextmanager
def at_screen(visit: Visit, view: DisplayInfo) -> Iterator[Page]:
    """Go to the display, wait for its picture, and in the end give it back and leave it."""
    visit.go(f"screens/{quote(view.name, safe='')}")
    visit.until("(width) => document.querySelector('.screen-canvas')?.width === width", view.width)
    yield visit.page
    if visit.page.get_by_role("button", name="Give back").count():
        visit.page.get_by_role("button", name="Give back").click()
        visit.page.get_by_role("button", name="Take over").wait_for()
    visit.go("usage")
    visit.until("() => !document.querySelector('.screen-canvas')")


@pytest.fixture
def visit(session: Visit, view: DisplayInfo) -> Iterator[Visit]:
    """The page, which shows the display."""
    with at_screen(session, view):
        yield session


def take(visit: Visit) -> None:
    """Take the display over, and return once it is."""
    visit.page.get_by_role("button", name="Take over").click()
    visit.page.get_by_role("button", name="Give back").wait_for()


def click_pixel(visit: Visit, x: int, y: int) -> None:
    """Click the middle of the display's pixel (x, y), scrolled into view as a person would."""
    place = visit.page.evaluate(
        "([x, y]) => { const canvas = document.querySelector('.screen-canvas');"
        "const frame = document.querySelector('.screen-frame'); const scale = canvas.clientWidth / canvas.width;"
        "frame.scrollTo(x * scale - 200, y * scale - 200); const box = canvas.getBoundingClientRect();"
        "return [box.left + (x + 0.5) * box.width / canvas.width, box.top + (y + 0.5) * box.height / canvas.height]; }",
        [x, y],
    )
    visit.page.mouse.click(*place)


def test_a_person_types_into_a_terminal(daemon: Daemon, visit: Visit, view: DisplayInfo, tmp_path: Path) -> None:
    heard = tmp_path / "heard"
    shell = f"cat > '{heard}'; echo > '{heard}.end'"
    act(daemon.client, Launch(("xterm", "-u8", "-title", "Typist", "-e", shell)), display=view.name)
    window = titled(daemon.client, view.name, "Typist")
    take(visit)
    with pytest.raises(Refused, match="taken over by Kim"):
        act(daemon.client, TypeText("agent"), display=view.name)
    click_pixel(visit, window.bounds.x + 60, window.bounds.y + 60)
    for character in TYPED:
        if character.isascii():
            visit.page.keyboard.press("Enter") if character == "\n" else visit.page.keyboard.type(character)
        else:
            visit.page.keyboard.insert_text(character)  # as an input method does
    _type_as_on_another_layout(visit)
    visit.page.keyboard.press("Control+d")
    until((tmp_path / "heard.end").exists, "the end of what was typed")
    assert heard.read_text(encoding="utf-8") == TYPED + OTHER_LAYOUT
    visit.shot("screens-takeover")
    visit.page.keyboard.press("Control+Shift+F12")
    visit.page.keyboard.press("Enter")  # the way out leads to the button that gives it back
    # The button can be pressed again once the daemon has taken the display back.
    visit.until(
        "() => document.querySelector('.screen-frame') && [...document.querySelectorAll('button:enabled')]"
        ".some((one) => one.textContent === 'Take over')"
    )
    act(daemon.client, Click(Point(5, 5)), display=view.name)


OTHER_LAYOUT = "/?Zz@Q€\n"


def _type_as_on_another_layout(visit: Visit) -> None:
    """Type `OTHER_LAYOUT` as a German keyboard does it: what needs Shift or AltGr there, the display's needs not."""
    wire = visit.page.context.new_cdp_session(visit.page)

    def key(kind: str, name: str, code: str, modifiers: int = 0) -> None:
        wire.send("Input.dispatchKeyEvent", {"type": kind, "key": name, "code": code, "modifiers": modifiers})

    def press(name: str, code: str, modifiers: int = 0) -> None:
        for kind in ("keyDown", "keyUp"):
            key(kind, name, code, modifiers)

    shift = 8
    key("keyDown", "Shift", "ShiftLeft", shift)
    press("/", "Digit7", shift)
    press("?", "Minus", shift)
    press("Z", "KeyY", shift)
    key("keyUp", "Shift", "ShiftLeft")
    press("z", "KeyY")
    key("keyDown", "AltGraph", "AltRight")
    visit.page.keyboard.insert_text("@")
    key("keyUp", "AltGraph", "AltRight")
    press("Q", "KeyQ")  # with Caps Lock on
    visit.page.keyboard.insert_text("€")
    visit.page.keyboard.press("Enter")


@pytest.mark.parametrize("ratio", [1, 2])
def test_clicks_land_on_their_pixel_at_any_size(
    daemon: Daemon, request: pytest.FixtureRequest, view: DisplayInfo, tmp_path: Path, ratio: int
) -> None:
    recorder = Recording(daemon.client, view.name, tmp_path)
    visit = request.getfixturevalue({1: "session", 2: "phone"}[ratio])
    wanted: list[tuple[int, ...]] = []
    places = itertools.cycle([(0, 0), (639, 479), (123, 321), (320, 7)])
    with at_screen(visit, view):
        assert visit.page.evaluate("devicePixelRatio") == ratio
        take(visit)
        for size in ("Fit into the page", "Smaller", "One pixel for each pixel", "Larger", "Larger"):
            visit.page.get_by_role("button", name=size).click()
            for x, y in (next(places), next(places)):
                click_pixel(visit, x, y)
                wanted.append((1, x, y))
        assert [press[:3] for press in recorder.presses(len(wanted))] == wanted


def test_buttons_wheel_drag_and_modifiers(daemon: Daemon, visit: Visit, view: DisplayInfo, tmp_path: Path) -> None:
    recorder = Recording(daemon.client, view.name, tmp_path)
    take(visit)
    visit.page.get_by_role("button", name="One pixel for each pixel").click()
    box = visit.page.locator(".screen-canvas").bounding_box()
    assert box is not None
    mouse = visit.page.mouse

    def to(x: int, y: int) -> None:
        mouse.move(box["x"] + x + 0.5, box["y"] + y + 0.5, steps=5)

    to(50, 60)
    mouse.click(box["x"] + 50.5, box["y"] + 60.5, button="right")
    mouse.wheel(0, -200)
    visit.page.keyboard.down("Control")
    mouse.down()
    to(200, 220)
    mouse.up()
    visit.page.keyboard.up("Control")
    presses = recorder.presses(4)
    assert [press[:3] for press in presses] == [(3, 50, 60), (4, 50, 60), (4, 50, 60), (1, 50, 60)]
    assert presses[3][3] & 4, "ctrl was down"
    recorder.until(lambda lines: "release 1 200 220" in lines, "the drop")
    mouse.down()
    visit.page.evaluate("window.dispatchEvent(new Event('blur'))")
    recorder.until(lambda lines: lines.count("release 1 200 220") == 2, "the release when the window loses focus")
    mouse.up()


def test_a_page_that_goes_gives_the_display_back(daemon: Daemon, visit: Visit, view: DisplayInfo) -> None:
    take(visit)
    visit.page.get_by_role("textbox", name="Note for the agents").fill("Half of it is done.")
    visit.page.mouse.move(400, 500)
    visit.page.mouse.down()
    visit.page.goto("about:blank")
    visit.page.mouse.up()

    def taken() -> str:
        return next(one.taken_by for one in daemon.client.display_list().displays if one.name == view.name)

    until(lambda: not taken(), "the display given back")
    assert act(daemon.client, Click(Point(5, 5)), display=view.name).note.endswith("Half of it is done.")


def test_whoever_may_not_or_comes_too_late_is_told(
    daemon: Daemon, chromium: Chromium, session: Visit, view: DisplayInfo
) -> None:
    lease = daemon.client.display_take(view.name, who="Lee", for_s=600).lease
    session.expected = ("403",)
    with at_screen(session, view) as page:
        page.get_by_text("Lee has it until").wait_for()
        page.get_by_role("button", name="Take over").click()
        page.get_by_role("alert").filter(has_text="taken over by Lee").wait_for()
        session.shot("screens-taken-by-another")
    session.expected = ()
    daemon.client.display_release(view.name, lease=lease)
    with chromium.visit(daemon, "usage", Scope.READ) as reader, at_screen(reader, view) as page:
        page.get_by_role("button", name="Fit").wait_for()
        assert page.get_by_role("button", name="Take over").count() == 0


def test_keys_of_the_menu_held_keys_full_screen_and_a_note(
    daemon: Daemon, session: Visit, view: DisplayInfo, tmp_path: Path
) -> None:
    recorder, visit = Recording(daemon.client, view.name, tmp_path), session
    with at_screen(session, view) as page:
        take(visit)
        click_pixel(visit, 50, 60)
        page.get_by_text("Keys", exact=True).click()
        visit.shot("screens-takeover-keys")
        page.get_by_role("button", name="Ctrl+Alt+Del").click()
        assert until(lambda: struck(recorder, CTRL | ALT), "Ctrl+Alt+Del")
        page.get_by_text("Keys", exact=True).click()
        page.get_by_role("button", name="Super", exact=True).first.click()
        page.keyboard.press("d")
        assert until(lambda: struck(recorder, SUPER), "the next key with Super")
        recorder.until(lambda _: len(recorder.lines("key ")) == len(recorder.lines("keyup ")), "its release")
        before = len(recorder.lines("key"))
        page.keyboard.down("w")
        down = until(lambda: recorder.lines("key")[before:], "the key down")[0].split()[1]
        assert recorder.lines("key")[-1].startswith(f"key {down} "), "released before it was"
        page.keyboard.up("w")
        recorder.until(lambda lines: lines[-1] == f"keyup {down}", "the key up")
        page.keyboard.down("Shift")
        page.keyboard.press("W")
        assert until(lambda: [line for line in struck(recorder, SHIFT) if line.split()[1] == down], "W with Shift held")
        page.evaluate("window.dispatchEvent(new Event('blur'))")
        recorder.until(lambda lines: lines[-1].startswith("keyup"), "the release of Shift when the window loses focus")
        page.keyboard.up("Shift")
        small = page.locator(".screen-canvas").evaluate("(canvas) => canvas.clientWidth")
        page.get_by_role("button", name="Full screen").click()
        visit.until("() => document.fullscreenElement?.matches('.screen-single')")
        visit.until("(small) => document.querySelector('.screen-canvas').clientWidth > small", small)
        click_pixel(visit, 320, 240)
        assert recorder.presses(2)[1][:3] == (1, 320, 240)
        page.get_by_role("button", name="Leave full screen").click()
        visit.until("() => !document.fullscreenElement")
        page.get_by_role("textbox", name="Note for the agents").fill("I signed in.")
        page.get_by_role("button", name="Give back").click()
        page.get_by_role("button", name="Take over").wait_for()
    assert act(daemon.client, Click(Point(5, 5)), display=view.name).note.endswith("I signed in.")


SHIFT, CTRL, ALT, SUPER = 1, 4, 8, 64
"""Bits of an X event's state."""


def struck(recorder: Recording, modifiers: int) -> list[str]:
    """Return the keys that came with exactly these modifiers down (besides locks and mouse buttons)."""
    wanted = SHIFT | CTRL | ALT | SUPER
    return [line for line in recorder.lines("key ") if int(line.split()[2]) & wanted == modifiers]


def test_the_clipboard_both_ways(daemon: Daemon, session: Visit, view: DisplayInfo) -> None:
    visit = session
    act(daemon.client, ClipboardSet("of the display"), display=view.name)
    with at_screen(session, view) as page:
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        take(visit)
        page.get_by_role("button", name="Clipboard").click()
        page.get_by_role("button", name="Read the display's").click()
        visit.until("() => document.querySelector('dialog textarea[readonly]').value === 'of the display'")
        page.get_by_role("button", name="Copy to this computer").click()
        visit.until("async () => await navigator.clipboard.readText() === 'of the display'")
        page.evaluate("navigator.clipboard.writeText('of this computer, ä')")
        page.get_by_role("button", name="Read this computer's").click()
        page.get_by_text("Nothing is on the display yet").wait_for()
        visit.shot("screens-takeover-clipboard")
        page.get_by_role("button", name="Put on the display").click()
        page.get_by_text("It is on the display's clipboard").wait_for()
        page.keyboard.press("Escape")
        page.get_by_role("button", name="Give back").click()
        page.get_by_role("button", name="Take over").wait_for()
        assert act(daemon.client, ClipboardGet(), display=view.name).text == "of this computer, ä"
        page.context.clear_permissions()  # a browser that refuses
        take(visit)
        page.get_by_role("button", name="Clipboard").click()
        page.get_by_role("button", name="Read this computer's").click()
        page.get_by_role("alert").filter(has_text="does not let this page use the clipboard").wait_for()
        page.keyboard.press("Escape")


NOTHING_IS_LONG = """() => {
  const plain = window.setTimeout;
  window.setTimeout = (act, ms, ...given) => plain(act, ms === 500 ? 300_000 : ms, ...given);
}"""
"""From now on no press of a finger counts as a long one, however late the next word of this process comes."""


def test_fingers(daemon: Daemon, phone: Visit, view: DisplayInfo, tmp_path: Path) -> None:
    recorder, visit = Recording(daemon.client, view.name, tmp_path), phone
    with at_screen(phone, view):
        take(visit)
        box = visit.page.locator(".screen-canvas").bounding_box()
        assert box is not None
        scale = box["width"] / view.width
        wire = visit.page.context.new_cdp_session(visit.page)

        def touch(kind: str, *places: tuple[int, int]) -> None:
            points = [{"x": box["x"] + (x + 0.5) * scale, "y": box["y"] + (y + 0.5) * scale} for x, y in places]
            wire.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

        touch("touchStart", (70, 80))
        assert recorder.presses(1)[0][:3] == (3, 70, 80), "a long press"
        touch("touchEnd")
        visit.page.evaluate(NOTHING_IS_LONG)
        touch("touchStart", (50, 60))
        touch("touchEnd")
        assert recorder.presses(2)[1][:3] == (1, 50, 60)
        touch("touchStart", (100, 100))
        touch("touchMove", (150, 150))
        touch("touchMove", (200, 210))
        touch("touchEnd")
        assert recorder.presses(3)[2][:3] == (1, 100, 100)
        recorder.until(lambda lines: "release 1 200 210" in lines, "the end of the drag")
        touch("touchStart", (200, 300))
        touch("touchStart", (200, 300), (260, 300))
        touch("touchMove", (200, 200), (260, 200))
        touch("touchEnd")
        assert recorder.presses(4)[3][0] == 5, "two fingers that go up scroll down"
