"""The dashboard in each state it can be in: logged out, empty, refused, without its daemon, narrow, dark."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from acud.protocol.web import Scope
from tests.daemon import Daemon
from tests.e2e.api_support import Foreground
from tests.e2e.dashboard_support import PANELS, SETTINGS, Visitor, chromium, link
from tests.e2e.gateway_support import served
from tests.ports import free_port


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A Chromium."""
    with chromium() as running:
        yield running


@pytest.fixture(scope="module")
def daemon() -> Iterator[Daemon]:
    """A daemon that has nothing to show yet."""
    with Daemon(settings=SETTINGS) as running:
        yield running


@pytest.fixture
def visitor(browser: Browser, daemon: Daemon) -> Iterator[Visitor]:
    """Somebody at a desk who is not logged in."""
    coming = Visitor(browser, served(daemon))
    yield coming
    coming.close()


def test_every_panel_says_what_to_do_while_there_is_nothing(visitor: Visitor, daemon: Daemon) -> None:
    """Nothing is broken, and nothing is blank."""
    visitor.login(daemon.client)
    for panel in PANELS:
        visitor.go(panel)
        expect(visitor.page.locator(".panel .nothing, .panel table, .panel .entry").first).to_be_visible()
        visitor.check(f"empty-{panel or 'now'}")
    assert not visitor.unserved


def test_processes_are_named_by_what_they_are(visitor: Visitor, daemon: Daemon) -> None:
    """A number alone names nothing: the first evaluator and the web process would both be "0"."""
    visitor.login(daemon.client)
    visitor.go("health")
    processes = visitor.page.get_by_role("region", name="Processes, table")
    for name in (f"{child.kind} {child.name}" for child in daemon.client.status().children):
        expect(processes.get_by_role("rowheader", name=name, exact=True)).to_be_visible()


def test_a_login_link_works_once_and_leaves_the_address(visitor: Visitor, daemon: Daemon) -> None:
    """Who comes second is told how to get a new one; the page without a session says the same."""
    address = link(daemon.client, visitor.url)
    visitor.page.goto(f"{visitor.url}/dashboard")
    expect(visitor.page.locator("#banner")).to_contain_text("acud web login")
    visitor.check("logged-out")
    visitor.page.goto(address)
    visitor.page.wait_for_url(re.compile(r"/dashboard$"))
    expect(visitor.page.locator("#link")).to_have_text("live")
    visitor.page.goto(address)
    expect(visitor.page.locator("#said.bad")).to_contain_text("acud web login")
    assert "#" not in visitor.page.url
    visitor.check("login-used")
    visitor.unserved.clear()


def test_logging_out_ends_the_session(visitor: Visitor, daemon: Daemon) -> None:
    """The way back is the log-in page, and the old page shows nothing new."""
    visitor.login(daemon.client)
    visitor.page.get_by_role("button", name="Log out").click()
    visitor.page.wait_for_url(re.compile(r"/login$"))
    visitor.check("login")
    visitor.page.goto(f"{visitor.url}/dashboard")
    expect(visitor.page.locator("#banner")).to_contain_text("not logged in")


def test_a_session_that_is_revoked_is_over_at_once(visitor: Visitor, daemon: Daemon) -> None:
    """The page says so by itself, and how to come in again."""
    visitor.login(daemon.client)
    daemon.client.web_token_revoke("", every="session")
    expect(visitor.page.locator("#banner")).to_contain_text("This session is over")
    expect(visitor.page.locator("#link")).to_have_text("session over")
    visitor.check("revoked")


def test_a_pass_that_only_reads_has_no_controls(visitor: Visitor, daemon: Daemon) -> None:
    """A task can be seen; nothing can be done to it."""
    task = daemon.client.task_register("Only to be seen", ["Look"], isolated_display=False).view.task
    visitor.login(daemon.client, Scope.READ)
    visitor.go(f"tasks/{task.task_id}")
    expect(visitor.page.get_by_role("heading", name="Only to be seen")).to_be_visible()
    expect(visitor.page.get_by_role("button", name="Pause")).to_have_count(0)
    visitor.check("read-only")


def test_what_a_limited_pass_may_not_see_is_said_to_be_refused(visitor: Visitor, daemon: Daemon) -> None:
    """Refused is neither empty nor broken."""
    mine = daemon.client.task_register("Mine", ["One"], isolated_display=False).view.task
    other = daemon.client.task_register("Another's", ["One"], isolated_display=False).view.task
    visitor.login(daemon.client, Scope.ACT, tasks=[mine.task_id])
    visitor.go("tasks")
    expect(visitor.page.locator("a.row")).to_have_count(1)
    visitor.go(f"tasks/{other.task_id}")
    expect(visitor.page.locator(".detail .trouble").first).to_contain_text("No permission")
    visitor.go("commentary")
    expect(visitor.page.locator(".trouble")).to_contain_text("No permission")
    visitor.check("forbidden")


def test_the_page_outlives_its_daemon(browser: Browser) -> None:
    """While it is gone the page says since when, keeps what it had, and goes on by itself when it is back."""
    with Daemon(settings=SETTINGS.replace("port = 0", f"port = {free_port()}")) as daemon:
        task = daemon.client.task_register("Outlives", ["One"], isolated_display=False).view.task
        visitor = Visitor(browser, served(daemon))
        visitor.login(daemon.client)
        visitor.go("tasks")
        daemon.kill()
        expect(visitor.page.locator("#banner")).to_contain_text("does not answer since")
        expect(visitor.page.locator("a.row")).to_have_count(1)
        visitor.check("daemon-down")
        daemon.start()
        served(daemon)
        expect(visitor.page.locator("#link")).to_have_text("live")
        expect(visitor.page.locator("#banner")).to_be_hidden()
        daemon.client.task_update(task.task_id, status="paused")
        expect(visitor.page.locator("a.row .badge")).to_contain_text("paused")
        visitor.check("daemon-back")
        visitor.close()


def test_a_page_that_is_opened_while_the_daemon_is_down_comes_to_life_with_it(browser: Browser) -> None:
    """`acud web serve` lives on without its daemon: the page says what is missing, and needs no second reload."""
    bare = SETTINGS.replace("enabled = true", "enabled = false")
    with Daemon(settings=bare) as daemon, Foreground(daemon.home) as web:
        visitor = Visitor(browser, web.url)
        visitor.login(daemon.client)
        daemon.kill()
        expect(visitor.page.locator("#banner")).to_contain_text("The daemon does not answer since")
        visitor.page.reload()
        expect(visitor.page.locator("#main .trouble")).to_contain_text("The daemon does not answer")
        visitor.check("gateway-alone")
        daemon.start()
        expect(visitor.page.locator("#link")).to_have_text("live")
        expect(visitor.page.locator("#main .trouble")).to_have_count(0)
        visitor.check("gateway-joined")
        visitor.close()


def test_it_is_usable_at_the_width_of_a_phone_and_in_the_dark(browser: Browser, daemon: Daemon) -> None:
    """Every panel fits in 360 px; the menu opens, and closes when a panel is chosen."""
    visitor = Visitor(browser, served(daemon), width=360, height=740, dark=True)
    visitor.login(daemon.client)
    for panel in PANELS:
        visitor.go(panel)
        visitor.check(f"phone-{panel or 'now'}")
    visitor.page.get_by_role("button", name="Menu").click()
    visitor.check("phone-menu")
    visitor.page.get_by_role("link", name="Waits").click()
    expect(visitor.page.get_by_role("heading", name="Waits")).to_be_visible()
    expect(visitor.page.get_by_role("button", name="Menu")).to_have_attribute("aria-expanded", "false")
    visitor.close()


def test_keys_and_themes(visitor: Visitor, daemon: Daemon) -> None:
    """Panels have keys, `?` lists them, and the theme can be chosen and is kept."""
    visitor.login(daemon.client)
    visitor.page.keyboard.press("w")
    expect(visitor.page.get_by_role("heading", name="Waits", level=1)).to_be_visible()
    visitor.page.keyboard.press("?")
    expect(visitor.page.get_by_role("dialog")).to_contain_text("Keyboard shortcuts")
    visitor.check("shortcuts")
    visitor.page.keyboard.press("Escape")
    expect(visitor.page.get_by_role("dialog")).to_have_count(0)
    ground = "getComputedStyle(document.body.parentElement).backgroundColor"
    light = visitor.page.evaluate(ground)
    switch = visitor.page.locator("#theme")
    switch.click()
    switch.click()
    expect(switch).to_have_attribute("aria-label", re.compile("Theme: dark"))
    assert visitor.page.evaluate(ground) != light
    visitor.page.reload()
    expect(visitor.page.locator("html")).to_have_attribute("data-theme", "dark")
    assert visitor.page.evaluate(ground) != light
