"""Logs are events: a stable name plus fields, one JSON object a line, on standard error.

The supervisor's standard error and its children's is `$ACU_HOME/logs/debug.log`, opened for appending; a line is one
write. Never a secret, never a picture, never a screen's content beyond a verdict's own words.

The standard library's logging writes it: structlog took 12 MB and 60 ms in each process that imports it, and there is
one capture process for each display.
"""

from __future__ import annotations

import contextlib
import logging
import sys
from datetime import UTC, datetime
from typing import Any

import msgspec

_ROOT = "acud"


class EventLogger:
    """Logs events of one room; every field is a keyword."""

    def __init__(self, room: str) -> None:
        self._logger = logging.getLogger(f"{_ROOT}.{room}")

    def debug(self, event: str, **fields: Any) -> None:
        """Log a detail for finding faults."""
        self._log(logging.DEBUG, event, fields)

    def info(self, event: str, **fields: Any) -> None:
        self._log(logging.INFO, event, fields)

    def warning(self, event: str, **fields: Any) -> None:
        """Log a fault that acud has mended or worked around."""
        self._log(logging.WARNING, event, fields)

    def error(self, event: str, **fields: Any) -> None:
        """Log a fault that a person has to look at."""
        self._log(logging.ERROR, event, fields)

    def exception(self, event: str, **fields: Any) -> None:
        """Log an error with the traceback of the exception that is being handled."""
        self._log(logging.ERROR, event, fields, with_traceback=True)

    def _log(self, level: int, event: str, fields: dict[str, Any], *, with_traceback: bool = False) -> None:
        if self._logger.isEnabledFor(level):
            self._logger.log(level, event, extra={"fields": fields}, exc_info=with_traceback)


class _JsonLines(logging.Formatter):
    """One JSON object a line; a value that is not JSON is written as its repr."""

    def __init__(self, process: str) -> None:
        super().__init__()
        self._process = process

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "timestamp": datetime.fromtimestamp(record.created, UTC).isoformat().replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "process": self._process,
            "room": record.name.removeprefix(f"{_ROOT}."),
            "event": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return msgspec.json.encode(line, enc_hook=repr).decode()


class _Stderr(logging.Handler):
    """Standard error, written on a best-effort basis: a full disk must not end the process that logs."""

    def emit(self, record: logging.LogRecord) -> None:
        line = self.format(record) + "\n"
        with contextlib.suppress(OSError):
            sys.stderr.write(line)
            sys.stderr.flush()


def configure(process: str, *, debug: bool) -> None:
    """Send this process's events to standard error, `info` and above, everything with `debug`."""
    handler = _Stderr()
    handler.setFormatter(_JsonLines(process))
    root = logging.getLogger(_ROOT)
    root.handlers, root.propagate = [handler], False
    root.setLevel(logging.DEBUG if debug else logging.INFO)


def logger(room: str) -> EventLogger:
    return EventLogger(room)
