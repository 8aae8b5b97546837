"""What a wait on text is promised while the OCR engine is busy: a change elsewhere, and a text that does not stay."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from acud.base.errors import Conflict
from acud.types import DisplayInfo, Rect, Text, WaitInfo, WaitState
from acud_client import Client
from tests.e2e.conftest import BARE, SCRIPTED
from tests.e2e.desktop import Desk, ended, judged, letters, shown, until
from tests.e2e.metrics import scrape
from tests.e2e.text_page import ENGLISH
from tests.fixtures.daemon import Daemon

WIDTH, HEIGHT = 3840, 2160
PAGE = Rect(20, 20, 420, 160)
SETTINGS = SCRIPTED + BARE + "[daemon]\nchild_silent_s = 600\n"
"""Evaluators may be stopped, and are not taken for dead."""


@pytest.fixture(scope="module")
def shared() -> Iterator[Daemon]:
    """A daemon in which nobody else has anything to read."""
    with Daemon(settings=SETTINGS) as running:
        yield running


@pytest.fixture(scope="module")
def large(shared: Daemon) -> Iterator[DisplayInfo]:
    """A display whose first reading takes many seconds."""
    made = shared.client.display_create(WIDTH, HEIGHT).display
    yield made
    shared.client.display_remove(made.name, force=True)


@pytest.fixture
def book(request: pytest.FixtureRequest, large: DisplayInfo) -> Iterator[Desk]:
    """Somebody who works there, on a screen full of words that no test before has shown."""
    with Desk(large.name, large.auth_file) as working:
        write_book(working, request.node.name)
        yield working


def write_book(desk: Desk, seed: str) -> None:
    """Fill the upper part of a large display with words: some seconds of reading, and no minute on a slow machine."""
    words = random.Random(seed)
    page = "\n".join(" ".join(words.choices(ENGLISH, k=34)) for _ in range(24))
    desk.show(desk.window(Rect(0, 0, WIDTH, HEIGHT)), letters(WIDTH, HEIGHT, page, 22))


def in_hand(shared: Daemon) -> float:
    """Return how many frames the engine has to read."""
    return scrape(shared).of("acud_pool_running_jobs", lane="ocr")


@pytest.fixture(autouse=True)
def idle(shared: Daemon, client: Client) -> None:
    """Begin with an engine that has nothing to read: what is left of waits that were cancelled is dropped."""
    until(lambda: in_hand(shared) == 0, "an engine that is idle")


def armed(client: Client, display: DisplayInfo, text: str) -> str:
    """Return a wait for `text` that OCR judges."""
    return client.wait_create(Text(text), display=display.name, timeout_s=300, judge="ocr").wait.wait_id


def test_a_text_that_goes_while_an_older_frame_is_read_is_seen(
    shared: Daemon, client: Client, large: DisplayInfo, book: Desk, request: pytest.FixtureRequest
) -> None:
    note = book.words(Rect(WIDTH, 800, 420, 160), "Quicksilver")  # beside the screen

    def seen(attempt: int) -> WaitInfo | None:
        """Return the wait's end, None where the page was read before the text was gone: that shows nothing."""
        write_book(book, f"{request.node.name} {attempt}")
        book.raise_(note)
        # A wait may begin with a frame from before the page was whole: the whole page would then be the second frame.
        client.look(display=large.name, max_side_px=64)
        until(lambda: taken(client) == 0, "evaluators that say they have nothing in hand")
        wait = armed(client, large, "Quicksilver")
        until(lambda: in_hand(shared) == 1 or shown(client, wait).judged, "the first reading")
        book.place(note, Rect(800, 800, 420, 160))
        until(lambda: taken(client) == 2 or shown(client, wait).judged, "the frame with the text")
        book.place(note, Rect(WIDTH, 800, 420, 160))
        if not shown(client, wait).judged:
            return ended(client, wait)
        with suppress(Conflict):
            client.wait_cancel(wait)
        until(lambda: in_hand(shared) == 0, "an engine that is idle")
        return None

    done = next((one for attempt in range(20) if (one := seen(attempt)) is not None), None)
    assert done is not None, "the page was read too fast for this test, each time"
    assert (done.state, "Quicksilver" in done.message) == (WaitState.RESOLVED, True)
    assert done.evidence is not None
    assert done.evidence.name


def test_a_change_elsewhere_is_read_before_a_first_reading_is_done(
    shared: Daemon, client: Client, view: DisplayInfo, desk: Desk, large: DisplayInfo, book: Desk
) -> None:
    page = desk.words(PAGE, "Downloading 57 of 90")
    quick = armed(client, view, "Download complete")
    judged(client, quick, "no")
    slow = armed(client, large, "Quicksilver")
    until(lambda: in_hand(shared) == 1, "the first reading")
    desk.rewrite(page, "Download complete")
    done = ended(client, quick)
    assert done.state is WaitState.RESOLVED
    assert all(one.utc_s > done.ended_utc_s for one in client.wait_show(slow).evaluations)


def test_another_display_is_read_beside_a_first_reading() -> None:
    """The process that reads the large one is stopped meanwhile: the other one alone can have read."""
    with Daemon(settings=SETTINGS.replace("workers = 1", "workers = 2")) as daemon:
        large = daemon.client.display_create(WIDTH, HEIGHT).display
        small = daemon.client.display_create(320, 240).display
        with Desk(large.name, large.auth_file) as book:
            write_book(book, "beside")
            slow = armed(daemon.client, large, "Quicksilver")
            reader = until(lambda: busy_evaluator(daemon.client), "the first reading")
            with first_reading_held(daemon.client, slow, reader):
                judged(daemon.client, armed(daemon.client, small, "Quicksilver"), "no")
                assert shown(daemon.client, slow).judged == 0


@contextmanager
def first_reading_held(client: Client, wait_id: str, *readers: int) -> Iterator[None]:
    """Stop who makes the first reading for the wait in the middle of it."""
    for pid in readers:
        os.kill(pid, signal.SIGSTOP)
    try:
        assert shown(client, wait_id).judged == 0, "the page was read too fast for this test"
        yield
    finally:
        for pid in readers:
            os.kill(pid, signal.SIGCONT)


def taken(client: Client) -> int:
    """Return how many frames those that read had taken when they last said so, up to a second ago: such a one is read
    as it was, whatever comes after it.
    """
    return sum(one.busy_jobs for one in client.status().children if one.kind == "evaluator")


def evaluators(client: Client) -> list[int]:
    """Return the pids of those that read."""
    return [one.pid for one in client.status().children if one.kind == "evaluator"]


def busy_evaluator(client: Client) -> int:
    """Return the pid of the one that has a frame in hand, 0 for none."""
    children = client.status().children
    return next((one.pid for one in children if one.kind == "evaluator" and one.busy_jobs), 0)


def test_what_is_read_for_a_wait_that_is_cancelled_is_dropped(
    shared: Daemon, client: Client, large: DisplayInfo, book: Desk
) -> None:
    dropped = scrape(shared).of("acud_pool_jobs_total", status="dropped")
    readers = evaluators(client)
    wait = armed(client, large, "Quicksilver")
    until(lambda: in_hand(shared) == 1, "the first reading")
    with first_reading_held(client, wait, *readers):
        client.wait_cancel(wait)
    until(lambda: in_hand(shared) == 0, "an engine that is idle")
    assert scrape(shared).of("acud_pool_jobs_total", status="dropped") == dropped + 1
