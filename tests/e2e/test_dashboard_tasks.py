"""The dashboard while agents work: a task from its beginning to its video, a wait that resolves before one's eyes."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import av
import pytest
from playwright.sync_api import Route, expect

from acud.base import png
from acud.base.errors import NotFound
from acud.types import Change, Criteria, DisplayInfo, Rect, ScreenImage, Text, WaitState
from acud.types.tasks import ActionType, ItemStatus, TaskStatus
from acud.types.wakes import RouteName, WakeAddress
from acud_client import Client
from tests.e2e.dashboard_support import PATIENCE_MS, SETTINGS, Visitor
from tests.e2e.desktop import Desk, compared, ended, judged, letters, shown, until
from tests.fixtures.daemon import Daemon

HOSTILE = '<img src=x onerror="document.title=1"> & <b>bold</b>'


DAEMON_SETTINGS = SETTINGS + '[wake]\ncommand = ["false"]\nretry_for_s = 1\n'


def test_a_task_from_its_beginning_to_its_video(visitor: Visitor, daemon: Daemon, tmp_path: Path) -> None:
    """Plan, actions, messages and status follow the agent; what was recorded can be taken away."""
    client, page = daemon.client, visitor.page
    visitor.go("tasks")
    plan = ["Open the portal", "Download it"]
    task = client.task_register("File the report", plan, display_width=320, display_height=240).view.task
    expect(page.get_by_role("link", name="File the report")).to_contain_text("0 of 2")
    page.get_by_role("link", name="File the report").click()
    with _desk(client, task.display) as desk:
        frames = lambda: client.record_list(task_id=task.task_id).recordings[0].frames  # noqa: E731
        black = until(frames, "a recorded frame")
        desk.fill(Rect(0, 0, 100, 100), 0x3366CC)
        until(lambda: frames() > black, "the blue one")
        _work(client, task.task_id)
        expect(page.locator(".tree details").first).to_contain_text("completed")
        expect(page.locator(".tree details[open] .action").first).to_contain_text("click left")
        expect(page.locator(".feed .entry.agent").last).to_contain_text("The portal is open")
        expect(page.get_by_role("list", name="Recordings")).to_contain_text("recording")
        visitor.check("task-working")
    client.task_update(task.task_id, status=TaskStatus.COMPLETED)
    expect(page.locator(".detail h1 + .badge")).to_contain_text("completed")
    _see_the_click(visitor)
    with page.expect_download() as taken:
        page.get_by_role("link", name=re.compile("Download the MP4")).first.click()
    taken.value.save_as(tmp_path / "film.mp4")
    with av.open(str(tmp_path / "film.mp4")) as film:
        assert film.streams.video[0].width == 320
    visitor.check("task-ended")
    assert not visitor.unserved


def test_a_wait_resolves_before_ones_eyes(visitor: Visitor, daemon: Daemon, display: DisplayInfo) -> None:
    """The last verdict, the three pictures of the evidence in a lightbox with keys, and the verdicts over time."""
    client, page = daemon.client, visitor.page
    with _desk(client, display.name) as desk:
        window = desk.window(Rect(20, 20, 160, 120), 0x3366CC)
        wait = client.wait_create(Change(), display=display.name, timeout_s=600, label="the report has changed").wait
        asked = client.wait_create(Criteria("an invoice"), display=display.name, timeout_s=600).wait
        compared(daemon, wait.wait_id)
        judged(client, asked.wait_id, "no")
        visitor.go(f"waits/{wait.wait_id}")
        expect(page.locator(".detail h1 + .badge")).to_contain_text("watching")
        visitor.check("wait-watching")
        desk.fill(Rect(40, 40, 60, 40), 0xCC3333, window)
        ended(client, wait.wait_id)
        expect(page.locator(".detail h1 + .badge")).to_contain_text("resolved")
        expect(page.locator(".evidence img")).to_have_count(3)
        for image in page.locator(".evidence img").all():
            image.evaluate("image => image.decode()")
        expect(page.locator(".compare svg[role=img]")).to_have_count(1)
        expect(page.locator(".seen figcaption")).to_contain_text("Outlined: what changed.")
        visitor.check("wait-resolved")
        _look_through(visitor)
        visitor.go(f"waits/{asked.wait_id}")
        expect(page.locator(".timeline svg")).to_have_attribute("aria-label", re.compile(r"\d+ no"))
        small = page.get_by_role("list", name="Film strip").get_by_role("button", name=re.compile("Looked at, .*no"))
        pictures = lambda: [one.picture for one in client.wait_show(asked.wait_id).evaluations if one.picture]  # noqa: E731
        until(lambda: 1 < len(pictures()) == small.count(), "a small picture of before and of after")
        assert len(set(pictures())) == len(pictures())
        sizes = small.locator("img").evaluate_all(
            "images => Promise.all(images.map((one) => one.decode().then(() => one.naturalWidth)))"
        )
        assert set(sizes) == {320}
        small.last.click()
        expect(page.locator(".lightbox img")).to_be_visible()
        page.keyboard.press("Escape")
        visitor.check("wait-verdicts")
        page.get_by_role("button", name="Cancel…").click()
        page.get_by_role("button", name="Cancel the wait").click()
        expect(page.locator(".detail h1 + .badge")).to_contain_text("cancelled")


def test_a_waits_page_shows_what_it_sees(visitor: Visitor, daemon: Daemon) -> None:
    """Live with its target outlined; then before and after, the match, the film strip, and the recording's moment. An
    image that is looked for stands beside the words that say how."""
    client, page = daemon.client, visitor.page
    display = client.display_create(640, 400).display
    with _desk(client, display.name) as desk:
        window = desk.words(Rect(40, 60, 320, 120), "Saving", "Export")
        film = client.record_start(display=display.name).recording
        until(lambda: client.record_show(film.recording_id).recording.frames, "a recorded frame")
        wait = client.wait_create(Text("Saved"), "window:Export", display=display.name, timeout_s=600).wait
        judged(client, wait.wait_id, "no")
        visitor.go(f"waits/{wait.wait_id}")
        live = page.get_by_role("region", name="Live")
        expect(live.locator(".screen-canvas")).to_be_visible()
        expect(live.get_by_role("img", name="The target: the window “Export”")).to_be_visible()
        expect(live).to_contain_text("320 × 120 at 40, 60")
        expect(live.locator(".screen-fresh[data-tone=good]")).to_be_visible()
        desk.place(window, Rect(200, 160, 320, 120))
        expect(live).to_contain_text("320 × 120 at 200, 160")
        visitor.check("wait-live")
        before = len(client.wait_show(wait.wait_id).evaluations)
        desk.rewrite(window, "Still saving")
        until(lambda: len(client.wait_show(wait.wait_id).evaluations) > before, "a verdict on it")
        desk.rewrite(window, "Saved")
        found = ended(client, wait.wait_id)
        expect(page.locator(".detail h1 + .badge")).to_contain_text("resolved")
        expect(live).to_be_hidden()
        (box,) = found.verdict.boxes
        words = f"What was found, at {box.x}, {box.y} ({box.w} × {box.h})"
        expect(page.locator(".compare").get_by_role("img", name=words)).to_be_visible()
        shown_of_it = page.locator(".compare .over").evaluate(
            "over => parseFloat(over.style.clipPath.split(' ').at(-1))"
        )
        assert shown_of_it <= 100 * box.x / 320, "the edge leaves the match to be seen"
        assert Rect(0, 0, 320, 120).intersect(box) == box
        _compare(visitor)
        _go_along_the_strip(visitor)
        visitor.check("wait-seen")
        page.get_by_role("link", name="See this moment in the recording").click()
        page.wait_for_url(re.compile(r"#/recordings/[^?]+\?at=\d+$"))
        expect(page.locator(".replay-video")).to_be_visible()
    sought = ScreenImage(png.encode(letters(80, 32, "OK", 20)))
    visitor.go(f"waits/{client.wait_create(sought, display=display.name, timeout_s=600).wait.wait_id}")
    image = page.get_by_role("img", name="The image that is looked for")
    assert image.evaluate("image => image.decode().then(() => [image.naturalWidth, image.naturalHeight])") == [80, 32]
    with pytest.raises(NotFound, match="its condition names none"):
        client.evidence(wait.wait_id, part="sought")
    client.display_remove(display.name, force=True)


def test_a_wait_is_edited_tried_again_and_tells_what_it_saw_last(visitor: Visitor, daemon: Daemon) -> None:
    """Its last picture is there after its time; the same wait is armed once more, or another one like it."""
    client, page = daemon.client, visitor.page
    task = client.task_register("Start the race", ["One"], display_width=320, display_height=240).view.task
    with _desk(client, task.display) as desk:
        desk.words(Rect(0, 0, 320, 240), "Ready")
        wait = client.wait_create(Text("Steady"), "region:0,0,320,120", task_id=task.task_id, timeout_s=600).wait
        judged(client, wait.wait_id, "no")
        visitor.go(f"waits/{wait.wait_id}")
        page.get_by_role("button", name="Edit…").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Text").fill("Go")
        dialog.get_by_label("Gives up after").fill("soon")
        dialog.get_by_role("button", name="Change it").click()
        expect(dialog).to_be_visible()
        dialog.get_by_label("Gives up after").fill("3s")
        visitor.check("wait-edit")
        dialog.get_by_role("button", name="Change it").click()
        expect(page.get_by_role("heading", name="text “Go” is shown")).to_be_visible()
        expect(page.locator(".detail h1 + .badge")).to_contain_text("timed out")
        expect(page.get_by_role("button", name="The last picture: open")).to_be_visible()
        expect(page.locator(".facts-list")).to_contain_text(["Seen last"])
        visitor.check("wait-timeout")
        page.get_by_role("button", name="Try again").click()
        page.wait_for_url(lambda url: wait.wait_id not in url)
        expect(page.get_by_role("link", name="Start the race", exact=True)).to_be_visible()
        made = client.wait_list(ended=True, tasks=(task.task_id,)).waits
        (again,) = (one for one in made if one.wait_id != wait.wait_id)
        assert again.spec.task_id == task.task_id
        assert (again.spec.until, again.spec.target, again.spec.timeout_s) == (Text("Go"), wait.spec.target, 3)


def test_two_thousand_waits_are_scrolled_and_searched(visitor: Visitor, daemon: Daemon, display: DisplayInfo) -> None:
    """Rows come page by page as they come into sight; a search reaches the oldest, and the address keeps it."""
    client, page = daemon.client, visitor.page
    oldest = client.wait_create(Text("Paid"), display=display.name, timeout_s=600, label="Pay the Oldest bill").wait
    client.wait_cancel(oldest.wait_id)
    _copy_waits(daemon, oldest.wait_id, 2000)
    visitor.go("waits")
    visitor.unserved.clear()  # the store was in other hands
    page.get_by_role("button", name="Ended", exact=True).click()
    listed = page.locator(".list [data-listed]")
    total = client.wait_list(states=(WaitState.CANCELLED, WaitState.RESOLVED), limit=1).total
    expect(listed).to_have_attribute("data-listed", re.compile(r"^2\d{3}$"))
    assert total >= 2001
    assert page.locator(".list li").count() < 100, "the rows in sight alone are in the page"
    visitor.check("waits-2000")
    listed.evaluate("list => { list.scrollTop = list.scrollHeight / 2; }")
    expect(page.locator(".list a.row", has_text="Copy 1000").first).to_be_visible()
    page.locator(".list a.row", has_text="Copy 1000").first.focus()
    for _ in range(30):
        page.keyboard.press("ArrowDown")
    expect(page.locator(".list a.row:focus")).to_contain_text(re.compile("Copy 9[67]"))
    page.get_by_role("searchbox", name="Search waits").fill("old bil")
    expect(page.locator(".list a.row")).to_have_count(1)
    expect(page.get_by_role("search").get_by_role("status")).to_have_text("1 found")
    page.reload()
    expect(page.locator(".list a.row")).to_contain_text("Pay the Oldest bill")
    page.get_by_role("button", name="Clear").click()
    expect(listed).to_have_attribute("data-listed", re.compile(r"^2\d{3}$"))
    page.get_by_role("searchbox", name="Search waits").fill("copy")
    expect(listed).to_have_attribute("data-listed", "2000")
    page.get_by_role("button", name="Select", exact=True).click()
    marked = page.get_by_role("group", name="With the marked waits")
    marked.get_by_role("button", name="All 2000 found").click()
    expect(marked).to_contain_text("2000 marked")
    listed.evaluate("list => { list.scrollTop = list.scrollHeight / 3; }")
    expect(page.get_by_role("checkbox", name="Copy 1333")).to_be_checked()
    page.get_by_role("checkbox", name="Copy 1333").uncheck()
    expect(marked).to_contain_text("1999 marked")
    page.get_by_role("button", name="Clear").click()
    expect(marked).to_contain_text("0 marked")
    page.get_by_role("button", name="Select", exact=True).click()
    page.get_by_role("combobox", name="State").select_option("timeout")
    expect(listed.or_(page.get_by_text("None of these waits fits"))).to_be_visible()
    assert not visitor.unserved
    with closing(sqlite3.connect(daemon.home / "data.db", timeout=30)) as store, store:
        store.execute("DELETE FROM wait_jobs WHERE spec LIKE '%Copy %'")


def _copy_waits(daemon: Daemon, wait_id: str, count: int) -> None:
    with closing(sqlite3.connect(daemon.home / "data.db", timeout=30)) as store, store:
        names = [row[1] for row in store.execute("PRAGMA table_info(wait_jobs)") if row[1] != "seq"]
        made = {
            "wait_id": "substr(wait_id, 1, 17) || printf('%08d', i)",
            "spec": "json_set(spec, '$.label', 'Copy ' || i)",
            "words": "' copy ' || i",
        }
        values = ", ".join(made.get(name, name) for name in names)
        store.execute(
            f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)"
            f" INSERT INTO wait_jobs ({', '.join(names)})"
            f" SELECT {values} FROM wait_jobs, n WHERE wait_id = ? ORDER BY i",
            (count, wait_id),
        )


def test_a_search_of_the_feed_reaches_the_oldest_event(visitor: Visitor, daemon: Daemon) -> None:
    """The page holds the newest (50,000, here 2,000) and what fits of the others; another search reads these anew."""
    daemon.client.task_register("Weigh the anchor", ["Look"], isolated_display=False)
    oldest = daemon.client.events_since().newest
    with closing(sqlite3.connect(daemon.home / "data.db", timeout=30)) as store, store:
        store.execute(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 6000)"
            " INSERT INTO events (prev, topic, utc_s, subject, data)"
            """ SELECT 0, 'task.ended', 1000000000 + i, 'task-copy', '{"name": "Copy ' || i || '"}' FROM n"""
        )
    page = visitor.page
    page.route("**/feed.js", lambda route: _hold_fewer(route, "50_000", "2_000"))
    page.goto("about:blank")
    with page.expect_response("**/feed.js"):
        page.goto(f"{visitor.url}/dashboard#/feed?text=anchor")
    found = page.get_by_role("search").get_by_role("status")
    expect(found).to_have_text(re.compile(r"^1 of 6,\d{3}$"), timeout=2 * PATIENCE_MS)
    expect(page.locator(".log .line")).to_contain_text("Weigh the anchor")
    visitor.unserved.clear()  # the store was in other hands
    page.get_by_role("searchbox").fill("copy 77")
    # 77, 770 to 779: none is left out.
    expect(found).to_have_text(re.compile(r"^11 of 6,\d{3}$"), timeout=2 * PATIENCE_MS)
    assert not visitor.unserved
    with closing(sqlite3.connect(daemon.home / "data.db", timeout=30)) as store, store:
        store.execute("DELETE FROM events WHERE n > ? AND subject = 'task-copy'", (oldest,))


def _hold_fewer(route: Route, most: str, fewer: str) -> None:
    source = route.fetch().text()
    assert f"const MOST = {most};" in source
    body = source.replace(f"const MOST = {most};", f"const MOST = {fewer};")
    route.fulfill(body=body, content_type="text/javascript")


def test_every_kept_verdict_can_be_read(visitor: Visitor, daemon: Daemon, display: DisplayInfo) -> None:
    """The newest come first; older ones come in pages (of 1,000, here 150), until there are no more."""
    client, page = daemon.client, visitor.page
    wait = client.wait_create(Criteria("an invoice"), display=display.name, timeout_s=600).wait
    judged(client, wait.wait_id, "no")
    with closing(sqlite3.connect(daemon.home / "data.db", timeout=30)) as store, store:
        columns = "wait_id, utc_s, epoch, frame, verdict, judge, source, latency_ms, identity"
        store.execute(
            f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 430) INSERT INTO evaluations"
            f" ({columns}) SELECT {columns.replace('latency_ms', 'i')} FROM evaluations, n WHERE wait_id = ?",
            (wait.wait_id,),
        )
    page.route("**/wait.js", lambda route: _hold_fewer(route, "1000", "150"))
    page.goto("about:blank")
    with page.expect_response("**/wait.js"):
        page.goto(f"{visitor.url}/dashboard#/waits/{wait.wait_id}")
    rows = page.get_by_role("region", name="Verdicts as a table").locator("tbody tr")
    expect(rows).to_have_count(100)
    for shown_now in (200, 400, 431):
        page.get_by_role("button", name=re.compile("Show older")).click()
        expect(rows).to_have_count(shown_now)
    expect(page.get_by_role("button", name=re.compile("Show older"))).to_have_count(0)
    page.goto("about:blank")  # the next test loads its own


def test_a_wait_is_drawn_tried_and_armed(visitor: Visitor, daemon: Daemon) -> None:
    """The text in a drawn region is offered; what holds now is told by the judge, and no wait is made for a try."""
    client = daemon.client
    display = client.display_create(640, 480).display
    page = visitor.page
    page.set_viewport_size({"width": 1440, "height": 900})
    with _desk(client, display.name) as desk:
        desk.words(Rect(40, 300, 400, 60), "Somewhere else")
        window = desk.words(Rect(40, 40, 400, 60), "Download complete")
        before = client.events_since(topic="wait.").newest
        known = client.wait_list(ended=True, displays=(display.name,)).total  # of a former display of that name
        visitor.go(f"screens/{display.name}")
        page.get_by_role("link", name="Wait for something here").click()
        expect(page.get_by_role("button", name="Somewhere else", exact=True)).to_be_visible()
        _draw(visitor, Rect(20, 20, 460, 120), display)
        expect(page.get_by_label("Width", exact=True)).to_have_value("460")
        expect(page.get_by_role("button", name="Somewhere else", exact=True)).to_have_count(0)
        page.get_by_role("button", name="Download complete", exact=True).click()
        _try(visitor, "Holds now. Reads")
        visitor.check("new-wait")
        desk.rewrite(window, "Downloading 40 %")
        _try(visitor, "Does not hold now")
        assert client.wait_list(ended=True, displays=(display.name,)).total == known, "a try is no wait"
        assert client.events_since(before, topic="wait.created").events == ()
        page.get_by_role("button", name="Start waiting").press("Enter")
        expect(page.locator(".detail h1 + .badge")).to_contain_text("watching")
        wait = client.wait_list(displays=(display.name,)).waits[0]
        assert wait.spec.target.region == Rect(20, 20, 460, 120)
        desk.rewrite(window, "Download complete")
        expect(page.locator(".detail h1 + .badge")).to_contain_text("resolved")
        _every_kind(visitor, display)
    client.display_remove(display.name, force=True)


def test_displays_and_tasks_are_made_with_the_keyboard_alone(visitor: Visitor, daemon: Daemon) -> None:
    """On a phone, in the dark."""
    page = visitor.page
    page.set_viewport_size({"width": 390, "height": 844})
    page.emulate_media(color_scheme="dark")
    visitor.go("screens")
    page.get_by_role("link", name="New display").press("Enter")
    page.get_by_label("Size").focus()
    page.keyboard.type("another")
    page.get_by_label("Width in pixels").fill("500")
    page.get_by_label("Height in pixels").fill("20")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.get_by_label("Height in pixels").evaluate(
        "input => !input.checkValidity() && input === document.activeElement"
    )
    page.keyboard.press("Control+A")
    page.keyboard.type("300")
    visitor.check("new-display")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".screen-facts")).to_contain_text("500 × 300")
    visitor.go("tasks/new")
    page.get_by_label("Name").focus()
    page.keyboard.type("Made in the page")
    page.keyboard.press("Tab")
    page.keyboard.type("Open the portal\n\n  Download it  ")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")  # no display of its own
    visitor.check("new-task")
    page.get_by_role("button", name="Begin it").press("Enter")
    expect(page.get_by_role("heading", name="Made in the page")).to_be_visible()
    made = next(one for one in daemon.client.task_list().tasks if one.task.name == "Made in the page")
    assert [item.title for item in made.items] == ["Open the portal", "Download it"]
    assert not made.task.display


def test_several_waits_are_cancelled_and_several_tasks_paused_at_once(
    visitor: Visitor, daemon: Daemon, display: DisplayInfo
) -> None:
    """What can't be done to one of them is said before, and that one is left alone."""
    client, page = daemon.client, visitor.page
    waits = [client.wait_create(Change(), display=display.name, label=f"bulk {n}").wait.wait_id for n in range(3)]
    visitor.go("waits")
    page.get_by_role("button", name="Select", exact=True).press("Enter")
    page.get_by_role("checkbox", name="bulk 0").check()
    page.get_by_role("checkbox", name="bulk 2").press("Space")
    expect(page.get_by_role("group", name="With the marked waits")).to_contain_text("2 marked")
    visitor.check("waits-marked")
    page.get_by_role("group", name="With the marked waits").get_by_role("button", name="Cancel…").click()
    expect(page.get_by_role("dialog")).to_contain_text("Cancel 2 waits?")
    page.get_by_role("button", name="Cancel them").click()
    expect(page.locator(".notice", has_text="2 waits cancelled")).to_be_visible()
    states = [shown(client, wait_id).state for wait_id in waits]
    assert states == [WaitState.CANCELLED, WaitState.WATCHING, WaitState.CANCELLED]
    for name, status in (("To pause", TaskStatus.ACTIVE), ("Paused before", TaskStatus.PAUSED)):
        client.task_update(client.task_register(name, ["One"], isolated_display=False).view.task.task_id, status=status)
    visitor.go("tasks")
    page.get_by_role("button", name="Select", exact=True).click()
    for name in ("To pause", "Paused before"):
        page.get_by_role("checkbox", name=name).check()
    page.get_by_role("button", name="Pause…").click()
    expect(page.get_by_role("dialog")).to_contain_text("1 of those marked can't be")
    page.get_by_role("button", name="Pause them").click()
    expect(page.locator("a.row", has_text="To pause").locator(".badge")).to_contain_text("paused")


def test_pausing_and_cancelling_ask_and_say_what_will_happen(visitor: Visitor, daemon: Daemon) -> None:
    """Nothing happens before it is confirmed; the focus stays in the dialog."""
    client, page = daemon.client, visitor.page
    task = client.task_register("To be paused", ["One"], isolated_display=False).view.task
    visitor.go(f"tasks/{task.task_id}")
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("dialog")).to_contain_text("judge nothing")
    visitor.check("confirm-pause")
    for _ in range(6):
        page.keyboard.press("Tab")
        assert page.evaluate("!document.activeElement.closest('main')")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert client.task_list().tasks[0].task.status == TaskStatus.ACTIVE
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("dialog").get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Resume")).to_be_visible()
    page.get_by_role("button", name="Cancel…").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel the task").click()
    expect(page.locator(".detail h1 + .badge")).to_contain_text("cancelled")


def test_what_the_daemon_says_is_text(visitor: Visitor, daemon: Daemon) -> None:
    """Names and messages of agents never become markup."""
    task = daemon.client.task_register(HOSTILE, [HOSTILE], isolated_display=False).view.task
    daemon.client.task_update(task.task_id, message=HOSTILE)
    for path in (f"tasks/{task.task_id}", "feed", ""):
        visitor.go(path)
        expect(visitor.page.get_by_text(HOSTILE).locator("visible=true").first).to_be_visible()
        assert visitor.page.locator(".panel img[src=x], .panel b:text-is('bold')").count() == 0
    assert not visitor.faults


def test_a_recording_is_begun_and_stopped_in_the_page(visitor: Visitor, daemon: Daemon, display: DisplayInfo) -> None:
    """Its elapsed time runs; then it can be replayed and deleted."""
    page = visitor.page
    visitor.go("recordings")
    page.locator("select[name=display]").select_option(display.name)
    page.get_by_role("button", name="Record", exact=True).click()
    listed = lambda: daemon.client.record_list().recordings  # noqa: E731
    # Names of displays come again: others of that name may be in the list, older and below it.
    begun = until(lambda: next((r for r in listed() if r.display == display.name and not r.ended_utc_s), None), "it")
    row = page.get_by_role("list", name="Recordings").locator("li", has_text=f"{display.name} · ").first
    expect(row.get_by_role("timer")).to_have_text(re.compile("[1-9]"))
    visitor.check("recordings")
    row.get_by_role("button", name="Stop").click()
    expect(row.locator(".badge")).to_contain_text("done")
    row.get_by_role("button", name="Delete…").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    until(lambda: begun.recording_id not in {one.recording_id for one in listed()}, "the deletion")


def test_a_wake_that_reached_nobody_is_sent_again(visitor: Visitor, daemon: Daemon, display: DisplayInfo) -> None:
    """It is shown with the reason, in the wakes and on the overview."""
    client, page = daemon.client, visitor.page
    failing = WakeAddress((RouteName.COMMAND,))
    wait = client.wait_create(Criteria("never"), display=display.name, timeout_s=600, wake=failing).wait
    judged(client, wait.wait_id, "no")  # which is usage, too
    client.wait_update(wait.wait_id, timeout_s=0.2)
    until(lambda: shown(client, wait.wait_id).state == WaitState.TIMEOUT, "the end of its time")  # nobody fetches it
    visitor.go("wakes")
    expect(page.locator(".rows .row").first).to_contain_text("undelivered")
    visitor.check("wakes")
    page.get_by_role("button", name="Send again").first.click()
    expect(page.locator(".notice", has_text="sent again")).to_be_visible()
    visitor.go("usage")
    expect(page.get_by_role("img", name=re.compile("Bars by day"))).to_be_visible()
    visitor.check("usage")


def test_many_tasks_and_messages_stay_quick(visitor: Visitor, daemon: Daemon) -> None:
    """Every row can be found; the whole of a long thread can be read."""
    client, page = daemon.client, visitor.page
    for number in range(60):
        client.task_register(f"One of many {number}", ["One"], isolated_display=False)
    task = client.task_register("Talks much", ["One"], isolated_display=False).view.task
    for number in range(210):
        client.task_update(task.task_id, message=f"message {number}")
    visitor.go("tasks")
    page.get_by_role("searchbox").fill("many 17")
    expect(page.locator("a.row")).to_have_count(1)
    page.reload()
    visitor.settled()
    expect(page.locator("a.row")).to_have_count(1)  # what is looked for is in the address
    page.get_by_role("button", name="Clear").click()
    expect(page.locator("a.row", has_text="One of many")).to_have_count(60)
    visitor.go(f"tasks/{task.task_id}")
    expect(page.locator(".feed .entry")).to_have_count(200)
    page.get_by_role("button", name="Show older").click()
    expect(page.locator(".feed .entry").first).to_contain_text("message 0")


def _desk(client: Client, display: str) -> Desk:
    found: DisplayInfo = next(one for one in client.display_list().displays if one.name == display)
    return Desk(found.name, found.auth_file)


def _work(client: Client, task_id: str) -> None:
    client.task_item_update(task_id, 1, ItemStatus.COMPLETED)
    client.task_item_update(task_id, 2, ItemStatus.ACTIVE)
    client.task_log_action(task_id, ActionType.GUI, "click left at 50,50", output_data={"points": [[50, 50]]})
    client.task_update(task_id, message="The portal is open; the report is being made.")


def _draw(visitor: Visitor, region: Rect, display: DisplayInfo) -> None:
    box = visitor.page.locator(".region-layer").bounding_box()
    share = box["width"] / display.width
    visitor.page.mouse.move(box["x"] + region.x * share, box["y"] + region.y * share)
    visitor.page.mouse.down()
    visitor.page.mouse.move(box["x"] + (region.x + region.w) * share, box["y"] + (region.y + region.h) * share, steps=3)
    visitor.page.mouse.up()


def _try(visitor: Visitor, words: str) -> None:
    visitor.page.get_by_role("button", name="Try it now").click()
    expect(visitor.page.get_by_role("status", name="Tried on the present picture")).to_contain_text(words)


_KINDS: dict[str, tuple[dict[str, str], str]] = {
    "number": ({"label": "Progress", "value": "30"}, "Unknown"),
    "criteria": ({"criteria": "an invoice is open"}, "Does not hold now. No rule of the script fits"),
    "window": ({"title": "No such window"}, "Does not hold now"),
    "widget": ({"role": "button", "name": "Save"}, "Unknown. The display has no session bus"),
    "change": ({}, "Does not hold now. The target has not changed"),
    "stable": ({"stable_s": "900"}, "Does not hold now"),
    "file": ({"path": "/etc/hostname"}, "is not one that a condition may name"),
    "process": ({"pid": "1"}, "Does not hold now. The process 1 is running"),
}


def _every_kind(visitor: Visitor, display: DisplayInfo) -> None:
    """Try a condition of each kind, an image of the picture and two together; the region is moved by keys."""
    page = visitor.page
    visitor.go("waits/new")
    page.locator("select[name=display]").select_option(display.name)
    kind = page.locator("select[name=kind]").first
    for name, (values, said) in _KINDS.items():
        kind.select_option(name)
        for field, value in values.items():
            page.locator(f".condition input[name={field}]").fill(value)
        _try(visitor, said)
    kind.select_option("image")
    page.get_by_role("button", name="Try it now").click()
    expect(page.get_by_role("alert").filter(has_text="Draw a region")).to_be_visible()
    page.locator(".region-layer").press("ArrowUp")
    page.locator(".region-layer").press("ArrowUp")
    expect(page.get_by_label("Top", exact=True)).to_have_value("112")
    for label, value in {"Left": "30", "Top": "30", "Width": "400", "Height": "80"}.items():
        page.get_by_label(label, exact=True).fill(value)
        page.get_by_label(label, exact=True).press("Tab")
    page.get_by_role("button", name="Cut out the region").click()
    _try(visitor, "Holds now. The image is at")
    page.get_by_role("button", name="Another condition").click()
    page.locator(".condition").nth(1).locator("input[name=text]").fill("nowhere to be read")
    _try(visitor, "Does not hold now")
    page.locator("select[name=together]").select_option("any")
    _try(visitor, "Holds now")
    page.locator("select[name=together]").select_option("then")
    _try(visitor, "text “nowhere to be read” is shown: Does not hold now")  # each part by itself
    visitor.check("new-wait-kinds")


def _see_the_click(visitor: Visitor) -> None:
    """The screen as it was recorded when the agent clicked, with a mark where it did."""
    page = visitor.page
    expect(page.get_by_role("list", name="Recordings")).to_contain_text("done")
    page.get_by_role("button", name="Picture").first.click()
    expect(page.get_by_role("img", name="Clicks at 50, 50")).to_be_visible()
    page.wait_for_function("() => document.querySelector('.lightbox video').readyState >= 2")

    def is_blue() -> bool:
        red, _, blue, _ = page.locator(".lightbox video").evaluate(_PIXEL, [50, 50])
        return bool(blue > 150 > red)

    until(is_blue, "the recorded picture")
    visitor.check("click-mark")
    page.keyboard.press("Escape")


_PIXEL = """(video, [x, y]) => {
  const canvas = document.createElement("canvas");
  canvas.width = video.videoWidth; canvas.height = video.videoHeight;
  const context = canvas.getContext("2d");
  context.drawImage(video, 0, 0);
  return [...context.getImageData(x, y, 1, 1).data];
}"""


def _compare(visitor: Visitor) -> None:
    """Move the edge between the two pictures with the keyboard, and with the pointer."""
    page = visitor.page
    slider = page.get_by_role("slider", name="Before and after")
    slider.focus()
    page.keyboard.press("End")
    expect(slider).to_have_attribute("aria-valuetext", "100 % before, 0 % after")
    page.keyboard.press("Home")
    expect(slider).to_have_attribute("aria-valuetext", "0 % before, 100 % after")
    for image in page.locator(".compare img").all():
        image.evaluate("image => image.decode()")
    page.locator(".compare").hover(position={"x": 160, "y": 40})
    expect(slider).to_have_value("50")


def _go_along_the_strip(visitor: Visitor) -> None:
    """Go through it with the keyboard alone: what was recorded of a verdict, and what was kept of the end."""
    page = visitor.page
    strip = page.get_by_role("list", name="Film strip")
    cells = strip.get_by_role("button")
    expect(strip.locator("canvas")).not_to_have_count(0)
    until(lambda: _is_white(visitor), "the window's white in the recorded picture")
    cells.first.focus()
    page.keyboard.press("End")
    expect(cells.last).to_be_focused()
    expect(cells.last).to_have_attribute("aria-label", re.compile("When it was decided, .*yes: reads"))
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.locator(".lightbox .caption")).to_contain_text("When it was decided · yes")
    expect(page.locator(".lightbox rect.match")).to_be_visible()
    page.keyboard.press("Escape")
    expect(cells.last).to_be_focused()


def _is_white(visitor: Visitor) -> bool:
    """Tell whether the first recorded picture shows the window; else read it again: more of the film is there then."""
    page = visitor.page
    page.wait_for_function("() => document.querySelector('.strip canvas')?.width > 16")
    if page.locator(".strip canvas").first.evaluate(_BRIGHT):
        return True
    page.reload()
    return False


_BRIGHT = """canvas => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  return data.some((value, at) => at % 4 === 0 && value > 230 && data[at + 1] > 230 && data[at + 2] > 230);
}"""


def _look_through(visitor: Visitor) -> None:
    """Go through the evidence with the keyboard alone."""
    page = visitor.page
    page.get_by_role("button", name="When it was decided: open").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".lightbox .caption")).to_contain_text("1 of 3")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".lightbox .caption")).to_contain_text("2 of 3")
    page.locator(".lightbox img").evaluate("image => image.decode()")
    visitor.check("lightbox")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("button", name="When it was decided: open")).to_be_focused()
