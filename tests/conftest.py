"""What every test may rely on, however the run was started."""

from __future__ import annotations

import gc
import signal

import tests.fixtures.patience  # noqa: F401 - it measures the machine before the workers of a run start

# A run in the background of a shell ignores SIGINT, and so would every program that a test starts and interrupts
# (signal(7): ignored signals stay ignored over execve, handled ones become default).
signal.signal(signal.SIGINT, signal.default_int_handler)

# A run holds millions of objects until its end, of which collecting looks at many again and again: 5 % of its time.
gc.set_threshold(20_000, 20, 20)


def pytest_collection_finish() -> None:
    """Leave what was imported and collected to its place."""
    gc.freeze()
