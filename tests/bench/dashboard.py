"""The dashboard of a full daemon in a real Chromium: 64 displays, 500 waits and 10,000 events.

Eight displays are repainted once a second, and the page shows all 64 at once. The CPU of the browser (all its
processes) and of the daemon (all its processes, the gateway among them, without the X servers) are told apart, as
percent of one core. A frame of scrolling is the time between two animation frames while the list moves by a third of
its height each.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import time
from pathlib import Path
from typing import Any

import acud_web
from acud.types import Change, DisplayInfo
from acud.types.tasks import TaskStatus
from acud_client.aio import AsyncClient
from tests.bench._many_displays import SETTINGS, ManyPainter, host
from tests.bench._process import CpuShare, family
from tests.bench._progress import say
from tests.e2e.chromium import Chromium, Visit
from tests.fixtures.daemon import Daemon

_DISPLAYS, _TASKS, _WAITS, _EVENTS = 64, 40, 500, 10_000
_ENDED = 100
"""Waits that were cancelled; the others watch a part of a screen where nothing changes."""
_REPAINTED = 8
_SIZE = (640, 400)
_QUIET = "region:0,0,160,64"
_SIDE_BY_SIDE = 16
_WATCH_S = 15.0
_SETTLE_S = 5.0
_SCROLLS = 120
_PATIENCE_S = 300.0
_WHOLE: dict[str, Any] = {"viewport": {"width": 1920, "height": 1600}}
"""All 64 pictures are in sight."""


def run() -> dict[str, Any]:
    with host(SETTINGS + "[web]\nenabled = true\nport = 0\n[evaluator]\nworkers = 1\n") as daemon:
        say(f"{_DISPLAYS} displays, {_WAITS} waits, {_EVENTS} events …")
        displays = asyncio.run(filled(daemon))
        with Chromium() as chromium, ManyPainter(daemon, displays[:_REPAINTED]) as painter:
            painter.paint({one.name: 1.0 for one in displays[:_REPAINTED]})
            return {
                "first_paint_ms": _first_paint_ms(daemon, chromium),
                "page_kb": _page_kb(),
                **_thumbnails(daemon, chromium),
                **_lists(daemon, chromium),
                "load": round(os.getloadavg()[0], 1),
            }


async def filled(daemon: Daemon) -> list[DisplayInfo]:
    """Fill the daemon; return its displays."""
    room = asyncio.Semaphore(_SIDE_BY_SIDE)
    async with AsyncClient(daemon.paths, timeout_s=_PATIENCE_S, patience_s=_PATIENCE_S) as client:

        async def task(number: int) -> str:
            async with room:
                title = f"Book trip {number + 1}"
                made = await client.task_register(
                    title, ["Find a flight", "Pay"], display_width=_SIZE[0], display_height=_SIZE[1]
                )
                return made.view.task.task_id

        async def display() -> None:
            async with room:
                await client.display_create(*_SIZE)

        async def wait(number: int, name: str) -> str:
            async with room:
                made = await client.wait_create(
                    Change(), _QUIET, display=name, timeout_s=86_400.0, label=f"page {number + 1} has loaded"
                )
                return made.wait.wait_id

        tasks = await asyncio.gather(*(task(number) for number in range(_TASKS)))
        await asyncio.gather(*(display() for _ in range(_DISPLAYS - _TASKS)))
        displays = list((await client.display_list()).displays)
        waits = await asyncio.gather(*(wait(n, displays[n % len(displays)].name) for n in range(_WAITS)))
        await asyncio.gather(*(client.wait_cancel(one) for one in waits[-_ENDED:]))
        newest = (await client.events_since(0, limit=1)).newest
        await _events(client, tasks, _EVENTS - newest)
        return displays


async def _events(client: AsyncClient, tasks: list[str], count: int) -> None:
    """Make `count` events: the tasks are paused and taken up again."""

    async def of(task_id: str, times: int) -> None:
        for turn in range(times):
            await client.task_update(task_id, status=(TaskStatus.PAUSED, TaskStatus.ACTIVE)[turn % 2])

    await asyncio.gather(*(of(task_id, -(-count // len(tasks))) for task_id in tasks))


def _first_paint_ms(daemon: Daemon, chromium: Chromium) -> int:
    with chromium.visit(daemon, "") as visit:
        found: list[float] = []
        for _ in range(3):
            visit.page.reload()
            visit.until("() => performance.getEntriesByName('first-contentful-paint').length")
            found.append(visit.page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime"))
        return round(statistics.median(found))


def _page_kb() -> float:
    size = sum(file.stat().st_size for file in Path(acud_web.__file__).with_name("static").iterdir())
    return round(size / 1000, 1)


def _thumbnails(daemon: Daemon, chromium: Chromium) -> dict[str, Any]:
    with chromium.visit(daemon, "screens", **_WHOLE) as visit:
        began_s = time.monotonic()
        visit.until(_ALL_SHOWN, _DISPLAYS)
        shown_s = time.monotonic() - began_s
        visit.page.wait_for_timeout(_SETTLE_S * 1000)
        with CpuShare(_browser()) as page, CpuShare(family(daemon.pid)) as served:
            visit.page.wait_for_timeout(_WATCH_S * 1000)
        assert visit.page.evaluate(_ALL_SHOWN, _DISPLAYS)
    with CpuShare(family(daemon.pid)) as alone:
        time.sleep(_WATCH_S)
    return {
        "thumbnails": _DISPLAYS,
        "thumbnails_shown_s": round(shown_s, 1),
        "cpu_pct_64_thumbnails": round(page.percent, 1),
        "daemon_cpu_pct_64_thumbnails": round(served.percent - alone.percent, 1),
        "daemon_cpu_pct_unwatched": round(alone.percent, 1),
    }


_ALL_SHOWN = """(count) => {
  const shown = [...document.querySelectorAll(".screen-picture")];
  return shown.length === count && shown.every((one) => ["live", "still"].includes(one.dataset.state));
}"""


def _browser() -> list[int]:
    """Return the processes of Chromium that this process started; some of them have a session of their own."""
    parents = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and (folder / "stat").exists():
            fields = (folder / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
            parents[int(folder.name)] = int(fields[1])
    found = [os.getpid()]
    for member in found:
        found += [child for child, parent in parents.items() if parent == member]
    return [pid for pid in found if "chrom" in _command(pid)]


def _command(pid: int) -> str:
    path = Path(f"/proc/{pid}/comm")
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _lists(daemon: Daemon, chromium: Chromium) -> dict[str, Any]:
    with chromium.visit(daemon, "waits?kind=all") as visit:
        visit.until("() => document.querySelectorAll('.list a.row').length > 0")
        waits = _scrolled(visit, ".list .scroller")
        listed = visit.page.evaluate("Number(document.querySelector('.list [data-listed]').dataset.listed)")
        visit.go("feed")
        visit.until("() => Number(document.querySelector('.log')?.dataset.listed) > 0")
        feed = _scrolled(visit, ".log")
        events = visit.page.evaluate("Number(document.querySelector('.log').dataset.listed)")
        took_ms = _searched(visit)
    return {
        "waits_listed": listed, "events_listed": events, "scroll_p95_ms": round(max(waits, feed), 1),
        "scroll_waits_p95_ms": round(waits, 1), "scroll_feed_p95_ms": round(feed, 1), "search_ms": took_ms,
    }  # fmt: skip


def _scrolled(visit: Visit, selector: str) -> float:
    visit.page.wait_for_timeout(_SETTLE_S * 1000)
    frames: list[float] = visit.page.evaluate(_SCROLL, [selector, _SCROLLS])
    return statistics.quantiles(frames, n=20)[-1]


_SCROLL = """async ([selector, count]) => {
  const list = document.querySelector(selector);
  const frames = [];
  const frame = () => new Promise(requestAnimationFrame);
  let before = await frame(), by = list.clientHeight / 3;
  for (let step = 0; step < count; step += 1) {
    const at = list.scrollTop;
    list.scrollTop += by;
    if (list.scrollTop === at) by = -by;
    const now = await frame();
    frames.push(now - before);
    before = now;
  }
  return frames;
}"""


def _searched(visit: Visit) -> int:
    """Return the ms from a letter in the feed's search to the list that fits it."""
    began_s = time.monotonic()
    visit.page.get_by_role("searchbox").fill("trip 17")
    visit.until("() => [...document.querySelectorAll('.log a')].every((one) => one.textContent.includes('trip 17'))")
    return round((time.monotonic() - began_s) * 1000)


def table(figures: dict[str, Any]) -> str:
    return (
        f"first paint {figures['first_paint_ms']} ms; page {figures['page_kb']} kB (target 400)\n"
        f"{figures['thumbnails']} thumbnails: page {figures['cpu_pct_64_thumbnails']} % of a core (target 15), "
        f"daemon {figures['daemon_cpu_pct_64_thumbnails']} % more than unwatched "
        f"({figures['daemon_cpu_pct_unwatched']} %)\n"
        f"{figures['waits_listed']} waits, {figures['events_listed']} events listed; a frame of scrolling, p95: waits "
        f"{figures['scroll_waits_p95_ms']} ms, feed {figures['scroll_feed_p95_ms']} ms (target 32); a search "
        f"{figures['search_ms']} ms"
    )
