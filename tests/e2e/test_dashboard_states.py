"""The dashboard in each state it can be in: logged out, refused, opened without its daemon, narrow, dark."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import msgspec
import pytest
from playwright.sync_api import Browser, Route, expect

from acud.protocol.web import Scope
from acud.types import Criteria, DisplayInfo, WakeState, WindowTitle
from acud.types.tasks import TaskStatus
from tests.e2e.cli_support import CommandLine
from tests.e2e.dashboard_support import SETTINGS, Visitor
from tests.e2e.desktop import until
from tests.e2e.gateway_support import Foreground, served
from tests.fixtures.daemon import Daemon
from tests.fixtures.push_service import PushService

DAEMON_SETTINGS = SETTINGS


@pytest.fixture
def stranger(browser: Browser, daemon: Daemon) -> Iterator[Visitor]:
    """Somebody at a desk who is not logged in."""
    coming = Visitor(browser, served(daemon))
    yield coming
    coming.close()


def test_a_login_link_works_once_and_logging_out_ends_its_session(
    stranger: Visitor, daemon: Daemon, tmp_path: Path
) -> None:
    """Neither the address nor the browser's command line, open to all users, keeps a code. The second visitor reads how
    to get a new link."""
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {tmp_path}/words\n')
    browser.chmod(0o700)
    cli = CommandLine(daemon.home)
    cli.env["BROWSER"] = str(browser)
    printed = cli.run("web", "login", "--open").strip()
    words = until(lambda: (tmp_path / "words").exists() and (tmp_path / "words").read_text(), "the browser's words")
    address = words.strip()
    assert printed.partition("#")[2] not in words
    assert Path(urlsplit(address).path).stat().st_mode & 0o777 == 0o600
    stranger.page.goto(f"{stranger.url}/dashboard")
    expect(stranger.page.locator("#banner")).to_contain_text("acud web login")
    stranger.check("logged-out")
    stranger.page.goto(address)
    stranger.page.wait_for_url(re.compile(r"/dashboard$"))
    expect(stranger.page.locator("#link")).to_have_text("live")
    stranger.page.goto(address)
    expect(stranger.page.locator("#said.bad")).to_contain_text("acud web login")
    assert "#" not in stranger.page.url
    stranger.check("login-used")
    stranger.login(daemon.client)
    stranger.page.get_by_role("button", name="Log out").click()
    stranger.page.wait_for_url(re.compile(r"/login$"))
    stranger.check("login")
    stranger.page.goto(f"{stranger.url}/dashboard")
    expect(stranger.page.locator("#banner")).to_contain_text("not logged in")


def test_what_a_limited_pass_may_not_do_has_no_controls(
    stranger: Visitor, daemon: Daemon, display: DisplayInfo
) -> None:
    """Who reads sees all and can do nothing; who waits makes waits and tasks, no displays; another's task is refused,
    which is neither empty nor broken."""
    page = stranger.page
    task = daemon.client.task_register("Only to be seen", ["Look"], isolated_display=False).view.task
    other = daemon.client.task_register("Another's", ["One"], isolated_display=False).view.task
    wait = daemon.client.wait_create(WindowTitle("never there"), display=display.name).wait
    stranger.login(daemon.client, Scope.READ)
    stranger.go(f"tasks/{task.task_id}")
    expect(page.get_by_role("heading", name="Only to be seen")).to_be_visible()
    expect(page.get_by_role("button", name="Pause")).to_have_count(0)
    stranger.check("read-only")
    for panel in ("waits", "tasks", "screens", f"screens/{display.name}"):
        stranger.go(panel)
        assert page.get_by_role("link", name=re.compile("^New |^Wait for")).count() == 0
        assert page.get_by_role("button", name="Select", exact=True).count() == 0
    expect(page.get_by_role("heading", name=display.name)).to_be_visible()
    expect(page.get_by_role("button", name="Take over")).to_have_count(0)
    stranger.check("read-only-screen")
    for panel in ("waits/new", "tasks/new", "screens/new"):
        stranger.go(panel)
        expect(page.locator(".nothing")).to_contain_text("This session may")
        expect(page.locator(".panel form")).to_have_count(0)
    daemon.client.wait_cancel(wait.wait_id)

    stranger.login(daemon.client, Scope.WAIT)
    stranger.go("screens")
    expect(page.get_by_role("link", name=display.name)).to_be_visible()
    expect(page.get_by_role("link", name="New display")).to_have_count(0)
    stranger.go("tasks")
    expect(page.get_by_role("link", name="Only to be seen")).to_be_visible()
    expect(page.get_by_role("button", name="Select", exact=True)).to_have_count(0)
    page.get_by_role("link", name="New task").click()
    expect(page.get_by_label("with a display of its own")).to_be_disabled()
    stranger.go("waits/new")
    expect(page.locator("select[name=kind] option[value=file]")).to_have_count(0)
    stranger.check("new-wait-of-a-wait-session")

    stranger.login(daemon.client, Scope.ACT, tasks=[task.task_id])
    stranger.go("tasks")
    expect(page.locator("a.row")).to_have_count(1)
    stranger.go(f"tasks/{other.task_id}")
    expect(page.locator(".detail .trouble").first).to_contain_text("No permission")
    stranger.go("commentary")
    expect(page.locator(".trouble")).to_contain_text("No permission")
    stranger.check("forbidden")


def test_a_screen_names_its_task_and_a_link_opens_that_display_or_none(visitor: Visitor, daemon: Daemon) -> None:
    """Names of displays are used again: whoever follows a task's link never looks at somebody else's display."""
    task = daemon.client.task_register("Book the flight", ["Look"]).view.task
    assert task.display
    visitor.go("screens")
    card = visitor.page.locator(".screen-card").filter(has=visitor.page.get_by_role("link", name="Book the flight"))
    expect(card.locator(".screen-facts")).to_contain_text(task.display)
    visitor.check("screens-task")
    visitor.go(f"tasks/{task.task_id}")
    visitor.page.get_by_role("link", name=task.display, exact=True).click()
    expect(visitor.page.locator(".screen-single")).to_contain_text("Book the flight")
    visitor.page.goto(f"{visitor.url}/dashboard#/screens/{task.display}?number={task.display_number + 1000}")
    expect(visitor.page.locator(".nothing")).to_contain_text(f"Another one is called {task.display} now")
    visitor.check("screen-of-another")
    daemon.client.task_update(task.task_id, status="cancelled")
    visitor.go(f"tasks/{task.task_id}")
    expect(visitor.page.locator(".task-facts")).to_contain_text(f"{task.display}, ended with the task")
    expect(visitor.page.get_by_role("link", name=task.display, exact=True)).to_have_count(0)


def test_waits_and_events_are_found_by_what_is_in_the_address(visitor: Visitor, daemon: Daemon) -> None:
    """Search and filters narrow the list, stay in the address, and go along into a row. Nobody meets an id."""
    task = daemon.client.task_register("Pay the invoice", ["Look"]).view.task
    for label in ("the invoice is paid", "the portal is open", "the portal is closed"):
        daemon.client.wait_create(Criteria(label), task_id=task.task_id, label=label)
    cancelled = daemon.client.wait_list(tasks=(task.task_id,)).waits[0]
    daemon.client.wait_cancel(cancelled.wait_id)
    page = visitor.page
    visitor.go("waits")
    page.get_by_label("Task").select_option(label="Pay the invoice")
    page.get_by_label("Display").select_option(task.display)
    expect(page.locator("a.row")).to_have_count(2)
    page.get_by_role("button", name="All", exact=True).click()
    expect(page.locator("a.row")).to_have_count(3)
    page.get_by_label("State").select_option("cancelled")
    expect(page.locator("a.row")).to_have_count(1)
    page.get_by_label("State").select_option("")
    page.get_by_role("searchbox").fill("portal")
    expect(page.locator("a.row")).to_have_count(2)
    visitor.check("waits-found")
    page.locator("a.row").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("text=portal"))
    expect(page.locator(".list a.row")).to_have_count(2)
    assert "[smart_wait" not in page.locator("main").inner_text()
    page.goto(f"{visitor.url}/dashboard#/feed?text=portal")
    expect(page.locator(".log .line").first).to_contain_text("portal")
    expect(page.locator(".log .line:not(:has-text('portal'))")).to_have_count(0)
    assert cancelled.wait_id not in page.locator("main").inner_text()
    page.locator(".log time").first.hover()
    expect(page.locator(".log time").first).to_have_attribute("title", re.compile(r"(ago|just now) · .*20\d\d"))
    visitor.check("feed-found")
    daemon.client.task_update(task.task_id, status="cancelled")


def test_the_palette_the_list_of_keys_and_the_themes(visitor: Visitor, daemon: Daemon) -> None:
    """The palette finds panels, actions, displays, tasks and waits by a few letters; `?` lists the keys, and the theme
    can be chosen and is kept."""
    task = daemon.client.task_register("Quarterly report", ["Look"], isolated_display=False).view.task
    page = visitor.page
    visitor.go("")
    page.keyboard.press("Control+k")
    page.keyboard.type("quar rep")
    expect(page.get_by_role("listbox").get_by_role("option", selected=True)).to_contain_text("Quarterly report")
    visitor.check("palette")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(f"#/tasks/{task.task_id}"))
    page.keyboard.press("Control+k")
    page.keyboard.type("heal")
    expect(page.get_by_role("listbox").get_by_role("option", selected=True)).to_contain_text("Health")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Health", level=1)).to_be_visible()
    page.keyboard.press("Control+k")
    page.keyboard.type("no such thing")
    expect(page.get_by_role("listbox")).to_contain_text("Nothing by that name")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    daemon.client.task_update(task.task_id, status="cancelled")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("Keyboard shortcuts")
    visitor.check("shortcuts")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    ground = "getComputedStyle(document.body.parentElement).backgroundColor"
    light = page.evaluate(ground)
    switch = page.locator("#theme")
    switch.click()
    switch.click()
    expect(switch).to_have_attribute("aria-label", re.compile("Theme: dark"))
    assert page.evaluate(ground) != light
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    assert page.evaluate(ground) != light
    switch.click()


def test_idle_screens_can_be_hidden_and_the_overview_shows_the_others_first(
    visitor: Visitor, daemon: Daemon, display: DisplayInfo
) -> None:
    """A card names the task, and says how many waits watch; what is idle stands last and goes with one switch."""
    task = daemon.client.task_register("Watch the harbour", ["Look"]).view.task
    daemon.client.wait_create(WindowTitle("never there"), task_id=task.task_id)
    page = visitor.page
    visitor.go("")
    cards = page.locator(".screen-card")
    expect(cards.first).to_contain_text("Watch the harbour")
    expect(cards.first.get_by_role("link", name=f"1 wait watching {task.display}")).to_be_visible()
    expect(cards.first.locator(".screen-picture")).to_have_attribute("data-state", re.compile("live|still"))
    behind = cards.first.get_by_role("link", name="1 of them behind: they wait for their judge")
    expect(behind).to_have_count(0)
    page.route(re.compile(r"/api/waits\?"), _fall_behind)
    page.reload()
    expect(behind.locator(".badge.quiet")).to_have_text("…behind 1")
    expect(cards.first.locator(".badge.warn")).to_have_count(0)
    visitor.check("now-screens")
    page.unroute_all(behavior="ignoreErrors")
    visitor.go("screens")
    expect(page.get_by_role("region", name="Idle")).to_contain_text(display.name)
    page.get_by_role("button", name="Hide 1 idle").click()
    expect(page.get_by_role("region", name="Idle")).to_have_count(0)
    page.reload()
    expect(cards).to_have_count(1)
    visitor.check("screens-without-idle")
    page.get_by_role("button", name="Show 1 idle").click()
    expect(page.get_by_role("region", name="Idle")).to_be_visible()
    daemon.client.task_update(task.task_id, status="cancelled")


def test_health_says_what_the_doctor_says_and_the_same_each_time(visitor: Visitor, daemon: Daemon) -> None:
    """Nobody is told that everything is well above a list of warnings; an unchanged system gets unchanged words."""

    def told() -> list[dict[str, str]]:
        line = [sys.executable, "-m", "acud_cli", "doctor", "--json"]
        said = subprocess.run(line, env=daemon.env, capture_output=True, text=True, timeout=60, check=False)
        return list(json.loads(said.stdout)["findings"])

    until(lambda: any(one.part == "judge ollama" for one in daemon.client.doctor().findings), "what the judges say")
    first = told()
    assert told() == first
    findings = daemon.client.doctor().findings
    inside = list(msgspec.to_builtins(findings))
    assert [one for one in first if one in inside] == inside
    warnings = sum(one.level == "warning" for one in findings)
    assert warnings  # ollama is not there
    assert not [one for one in findings if one.level == "fault"]
    visitor.go("health")
    verdict = visitor.page.locator(".verdict").first
    expect(verdict).to_contain_text(f"Usable, with {warnings} warning")
    expect(visitor.page.locator(".wells")).not_to_contain_text("Everything is well")
    expect(visitor.page.get_by_text("Off in the settings")).to_be_visible()  # notifications to this browser
    visitor.check("health-warnings")
    processes = visitor.page.get_by_role("region", name="Processes, table")  # two may be "0"
    for name in (f"{child.kind} {child.name}" for child in daemon.client.status().children):
        expect(processes.get_by_role("rowheader", name=name, exact=True)).to_be_visible()


def test_without_a_wake_route_nothing_grows_red(visitor: Visitor, daemon: Daemon, display: DisplayInfo) -> None:
    """A wait whose end nobody can be woken for is no fault."""
    wait = daemon.client.wait_create(WindowTitle("never there"), display=display.name, timeout_s=0.2).wait
    until(lambda: _undelivered(daemon, wait.wait_id), "a wake that nobody can be sent")
    assert daemon.client.wait_show(wait.wait_id).wait.ended_utc_s
    visitor.go("")
    tile = visitor.page.locator("a.tile[href='#/wakes']")
    expect(tile).to_contain_text("no wake route")
    expect(tile).not_to_have_class(re.compile("bad"))
    visitor.go("wakes")
    expect(visitor.page.locator("li .badge.quiet").first).to_contain_text("to be fetched")
    expect(visitor.page.get_by_role("button", name="Send again")).to_have_count(0)
    visitor.check("wakes-without-route")
    visitor.page.get_by_role("button", name="Failed").click()
    expect(visitor.page.locator(".panel .nothing")).to_contain_text("No wake has failed")
    visitor.go(f"waits/{wait.wait_id}")
    expect(visitor.page.get_by_role("region", name="Last verdict")).not_to_contain_text("first frame")


def _fall_behind(route: Route) -> None:
    """Answer with waits whose judge works while pixels wait for it."""
    answer = route.fetch()
    asking = {"asking": "a judge is being asked, since 30 s; 13 frames unjudged", "behind_s": 29.0}
    no = {"answer": "no", "code": "", "detail": "not there"}
    waits = [{**one, **asking, "verdict": {**one["verdict"], **no}} for one in answer.json()["waits"]]
    route.fulfill(response=answer, json={**answer.json(), "waits": waits})


def _undelivered(daemon: Daemon, wait_id: str) -> bool:
    return any(wake.state is WakeState.UNDELIVERED for wake in daemon.client.wake_list(wait_id=wait_id).wakes)


def test_every_verdict_is_charted_and_its_reason_fits_a_phone(
    visitor: Visitor, daemon: Daemon, display: DisplayInfo
) -> None:
    """The chart does not stop at 200, and on a phone the reason is the widest column and in sight."""
    wait = daemon.client.wait_create(Criteria("never there"), display=display.name).wait
    until(lambda: daemon.client.wait_show(wait.wait_id).evaluations, "a verdict")
    visitor.page.set_viewport_size({"width": 390, "height": 844})

    def many(route: Route) -> None:
        answer = route.fetch()
        body = answer.json()
        one = body["evaluations"][0]
        words = "the button Export is grey, and the bar at the bottom says 40 %"
        verdict = {**one["verdict"], "detail": words}
        body["evaluations"] = [{**one, "frame": n, "number": n + 1, "verdict": verdict} for n in range(210)]
        asked = parse_qs(urlsplit(route.request.url).query).get("evaluations", ["200"])
        body["evaluations"] = body["evaluations"][-int(asked[0]) :]
        route.fulfill(response=answer, json=body)

    visitor.page.route(re.compile(rf"/api/waits/{wait.wait_id}\?"), many)
    visitor.go(f"waits/{wait.wait_id}")
    expect(visitor.page.locator(".timeline rect.mark")).to_have_count(210)
    why = visitor.page.locator("td.why").first
    box = why.bounding_box()
    assert box["width"] >= 160
    assert box["x"] + box["width"] <= 390
    visitor.check("verdicts-phone", axe=False)
    daemon.client.wait_cancel(wait.wait_id)


def test_a_page_that_is_opened_while_the_daemon_is_down_comes_to_life_with_it(browser: Browser) -> None:
    """`acud web serve` lives on without its daemon: the page says what is missing, and needs no second reload."""
    bare = SETTINGS.replace("enabled = true", "enabled = false")
    with Daemon(settings=bare) as daemon, Foreground(daemon.home) as web:
        visitor = Visitor(browser, web.url)
        visitor.login(daemon.client)
        daemon.kill()
        expect(visitor.page.locator("#banner")).to_contain_text("The daemon does not answer since")
        visitor.page.reload()
        # A gateway that knows the session already shows the page and each of its panels, which then say it.
        expect(visitor.page.locator("#main .trouble").first).to_contain_text("The daemon does not answer")
        visitor.check("gateway-alone")
        daemon.start()
        expect(visitor.page.locator("#link")).to_have_text("live")
        expect(visitor.page.locator("#main .trouble")).to_have_count(0)
        visitor.check("gateway-joined")
        visitor.close()


_PUSH_MANAGER = """
const target = TARGET;
PushManager.prototype.subscribe = async function (options) {
  window.asked = options;
  return { toJSON: () => ({ endpoint: target.endpoint, keys: { p256dh: target.p256dh, auth: target.auth } }) };
};
"""


def test_notifications_are_subscribed_to_and_ended_or_said_to_be_denied(browser: Browser) -> None:
    """With a PushManager put in place: no push service is in reach."""
    with PushService() as service:
        on = f'[notify]\npush = true\npush_services = ["{service.origin}"]\n'
        with Daemon(settings=SETTINGS + on) as daemon:
            visitor = Visitor(browser, served(daemon))
            visitor.context.grant_permissions(["notifications"], origin=visitor.url)
            visitor.context.add_init_script(_PUSH_MANAGER.replace("TARGET", json.dumps(service.target("desk"))))
            visitor.login(daemon.client, Scope.READ)
            visitor.go("health")
            visitor.page.get_by_role("button", name="Notify me here").click()
            expect(visitor.page.get_by_role("button", name="Notify me here no longer")).to_be_visible()
            visitor.check("push-on")
            asked = visitor.page.evaluate("window.asked")
            assert asked == {"userVisibleOnly": True, "applicationServerKey": daemon.client.push_list().public_key}
            (kept,) = daemon.client.push_list().subscriptions
            assert kept.service == "127.0.0.1"
            task = daemon.client.task_register("Export", isolated_display=False).view.task
            daemon.client.task_update(task.task_id, status=TaskStatus.FAILED)
            until(lambda: service.got, "the push")
            visitor.page.get_by_role("button", name="Notify me here no longer").click()
            expect(visitor.page.get_by_role("button", name="Notify me here", exact=True)).to_be_visible()
            assert daemon.client.push_list().subscriptions == ()
            visitor.close()
            denied = Visitor(browser, served(daemon))
            denied.context.add_init_script("Object.defineProperty(Notification, 'permission', { get: () => 'denied' })")
            denied.login(daemon.client)
            denied.go("health")
            expect(denied.page.get_by_text("Denied: this browser")).to_be_visible()
            denied.close()
