"""Fixtures for tests against real X servers."""

from collections.abc import Iterator

import pytest

from tests.integration.xserver import XServer


@pytest.fixture
def xserver() -> Iterator[XServer]:
    """A private 640x480x24 Xvfb, ended with the test."""
    with XServer() as server:
        yield server
