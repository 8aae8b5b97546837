"""What every test may rely on, however the run was started."""

from __future__ import annotations

import signal

from hypothesis import HealthCheck, settings

# A run in the background of a shell ignores SIGINT, and so would every program that a test starts and interrupts
# (signal(7): ignored signals stay ignored over execve, handled ones become default).
signal.signal(signal.SIGINT, signal.default_int_handler)

# A machine that others use, too, may take any time for any example: what is found is never that one was slow.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")
