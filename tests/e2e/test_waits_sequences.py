"""Sequences on a real display: a text that comes and goes, one thing after another, over restarts of the daemon."""

from __future__ import annotations

import pytest

from acud.base.errors import NotFound
from acud.types import Change, Rect, Text, Then, WaitInfo, WaitState, appears_then_goes
from acud_client import Client
from tests.e2e.conftest import BARE
from tests.e2e.desktop import Desk, decoded, ended, judged, shown, timed_out, until
from tests.fixtures.daemon import Daemon

PAGE = Rect(20, 20, 420, 160)
BOX = Rect(300, 300, 64, 64)


def in_stage(client: Client, wait_id: str, stage: int) -> WaitInfo:
    """Return the wait once so many stages of it were reached, and it was judged in the next one."""

    def found() -> WaitInfo | None:
        wait = shown(client, wait_id)
        assert wait.state is WaitState.WATCHING, f"it ended in stage {len(wait.stages)}: {wait.message}"
        return wait if len(wait.stages) == stage and wait.verdict.code != "not_judged" else None

    return until(found, f"stage {stage}")


def test_a_spinner_appears_and_goes_with_a_picture_of_each(shared: Daemon) -> None:
    client = shared.client
    display = client.display_create(640, 480).display
    with Desk(display.name, display.auth_file) as desk:
        page = desk.words(PAGE, "Inbox")
        condition = appears_then_goes(Text("Loading mail"))
        wait_id = client.wait_create(condition, display=display.name, timeout_s=120, judge="ocr").wait.wait_id
        assert judged(client, wait_id, "no").stages == ()
        desk.rewrite(page, "Loading mail")
        wait = in_stage(client, wait_id, 1)
        assert ("Loading mail" in wait.stages[0].verdict.detail, wait.verdict.answer) == (True, "no")
        desk.rewrite(page, "Inbox (3)")
        done = ended(client, wait_id)
        assert done.state is WaitState.RESOLVED
        assert "was not there" not in done.verdict.detail
        first, last = (decoded(client.evidence(wait_id, stage=stage).image) for stage in (1, 0))
        assert (first != last).any()
        with pytest.raises(NotFound, match="reached 1 of its stages, not stage 2"):
            client.evidence(wait_id, stage=2)
    client.display_remove(display.name, force=True)


def test_a_sequence_goes_on_over_a_restart_and_times_out_in_words() -> None:
    with Daemon(settings=BARE) as daemon:
        client = daemon.client
        display = client.display_create(640, 480).display
        with Desk(display.name, display.auth_file) as desk:
            page, box = desk.words(PAGE, "Ready"), desk.window(BOX)
            condition = Then((Text("Building"), Change(), Text("All tests passed")))
            wait_id = client.wait_create(condition, display=display.name, timeout_s=300, judge="ocr").wait.wait_id
            judged(client, wait_id, "no")
            desk.rewrite(page, "Building")
            in_stage(client, wait_id, 1)
            daemon.kill()
            desk.recolour(box, 0x00FF00)  # while nobody looks: later than the first stage all the same
            daemon.start()
            assert len(in_stage(client, wait_id, 2).stages) == 2
            daemon.kill()
            daemon.start()
            wait = in_stage(client, wait_id, 2)
            assert [stage.evidence.name != "" for stage in wait.stages] == [True, True]
            assert wait.stages[0].utc_s < wait.stages[1].utc_s
            done = timed_out(client, wait_id, "no")
        assert done.state is WaitState.TIMEOUT
        assert 'Stage 1 (text "Building") held at ' in done.message
        assert 'Stage 3 of 3 (text "All tests passed") was not reached.' in done.message
        assert done.evidence is not None
        assert done.evidence.name
        assert [len(client.evidence(wait_id, stage=stage).image) > 0 for stage in (1, 2, 0)] == [True] * 3
        with client.events(topic="wait.stage", after=0) as told:
            assert [next(told).data["stage"] for _ in range(2)] == [1, 2]
