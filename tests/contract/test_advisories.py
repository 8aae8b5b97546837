"""Known vulnerabilities: what pip-audit answers is told as it is, and what nobody looked up is never told as good."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from scripts import advisories

ROOT = Path(__file__).parents[2]
CLEAN = {"name": "anyio", "version": "4.0", "vulns": []}
BAD = {"name": "h11", "version": "0.1", "vulns": [{"id": "PYSEC-1", "aliases": ["CVE-1"], "fix_versions": ["0.2"]}]}
SKIPPED = {"name": "certifi", "skip_reason": "not found"}


def answer(*listed: dict[str, Any]) -> dict[str, Any]:
    return {"dependencies": list(listed), "fixes": []}


@pytest.mark.parametrize(("said", "code", "words"), [
    (answer(CLEAN, CLEAN), 0, "no known vulnerability in 2 packages"),
    (answer(CLEAN, BAD), 1, "h11 0.1: PYSEC-1, mended in 0.2"),
    (answer(SKIPPED, BAD), 1, "h11 0.1: PYSEC-1, mended in 0.2\nunknown beside these: 1 of 2 packages"),
    (answer(CLEAN, SKIPPED), 3, "unknown: 1 of 2 packages were not looked up, the first certifi (not found)"),
    (answer(), 3, "unknown: pip-audit looked up nothing"),
    ([], 3, "unknown: pip-audit looked up nothing"),
    ("pip-audit took longer than 60 s", 3, "unknown: pip-audit took longer than 60 s"),
])  # fmt: skip
def test_found_beats_unknown_and_unknown_beats_none(said: Any, code: int, words: str) -> None:
    judged = advisories.judged(said, ())
    assert judged[0] == code
    assert judged[1].startswith(words)


@pytest.mark.parametrize("name", ["PYSEC-1", "CVE-1"])
def test_one_that_is_accepted_by_id_or_alias_is_not_found(name: str) -> None:
    assert advisories.judged(answer(BAD), (name,))[0] == 0


@pytest.mark.parametrize(("first", "code", "locks"), [(SKIPPED, 3, 0), (CLEAN, 0, 10)])
def test_all_is_asked_for_only_where_the_first_package_is_known(
    monkeypatch: pytest.MonkeyPatch, first: dict[str, Any], code: int, locks: int
) -> None:
    asked: list[list[str]] = []

    def ask(named: list[str], _limit_s: float) -> Any:
        asked.append(named)
        return answer(first) if len(asked) == 1 else answer(CLEAN)

    monkeypatch.setattr(advisories, "_installed", lambda: "")
    monkeypatch.setattr(advisories, "_asked", ask)
    assert advisories.main() == code
    assert Path(asked[0][0]).read_text(encoding="utf-8").count("==") == 1
    assert len(asked[1:]) == bool(locks)
    assert sum(map(len, asked[1:])) == locks


def test_every_lock_is_looked_up() -> None:
    listed = subprocess.run(["git", "ls-files", "*.lock"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert set(advisories.LOCKS) == set(listed.stdout.split())
