"""The wire that tests cut: whoever is outside of its namespaces sees nothing come or go."""

from __future__ import annotations

import shutil
import socket
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.wire import NotPermitted, Wire


def _addresses() -> str:
    return subprocess.run(["ip", "-br", "addr"], capture_output=True, check=True, text=True).stdout


@pytest.mark.skipif(shutil.which("ip") is None, reason="no `ip`")
def test_the_machines_own_addresses_stay_as_they_are() -> None:
    with ThreadPoolExecutor(1) as outside:
        before = outside.submit(_addresses).result()  # that thread stays where it began
        try:
            with Wire() as wire:
                assert {name for _, name in socket.if_nameindex()} >= {"lo", "wire"}
                assert wire.address in _addresses()
                wire.cut()
                wire.heal()
                assert outside.submit(_addresses).result() == before
        except NotPermitted as fault:
            pytest.skip(f"network namespaces are not permitted here: {fault}")
        assert _addresses() == before
