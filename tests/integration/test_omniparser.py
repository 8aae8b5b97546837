"""OmniParser's real code path on tiny models with random weights: a YOLO from a .pt file, a Florence-2 from a folder.

Installs torch (CPU), transformers and ultralytics into a folder of their own (0.9 GB) when they are not there yet.
Skipped where pip finds no CPU build of torch: an index that has only the CUDA builds wants some GB more of libraries.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from acud.types import Rect

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]

ROOT = Path(__file__).parents[2]
LOCK = ROOT / "tests" / "omniparser" / "requirements.lock"


@pytest.fixture(scope="module")
def libraries() -> Path:
    """Return a folder with the libraries as the lock has them."""
    place = ROOT / ".state" / ".tools"
    place.mkdir(parents=True, exist_ok=True)
    folder = place / f"omniparser-{hashlib.sha256(LOCK.read_bytes()).hexdigest()[:12]}"
    with (place / "omniparser.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.is_dir():
            install(folder)
    return folder


def install(folder: Path) -> None:
    half = folder.with_suffix(".part")
    shutil.rmtree(half, ignore_errors=True)
    # The interpreter behind the environment, which has pip; pip's own settings say where else to look for wheels.
    pip = [str(Path(sys.executable).resolve()), "-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes"]
    done = subprocess.run(
        [*pip, "--only-binary", ":all:", "--target", str(half), "-r", str(LOCK)],
        capture_output=True,
        text=True,
        timeout=600,
        env=os.environ | {"PIP_REQUIRE_VIRTUALENV": "0", "PIP_USER": "0"},
    )
    if "No matching distribution found for torch" in done.stderr:
        pytest.skip(f"pip finds no CPU build of torch: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stderr
    half.rename(folder)


@pytest.fixture(scope="module")
def told(libraries: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return what the program saw, in a process that has the libraries and no network."""
    folder = tmp_path_factory.mktemp("omniparser")
    paths = [str(libraries), str(ROOT), str(ROOT / "clients")]
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": os.pathsep.join(paths)}
    for step in ("make", "run"):
        done = subprocess.run(
            [sys.executable, "-m", "tests.omniparser.program", step, str(folder)],
            cwd=folder,
            env=env,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr[-4000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_a_box_the_detector_found_is_the_place(told: dict[str, Any]) -> None:
    assert (told["outcome"], told["again"]) == ("sure", "sure"), told["reason"]
    (candidate,) = told["candidates"]
    x, y, w, h = candidate["box"]
    assert Rect(50, 20, 640, 360).contains(Rect(x, y, w, h))
    assert abs(candidate["point"][0] - x - w / 2) <= 1
    assert abs(candidate["point"][1] - y - h / 2) <= 1
    assert candidate["method"] == "omniparser"


def test_all_captions_of_a_view_come_from_one_batch(told: dict[str, Any]) -> None:
    assert len(told["detected"]) == len(told["batches"]) == 2
    captioned = sum(batch[0] for batch in told["batches"])
    assert captioned == len(told["captions"]) > 2
    assert all(batch[1:] == [3, 64, 64] for batch in told["batches"])
    assert all(caption.strip() for caption in told["captions"])
    shown = [line for line in told["listed"].splitlines() if ": picture " in line]
    assert len(shown) == told["batches"][0][0]


def test_models_run_in_their_own_thread_and_are_loaded_once(told: dict[str, Any]) -> None:
    assert [name.split("_")[0] for name in told["threads"]] == ["omniparser"]
    assert told["ticks"] > 5


def test_nothing_reached_for_the_network(told: dict[str, Any]) -> None:
    assert told["outside"] == []


def test_weights_that_do_not_fit_are_named(told: dict[str, Any]) -> None:
    faults = told["faults"]
    for name in ("cut detector", "words for a detector", "cut captioner"):
        assert "cannot be loaded" in faults[name], faults[name]
    assert "grounding.omniparser_captioner" in faults["no captioner"]
    assert "1 weights of Florence-2 are missing" in faults["weights missing"]
    assert "cannot be loaded" in faults["no such device"]
