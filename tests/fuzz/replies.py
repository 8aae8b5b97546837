"""What servers answer: X servers, applications on the accessibility bus, clients and servers that speak HTTP."""

from __future__ import annotations

import asyncio
import struct
from typing import Any

import msgspec
from dbus_fast import Message, MessageType, Variant

from acud.base.errors import AcudError
from acud.config import VisionSettings
from acud.config.backends import PREDEFINED
from acud.evaluator.accessibility.bus import BusConnection, NoAnswer
from acud.evaluator.accessibility.listener import DoubtfulWidgets
from acud.evaluator.accessibility.widget import Ref, WidgetClient
from acud.evaluator.judges.http import HttpExchange
from acud.evaluator.judges.registry import make_models
from acud.protocol import codec
from acud.x11 import grab, keyboard
from acud.x11.wire import PackedQuery
from acud_http.errors import HttpFault
from acud_web.route_table import parse_object
from tests.fuzz.decoder import Decoder

_REPLY = 32
"""Bytes of the shortest reply; python-xlib reads no less (X protocol, appendix B)."""


def _x(data: bytes) -> None:
    raw = data.ljust(_REPLY, b"\0")
    for shape in (keyboard.KEYBOARD_STATE, grab.IMAGE_SIZE, grab.SHM_VERSION, struct.Struct("=xB")):
        asked = PackedQuery.__new__(PackedQuery)
        asked._shape = shape
        asked._parse_response(raw)


class _Bus:
    """A bus on which every call gets the same answer."""

    connected = True

    def __init__(self, signature: str, body: list[Any]) -> None:
        self._answer = Message(message_type=MessageType.METHOD_RETURN, reply_serial=1, signature=signature, body=body)

    async def call(self, message: Message) -> Message:
        return self._answer

    async def wait_for_disconnect(self) -> None:
        await asyncio.Event().wait()


_SIGNATURES = ("", "u", "s", "i", "v", "au", "(iiii)", "a(so)", "a{ss}", "a(ua(so))", "a(sss)", "as", "d", "b", "av")
_ASKED = ("states", "widget", "name", "description", "children", "text", "placeholder", "label", "actions", "toolkit")


async def _ask_all(connection: BusConnection) -> None:
    for gtk in (False, True):
        asker = WidgetClient(connection, is_gtk_4=gtk)
        for name in _ASKED:
            try:
                await getattr(asker, name)(Ref(":1.7", "/a"))
            except (AcudError, NoAnswer):
                continue


def _accessibility(data: bytes) -> None:
    """Have an application answer every question with one value of one type, whatever was asked."""
    value = codec.unpack(data[1:])
    signature = _SIGNATURES[(data[0] if data else 0) % len(_SIGNATURES)]
    body = [_as(signature, value)] if signature else []
    DoubtfulWidgets().add("org.a11y.atspi.Event.Object", "StateChanged", "/a", body)

    async def run() -> None:
        connection = BusConnection(_Bus(signature, body), "the bus")  # type: ignore[arg-type]
        try:
            await _ask_all(connection)
        finally:
            connection._end.cancel()

    asyncio.run(run())


def _as(signature: str, value: Any) -> Any:
    """Return a value as the bus would hand it over: right for its signature, with what `value` holds in it."""
    number = value if isinstance(value, int) else len(str(value))
    small, words = number % 2**31, str(value)
    kinds: dict[str, Any] = {
        "u": small,
        "i": -small,
        "s": words,
        "d": float(small),
        "b": bool(number),
        "v": Variant("i", small) if number % 2 else Variant("s", words),
        "au": [small] * (number % 4),
        "as": [words] * (number % 4),
        "av": [Variant("u", small)] * (number % 4),
        "(iiii)": [small, -small, small, 0],
        "a(so)": [[words, "/x"], ["", "/null"]][: number % 3],
        "a{ss}": {"placeholder": words},
        "a(ua(so))": [[2, [[words, "/x"]]]][: number % 2],
        "a(sss)": [[words, "", ""]] * (number % 3),
    }
    return kinds[signature]


def _accessibility_seeds() -> list[bytes]:
    values = [msgspec.msgpack.encode(one) for one in (0, 1, 2, 3, 2**40 + 1, "words", None)]
    return [bytes([place]) + value for place in range(len(_SIGNATURES)) for value in values]


_MODELS = make_models(PREDEFINED, VisionSettings(), {}, {})


def _model_answers(data: bytes) -> None:
    """Read an answer's body as each backend's dialect does; an error's words as well."""
    for model in _MODELS.values():
        wire: HttpExchange = model._wire
        try:
            model._dialect.read(wire, data)
        except AcudError:
            continue


_ANSWERS: tuple[dict[str, Any], ...] = (
    {"model": "m", "message": {"role": "assistant", "content": "YES: x"}, "done": True, "done_reason": "stop"},
    {
        "id": "1",
        "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "NO: x"}}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3, "cost": 0.1},
    },
    {
        "id": "1",
        "type": "message",
        "model": "m",
        "content": [
            {"type": "text", "text": "YES: x"},
            {"type": "tool_use", "id": "t", "name": "computer", "input": {}},
        ],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 1, "output_tokens": 2},
    },
    {"error": {"message": "no", "type": "x", "code": 402}},
)

REPLIES = (
    Decoder("x_replies", _x, lambda: [bytes(32), b"\x01" + bytes(range(60))]),
    Decoder("accessibility", _accessibility, _accessibility_seeds),
    Decoder(
        "http_bodies",
        parse_object,
        lambda: [b'{"a": [1, {"b": null}]}', b'{"tool": "x", "arguments": {"n": 5}}'],
        (HttpFault,),
    ),
    Decoder("model_answers", _model_answers, lambda: [msgspec.json.encode(one) for one in _ANSWERS]),
)
