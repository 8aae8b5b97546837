"""Notifications to browsers: encrypts them (RFC 8291), and posts them to the browser's push service (RFC 8030)."""

from __future__ import annotations

import base64
import os
import time

import http_ece
from cryptography.hazmat.primitives.asymmetric import ec
from py_vapid import Vapid02, VapidException

from acud.config import NotifySettings
from acud.delivery.routes import Poster
from acud.protocol.delivery import Push, Pushed
from acud.protocol.push import PushTarget, is_service, origin_of

_GONE = frozenset({404, 410})  # RFC 8030, 7.3: the subscription has ended
_TTL_S = 3600  # a push service keeps a notification so long for a browser that is not reachable
_GOOD_S = 12 * 3600  # RFC 8292 allows a day


class PushSender:
    """Sends pushes. `key`: the daemon's private key (RFC 8292)."""

    def __init__(self, settings: NotifySettings, key: str) -> None:
        self._settings = settings
        self._key = key.encode("ascii")

    async def send(self, push: Push) -> Pushed:
        """Send a push within `timeout_s`; every failure is a result, and no reason names the endpoint."""
        target = push.target
        if not is_service(target.endpoint, self._settings.push_services):
            return Pushed(push.number, "refused", "its push service is not in [notify] push_services")
        try:
            body = encrypt(push.body.encode(), target)
        except ValueError:
            return Pushed(push.number, "gone", "the browser's key is no point of P-256")
        try:
            headers = self._build_headers(target, urgent=push.urgent)
        except (ValueError, VapidException) as fault:
            return Pushed(push.number, "refused", f"[notify] push_contact or push.key is not taken: {fault}")
        return await self._post_to_service(push, body, headers)

    async def _post_to_service(self, push: Push, body: bytes, headers: dict[str, str]) -> Pushed:
        secrets = (push.target.endpoint, push.target.endpoint.rpartition("/")[2])
        poster = Poster(push.target.endpoint, timeout_s=self._settings.timeout_s, places=1, secrets=secrets)
        try:
            answer = await poster.post(body, headers)
        finally:
            await poster.close()
        if answer.outcome is None:
            return Pushed(push.number, "sent")
        if answer.status in _GONE:
            return Pushed(push.number, "gone", f"answered {answer.status}")
        return Pushed(push.number, answer.outcome.result, answer.outcome.reason, answer.outcome.retry_after_s)

    def _build_headers(self, target: PushTarget, *, urgent: bool) -> dict[str, str]:
        return {
            "authorization": build_authorization(self._key, origin_of(target.endpoint), self._settings.push_contact),
            "content-encoding": "aes128gcm",
            "content-type": "application/octet-stream",
            "ttl": str(_TTL_S),
            "urgency": "high" if urgent else "normal",
        }


def build_authorization(private: bytes, origin: str, contact: str) -> str:
    """Return the header that identifies the sender, valid for `origin` only (RFC 8292). Raises: ValueError."""
    claims = {"aud": origin, "exp": int(time.time()) + _GOOD_S, "sub": contact}
    return str(Vapid02.from_raw(private).sign(claims)["Authorization"])


def encrypt(body: bytes, target: PushTarget) -> bytes:
    """Encrypt `body` so that only the browser can read it. Raises: ValueError for an invalid key of the browser."""
    made: bytes = http_ece.encrypt(
        body,
        salt=os.urandom(16),
        private_key=ec.generate_private_key(ec.SECP256R1()),
        dh=_decode_base64(target.p256dh),
        auth_secret=_decode_base64(target.auth),
        version="aes128gcm",
    )
    return made


def _decode_base64(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
