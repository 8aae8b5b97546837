"""`python -m acud.evaluator`: wires an evaluator from its bootstrap and serves until it receives `Stop`."""

from __future__ import annotations

import asyncio
import sys
from contextlib import AsyncExitStack

from acud.base.errors import ProtocolError
from acud.evaluator.memory import keep_freed_memory
from acud.evaluator.service import EvaluatorService, Incoming
from acud.features.evaluators import build_context
from acud.process import child_process
from acud.process.async_child import AsyncChild
from acud.protocol.bootstrap import Bootstrap, EvaluatorOptions

_SWITCH_S = 0.0005
"""How long a thread keeps the interpreter while another wants it (seconds). With CPython's 5 ms, a thread that writes
evidence waits so long after each of its system calls beside a loop that reads many answers.
"""


def main(bootstrap: Bootstrap) -> None:
    """Serve with the options of `bootstrap`. Raises: ProtocolError when it is meant for another kind of child."""
    if not isinstance(bootstrap.options, EvaluatorOptions):
        raise ProtocolError("the bootstrap of an evaluator holds options of another child")
    keep_freed_memory()
    sys.setswitchinterval(_SWITCH_S)
    asyncio.run(_run_service(bootstrap, bootstrap.options))


async def _run_service(bootstrap: Bootstrap, options: EvaluatorOptions) -> None:
    async with AsyncExitStack() as stack:
        child: AsyncChild[Incoming] = await stack.enter_async_context(AsyncChild(bootstrap, Incoming))
        context = build_context(options, stack)
        await EvaluatorService(
            child,
            context,
            owns_ocr=options.owns_ocr,
            max_jobs=options.max_jobs,
            health_interval_s=options.vision.health_interval_s,
        ).run()


if __name__ == "__main__":
    child_process.run(main)
