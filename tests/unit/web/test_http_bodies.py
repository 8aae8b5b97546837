"""What the listener makes of bodies and values, and what it tells of costs."""

import asyncio
from collections.abc import MutableMapping
from typing import Any

import msgspec
import pytest
from starlette.requests import Request

from acud.base import errors
from acud.protocol.requests.commentary import AnalysisStatusReply
from acud.types.commentary import AnalysisConfig, AnalysisContext, AnalysisResult
from acud_http.errors import ENDPOINT_ERRORS, HttpFault
from acud_web import http_endpoints
from acud_web.application import router
from acud_web.route_table import json_object, number, parse_object, whole


@pytest.mark.parametrize(
    ("given", "read"), [(5, 5), ("5", 5), ("-5", -5), (5.9, 5), ("5.9", 5), ("1e3", 1000), (2**53, 2**53)]
)
def test_whole_numbers(given: Any, read: int) -> None:
    assert whole("n", given) == read


@pytest.mark.parametrize("given", ["", "x", "5 apples", "nan", "inf", True, None, [5], 2**54, "9" * 400, 1e300])
def test_what_is_no_number_is_refused_by_name(given: Any) -> None:
    with pytest.raises(HttpFault, match=r"^n is (not a number|out of range)$"):
        number("n", given)


@pytest.mark.parametrize("depth", [62, 63])
def test_depth_has_a_limit(depth: int) -> None:
    data = b'{"a":' * depth + b"1" + b"}" * depth
    assert parse_object(data)
    with pytest.raises(HttpFault, match="nested too deeply"):
        parse_object(b'{"a":' * 64 + b"1" + b"}" * 64)


def test_a_body_that_does_not_come_gives_up_its_place() -> None:
    async def never() -> MutableMapping[str, Any]:
        await asyncio.Event().wait()
        raise AssertionError

    request = Request({"type": "http", "method": "POST", "headers": []}, never)
    with pytest.raises(HttpFault) as caught:
        asyncio.run(json_object(request, read_s=0.01))
    assert caught.value.status == 408


def test_costs_have_six_places_and_unknown_ones_are_null() -> None:
    context = AnalysisContext("xterm", 0, 1)
    known = AnalysisResult(1, 2, "Typing.", context, True, "m", 3, 280, 24, 0.0000376004)
    assert http_endpoints.result_view(known)["cost"] == 0.000038
    assert http_endpoints.result_view(msgspec.structs.replace(known, cost_usd=None, tokensIn=None))["cost"] is None
    status = AnalysisStatusReply(15, 30, AnalysisConfig(), "m", 142, 39_200, 3_400, 0.005280001, 1, 10_000, "", known)
    told = http_endpoints.health_view(status)
    assert told["agent"]["estimatedCost"] == 0.00528
    assert told["agent"]["totalTokens"] == {"in": 39_200, "out": 3_400}
    assert told["agent"]["unpricedCalls"] == 1
    assert told["agent"]["lastAnalysis"] == 2


@pytest.mark.parametrize(("found", "status"), [
    (errors.DaemonDown("the acud daemon is not running", hint="acud daemon start"), 503),
    (errors.StoreUnavailable("the disk is full"), 503), (errors.InvalidRequest("text: too long"), 400),
    (errors.NotFound("no such thing"), 404), (errors.Refused("no"), 403),
    (errors.ProtocolError("no acud there"), 502), (errors.InternalError("a fault"), 500),
])  # fmt: skip
def test_every_error_has_a_status_and_its_reason(found: errors.AcudError, status: int) -> None:
    told = ENDPOINT_ERRORS.response(ENDPOINT_ERRORS.as_fault(found))
    body = msgspec.json.decode(told.body)
    assert told.status_code == status
    assert (body["ok"], body["error"], body["code"]) == (False, found.message, found.code)
    assert body.get("hint", "") == found.hint


def test_a_fault_of_the_listener_is_told_as_one() -> None:
    sent: list[MutableMapping[str, Any]] = []

    async def receive() -> MutableMapping[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": "/health", "query_string": b"", "headers": [], "state": {}}
    with pytest.raises(AttributeError):  # goes on to the server, which logs it
        asyncio.run(router(http_endpoints.ROWS, ENDPOINT_ERRORS)(scope, receive, send))
    assert sent[0]["status"] == 500
    assert msgspec.json.decode(sent[1]["body"])["ok"] is False
