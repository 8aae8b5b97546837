"""Logs are events: a stable name plus fields, one JSON object a line, on standard error.

The supervisor's standard error and its children's is `$ACU_HOME/logs/debug.log`, opened for appending; a line is one
write. Never a secret, never a picture, never what a screen shows beyond a verdict's own words.
"""

from __future__ import annotations

import contextlib
import logging
import sys
from typing import Any, TextIO, cast

import structlog


class _Stderr:
    """Standard error, written as well as it can be: a full disk must not end who has something to say about it."""

    def write(self, line: str) -> None:
        """Write a line, or lose it."""
        with contextlib.suppress(OSError):
            sys.stderr.write(line)

    def flush(self) -> None:
        """Do what `write` said."""
        with contextlib.suppress(OSError):
            sys.stderr.flush()


def configure(process: str, *, debug: bool) -> None:
    """Send this process's events to standard error, `info` and above, everything with `debug`."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.DEBUG if debug else logging.INFO),
        logger_factory=structlog.WriteLoggerFactory(file=cast(TextIO, _Stderr())),
        cache_logger_on_first_use=False,
    )
    structlog.contextvars.bind_contextvars(process=process)


def logger(room: str) -> Any:
    """Return a logger whose events name `room`."""
    return structlog.get_logger(room=room)
