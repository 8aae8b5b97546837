"""What runs the models: OpenVINO, or onnxruntime where OpenVINO does not load or the CPU has no AVX2.

A model under OpenVINO keeps some megabytes for every input shape that it has seen, so callers use few shapes
(`scripts/bench ocr`, `growth_mb`). One thread each, and no telemetry: `import openvino` sends a report of itself
through the package `openvino_telemetry` unless that package cannot be imported.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable
from importlib import import_module, metadata
from pathlib import Path
from typing import Any, Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from acud.base.errors import Unavailable

Tensor = NDArray[np.float32]
Model = Callable[[Tensor], Tensor]
"""One input, one output. Raises: RuntimeError. What it returned is overwritten by its next call."""
Choice = Literal["auto", "openvino", "onnxruntime"]
HINT = "run scripts/setup; where OpenVINO does not run, install acud[ocr]"


class LoadedModel(Struct, frozen=True):
    """A model ready to run, and its file's entry `character`, a line each ("" where there is none).

    `release` frees what a run needs beside the weights; the next run takes it anew. Not while one is running.
    """

    run: Model
    characters: str
    release: Callable[[], None]


class Runtime(Struct, frozen=True):
    """`load` reads a model's file. `version`: what the health report calls it. `why`: what was tried before it."""

    version: str
    load: Callable[[Path], LoadedModel]
    why: str = ""


def choose_runtime(choice: Choice = "auto") -> Runtime:
    """Return the runtime of that name; for `auto` OpenVINO if it loads, else onnxruntime. Raises: Unavailable."""
    reasons = []
    for name, make in RUNTIMES.items():
        if choice in ("auto", name):
            try:
                made = make()
            except (ImportError, OSError, RuntimeError, metadata.PackageNotFoundError) as fault:
                reasons.append(f"{name}: {str(fault).splitlines()[0] if str(fault) else type(fault).__name__}")
            else:
                return Runtime(made.version, made.load, "; ".join(reasons))
    raise Unavailable(f"nothing runs the OCR models ({'; '.join(reasons)})", hint=HINT)


def _load_openvino() -> Runtime:
    if not has_avx2():
        raise RuntimeError("the CPU has no AVX2")
    blocked: dict[str, Any] = sys.modules
    blocked["openvino_telemetry"] = None  # an import of it fails
    openvino: Any = import_module("openvino")
    core = openvino.Core()
    # Where the CPU multiplies bfloat16 in hardware: 1.7x (AVX-512 BF16) to 2.5x (AMX) as fast, same recall (measured).
    precision = "bf16" if "BF16" in core.get_property("CPU", "OPTIMIZATION_CAPABILITIES") else "f32"
    options = {
        "INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1, "ENABLE_CPU_PINNING": False, "INFERENCE_PRECISION_HINT": precision
    }  # fmt: skip

    def load(path: Path) -> LoadedModel:
        model = core.read_model(path)
        info = model.get_rt_info()
        told = info["framework"] if "framework" in info else {}  # noqa: SIM401 - its map has no `get`
        compiled = core.compile_model(model, "CPU", options)
        request = compiled.create_infer_request()

        def run(tensor: Tensor) -> Tensor:
            request.infer([tensor])
            found: Tensor = request.get_output_tensor().data
            return found

        return LoadedModel(run, told["character"].value if "character" in told else "", compiled.release_memory)

    return Runtime(f"openvino {metadata.version('openvino')} {precision}", load)


def _load_onnxruntime() -> Runtime:
    onnxruntime: Any = import_module("onnxruntime")

    def load(path: Path) -> LoadedModel:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.enable_cpu_mem_arena = False  # same speed, 400 MB less (measured)
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        name = session.get_inputs()[0].name

        def run(tensor: Tensor) -> Tensor:
            try:
                found: Tensor = session.run(None, {name: tensor})[0]
            except Exception as fault:  # its faults share no base class
                raise RuntimeError(str(fault)) from fault
            return found

        def release() -> None:
            """Without an arena a run frees what it took."""

        return LoadedModel(run, session.get_modelmeta().custom_metadata_map.get("character", ""), release)

    return Runtime(f"onnxruntime {metadata.version('onnxruntime')}", load)


RUNTIMES: dict[str, Callable[[], Runtime]] = {"openvino": _load_openvino, "onnxruntime": _load_onnxruntime}
"""In the order in which `auto` tries them."""


def has_avx2() -> bool:
    """Return whether OpenVINO has what it needs of an x86 CPU."""
    if platform.machine() != "x86_64":
        return True
    try:
        return " avx2" in Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace")
    except OSError:
        return True
