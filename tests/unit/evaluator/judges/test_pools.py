"""Connection pools of few calls each: none is lost, none takes more than its share, what is free is used again."""

from __future__ import annotations

import asyncio
from collections import Counter

import httpx
import pytest

from acud.evaluator.judges.http import Pools

pytestmark = pytest.mark.asyncio


class _Transport(httpx.AsyncBaseTransport):
    """Answers once `go` is set, or fails where the path says so; notes its calls under its number."""

    def __init__(self, made: list[_Transport], go: asyncio.Event, calls: Counter[int]) -> None:
        self._number, self._go, self._calls = len(made), go, calls
        self.closed = False
        made.append(self)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self._calls[self._number] += 1
        await self._go.wait()
        if request.url.path == "/lost":
            raise httpx.ReadError("lost")
        return httpx.Response(200, content=b"yes")

    async def aclose(self) -> None:
        self.closed = True


async def test_calls_at_once_get_pools_of_their_own_and_later_ones_use_these() -> None:
    made: list[_Transport] = []
    go, calls = asyncio.Event(), Counter[int]()
    async with httpx.AsyncClient(transport=Pools(lambda: _Transport(made, go, calls), 2)) as client:
        paths = ["/", "/lost", "/", "/lost", "/"]
        asked = [asyncio.create_task(client.get(f"http://model{path}")) for path in paths]
        for _ in range(100):
            await asyncio.sleep(0)
        assert calls == {0: 2, 1: 2, 2: 1}
        go.set()
        done = await asyncio.gather(*asked, return_exceptions=True)
        assert [one.text if isinstance(one, httpx.Response) else str(one) for one in done] == [
            "yes" if path == "/" else "lost" for path in paths
        ]
        await client.get("http://model/")
        assert calls == {0: 3, 1: 2, 2: 1}
    assert [one.closed for one in made] == [True] * 3
