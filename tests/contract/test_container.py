"""The container recipe: what hadolint says of it, who it runs as, and the /dev/shm it asks for. Built by hand."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from acud.config import Settings

ROOT = Path(__file__).parents[2]
RECIPE = ROOT / "conf" / "container" / "Containerfile"
TEXT = RECIPE.read_text(encoding="utf-8")
LAST = TEXT[TEXT.rindex("\nFROM ") :]
"""The stage that becomes the image."""


def linted(text: str) -> subprocess.CompletedProcess[str]:
    hadolint = Path(sys.executable).parent / "hadolint"
    return subprocess.run(
        [hadolint, "--no-color", "-"], input=text, capture_output=True, text=True, timeout=60, check=False
    )


def test_hadolint_finds_nothing() -> None:
    done = linted(TEXT)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize(("said", "instead", "rule"), [
    ("FROM debian:12-slim\n", "FROM debian:latest\n", "DL3007"),
    ("apt-get install -y --no-install-recommends ca", "apt-get install -y ca", "DL3015"),
    ("WORKDIR /src", "WORKDIR src", "DL3000"),
])  # fmt: skip
def test_hadolint_does_find_what_is_wrong(said: str, instead: str, rule: str) -> None:
    assert said in TEXT
    assert rule in linted(TEXT.replace(said, instead, 1)).stdout


def test_it_runs_as_no_root() -> None:
    users = re.findall(r"^USER (.+)$", LAST, re.MULTILINE)
    assert users == ["10001:10001"]
    made = re.search(r"useradd --system --uid (\d+) --user-group --home-dir (\S+)", LAST)
    assert made is not None
    assert made[1] == users[0].split(":")[0]
    assert f"ENV ACU_HOME={made[2]} " in LAST
    assert f"chmod 0700 {made[2]}" in LAST
    assert not re.search(r"sudo|setcap|--privileged|--cap-add", TEXT)


def test_the_shm_that_it_asks_for_holds_the_rings_that_it_says() -> None:
    settings = Settings()
    ring = settings.display.width * settings.display.height * 4 * settings.capture.slots
    said = re.search(r"(\d+)g is for\s+(?:#\s+)?(\d+) of", TEXT)
    assert said is not None
    gigabytes, displays = map(int, said.groups())
    assert displays * ring <= gigabytes << 30
    for page in (TEXT, (ROOT / "docs" / "packaging.md").read_text(encoding="utf-8")):
        assert f"--shm-size={gigabytes}g" in page


def test_what_it_copies_and_mounts_is_there() -> None:
    named = re.findall(r"source=(\S+?),", TEXT) + re.findall(r"(conf/[\w./-]+)", TEXT.replace("`", " "))
    assert named
    assert {name for name in named if not (ROOT / name).exists()} == set()


def test_it_is_built_in_the_format_that_has_health_checks() -> None:
    """Found by running it: podman and buildah drop HEALTHCHECK from an image of the OCI's format."""
    assert "HEALTHCHECK" in LAST
    page = (ROOT / "docs" / "packaging.md").read_text(encoding="utf-8")
    for text in (TEXT, page):
        assert "podman build --format docker -f conf/container/Containerfile" in text
    assert "**The image was built by buildah**" in page
