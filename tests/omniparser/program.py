"""Runs OmniParser's real code on tiny models, in a process that has its libraries; prints what happened as JSON.

Called by tests/integration/test_omniparser.py with a folder to work in: `make` puts the models there, `run` finds with
them in a new process, so that whatever their libraries do when they are imported is seen.
"""

from __future__ import annotations

import asyncio
import json
import socket
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from acud.base.errors import Unavailable
from acud.config import GroundingSettings
from acud.evaluator.ocr.engine import Line
from acud.evaluator.view_pixels import ViewPixels
from acud.features.grounding.evaluator import omniparser
from acud.features.grounding.evaluator.omniparser import OmniparserMethod
from acud.types import Rect
from tests.fixtures.scripted_backend import ScriptedBackend
from tests.unit.features.grounding.rig import as_it_is, ask, sight

OUTSIDE: list[str] = []
"""Names that something wanted to reach."""


def refuse(*args: Any, **more: Any) -> Any:
    OUTSIDE.append(str(args[:2]))
    raise OSError("this test has no network")


async def one_line(shot: ViewPixels) -> Sequence[Line]:
    return [Line("Export", 0.99, Rect(5, 5, 60, 16))]


def make(folder: Path) -> None:
    from tests.omniparser import tiny_models

    tiny_models.make_detector(folder / "model.pt")
    tiny_models.make_captioner(folder / "florence")


def settings_in(folder: Path) -> GroundingSettings:
    return GroundingSettings(
        omniparser_detector=str(folder / "model.pt"),
        omniparser_captioner=str(folder / "florence"),
        omniparser_bbox_threshold=0.0001,
        omniparser_max_boxes=12,
    )


class Watched:
    """The real models; keeps the batches that Florence-2 was given and the threads that models ran in."""

    def __init__(self, models: Any) -> None:
        self.detected: list[list[int]] = []
        self.captions: list[str] = []
        self.batches: list[list[int]] = []
        self.threads: set[str] = set()
        self._models = models
        self._generate = models._florence.generate
        models._florence.generate = self._count

    def _count(self, **inputs: Any) -> Any:
        self.batches.append(list(inputs["pixel_values"].shape))
        return self._generate(**inputs)

    def detect(self, pixels: Any) -> Any:
        self.threads.add(threading.current_thread().name)
        found = self._models.detect(pixels)
        self.detected.append([len(found), *(part.box.area for part in found)])
        return found

    def caption(self, crops: Any) -> Any:
        captions = self._models.caption(crops)
        self.captions += captions
        return captions


async def find(settings: GroundingSettings) -> dict[str, Any]:
    made: list[Watched] = []

    def loaded(given: GroundingSettings) -> Watched:
        made.append(Watched(omniparser.load(given)))
        return made[0]

    picker = ScriptedBackend("1")
    method = OmniparserMethod(picker, settings, as_it_is, one_line, loaded)
    gaps, last = [], time.monotonic()
    finding = asyncio.create_task(method.find(ask(), sight(640, 360, at=(50, 20))))
    while not finding.done():
        await asyncio.sleep(0.01)
        gaps.append(time.monotonic() - last)
        last = time.monotonic()
    first, again = finding.result(), await method.find(ask(), sight(320, 200))
    await method.close()
    (watched,) = made
    return {
        "outcome": first.tried.outcome, "reason": first.tried.reason, "again": again.tried.outcome,
        "candidates": msgspec.to_builtins(first.candidates), "listed": picker.asked[0].messages[0].text,
        "detected": watched.detected, "captions": watched.captions, "batches": watched.batches,
        "threads": sorted(watched.threads), "ticks": len(gaps),
    }  # fmt: skip


def fault(settings: GroundingSettings) -> str:
    try:
        omniparser.load(settings)
    except Unavailable as refused:
        return str(refused)
    return "loaded"


def faults(settings: GroundingSettings, folder: Path) -> dict[str, str]:
    cut, words = folder / "cut.pt", folder / "words.pt"
    cut.write_bytes(Path(settings.omniparser_detector).read_bytes()[:5000])
    words.write_text("no weights here")
    return {
        "cut detector": fault(replace(settings, omniparser_detector=str(cut))),
        "words for a detector": fault(replace(settings, omniparser_detector=str(words))),
        "cut captioner": fault(replace(settings, omniparser_captioner=str(cut_weights(settings, folder)))),
        "no captioner": fault(replace(settings, omniparser_captioner=str(folder / "none"))),
        "weights missing": fault(replace(settings, omniparser_captioner=str(without_weights(settings, folder)))),
        "no such device": fault(replace(settings, omniparser_device="cuda:7")),
    }


def copied(settings: GroundingSettings, folder: Path) -> Path:
    folder.mkdir()
    for file in Path(settings.omniparser_captioner).iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    return folder


def cut_weights(settings: GroundingSettings, folder: Path) -> Path:
    copy = copied(settings, folder / "cut")
    weights = copy / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:500])
    return copy


def without_weights(settings: GroundingSettings, folder: Path) -> Path:
    from safetensors.torch import load_file, save_file

    copy = copied(settings, folder / "partial")
    weights = load_file(copy / "model.safetensors")
    weights.pop(next(name for name in sorted(weights) if "encoder" in name))
    save_file(weights, copy / "model.safetensors", metadata={"format": "pt"})
    return copy


def run(folder: Path) -> None:
    socket.socket.connect = refuse  # type: ignore[method-assign]
    socket.getaddrinfo = refuse
    settings = settings_in(folder)
    told = asyncio.run(find(settings)) | {"faults": faults(settings, folder), "outside": OUTSIDE}
    print(json.dumps(told), file=sys.__stdout__)


if __name__ == "__main__":
    from tests.omniparser import torchvision_operators  # noqa: F401 - before anything imports torchvision

    {"make": make, "run": run}[sys.argv[1]](Path(sys.argv[2]))
