"""A conversation with a chat model that may call tools, as frozen values."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct


class ChatCall(Struct, frozen=True, forbid_unknown_fields=True):
    """A tool call that a model asked for; `arguments` is its JSON text, unchecked. `signature`: what the vendor wants
    back with it in the next turn ("" for nothing).
    """

    call_id: str
    name: str
    arguments: str
    signature: str = ""


class ChatMessage(Struct, frozen=True, forbid_unknown_fields=True):
    """One message of a conversation. `tool` messages answer the call `call_id`; `calls` are the assistant's.

    `quotes`: it holds words from a screen, which are redacted before they leave this machine.
    """

    role: Literal["user", "assistant", "tool"]
    text: str = ""
    calls: tuple[ChatCall, ...] = ()
    call_id: str = ""
    quotes: bool = False


class ChatTool(Struct, frozen=True, forbid_unknown_fields=True):
    """A tool a model may call; `schema` is the JSON Schema of its arguments, as JSON text."""

    name: str
    description: str
    schema: str
