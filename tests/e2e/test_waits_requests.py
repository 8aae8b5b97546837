"""Waits as clients handle them, on a real daemon: results, updates, lists, evidence."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from acud.base.errors import Conflict, InvalidRequest, NotFound
from acud.base.untrusted_text import with_seen
from acud.pixels.tiles import identity
from acud.types import Change, Criteria, DisplayInfo, Policy, Rect, Stable, Until, WaitState, WindowTitle
from acud_client import Client
from tests.e2e.desktop import PATIENCE_S, Desk, Pixels, decoded, ended, judged, shown, timed_out, titled, until
from tests.fixtures.daemon import Daemon

LONG_S = 120.0
NEVER = Criteria("the lamp is green")


def bgrx(image: bytes) -> Pixels:
    """Return a picture file as height x width x 4 BGRX, the fourth byte 0."""
    rgb = decoded(image)
    pixels = np.zeros((*rgb.shape[:2], 4), np.uint8)
    pixels[:, :, :3] = rgb[:, :, ::-1]
    return pixels


# ---- evidence --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "ignore", "box"),
    [
        ("screen", (), Rect(0, 0, 640, 480)),
        ("region:101,53,77,33", (), Rect(101, 53, 77, 33)),
        ("screen", (Rect(0, 0, 50, 60),), Rect(0, 0, 640, 480)),
    ],
)
def test_evidence_is_the_exact_view(
    client: Client, view: DisplayInfo, desk: Desk, judge: Callable[[str], None], target: str, ignore: tuple[Rect, ...],
    box: Rect,
) -> None:  # fmt: skip
    judge('{"default": "yes"}')
    desk.words(Rect(90, 40, 300, 200), "Every pixel counts", title="Words")
    done = ended(client, client.wait_create(NEVER, target, display=view.name, ignore=ignore).wait.wait_id)
    kept = client.evidence(done.wait_id)
    drawn = desk.pixels(box)
    for spot in ignore:
        drawn[spot.y : spot.bottom, spot.x : spot.right] = 0
    assert np.array_equal(decoded(kept.image), drawn)
    assert kept.image.startswith(b"\x89PNG")
    assert done.evidence == kept.evidence
    assert identity(bgrx(kept.image), ignore) == kept.evidence.identity
    assert (kept.evidence.crop, kept.evidence.width, kept.evidence.height) == (box, box.w, box.h)


def test_a_wait_that_times_out_keeps_its_last_picture(client: Client, view: DisplayInfo, desk: Desk) -> None:
    desk.fill(Rect(30, 30, 100, 100), 0x4466AA)
    wait = client.wait_create(WindowTitle("Never"), display=view.name, timeout_s=LONG_S).wait.wait_id
    done = timed_out(client, wait, "no", after_s=5.0)
    assert done.state is WaitState.TIMEOUT
    kept = client.evidence(wait)
    assert np.array_equal(decoded(kept.image), desk.pixels(Rect(0, 0, view.width, view.height)))
    assert identity(bgrx(kept.image)) == kept.evidence.identity == done.evidence.identity  # type: ignore[union-attr]
    assert not kept.evidence.before


@pytest.mark.parametrize("until_", [Change(), WindowTitle("Now"), Stable(0.3), Change(settle_s=0.3)])
def test_local_conditions_have_evidence_as_well(client: Client, view: DisplayInfo, desk: Desk, until_: Until) -> None:
    wait = client.wait_create(until_, display=view.name, timeout_s=LONG_S).wait.wait_id
    desk.window(Rect(30, 30, 100, 100), 0x4466AA, title="Now")
    done = ended(client, wait)
    kept = client.evidence(wait)
    assert done.state is WaitState.RESOLVED
    assert identity(bgrx(kept.image)) == kept.evidence.identity == done.evidence.identity  # type: ignore[union-attr]
    assert Path(client.wait_show(wait).evidence_path).read_bytes() == kept.image
    if not isinstance(until_, Stable):
        assert (decoded(kept.image)[80, 80] == (0x44, 0x66, 0xAA)).all()


def test_no_evidence_is_said_with_its_reason(client: Client, view: DisplayInfo) -> None:
    wait = client.wait_create(NEVER, display=view.name, timeout_s=LONG_S).wait.wait_id
    with pytest.raises(NotFound, match="watching"):
        client.evidence(wait)
    client.wait_cancel(wait)
    with pytest.raises(NotFound, match="cancelled"):
        client.evidence(wait)


def test_evaluations_tell_the_wait_s_story(
    client: Client, view: DisplayInfo, desk: Desk, judge: Callable[[str], None]
) -> None:
    judge('{"default": "no", "rules": [{"area": [0, 0, 640, 480, "#00c040"], "answer": "yes", "detail": "it glows"}]}')
    wait = client.wait_create(NEVER, display=view.name, timeout_s=LONG_S).wait.wait_id
    judged(client, wait)
    desk.fill(Rect(10, 10, 40, 40), 0x00C040)
    done = ended(client, wait)
    rows = client.wait_show(wait).evaluations
    assert [(row.verdict.answer, row.judge) for row in rows] == [("no", "scripted"), ("yes", "scripted")]
    assert [row.frame for row in rows] == sorted(row.frame for row in rows)
    assert done.evidence is not None
    assert (rows[-1].identity, rows[-1].frame) == (done.evidence.identity, done.evidence.frame)
    assert (done.judged, done.judge_calls, done.cost_usd) == (2, 2, 0.0)
    assert done.verdict.detail == "it glows"
    said = f"[smart_wait resolved] Job {wait}: the lamp is green (on {done.display})."
    assert done.message == with_seen(said, "it glows")
    assert done.changed_to_resolved_ms is not None
    assert len(client.wait_show(wait, evaluations=1).evaluations) == 1


# ---- the result ------------------------------------------------------------------------------------------------------


def test_a_long_poll_ends_early(shared: Daemon, client: Client, view: DisplayInfo, desk: Desk) -> None:
    wait = client.wait_create(Change(), display=view.name, timeout_s=LONG_S).wait.wait_id
    painting = threading.Timer(0.3, desk.fill, (Rect(1, 1, 4, 4), 0xFF))
    painting.start()
    began_s = time.monotonic()
    reply = client.wait_result(wait, block_s=100.0)
    assert (reply.ended, reply.wait.state) == (True, WaitState.RESOLVED)
    assert time.monotonic() - began_s < 60.0
    assert Path(reply.evidence_path).is_file()
    painting.join()  # it shares the desk's connection


def test_a_long_poll_times_out_with_the_state_so_far(client: Client, view: DisplayInfo, desk: Desk) -> None:
    wait = client.wait_create(NEVER, display=view.name, timeout_s=LONG_S).wait.wait_id
    judged(client, wait)
    reply = client.wait_result(wait, block_s=0.3)
    assert (reply.ended, reply.wait.state, reply.wait.verdict.answer) == (False, WaitState.WATCHING, "no")
    assert client.wait_result(wait).ended is False
    assert 0 < reply.wait.remaining_s <= LONG_S


def test_many_polls_of_one_wait_all_end(shared: Daemon, client: Client, view: DisplayInfo, desk: Desk) -> None:
    wait = client.wait_create(Change(), display=view.name, timeout_s=LONG_S).wait.wait_id
    states: list[WaitState] = []

    def poll() -> None:
        with Client(shared.paths, timeout_s=PATIENCE_S) as own:
            states.append(own.wait_result(wait, block_s=100.0).wait.state)

    polls = [threading.Thread(target=poll) for _ in range(4)]
    for one in polls:
        one.start()
    desk.fill(Rect(1, 1, 4, 4), 0xFF)
    for one in polls:
        one.join()
    assert states == [WaitState.RESOLVED] * 4


def test_a_deadline_does_not_wait_for_a_slow_judge(
    client: Client, view: DisplayInfo, desk: Desk, judge: Callable[[str], None]
) -> None:
    judge('{"default": "no", "fault": "hang"}')  # for 60 s
    wait = client.wait_create(NEVER, display=view.name, timeout_s=1.0).wait.wait_id
    done = ended(client, wait)
    assert done.state is WaitState.TIMEOUT
    assert f"{wait}: not seen in 1 s: the lamp is green (on " in done.message
    assert done.ended_utc_s - done.deadline_utc_s < 30.0


# ---- update, cancel, list --------------------------------------------------------------------------------------------


def test_a_timeout_restarts_the_clock(client: Client, view: DisplayInfo, desk: Desk) -> None:
    wait = client.wait_create(NEVER, display=view.name, timeout_s=LONG_S).wait
    updated = client.wait_update(wait.wait_id, timeout_s=1.0).wait
    assert updated.remaining_s <= 1.0
    done = ended(client, wait.wait_id)
    assert done.state is WaitState.TIMEOUT
    assert done.deadline_utc_s < wait.deadline_utc_s


def test_a_change_right_after_an_update_is_seen(client: Client, view: DisplayInfo, desk: Desk) -> None:
    for colour in range(1, 6):
        wait = client.wait_create(NEVER, display=view.name, timeout_s=LONG_S).wait.wait_id
        client.wait_update(wait, until=Change())
        desk.fill(Rect(50, 50, 4, 4), colour)
        assert ended(client, wait).state is WaitState.RESOLVED


def test_an_update_to_what_holds_already(client: Client, view: DisplayInfo, desk: Desk) -> None:
    desk.window(Rect(30, 30, 100, 100), title="Here")
    titled(client, view.name, "Here")
    wait = client.wait_create(NEVER, display=view.name, timeout_s=LONG_S).wait.wait_id
    client.wait_update(wait, until=WindowTitle("Here"))
    done = ended(client, wait)
    assert done.state is WaitState.RESOLVED
    assert done.evidence is not None
    assert done.evidence.name


def test_another_policy(client: Client, view: DisplayInfo, desk: Desk) -> None:
    wait = client.wait_create(NEVER, display=view.name, timeout_s=LONG_S).wait.wait_id
    assert judged(client, wait).judge_calls == 1
    client.wait_update(wait, policy=Policy(force_after_s=0.5))
    until(lambda: shown(client, wait).judge_calls >= 3, "forced judgements")
    with pytest.raises(InvalidRequest, match="changes nothing"):
        client.wait_update(wait)


def test_what_has_ended_stays_as_it_ended(client: Client, view: DisplayInfo, desk: Desk) -> None:
    wait = client.wait_create(NEVER, display=view.name, timeout_s=LONG_S).wait.wait_id
    cancelled = client.wait_cancel(wait, reason="not needed").wait
    done = ended(client, wait)
    assert cancelled.state is done.state is WaitState.CANCELLED
    assert done.message.endswith("— not needed")
    with pytest.raises(Conflict, match="cancelled"):
        client.wait_update(wait, timeout_s=5.0)
    assert client.wait_result(wait, block_s=50.0).ended


def test_lists_and_prefixes(client: Client, view: DisplayInfo, desk: Desk) -> None:
    first = client.wait_create(NEVER, display=view.name, timeout_s=LONG_S, label="one").wait.wait_id
    second = client.wait_create(NEVER, display=view.name, timeout_s=LONG_S, label="two").wait.wait_id
    live = client.wait_list()
    assert [wait.wait_id for wait in live.waits[:2]] == [second, first]
    assert client.wait_list(limit=1).total == live.total
    client.wait_cancel(first)
    ended(client, first)
    assert first not in {wait.wait_id for wait in client.wait_list().waits}
    assert first in {wait.wait_id for wait in client.wait_list(states=[WaitState.CANCELLED]).waits}
    assert {first, second} <= {wait.wait_id for wait in client.wait_list(ended=True, limit=1000).waits}
    assert client.wait_show(second[:-1]).wait.wait_id == second
    with pytest.raises((Conflict, InvalidRequest, NotFound), match="wait"):
        client.wait_show("wait-")
    assert client.wait_cancel(second[:-1]).wait.wait_id == second
