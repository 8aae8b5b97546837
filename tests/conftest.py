"""What every test may rely on, however the run was started."""

from __future__ import annotations

import signal

import tests.fixtures.patience  # noqa: F401 - it measures the machine before the workers of a run start

# A run in the background of a shell ignores SIGINT, and so would every program that a test starts and interrupts
# (signal(7): ignored signals stay ignored over execve, handled ones become default).
signal.signal(signal.SIGINT, signal.default_int_handler)
