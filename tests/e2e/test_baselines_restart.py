"""A change is measured over a killed supervisor: neither lost, nor told where nothing was painted.

The evaluator is stopped before the wait is armed, so that nobody has looked at its baseline when the supervisor dies.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress

import pytest
from msgspec import Struct

from acud.base.errors import Conflict
from acud.types import Change, Rect, Text, WaitInfo, WaitState
from tests.e2e import faults
from tests.e2e.desktop import Desk, compared, ended, judged, shown, until
from tests.fixtures.daemon import Daemon

LONG_S = 600.0
GREEN = 0x00C040
BELOW, ABOVE = Rect(64, 64, 160, 96), Rect(160, 96, 160, 96)


class Case(Struct, frozen=True):
    """A target, where painting is a change of it, and where it is none (None: nowhere)."""

    target: str
    inside: Rect
    outside: Rect | None = None
    ignore: tuple[Rect, ...] = ()
    covered: bool = False


CASES = {
    "region": Case("region:96,96,64,48", Rect(100, 100, 3, 3), Rect(320, 320, 40, 40)),
    "odd region": Case("region:100,100,37,21", Rect(113, 113, 3, 3), Rect(97, 97, 3, 30)),
    "ignored boxes": Case("screen", Rect(206, 205, 1, 1), Rect(203, 205, 2, 12), (Rect(203, 205, 2, 12),)),
    "window": Case("window:below", Rect(70, 70, 5, 5), Rect(224, 100, 40, 40)),
    "covered window": Case("window:below", Rect(70, 70, 5, 5), Rect(170, 100, 40, 40), covered=True),
}
"""Outside is beside the target in tiles that lie in it in part, where there are some."""


class Scene:
    """A display with a window `below`, in part under another where a case says so, and the daemon that sees it."""

    def __init__(self, daemon: Daemon, desk: Desk, display: str) -> None:
        self.daemon, self.desk, self.display = daemon, desk, display
        self.windows: tuple[int, ...] = ()

    def arm(self, case: Case) -> WaitInfo:
        """Return a wait whose baseline no evaluator has looked at: it is stopped."""
        self.windows = (self.desk.window(BELOW, 0x204080, "below"),)
        if case.covered:
            self.windows += (self.desk.window(ABOVE, 0x802040, "above"),)
        until(lambda: self.shown() == set(self.windows), "the windows of this test, and no others")
        faults.kill(faults.running(self.daemon, "evaluator").pid, faults.signal.SIGSTOP)
        wait = self.daemon.client.wait_create(
            Change(), case.target, display=self.display, ignore=list(case.ignore), timeout_s=LONG_S
        ).wait
        until(lambda: kept(self.daemon, wait.wait_id), "the baseline")
        return wait

    def shown(self) -> set[int]:
        """Return the ids of the windows that the daemon knows of."""
        return {window.window_id for window in faults.display(self.daemon, self.display).windows}

    @property
    def window(self) -> int:
        """The window below."""
        return self.windows[0]

    def paint(self, box: Rect, case: Case, colour: int = GREEN) -> None:
        """Paint on the screen, or in the covered window itself where the case is about one."""
        if case.covered and box == case.inside:
            self.desk.fill(box.shift(-BELOW.x, -BELOW.y), colour, self.window)
        else:
            self.desk.fill(box, colour)


def kept(daemon: Daemon, wait_id: str) -> dict[str, str]:
    """Return the stored baseline, {} before there is one."""
    with closing(sqlite3.connect(f"file:{daemon.home / 'data.db'}?mode=ro", uri=True)) as database:
        row = database.execute("SELECT baselines FROM wait_jobs WHERE wait_id = ?", [wait_id]).fetchone()
    return next(iter(json.loads(row[0]).values()), {}) if row else {}


@pytest.fixture(scope="module")
def host() -> Iterator[tuple[Daemon, Desk, str]]:
    """A daemon with one managed display of 640x480, which leaves an evaluator alone that is stopped."""
    with Daemon(settings=faults.settings(daemon={"restart_limit": 10_000, "child_silent_s": 600})) as daemon:
        display = daemon.client.display_create(640, 480).display
        with Desk(display.name, display.auth_file) as desk:
            yield daemon, desk, display.name


@pytest.fixture
def scene(host: tuple[Daemon, Desk, str]) -> Iterator[Scene]:
    """The daemon and its display, black and empty at first."""
    yield Scene(*host)
    daemon, desk, _ = host
    desk.clear()
    if daemon.process is None:  # the test failed in between
        daemon.start()
    for wait in daemon.client.wait_list().waits:
        with suppress(Conflict):  # what was cleared may just have ended it
            daemon.client.wait_cancel(wait.wait_id)


@pytest.mark.parametrize(
    "case", [CASES["region"], CASES["ignored boxes"], CASES["covered window"]], ids=lambda c: c.target
)
def test_nothing_painted_is_no_change_and_what_is_painted_meanwhile_is_one(scene: Scene, case: Case) -> None:
    """Twice killed: once with nothing painted in the target, then with something."""
    wait = scene.arm(case)
    scene.daemon.kill()
    if case.outside is not None:
        scene.desk.fill(case.outside, GREEN)
    scene.daemon.start()
    info = judged(scene.daemon.client, wait.wait_id, "no")
    assert info.verdict.detail == "the target has not changed since the baseline"
    compared(scene.daemon, wait.wait_id)
    assert shown(scene.daemon.client, wait.wait_id).state is WaitState.WATCHING
    scene.daemon.kill()
    scene.paint(case.inside, case)
    scene.daemon.start()
    assert ended(scene.daemon.client, wait.wait_id).verdict.detail.startswith("changed tiles cover")
    until(lambda: len(faults.rings(scene.daemon.paths)) == 1 or case.covered, "one display, one ring")


def test_what_is_painted_before_anybody_has_looked_is_a_change(scene: Scene) -> None:
    case = CASES["odd region"]
    wait = scene.arm(case)
    scene.daemon.kill()
    scene.paint(case.inside, case)
    scene.daemon.start()
    assert ended(scene.daemon.client, wait.wait_id).verdict.detail.startswith("changed tiles cover")


@pytest.mark.parametrize("how", ["moved", "moved and painted", "uncovered", "covered"])
def test_a_window_that_is_elsewhere_meanwhile_is_compared_by_its_look(scene: Scene, how: str) -> None:
    wait = scene.arm(CASES["covered window" if how == "uncovered" else "window"])
    above = next(window for window in (*scene.windows[1:], 0))
    scene.daemon.kill()
    match how:
        case "moved" | "moved and painted":
            scene.desk.place(scene.window, Rect(BELOW.x + 37, BELOW.y + 11, BELOW.w, BELOW.h))
        case "uncovered":
            scene.desk.close(above)
        case "covered":
            scene.desk.window(ABOVE, 0x802040, "above")
    if how == "moved and painted":
        scene.desk.fill(Rect(3, 3, 5, 5), GREEN, scene.window)
    scene.daemon.start()
    if how != "moved and painted":
        compared(scene.daemon, wait.wait_id)
        judged(scene.daemon.client, wait.wait_id, "no")
        scene.desk.fill(Rect(3, 3, 5, 5), GREEN, scene.window)
    assert ended(scene.daemon.client, wait.wait_id).verdict.detail.startswith("changed tiles cover")


def test_what_was_painted_and_undone_before_the_end_was_stored_is_a_change(scene: Scene) -> None:
    """The yes waits for its picture, which the stopped evaluator does not take; nothing of it is stored."""
    case = CASES["region"]
    wait = scene.arm(case)
    before = scene.desk.pixels()
    scene.paint(case.inside, case)
    judged(scene.daemon.client, wait.wait_id, "yes")
    scene.paint(case.inside, case, 0x204080)
    assert (scene.desk.pixels() == before).all()
    scene.daemon.kill()
    scene.daemon.start()
    assert ended(scene.daemon.client, wait.wait_id).verdict.detail.startswith("changed tiles cover")


def test_a_place_that_is_hidden_is_known_after_a_kill(scene: Scene) -> None:
    client, desk = scene.daemon.client, scene.desk
    window = desk.words(Rect(48, 48, 320, 160), "Uploading", "Uploader")
    wait = client.wait_create(Text("Uploading", gone=True), "screen", display=scene.display, timeout_s=LONG_S).wait
    until(lambda: '"Uploading"' in shown(client, wait.wait_id).verdict.detail, "the text")
    cover = desk.window(Rect(0, 0, 500, 400), 0x335577, "Report")
    hidden = judged(client, wait.wait_id, "unknown", "covered")
    scene.daemon.kill()
    scene.daemon.start()
    again = until(lambda: (one := shown(client, wait.wait_id)).judged > hidden.judged and one, "a judgement")
    assert (again.state, again.verdict.code) == (WaitState.WATCHING, "covered")
    desk.close(cover)
    judged(client, wait.wait_id, "no")
    desk.close(window)
    assert ended(client, wait.wait_id).state is WaitState.RESOLVED


def test_a_baseline_holds_over_many_kills_and_many_frames(scene: Scene) -> None:
    case = CASES["region"]
    wait = scene.arm(case)
    assert case.outside is not None
    for turn in range(2):
        before = faults.display(scene.daemon, scene.display).frame
        for colour in range(8):  # more than there are slots
            seen = faults.display(scene.daemon, scene.display).frame
            scene.desk.fill(case.outside, 1000 * turn + colour + 1)
            until(lambda seen=seen: faults.display(scene.daemon, scene.display).frame > seen, "a frame")  # type: ignore[misc]
        scene.daemon.kill()
        scene.daemon.start()
        judged(scene.daemon.client, wait.wait_id, "no")
        assert faults.display(scene.daemon, scene.display).frame > before
    scene.paint(case.inside, case)
    ended(scene.daemon.client, wait.wait_id)


@pytest.mark.parametrize("how", ["gone", "damaged"])
def test_without_the_frames_from_before_it_counts_as_changed_and_says_why(scene: Scene, how: str) -> None:
    """A wait's own look was stored; the token of a whole screen has none."""
    wait = scene.arm(CASES["region"])
    token = scene.daemon.client.baseline("screen", display=scene.display).baseline
    scene.daemon.kill()
    for ring in scene.daemon.paths.shm.iterdir():
        if how == "gone":
            ring.unlink()
        else:
            ring.write_bytes(b"no ring")
    scene.daemon.start()
    judged(scene.daemon.client, wait.wait_id, "no")
    late = scene.daemon.client.wait_create(Change(baseline=token), display=scene.display, timeout_s=LONG_S).wait
    assert ended(scene.daemon.client, late.wait_id).verdict.detail == (
        "it counts as changed, for it could not be compared with its baseline: "
        "acud was restarted since, and what it had seen before is gone"
    )
    assert len(faults.rings(scene.daemon.paths)) == 1


def test_a_token_that_a_client_took_before_is_still_good(scene: Scene) -> None:
    token = scene.daemon.client.baseline("screen", display=scene.display).baseline
    scene.daemon.kill()
    scene.daemon.start()
    wait = scene.daemon.client.wait_create(Change(baseline=token), display=scene.display, timeout_s=LONG_S).wait
    judged(scene.daemon.client, wait.wait_id, "no")
    scene.desk.fill(Rect(0, 0, 4, 4), GREEN)
    ended(scene.daemon.client, wait.wait_id)


def test_an_orderly_end_leaves_no_ring_of_before() -> None:
    with Daemon(settings=faults.settings()) as daemon:
        display = daemon.client.display_create(320, 240).display
        daemon.client.baseline("screen", display=display.name)
        daemon.kill()
        strange(daemon)
        daemon.start()
        assert "9999.7" in faults.rings(daemon.paths)
        daemon.stop()
        faults.nothing_left(daemon.paths, display.name)


def strange(daemon: Daemon) -> None:
    """Lay rings of a display that is gone, and a file that is none."""
    shm = daemon.paths.shm
    ring = next(path for path in shm.iterdir() if ".w" not in path.name)
    for name in ("9999.6", "9999.7"):
        (shm / name).write_bytes(ring.read_bytes())
    (shm / "stranger").write_bytes(b"x")
