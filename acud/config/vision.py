"""Settings of judges, here and on other machines; of text reading, element search, accessibility and scenes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from msgspec import Meta, Struct

from acud.config.backends import AnyBackend, OllamaSettings, OpenRouterSettings
from acud.types import Count, Positive

ClaudeTool = Literal["auto", "computer_20241022", "computer_20250124", "computer_20251124", "computer_toolset_20260801"]


class VisionSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[vision]`"""

    backend: str = "auto"
    backends: tuple[str, ...] = ()
    system_instructions: str = ""
    frame_max_dim: Annotated[int, Meta(ge=64, le=8192)] = 960
    frame_jpeg_quality: Annotated[int, Meta(ge=1, le=100)] = 72
    timeout_s: Positive = 120
    connect_timeout_s: Positive = 5
    breaker_failures: Count = 5
    breaker_open_s: Positive = 10
    health_interval_s: Positive = 30
    share_calls: bool = False
    share_max: Annotated[int, Meta(ge=2, le=16)] = 4
    share_between_agents: bool = False
    scripted: str = ""

    def chain(self) -> tuple[str, ...]:
        """Return the judges to ask in turn if a wait names none; () means ollama if ready, else ocr."""
        return (self.backend,) if self.backend != "auto" else tuple(dict.fromkeys(self.backends))


class OcrSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[ocr]`"""

    workers: Annotated[int, Meta(ge=1, le=64)] = 4
    engine: Literal["rapidocr"] = "rapidocr"
    runtime: Literal["auto", "openvino", "onnxruntime"] = "auto"
    min_confidence: Annotated[float, Meta(ge=0, le=1)] = 0.5
    second_reader: Literal["auto", "off"] = "auto"


class GroundingSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[grounding]`"""

    backend: Literal["auto", "direct", "uitars", "claude_cu", "omniparser"] = "auto"
    fuzzy_min: Annotated[float, Meta(ge=0.5, le=1)] = 0.8
    max_dim: Annotated[int, Meta(ge=64, le=8192)] = 1920
    jpeg_quality: Annotated[int, Meta(ge=1, le=100)] = 80
    uitars_via: str = ""
    uitars_ollama_model: str = "0000/ui-tars-1.5-7b"
    uitars_keep_alive: str = "5m"
    uitars_openrouter_model: str = "bytedance/ui-tars-1.5-7b"
    uitars_coordinates: Literal["auto", "absolute", "relative"] = "auto"
    claude_tool: ClaudeTool = "auto"
    omniparser_detector: str = ""
    omniparser_captioner: str = ""
    omniparser_device: str = "cpu"
    omniparser_picker: str = ""
    omniparser_picker_model: str = ""
    omniparser_bbox_threshold: Annotated[float, Meta(ge=0, le=1)] = 0.05
    omniparser_iou_threshold: Annotated[float, Meta(ge=0, le=1)] = 0.1
    omniparser_max_boxes: Annotated[int, Meta(ge=1, le=500)] = 128

    def uitars_model(self, backends: Mapping[str, AnyBackend]) -> str:
        """Return the name of UI-TARS at its backend."""
        backend = backends[self.uitars_via or "ollama"]
        if isinstance(backend, OllamaSettings):
            return self.uitars_ollama_model
        return self.uitars_openrouter_model if isinstance(backend, OpenRouterSettings) else backend.model


class AccessibilitySettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[accessibility]`"""

    max_nodes: Annotated[int, Meta(ge=1, le=100_000)] = 5000
    max_depth: Annotated[int, Meta(ge=1, le=200)] = 40
    walk_s: Annotated[float, Meta(gt=0, le=60)] = 3.0
    answer_s: Annotated[float, Meta(gt=0, le=60)] = 0.5
    mirror_ttl_s: Annotated[float, Meta(gt=0, le=3600)] = 30.0


class JobSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[jobs]`: the backend `fleet` and `acud fleet worker`. 0 in sizes and times: the value of `[vision]`."""

    kind: Annotated[
        str, Meta(pattern=r"^[a-z0-9][a-z0-9_-]{0,31}$", description="a name of small letters, digits, '_', '-'")
    ] = "vision"
    local: bool = False
    max_side_px: Annotated[int, Meta(ge=0, le=8192)] = 0
    jpeg_quality: Annotated[int, Meta(ge=0, le=100)] = 0
    concurrency: Count = 64
    timeout_s: Annotated[float, Meta(ge=0)] = 0
    ack_wait_s: Annotated[float, Meta(ge=1, le=3600)] = 30
    max_deliver: Annotated[int, Meta(ge=1, le=20)] = 3
    keep_s: Annotated[float, Meta(ge=1)] = 600
    max_mb: Positive = 1024
    worker_concurrency: Count = 8
    drain_s: Annotated[float, Meta(ge=0)] = 60
