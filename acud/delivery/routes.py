"""The routes of wakes: OpenClaw's webhook and command line, a signed webhook, and the operator's command."""

from __future__ import annotations

import asyncio
import base64
import binascii
import contextlib
import hashlib
import hmac
import os
import signal
import ssl
import tempfile
import time
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from typing import Any, Literal, Protocol

import httpx
import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from acud.base.errors import Unavailable
from acud.base.tls import authorities
from acud.base.typed_values import convert, decode_json
from acud.config import WakeSettings
from acud.config.http_listeners import is_loopback
from acud.protocol.bootstrap import DeliveryOptions
from acud.protocol.delivery import Deliver
from acud.types import RouteName, WakeKind
from acud.waits.wake_text import bare_text

_MAX_REASON = 200
_SECRET_VARIABLES = ("ACU_WAKE_OPENCLAW_TOKEN", "ACU_WAKE_WEBHOOK_SECRET")
_MAX_OUTPUT_BYTES = 4096


class DeliveryOutcome(Struct, frozen=True):
    """`sent`: the receiver took it. `retry`: it may take it later, not before `retry_after_s`. `refused`: it does not
    take this one (`ends_route`: nor any other).
    """

    result: Literal["sent", "retry", "refused"]
    reason: str = ""
    retry_after_s: float = 0.0
    ends_route: bool = False


SENT = DeliveryOutcome("sent")


class Route(Protocol):
    """One way to an agent. `limit_s`: no delivery takes longer. `places`: deliveries side by side."""

    limit_s: float
    places: int

    async def deliver(self, delivery: Deliver) -> DeliveryOutcome:
        """Deliver the wake; return every failure as an outcome. Cancelling leaves nothing running."""

    async def close(self) -> None:
        """Close this route's connections to its receiver."""


def reason(text: str, secrets: tuple[str, ...] = ()) -> str:
    """Return `text` as one short line without `secrets`, as a receiver may repeat what it got."""
    for secret in secrets:
        text = text.replace(secret, "***") if secret else text
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return line if len(line) <= _MAX_REASON else line[: _MAX_REASON - 1] + "…"


def retry_after_s(header: str) -> float:
    """Return the seconds in a Retry-After header (RFC 9110, 10.2.3: a number or a date); 0 for none or nonsense."""
    text = header.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, OverflowError):
        return 0.0


_MAX_ANSWER_BYTES = 64 << 10
_LATER = frozenset({404, 408, 409, 425, 429})
"""Statuses from 400 to 499 that mean "not now" (RFC 9110, RFC 6585, RFC 8470); 404: the receiver is being upgraded;
409: another delivery of the wake is under way.
"""
_GONE = 410
_PREFIX = "whsec_"


class PostAnswer:
    """A 2xx answer's body, or the outcome of anything else; `status` of a refusing answer (0: none came)."""

    def __init__(self, body: bytes = b"", outcome: DeliveryOutcome | None = None, status: int = 0) -> None:
        self.status, self.body, self.outcome = status, body, outcome


class Poster:
    """Posts to one URL. `secrets` never appear in an outcome; redirects are not followed, as they would get them."""

    def __init__(self, url: str, *, timeout_s: float, places: int, secrets: tuple[str, ...]) -> None:
        self._url, self._timeout_s, self._secrets = url, timeout_s, secrets
        self._fault = ""
        verify: ssl.SSLContext | bool = True
        try:
            verify = authorities() or True
        except Unavailable as fault:
            self._fault = fault.message
        # A proxy from the environment is for other hosts; for a loopback address it would answer 502.
        self._client = httpx.AsyncClient(
            verify=verify,
            timeout=timeout_s,
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=places),
            trust_env=not is_loopback(httpx.URL(url).host),
            follow_redirects=False,
        )

    async def post(self, body: bytes, headers: dict[str, str]) -> PostAnswer:
        """Send `body` and read the answer, all within the time limit."""
        if self._fault:
            return PostAnswer(outcome=DeliveryOutcome("retry", self._fault))
        try:
            async with asyncio.timeout(self._timeout_s):
                return await self._post_once(body, headers)
        except TimeoutError:
            return PostAnswer(outcome=DeliveryOutcome("retry", f"no answer within {self._timeout_s:g} s"))
        except (httpx.HTTPError, httpx.InvalidURL) as fault:
            return PostAnswer(
                outcome=DeliveryOutcome("retry", self._shorten_reason(f"{type(fault).__name__}: {fault}".rstrip(": ")))
            )

    async def _post_once(self, body: bytes, headers: dict[str, str]) -> PostAnswer:
        given = {"content-type": "application/json", "user-agent": "acud", **headers}
        async with self._client.stream("POST", self._url, content=body, headers=given) as response:
            text = await _read_beginning(response)
        if response.is_success:
            return PostAnswer(text)
        return PostAnswer(outcome=self._read_refusal(response, text), status=response.status_code)

    def _read_refusal(self, response: httpx.Response, text: bytes) -> DeliveryOutcome:
        status, words = response.status_code, text[:300].decode(errors="replace")
        if response.has_redirect_location:
            to = httpx.URL(response.headers["location"]).copy_with(query=None, userinfo=b"")
            words = f"a redirect to {to}, which is not followed: put that address into the settings if it is right"
        words = self._shorten_reason(f"answered {status}: {words}")
        if status in _LATER or response.is_redirect or status >= 500:
            return DeliveryOutcome("retry", words, retry_after_s(response.headers.get("retry-after", "")))
        return DeliveryOutcome("refused", words, ends_route=status == _GONE)

    def _shorten_reason(self, text: str) -> str:
        return reason(text, self._secrets)

    async def close(self) -> None:
        await self._client.aclose()


class _Reply(Struct, frozen=True):
    ok: bool = False
    error: str = ""


class OpenClawRoute:
    """Wakes an OpenClaw agent through its gateway's webhook: `POST <hooks>/wake`.

    The gateway (2026.9) answers 200 {"ok": true, …} when it took a wake. It drops a text that equals the last one, so
    repeating an unacknowledged delivery does no harm.
    """

    def __init__(self, settings: WakeSettings, token: str) -> None:
        self.limit_s, self.places = settings.http_timeout_s, settings.http_concurrency
        self._token = token
        url = f"{settings.openclaw_url.rstrip('/')}/wake"
        self._poster = Poster(url, timeout_s=self.limit_s, places=self.places, secrets=(token,))

    async def deliver(self, delivery: Deliver) -> DeliveryOutcome:
        """Post the text, to wake the agent now and not at its next heartbeat."""
        body: dict[str, Any] = {"text": delivery.text, "mode": "now"}
        body |= {"agentId": delivery.agent_id} if delivery.agent_id else {}
        body |= {"sessionKey": delivery.session_key} if delivery.session_key else {}
        headers = {"authorization": f"Bearer {self._token}"}
        answer = await self._poster.post(msgspec.json.encode(body), headers)
        return answer.outcome or self._read_reply(answer.body)

    def _read_reply(self, body: bytes) -> DeliveryOutcome:
        # The same port serves a web page: a 200 alone does not mean that an agent was woken.
        try:
            reply = decode_json(body, _Reply)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return DeliveryOutcome("refused", "answered 2xx, and not as OpenClaw's hooks do: check openclaw_url")
        if reply.ok:
            return SENT
        return DeliveryOutcome("refused", reason(f"answered ok=false: {reply.error}", (self._token,)))

    async def close(self) -> None:
        await self._poster.close()


class WebhookBody(Struct, frozen=True):
    """The posted JSON. `id`: the wake's, the same for repeats; `reminder`: 0 unless it is a marked repeat."""

    id: str
    kind: WakeKind
    text: str
    wait_id: str
    task_id: str
    reminder: int
    attempt: int
    created_utc_s: float
    session_key: str
    agent_id: str
    run_id: str


class WebhookRoute:
    """Posts to the receiver in the settings; any 2xx means that it took the wake.

    Signed by Standard Webhooks: HMAC-SHA256 over id, time and body (https://www.standardwebhooks.com).
    """

    def __init__(self, settings: WakeSettings, secret: str, utc_s: Callable[[], float] = time.time) -> None:
        self.limit_s, self.places = settings.http_timeout_s, settings.http_concurrency
        self._key = signing_key(secret)
        self._utc_s = utc_s
        self._poster = Poster(
            settings.webhook_url, timeout_s=self.limit_s, places=self.places, secrets=(secret, secret[len(_PREFIX) :])
        )

    async def deliver(self, delivery: Deliver) -> DeliveryOutcome:
        """Post the wake with its signature."""
        body = msgspec.json.encode(convert({**asdict(delivery), "id": delivery.wake_id}, WebhookBody))
        moment = str(int(self._utc_s()))
        headers = {
            "webhook-id": delivery.wake_id,
            "webhook-timestamp": moment,
            "webhook-signature": sign(self._key, delivery.wake_id, moment, body),
        }
        answer = await self._poster.post(body, headers)
        return answer.outcome or SENT

    async def close(self) -> None:
        await self._poster.close()


def signing_key(secret: str) -> bytes:
    """Return the key in `secret`: base64 after `whsec_`, else its own bytes."""
    if secret.startswith(_PREFIX):
        try:
            return base64.b64decode(secret.removeprefix(_PREFIX), validate=True)
        except binascii.Error:
            return secret.encode()
    return secret.encode()


def sign(key: bytes, wake_id: str, moment: str, body: bytes) -> str:
    """Return the header's value: `v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`."""
    digest = hmac.new(key, f"{wake_id}.{moment}.".encode() + body, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(digest).decode()}"


async def _read_beginning(response: httpx.Response) -> bytes:
    text = bytearray()
    async for chunk in response.aiter_bytes():
        text += chunk
        if len(text) > _MAX_ANSWER_BYTES:
            break
    return bytes(text)


class OpenClawCliRoute:
    """`openclaw system event --text … --mode now`, which finds the gateway and its token by itself.

    It takes its text only as an argument (2026.9: no standard input, no file), and every user of this machine can read
    a program's arguments: so the text names what ended and what to call next, and nothing from a screen.
    """

    def __init__(self, settings: WakeSettings, secrets: tuple[str, ...], env: Mapping[str, str]) -> None:
        self.limit_s, self.places = settings.command_timeout_s, settings.command_concurrency
        self._program = settings.openclaw_cli
        self._secrets = secrets
        self._env = without_secrets(env)

    async def deliver(self, delivery: Deliver) -> DeliveryOutcome:
        """Run the program; exit code 0 means that it took the wake."""
        text = bare_text(delivery.kind, delivery.text, delivery.wait_id, delivery.task_id)
        argv = [self._program, "system", "event", "--text", text, "--mode", "now"]
        argv += ["--session-key", delivery.session_key] if delivery.session_key else []
        return await run(argv, b"", self._env, self.limit_s, self._secrets)

    async def close(self) -> None:
        """Nothing is held."""


class CommandRoute:
    """The operator's program: it gets the text on standard input and all else in `ACU_WAKE_*` variables."""

    def __init__(self, settings: WakeSettings, secrets: tuple[str, ...], env: Mapping[str, str]) -> None:
        self.limit_s, self.places = settings.command_timeout_s, settings.command_concurrency
        self._argv = settings.command
        self._secrets = secrets
        self._env = without_secrets(env)

    async def deliver(self, delivery: Deliver) -> DeliveryOutcome:
        """Run the program; exit code 0 means that it took the wake."""
        words = {"{id}": delivery.wake_id, "{kind}": delivery.kind.value, "{wait_id}": delivery.wait_id}
        argv = [_fill_placeholders(word, words) for word in self._argv]
        env = self._env | build_variables(delivery)
        return await run(argv, delivery.text.encode(), env, self.limit_s, self._secrets)

    async def close(self) -> None:
        """Nothing is held."""


def make_routes(options: DeliveryOptions, env: Mapping[str, str]) -> dict[RouteName, Route]:
    """Return every route with complete settings. `env`: what commands inherit."""
    wake, secrets = options.wake, (options.openclaw_token, options.webhook_secret)
    routes: dict[RouteName, Callable[[], Route]] = {  # without `fleet`: the fleet process has the connection
        RouteName.OPENCLAW: lambda: OpenClawRoute(wake, options.openclaw_token),
        RouteName.OPENCLAW_CLI: lambda: OpenClawCliRoute(wake, secrets, env),
        RouteName.WEBHOOK: lambda: WebhookRoute(wake, options.webhook_secret),
        RouteName.COMMAND: lambda: CommandRoute(wake, secrets, env),
    }
    return {name: make() for name, make in routes.items() if not wake.missing(name)}


def _fill_placeholders(word: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        word = word.replace(name, value)
    return word


def without_secrets(env: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in env.items() if name not in _SECRET_VARIABLES}


def build_variables(delivery: Deliver) -> dict[str, str]:
    """Return the variables for a command. An environment cannot hold NUL, and no text of acud has one."""
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
    """Run `argv`, without a shell, in a session of its own; kill the session if it has not ended within `limit_s`. A
    missing program counts as "not now", as an upgrade removes it for some seconds.
    """
    # Files, not pipes: neither a program that reads nothing nor its remaining child that holds the output delays this.
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as output:
        given.write(stdin)
        given.seek(0)
        try:
            process = await asyncio.create_subprocess_exec(
                *argv, stdin=given, stdout=asyncio.subprocess.DEVNULL, stderr=output, env=env, start_new_session=True
            )
        except (OSError, ValueError) as fault:
            return DeliveryOutcome("retry", reason(f"cannot run {argv[0]}: {fault}", secrets))
        code = await _wait_or_kill(process, limit_s)
        if code == 0:
            return SENT
        if code is None:
            return DeliveryOutcome("retry", f"{argv[0]} did not end within {limit_s:g} s")
        output.seek(max(0, output.seek(0, os.SEEK_END) - _MAX_OUTPUT_BYTES))
        text = output.read().decode(errors="replace")
    return DeliveryOutcome("retry", reason(f"{argv[0]} ended with code {code}: {text}", secrets))


async def _wait_or_kill(process: asyncio.subprocess.Process, limit_s: float) -> int | None:
    """Wait for the end and return the exit code; kill it after `limit_s` and return None."""
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
