"""A webhook signed as Standard Webhooks says: HMAC-SHA256 over id, time and body (https://www.standardwebhooks.com)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import time
from collections.abc import Callable

import msgspec
from msgspec import Struct

from acud.config import WakeSettings
from acud.protocol.relay import Deliver
from acud.types import WakeKind
from acud.wake.http import Poster
from acud.wake.outcome import SENT, Outcome

_PREFIX = "whsec_"


class Body(Struct, frozen=True):
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
        self._key = key_of(secret)
        self._utc_s = utc_s
        self._poster = Poster(
            settings.webhook_url, timeout_s=self.limit_s, places=self.places, secrets=(secret, secret[len(_PREFIX) :])
        )

    async def deliver(self, delivery: Deliver) -> Outcome:
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


def key_of(secret: str) -> bytes:
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


def _body(delivery: Deliver) -> Body:
    return Body(
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
