"""A cancellation that meets a result is not lost."""

import asyncio
import contextlib
import sys

import pytest

from acud.features.fleet.cancellation import cancel_until_done, cancellation_kept


async def _meet(*, kept: bool) -> asyncio.Task[str]:
    """Cancel a task in the turn in which what it waits for has come, and let it end."""
    coming: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def wait() -> str:
        if not kept:
            return await asyncio.wait_for(coming, 30)
        with cancellation_kept():
            return await asyncio.wait_for(coming, 30)

    task = asyncio.create_task(wait())
    await asyncio.sleep(0)
    coming.set_result("came")
    task.cancel()
    await asyncio.wait({task})
    return task


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="mended there")
def test_python_loses_it() -> None:
    assert not asyncio.run(_meet(kept=False)).cancelled()


def test_it_is_kept() -> None:
    assert asyncio.run(_meet(kept=True)).cancelled()


def test_it_is_kept_though_the_call_fails() -> None:
    async def wait() -> None:
        with cancellation_kept():
            try:
                await asyncio.sleep(30)
            except asyncio.CancelledError:
                raise OSError("the server is gone") from None

    async def run() -> asyncio.Task[None]:
        task = asyncio.create_task(wait())
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait({task})
        return task

    assert asyncio.run(run()).cancelled()


def test_what_is_done_after_a_cancellation_goes_on() -> None:
    told: list[str] = []

    async def wait() -> None:
        try:
            await asyncio.sleep(30)
        finally:
            with cancellation_kept():
                await asyncio.sleep(0)
            told.append("given back")

    async def run() -> None:
        task = asyncio.create_task(wait())
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait({task})
        assert task.cancelled()

    asyncio.run(run())
    assert told == ["given back"]


def test_what_loses_a_cancellation_is_ended_by_the_next() -> None:
    async def connect() -> None:
        for _ in range(2):
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(30)
        await asyncio.sleep(30)

    async def fail() -> None:
        raise OSError("nobody looks")

    async def run() -> tuple[bool, bool]:
        tasks = asyncio.create_task(connect()), asyncio.create_task(fail())
        await asyncio.sleep(0)
        async with asyncio.timeout(20):
            for task in tasks:
                await cancel_until_done(task)
        return tasks[0].cancelled(), tasks[1].done()

    assert asyncio.run(run()) == (True, True)
