"""JSON-RPC 2.0 as MCP has it on standard input and output: one message a line; and the errors of the protocol."""

from __future__ import annotations

import json
from typing import Any, NamedTuple, NoReturn

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
MISSING_CAPABILITY = -32021
"""The client did not declare a capability or extension on its request."""
UNSUPPORTED_VERSION = -32022

Message = dict[str, Any]
RequestId = str | int


class RpcError(Exception):
    """The error that answers a request in place of a result."""

    def __init__(self, code: int, message: str, data: Any = None, request_id: RequestId | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data
        self.request_id = request_id
        """Of a message that is no request, as far as its id could be read."""


class Request(NamedTuple):
    """A request; with `request_id` None a notification, which gets no answer."""

    request_id: RequestId | None
    method: str
    params: Message


def parse(line: bytes) -> Request | None:
    """Return the message in `line`, None for an empty line and for an answer: this server asks nothing.

    Raises: RpcError for what is no message.
    """
    if not line.strip():
        return None
    try:
        message = json.loads(line, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as fault:
        raise RpcError(PARSE_ERROR, f"the line is not JSON: {fault}") from fault
    if not isinstance(message, dict):
        raise RpcError(INVALID_REQUEST, "a message is one JSON object in one line; batches are not taken")
    given_id = message.get("id")
    known_id = given_id if isinstance(given_id, str | int) and not isinstance(given_id, bool) else None
    if message.get("jsonrpc") != "2.0":
        raise RpcError(INVALID_REQUEST, 'jsonrpc must be "2.0"', request_id=known_id)
    if "method" not in message and ("result" in message or "error" in message):
        return None
    method, params = message.get("method"), message.get("params", {})
    if not isinstance(method, str):
        raise RpcError(INVALID_REQUEST, "method must be a string", request_id=known_id)
    if "id" in message and known_id is None:
        raise RpcError(INVALID_REQUEST, "id must be a string or a whole number")
    if not isinstance(params, dict):
        raise RpcError(INVALID_REQUEST, "params must be an object", request_id=known_id)
    return Request(known_id, method, params)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON value")


def line_of(message: Message) -> bytes:
    """Return `message` as a line. A lone surrogate, which UTF-8 has not, leaves as JSON's escape of it."""
    try:
        text = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        text = json.dumps(message, separators=(",", ":")).encode()
    return text + b"\n"


def error_line(fault: RpcError, request_id: RequestId | None) -> bytes:
    """Return the answer to the request, or to a message that is none, as a line."""
    error: Message = {"code": fault.code, "message": fault.message}
    if fault.data is not None:
        error["data"] = fault.data
    return line_of({"jsonrpc": "2.0", "id": request_id, "error": error})


def text_param(params: Message, name: str) -> str:
    """Return the string `name` of `params`. Raises: RpcError where there is none."""
    value = params.get(name)
    if not isinstance(value, str):
        raise RpcError(INVALID_PARAMS, f"Invalid request parameters: {name} must be a string")
    return value
