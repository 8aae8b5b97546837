"""Every request has one declaration, one handler and a documented type."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

from acud.features.supervisors import FEATURES
from acud.protocol import requests
from acud.protocol.requests import BY_NAME, REQUESTS
from acud.protocol.requests.daemon import Status
from acud.supervisor.control import handles
from acud.supervisor.handlers import HANDLERS

for feature in FEATURES:
    importlib.import_module(feature.module)


def test_a_request_is_handled_in_the_feature_that_it_names() -> None:
    for name, handler in HANDLERS.items():
        feature = BY_NAME[name].feature
        home = f"acud.features.{feature}.supervisor" if feature else "acud.supervisor.handlers"
        assert handler.__module__.startswith(home), name


def test_every_request_has_exactly_one_handler() -> None:
    assert HANDLERS.keys() == BY_NAME.keys()
    with pytest.raises(ValueError, match="status has two handlers"):
        handles(Status)(HANDLERS["status"])


def test_a_request_is_declared_in_the_file_that_holds_its_type() -> None:
    for noun in pkgutil.iter_modules(requests.__path__, f"{requests.__name__}."):
        for command in getattr(importlib.import_module(noun.name), "COMMANDS", ()):
            assert command.request.__module__ == noun.name


def test_every_request_and_reply_is_documented() -> None:
    for spec in REQUESTS:
        assert spec.request.__doc__
        assert spec.reply.__doc__


def test_a_handler_takes_its_request() -> None:
    for name, handler in HANDLERS.items():
        assert handler.__annotations__["request"] == BY_NAME[name].request.__name__
