"""Every benchmark that has a target, in its quick form, each in a process of its own: one table in six minutes.

A target is a limit of a ratio. Most figures are ratios already: to a floor, a part or a peer of their own run. Times in
`ms` and `us` and shares of a core are put over what one PNG of a 1280x720 screen costs Pillow at level 1 (18 ms where
these targets were set), measured right before and after the benchmark; memory over that of a bare Python with numpy.
The benchmark `displays` takes minutes, and runs apart.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from typing import Any, Literal, NamedTuple

from tests.bench import encode, picture
from tests.bench._process import rss_mb
from tests.bench._progress import say

_LONGEST_S = 240.0
_PNG_MS = 18.0
_BARE_MB = 15.0
_TRIES = 9
_BARE = "import numpy, sys; print(flush=True); sys.stdin.read()"

Unit = Literal["ratio", "ms", "us", "% of a core", "MB"]


class Target(NamedTuple):
    """A figure's limit: `most`, or `least` where more is better. `beside`: what the ratio is over."""

    bench: str
    key: str
    most: float
    beside: str
    unit: Unit = "ratio"
    least: bool = False


class Met(NamedTuple):
    """A figure beside its target: `ratio` and `limit` are in the same terms."""

    target: Target
    value: float
    ratio: float
    limit: float

    @property
    def ok(self) -> bool:
        return self.ratio >= self.limit if self.target.least else self.ratio <= self.limit


_PNG = "a PNG by Pillow"
TARGETS = (
    Target("wait", "overhead_x_p50", 3, "its parts alone"),
    Target("wait", "overhead_x_p95", 5, "its parts alone"),
    Target("wait", "local_x_p50", 4, "a notice"),
    Target("wait", "n1.after_answer_p50_ms", 12, _PNG, "ms"),
    Target("wait", "n8.after_answer_p50_ms", 12, _PNG, "ms"),
    Target("wait", "n32.after_answer_p50_ms", 12, _PNG, "ms"),
    Target("wait", "n32.after_answer_p95_ms", 40, _PNG, "ms"),
    Target("wait", "n32_over_ms", 100, _PNG, "ms"),
    Target("wait", "n128_over_ms", 250, _PNG, "ms"),
    Target("fairness", "fast_over_ms", 60, _PNG, "ms"),
    Target("clock", "calls_x", 0.25, "ticks"),
    Target("clock", "missed", 0, "lamps"),
    Target("memory", "pss_mb_32_waits", 150, "a bare Python", "MB"),
    Target("picture", "png_x", 0.1, _PNG),
    Target("ocr", "full_cpu_x", 0.6, "rapidocr"),
    Target("ocr", "line_x", 0.03, "rapidocr"),
    Target("image", "cpu_x", 0.1, "matchTemplate"),
    Target("image", "wrong", 0, "looks"),
    Target("idle", "cpu_pct", 0.5, _PNG, "% of a core"),
    Target("rpc", "status_x", 3, "an echo"),
    Target("rpc", "judgement_us", 350, _PNG, "us"),
    Target("capture", "floor_ratio", 1.15, "round trip + copy"),
    Target("capture", "vs_mss", 0.8, "mss"),
    Target("record", "cpu_pct", 8, _PNG, "% of a core"),
)
_QUICK = frozenset({"wait", "clock", "ocr", "record"})


def run() -> dict[str, Any]:
    """Return `rows`, and `failed` with the fault of each benchmark that did not run."""
    rows: list[Met] = []
    failed: dict[str, str] = {}
    began = time.monotonic()
    bare_mb = _bare_mb()
    for name in dict.fromkeys(target.bench for target in TARGETS):
        say(f"{time.monotonic() - began:.0f} s: {name}")
        png_ms = _png_ms()
        command = [sys.executable, "-m", "tests.bench", name, "--json", *(["--quick"] if name in _QUICK else [])]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=_LONGEST_S)
            figures = json.loads(done.stdout)
            png_ms = statistics.fmean((png_ms, _png_ms()))
            rows += [compared(one, figures, png_ms, bare_mb) for one in TARGETS if one.bench == name]
        except subprocess.TimeoutExpired:
            failed[name] = f"not done after {_LONGEST_S:.0f} s"
        except subprocess.CalledProcessError as fault:
            failed[name] = (fault.stderr.strip().splitlines() or [f"exit code {fault.returncode}"])[-1]
        except (ValueError, KeyError) as fault:
            failed[name] = f"printed no figure {fault}"
    return {
        "rows": [row.target._asdict() | row._asdict() | {"target": row.target.most, "ok": row.ok} for row in rows],
        "failed": failed,
        "took_s": round(time.monotonic() - began, 1),
    }


def compared(target: Target, figures: dict[str, Any], png_ms: float, bare_mb: float) -> Met:
    """Return the figure of `target` as a ratio. Raises: KeyError where the benchmark does not print it."""
    value: Any = figures
    for part in target.key.split("."):
        value = value[part]
    if not isinstance(value, (int, float)):
        raise KeyError(target.key)
    # One percent of a core is 10 ms of CPU in each second.
    over, reference = {
        "ratio": (1.0, 1.0), "ms": (png_ms, _PNG_MS), "us": (png_ms * 1000, _PNG_MS * 1000),
        "% of a core": (png_ms / 10, _PNG_MS / 10), "MB": (bare_mb, _BARE_MB),
    }[target.unit]  # fmt: skip
    return Met(target, float(value), round(value / over, 3), round(target.most / reference, 3))


def _png_ms() -> float:
    pixels = encode.screen()
    found = []
    for _ in range(_TRIES):
        began = time.perf_counter()
        picture.pillow(pixels)
        found.append((time.perf_counter() - began) * 1000)
    return statistics.median(found)


def _bare_mb() -> float:
    with subprocess.Popen([sys.executable, "-c", _BARE], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.readline()
        found = rss_mb([process.pid])
        process.stdin.close()
    return found


def table(figures: dict[str, Any]) -> str:
    lines = [f"{'figure':33} {'ours':>7} {'ratio':>7} {'target':>7}"]
    bench = ""
    for row in figures["rows"]:
        if row["bench"] != bench:
            bench = row["bench"]
            lines.append(bench)
        sign = ">=" if row["least"] else "<="
        missed = "" if row["ok"] else "  missed"
        lines.append(f"  {row['key']:29.29}{row['value']:>9.4g}{row['ratio']:>8.3g} {sign}{row['limit']:<5.3g}{missed}")
    lines += [f"{name}: FAILED: {reason}" for name, reason in figures["failed"].items()]
    return "\n".join([*lines, f"{figures['took_s']:.0f} s"])
