"""Small file systems that only a daemon sees, in a mount namespace of their own (mount_namespaces(7))."""

from __future__ import annotations

import errno
import os
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Self

import pytest

_HOLD = (
    'for place; do mkdir -p "$place" && mount -t tmpfs -o size=$SIZE,mode=0700 none "$place" || exit 1; done; '
    "echo up; cat"
)


class Mounts:
    """A mount namespace in which each of `places` is an empty tmpfs of `size` (as in tmpfs(5): `8m`). Use in `with`.

    `prefix` makes a command run inside; `outside(path)` is where the test finds `path` of the inside. Skips the test
    when mounting is not permitted (it takes CAP_SYS_ADMIN: root, or a container that grants it).
    """

    def __init__(self, size: str, *places: Path) -> None:
        self._size = size
        self._places = places
        self._holder: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        self._holder = subprocess.Popen(
            ["unshare", "--mount", "sh", "-c", _HOLD, "hold", *map(str, self._places)],
            env={**os.environ, "SIZE": self._size},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert self._holder.stdout is not None
        said = self._holder.stdout.readline().strip()
        if said != "up":
            self.__exit__(None, None, None)
            pytest.skip(f"a mount namespace is not permitted here: {said}")
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        if self._holder is not None:
            self._holder.communicate("")  # the end of its input is its end, and that of its mounts
            self._holder = None

    @property
    def prefix(self) -> tuple[str, ...]:
        """What makes a command run inside, under its own pid."""
        return ("nsenter", f"--mount=/proc/{self._pid}/ns/mnt", "--")

    @property
    def _pid(self) -> int:
        assert self._holder is not None
        return self._holder.pid

    def outside(self, path: Path) -> Path:
        """Return where `path` of the inside is found from outside."""
        return Path(f"/proc/{self._pid}/root") / path.relative_to("/")

    def run(self, *command: str) -> None:
        """Run a command inside."""
        subprocess.run([*self.prefix, *command], check=True, capture_output=True)


class Ballast:
    """A file that takes all the room that is left in `folder`."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "ballast"

    def fill(self) -> None:
        """Take every free page; what was taken before stays."""
        with self._path.open("ab", buffering=0) as file:
            for size in (1 << 20, 1 << 16, 1 << 12):
                try:
                    while file.write(b"\0" * size):
                        pass
                except OSError as fault:
                    if fault.errno != errno.ENOSPC:
                        raise

    def drop(self) -> None:
        """Give the room back."""
        self._path.unlink(missing_ok=True)
