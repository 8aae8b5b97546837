"""Wakes end to end: from a verdict to an agent's door, over every way that a door can be shut."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from acud.base.errors import AcudError, Conflict, InvalidRequest
from acud.base.untrusted_text import SEEN
from acud.protocol.requests.waits import WaitCreate
from acud.protocol.requests.wakes import RouteHealth
from acud.types import RouteName, WaitInfo, WakeAddress, WakeInfo, WakeState, WindowTitle
from acud.types.actions import CursorPosition
from acud_client import Client
from tests.e2e import faults
from tests.e2e.cli_support import CommandLine
from tests.fixtures.daemon import Daemon
from tests.fixtures.painter import Painter
from tests.fixtures.ports import free_port
from tests.fixtures.wake_receiver import TOKEN, Receiver

SECRET = "key-of-the-webhook-of-the-test"
HOLDS = WindowTitle("there is no such window", gone=True)
"""Resolves as soon as it is armed."""
NEVER = WindowTitle("there is no such window")


def _settings(**wake: Any) -> str:
    hurried = {"retry_first_s": 0.1, "retry_max_s": 0.5, "http_timeout_s": 60}
    return faults.settings(wake={"openclaw_token": TOKEN, "webhook_secret": SECRET, **hurried, **wake})


def _resolved(daemon: Daemon, **more: Any) -> WaitInfo:
    """Arm a wait that holds, and return it at its end without having been seen."""
    name = daemon.client.display_list().displays[0].name
    wait = daemon.client.wait_create(HOLDS, display=name, **more).wait
    faults.event(daemon, "wait.resolved", wait.wait_id)
    return wait


def _wake(daemon: Daemon, wait: WaitInfo, state: WakeState) -> WakeInfo:
    """Return the wait's one wake once it is in `state`."""

    def found() -> WakeInfo | None:
        wakes = daemon.client.wake_list(seen=True, wait_id=wait.wait_id).wakes
        assert len(wakes) <= 1
        return wakes[0] if wakes and wakes[0].state is state else None

    return faults.until(found, f"the wake of {wait.wait_id} is {state}")


def _asked(daemon: Daemon) -> None:
    """Return once somebody blocks for a reply of the daemon."""
    parked = "acud_requests_parked"

    def count() -> float:
        found = next(one for one in daemon.client.metrics().metrics if one.family.name == parked)
        return found.samples[0].value

    faults.until(count, "a request that waits for its reply")


@pytest.fixture(scope="module")
def hook() -> Iterator[Receiver]:
    with Receiver() as running:
        yield running


@pytest.fixture(scope="module")
def hanging() -> Iterator[Receiver]:
    with Receiver("hang") as running:
        yield running


def _routed(hook: Receiver, hanging: Receiver, http_timeout_s: float) -> Iterator[Daemon]:
    wake = {"openclaw_url": hook.url, "webhook_url": hanging.url, "openclaw_cli": "/nowhere/openclaw"}
    with Daemon(_settings(**wake, routes=["openclaw"], http_timeout_s=http_timeout_s)) as running:
        running.client.display_create(64, 64)
        yield running


@pytest.fixture(scope="module")
def daemon(hook: Receiver, hanging: Receiver) -> Iterator[Daemon]:
    """OpenClaw's hook works, however long this process stands still; the webhook hangs; no openclaw program."""
    yield from _routed(hook, hanging, 60)


@pytest.fixture
def hasty(hook: Receiver, hanging: Receiver) -> Iterator[Daemon]:
    """The same, and it soon gives up a route that hangs."""
    yield from _routed(hook, hanging, 2)


@pytest.fixture(autouse=True)
def _well(hook: Receiver) -> None:
    hook.manner = "ok"
    hook.taken.clear()


def test_a_verdict_wakes_once_and_fetching_its_result_is_seeing_it(daemon: Daemon, hook: Receiver) -> None:
    address = WakeAddress(session_key="agent:main:x", agent_id="main")
    wait = _resolved(daemon, label="the label", wake=address)
    wake = _wake(daemon, wait, WakeState.SENT)
    (taken,) = hook.wait_for(1)
    assert taken.body["text"] == wake.text
    said = f"[smart_wait resolved] Job {wait.wait_id}: the label (on {wait.display})."
    said = f"{said} Next: wait_result wait_id={wait.wait_id}"
    assert wake.text.startswith(f'{said} {SEEN} "no window titled')
    assert (taken.body["sessionKey"], taken.body["agentId"]) == ("agent:main:x", "main")
    assert (wake.sent_by, wake.attempts) == ("openclaw", 1)

    daemon.client.wait_show(wait.wait_id)
    assert daemon.client.wait_result(wait.wait_id, peek=True).ended
    assert _wake(daemon, wait, WakeState.SENT)
    assert daemon.client.wait_result(wait.wait_id).ended
    _wake(daemon, wait, WakeState.SEEN)
    assert [e.topic for e in faults.events(daemon, "wake.", wake.wake_id)] == ["wake.sent", "wake.seen"]
    assert len(hook.taken) == 1


def test_the_list_tells_how_each_route_does(daemon: Daemon, hook: Receiver) -> None:
    def find_health() -> RouteHealth:
        return next(one for one in daemon.client.wake_list().health if one.route is RouteName.OPENCLAW)

    began_s = time.time()
    _wake(daemon, _resolved(daemon), WakeState.SENT)
    well = find_health()
    assert (well.sent > 0, well.failures) == (True, 0)
    assert min(well.last_ms, well.median_ms) > 0
    assert began_s - 1 < well.sent_utc_s < time.time() + 1
    hook.manner = "401"
    refused = [_resolved(daemon), _resolved(daemon)]
    for wait in refused:
        _wake(daemon, wait, WakeState.UNDELIVERED)
    assert (find_health().sent, find_health().failures) == (well.sent, 2)
    words = CommandLine(daemon.home).run("wake", "list", "--all")
    assert f"openclaw: {well.sent} sent, the last at " in words
    assert "; 2 failed in a row" in words
    hook.manner = "ok"
    _wake(daemon, _resolved(daemon), WakeState.SENT)
    assert (find_health().sent, find_health().failures) == (well.sent + 1, 0)
    for wait in refused:  # no other test finds them undelivered
        daemon.client.wait_result(wait.wait_id)


def test_a_debug_log_tells_each_decision(own: Receiver, tmp_path: Path) -> None:
    """From being armed to the wake, by stable names, without the words of condition or screen and without secrets."""
    judge = faults.Judge(tmp_path)
    wake = {"openclaw_token": TOKEN, "openclaw_url": own.url, "routes": ["openclaw"]}
    with Daemon(faults.settings(judge, wake=wake, daemon={"debug": True})) as daemon:
        display = daemon.client.display_create().display
        with closing(Painter(display)) as painter:
            wait = daemon.client.wait_create(faults.LAMP_IS_GREEN, display=display.name).wait
            faults.judged(daemon, wait, "no")
            painter.lamp(on=True)
            faults.event(daemon, "wait.resolved", wait.wait_id)
            sent = _wake(daemon, wait, WakeState.SENT)
        faults.until(lambda: not _in_the_air(daemon, wait), "the results of all its jobs")
        text = daemon.log()
    lines = _lines(text)
    own_lines = [one for one in lines if wait.wait_id in (one.get("wait"), *one.get("waits", ()))]
    told = list(dict.fromkeys(one["event"] for one in own_lines))
    order = ["wait.armed", "wait.aimed", "wait.due", "job.sent", "wait.judged", "wait.ended", "wake.moved"]
    assert [name for name in told if name in order] == order
    assert [one["answer"] for one in own_lines if one["event"] == "wait.judged"][-1] == "yes"
    assert {"wake.due", "wake.tried"} <= {one["event"] for one in lines if one.get("wake") == sent.wake_id}
    assert {"event.stored", "request.answered"} <= {one["event"] for one in lines}
    assert {one["level"] for one in own_lines} == {"debug", "info"}
    assert not [word for word in (TOKEN, faults.LAMP_IS_GREEN.criteria) if word in text]


def _lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines() if line.startswith("{") and line.endswith("}")]


def _in_the_air(daemon: Daemon, wait: WaitInfo) -> set[str]:
    """Return the jobs of a wait whose results are not in the log."""
    lines = _lines(daemon.log())
    sent = {one["job"] for one in lines if one["event"] == "job.sent" and wait.wait_id in one["waits"]}
    assert sent
    return sent - {one["job"] for one in lines if one["event"] == "job.result"}


def test_a_timeout_wakes_and_a_cancellation_does_not(daemon: Daemon, hook: Receiver) -> None:
    name = daemon.client.display_list().displays[0].name
    late = daemon.client.wait_create(NEVER, display=name, timeout_s=0.3, note="then deploy").wait
    dropped = daemon.client.wait_create(NEVER, display=name).wait
    daemon.client.wait_cancel(dropped.wait_id)
    wake = _wake(daemon, late, WakeState.SENT)
    assert f"[smart_wait timeout] Job {late.wait_id}: Note: then deploy — not seen in 0.3 s: a window" in wake.text
    assert daemon.client.wake_list(seen=True, wait_id=dropped.wait_id).wakes == ()
    assert [taken.body["text"] for taken in hook.taken] == [wake.text]


def test_an_action_that_tells_of_the_end_wakes_nobody_and_one_that_does_not_does(
    daemon: Daemon, hook: Receiver
) -> None:
    name = daemon.client.display_list().displays[0].name
    told = daemon.client.desktop_action(CursorPosition(), display=name, wait=WaitCreate(HOLDS)).wait
    assert told is not None
    assert told.ended
    _wake(daemon, told.wait, WakeState.SEEN)
    left = daemon.client.desktop_action(
        CursorPosition(), display=name, wait=WaitCreate(NEVER, timeout_s=600), block_s=0
    ).wait
    assert left is not None
    assert (left.ended, left.woken_by) == (False, (RouteName.OPENCLAW,))
    daemon.client.wait_update(left.wait.wait_id, timeout_s=0.1)
    wake = _wake(daemon, left.wait, WakeState.SENT)
    assert [taken.body["text"] for taken in hook.taken] == [wake.text]


def test_who_blocks_for_the_result_is_not_woken_as_well(daemon: Daemon, hook: Receiver) -> None:
    name = daemon.client.display_list().displays[0].name
    wait = daemon.client.wait_create(NEVER, display=name).wait
    ended: list[bool] = []

    def block() -> None:
        with Client(daemon.paths, timeout_s=faults.PATIENCE_S) as client:
            ended.append(client.wait_result(wait.wait_id, block_s=100).ended)

    blocking = threading.Thread(target=block)
    blocking.start()
    _asked(daemon)
    daemon.client.wait_update(wait.wait_id, timeout_s=0.1)
    blocking.join()
    assert ended == [True]
    wake = _wake(daemon, wait, WakeState.SEEN)
    time.sleep(1.2)  # longer than the wake is held back for the reply
    assert (hook.taken, _wake(daemon, wait, WakeState.SEEN).attempts, wake.sent_utc_s) == ([], 0, 0)


def test_who_dies_while_blocking_for_the_result_is_woken(daemon: Daemon, hook: Receiver) -> None:
    name = daemon.client.display_list().displays[0].name
    wait = daemon.client.wait_create(NEVER, display=name).wait
    client = CommandLine(daemon.home).start("waits", "result", wait.wait_id)
    _asked(daemon)
    client.kill()
    client.communicate()
    daemon.client.wait_update(wait.wait_id, timeout_s=0.1)
    (taken,) = hook.wait_for(1)
    assert wait.wait_id in taken.body["text"]
    _wake(daemon, wait, WakeState.SENT)


def test_who_polls_for_the_result_is_woken_only_once_it_asks_no_more(daemon: Daemon, hook: Receiver) -> None:
    name = daemon.client.display_list().displays[0].name
    polled, left = (daemon.client.wait_create(NEVER, display=name).wait for _ in range(2))
    for wait, again_s in ((polled, 60.0), (left, 0.3)):
        assert not daemon.client.wait_result(wait.wait_id, again_s=again_s).ended
        daemon.client.wait_update(wait.wait_id, timeout_s=0.1)
        faults.event(daemon, "wait.timeout", wait.wait_id)
    (taken,) = hook.wait_for(1)
    assert left.wait_id in taken.body["text"]
    assert daemon.client.wait_result(polled.wait_id).ended
    wake = _wake(daemon, polled, WakeState.SEEN)
    assert (len(hook.taken), wake.attempts, wake.sent_utc_s) == (1, 0, 0)


def test_a_dead_route_hands_over_and_a_hanging_one_delays_no_other_wake(
    hasty: Daemon, hook: Receiver, hanging: Receiver
) -> None:
    slow = [_resolved(hasty, wake=WakeAddress((RouteName.WEBHOOK,))) for _ in range(10)]
    hanging.wait_for(8)
    for _ in range(5):
        _wake(hasty, _resolved(hasty), WakeState.SENT)
    over = _resolved(hasty, wake=WakeAddress((RouteName.OPENCLAW_CLI, RouteName.WEBHOOK, RouteName.OPENCLAW)))
    sent = _wake(hasty, over, WakeState.SENT)
    assert sent.sent_by == "openclaw"
    assert "cannot run" in sent.routes[0].reason
    assert all(_wake(hasty, wait, WakeState.PENDING) for wait in slow)
    faults.until(
        lambda: [reason for reason in hasty.client.status().degraded if "wake route webhook fails" in reason],
        "the route that hangs is told",
    )


def test_refusals_are_listed_and_tried_again_by_hand(daemon: Daemon, hook: Receiver) -> None:
    acud = CommandLine(daemon.home)
    hook.manner = "401"
    waits = [_resolved(daemon), _resolved(daemon)]
    wakes = [_wake(daemon, wait, WakeState.UNDELIVERED) for wait in waits]
    assert "answered 401" in wakes[0].reason
    assert "2 wakes are undelivered: acud wake list" in daemon.client.status().degraded
    assert "answered 401" in acud.run("wake", "list", "--state", "undelivered")
    hook.manner = "ok"
    assert "pending" in acud.run("wake", "retry", "--undelivered")
    for wait in waits:
        _wake(daemon, wait, WakeState.SENT)
    # Asked for once more, it goes out as a reminder; once seen it does not.
    daemon.client.wake_retry([wakes[0].wake_id])
    taken = hook.wait_for(5)
    assert "(Reminder 1:" in taken[-1].body["text"]
    daemon.client.wait_result(waits[0].wait_id)
    _wake(daemon, waits[0], WakeState.SEEN)
    with pytest.raises(Conflict, match="seen"):
        daemon.client.wake_retry([wakes[0].wake_id])
    with pytest.raises(AcudError):
        daemon.client.wake_retry()


def test_a_receiver_that_answers_gone_gets_nothing_more_until_somebody_asks(daemon: Daemon, hook: Receiver) -> None:
    hook.manner = "410"
    first = _resolved(daemon)
    _wake(daemon, first, WakeState.UNDELIVERED)
    second = _resolved(daemon)
    faults.until(lambda: "answered 410" in _wake(daemon, second, WakeState.PENDING).reason, "the reason")
    assert len(hook.taken) == 1
    assert any("openclaw" in one and "wants no more wakes" in one for one in daemon.client.status().degraded)
    hook.manner = "ok"
    assert CommandLine(daemon.home).run("wake", "test").startswith("openclaw: sent in ")
    _wake(daemon, second, WakeState.SENT)
    CommandLine(daemon.home).run("wake", "retry", "--undelivered")
    _wake(daemon, first, WakeState.SENT)


def test_429_is_obeyed(daemon: Daemon, hook: Receiver) -> None:
    hook.manner, hook.retry_after = "429", "2"
    wait = _resolved(daemon)
    hook.wait_for(1)
    hook.manner = "ok"
    _wake(daemon, wait, WakeState.SENT)
    first, second = hook.taken
    assert second.at_s - first.at_s >= 1.9


def test_routes_by_hand(daemon: Daemon, hook: Receiver, hanging: Receiver) -> None:
    acud = CommandLine(daemon.home)
    assert acud.run("wake", "test").startswith("openclaw: sent in ")
    out = acud.json("wake", "test", "--route", "openclaw_cli", "--route", "openclaw", "--session-key", "a:b", code=1)
    assert [(one["route"], one["result"]) for one in out["tests"]] == [("openclaw_cli", "retry"), ("openclaw", "sent")]
    assert hook.taken[-1].body["sessionKey"] == "a:b"
    assert "there is nothing to do" in hook.taken[-1].body["text"]
    with pytest.raises(InvalidRequest, match="route command is not set up"):
        daemon.client.wake_test([RouteName.COMMAND])
    name = daemon.client.display_list().displays[0].name
    with pytest.raises(InvalidRequest, match="route command is not set up"):
        daemon.client.wait_create(HOLDS, display=name, wake=WakeAddress((RouteName.COMMAND,)))
    acud.run("wait", "x", "--session-key", "--x", code=2)
    armed = acud.run("wait", "--window-gone", "nothing", "-d", name, "--route", "openclaw", "--detach").strip()
    _wake(daemon, daemon.client.wait_show(armed).wait, WakeState.SENT)


def test_secrets_stay_out_of_log_store_and_events(daemon: Daemon, hook: Receiver) -> None:
    hook.manner = "500"  # its answer repeats the token
    wait = _resolved(daemon)
    hook.wait_for(1)
    hook.manner = "ok"
    _wake(daemon, wait, WakeState.SENT)
    told = repr(faults.events(daemon)) + repr(daemon.client.wake_list(seen=True, limit=1000)) + daemon.log()
    for path in daemon.home.rglob("*"):
        with suppress(FileNotFoundError):  # a picture on its way is elsewhere now
            if path.is_file() and path.name != "acud.toml":
                told += path.read_bytes().decode("latin-1")
    assert TOKEN not in told
    assert SECRET not in told
    commands = [_command(pid) for pid in faults.family(daemon.paths)]
    assert any("acud.delivery" in command for command in commands)
    assert not any(TOKEN in command or SECRET in command for command in commands)


def _command(pid: int) -> str:
    try:
        return Path("/proc", str(pid), "cmdline").read_bytes().decode()
    except OSError:
        return ""  # it ended meanwhile


# ---- daemons of their own ------------------------------------------------------------------------------------------


@pytest.fixture
def own() -> Iterator[Receiver]:
    """A hook that no other test's wakes come to."""
    with Receiver() as running:
        yield running


def test_without_routes_a_wake_is_undelivered_until_its_result_is_fetched() -> None:
    with Daemon(_settings(routes=[])) as daemon:
        daemon.client.display_create(64, 64)
        wait = _resolved(daemon)
        wake = _wake(daemon, wait, WakeState.UNDELIVERED)
        assert "no route is set up" in wake.reason
        assert daemon.client.wake_list().wakes == (wake,)
        assert daemon.client.status().degraded == ()
        assert not any(child.kind == "relay" for child in daemon.client.status().children)
        assert "none (results wait to be fetched" in CommandLine(daemon.home).run("wake", "list")
        daemon.client.wait_result(wait.wait_id)
        _wake(daemon, wait, WakeState.SEEN)
        assert daemon.client.wake_list().wakes == ()


def test_an_unseen_wake_is_repeated_with_a_mark_and_not_for_ever(own: Receiver) -> None:
    wake = {"openclaw_url": own.url, "routes": ["openclaw"], "remind_after_s": 0.5, "max_reminders": 2}
    with Daemon(_settings(**wake)) as daemon:
        daemon.client.display_create(64, 64)
        wait = _resolved(daemon)
        texts = [taken.body["text"] for taken in own.wait_for(3)]
        faults.until(lambda: _wake(daemon, wait, WakeState.SENT).next_utc_s == 0, "no reminder is left")
        assert [f"(Reminder {n}:" in text for n, text in enumerate(texts)] == [False, True, True]
        time.sleep(1)
        assert len(own.taken) == 3


def test_a_dead_route_comes_back_after_both_restarted() -> None:
    port = free_port()
    wake = {"openclaw_url": f"http://127.0.0.1:{port}/hooks", "routes": ["openclaw"]}
    with Daemon(_settings(**wake)) as daemon:
        daemon.client.display_create(64, 64)
        waits = [_resolved(daemon) for _ in range(6)]
        for wait in waits:
            faults.until(
                lambda wait=wait: "ConnectError" in _wake(daemon, wait, WakeState.PENDING).reason,
                f"the dead route is told of {wait.wait_id}",
            )
        daemon.kill()
        daemon.start()
        assert len(daemon.client.wake_list(states=[WakeState.PENDING]).wakes) == 6
        with Receiver(port=port) as revived:
            for wait in waits:
                _wake(daemon, wait, WakeState.SENT)
            assert len({taken.body["text"] for taken in revived.taken}) == len(revived.taken) == 6


def test_an_orderly_restart_repeats_nothing(own: Receiver) -> None:
    wake = {"openclaw_url": own.url, "routes": ["openclaw"]}
    with Daemon(_settings(**wake)) as daemon:
        daemon.client.display_create(64, 64)
        assert daemon.client.wake_list().health == (RouteHealth(RouteName.OPENCLAW),)
        waits = [_resolved(daemon)]
        _wake(daemon, waits[0], WakeState.SENT)
        (well,) = daemon.client.wake_list().health
        assert (well.sent, well.last_ms == well.median_ms > 0) == (1, True)
        waits += [_resolved(daemon) for _ in range(4)]
        daemon.client.shutdown(keep_displays=True)
        assert daemon.process is not None
        daemon.process.wait(faults.PATIENCE_S)
        daemon.start()
        for wait in waits:
            _wake(daemon, wait, WakeState.SENT)
        texts = [taken.body["text"] for taken in own.taken]
        assert sorted(texts) == sorted(set(texts))
        assert len(texts) == 5


def test_a_stuck_task_wakes_its_agent_once(hook: Receiver, tmp_path: Path) -> None:
    given = {"openclaw_token": TOKEN, "openclaw_url": hook.url, "routes": ["openclaw"]}
    tasks = {"stuck_check_s": 0.2, "stuck_after_s": 0.5, "stuck_cooldown_s": 3600.0}
    with Daemon(faults.settings(wake=given, tasks=tasks), home=tmp_path / "home") as daemon:
        task = daemon.client.task_register(
            "file the report", ["open the form", "send it"], isolated_display=False, agent_id="clerk"
        ).view.task
        wake = faults.until(
            lambda: next((w for w in daemon.client.wake_list(seen=True).wakes if w.task_id == task.task_id), None),
            "a wake for the stuck task",
        )
        assert wake.text.startswith("[task_stuck_resume] {")
        faults.until(lambda: [t for t in hook.taken if task.task_id in t.body["text"]], "the hook has it")
        assert next(t for t in hook.taken if task.task_id in t.body["text"]).body["agentId"] == "clerk"
        daemon.kill()
        daemon.start()
        faults.event(daemon, "daemon.started", "daemon")
        assert len([w for w in daemon.client.wake_list(seen=True).wakes if w.task_id == task.task_id]) == 1
