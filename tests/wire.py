"""A network namespace and the wire to it: who is in there reaches one address out here, until the link is set down."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from types import TracebackType
from typing import Self


class NotPermitted(Exception):
    """This machine lets nobody make network namespaces; the message says what was tried and why it failed."""


class Wire:
    """Use in `with`. `prefix`: the command that puts a program inside. `address`: where servers out here are to listen,
    an address of the loopback interface, so that it stays whole when the link goes down.
    """

    def __init__(self) -> None:
        chance = random.SystemRandom()
        self._name = f"acud-{os.getpid()}-{chance.randrange(0x1000):x}"
        self._link = f"acud{chance.randrange(0x10000000):x}"
        net = f"10.{chance.randint(64, 250)}.{chance.randint(1, 250)}"
        self.address = f"{net}.200"
        self._near, self._far = f"{net}.1", f"{net}.2"
        self.prefix = ("nsenter", f"--net=/run/netns/{self._name}", "--")

    def __enter__(self) -> Self:
        if shutil.which("ip") is None:  # else undoing what was made would fail for the same reason
            raise NotPermitted("there is no `ip` (Debian: iproute2)")
        try:
            self._make()
        except (OSError, subprocess.CalledProcessError) as fault:
            self.__exit__(None, None, None)
            raise NotPermitted(_words(fault)) from fault
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        for undo in (f"addr del {self.address}/32 dev lo", f"link del {self._link}", f"netns del {self._name}"):
            subprocess.run(["ip", *undo.split()], capture_output=True, check=False)

    def _make(self) -> None:
        _ip(f"netns add {self._name}")
        _ip(f"link add {self._link} type veth peer name inner netns {self._name}")
        _ip(f"addr add {self._near}/25 dev {self._link}")
        _ip(f"addr add {self.address}/32 dev lo")
        _ip(f"link set {self._link} up")
        inside = f"-n {self._name}"
        _ip(f"{inside} link set lo up")
        _ip(f"{inside} addr add {self._far}/25 dev inner")
        _ip(f"{inside} link set inner up")
        _ip(f"{inside} route add {self.address}/32 via {self._near}")

    def cut(self) -> None:
        """Set the link down: connections stay open on both sides, and nothing comes any more."""
        _ip(f"link set {self._link} down")

    def heal(self) -> None:
        """Set the link up."""
        _ip(f"link set {self._link} up")


def _ip(words: str) -> None:
    subprocess.run(["ip", *words.split()], capture_output=True, check=True, text=True)


def _words(fault: OSError | subprocess.CalledProcessError) -> str:
    if isinstance(fault, subprocess.CalledProcessError):
        return f"{' '.join(fault.cmd)}: {str(fault.stderr).strip()}"
    return f"ip: {fault}"
