"""The features of an evaluator: its process is put together of the core's parts and those of the features that are on.

Each is imported where it is made, so one that is off is not loaded.
"""

from __future__ import annotations

from contextlib import AsyncExitStack
from importlib import import_module

from acud.base.extras import is_installed
from acud.config import AccessibilitySettings, RedactionSettings
from acud.evaluator.accessibility.provider import AtSpiProvider
from acud.evaluator.context import EvaluatorContext
from acud.evaluator.judges import registry
from acud.evaluator.judges.registry import JudgeRegistry
from acud.evaluator.ocr.reader import TextReading
from acud.evaluator.ports import JobAnswerer, PassthroughRedactor, Redactor
from acud.evaluator.view_pixels import Frames
from acud.protocol.bootstrap import EvaluatorOptions

if is_installed("actions"):
    import_module("acud.evaluator.accessibility.mirror")  # once, in the process that evaluators are forked from


def build_context(options: EvaluatorOptions, stack: AsyncExitStack, frames: Frames | None = None) -> EvaluatorContext:
    """Return the context; leaving `stack` closes it. `frames`: as in `EvaluatorContext`."""
    on = options.features
    text = TextReading(options.ocr) if options.owns_ocr else None
    models = registry.make_models(options.backends, options.vision, options.keys, options.prices, options.call_share)
    judges = registry.make_judges(options.vision, options.prices, models)
    mirrors = AtSpiProvider(options.accessibility.mirror_ttl_s)
    stack.push_async_callback(mirrors.close)
    redactor: Redactor = PassthroughRedactor()
    answerers: dict[str, JobAnswerer] = {}
    has_widgets = is_installed("actions")
    if on.redaction:
        redactor = make_redactor(options.redaction, options.accessibility, text, mirrors, stack)
    if on.fleet:
        from acud.features.fleet.evaluator import FleetJudge

        fleet = FleetJudge(options.fleet, options.jobs, options.vision)
        judges[fleet.name] = fleet
    if on.actions and has_widgets:
        from acud.features.actions.evaluator.observer import WidgetObserver

        observer = WidgetObserver(options.accessibility, text, redactor)
        stack.push_async_callback(observer.close)
        answerers["observe"] = observer.answer
    if on.grounding and has_widgets:
        from acud.features.grounding.evaluator.cascade import make_cascade

        cascade = make_cascade(options, text, models, redactor)
        stack.push_async_callback(cascade.close)
        answerers["find"] = cascade.answer
    if on.scene and has_widgets:
        from acud.features.scene.evaluator.description import describe
        from acud.features.scene.evaluator.reader import make_reader

        scenes = make_reader(options.accessibility, text, mirrors, redactor)
        stack.push_async_callback(scenes.close)
        answerers |= {"describe": describe, "scene": scenes.answer}
    registered = JudgeRegistry(judges, options.vision.chain(), text)
    context = EvaluatorContext(options, registered, text, redactor, answerers, frames, mirrors)
    stack.push_async_callback(context.close)
    return context


def make_redactor(
    settings: RedactionSettings,
    accessibility: AccessibilitySettings,
    text: TextReading | None,
    mirrors: AtSpiProvider,
    stack: AsyncExitStack,
) -> Redactor:
    """Return who decides what may leave this process, closed with `stack`. `text`, `mirrors` are the caller's."""
    from acud.features.redaction.evaluator import RedactionRules

    if not is_installed("redact"):
        return RedactionRules(settings, text)
    from acud.features.redaction.secure_fields import SecureFields

    fields = SecureFields(accessibility, mirrors)
    stack.push_async_callback(fields.close)
    return RedactionRules(settings, text, fields)
