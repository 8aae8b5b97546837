"""A newcomer's way: `sudo ./install` on a fresh Debian 12 and Ubuntu 24.04 without a compiler, then `acud demo`. And
the wheelhouse by pip, pipx and uv. On roots that debootstrap makes for the moment.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
INSTALLED_MB = 520
pytestmark = [pytest.mark.long, pytest.mark.timeout(1500)]

ENTER = """
mount --make-rprivate /
mount -t proc proc "$1/proc"
mount --bind /dev "$1/dev"
mount -t devpts devpts "$1/dev/pts" -o newinstance,ptmxmode=0666
mount -t tmpfs tmpfs "$1/dev/shm"
exec chroot "$1" /usr/bin/env -i HOME=/root TERM=dumb LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/root/.local/bin /bin/sh -euc "$2"
"""


def inside(root: Path, script: str) -> str:
    """Run `script` in `root`, whose processes and mounts end with it; return what it printed."""
    command = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-euc", ENTER, "enter", root, script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def _interpreters() -> dict[str, Path]:
    """Return the interpreters in PATH that have headers, by what they are called on Debian 12 and on Ubuntu 24.04."""
    found = {}
    for name in ("3.11", "3.12"):
        path = shutil.which(f"python{name}")
        asked = [path or "false", "-c", "import sysconfig; print(sysconfig.get_path('include'))"]
        said = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
        if path and said and (Path(said) / "Python.h").is_file():
            found[name] = Path(path)
    return found


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What scripts/package says of a bundle for every interpreter that is here."""
    if os.geteuid() != 0 or shutil.which("debootstrap") is None:
        pytest.skip("it needs root and debootstrap")
    interpreters = [f"--python={path}" for path in _interpreters().values()]
    command = [ROOT / "scripts" / "package", "--json", "--out", tmp_path_factory.mktemp("package"), *interpreters]
    env = os.environ | {"ACU_PYTHON": sys.executable}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=1200, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def _mirror(system: str) -> str:
    """Return where this machine's apt gets Debian from, or Ubuntu on the same host."""
    asked = ["apt-get", "indextargets", "--format", "$(SITE)", "Created-By: Packages", "Component: main"]
    sites = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.split()
    debian = next(site for site in sites if site.rstrip("/").endswith("/debian"))
    return debian.rstrip("/").removesuffix("debian") + system


def _fresh(place: Path, suite: str, system: str, *options: str) -> Path:
    # The script is named, because Debian's debootstrap may be older than the suite. `gutsy` is what Ubuntu's link to.
    script = "/usr/share/debootstrap/scripts/" + {"debian": "sid", "ubuntu": "gutsy"}[system]
    command = ["debootstrap", "--variant=minbase", *options, suite, place, _mirror(system), script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    if done.returncode != 0:
        pytest.skip(f"debootstrap makes no {suite} here: {done.stdout.strip().splitlines()[-1:]}")
    for name in ("resolv.conf", "hosts"):
        shutil.copy(f"/etc/{name}", place / "etc")
    return place


@pytest.fixture(scope="module")
def bookworm(tmp_path_factory: pytest.TempPathFactory, made: dict[str, Any]) -> Path:
    return _fresh(tmp_path_factory.mktemp("root") / "bookworm", "bookworm", "debian")


@pytest.fixture(scope="module")
def noble(tmp_path_factory: pytest.TempPathFactory, made: dict[str, Any]) -> Path:
    if "3.12" not in made["pythons"]:
        pytest.skip("no Python 3.12 with headers here, to make wheels for it")
    keys = Path("/usr/share/keyrings/ubuntu-archive-keyring.gpg")
    trust = f"--keyring={keys}" if keys.exists() else "--no-check-gpg"  # Debian 12 has no package of these keys
    return _fresh(tmp_path_factory.mktemp("root") / "noble", "noble", "ubuntu", "--components=main,universe", trust)


def test_what_it_tells(made: dict[str, Any]) -> None:
    assert made["needs_compiler"] is False
    assert made["installed_mb"] <= INSTALLED_MB
    assert made["apt_mb"] > 0
    wheels = list(Path(made["wheelhouse"]).iterdir())
    assert len(wheels) == made["wheels"] > 90
    assert {wheel.suffix for wheel in wheels} == {".whl"}
    assert Path(made["bundle"]).stat().st_size == pytest.approx(made["bundle_mb"] * 1e6, rel=0.01)


NO_COMPILER = "for name in cc gcc g++ clang make; do ! command -v $name || exit 9; done"


@pytest.mark.parametrize("system", ["bookworm", "noble"])
def test_one_command_on_a_fresh_system(request: pytest.FixtureRequest, made: dict[str, Any], system: str) -> None:
    root: Path = request.getfixturevalue(system)
    inside(root, f"{NO_COMPILER}; ! command -v python3")
    subprocess.run(["tar", "xf", made["bundle"], "-C", root / "root"], check=True)
    said = inside(root, "cd /root/acud-*; ./install")
    assert f"acud {made['version']} (protocol 1) installed in" in said
    demo = inside(root, f"acud demo; {NO_COMPILER}")
    assert 'reads "Download complete"' in demo
    assert "latency   changed → resolved in" in demo
    assert "PIL: pillow-simd 12.1.1.post0, and nothing else" in inside(root, "acud doctor || true")
    assert int(inside(root, "du -s -B1 /opt/acud").split()[0]) <= INSTALLED_MB * 1e6
    units = inside(root, "cat /usr/local/lib/systemd/user/acud.service /usr/local/lib/systemd/system/acud.service")
    assert units.count("\nExecStart=/opt/acud/bin/acud daemon run\n") == 2
    assert "\nExecStart=/opt/acud/bin/acud fleet serve\n" in inside(
        root, "cat /usr/local/lib/systemd/user/acud-fleet.service"
    )
    inside(root, "cd /root/acud-*; ./install --uninstall; ! command -v acud; ! test -e /opt/acud")


def test_the_wheelhouse_by_pip_pipx_and_uv(bookworm: Path, made: dict[str, Any]) -> None:
    shutil.copy(ROOT / ".tools" / "bin" / "uv", bookworm / "usr" / "local" / "bin" / "uv")
    shutil.copytree(made["wheelhouse"], bookworm / "root" / "wheels")
    inside(bookworm, "apt-get update -q; apt-get install -y -q --no-install-recommends pipx python3-venv")
    ways = {
        "pip": 'python3 -m venv /root/own; /root/own/bin/pip install --no-index --find-links /root/wheels "acud[push]"'
        "; /root/own/bin/pip check; /root/own/bin/acud doctor || true",
        "pipx": 'pipx install --pip-args="--no-index --find-links /root/wheels" acud; acud doctor || true; '
        "pipx uninstall acud",
        "uv": "uv tool install --no-index --find-links /root/wheels acud; acud doctor || true; uv tool uninstall acud",
    }
    for way, script in ways.items():
        said = inside(bookworm, f"{script}; {NO_COMPILER}")
        assert "PIL: pillow-simd 12.1.1.post0, and nothing else" in said, way
