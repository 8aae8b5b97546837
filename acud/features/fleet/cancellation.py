"""Cancelling an asyncio task such that no library swallows its CancelledError."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from typing import Any

_AGAIN_S = 0.2


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


async def cancel_until_done(task: asyncio.Task[Any]) -> None:
    """Cancel `task` and return once it is over, however it ended. It is cancelled until it is: the NATS client loses a
    cancellation that meets an answer, and goes on connecting for ever.
    """
    while not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=_AGAIN_S)
    if not task.cancelled():
        task.exception()  # read it, because nothing else does
