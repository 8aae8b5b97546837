"""What the two HTTP routes share: one POST with limits, and what its status means."""

from __future__ import annotations

import asyncio
import ipaddress
import ssl

import httpx

from acud.errors import Unavailable
from acud.tls import authorities
from acud.wake.outcome import Outcome, reason, retry_after_s

_MAX_ANSWER_BYTES = 64 << 10
_LATER = frozenset({408, 409, 425, 429})
"""Statuses below 500 that say "not now" (RFC 9110, RFC 6585, RFC 8470); 409: another delivery of it is under way."""


class Answer:
    """A 2xx answer's body, or the outcome of everything else, and the `status` of an answer that there was."""

    def __init__(self, body: bytes = b"", outcome: Outcome | None = None, status: int = 0) -> None:
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
            trust_env=not _is_loopback(httpx.URL(url).host),
            follow_redirects=False,
        )

    async def post(self, body: bytes, headers: dict[str, str]) -> Answer:
        """Send it and read the answer, all within the time limit."""
        if self._fault:
            return Answer(outcome=Outcome("retry", self._fault))
        try:
            async with asyncio.timeout(self._timeout_s):
                return await self._post(body, headers)
        except TimeoutError:
            return Answer(outcome=Outcome("retry", f"no answer within {self._timeout_s:g} s"))
        except (httpx.HTTPError, httpx.InvalidURL) as fault:
            return Answer(outcome=Outcome("retry", self._said(f"{type(fault).__name__}: {fault}".rstrip(": "))))

    async def _post(self, body: bytes, headers: dict[str, str]) -> Answer:
        given = {"content-type": "application/json", "user-agent": "acud", **headers}
        async with self._client.stream("POST", self._url, content=body, headers=given) as response:
            text = await _beginning(response)
        if response.is_success:
            return Answer(text)
        return Answer(outcome=self._not_taken(response, text), status=response.status_code)

    def _not_taken(self, response: httpx.Response, text: bytes) -> Outcome:
        said = self._said(f"answered {response.status_code}: {text[:300].decode(errors='replace')}")
        if response.status_code in _LATER or response.status_code >= 500:
            return Outcome("retry", said, retry_after_s(response.headers.get("retry-after", "")))
        return Outcome("refused", said)

    def _said(self, text: str) -> str:
        return reason(text, self._secrets)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()


async def _beginning(response: httpx.Response) -> bytes:
    text = bytearray()
    async for chunk in response.aiter_bytes():
        text += chunk
        if len(text) > _MAX_ANSWER_BYTES:
            break
    return bytes(text)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
