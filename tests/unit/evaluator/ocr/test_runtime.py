"""What runs the OCR models: OpenVINO, else onnxruntime and why, else a fault that names the cure. Nothing is sent."""

import subprocess
import sys

import numpy as np
import pytest

from acud.base.errors import Unavailable
from acud.config import OcrSettings
from acud.evaluator.ocr import rapid, runtime
from acud.evaluator.ocr.reader import TextReading
from acud.evaluator.ocr.runtime import Runtime, choose_runtime


def broken(reason: str) -> object:
    def make() -> Runtime:
        raise ImportError(reason)

    return make


def test_openvino_runs_the_models_where_it_can() -> None:
    assert choose_runtime().version.startswith("openvino ")
    assert choose_runtime("onnxruntime").version.startswith("onnxruntime ")


def test_a_cpu_without_avx2_gets_onnxruntime_and_health_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "has_avx2", lambda: False)
    engine = rapid.RapidEngine()
    assert "onnxruntime" in engine.version
    assert "openvino: the CPU has no AVX2" in engine.version
    picture = np.full((40, 200, 3), 255, np.uint8)
    assert engine.detect([picture]) == [[]]


@pytest.mark.asyncio
async def test_without_any_runtime_health_is_down_and_names_the_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in runtime.RUNTIMES:
        monkeypatch.setitem(runtime.RUNTIMES, name, broken(f"no {name} here"))
    with pytest.raises(Unavailable, match=r"no openvino here.*no onnxruntime here"):
        choose_runtime()
    reading = TextReading(OcrSettings())
    with pytest.raises(Unavailable):
        await reading.lines(shot())
    health = await reading.check_health()
    reading.close()
    assert health.state == "down"
    assert "acud[ocr]" in health.reason


def shot() -> object:
    class Shot:
        source, crop, ignore = "display:d1", (), ()
        pixels = np.zeros((40, 40, 4), np.uint8)
        lines = None

    return Shot()


QUIET = """
import os, sys
OUT = ("socket.connect", "socket.getaddrinfo", "socket.sendto", "http.client.connect", "urllib.Request")
seen = []
sys.addaudithook(lambda event, args: seen.append(event))
import numpy as np
from acud.evaluator.ocr.rapid import RapidEngine
engine = RapidEngine("openvino")
engine.detect([np.zeros((64, 64, 3), np.uint8)])
engine.recognise([np.zeros((20, 64, 3), np.uint8)])
fds = [f"/proc/self/fd/{fd}" for fd in os.listdir("/proc/self/fd")]
print([event for event in seen if event in OUT])
print([fd for fd in fds if os.path.islink(fd) and os.readlink(fd).startswith("socket:")])
print([name for name, module in sys.modules.items() if name.startswith("openvino_telemetry") and module is not None])
print(sorted({"rapidocr", "omegaconf", "requests"} & sys.modules.keys()))
"""


def test_openvino_sends_nothing_and_rapidocr_loads_no_downloader() -> None:
    """OpenVINO reports each import of itself over HTTP, in a thread, unless its telemetry package is kept out."""
    done = subprocess.run([sys.executable, "-c", QUIET], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.split("\n")[:4] == ["[]", "[]", "[]", "[]"]
