"""What a wait looked like before it held, and what differs: kept with the evidence, or said why not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from acud.base.errors import NotFound
from acud.pixels.tiles import identity
from acud.types import Cadence, Change, Criteria, DisplayInfo, Policy, Rect, WindowTitle
from acud_client import Client
from tests.e2e.desktop import Desk, decoded, ended, judged, until
from tests.e2e.metrics import scrape
from tests.e2e.test_waits_requests import bgrx
from tests.fixtures.daemon import Daemon

BOX = Rect(40, 40, 120, 90)
RED = 0xC02020
SCRIPT = '{"default": "no", "rules": [{"pixel": [60, 60, "#20c020"], "answer": "yes"}]}'


def test_before_and_difference_of_a_judged_wait(
    client: Client, view: DisplayInfo, desk: Desk, judge: Callable[[str], None]
) -> None:
    judge(SCRIPT)
    desk.fill(BOX, RED)
    wait = client.wait_create(Criteria("it is green"), display=view.name).wait.wait_id
    judged(client, wait, "no")
    before = desk.pixels()
    desk.fill(BOX, 0x20C020)
    done = ended(client, wait)
    kept = client.evidence(wait, part="before")
    assert np.array_equal(decoded(kept.image), before)
    assert identity(bgrx(kept.image)) == done.evidence.before_identity
    assert done.evidence.before_frame < done.evidence.frame
    assert client.evidence(wait).image != kept.image
    shown = decoded(client.evidence(wait, part="diff").image)
    assert (shown[60, 60] == ((0x20 + 224) // 2, (0xC0 + 32) // 2, (0x20 + 32) // 2)).all()
    inside = shown[BOX.y : BOX.bottom, BOX.x : BOX.right]
    assert (inside == inside[0, 0]).all()
    outside = shown.copy()
    outside[BOX.y : BOX.bottom, BOX.x : BOX.right] = 0
    assert not outside.any()  # the desk is black


def test_a_condition_that_held_at_once_has_none(
    client: Client, view: DisplayInfo, desk: Desk, judge: Callable[[str], None]
) -> None:
    judge('{"default": "yes"}')
    desk.fill(BOX, RED)
    wait = client.wait_create(Criteria("it is there"), display=view.name).wait.wait_id
    ended(client, wait)
    with pytest.raises(NotFound, match="nobody saw the view before"):
        client.evidence(wait, part="before")
    with pytest.raises(NotFound, match="nobody saw the view before"):
        client.evidence(wait, part="diff")


def test_pixels_judged_no_and_then_yes_are_one_picture(
    client: Client, view: DisplayInfo, desk: Desk, judge: Callable[[str], None]
) -> None:
    judge('{"default": "no"}')
    desk.fill(BOX, RED)
    often = Policy(cadence=Cadence.FIXED, interval_s=0.2)
    wait = client.wait_create(Criteria("it is there"), display=view.name, policy=often).wait.wait_id
    judged(client, wait, "no")
    judge('{"default": "yes"}')
    evidence = ended(client, wait).evidence
    assert evidence.before == evidence.name
    assert client.evidence(wait, part="before").image == client.evidence(wait).image
    assert wait not in {one.wait_id for one in client.wait_list().waits}  # its end is stored


def test_a_change_has_it_as_well(shared: Daemon, client: Client, view: DisplayInfo, desk: Desk) -> None:
    desk.fill(BOX, RED)
    before = desk.pixels()
    jobs = scrape(shared).of("acud_pool_jobs_total", status="done")
    wait = client.wait_create(Change(), display=view.name).wait.wait_id
    until(lambda: scrape(shared).of("acud_pool_jobs_total", status="done") > jobs, "its first view")
    desk.window(Rect(200, 200, 100, 100), 0x4466AA, title="Now")
    ended(client, wait)
    assert np.array_equal(decoded(client.evidence(wait, part="before").image), before)


def test_a_window_that_appears_has_none(client: Client, view: DisplayInfo, desk: Desk) -> None:
    wait = client.wait_create(WindowTitle("Now"), display=view.name).wait.wait_id
    desk.window(Rect(200, 200, 100, 100), 0x4466AA, title="Now")
    ended(client, wait)
    with pytest.raises(NotFound, match="nobody saw the view before"):
        client.evidence(wait, part="before")
