"""docs/fleet-servers.md does what it says: an operator's way with a fleet and its servers, in one shell, on new homes.

With ACUD_TEST_NEWER_NATS=FILE the page's newer nats-server is that program.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.e2e.page_steps import check, printed_by, script, steps_of
from tests.fixtures.numbers import own_number

PAGE = Path(__file__).parents[2] / "docs" / "fleet-servers.md"
_PATIENCE_S = 900.0


@contextmanager
def _ended(env: dict[str, str], folder: Path) -> Iterator[None]:
    """End what the page's last step has ended already when all is well."""
    try:
        yield
    finally:
        for host in ("h1", "h2"):
            if (folder / host).is_dir():
                command = [sys.executable, "-m", "acud_cli", "daemon", "stop"]
                own = env | {"ACU_HOME": str(folder / host)}
                subprocess.run(command, env=own, capture_output=True, timeout=60, check=False)
        for file in folder.glob("*.pid"):
            with suppress(ProcessLookupError, ValueError):
                os.kill(int(file.read_text()), signal.SIGKILL)


@pytest.mark.long
@pytest.mark.timeout(1000)
def test_the_operators_page(tmp_path: Path) -> None:
    of = steps_of(PAGE)
    chance = random.SystemRandom()
    # An address of its own: on 127.0.0.1 another program may take a port before a server does.
    address = ".".join(["127", *(str(chance.randint(1, 254)) for _ in range(3))])
    commands = script(of).replace("127.0.0.1", address)
    commands = commands.replace("newer=nats-server", f"newer={os.environ.get('ACUD_TEST_NEWER_NATS', 'nats-server')}")
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    path = f"{Path(sys.executable).parent}:{kept.pop('PATH')}"
    displays = {"ACU_DISPLAY_FIRST_NUMBER": str(own_number()), "ACU_DISPLAY_WINDOW_MANAGER": "none"}
    env = kept | displays | {"PATH": path, "TMPDIR": str(tmp_path)}
    folder, output = tmp_path / "fleet", tmp_path / "output"
    folder.mkdir()
    began_s = time.monotonic()
    # A file, not a pipe: programs that a step leaves running hold it, and nobody must wait for them.
    errors = tmp_path / "errors"  # what the clients' libraries say of servers that are away, among others
    with output.open("w", encoding="utf-8") as words, errors.open("wb") as said, _ended(env, folder):
        try:
            subprocess.run(
                ["bash", "-c", commands], cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=words, stderr=said,
                timeout=_PATIENCE_S, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            pytest.fail(f"a step did not end; so far:\n{output.read_text()}\n{errors.read_text()}")
    check(of, printed_by(output.read_text(encoding="utf-8"), of))
    print(f"the page took {time.monotonic() - began_s:.0f} s")
