"""Programs that deliver a wake: `openclaw system event`, and what the operator named. Never a shell.

A program that is not there counts as "not now": an upgrade takes it away for some seconds.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import tempfile
from collections.abc import Mapping

from acud.config import WakeSettings
from acud.delivery.outcome import SENT, DeliveryOutcome, reason
from acud.protocol.delivery import Deliver
from acud.waits.wake_text import bare_text

_SECRET_VARIABLES = ("ACU_WAKE_OPENCLAW_TOKEN", "ACU_WAKE_WEBHOOK_SECRET")
_MAX_SAID_BYTES = 4096


class OpenClawCliRoute:
    """`openclaw system event --text … --mode now`, which finds the gateway and its token by itself.

    It takes its text as an argument alone (2026.9: no standard input, no file), and every user of this machine can read
    a program's arguments: so it is told what ended and what to call next, and no word of a screen.
    """

    def __init__(self, settings: WakeSettings, secrets: tuple[str, ...], env: Mapping[str, str]) -> None:
        self.limit_s, self.places = settings.command_timeout_s, settings.command_concurrency
        self._program = settings.openclaw_cli
        self._secrets = secrets
        self._env = without_secrets(env)

    async def deliver(self, delivery: Deliver) -> DeliveryOutcome:
        """Run it; exit code 0 is a taken wake."""
        text = bare_text(delivery.kind, delivery.text, delivery.wait_id, delivery.task_id)
        argv = [self._program, "system", "event", "--text", text, "--mode", "now"]
        argv += ["--session-key", delivery.session_key] if delivery.session_key else []
        return await run(argv, b"", self._env, self.limit_s, self._secrets)

    async def close(self) -> None:
        """Nothing is held."""


class CommandRoute:
    """The operator's program: the text on standard input, everything else in `ACU_WAKE_*` variables."""

    def __init__(self, settings: WakeSettings, secrets: tuple[str, ...], env: Mapping[str, str]) -> None:
        self.limit_s, self.places = settings.command_timeout_s, settings.command_concurrency
        self._argv = settings.command
        self._secrets = secrets
        self._env = without_secrets(env)

    async def deliver(self, delivery: Deliver) -> DeliveryOutcome:
        """Run it; exit code 0 is a taken wake."""
        words = {"{id}": delivery.wake_id, "{kind}": delivery.kind.value, "{wait_id}": delivery.wait_id}
        argv = [_filled(word, words) for word in self._argv]
        env = self._env | variables(delivery)
        return await run(argv, delivery.text.encode(), env, self.limit_s, self._secrets)

    async def close(self) -> None:
        """Nothing is held."""


def _filled(word: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        word = word.replace(name, value)
    return word


def without_secrets(env: Mapping[str, str]) -> dict[str, str]:
    """Return `env` without acud's own secrets."""
    return {name: value for name, value in env.items() if name not in _SECRET_VARIABLES}


def variables(delivery: Deliver) -> dict[str, str]:
    """Return what a command finds in its environment; NUL cannot be there, and no text of ours has one."""
    return {
        "ACU_WAKE_ID": delivery.wake_id,
        "ACU_WAKE_KIND": delivery.kind.value,
        "ACU_WAKE_TEXT": delivery.text,
        "ACU_WAKE_WAIT_ID": delivery.wait_id,
        "ACU_WAKE_TASK_ID": delivery.task_id,
        "ACU_WAKE_SESSION_KEY": delivery.session_key,
        "ACU_WAKE_AGENT_ID": delivery.agent_id,
        "ACU_WAKE_REMINDER": str(delivery.reminder),
    }


async def run(
    argv: list[str], stdin: bytes, env: dict[str, str], limit_s: float, secrets: tuple[str, ...]
) -> DeliveryOutcome:
    """Run `argv` in a session of its own; one that has not ended within `limit_s` is killed with all its session."""
    # Files, not pipes: a program that reads nothing, or leaves a child with its output behind, delays nothing.
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as said:
        given.write(stdin)
        given.seek(0)
        try:
            process = await asyncio.create_subprocess_exec(
                *argv, stdin=given, stdout=asyncio.subprocess.DEVNULL, stderr=said, env=env, start_new_session=True
            )
        except (OSError, ValueError) as fault:
            return DeliveryOutcome("retry", reason(f"cannot run {argv[0]}: {fault}", secrets))
        code = await _ended(process, limit_s)
        if code == 0:
            return SENT
        if code is None:
            return DeliveryOutcome("retry", f"{argv[0]} did not end within {limit_s:g} s")
        said.seek(max(0, said.seek(0, os.SEEK_END) - _MAX_SAID_BYTES))
        words = said.read().decode(errors="replace")
    return DeliveryOutcome("retry", reason(f"{argv[0]} ended with code {code}: {words}", secrets))


async def _ended(process: asyncio.subprocess.Process, limit_s: float) -> int | None:
    """Return the exit code; None when it had to be killed."""
    try:
        async with asyncio.timeout(limit_s):
            return await process.wait()
    except TimeoutError:
        return None
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
