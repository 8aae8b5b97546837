"""`python -m acud.evaluator`: wires an evaluator from its bootstrap and serves until told to stop."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

from acud import process
from acud.errors import ProtocolError
from acud.evaluator.accessibility.mirrors import AtSpiProvider
from acud.evaluator.desk import Desk
from acud.evaluator.grounding import methods
from acud.evaluator.memory import keep_freed_memory
from acud.evaluator.ocr.reading import TextReading
from acud.evaluator.redact import Redactor
from acud.evaluator.room import Room
from acud.evaluator.secure import SecureFields
from acud.evaluator.service import Incoming, Service
from acud.evaluator.vision import judges
from acud.process import AsyncChild
from acud.protocol.bootstrap import Bootstrap, EvaluatorOptions


def main(bootstrap: Bootstrap) -> None:
    """Serve as `bootstrap` says. Raises: ProtocolError when it is meant for another kind of child."""
    if not isinstance(bootstrap.options, EvaluatorOptions):
        raise ProtocolError("the bootstrap of an evaluator holds options of another child")
    keep_freed_memory()
    asyncio.run(_serve(bootstrap, bootstrap.options))


async def _serve(bootstrap: Bootstrap, options: EvaluatorOptions) -> None:
    async with AsyncExitStack() as stack:
        child: AsyncChild[Incoming] = await stack.enter_async_context(AsyncChild(bootstrap, Incoming))
        text = TextReading(options.ocr) if options.owns_ocr else None
        models = judges.models(options.backends, options.vision, options.keys, options.prices, options.call_share)
        desk = Desk(judges.make(options.vision, options.prices, models), options.vision.chain(), text)
        mirrors = AtSpiProvider(options.accessibility.mirror_ttl_s)
        stack.push_async_callback(mirrors.close)
        fields = SecureFields(options.accessibility, mirrors)
        stack.push_async_callback(fields.close)
        redactor = Redactor(options.redaction, text, fields)
        room = Room(options, desk, text, methods.make(options, text, models, redactor), redactor, mirrors)
        stack.push_async_callback(room.close)
        await Service(
            child,
            room,
            owns_ocr=options.owns_ocr,
            max_jobs=options.max_jobs,
            health_interval_s=options.vision.health_interval_s,
        ).run()


if __name__ == "__main__":
    process.run(main)
