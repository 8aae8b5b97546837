"""A WebSocket without an access token is refused in HTTP, with the same words and headers as any request."""

import asyncio
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest
from starlette.websockets import WebSocket

from acud.base.errors import NotFound
from acud.base.paths import resolve
from acud.config.http_listeners import WebSettings
from acud.protocol.web import Scope
from acud_http.errors import GATEWAY_ERRORS
from acud_http.request_filter import GATEWAY, HEADERS, RequestFilter
from acud_web.application import gateway_state, router
from acud_web.daemon_gateway import DaemonGateway
from acud_web.live.displays import DisplayHub
from acud_web.route_table import Row


class NobodyKnown:
    async def ask(self, request: Any, kind: Any) -> Any:
        raise NotFound("unknown")


async def never(_socket: WebSocket) -> None:
    pytest.fail("an endpoint was reached without an access token")


@pytest.mark.parametrize(("head", "status"), [
    ([], 401), ([(b"authorization", b"Bearer wrong")], 401), ([(b"cookie", b"acud_session=wrong")], 403),
    ([(b"cookie", b"acud_session=wrong"), (b"origin", b"http://localhost")], 401),
    ([(b"origin", b"https://evil.example")], 403), ([(b"host", b"evil.example")], 421),
])  # fmt: skip
def test_refused(head: list[tuple[bytes, bytes]], status: int, tmp_path: Path) -> None:
    sent: list[MutableMapping[str, Any]] = []

    async def receive() -> MutableMapping[str, Any]:
        return {"type": "websocket.connect"}

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    settings = WebSettings()
    rows = [Row("WS", "/x", never, Scope.READ)]
    gate = RequestFilter(router(rows, GATEWAY_ERRORS), GATEWAY, settings)
    desk = cast(DaemonGateway, NobodyKnown())
    scope = {
        "type": "websocket", "path": "/x",
        "headers": [*([] if any(name == b"host" for name, _ in head) else [(b"host", b"localhost")]), *head],
        "query_string": b"", "client": ("127.0.0.1", 1), "extensions": {"websocket.http.response": {}},
    }  # fmt: skip

    async def asked() -> None:
        async with DisplayHub(desk, resolve({"ACU_HOME": str(tmp_path)}), settings) as live:
            gate.state.update(gateway_state(desk, live, settings))
            await gate(scope, receive, send)

    asyncio.run(asked())
    assert [message["type"] for message in sent] == ["websocket.http.response.start", "websocket.http.response.body"]
    assert sent[0]["status"] == status
    assert {name.lower().encode() for name in HEADERS} <= {name for name, _ in sent[0]["headers"]}
    assert msgspec.json.decode(sent[1]["body"])["ok"] is False
