"""`acud mcp` in a process of its own, spoken to by the official SDK's client, over stdio or HTTP, in either era."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx2
from mcp import types
from mcp.client import Client, session
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

COMMAND = [sys.executable, "-m", "acud_cli", "mcp"]
ERAS = ("legacy", "auto")
# Within the SDK's own 10 s a loaded machine may not have started a server; then the older handshake is tried.
session.DISCOVER_TIMEOUT_SECONDS = 60.0


def stdio(home: Path, *arguments: str, env: dict[str, str] | None = None, mode: str = "legacy", **given: Any) -> Client:
    """Return a client whose server knows HOME, PATH and ACU_HOME and nothing else."""
    command, *fixed = COMMAND
    kept = {"HOME": os.environ.get("HOME", "/"), "ACU_HOME": str(home), **(env or {})}
    return Client(StdioServerParameters(command=command, args=[*fixed, *arguments], env=kept), mode=mode, **given)


class HttpServer:
    """`acud mcp --http` on a free port; use it in a `with`."""

    def __init__(self, home: Path, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [*COMMAND, "--http", "--port", "0", *arguments],
            env={name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ} | {"ACU_HOME": str(home)},
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stderr is not None
        self.said = self.process.stderr.readline()
        self.url = self.said.split()[2].rstrip(",")
        self.token = (home / "mcp-token").read_text().strip()

    @asynccontextmanager
    async def client(self, mode: str, **given: Any) -> AsyncIterator[Client]:
        """A connected client that holds the token."""
        async with AsyncExitStack() as stack:
            http = await stack.enter_async_context(
                httpx2.AsyncClient(headers={"Authorization": f"Bearer {self.token}"}, timeout=60, verify=False)
            )
            yield await stack.enter_async_context(
                Client(streamable_http_client(self.url, http_client=http), mode=mode, **given)
            )

    def close(self) -> str:
        """End it and return all that it said."""
        self.process.terminate()
        _, rest = self.process.communicate(timeout=60)
        return self.said + rest

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        if self.process.poll() is None:
            self.close()


def value(result: types.CallToolResult) -> dict[str, Any]:
    """Return a good result's content, which must be the same as structure and as text."""
    assert not result.is_error, result
    text = result.content[0]
    assert isinstance(text, types.TextContent)
    assert json.loads(text.text) == result.structured_content
    found: dict[str, Any] = result.structured_content
    return found


def pictured(result: types.CallToolResult) -> tuple[dict[str, str], types.ImageContent]:
    """Return the facts of a good result with a picture, and the picture: nothing beside them may hide it."""
    assert not result.is_error, result
    assert result.structured_content is None
    words, image = result.content
    assert isinstance(words, types.TextContent)
    assert isinstance(image, types.ImageContent)
    return dict(line.split(": ", 1) for line in words.text.splitlines()), image


def text(result: types.CallToolResult) -> str:
    """Return the text of a good result that is text only."""
    assert not result.is_error, result
    assert result.structured_content is None
    (block,) = result.content
    assert isinstance(block, types.TextContent)
    return block.text


def fault(result: types.CallToolResult) -> str:
    """Return an error result's one line."""
    assert result.is_error, result
    assert result.structured_content is None
    (block,) = result.content
    assert isinstance(block, types.TextContent)
    assert "\n" not in block.text
    assert 0 < len(block.text) <= 600
    return block.text


async def until(holds: Any, seconds: float = 100.0) -> None:
    """Wait for something that happens in another process."""
    end_s = asyncio.get_running_loop().time() + seconds
    while not holds():
        assert asyncio.get_running_loop().time() < end_s, "it did not happen"
        await asyncio.sleep(0.05)
