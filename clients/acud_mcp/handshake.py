"""The beginning of a connection over standard input and output: `initialize` or `server/discover`,
`subscriptions/listen`, `ping` and `tools/list`, answered from a file before the tools are loaded, which takes half a
second. Hosts give a server little time to show its tools. Any other request ends the handshake; `stdio_server` then
answers it, and asks here about those that are known.

`listing.json` is written by scripts/docs from the server's own tables.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeGuard

from acud import __version__
from acud_mcp.json_rpc import (
    INVALID_PARAMS,
    MISSING_CAPABILITY,
    UNSUPPORTED_VERSION,
    Message,
    Request,
    RequestId,
    RpcError,
    error_line,
    line_of,
    parse,
)
from acud_mcp.selection import Selection, choose

LISTING = Path(__file__).with_name("listing.json")
VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""The protocol's versions that begin with `initialize`; a host that asks for another one is offered the last."""
MODERN = "2026-07-28"
"""The version without a beginning: each request names its version and its client."""
_RESERVED = "io.modelcontextprotocol/"
TASKS = f"{_RESERVED}tasks"
"""The extension that answers `smart_wait` with a task handle."""
_CACHEABLE = ("server/discover", "tools/list", "resources/list", "resources/templates/list", "resources/read")
_LIST_CHANGES = ("toolsListChanged", "promptsListChanged", "resourcesListChanged")


class ListedTool(NamedTuple):
    """A tool as the file has it; `listed` is what a host sees."""

    name: str
    toolset: str
    reads_only: bool
    needs: list[str]
    listed: Message


class McpClient(NamedTuple):
    """The sender of a request: the protocol's version for it, its name, and the extensions that it declares."""

    version: str
    name: str
    extensions: Message

    @property
    def is_modern(self) -> bool:
        """Whether each request has to name its client, and each result its kind."""
        return self.version == MODERN


class Handshake:
    """One connection before its server runs. `left`: the request that ended `answer_static_requests`, for the server.

    `reading` and `writing` are the connection; take them over when `answer_static_requests` has returned True.
    """

    def __init__(
        self, selection: Selection, reading: BinaryIO, writing: BinaryIO, *, tasks_extension: bool = True
    ) -> None:
        """Raises: InvalidRequest for a toolset or a tool that is none."""
        listing = json.loads(LISTING.read_bytes())
        self._tools = [row.listed for row in choose([ListedTool(**row) for row in listing["tools"]], selection)]
        self._initialized: Message = listing["initialize"]
        self._discovered: Message = listing["discover"]
        if tasks_extension and any(tool["name"] == "smart_wait" for tool in self._tools):
            extended = self._discovered["capabilities"] | {"extensions": {TASKS: {}}}
            self._discovered = self._discovered | {"capabilities": extended}
        self.reading, self.writing = reading, writing
        self.left: Request | None = None
        self._legacy: McpClient | None = None

    def answer_static_requests(self) -> bool:
        """Answer until the host has its list of tools or wants something else; False when it hung up before."""
        for line in self.reading:
            request = None
            try:
                request = parse(line)
                if request is None or request.request_id is None:
                    continue
                lines = self.encode_static_answer(request, self.client_of(request))
            except RpcError as fault:
                self._write_lines(error_line(fault, request.request_id if request else fault.request_id))
                continue
            if not lines:
                self.left = request
                return True
            self._write_lines(lines)
            if request.method == "tools/list":
                return True
        return False

    def client_of(self, request: Request) -> McpClient:
        """Return the sender of `request`. Raises: RpcError if neither the request nor a handshake names it."""
        meta = request.params.get("_meta")
        if request.method != "initialize" and isinstance(meta, dict) and f"{_RESERVED}protocolVersion" in meta:
            return _modern_client(meta)
        if request.method == "initialize":
            self._legacy = _legacy_client(request.params)
        elif self._legacy is None and request.method != "ping":
            words = f"begin with initialize, or name {_RESERVED}protocolVersion in params._meta of each request"
            raise RpcError(INVALID_PARAMS, f"Invalid request parameters: {words}")
        return self._legacy or McpClient(VERSIONS[-1], "", {})

    def encode_static_answer(self, request: Request, client: McpClient) -> bytes | None:
        """Return the answer as one JSON line; None when only the server can answer `request`."""
        result: Message
        match request.method:
            case "initialize":
                result = self._initialized | {"protocolVersion": client.version, "serverInfo": _describe_server()}
            case "server/discover" if client.is_modern:
                result = self._discovered
            case "tools/list":
                result = {"tools": self._tools}
            case "ping":
                result = {}
            case "subscriptions/listen" if client.is_modern:
                wanted = self.honour(request.params, client)
                # Only resources and tasks change; lists here never do.
                is_news = "resourceSubscriptions" in wanted or "taskIds" in wanted
                return None if is_news else acknowledgement(request.request_id, wanted)
            case _:
                return None
        return result_line(request, client, result)

    def honour(self, params: Message, client: McpClient) -> Message:
        """Return the notifications that are sent, of those that `subscriptions/listen` asks for. Raises: RpcError."""
        asked = params.get("notifications")
        if not isinstance(asked, dict):
            words = "Invalid request parameters: notifications must be an object"
            raise RpcError(INVALID_PARAMS, words)
        lists: Message = {name: asked.get(name) or [] for name in ("resourceSubscriptions", "taskIds")}
        for name, given in lists.items():
            if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
                raise RpcError(INVALID_PARAMS, f"Invalid request parameters: {name} must be a list of strings")
        if lists["taskIds"]:
            check_declares(client)
            if TASKS not in self._discovered["capabilities"].get("extensions", {}):
                lists["taskIds"] = []
        flags: Message = {name: True for name in _LIST_CHANGES if asked.get(name) is True}
        return flags | {name: given for name, given in lists.items() if given}

    def _write_lines(self, lines: bytes) -> None:
        self.writing.write(lines)
        self.writing.flush()


def result_line(request: Request, client: McpClient, result: Message) -> bytes:
    return line_of({"jsonrpc": "2.0", "id": request.request_id, "result": complete(request.method, client, result)})


def complete(method: str, client: McpClient, result: Message) -> Message:
    """Return `result` with the members that the client's version requires in every result."""
    if not client.is_modern:
        return result
    cache: Message = {"cacheScope": "private", "ttlMs": 0} if method in _CACHEABLE else {}
    stamp = {f"{_RESERVED}serverInfo": _describe_server()}
    return {"resultType": "complete", **cache, **result, "_meta": stamp | result.get("_meta", {})}


def check_declares(client: McpClient) -> None:
    """Raise RpcError for a client that has not declared the extension of task handles on its request."""
    if TASKS not in client.extensions:
        data: Message = {"requiredCapabilities": {"extensions": {TASKS: {}}}}
        raise RpcError(MISSING_CAPABILITY, f"declare the extension {TASKS}", data)


def acknowledgement(subscription: RequestId | None, notifications: Message) -> bytes:
    """Return the line that begins the stream of a subscription."""
    return subscription_line(subscription, "subscriptions/acknowledged", {"notifications": notifications})


def subscription_line(subscription: RequestId | None, topic: str, params: Message) -> bytes:
    meta = {f"{_RESERVED}subscriptionId": subscription}
    return line_of({"jsonrpc": "2.0", "method": f"notifications/{topic}", "params": {"_meta": meta, **params}})


def _describe_server() -> Message:
    return {"name": "acud", "version": __version__}


def _modern_client(meta: Message) -> McpClient:
    version = meta[f"{_RESERVED}protocolVersion"]
    capabilities = meta.get(f"{_RESERVED}clientCapabilities")
    if not isinstance(version, str) or not _is_capabilities(capabilities):
        words = f"params._meta must have {_RESERVED}protocolVersion (a string) and {_RESERVED}clientCapabilities"
        raise RpcError(INVALID_PARAMS, words)
    if version != MODERN:
        data = {"supported": [MODERN], "requested": version}
        raise RpcError(UNSUPPORTED_VERSION, "Unsupported protocol version", data)
    info = meta.get(f"{_RESERVED}clientInfo")
    if info is not None and not _is_named(info):
        words = f"{_RESERVED}clientInfo must have name and version"
        raise RpcError(INVALID_PARAMS, words)
    return McpClient(version, info["name"] if info else "", capabilities.get("extensions", {}))


def _legacy_client(request: Message) -> McpClient:
    version, info = request.get("protocolVersion"), request.get("clientInfo")
    if not isinstance(version, str) or not _is_capabilities(request.get("capabilities")) or not _is_named(info):
        words = "initialize takes protocolVersion, capabilities, and clientInfo with name and version"
        raise RpcError(INVALID_PARAMS, f"Invalid request parameters: {words}")
    return McpClient(version if version in VERSIONS else VERSIONS[-1], info["name"], {})


def _is_named(given: Any) -> TypeGuard[Message]:
    return isinstance(given, dict) and all(isinstance(given.get(name), str) for name in ("name", "version"))


def _is_capabilities(given: Any) -> TypeGuard[dict[str, Message]]:
    return isinstance(given, dict) and all(isinstance(value, dict) for value in given.values())


def standard_streams() -> tuple[BinaryIO, BinaryIO]:
    """Return the connection on standard input and output, which nothing else reads or writes from now on: output of
    libraries goes to standard error.
    """
    reading, writing = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return reading, writing
