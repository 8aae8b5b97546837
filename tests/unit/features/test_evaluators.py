"""An evaluator is made of the features that are on; what is off is not loaded, and says so when it is asked."""

import subprocess
import sys
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from msgspec.structs import replace

from acud.config import FeatureSettings, OcrSettings, VisionSettings
from acud.evaluator.job import run_job
from acud.evaluator.ocr.engine import Line
from acud.evaluator.ports import PassthroughRedactor
from acud.features.evaluators import build_context
from acud.protocol.bootstrap import EvaluatorOptions
from acud.protocol.evaluation import FEATURE_ASKS, Job, JobResult
from acud.protocol.questions import DescribeAsk, View
from acud.types import Rect, RedactedText

HERE = ("actions", "fleet", "grounding", "redaction", "scene")
"""Features with a part in the evaluators."""

LOADED = """
import asyncio, sys
from contextlib import AsyncExitStack
import acud.evaluator.__main__
from acud.config import FeatureSettings, OcrSettings, VisionSettings
from acud.features.evaluators import build_context
from acud.protocol.bootstrap import EvaluatorOptions

async def made(names):
    on = FeatureSettings(**{name: name in names for name in FeatureSettings.__struct_fields__})
    options = EvaluatorOptions(VisionSettings(), OcrSettings(), False, "/tmp", "/tmp", 8, 320, features=on)
    async with AsyncExitStack() as stack:
        build_context(options, stack)

asyncio.run(made(sys.argv[1:]))
parts = [name.split(".")[2:4] for name in sys.modules if name.startswith("acud.features.")]
print(*sorted({part[0] for part in parts if part[1:] not in ([], ["settings"])}))
"""


def load(*on: str) -> list[str]:
    """Return the features of which an evaluator process has a module, when those are on."""
    env = {"PYTHONPATH": ".:clients"}
    command = [sys.executable, "-c", LOADED, *on]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=env).stdout.split()


def test_a_process_loads_no_feature_that_is_off() -> None:
    assert load() == []
    assert load("redaction") == ["redaction"]


def test_a_process_loads_the_features_that_are_on() -> None:
    assert load(*FeatureSettings.__struct_fields__) == list(HERE)


@pytest.mark.asyncio
async def test_a_job_of_a_feature_that_is_off_fails_and_says_why(tmp_path: Path) -> None:
    off = replace(FeatureSettings(), **dict.fromkeys(HERE, False))
    options = EvaluatorOptions(
        VisionSettings(), OcrSettings(), False, str(tmp_path), str(tmp_path), 8, 320, features=off
    )
    job = Job("j1", View(":1"), "/no/ring", 1, 0, describe=DescribeAsk("ollama"))
    async with AsyncExitStack() as stack:
        context = build_context(options, stack)
        assert (context.answerers, context.judges.judge("fleet")) == ({}, None)
        result = await run_job(job, context, lambda _: pytest.fail("it tells a part"))
    assert (result.status, result.reason) == ("failed", "the feature that answers 'describe' is off")


def test_every_ask_of_a_feature_has_its_answer() -> None:
    assert FEATURE_ASKS.keys() <= set(Job.__struct_fields__)
    assert set(FEATURE_ASKS.values()) <= set(JobResult.__struct_fields__)


def test_without_redaction_texts_stay_as_they_are_in_reading_order() -> None:
    first, second = (Line(text, 1.0, Rect(5, y, 80, 10)) for text, y in (("key: hunter2", 5), ("below", 40)))
    plain = PassthroughRedactor()
    assert plain.redact_in_reading_order([second, first]) == [
        (first, RedactedText(first.text)),
        (second, RedactedText("below")),
    ]
    assert plain.redact_texts([first.text]) == [RedactedText(first.text)]
    assert plain.redact_text(first.text) == first.text


@pytest.mark.parametrize("process", ["acud.evaluator", "acud.delivery"])
def test_a_process_that_calls_over_http_does_not_load_httpxs_command_line(process: str) -> None:
    code = f"import sys, {process}.__main__; print('httpx' in sys.modules, 'rich' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True False"
