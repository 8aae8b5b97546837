"""`acud demo`, as a newcomer runs it: it works, tells what happened, and leaves nothing running."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from PIL import Image

from acud.base.errors import DaemonDown
from acud.base.paths import resolve
from acud_client import Client


def test_the_demo(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "acud_cli", "demo", "--dir", tmp_path / "demo"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=250, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^ +\d+\.\d\d s  armed$", done.stdout, re.MULTILINE)
    assert re.search(r"latency   changed → resolved in [\d.]+ m?s$", done.stdout, re.MULTILINE)
    evidence = re.search(r"evidence  (/\S+\.png)$", done.stdout, re.MULTILINE)
    with Image.open(evidence[1]) as picture:
        assert picture.size == (1280, 720)
    assert _is_down(tmp_path / "demo")


def _is_down(home: Path) -> bool:
    with Client(resolve({"ACU_HOME": str(home)})) as client:
        try:
            client.status()
        except DaemonDown as fault:
            return fault.facts["reason"] == "absent"
    return False
