"""What differs between vendors: where a request goes, what it looks like, and how its answer is read."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Annotated, Any, Protocol

from msgspec import Meta, Struct

from acud.agent.chat import ChatCall, ChatMessage
from acud.evaluator.vision.backend import ChatRequest
from acud.evaluator.vision.faults import CallFailed, Usage
from acud.evaluator.vision.judge import Picture
from acud.evaluator.vision.wire import Nothing, Wire

Tokens = Annotated[int, Meta(ge=0, le=1 << 53)]
"""A count as a server tells it. More is no count, and no float or message could carry it."""


class Read(Struct, frozen=True):
    """An answer as read. `code` is "", `truncated` or `refusal`; `model` is the one that answered, "" if not told.

    `thought`: the server told of reasoning before the answer, in a field of its own.
    """

    text: str
    calls: tuple[ChatCall, ...] = ()
    code: str = ""
    reason: str = ""
    model: str = ""
    usage: Usage = Usage()
    thought: bool = False


class Checked(Struct, frozen=True):
    """Who answered a question about health ("" if not told), and what is amiss with the model ("" for nothing)."""

    version: str = ""
    missing: str = ""


class Dialect(Protocol):
    """One vendor's API. Nothing here does I/O but `check`."""

    path: str
    needs_key: bool
    thoughtless: Mapping[str, Any]
    """What a body says to a model that is to answer without reasoning first; empty where nothing need be said."""

    def headers(self, key: str, request: ChatRequest | None = None) -> dict[str, str]:
        """Return the headers of any request, with the key where there is one."""
        ...

    def body(self, request: ChatRequest, model: str) -> dict[str, Any]:
        """Return the body of a chat request. Raises: CallFailed for what this vendor cannot be asked."""
        ...

    def read(self, wire: Wire, text: bytes) -> Read:
        """Return what a 2xx body says. Raises: CallFailed, also for an error inside a 2xx."""
        ...

    async def check(self, wire: Wire, key: str, model: str) -> Checked:
        """Ask whether it is well and has the model, for no money. Raises: CallFailed when it is not well."""
        ...


async def absent(wire: Wire, path: str, headers: dict[str, str], model: str) -> str:
    """Return "" when the entry of `model` at `path` is there, else that it is not. Raises: CallFailed."""
    try:
        await wire.ask("GET", path, Nothing, headers)
    except CallFailed as fault:
        if fault.status != 404:
            raise
        return f"{wire.who} has no model {model}"
    return ""


def base64_of(picture: Picture) -> str:
    """Return the JPEG as base64 text."""
    return base64.b64encode(picture.jpeg).decode()


def last_user(messages: tuple[ChatMessage, ...]) -> int:
    """Return the index of the message that pictures go along with; -1 when no user speaks."""
    return max((index for index, message in enumerate(messages) if message.role == "user"), default=-1)
