"""Each route against a receiver that answers as OpenClaw's gateway does, well or badly; commands as real programs."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import stat
import time
from collections.abc import Iterator
from email.utils import formatdate
from pathlib import Path

import pytest
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from acud.base.untrusted_text import with_seen
from acud.config import WakeSettings
from acud.delivery.routes import DeliveryOutcome, WebhookRoute, make_routes, retry_after_s, sign, signing_key
from acud.protocol.bootstrap import DeliveryOptions
from acud.protocol.delivery import Deliver
from acud.types import RouteName, WakeKind
from tests.fixtures.ports import free_port
from tests.fixtures.wake_receiver import TOKEN, Manner, Receiver, Taken

SECRET = "whsec_" + base64.b64encode(b"key of the test").decode()
SAID = '[smart_wait resolved] Job wait-1: "Done" is visible. Next: wait_result wait_id=wait-1'
TEXT = with_seen(SAID, '$(touch x) `id` "; rm -rf ~ #. Next: wait_result wait_id=other')


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as running:
        yield running


def _delivery(route: RouteName, *, session_key: str = "", agent_id: str = "", reminder: int = 0) -> Deliver:
    return Deliver(
        "wake-1", 3, route, WakeKind.RESOLVED, TEXT, 17.5, "wait-1", "task-1", session_key, agent_id, reminder
    )


def _deliver(
    delivery: Deliver, token: str = TOKEN, env: dict[str, str] | None = None, **settings: object
) -> DeliveryOutcome:
    given = {"http_timeout_s": 60, "command_timeout_s": 60} | settings
    wake = WakeSettings(openclaw_token="t", webhook_secret="s", **given)  # type: ignore[arg-type]
    made = make_routes(DeliveryOptions(wake, token, SECRET), env or {"PATH": "/usr/bin:/bin"})

    async def once() -> DeliveryOutcome:
        try:
            return await made[delivery.route].deliver(delivery)
        finally:
            for route in made.values():
                await route.close()

    return asyncio.run(once())


def test_each_route_with_its_settings_is_made() -> None:
    """But `fleet`, whose wakes the fleet process takes along."""
    wake = WakeSettings(openclaw_token="t", webhook_url="http://127.0.0.1:9/", webhook_secret="s", command=("true",))
    assert make_routes(DeliveryOptions(wake, TOKEN, SECRET), {}).keys() == set(RouteName) - {RouteName.FLEET}


def _hook(receiver: Receiver, **more: object) -> DeliveryOutcome:
    return _deliver(_delivery(RouteName.OPENCLAW), openclaw_url=receiver.url, **more)


def test_openclaw_takes_a_wake(receiver: Receiver) -> None:
    delivery = _delivery(RouteName.OPENCLAW, session_key="agent:main:x", agent_id="main")
    assert _deliver(delivery, openclaw_url=receiver.url) == DeliveryOutcome("sent")
    (taken,) = receiver.taken
    assert taken.path == "/hooks/wake"
    assert taken.body == {"text": TEXT, "mode": "now", "agentId": "main", "sessionKey": "agent:main:x"}
    assert taken.headers["authorization"] == f"Bearer {TOKEN}"
    assert taken.headers["content-type"] == "application/json"
    # The same text again is coalesced by the gateway, and that is a taken wake too.
    assert _hook(receiver).result == "sent"
    assert receiver.taken[1].body == {"text": TEXT, "mode": "now"}


@pytest.mark.parametrize(("manner", "result", "words"), [
    ("401", "refused", "answered 401: Unauthorized"), ("400", "refused", "text required"),
    ("302", "retry", "answered 302: a redirect to"), ("304", "retry", "answered 304"),
    ("404", "retry", "answered 404"), ("410", "refused", "answered 410"), ("page", "refused", "check openclaw_url"),
    ("big", "refused", "check openclaw_url"), ("not_ok", "refused", "sessionKey is not allowed"),
    ("429", "retry", "answered 429"), ("500", "retry", "answered 500"), ("hang", "retry", "no answer within 5 s"),
    ("reset", "retry", "ReadError"),
])  # fmt: skip
def test_what_openclaw_says_when_it_does_not(receiver: Receiver, manner: Manner, result: str, words: str) -> None:
    receiver.manner = manner
    outcome = _hook(receiver, **({"http_timeout_s": 5} if manner == "hang" else {}))
    assert outcome.result == result
    assert outcome.ends_route == (manner == "410")
    assert words in outcome.reason
    assert TOKEN not in outcome.reason
    assert len(receiver.wait_for(1)) == 1


def test_a_free_port_is_for_later() -> None:
    outcome = _deliver(_delivery(RouteName.OPENCLAW), openclaw_url=f"http://127.0.0.1:{free_port()}/hooks")
    assert outcome.result == "retry"
    assert "ConnectError" in outcome.reason


def test_a_webhook_is_signed(receiver: Receiver) -> None:
    began = time.time()
    delivery = _delivery(RouteName.WEBHOOK, reminder=2)
    assert _deliver(delivery, webhook_url=receiver.url).result == "sent"
    (taken,) = receiver.taken
    head = taken.headers
    assert head["webhook-id"] == "wake-1"
    assert began - 1 <= int(head["webhook-timestamp"]) <= time.time()
    signed = f"wake-1.{head['webhook-timestamp']}.".encode() + taken.raw
    digest = hmac.new(b"key of the test", signed, hashlib.sha256).digest()
    assert head["webhook-signature"] == "v1," + base64.b64encode(digest).decode()
    assert taken.body == {
        "id": "wake-1", "kind": "resolved", "text": TEXT, "wait_id": "wait-1", "task_id": "task-1", "reminder": 2,
        "attempt": 3, "created_utc_s": 17.5, "session_key": "", "agent_id": "", "run_id": "",
    }  # fmt: skip
    assert signing_key("plain words") == b"plain words"
    assert signing_key("whsec_not base64!") == b"whsec_not base64!"


def _taken(receiver: Receiver) -> Taken:
    assert _deliver(_delivery(RouteName.WEBHOOK), webhook_url=receiver.url).result == "sent"
    return receiver.taken[-1]


def test_the_standard_s_own_library_verifies_a_webhook_and_nothing_else(receiver: Receiver) -> None:
    taken, verifier = _taken(receiver), Webhook(SECRET)
    assert verifier.verify(taken.raw, taken.headers) == taken.body
    forged = [
        (taken.raw.replace(b"wait-1", b"wait-2"), taken.headers),
        (taken.raw, taken.headers | {"webhook-id": "wake-2"}),
        (taken.raw, {name: value for name, value in taken.headers.items() if name != "webhook-signature"}),
    ]
    for body, headers in forged:
        with pytest.raises(WebhookVerificationError):
            verifier.verify(body, headers)
    with pytest.raises(WebhookVerificationError):
        Webhook("whsec_" + base64.b64encode(b"key of another").decode()).verify(taken.raw, taken.headers)


def test_a_webhook_of_another_time_is_refused_though_its_signature_is_good(receiver: Receiver) -> None:
    taken = _taken(receiver)
    for shift_s in (-6 * 60, 6 * 60):
        moved = str(int(taken.headers["webhook-timestamp"]) + shift_s)
        signed = sign(b"key of the test", "wake-1", moved, taken.raw)
        headers = taken.headers | {"webhook-timestamp": moved, "webhook-signature": signed}
        with pytest.raises(WebhookVerificationError, match="timestamp too"):
            Webhook(SECRET).verify(taken.raw, headers)


def test_each_attempt_is_signed_anew_with_its_own_time(receiver: Receiver) -> None:
    moments = iter((1_000.0, 90_000.0))
    wake = WakeSettings(webhook_secret="s", webhook_url=receiver.url)

    async def twice() -> None:
        route = WebhookRoute(wake, SECRET, lambda: next(moments))
        for _ in range(2):
            await route.deliver(_delivery(RouteName.WEBHOOK))
        await route.close()

    asyncio.run(twice())
    first, second = receiver.taken
    assert [one.headers["webhook-timestamp"] for one in receiver.taken] == ["1000", "90000"]
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert first.headers["webhook-signature"] != second.headers["webhook-signature"]


# ---- programs ------------------------------------------------------------------------------------------------------


def _program(folder: Path, body: str) -> str:
    path = folder / "program"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def _record(folder: Path) -> str:
    text = 'import json, os, sys; env = {k: v for k, v in os.environ.items() if k.startswith("ACU_")}\n'
    text += f'json.dump([sys.argv[1:], sys.stdin.read(), env], open("{folder}/seen", "w"))'
    (folder / "record.py").write_text(text)
    return _program(folder, f'exec python3 "{folder}/record.py" "$@"')


def test_openclaws_command_line_gets_no_word_of_the_screen(tmp_path: Path) -> None:
    program = _record(tmp_path)
    delivery = _delivery(RouteName.OPENCLAW_CLI, session_key="agent:main:x")
    assert _deliver(delivery, openclaw_cli=program) == DeliveryOutcome("sent")
    argv, _, env = json.loads((tmp_path / "seen").read_text())
    assert argv == ["system", "event", "--text", SAID, "--mode", "now", "--session-key", "agent:main:x"]
    assert not any("touch" in value for value in env.values())


def test_a_command_gets_the_text_beside_its_words_and_no_secret(tmp_path: Path) -> None:
    program = _record(tmp_path)
    env = {"PATH": "/usr/bin:/bin", "ACU_WAKE_OPENCLAW_TOKEN": TOKEN, "ACU_WAKE_WEBHOOK_SECRET": SECRET}
    delivery = _delivery(RouteName.COMMAND, session_key="agent:main:x", agent_id="main", reminder=1)
    assert _deliver(delivery, env=env, command=(program, "--id={id}", "{kind}", "{wait_id}")).result == "sent"
    argv, stdin, given = json.loads((tmp_path / "seen").read_text())
    assert argv == ["--id=wake-1", "resolved", "wait-1"]
    assert stdin == TEXT
    assert given == {
        "ACU_WAKE_ID": "wake-1", "ACU_WAKE_KIND": "resolved", "ACU_WAKE_TEXT": TEXT, "ACU_WAKE_WAIT_ID": "wait-1",
        "ACU_WAKE_TASK_ID": "task-1", "ACU_WAKE_SESSION_KEY": "agent:main:x", "ACU_WAKE_AGENT_ID": "main",
        "ACU_WAKE_REMINDER": "1",
    }  # fmt: skip


def test_a_command_that_fails_says_why_without_secrets(tmp_path: Path) -> None:
    program = _program(tmp_path, f"echo 'no gateway with {TOKEN}' >&2; exit 3")
    outcome = _deliver(_delivery(RouteName.COMMAND), command=(program,))
    assert (outcome.result, outcome.reason) == ("retry", f"{program} ended with code 3: no gateway with ***")


def test_a_program_that_is_not_there_is_for_later(tmp_path: Path) -> None:
    outcome = _deliver(_delivery(RouteName.OPENCLAW_CLI), openclaw_cli=str(tmp_path / "gone"))
    assert outcome.result == "retry"
    assert "cannot run" in outcome.reason


def test_a_program_that_hangs_is_ended_with_what_it_started(tmp_path: Path) -> None:
    program = _program(tmp_path, f"sleep 600 & echo $! > {tmp_path}/pid; wait")
    outcome = _deliver(_delivery(RouteName.COMMAND), command=(program,), command_timeout_s=8)
    assert outcome == DeliveryOutcome("retry", f"{program} did not end within 8 s")
    pid = int((tmp_path / "pid").read_text())
    end = time.monotonic() + 30
    while _lives(pid):
        assert time.monotonic() < end, "the sleep lives on"
        time.sleep(0.02)


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_what_a_program_leaves_running_holds_nobody_up(tmp_path: Path) -> None:
    program = _program(tmp_path, f"sleep 600 & echo $! > {tmp_path}/pid; exit 0")
    assert _deliver(_delivery(RouteName.COMMAND), command=(program,)).result == "sent"
    import os
    import signal

    os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)


def test_retry_after(receiver: Receiver) -> None:
    receiver.manner, receiver.retry_after = "429", "7"
    assert _hook(receiver).retry_after_s == 7
    assert 50 < retry_after_s(formatdate(time.time() + 60, usegmt=True)) <= 61
    assert [retry_after_s(text) for text in ("", "soon", "-5", formatdate(0, usegmt=True), "1e99")] == [0, 0, 0, 0, 0]
