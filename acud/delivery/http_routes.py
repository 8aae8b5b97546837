"""Wakes by HTTP: OpenClaw's webhook and a signed one of the operator's; and `Poster`, one POST with limits.

OpenClaw's hook is `POST <hooks>/wake`, as its gateway (2026.9) answers it: 200 {"ok": true, …} is a taken wake. The
gateway coalesces a text that equals the last one, so a repeat of an unacknowledged delivery does no harm. The other
webhook is signed as Standard Webhooks says: HMAC-SHA256 over id, time and body (https://www.standardwebhooks.com).
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import hmac
import ssl
import time
from collections.abc import Callable
from typing import Any

import httpx
import msgspec
from msgspec import Struct

from acud.config import WakeSettings
from acud.delivery.outcome import SENT, DeliveryOutcome, reason, retry_after_s
from acud.errors import Unavailable
from acud.http_listeners import is_loopback
from acud.protocol.delivery import Deliver
from acud.tls import authorities
from acud.types import WakeKind

_MAX_ANSWER_BYTES = 64 << 10
_LATER = frozenset({408, 409, 425, 429})
"""Statuses below 500 that say "not now" (RFC 9110, RFC 6585, RFC 8470); 409: another delivery of it is under way."""
_PREFIX = "whsec_"


class PostAnswer:
    """A 2xx answer's body, or the outcome of everything else, and the `status` of an answer that there was."""

    def __init__(self, body: bytes = b"", outcome: DeliveryOutcome | None = None, status: int = 0) -> None:
        self.status = status
        self.body = body
        self.outcome = outcome


class Poster:
    """Posts to one URL. `secrets` never appear in an outcome. A redirect is not followed: it would carry them along."""

    def __init__(self, url: str, *, timeout_s: float, places: int, secrets: tuple[str, ...]) -> None:
        self._url = url
        self._timeout_s = timeout_s
        self._secrets = secrets
        self._fault = ""
        verify: ssl.SSLContext | bool = True
        try:
            verify = authorities() or True
        except Unavailable as fault:
            self._fault = fault.message
        # A proxy from the environment is for the outside world; asked for a loopback address it would answer 502.
        self._client = httpx.AsyncClient(
            verify=verify,
            timeout=timeout_s,
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=places),
            trust_env=not is_loopback(httpx.URL(url).host),
            follow_redirects=False,
        )

    async def post(self, body: bytes, headers: dict[str, str]) -> PostAnswer:
        """Send it and read the answer, all within the time limit."""
        if self._fault:
            return PostAnswer(outcome=DeliveryOutcome("retry", self._fault))
        try:
            async with asyncio.timeout(self._timeout_s):
                return await self._post(body, headers)
        except TimeoutError:
            return PostAnswer(outcome=DeliveryOutcome("retry", f"no answer within {self._timeout_s:g} s"))
        except (httpx.HTTPError, httpx.InvalidURL) as fault:
            return PostAnswer(
                outcome=DeliveryOutcome("retry", self._said(f"{type(fault).__name__}: {fault}".rstrip(": ")))
            )

    async def _post(self, body: bytes, headers: dict[str, str]) -> PostAnswer:
        given = {"content-type": "application/json", "user-agent": "acud", **headers}
        async with self._client.stream("POST", self._url, content=body, headers=given) as response:
            text = await _beginning(response)
        if response.is_success:
            return PostAnswer(text)
        return PostAnswer(outcome=self._not_taken(response, text), status=response.status_code)

    def _not_taken(self, response: httpx.Response, text: bytes) -> DeliveryOutcome:
        said = self._said(f"answered {response.status_code}: {text[:300].decode(errors='replace')}")
        if response.status_code in _LATER or response.status_code >= 500:
            return DeliveryOutcome("retry", said, retry_after_s(response.headers.get("retry-after", "")))
        return DeliveryOutcome("refused", said)

    def _said(self, text: str) -> str:
        return reason(text, self._secrets)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()


class _Reply(Struct, frozen=True):
    ok: bool = False
    error: str = ""


class OpenClawRoute:
    """Wakes an OpenClaw agent through its gateway's webhook."""

    def __init__(self, settings: WakeSettings, token: str) -> None:
        self.limit_s, self.places = settings.http_timeout_s, settings.http_concurrency
        self._token = token
        url = f"{settings.openclaw_url.rstrip('/')}/wake"
        self._poster = Poster(url, timeout_s=self.limit_s, places=self.places, secrets=(token,))

    async def deliver(self, delivery: Deliver) -> DeliveryOutcome:
        """Post the text, for now and not for the next heartbeat."""
        body: dict[str, Any] = {"text": delivery.text, "mode": "now"}
        body |= {"agentId": delivery.agent_id} if delivery.agent_id else {}
        body |= {"sessionKey": delivery.session_key} if delivery.session_key else {}
        headers = {"authorization": f"Bearer {self._token}"}
        answer = await self._poster.post(msgspec.json.encode(body), headers)
        return answer.outcome or self._read(answer.body)

    def _read(self, body: bytes) -> DeliveryOutcome:
        # The same port serves a web page: a 200 alone does not say that anybody was woken.
        try:
            reply = msgspec.json.decode(body, type=_Reply)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return DeliveryOutcome("refused", "answered 2xx, and not as OpenClaw's hooks do: check openclaw_url")
        if reply.ok:
            return SENT
        return DeliveryOutcome("refused", reason(f"answered ok=false: {reply.error}", (self._token,)))

    async def close(self) -> None:
        """Close the connections."""
        await self._poster.close()


class WebhookBody(Struct, frozen=True):
    """What is posted, as JSON. `id`: the wake's, the same each time; `reminder`: 0 unless it is a marked repeat."""

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
    """Posts to the receiver in the settings; any 2xx is a taken wake."""

    def __init__(self, settings: WakeSettings, secret: str, utc_s: Callable[[], float] = time.time) -> None:
        self.limit_s, self.places = settings.http_timeout_s, settings.http_concurrency
        self._key = signing_key(secret)
        self._utc_s = utc_s
        self._poster = Poster(
            settings.webhook_url, timeout_s=self.limit_s, places=self.places, secrets=(secret, secret[len(_PREFIX) :])
        )

    async def deliver(self, delivery: Deliver) -> DeliveryOutcome:
        """Post it with its signature."""
        body = msgspec.json.encode(_body(delivery))
        moment = str(int(self._utc_s()))
        headers = {
            "webhook-id": delivery.wake_id,
            "webhook-timestamp": moment,
            "webhook-signature": signature(self._key, delivery.wake_id, moment, body),
        }
        answer = await self._poster.post(body, headers)
        return answer.outcome or SENT

    async def close(self) -> None:
        """Close the connections."""
        await self._poster.close()


def signing_key(secret: str) -> bytes:
    """Return the key in `secret`: base64 behind `whsec_`, else its own bytes."""
    if secret.startswith(_PREFIX):
        try:
            return base64.b64decode(secret.removeprefix(_PREFIX), validate=True)
        except binascii.Error:
            return secret.encode()
    return secret.encode()


def signature(key: bytes, wake_id: str, moment: str, body: bytes) -> str:
    """Return the header's value: `v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`."""
    digest = hmac.new(key, f"{wake_id}.{moment}.".encode() + body, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(digest).decode()}"


async def _beginning(response: httpx.Response) -> bytes:
    text = bytearray()
    async for chunk in response.aiter_bytes():
        text += chunk
        if len(text) > _MAX_ANSWER_BYTES:
            break
    return bytes(text)


def _body(delivery: Deliver) -> WebhookBody:
    return WebhookBody(
        id=delivery.wake_id,
        kind=delivery.kind,
        text=delivery.text,
        wait_id=delivery.wait_id,
        task_id=delivery.task_id,
        reminder=delivery.reminder,
        attempt=delivery.attempt,
        created_utc_s=delivery.created_utc_s,
        session_key=delivery.session_key,
        agent_id=delivery.agent_id,
        run_id=delivery.run_id,
    )
