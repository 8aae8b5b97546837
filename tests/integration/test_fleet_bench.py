"""`scripts/bench fleet` in its quick form: it prints what is promised of a fleet, and the table of it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.long
def test_the_benchmark_of_a_fleet_gives_its_figures_and_its_table(tmp_path: Path) -> None:
    """None of them is judged: the machine is the tests'."""
    printed = _bench("--quick", "--json")
    found = json.loads(printed)
    names = ("direct_x_p50", "throughput_x", "carry_1000_x", "endpoint_cpu_ms")
    assert {name: found[name] for name in names if not found[name] > 0} == {}
    row = found["processes_2"]
    assert len(row["cpu_ms_each"]) == 2
    assert min(row["per_s"], row["cpu_ms"]) > 0
    figures = tmp_path / "figures.json"
    figures.write_text(printed, encoding="utf-8")
    assert f"{found['direct_x_p50']} x the direct latency" in _bench("--figures", str(figures))


def _bench(*flags: str) -> str:
    command = [sys.executable, "-m", "tests.bench", "fleet", *flags]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout
