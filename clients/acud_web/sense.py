"""/sense: what was seen, in and out."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from acud.errors import InvalidRequest
from acud.protocol import codec
from acud.protocol.requests.commentary import Posted, SenseList, SenseListReply, SensePost
from acud_web import views
from acud_web.answers import answer, fault
from acud_web.request_values import json_object, query_number, whole

_KEPT = ("ocr", "meta", "roi", "diff", "observation")
_LONGEST_OCR = 100_000
_ENVELOPE_BYTES = 1024
"""What the request's id and version take on top of it."""


async def post(request: Request) -> Response:
    """Add an event."""
    posted = await request.state.desk.ask(drafted(await json_object(request)), Posted)
    return answer({"ok": True, "id": posted.id})


def drafted(body: dict[str, Any]) -> SensePost:
    """Return the request for `body`; keys that are not part of an event are left out. Raises: Fault."""
    if not body.get("type") or not body.get("ts"):
        raise fault(400, "missing type or ts")
    given = {name: body[name] for name in _KEPT if body.get(name) is not None}
    if isinstance(given.get("meta"), dict):
        given["meta"] = {name: value for name, value in given["meta"].items() if value is not None}
    if isinstance(given.get("ocr"), str) and len(given["ocr"]) > _LONGEST_OCR:
        raise fault(413, f"ocr is longer than {_LONGEST_OCR} characters")
    try:
        event = codec.convert(
            {"type": "sense_post", "kind": body["type"], "ts": whole("ts", body["ts"]), **given}, SensePost
        )
    except InvalidRequest as found:
        raise fault(400, found.message.replace("kind:", "type:", 1)) from None
    if len(codec.encode(event)) + _ENVELOPE_BYTES > codec.MAX_MESSAGE_BYTES:
        raise fault(413, f"an event with its pictures may take {codec.MAX_MESSAGE_BYTES} bytes")
    return event


async def get(request: Request) -> Response:
    """List events with an id above `after`, oldest first; with `meta_only=true` without the pictures themselves."""
    after = max(0, query_number(request, "after", 0))
    meta_only = request.query_params.get("meta_only") == "true"
    found = await request.state.desk.ask(SenseList(after, meta_only), SenseListReply)
    return answer({"events": [views.event(event) for event in found.events]})
