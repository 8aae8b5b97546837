"""Fixtures for tests against real X servers."""

from tests.fixtures.x_servers import desktop, painter, store, xserver

__all__ = ["desktop", "painter", "store", "xserver"]
