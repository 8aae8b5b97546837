"""Looks up known vulnerabilities of the locked packages: pip-audit (conf/audit.lock) over the registry's own API.

Exit code: 0 none is known, 1 found, 3 unknown, because the registry has no such API, the network is down or pip-audit
cannot be had. A package that was not looked up is never counted as one without vulnerabilities, which is what
pip-audit itself does: a mirror without the API makes it print "No known vulnerabilities found" for everything.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from scripts.audit import LOCKS, ROOT

ACCEPTED: dict[str, str] = {}
"""Vulnerabilities by their id that do not concern acud, and why."""

NONE_KNOWN, FOUND, UNKNOWN = 0, 1, 3
_LOCK = ROOT / "conf" / "audit.lock"
_PLACE = ROOT / ".state" / f"pip-audit-{sha256(_LOCK.read_bytes()).hexdigest()[:12]}"
_PROBE_S, _ALL_S = 30, 90


def main() -> int:
    """Look up one package first, so that a registry without the API is asked no more; return the exit code."""
    probe = _first_pin(ROOT / LOCKS[0])
    why = _installed() or unread(_asked(probe, _PROBE_S))
    if why:
        print(f"unknown: {why}; nothing is known of the locked packages, neither good nor bad")
        return UNKNOWN
    code, words = judged(_asked([str(ROOT / lock) for lock in LOCKS], _ALL_S), ACCEPTED)
    print(words)
    return code


def judged(answer: Any, accepted: Iterable[str]) -> tuple[int, str]:
    """Return the exit code and the words for pip-audit's `answer`: found beats unknown, unknown beats none."""
    known = set(accepted)
    found = [
        f"{one['name']} {one['version']}: {fault['id']}, mended in {', '.join(fault['fix_versions']) or 'none yet'}"
        for one in _dependencies(answer)
        for fault in one.get("vulns", ())
        if not known & {fault["id"], *fault.get("aliases", ())}
    ]
    why = unread(answer)
    if found:
        return FOUND, "\n".join([*found, *([f"unknown beside these: {why}"] if why else [])])
    if why:
        return UNKNOWN, f"unknown: {why}"
    return NONE_KNOWN, f"no known vulnerability in {len(_dependencies(answer))} packages"


def unread(answer: Any) -> str:
    """Return why `answer` does not speak for all it was asked about; "" when it does."""
    if isinstance(answer, str):
        return answer
    listed = _dependencies(answer)
    skipped = [f"{one.get('name')} ({one['skip_reason']})" for one in listed if "skip_reason" in one]
    if skipped:
        return f"{len(skipped)} of {len(listed)} packages were not looked up, the first {skipped[0]}"
    return "" if listed else "pip-audit looked up nothing"


def _dependencies(answer: Any) -> list[dict[str, Any]]:
    listed = answer.get("dependencies") if isinstance(answer, dict) else None
    return listed if isinstance(listed, list) else []


def _first_pin(lock: Path) -> list[str]:
    """Write the lock's first package, with its hashes, as a lock of its own; return its path."""
    lines = lock.read_text(encoding="utf-8").splitlines()
    end = next(at for at, line in enumerate(lines) if not line.endswith("\\"))
    probe = _PLACE.parent / "advisories-probe.lock"
    probe.parent.mkdir(exist_ok=True)
    probe.write_text("\n".join(lines[: end + 1]) + "\n", encoding="utf-8")
    return [str(probe)]


def _installed() -> str:
    """Put pip-audit in its folder where it is not yet; return why it cannot be had, "" when it is there."""
    if _PLACE.is_dir():
        return ""
    partial = _PLACE.with_suffix(f".{os.getpid()}.part")
    command = [
        ROOT / ".tools/bin/uv",
        "pip",
        "install",
        "--quiet",
        "--python",
        sys.executable,
        "--only-binary",
        ":all:",
    ]
    lock = ["--require-hashes", "--target", str(partial), "-r", str(_LOCK)]
    done = _ran([*map(str, command), *lock], os.environ | {"UV_SYSTEM_CERTS": "1"}, _ALL_S)
    if isinstance(done, str) or done.returncode != 0:
        return f"pip-audit cannot be installed: {done if isinstance(done, str) else _last(done.stderr)}"
    partial.rename(_PLACE)
    return ""


def _asked(locks: Sequence[str], limit_s: float) -> Any:
    """Return pip-audit's answer about `locks`, or one line on why there is none."""
    named = [word for lock in locks for word in ("-r", lock)]
    how = ["--require-hashes", "--disable-pip", "--timeout", "10", "--progress-spinner", "off", "--format", "json"]
    env = os.environ | {"PYTHONPATH": str(_PLACE)}
    done = _ran([sys.executable, "-m", "pip_audit", *how, *named], env, limit_s)
    if isinstance(done, str):
        return f"pip-audit {done}"
    try:
        return json.loads(done.stdout)
    except ValueError:
        return f"pip-audit ended with code {done.returncode}: {_last(done.stderr)}"


def _ran(command: list[str], env: dict[str, str], limit_s: float) -> subprocess.CompletedProcess[str] | str:
    try:
        return subprocess.run(command, env=env, capture_output=True, text=True, timeout=limit_s, check=False)
    except subprocess.TimeoutExpired:
        return f"took longer than {limit_s:g} s"
    except OSError as fault:
        return str(fault)


def _last(words: str) -> str:
    return (words.strip().splitlines() or ["no word"])[-1]


if __name__ == "__main__":
    sys.exit(main())
