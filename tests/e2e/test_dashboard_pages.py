"""Every page of the dashboard at three widths, light and dark, by keyboard, without its session and without its daemon.

One browser session and one daemon: a page is opened once; width and colours are emulated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

import pytest
from playwright.sync_api import Browser, Route, expect

from acud.types import Change, Criteria, DisplayInfo, Rect, WindowTitle
from acud.types.tasks import ActionType, ItemStatus
from acud_client import Client
from tests.e2e.dashboard_support import PANELS, SETTINGS, Visitor
from tests.e2e.desktop import Desk, compared, ended, judged, until
from tests.e2e.gateway_support import served
from tests.fixtures.daemon import Daemon
from tests.fixtures.ports import free_port

LOOKS: tuple[tuple[int, int, Literal["light", "dark"]], ...] = (
    (1440, 900, "light"), (1024, 768, "dark"), (390, 844, "light"), (390, 844, "dark"),
)  # fmt: skip
LOOKED_AT = (390, "dark")
"""Where axe looks; the other files of the dashboard have it look at a desk in light."""
KEYS = {"o": "Overview", "t": "Tasks", "w": "Waits", "s": "Screens", "f": "Feed", "r": "Recordings", "c": "Commentary"}
KEYS |= {"k": "Wakes", "u": "Usage", "h": "Health"}


@pytest.fixture
def host() -> Iterator[Daemon]:
    """A daemon of its own with a port that it keeps, which may be killed."""
    with Daemon(settings=SETTINGS.replace("port = 0", f"port = {free_port()}")) as daemon:
        yield daemon


@pytest.mark.timeout(600)
def test_every_page_at_three_widths_and_what_it_outlives(browser: Browser, host: Daemon) -> None:
    """Nothing is too wide, axe finds nothing serious, and no script fails; then the session and the daemon go."""
    visitor = Visitor(browser, served(host))
    visitor.login(host.client)
    _says_what_to_do_while_there_is_nothing(visitor)
    pages = _scene(host.client, host)
    for name, path in ({one or "overview": one for one in PANELS} | pages).items():
        visitor.page.set_viewport_size({"width": 1440, "height": 900})
        visitor.go(path)
        _at_each_size(visitor, name)
        words = visitor.page.locator("main").inner_text()
        assert not re.search(r"\[smart_wait|never instructions|Traceback|undefined|\[object", words), f"{name}: {words}"
    assert not visitor.unserved
    _with_keys_alone(visitor)
    _on_a_phone(visitor)
    host.client.web_token_revoke("", every="session")
    expect(visitor.page.locator("#banner")).to_contain_text("This session is over")
    expect(visitor.page.locator("#link")).to_have_text("session over")
    _at_each_size(visitor, "expired")
    visitor.page.route("**/static/pages/commentary.js", lambda route: route.abort())  # nor is it had in advance
    visitor.login(host.client)
    _outlives_the_daemon(visitor, host)
    visitor.close()


def _says_what_to_do_while_there_is_nothing(visitor: Visitor) -> None:
    """Nothing is broken, and nothing is blank."""
    for panel in PANELS:
        visitor.go(panel)
        said = ".panel .nothing:visible, .panel table:visible, .panel .first-steps:visible, .panel .line:visible"
        expect(visitor.page.locator(said).first).to_be_visible()
        visitor.check(f"empty-{panel or 'now'}")
    assert not visitor.unserved


def _at_each_size(visitor: Visitor, name: str) -> None:
    for width, height, scheme in LOOKS:
        visitor.page.set_viewport_size({"width": width, "height": height})
        visitor.page.emulate_media(color_scheme=scheme)
        visitor.check(f"page-{name}-{width}-{scheme}", axe=(width, scheme) == LOOKED_AT)


def _with_keys_alone(visitor: Visitor) -> None:
    """Go to each panel by its key; Tab alone leads from the top into the list, and Enter opens a row of it."""
    page = visitor.page
    page.set_viewport_size({"width": 1440, "height": 900})
    visitor.go("")
    for key, title in KEYS.items():
        page.keyboard.press(key)
        expect(page.get_by_role("heading", name=title, level=1)).to_be_visible()
    page.keyboard.press("w")
    page.get_by_role("button", name="All", exact=True).press("Enter")
    expect(page.locator(".list a.row").first).to_be_visible()
    page.evaluate("document.activeElement.blur()")
    seen: list[str] = []
    while not page.locator(".list a.row:focus").count():
        page.keyboard.press("Tab")
        here = page.evaluate("document.activeElement.outerHTML.slice(0, 120)")
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none", f"the focus is not seen on {here}"
        seen.append(here)
        assert len(seen) < 60, seen
    page.keyboard.press("Enter")
    expect(page.locator(".detail h1")).to_be_visible()


def _on_a_phone(visitor: Visitor) -> None:
    page = visitor.page
    page.set_viewport_size({"width": 360, "height": 740})
    visitor.go("tasks")
    page.get_by_role("button", name="Menu").click()
    visitor.check("phone-menu")
    page.get_by_role("link", name="Waits").click()
    expect(page.get_by_role("heading", name="Waits")).to_be_visible()
    expect(page.get_by_role("button", name="Menu")).to_have_attribute("aria-expanded", "false")


def _outlives_the_daemon(visitor: Visitor, daemon: Daemon) -> None:
    """While it is gone the page says since when, keeps what it had, and goes on by itself when it is back: also a panel
    whose file could not be had meanwhile. A daemon that is busy is not said to be gone, nor live.
    """
    page = visitor.page
    visitor.go("tasks")
    page.route("**/api/**", _answer_busy)
    page.get_by_role("button", name="All", exact=True).click()
    expect(page.locator("#link")).to_have_text("daemon busy")
    expect(page.locator("#banner")).to_contain_text("The daemon is busy: no answer since")
    expect(page.locator("#banner")).not_to_contain_text("start")
    page.unroute("**/api/**")
    expect(page.locator("#link")).to_have_text("live")
    daemon.kill()
    expect(page.locator("#banner")).to_contain_text("does not answer since")
    expect(page.locator("#link")).to_have_text("not connected")
    expect(page.locator("a.row")).to_have_count(1)
    _at_each_size(visitor, "down")
    page.goto(f"{visitor.url}/dashboard#/commentary")
    expect(page.locator(".trouble")).to_contain_text(re.compile(r"file did not load: .*commentary\.js"))
    page.unroute_all(behavior="ignoreErrors")
    daemon.start()
    served(daemon)
    expect(page.locator("h1")).to_have_text("Commentary")
    expect(page.locator(".trouble")).to_have_count(0)
    visitor.go("tasks")
    expect(page.locator("#link")).to_have_text("live")
    expect(page.locator("#banner")).to_be_hidden()
    daemon.client.task_update(daemon.client.task_list().tasks[0].task.task_id, status="paused")
    expect(page.locator("a.row .badge")).to_contain_text("paused")
    visitor.check("daemon-back", axe=False)


def _answer_busy(route: Route) -> None:
    """Answer as the gateway does for a daemon that listens and does not answer."""
    words = "the acud daemon did not answer task_list within 10 s"
    route.fulfill(status=503, json={"ok": False, "error": words, "code": "daemon_busy"})


def _scene(client: Client, daemon: Daemon) -> dict[str, str]:
    """Have agents at work, and return the pages of single things by name."""
    plan = ["Sign in to the bank", "Download the statements", "File them"]
    task = client.task_register("Download last year's bank statements", plan, display_width=640, display_height=400)
    task_id, display = task.view.task.task_id, task.view.task.display
    film = client.record_list(task_id=task_id).recordings[0].recording_id
    client.task_item_update(task_id, 1, ItemStatus.ACTIVE)
    client.task_log_action(task_id, ActionType.GUI, "click left at 100,120", output_data={"points": [[100, 120]]})
    client.task_update(task_id, message="The statements of January to March are saved; those of April are loading.")
    shown: DisplayInfo = next(one for one in client.display_list().displays if one.name == display)
    other = client.display_create(1280, 720).display
    until(lambda: client.record_show(film).recording.frames, "its first frame, before what is painted once")
    with Desk(shown.name, shown.auth_file) as desk:
        window = desk.words(Rect(40, 40, 480, 120), "Saving statement 4 of 12", "Bank")
        asked = client.wait_create(
            Criteria("the statements of the whole year are in the folder Documents"), task_id=task_id, timeout_s=3600
        ).wait
        change = client.wait_create(
            Change(), "window:Bank", task_id=task_id, label="the next statement", timeout_s=600
        ).wait
        compared(daemon, change.wait_id)
        judged(client, asked.wait_id, "no")
        desk.rewrite(window, "Saving statement 5 of 12")
        ended(client, change.wait_id)
        late = client.wait_create(WindowTitle("Signed out"), task_id=task_id, timeout_s=0.5, label="never").wait
        ended(client, late.wait_id)
        until(lambda: client.record_show(film).recording.frames > 1, "a recorded frame")
    for number in range(12):
        wait = client.wait_create(
            WindowTitle(f"Invoice {number}"), display=other.name, timeout_s=3600, label=f"invoice {number}"
        )
        if number % 3 == 0:
            client.wait_cancel(wait.wait.wait_id)
    return {
        "task": f"tasks/{task_id}",
        "wait-watching": f"waits/{asked.wait_id}",
        "wait-resolved": f"waits/{change.wait_id}",
        "wait-timeout": f"waits/{late.wait_id}",
        "screen": f"screens/{display}",
        "recording": f"recordings/{film}",
        "wait-new": "waits/new",
        "task-new": "tasks/new",
        "screen-new": "screens/new",
    }
