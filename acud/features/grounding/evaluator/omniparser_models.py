"""OmniParser's two models: a YOLO that finds things on a screen, and a Florence-2 that says what each shows.

Their libraries are the extra `acud[omniparser]`, imported when first needed. Weights come from paths in the settings;
both libraries are told to stay off the network, and a path that does not exist is refused before they see it (given a
bare name, they would look for it outside).
"""

from __future__ import annotations

import importlib
import os
import pickle
import zipfile
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from acud.config import GroundingSettings
from acud.errors import Unavailable
from acud.types import Rect

Bgr = NDArray[np.uint8]
"""Height x width x 3, BGR, C-contiguous."""

_OFFLINE = {"YOLO_OFFLINE": "true", "YOLO_AUTOINSTALL": "false", "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
_CROP_PX = 64
"""Side of a crop before the captioner's own resizing, as OmniParser trained it."""
_CAPTION_TOKENS = 20
_PROMPT = "<CAPTION>"


class ScreenModels(Protocol):
    """Finds things and captions them. Blocks; not safe in threads. Raises: Unavailable when a model fails."""

    def detect(self, pixels: Bgr) -> list[ScreenPart]:
        """Return what may be a thing to act on, in pixels of `pixels` and inside it, in no certain order."""
        ...

    def caption(self, crops: Sequence[Bgr]) -> list[str]:
        """Return one caption for each of `crops`, in order, all from one batch."""
        ...


def load(settings: GroundingSettings) -> ScreenModels:
    """Return the models at the settings' paths. Takes seconds and memory.

    Raises: Unavailable naming the setting, the extra or the weights that are missing or do not fit.
    """
    detector = _path("omniparser_detector", settings.omniparser_detector, wants_folder=False)
    captioner = _path("omniparser_captioner", settings.omniparser_captioner, wants_folder=True)
    os.environ.update(_OFFLINE)
    torch, transformers, ultralytics = _libraries()
    damaged: type[Exception] = importlib.import_module("safetensors").SafetensorError
    try:
        yolo = ultralytics.YOLO(str(detector), task="detect")
        return _TorchModels(settings, yolo, torch, *_florence(transformers, captioner))
    except (*_FAULTS, damaged) as fault:
        raise Unavailable(f"OmniParser's weights cannot be loaded: {_line(fault)}") from fault


_FAULTS: tuple[type[Exception], ...] = (
    *(ArithmeticError, AssertionError, AttributeError, EOFError, ImportError, LookupError, OSError, RuntimeError),
    *(TypeError, ValueError, pickle.PickleError, zipfile.BadZipFile),
)
"""What torch, ultralytics and transformers raise for files, devices and pictures they cannot take: no common root."""


class _TorchModels:
    def __init__(self, settings: GroundingSettings, yolo: Any, torch: Any, processor: Any, florence: Any) -> None:
        self._settings = settings
        self._yolo = yolo
        self._torch = torch
        self._processor = processor
        self._florence = florence.to(settings.omniparser_device).eval()

    def detect(self, pixels: Bgr) -> list[ScreenPart]:
        try:
            found = self._yolo.predict(
                pixels,
                conf=self._settings.omniparser_bbox_threshold,
                iou=self._settings.omniparser_iou_threshold,
                max_det=self._settings.omniparser_max_boxes,
                device=self._settings.omniparser_device,
                verbose=False,
                save=False,
            )[0].boxes
            corners, scores = found.xyxy.cpu().tolist(), found.conf.cpu().tolist()
        except _FAULTS as fault:
            raise Unavailable(f"OmniParser's detector failed: {_line(fault)}") from fault
        return [ScreenPart(_rect(*box), score) for box, score in zip(corners, scores, strict=True)]

    def caption(self, crops: Sequence[Bgr]) -> list[str]:
        if not crops:
            return []
        images = [Image.fromarray(crop[:, :, ::-1]).resize((_CROP_PX, _CROP_PX)) for crop in crops]
        try:
            return self._generate(images)
        except _FAULTS as fault:
            raise Unavailable(f"OmniParser's captioner failed: {_line(fault)}") from fault

    def _generate(self, images: list[Image.Image]) -> list[str]:
        texts = [_PROMPT] * len(images)
        inputs = self._processor(images=images, text=texts, return_tensors="pt", padding=True)
        with self._torch.inference_mode():
            tokens = self._florence.generate(
                **inputs.to(self._settings.omniparser_device),
                max_new_tokens=_CAPTION_TOKENS,
                num_beams=1,
                do_sample=False,
            )
        return [str(text).strip() for text in self._processor.batch_decode(tokens, skip_special_tokens=True)]


def _florence(transformers: ModuleType, folder: Path) -> tuple[Any, Any]:
    """Return processor and model. Code from the folder is never run, and weights that are missing are a fault:
    transformers would fill them with random numbers and only warn.
    """
    local = {"local_files_only": True, "trust_remote_code": False}
    processor = transformers.AutoProcessor.from_pretrained(folder, **local)
    model, told = transformers.Florence2ForConditionalGeneration.from_pretrained(
        folder, output_loading_info=True, use_safetensors=True, **local
    )
    missing = sorted(told["missing_keys"]) or sorted(str(key) for key in told["mismatched_keys"])
    if missing:
        raise ValueError(f"{len(missing)} weights of Florence-2 are missing in {folder}, {missing[0]} first")
    return processor, model


def _path(name: str, text: str, *, wants_folder: bool) -> Path:
    path = Path(text).expanduser()
    if text and (path.is_dir() if wants_folder else path.is_file()):
        return path
    fault = f"{path} does not exist" if text else "its weights are not set"
    what = "the folder of the captioner" if wants_folder else "the detector's .pt file"
    raise Unavailable(f"OmniParser: {fault}", hint=f"set grounding.{name} to {what}")


def _libraries() -> tuple[ModuleType, ModuleType, ModuleType]:
    try:
        torch = importlib.import_module("torch")
        return torch, importlib.import_module("transformers"), importlib.import_module("ultralytics")
    except (ImportError, RuntimeError) as fault:
        raise Unavailable(
            f"OmniParser's libraries cannot be imported: {_line(fault)}", hint="pip install 'acud[omniparser]'"
        ) from fault


def _rect(x1: float, y1: float, x2: float, y2: float) -> Rect:
    return Rect(int(x1), int(y1), max(1, round(x2 - x1)), max(1, round(y2 - y1)))


def _line(fault: BaseException) -> str:
    return f"{type(fault).__name__}: {' '.join(str(fault).split())[:200]}"


class ScreenPart(NamedTuple):
    """A thing on the screen in view pixels; `text` is what OCR read there, `caption` what a model says it shows."""

    box: Rect
    confidence: float
    text: str = ""
    caption: str = ""
