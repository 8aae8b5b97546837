"""A client of a real daemon's gateway that holds a token, and what it hears of events."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import msgspec
from msgspec import Struct

from acud.protocol.web import Scope, digest_of, new_secret
from tests.e2e.conftest import BARE, SCRIPTED
from tests.e2e.desktop import until
from tests.fixtures.daemon import Daemon

SETTINGS = SCRIPTED + BARE + "[web]\nenabled = true\nport = 0\n"


class Api:
    """Requests with a token of this scope, limited where `displays` or `tasks` are named, to the gateway at `url` ("":
    the daemon's own). Use it in a `with`.
    """

    def __init__(self, daemon: Daemon, scope: Scope = Scope.ADMIN, url: str = "", **limits: Any) -> None:
        self.url = url or until(lambda: daemon.client.status().web.get("gateway", ""), "the gateway")
        secret = new_secret()
        self.pass_ = daemon.client.web_token_create(digest_of(secret), scope, name="test", **limits).found
        self.headers = {"Authorization": f"Bearer {secret}"}
        self.raw = httpx.Client(base_url=self.url, headers=self.headers, timeout=60, trust_env=False, verify=False)

    def __enter__(self) -> Api:
        return self

    def __exit__(self, *_: object) -> None:
        self.raw.close()

    def get(self, path: str, **query: Any) -> Any:
        """Return the JSON of what is there."""
        return self._json(self.raw.get(f"/api/{path}", params=query))

    def post(self, path: str, **body: Any) -> Any:
        """Return the JSON of the answer."""
        return self._json(self.raw.post(f"/api/{path}", json=body))

    def delete(self, path: str) -> Any:
        """Return the JSON of the answer."""
        return self._json(self.raw.delete(f"/api/{path}"))

    def refused(self, method: str, path: str, **given: Any) -> tuple[int, str]:
        """Return status and code of what is not served, which must be told as the contract says."""
        answer = self.raw.request(method, f"/api/{path}", **given)
        body = answer.json()
        assert body["ok"] is False
        assert body["error"]
        return answer.status_code, body["code"]

    @contextmanager
    def stream(self, headers: dict[str, str] | None = None, **query: Any) -> Iterator[Iterator[Sent]]:
        """Yield the server-sent events of /api/events/stream."""
        with self.raw.stream("GET", "/api/events/stream", params=query, headers=headers) as answer:
            assert answer.status_code == 200
            assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
            yield _sent(answer)

    def _json(self, answer: httpx.Response) -> Any:
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"] == "application/json"
        return answer.json()


class Sent(Struct, frozen=True):
    """One server-sent event: its id, its name ("message" where it has none), and its data as JSON."""

    id: str
    name: str
    data: Any


def _sent(answer: httpx.Response) -> Iterator[Sent]:
    """Yield events as a browser dispatches them (the HTML standard, 9.2.6)."""
    fields: dict[str, str] = {}
    last = ""
    for line in answer.iter_lines():
        name, _, value = line.partition(": ")
        if line:
            fields[name] = value
            continue
        last = fields.get("id", last)
        if "data" in fields:
            yield Sent(last, fields.get("event", "message"), msgspec.json.decode(fields["data"]))
        fields = {}
