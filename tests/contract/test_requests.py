"""Every request has one handler, one file on each side, and a documented type."""

from __future__ import annotations

import importlib
import pkgutil

from acud.protocol import requests
from acud.protocol.requests import BY_NAME, REQUESTS
from acud.supervisor.commands import COMMANDS, handlers


def test_every_request_has_exactly_one_handler() -> None:
    assert handlers().keys() == BY_NAME.keys()
    assert len(COMMANDS) == len(REQUESTS)


def test_a_request_is_declared_in_the_file_that_holds_its_type() -> None:
    for noun in pkgutil.iter_modules(requests.__path__, f"{requests.__name__}."):
        for command in getattr(importlib.import_module(noun.name), "COMMANDS", ()):
            assert command.request.__module__ == noun.name


def test_every_request_and_reply_is_documented() -> None:
    for spec in REQUESTS:
        assert spec.request.__doc__
        assert spec.reply.__doc__


def test_a_handler_takes_the_request_of_its_name() -> None:
    for command in COMMANDS:
        name = command.__name__.rpartition(".")[2]
        assert command.handle.__annotations__["request"] == BY_NAME[name].request.__name__
