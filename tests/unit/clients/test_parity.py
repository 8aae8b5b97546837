"""Both clients have one method per request, with the request's own fields, defaults and reply."""

import inspect
import typing

import msgspec
import pytest

from acud.protocol.requests import REQUESTS, Command
from acud_client.aio import AsyncClient
from acud_client.sync import Client
from scripts import client_methods

NAMES = [spec.name for spec in REQUESTS]


@pytest.mark.parametrize("spec", REQUESTS, ids=NAMES)
def test_a_method_mirrors_its_request(spec: Command) -> None:
    method = getattr(Client, spec.name)
    given = list(inspect.signature(method).parameters.values())[1:]
    fields = msgspec.structs.fields(spec.request)
    assert [p.name for p in given] == [f.name for f in fields]
    for parameter, field in zip(given, fields, strict=True):
        required = field.default is msgspec.NODEFAULT and field.default_factory is msgspec.NODEFAULT
        assert (parameter.default is inspect.Parameter.empty) == required
        if not required and field.default is not msgspec.NODEFAULT:
            assert parameter.default == field.default
    assert typing.get_type_hints(method)["return"] is spec.reply


@pytest.mark.parametrize("name", [*NAMES, "ask", "wait_end"])
def test_the_async_client_is_the_same(name: str) -> None:
    sync, other = getattr(Client, name), getattr(AsyncClient, name)
    assert inspect.iscoroutinefunction(other)
    assert inspect.signature(sync) == inspect.signature(other)
    assert name == "ask" or sync.__doc__ == other.__doc__


def test_the_generated_methods_are_what_the_requests_declare() -> None:
    assert client_methods.PAGE.read_text() == client_methods.rendered()
