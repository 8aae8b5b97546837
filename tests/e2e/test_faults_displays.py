"""X servers that die: unknown while they are away, never a stale frame, never a no; and on again when they are back."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import closing

import pytest

from acud.base.errors import AcudError, DisplayDown, Refused
from acud.types import Change, DisplayInfo, OnDisplayLost, Policy, Stable, WaitInfo
from acud.types.actions import Launch, TypeText
from tests.e2e import faults
from tests.e2e.scribbler import Scribbler
from tests.fixtures.daemon import Daemon
from tests.fixtures.painter import Painter
from tests.integration.xserver import XServer

GOES_ON = Policy(on_display_lost=OnDisplayLost.WAIT)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with Daemon(settings=faults.settings(faults.Judge(tmp_path_factory.mktemp("judge")))) as running:
        yield running


@pytest.fixture
def daemon(running: Daemon) -> Iterator[Daemon]:
    """A daemon with the judge of the lamp."""
    yield running
    running.tidy()
    faults.until(lambda: not any("capture" in one for one in faults.family(running.paths).values()), "no capture")


def _add(daemon: Daemon, server: XServer) -> DisplayInfo:
    return daemon.client.display_add(server.display, auth_file=server.auth_file).display


def _answers(daemon: Daemon, wait: WaitInfo, after: int) -> list[str]:
    found = faults.events(daemon, "wait.judged", wait.wait_id, after)
    return [event.data["answer"] for event in found]


def test_an_adopted_display_dies_and_comes_back(daemon: Daemon) -> None:
    client = daemon.client
    with XServer() as server:
        display = _add(daemon, server)
        wait = client.wait_create(faults.LAMP_IS_GREEN, display=display.name).wait
        change = client.wait_create(Change(), display=display.name).wait
        faults.judged(daemon, wait, "no")
        before = client.events_since().newest

        server.kill()
        down = faults.event(daemon, "display.down", display.name, before)
        faults.judged(daemon, wait, "unknown", "display_down")
        with pytest.raises(DisplayDown):
            client.look(display=display.name)
        with pytest.raises(DisplayDown):
            client.baseline(display=display.name)
        assert any(display.name in reason for reason in client.status().degraded)
        assert faults.display(daemon, display.name).state.value == "down"
        assert "no" not in _answers(daemon, wait, down.n)

        server.restart()
        up = faults.event(daemon, "display.up", display.name, down.n)
        assert faults.ended(daemon, change, "resolved").verdict.answer == "yes"  # another server is a change by itself
        faults.judged(daemon, wait, "no")
        painter = Painter(display)
        painter.lamp(on=True)
        told = faults.ended(daemon, wait, "resolved")
        painter.close()
        assert told.verdict.detail == "the lamp is green"
        assert up.n < faults.event(daemon, "wait.resolved", wait.wait_id).n
        faults.until(lambda: not client.status().degraded, "well again")


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_a_display_that_another_user_serves_is_not_watched_and_gets_nothing(daemon: Daemon) -> None:
    client = daemon.client
    with XServer() as server:
        display = _add(daemon, server)
        change = client.wait_create(Change(), display=display.name).wait
        faults.judged(daemon, change, "no")
        for _ in range(2):  # as seen when it happens, and by a daemon that finds it so
            server.kill()
            server.restart(65534)
            faults.until(lambda: "uid 65534" in faults.display(daemon, display.name).reason, "it is told who serves it")
            assert faults.display(daemon, display.name).state.value == "down"
            faults.judged(daemon, change, "unknown", "display_down")
            with pytest.raises(AcudError, match="uid 65534"):
                client.desktop_action(TypeText("secret"), display=display.name)
            with pytest.raises(AcudError, match="uid 65534"):
                client.desktop_action(Launch(("true",)), display=display.name)
            daemon.stop()
            daemon.start()
        with pytest.raises(AcudError, match="uid 65534"):
            client.look(display=display.name)
        client.display_remove(display.name, force=True)
        with pytest.raises(DisplayDown, match="--owner 65534"):
            _add(daemon, server)
        client.display_add(server.display, auth_file=server.auth_file, owner=65534)
        looked: list[int] = []
        faults.until(
            lambda: faults.refused(lambda: looked.append(client.look(display=display.name).width)) is None, "its pixels"
        )
        assert looked == [640]
        daemon.stop()
        daemon.start()
        faults.until(lambda: faults.display(daemon, display.name).state.value == "up", "he who was named is remembered")
        server.kill()
        server.restart()
        faults.until(lambda: faults.display(daemon, display.name).state.value == "up", "our own again")


def test_a_display_that_says_it_is_huge_is_refused() -> None:
    with Daemon(settings=faults.settings(capture={"max_megapixels": 0.2})) as daemon, XServer() as server:
        with pytest.raises(Refused, match=r"640x480 pixels are over 0\.2 megapixels"):
            daemon.client.display_create(640, 480)
        with pytest.raises(Refused, match="says it has 640x480 pixels"):
            _add(daemon, server)
        assert daemon.client.display_create(320, 200).display.width == 320
        assert not [path for path in daemon.paths.shm.iterdir() if path.stat().st_size > 640 * 480 * 4]


def test_a_managed_display_whose_server_is_killed_is_ended(daemon: Daemon) -> None:
    client = daemon.client
    display = client.display_create().display
    wait = client.wait_create(faults.LAMP_IS_GREEN, display=display.name, timeout_s=600, policy=GOES_ON).wait
    failing = client.wait_create(faults.LAMP_IS_GREEN, display=display.name, timeout_s=600).wait
    for one in (wait, failing):
        faults.judged(daemon, one, "no")
    (x_server,) = (pid for pid, command in faults.family(daemon.paths).items() if command.startswith("Xvfb"))

    newest = faults.newest(daemon)
    faults.kill(x_server)
    reason = faults.event(daemon, "display.ended", display.name, newest).data["reason"]
    assert "SIGKILL" in reason
    failed = faults.ended(daemon, failing, "failed")
    assert f"display {display.name} is gone, and nothing starts it again" in failed.message
    assert "SIGKILL" in failed.message
    assert "before that: no" in failed.verdict.detail
    assert failed.evidence is not None
    assert len(client.evidence(failing.wait_id).image) > 0
    told = faults.judged(daemon, wait, "unknown", "display_down")
    assert display.name in told.verdict.detail
    with pytest.raises(DisplayDown, match="has ended"):
        client.wait_create(faults.LAMP_IS_GREEN, display=display.name)
    with pytest.raises(DisplayDown, match="ended"):
        client.look(display=display.name)
    client.wait_update(wait.wait_id, timeout_s=0.2)
    assert "display_down" in faults.ended(daemon, wait, "timeout").message
    assert any(d.name == display.name and d.reason == reason for d in client.display_list(ended=True).displays)
    # Nothing of it stays: no process, no folder, no lock.
    faults.until(lambda: not (daemon.paths.displays / display.name.lstrip(":")).exists(), "its folder is gone")
    faults.until(lambda: not any("capture" in c for c in faults.family(daemon.paths).values()), "its capture is gone")
    assert client.display_create().display.name != ""


def _frames_flow(daemon: Daemon, name: str) -> None:
    """Return after some more frames; each is asked for, as a wait that has ended asks for none."""
    seen = faults.display(daemon, name).frame

    def flow() -> bool:
        daemon.client.look(display=name, max_side_px=64)
        return faults.display(daemon, name).frame > seen + 5

    faults.until(flow, "frames flow")


def test_a_server_killed_again_and_again_while_it_paints(daemon: Daemon) -> None:
    client = daemon.client
    with XServer() as server:
        display = _add(daemon, server)
        # Never resolved by the silence of a dead server: it has to see two quiet seconds.
        wait = client.wait_create(Stable(2.0), display=display.name).wait
        away: list[tuple[float, float]] = []
        for _ in range(3):
            with Scribbler(display.name, display.auth_file):
                _frames_flow(daemon, display.name)
                before = client.events_since().newest
                killed_utc_s = time.time()
                server.kill()
            faults.event(daemon, "display.down", display.name, before)
            assert faults.refused(lambda: client.look(display=display.name)) is not None
            away.append((killed_utc_s, time.time()))
            server.restart()
            faults.event(daemon, "display.up", display.name, before)
        at_utc_s = faults.ended(daemon, wait, "resolved").ended_utc_s
        # Between two deaths it may have been quiet, where the painter stood still: no silence reaches over a death.
        assert not [one for one in away if one[0] <= at_utc_s < one[1] + 1.9]
        assert client.look(display=display.name).width == 640


def test_a_display_that_never_was_is_refused_and_not_kept(daemon: Daemon) -> None:
    with pytest.raises(AcudError, match="63999"):
        daemon.client.display_add(":63999")
    assert daemon.client.display_list().displays == ()
    faults.until(lambda: not any("capture" in c for c in faults.family(daemon.paths).values()), "its capture is gone")


def test_a_display_removed_and_added_again_at_once(daemon: Daemon) -> None:
    client = daemon.client
    with XServer() as server:
        for _ in range(5):
            display = _add(daemon, server)
            assert client.look(display=display.name).width == 640
            client.display_remove(display.name)
        assert client.status().displays == ()
    faults.until(lambda: not any("capture" in c for c in faults.family(daemon.paths).values()), "every capture ended")


def test_a_wait_on_a_display_that_is_gone_never_looks_at_a_new_one(daemon: Daemon) -> None:
    client = daemon.client
    gone = client.display_create().display
    wait = client.wait_create(faults.LAMP_IS_GREEN, display=gone.name, timeout_s=600, policy=GOES_ON).wait
    failing = client.wait_create(faults.LAMP_IS_GREEN, display=gone.name, timeout_s=600).wait
    faults.judged(daemon, wait, "no")
    client.display_remove(gone.name, force=True)
    failed = faults.ended(daemon, failing, "failed")
    assert "it was removed" in failed.message
    assert (failed.evidence is not None and failed.evidence.name != "") is True, failed.evidence
    assert not list(daemon.paths.shm.glob(f"{gone.name.lstrip(':')}.*")), "its ring goes once the picture is taken"
    new = client.display_create().display
    assert new.name != gone.name
    with closing(Painter(new)) as painter:
        painter.lamp(on=True)
        other = client.wait_create(faults.LAMP_IS_GREEN, display=new.name, timeout_s=600).wait
        faults.ended(daemon, other, "resolved")
    faults.judged(daemon, wait, "unknown", "display_down")
    client.wait_cancel(wait.wait_id)
    assert client.display_create().display.name == gone.name  # nobody looks for it any more
