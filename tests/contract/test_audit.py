"""The audit of locks, licences and secrets finds what is planted; `scripts/check` has it look at this project."""

from __future__ import annotations

import json
import re
from email.message import Message
from pathlib import Path
from typing import Any

import pytest

from scripts import audit

ROOT = Path(__file__).parents[2]


HASH = "    --hash=sha256:" + "0" * 64


@pytest.mark.parametrize(("lock", "faults"), [
    (f"a==1 \\\n{HASH}\n", []),
    (f"# why\na==1 ; python_full_version < '3.12' \\\n{HASH} \\\n{HASH}\n    # via b\n", []),
    ("a==1 \\\n", ["2: a has no hash"]),
    (f"a==1 \\\nb==2 \\\n{HASH}\n", ["2: a has no hash"]),
    ("a>=1\n", ["1: not pinned with a hash: a>=1"]),
    ("--index-url elsewhere\n", ["1: not pinned with a hash: --index-url elsewhere"]),
    ("a @ https://example.org/a.whl\n", ["1: not pinned with a hash: a @ https://example.org/a.whl"]),
])  # fmt: skip
def test_what_is_not_pinned_with_a_hash_is_found(lock: str, faults: list[str]) -> None:
    assert list(audit.unpinned(lock)) == faults


@pytest.mark.parametrize(("package", "faults"), [
    ({"integrity": "sha512-x", "license": "MIT OR Apache-2.0"}, 0), ({"license": "MIT"}, 1),
    ({"integrity": "sha512-x", "license": "MIT", "resolved": "https://example.org/a.tgz"}, 1),
    ({"integrity": "sha512-x", "license": "GPL-3.0"}, 1),
])  # fmt: skip
def test_a_package_of_npm_needs_its_hash_and_a_licence(package: dict[str, str], faults: int) -> None:
    assert len(list(audit.npm_faults(json.dumps({"packages": {"": {}, "node_modules/a": package}})))) == faults


class Package:
    def __init__(self, name: str, **said: str) -> None:
        self.metadata = Message()
        self.metadata["Name"] = name
        for key, value in said.items():
            self.metadata[key.replace("_", "-")] = value


@pytest.mark.parametrize(("said", "is_found"), [
    ({"License_Expression": "MIT"}, False), ({"License_Expression": "BSD-3-Clause AND MIT"}, False),
    ({"License_Expression": "GPL-3.0-only OR MIT"}, False), ({"License_Expression": "MIT AND AGPL-3.0-only"}, True),
    ({"License_Expression": "AGPL-3.0-or-later"}, True),
    ({"Classifier": "License :: OSI Approved :: MIT License"}, False),
    ({"Classifier": "License :: OSI Approved :: GNU Affero General Public License v3"}, True), ({}, True),
])  # fmt: skip
def test_a_licence_that_nobody_looked_at_is_found(said: dict[str, str], is_found: bool) -> None:
    assert bool(list(audit.licences([Package("thing", **said)]))) is is_found


# Put together here, so that this file holds none.
SECRETS = [
    "AKIA" + "A1B2C3D4E5F6G7H8", "ghp_" + "a1B2" * 9, "-----BEGIN RSA " + "PRIVATE KEY-----", "//me:word" + "@host/",
]  # fmt: skip


@pytest.mark.parametrize("secret", SECRETS)
def test_a_secret_is_found_by_its_form_and_its_line(secret: str) -> None:
    text = f"one\ntwo = 'https:{secret}'\n"
    found = list(audit.secrets_in(text))
    assert found
    assert all(re.match(r"2: [A-Z]", one) for one in found)
    assert list(audit.secrets_in(text.replace("'\n", "'  # pragma: allowlist secret\n"))) == []


def test_the_bill_of_materials_holds_every_package_of_the_lock_that_is_installed(tmp_path: Path) -> None:
    target = tmp_path / "sbom.json"
    assert audit.main(["sbom", str(target)]) == 0
    bill: dict[str, Any] = json.loads(target.read_text())
    assert bill["bomFormat"] == "CycloneDX"
    listed = {re.sub(r"[-_.]+", "-", one["name"]).lower(): one["version"] for one in bill["components"]}
    lock = (ROOT / "requirements.lock").read_text()
    locked = {
        name
        for name, version in listed.items()
        if re.search(rf"^{name}(\[.*\])?=={re.escape(version)} ", lock, re.MULTILINE)
    }
    assert {"numpy", "apsw", "pyzmq", "mcp", "uvicorn", "python-xlib"} <= locked
    assert set(listed) - locked <= {"acud", "pillow"}, "ours, and the shim that stands for pillow-simd"
