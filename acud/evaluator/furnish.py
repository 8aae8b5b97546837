"""An evaluator's room with everything in it, as its options say."""

from __future__ import annotations

from contextlib import AsyncExitStack

from acud.evaluator.accessibility.mirrors import AtSpiProvider
from acud.evaluator.desk import Desk
from acud.evaluator.grounding import methods
from acud.evaluator.ocr.reading import TextReading
from acud.evaluator.redactor import Redactor, SecureFields
from acud.evaluator.rings import Frames
from acud.evaluator.room import Room
from acud.evaluator.vision import judges
from acud.evaluator.vision.fleet import FleetJudge
from acud.protocol.bootstrap import EvaluatorOptions


def furnished(options: EvaluatorOptions, stack: AsyncExitStack, frames: Frames | None = None) -> Room:
    """Return the room; leaving `stack` closes it. `frames`: as in `Room`."""
    text = TextReading(options.ocr) if options.owns_ocr else None
    models = judges.models(options.backends, options.vision, options.keys, options.prices, options.call_share)
    fleet = FleetJudge(options.fleet, options.jobs, options.vision)
    found = judges.make(options.vision, options.prices, models) | {fleet.name: fleet}
    desk = Desk(found, options.vision.chain(), text)
    mirrors = AtSpiProvider(options.accessibility.mirror_ttl_s)
    stack.push_async_callback(mirrors.close)
    fields = SecureFields(options.accessibility, mirrors)
    stack.push_async_callback(fields.close)
    redactor = Redactor(options.redaction, text, fields)
    room = Room(options, desk, text, methods.make(options, text, models, redactor), redactor, mirrors, frames)
    stack.push_async_callback(room.close)
    return room
