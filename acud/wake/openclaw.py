"""OpenClaw's hook `POST <hooks>/wake`, as its gateway (2026.9) answers it: 200 {"ok": true, …} is a taken wake.

The gateway coalesces a text that equals the last one, so a repeat of an unacknowledged delivery does no harm.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from acud.config import WakeSettings
from acud.protocol.relay import Deliver
from acud.wake.http import Poster
from acud.wake.outcome import SENT, Outcome, reason


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

    async def deliver(self, delivery: Deliver) -> Outcome:
        """Post the text, for now and not for the next heartbeat."""
        body: dict[str, Any] = {"text": delivery.text, "mode": "now"}
        body |= {"agentId": delivery.agent_id} if delivery.agent_id else {}
        body |= {"sessionKey": delivery.session_key} if delivery.session_key else {}
        headers = {"authorization": f"Bearer {self._token}"}
        answer = await self._poster.post(msgspec.json.encode(body), headers)
        return answer.outcome or self._read(answer.body)

    def _read(self, body: bytes) -> Outcome:
        # The same port serves a web page: a 200 alone does not say that anybody was woken.
        try:
            reply = msgspec.json.decode(body, type=_Reply)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return Outcome("refused", "answered 2xx, and not as OpenClaw's hooks do: check openclaw_url")
        if reply.ok:
            return SENT
        return Outcome("refused", reason(f"answered ok=false: {reply.error}", (self._token,)))

    async def close(self) -> None:
        """Close the connections."""
        await self._poster.close()
