"""One daemon with one managed display for the tests that only talk to it; those that break things start their own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from acud.types import DisplayInfo
from tests.daemon import Daemon

SCRIPTED = '[vision]\nbackend = "scripted"\nscripted = \'{"default": "no"}\'\n'
BARE = '[display]\nwindow_manager = "none"\nsession_bus = false\n'


@pytest.fixture(scope="module")
def daemon() -> Iterator[Daemon]:
    """A daemon with the scripted judge, which says no."""
    with Daemon(settings=SCRIPTED + BARE) as running:
        yield running


@pytest.fixture(scope="module")
def display(daemon: Daemon) -> DisplayInfo:
    """A managed display of 320x240."""
    return daemon.client.display_create(320, 240).display
