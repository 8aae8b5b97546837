"""The server on standard input and output, from the request on that ended the handshake.

It speaks the protocol itself: the MCP SDK takes one and a half CPU seconds to load, longer than some hosts wait for
their first call. `sdk_server` is the same server over HTTP; a test compares their answers.
"""

from __future__ import annotations

import asyncio
import queue
import sys
import threading
import traceback
from functools import partial
from typing import Any, BinaryIO

from acud_mcp.handshake import Handshake, McpClient, acknowledgement, result_line, subscription_line
from acud_mcp.json_rpc import (
    INTERNAL_ERROR,
    METHOD_NOT_FOUND,
    Message,
    Request,
    RequestId,
    RpcError,
    error_line,
    line_of,
    parse,
)
from acud_mcp.server import Methods

_FLUSH_S = 2.0
"""A host that hung up and reads no more is left after this."""
_LEGACY = ("resources/subscribe", "resources/unsubscribe")


def serve_stdio(methods: Methods, handshake: Handshake) -> None:
    """Serve until standard input ends; `handshake` is how the connection began."""
    asyncio.run(_StdioServer(methods, handshake).run())


class _StdioServer:
    def __init__(self, methods: Methods, handshake: Handshake) -> None:
        self._methods = methods
        self._handshake = handshake
        self._writer = _Writer(handshake.writing)
        self._running: dict[RequestId, asyncio.Task[None]] = {}

    async def run(self) -> None:
        lines: asyncio.Queue[bytes] = asyncio.Queue()
        loop = asyncio.get_running_loop()
        threading.Thread(target=_read_lines, args=(self._handshake.reading, loop, lines), daemon=True).start()
        try:
            if self._handshake.left is not None:
                self._begin_request(self._handshake.left)
            while line := await lines.get():
                self._take_line(line)
        finally:
            for task in list(self._running.values()):
                task.cancel()
            await asyncio.gather(*self._running.values(), return_exceptions=True)
            await self._methods.close()
            self._writer.close()

    def _take_line(self, line: bytes) -> None:
        try:
            request = parse(line)
        except RpcError as fault:
            self._writer.write(error_line(fault, fault.request_id))
            return
        if request is None:
            return
        if request.request_id is not None:
            self._begin_request(request)
        elif request.method == "notifications/cancelled":
            task = self._running.get(request.params.get("requestId", ""))
            if task is not None:
                task.cancel()

    def _begin_request(self, request: Request) -> None:
        assert request.request_id is not None
        # The client of a line depends on the lines before it, so find it before the next line is read.
        try:
            client = self._handshake.client_of(request)
            lines = self._handshake.encode_static_answer(request, client)
        except RpcError as fault:
            self._writer.write(error_line(fault, request.request_id))
            return
        if lines:
            self._writer.write(lines)
            return
        task = asyncio.create_task(self._answer_request(request, client))
        self._running[request.request_id] = task
        task.add_done_callback(lambda done: self._forget_request(request.request_id, done))

    def _forget_request(self, request_id: RequestId | None, task: asyncio.Task[None]) -> None:
        if request_id is not None and self._running.get(request_id) is task:
            del self._running[request_id]

    async def _answer_request(self, request: Request, client: McpClient) -> None:
        """Answer one request, unless its client cancels it."""
        try:
            line = await self._line_of(request, client)
        except RpcError as fault:
            line = error_line(fault, request.request_id)
        except Exception:  # noqa: BLE001  (the boundary of a request: one that fails must not end the server)
            traceback.print_exc(file=sys.stderr)
            line = error_line(RpcError(INTERNAL_ERROR, "Internal server error"), request.request_id)
        self._writer.write(line)

    async def _line_of(self, request: Request, client: McpClient) -> bytes:
        if request.method == "subscriptions/listen" and client.is_modern:
            await self._send_notifications(request, client)
        method = self._methods.by_name.get(request.method)
        if method is None or (client.is_modern and request.method in _LEGACY):
            raise RpcError(METHOD_NOT_FOUND, "Method not found", request.method)
        result = await method(_StdioCaller(request, client, self._writer), request.params)
        return result_line(request, client, result)

    async def _send_notifications(self, request: Request, client: McpClient) -> None:
        """Send the notifications that `request` asks for until it is cancelled."""
        wanted = self._handshake.honour(request.params, client)
        uris, handles = frozenset(wanted.get("resourceSubscriptions", ())), self._methods.handles

        def send(topic: str, params: Message) -> None:
            self._writer.write(subscription_line(request.request_id, topic, params))

        def tell(uri: str) -> None:
            if uri in uris:
                send("resources/updated", {"uri": uri})

        await self._methods.updates.begin()
        tasks = await handles.find_known(wanted.pop("taskIds", [])) if handles is not None else []
        self._writer.write(acknowledgement(request.request_id, wanted | ({"taskIds": tasks} if tasks else {})))
        end = self._methods.updates.subscribe(tell)
        try:
            async with asyncio.TaskGroup() as following:
                if handles is not None:
                    for task_id in tasks:
                        following.create_task(handles.follow(task_id, partial(send, "tasks")))
                await asyncio.get_running_loop().create_future()
        finally:
            end()


class _StdioCaller:
    """The client of one request. There is one session on a connection."""

    session: str | None = ""

    def __init__(self, request: Request, client: McpClient, writer: _Writer) -> None:
        self.client = client
        self._writer = writer
        meta = request.params.get("_meta")
        self._token: Any = meta.get("progressToken") if isinstance(meta, dict) else None

    async def report_progress(self, done: float, total: float, words: str) -> None:
        if self._token is not None:
            params = {"progressToken": self._token, "progress": done, "total": total, "message": words}
            self._send_notification("progress", params)

    async def notify_updated(self, uri: str) -> None:
        self._send_notification("resources/updated", {"uri": uri})

    def _send_notification(self, topic: str, params: Message) -> None:
        self._writer.write(line_of({"jsonrpc": "2.0", "method": f"notifications/{topic}", "params": params}))


class _Writer:
    """Writes lines in their order from a thread of its own: a host that does not read stops no other request."""

    def __init__(self, writing: BinaryIO) -> None:
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._writing = writing
        self._thread = threading.Thread(target=self._write_queued, daemon=True)
        self._thread.start()

    def write(self, line: bytes) -> None:
        self._lines.put(line)

    def close(self) -> None:
        self._lines.put(b"")
        self._thread.join(_FLUSH_S)

    def _write_queued(self) -> None:
        while line := self._lines.get():
            try:
                self._writing.write(line)
                self._writing.flush()
            except OSError:  # the reader is gone; the end of the input follows
                return


def _read_lines(reading: BinaryIO, loop: asyncio.AbstractEventLoop, lines: asyncio.Queue[bytes]) -> None:
    """Put each line of `reading` into `lines`, and b"" at its end."""
    try:
        for line in reading:
            loop.call_soon_threadsafe(lines.put_nowait, line)
        loop.call_soon_threadsafe(lines.put_nowait, b"")
    except RuntimeError:  # the loop has ended before the input
        return
