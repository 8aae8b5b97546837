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


class Case(Struct, frozen=True):
    """A target, where painting is a change of it, and where it is none (in tiles of it, where it has parts of some)."""

    target: str
    inside: Rect
    outside: Rect
    window: str = ""
    """What is painted in, where that is not the screen."""


REGION = Case("region:400,304,64,48", Rect(404, 308, 3, 3), Rect(480, 380, 40, 40))
ODD = Case("region:564,404,37,21", Rect(577, 417, 3, 3), Rect(561, 401, 3, 30))
COVERED = Case("window:below", Rect(6, 6, 5, 5), Rect(170, 100, 40, 40), "below")
SCREEN = Case("screen", Rect(206, 305, 1, 1), Rect(203, 305, 2, 12))
"""All of the screen but where the others are painted, and its own outside."""


class Scene:
    """A display with windows by title, and the daemon that sees it."""

    def __init__(self, daemon: Daemon, desk: Desk, display: str) -> None:
        self.daemon, self.desk, self.display = daemon, desk, display
        self.windows: dict[str, int] = {}

    def open(self, **boxes: Rect) -> None:
        """Open windows, each above those before; return once the daemon knows of these and no others."""
        self.windows |= {title: self.desk.window(box, 0x204080, title) for title, box in boxes.items()}
        wanted = set(self.windows.values())
        until(lambda: wanted == {one.window_id for one in faults.display(self.daemon, self.display).windows}, "windows")

    def arm(self, *targets: str, ignore: tuple[Rect, ...] = ()) -> list[WaitInfo]:
        """Return waits whose baselines no evaluator has looked at: it is stopped."""
        faults.kill(faults.running(self.daemon, "evaluator").pid, faults.signal.SIGSTOP)
        return [self.arm_one(target, ignore=ignore) for target in targets]

    def arm_one(self, target: str, display: str = "", ignore: tuple[Rect, ...] = ()) -> WaitInfo:
        """Return a wait for a change of `target` once its baseline is stored."""
        create = self.daemon.client.wait_create
        boxes = list(ignore) if target == "screen" else []
        wait = create(Change(), target, display=display or self.display, ignore=boxes, timeout_s=LONG_S).wait
        until(lambda: kept(self.daemon, wait.wait_id), "the baseline")
        return wait

    def paint(self, case: Case, colour: int = GREEN) -> None:
        """Change its target."""
        self.desk.fill(case.inside, colour, self.windows.get(case.window, 0))

    def expect_no_change(self, *waits: WaitInfo) -> None:
        """See that these were compared with what their targets show, which is no change."""
        for wait in waits:
            info = judged(self.daemon.client, wait.wait_id, "no")
            assert info.verdict.detail == "the target has not changed since the baseline"
            compared(self.daemon, wait.wait_id)
            assert shown(self.daemon.client, wait.wait_id).state is WaitState.WATCHING

    def expect_change(self, *waits: WaitInfo) -> None:
        """See that these end, and by what was painted."""
        for wait in waits:
            assert ended(self.daemon.client, wait.wait_id).verdict.detail.startswith("changed tiles cover")


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
    """The daemon and its display, black and empty at first, with no ring of before."""
    until(lambda: len(faults.rings(host[0].paths)) == 1, "one ring")
    yield Scene(*host)
    daemon, desk, _ = host
    desk.clear()
    if daemon.process is None:  # the test failed in between
        daemon.start()
    for wait in daemon.client.wait_list().waits:
        with suppress(Conflict):  # what was cleared may just have ended it
            daemon.client.wait_cancel(wait.wait_id)


def test_nothing_painted_is_no_change_and_what_is_painted_meanwhile_is_one(scene: Scene) -> None:
    """Twice killed: once with nothing painted in the targets, then with something."""
    scene.open(below=Rect(64, 64, 160, 96), above=Rect(160, 96, 160, 96))
    cases = (REGION, ODD, COVERED, SCREEN)
    others = [one.inside for one in (REGION, ODD)] + [one.outside for one in cases] + [COVERED.inside.shift(64, 64)]
    waits = scene.arm(*(case.target for case in cases), ignore=tuple(others))
    scene.daemon.kill()
    for case in cases:
        scene.desk.fill(case.outside, GREEN)
    scene.daemon.start()
    scene.expect_no_change(*waits)
    scene.daemon.kill()
    for case in cases:
        scene.paint(case)
    scene.daemon.start()
    scene.expect_change(*waits)
    until(lambda: len([name for name in faults.rings(scene.daemon.paths) if ".w" not in name]) == 1, "one ring")


def test_a_window_that_is_elsewhere_meanwhile_is_compared_by_its_look(scene: Scene) -> None:
    """What is painted meanwhile, before anybody has looked, is a change."""
    scene.open(
        moved=Rect(16, 16, 120, 80), painted=Rect(320, 16, 120, 80), under=Rect(16, 200, 120, 80),
        over=Rect(80, 230, 120, 80), free=Rect(320, 200, 120, 80),
    )  # fmt: skip
    *still, painted, region = scene.arm(*(f"window:{one}" for one in ("moved", "under", "free", "painted")), ODD.target)
    scene.daemon.kill()
    scene.desk.place(scene.windows["moved"], Rect(53, 27, 120, 80))
    scene.desk.close(scene.windows["over"])
    scene.desk.window(Rect(380, 230, 120, 80), 0x802040, "another")
    scene.desk.place(scene.windows["painted"], Rect(357, 27, 120, 80))
    scene.desk.fill(Rect(3, 3, 5, 5), GREEN, scene.windows["painted"])
    scene.paint(ODD)
    scene.daemon.start()
    scene.expect_change(painted, region)
    scene.expect_no_change(*still)
    for title in ("moved", "under", "free"):
        scene.desk.fill(Rect(3, 3, 5, 5), GREEN, scene.windows[title])
    scene.expect_change(*still)


def test_what_was_painted_and_undone_before_the_end_was_stored_is_a_change(scene: Scene) -> None:
    """The yes waits for its picture, which the stopped evaluator does not take; nothing of it is stored."""
    (wait,) = scene.arm(REGION.target)
    before = scene.desk.pixels()
    scene.paint(REGION)
    judged(scene.daemon.client, wait.wait_id, "yes")
    scene.paint(REGION, 0)
    assert (scene.desk.pixels() == before).all()
    scene.daemon.kill()
    scene.daemon.start()
    scene.expect_change(wait)


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
    """So does a token that a client took before."""
    client = scene.daemon.client
    (wait,) = scene.arm(REGION.target)
    token = client.baseline(REGION.target, display=scene.display).baseline
    for turn in range(2):
        before = faults.display(scene.daemon, scene.display).frame
        for colour in range(8):  # more than there are slots
            seen = faults.display(scene.daemon, scene.display).frame
            scene.desk.fill(REGION.outside, 1000 * turn + colour + 1)
            until(lambda seen=seen: faults.display(scene.daemon, scene.display).frame > seen, "a frame")  # type: ignore[misc]
        scene.daemon.kill()
        scene.daemon.start()
        judged(client, wait.wait_id, "no")
        assert faults.display(scene.daemon, scene.display).frame > before
    late = client.wait_create(Change(baseline=token), REGION.target, display=scene.display, timeout_s=LONG_S).wait
    judged(client, late.wait_id, "no")
    scene.paint(REGION)
    scene.expect_change(wait, late)


def test_without_the_frames_from_before_it_counts_as_changed_and_says_why(scene: Scene) -> None:
    """Of one display they are gone, of another damaged. A wait's own look was stored; the token of a whole screen has
    none.
    """
    client = scene.daemon.client
    displays = (scene.display, client.display_create(320, 240).display.name)
    scene.arm()
    waits = [scene.arm_one("region:96,96,64,48", display) for display in displays]
    tokens = [client.baseline("screen", display=display).baseline for display in displays]
    scene.daemon.kill()
    gone, damaged = (one for one in scene.daemon.paths.shm.iterdir() if ".w" not in one.name)
    gone.unlink()
    damaged.write_bytes(b"no ring")
    scene.daemon.start()
    for wait, token, display in zip(waits, tokens, displays, strict=True):
        judged(client, wait.wait_id, "no")
        late = client.wait_create(Change(baseline=token), display=display, timeout_s=LONG_S).wait
        assert ended(client, late.wait_id).verdict.detail == (
            "it counts as changed, for it could not be compared with its baseline: "
            "acud was restarted since, and what it had seen before is gone"
        )
    assert len(faults.rings(scene.daemon.paths)) == 2
    client.display_remove(displays[1], force=True)


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
