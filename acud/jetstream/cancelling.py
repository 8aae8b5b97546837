"""Cancellation that is not lost on the way."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator


@contextlib.contextmanager
def cancellation_kept() -> Iterator[None]:
    """Around calls of libraries that use `asyncio.wait_for`: raise the cancellation that came within and was lost.

    In Python 3.11 `wait_for` returns a result that meets a cancellation and forgets the latter (mended in 3.12); a loop
    around it then never ends. Our own code uses `asyncio.timeout`, which does not. Raises: CancelledError.
    """
    task = asyncio.current_task()
    assert task is not None
    before = task.cancelling()
    try:
        yield
    finally:
        if task.cancelling() > before:
            raise asyncio.CancelledError
