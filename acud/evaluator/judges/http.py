"""One HTTP exchange with a model's server: bounded, never redirected, never sent through a proxy to this machine.

`make_status_fault` maps a status to the fault of a call, `asked_pause_s` reads when it may be tried again.
"""

from __future__ import annotations

import re
import ssl
import time
from codecs import BOM_UTF8
from collections.abc import AsyncIterator, Callable, Mapping
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.request import getproxies

import httpx
import msgspec
from msgspec import Struct

from acud.base.errors import Unavailable
from acud.base.tls import authorities
from acud.base.typed_values import decode_json
from acud.base.value_errors import describe_decode_fault
from acud.config.http_listeners import is_loopback
from acud.evaluator.judges.faults import FREE, CallFailed, KeyFilter, TokenUsage
from acud.evaluator.judges.plain_http import PlainTransport

_LATER = frozenset({408, 409, 425, 429})  # statuses below 500 that mean "not now" (RFC 9110, RFC 6585, RFC 8470)
_NOT_FOUND = 404
_CODES = {401: "no_key", 402: "budget", 403: "no_key", 404: "judge_down", 408: "judge_down", 429: "rate_limited"}
_SPENT = ("insufficient_quota", "credit_balance_exhausted", "enforced_spend_limit_reached", "credit balance is too low")
"""Under 400 and 429, no credit is left (OpenAI, Anthropic): waiting a minute does not help."""
_NO_KEY = ("api key not valid", "api key not found", "api key expired")  # under 400, Gemini does not know the key
_NO_PICTURES = "image input is not supported"
"""Under 500, llama.cpp was started without a model for pictures: no other try can help."""
TAKES_NO_PICTURES = "takes no pictures: start llama-server with --mmproj, or name a model that does"
"""What to do about a server that serves its model for text alone."""
MAX_BODY_BYTES = 1 << 20
"""A verdict is a sentence and a plan a page; a longer answer is not read to its end."""
_CUT_OFF = (httpx.ReadError, httpx.ReadTimeout, httpx.RemoteProtocolError, httpx.WriteError)
"""The server may have begun, and may charge for it."""
_LIMITED = re.compile(r"rate.?limit|too many requests|throttl|resource.?exhausted")
_PASSES = re.compile(
    _LIMITED.pattern + r"|overload|unavailable|time.?d?.?out|deadline|internal"
    r"|server.?error|api.?error|upstream|busy|loading|capacity|aborted|temporar|try again|not ready"
)
"""How the kinds of errors that pass by themselves are named (OpenAI, Anthropic, gRPC, OpenRouter, vLLM, llama.cpp)."""
_CALLS_A_POOL = 64  # over https most servers speak HTTP/2, in which one connection carries a hundred calls
_KEPT_S = 60.0  # how long an idle connection is kept: a new one over TLS costs two or three round trips
_HOPELESS = (httpx.UnsupportedProtocol, httpx.LocalProtocolError, httpx.InvalidURL)


def make_status_fault(
    status: int, error_text: str, after_s: float | None = None, usage: TokenUsage = FREE
) -> CallFailed:
    """Return the fault for an answer with `status`, not 2xx, and the server's `error_text`."""
    words = error_text.lower()
    if status in (400, 402, 429) and any(mark in words for mark in _SPENT):
        return CallFailed("budget", error_text, usage=usage)
    if status == 400 and any(mark in words for mark in _NO_KEY):
        return CallFailed("no_key", error_text, usage=usage)
    if status in (400, 500) and _NO_PICTURES in words:
        return CallFailed("rejected", f"{error_text} (it {TAKES_NO_PICTURES})", usage=usage, status=status)
    if 300 <= status < 400:
        return CallFailed("judge_down", f"{error_text} (a redirect, which is not followed: check the url)", usage=usage)
    code = _CODES.get(status, "judge_down" if status >= 500 or status in _LATER else "rejected")
    retry = status >= 500 or status in _LATER
    return CallFailed(code, error_text, retry=retry, after_s=after_s, usage=usage, status=status)


def plain_url(url: httpx.URL) -> str:
    """Return the address without what may be secret in it: its user, password and query."""
    port = f":{url.port}" if url.port is not None else ""
    return f"{url.scheme}://{url.host}{port}{url.path}"


def asked_pause_s(headers: Mapping[str, str]) -> float | None:
    """Return how many seconds the sender asks to wait; None when its headers give none that can be read.

    `retry-after-ms` (OpenAI and Azure), `retry-after` in seconds or as an HTTP date (RFC 9110, section 10.2.3), and
    OpenRouter's `x-ratelimit-reset`, milliseconds of UTC, where nothing is left.
    """
    millis = _parse_number(headers.get("retry-after-ms", ""))
    if millis is not None:
        return millis / 1000
    said = headers.get("retry-after", "")
    seconds = _parse_number(said)
    if seconds is not None:
        return seconds
    return _seconds_until(said) if said else _seconds_to_reset(headers)


class _Pool:
    """Connections, and the calls that are under way on them."""

    def __init__(self, transport: httpx.AsyncBaseTransport) -> None:
        self.transport = transport
        self.calls = 0


class _CountedStream(httpx.AsyncByteStream):
    """A response's body; closing it ends the call."""

    def __init__(self, body: httpx.AsyncByteStream, pool: _Pool) -> None:
        self._body = body
        self._pool: _Pool | None = pool

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._body:
            yield chunk

    async def aclose(self) -> None:
        try:
            await self._body.aclose()
        finally:
            if self._pool is not None:
                self._pool.calls -= 1
                self._pool = None


class Pools(httpx.AsyncBaseTransport):
    """Connection pools of `most` calls each, in the order of being needed.

    httpcore's pool looks at each of its connections for each request that begins or ends: 128 calls at once, each with
    a connection of its own, take 17 ms each in one pool (https://github.com/encode/httpcore/pull/1035).
    """

    def __init__(self, make: Callable[[], httpx.AsyncBaseTransport], most: int) -> None:
        self._make, self._most = make, most
        self._pools: list[_Pool] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send the request over the first pool that has room."""
        pool = next((one for one in self._pools if one.calls < self._most), None)
        if pool is None:
            pool = _Pool(self._make())
            self._pools.append(pool)
        pool.calls += 1
        try:
            response = await pool.transport.handle_async_request(request)
        except BaseException:
            pool.calls -= 1
            raise
        assert isinstance(response.stream, httpx.AsyncByteStream)
        response.stream = _CountedStream(response.stream, pool)
        return response

    async def aclose(self) -> None:
        for pool in self._pools:
            await pool.transport.aclose()


class _ErrorBody(Struct, frozen=True):
    error: Any = None


class HttpExchange:
    """Talks to one server over connections that last; made when first needed. `words` knows the keys to blot out."""

    def __init__(
        self,
        url: str,
        who: str,
        words: KeyFilter,
        *,
        connect_timeout_s: float,
        concurrency: int,
        ca_file: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """`headers` go along with every request. A query of `url` stands behind every path."""
        base, mark, query = url.partition("?")
        # Vendors print the whole address of a call; each call adds its own path.
        self.url, self._query = base.rstrip("/").removesuffix("/chat/completions"), mark + query
        self._headers = {name.lower(): value for name, value in (headers or {}).items()}
        self.who, self.words = who, words
        self._secure = self.url.startswith("https:")
        # The whole call is bounded by its caller; a model may think for minutes before its first byte.
        self._times = {"timeout": httpx.Timeout(None, connect=connect_timeout_s).as_dict()}
        self._urls: dict[str, httpx.URL] = {}
        self._limits = httpx.Limits(
            max_connections=None, max_keepalive_connections=concurrency, keepalive_expiry=_KEPT_S
        )
        self._ca_file = ca_file
        self._client: httpx.AsyncClient | None = None

    async def ask(self, method: str, path: str, kind: type[Any], headers: dict[str, str], body: Any = None) -> Any:
        """Return the answer's JSON as `kind`. Raises: CallFailed. The time limit is the caller's."""
        return self.decode(await self.send(method, path, headers, body), kind)

    async def send(self, method: str, path: str, headers: dict[str, str], body: Any = None) -> bytes:
        """Return the body of a 2xx answer, keys blotted out. Raises: CallFailed for every other, and for none."""
        content = None if body is None else msgspec.json.encode(body)
        given = {"accept": "application/json", "content-type": "application/json", "user-agent": "acud"}
        given |= headers | self._headers
        client = self._open_client()
        try:
            # Not `client.stream`: putting the url and the client's own headers together took a fifth of a call.
            request = httpx.Request(method, self._url(path), content=content, headers=given, extensions=self._times)
            response = await client.send(request, stream=True)
            try:
                text = self.words.clean(await self._read_body(response))
            finally:
                await response.aclose()
        except (httpx.HTTPError, httpx.InvalidURL) as fault:
            raise self._transport_fault(fault) from None  # the cause may show the headers of the request
        if not response.is_success:
            at = f" at {plain_url(request.url)}" if response.status_code == _NOT_FOUND else ""
            said = self.words.line(f"{self.who} answered {response.status_code}{at}: {_error_text(text)}")
            pause_s = asked_pause_s(response.headers)
            raise make_status_fault(response.status_code, said, _retry_info_s(text) if pause_s is None else pause_s)
        return text

    def _url(self, path: str) -> httpx.URL:
        if path not in self._urls:
            self._urls[path] = httpx.URL(self.url + path + self._query)
        return self._urls[path]

    def decode(self, text: bytes, kind: type[Any]) -> Any:
        """Return a 2xx answer's body as `kind`. Raises: CallFailed when it is not that; it may have cost something."""
        try:
            return decode_json(text.removeprefix(BOM_UTF8), kind)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as fault:
            words = describe_decode_fault(fault, kind, "it")
            raise self.no_answer(text, f"{self.who}'s answer is not what its API says: {words}", TokenUsage()) from None

    def no_answer(self, text: bytes, reason: str, usage: TokenUsage) -> CallFailed:
        """Return the fault of a 2xx body that holds no answer: the error in it, or `reason`."""
        try:
            error = decode_json(text, _ErrorBody).error
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            error = None
        if error:
            return self.error(error, usage)
        return CallFailed("unparsable", self.words.line(reason), usage=usage)

    def error(self, error: Any, usage: TokenUsage) -> CallFailed:
        """Return the fault for an `error` inside a 2xx. Its code may be an HTTP status; else its code and type, or else
        its message, decide whether it passes by itself. An error without any of these may pass.
        """
        fields = error if isinstance(error, dict) else {"message": error}
        kinds = [str(fields[name]) for name in ("code", "status", "type") if fields.get(name)]
        status = next((int(one) for one in kinds if re.fullmatch("[45][0-9]{2}", one)), 0)
        named = " ".join(one for one in kinds if not one.isdigit()) or str(fields.get("message") or "")
        if not status:
            passes = not named or _PASSES.search(named.lower()) is not None
            status = 429 if _LIMITED.search(named.lower()) else 500 if passes else 400
        said = f"{self.who} answered 200 with error {' '.join(kinds)}: {fields.get('message')}"
        return make_status_fault(status, self.words.line(said), usage=usage)

    async def _read_body(self, response: httpx.Response) -> bytes:
        text = bytearray()
        async for chunk in response.aiter_bytes():
            text += chunk
            if len(text) > MAX_BODY_BYTES:
                reason = f"{self.who}'s answer is longer than {MAX_BODY_BYTES} bytes"
                raise CallFailed("unparsable", reason, usage=TokenUsage() if response.is_success else FREE)
        return bytes(text)

    def _transport_fault(self, fault: Exception) -> CallFailed:
        reason = self.words.line(f"{self.who}: {type(fault).__name__}: {fault}".rstrip(": "))
        if isinstance(fault, httpx.DecodingError):
            return CallFailed("unparsable", reason, usage=TokenUsage())
        usage = TokenUsage() if isinstance(fault, _CUT_OFF) else FREE
        return CallFailed("judge_down", reason, retry=not isinstance(fault, _HOPELESS), usage=usage)

    async def close(self) -> None:
        """Close the connections; closing twice is harmless."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    def _open_client(self) -> httpx.AsyncClient:
        if self._client is None:
            # A proxy from the environment is for the outside world; asked for a loopback address it answers 502.
            proxied = bool(getproxies()) and not is_loopback(httpx.URL(self.url).host)
            self._client = httpx.AsyncClient(
                transport=None if proxied else self._make_transport(),
                verify=self._tls_context() if proxied else True,
                http2=self._secure,
                limits=self._limits,
                trust_env=proxied,
                follow_redirects=False,
            )
        return self._client

    def _make_transport(self) -> httpx.AsyncBaseTransport:
        if self.url.startswith("http:"):
            return PlainTransport(most_idle=self._limits.max_keepalive_connections or 0, kept_s=_KEPT_S)
        trusted = self._tls_context()

        def pool() -> httpx.AsyncHTTPTransport:
            return httpx.AsyncHTTPTransport(verify=trusted, http2=True, limits=self._limits, trust_env=False)

        return Pools(pool, _CALLS_A_POOL)

    def _tls_context(self) -> ssl.SSLContext:
        if not self._secure:
            return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # never used, and cheap: it has read no authorities
        try:
            return authorities(self._ca_file) or httpx.create_ssl_context()
        except Unavailable as fault:
            raise CallFailed("judge_down", f"{self.who}: {fault.message}") from None


class AnyObject(Struct, frozen=True):
    """Any JSON object, of which nothing is wanted."""


def _seconds_to_reset(headers: Mapping[str, str]) -> float | None:
    reset_ms = _parse_number(headers.get("x-ratelimit-reset", ""))
    # Others put seconds, or a duration, under this name: only a plain time of this century in milliseconds is read.
    if headers.get("x-ratelimit-remaining", "") != "0" or reset_ms is None or reset_ms < 1e12:
        return None
    return max(0.0, reset_ms / 1000 - time.time())


class _RetryInfo(Struct, frozen=True):
    type: str = msgspec.field(name="@type", default="")
    delay: str = msgspec.field(name="retryDelay", default="")


class _Status(Struct, frozen=True):
    details: list[_RetryInfo] = []


class _Failed(Struct, frozen=True):
    error: _Status = _Status()


def _retry_info_s(body: bytes) -> float | None:
    """Return how many seconds google.rpc.RetryInfo in an error's body asks to wait; None where it holds none."""
    try:
        details = decode_json(body, _Failed).error.details
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    delays = (one.delay for one in details if one.type.endswith("google.rpc.RetryInfo"))
    return next((_parse_number(delay.removesuffix("s")) for delay in delays), None)


def _seconds_until(date: str) -> float | None:
    try:
        return max(0.0, parsedate_to_datetime(date).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None


def _parse_number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 <= value < 1e15 else None


def _error_text(body: bytes) -> str:
    """Return the words of an error's body: the message in its JSON where there is one, else all of it."""
    try:
        value = decode_json(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return body.decode(errors="replace")
    # Encoded again: an escaped character would hide a key from the search.
    return _error_message(value) or msgspec.json.encode(value).decode()


def _error_message(value: Any) -> str:
    """Return the message under `error` or beside it, with the kind of error if the answer names one."""
    if not isinstance(value, dict):
        return ""
    error = value.get("error", value)
    if not isinstance(error, dict):
        return str(error)
    found = [error.get(name) for name in ("type", "code", "message", "detail")]
    details = error.get("details")
    found.append(details.get("error_code") if isinstance(details, dict) else None)
    words = [str(one) for one in found if isinstance(one, str | int) and one]
    return " ".join(words) if error.get("message") or details else ""
