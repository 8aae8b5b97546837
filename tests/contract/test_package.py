"""The parts of scripts/package: what it takes from the lock, what its `install` does with a small bundle, what acud's
metadata says. The whole of it on a Debian without compiler: tests/e2e/test_package_install.py.
"""

from __future__ import annotations

import ensurepip
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from acud.base.extras import EXTRAS
from scripts import package

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
VERSION = PROJECT["version"]
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"


# ---- lock and metadata ---------------------------------------------------------------------------------------------


def test_a_package_with_a_pin_for_each_python_keeps_both() -> None:
    """The lock has two numpy; with the last alone the wheelhouse of Python 3.11 had none."""
    one, two = f"--hash=sha256:{'1' * 64}", f"--hash=sha256:{'2' * 64}"
    lock = "\n    ".join(["a==1 ; python_version < '3.12' \\", f"{one}\na==2 \\", f"{two}\nB_c==3 \\", one])
    found = package.entries(lock)
    assert found.keys() == {"a", "b-c"}
    assert found["a"].count("--hash") == 2


def test_all_that_is_built_from_source_is_in_the_lock() -> None:
    locked = package.entries((ROOT / "requirements.lock").read_text(encoding="utf-8"))
    assert {*package.FROM_SOURCE, *package.BUILD_TOOLS} <= locked.keys()
    assert "pillow" not in locked


def test_dependencies_have_bounds_and_the_lock_is_within_them() -> None:
    from packaging.requirements import Requirement

    locked = dict(
        re.findall(r"^([a-z0-9.-]+)(?:\[\S+\])?==([^ ;]+)", (ROOT / "requirements.lock").read_text(), re.MULTILINE)
    )
    extras = [line for lines in PROJECT["optional-dependencies"].values() for line in lines]
    for wanted in map(Requirement, [*PROJECT["dependencies"], *extras]):
        if wanted.name == "acud":  # the extra `all`
            continue
        kinds = {one.operator for one in wanted.specifier}
        assert kinds == {"=="} or kinds == {">=", "<"}, wanted
        if wanted.name in locked:
            assert wanted.specifier.contains(locked[wanted.name], prereleases=True), wanted


def test_extras_of_the_bundle_are_those_of_the_package() -> None:
    extras = PROJECT["optional-dependencies"]
    in_all = extras["all"][0].removeprefix("acud[").removesuffix("]").split(",")
    assert {*package.EXTRAS, *in_all, "omniparser", "ray"} == extras.keys()
    said = (ROOT / "conf" / "package" / "install").read_text(encoding="utf-8")
    assert all(re.search(rf"--extra NAME .*\b{extra}\b", said) for extra in package.EXTRAS)


def test_the_table_of_extras_names_a_module_of_each_package() -> None:
    named = {"google-re2": "re2", "nats-py[nkeys]": "nats", "pynacl": "nacl", "python-stdnum": "stdnum"}
    named |= {
        "opentelemetry-exporter-otlp-proto-http": "opentelemetry.exporter.otlp.proto.http",
        "opentelemetry-sdk": "opentelemetry.sdk",
    }
    for extra, modules in EXTRAS.items():
        packages = [re.split("[>=<]", line)[0] for line in PROJECT["optional-dependencies"][extra]]
        assert sorted(named.get(name, name.replace("-", "_")) for name in packages) == sorted(modules), extra


def test_what_is_left_out_is_there_to_be_left_out() -> None:
    """A new OpenVINO with other names would let the installation grow unseen."""
    site = Path(importlib.util.find_spec("numpy").origin).parents[1]  # type: ignore[union-attr,arg-type]
    lines = (ROOT / "conf" / "package" / "trim").read_text(encoding="utf-8").splitlines()
    patterns = [line for line in lines if not line.startswith("#")]
    assert patterns
    assert [pattern for pattern in patterns if not list(site.glob(pattern))] == []


def test_a_wheel_without_requirements_is_whole_and_names_itself(tmp_path: Path) -> None:
    _wheel(tmp_path)
    package.drop_requirements(tmp_path / f"acud-{VERSION}-py3-none-any.whl")
    (made,) = tmp_path.iterdir()
    info = f"acud-{VERSION}+models.dist-info"
    with zipfile.ZipFile(made) as opened:
        assert made.name == f"acud-{VERSION}+models-py3-none-any.whl"
        assert f"\nVersion: {VERSION}+models\n" in opened.read(f"{info}/METADATA").decode()
        assert "Requires-Dist" not in opened.read(f"{info}/METADATA").decode()
        rows = opened.read(f"{info}/RECORD").decode().splitlines()
        assert sorted(row.split(",")[0] for row in rows) == sorted(opened.namelist())


# ---- install -------------------------------------------------------------------------------------------------------

Run = Callable[..., subprocess.CompletedProcess[str]]


def _wheel(folder: Path, version: str = VERSION) -> None:
    """Write a wheel called acud whose one module prints its version."""
    info = f"acud-{version}.dist-info"
    files = {
        "acud_stand_in.py": f"def main():\n    print('acud {version}')\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: acud\nVersion: {version}\nProvides-Extra: all\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": "[console_scripts]\nacud = acud_stand_in:main\n",
    }
    with zipfile.ZipFile(folder / f"acud-{version}-py3-none-any.whl", "w") as opened:
        for name, text in files.items():
            opened.writestr(name, text)
        opened.writestr(f"{info}/RECORD", "".join(f"{name},,\n" for name in files) + f"{info}/RECORD,,\n")


def _pip() -> Path:
    """Return a wheel of pip that comes with Python. Debian keeps it elsewhere."""
    places = [Path(ensurepip.__file__).parent / "_bundled", Path("/usr/share/python-wheels")]
    return next(wheel for place in places for wheel in sorted(place.glob("pip-*.whl")))


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    made: Path = tmp_path / "bundle"
    (made / "wheels").mkdir(parents=True)
    _wheel(made / "wheels")
    shutil.copy(_pip(), made / "wheels")
    package.add_files(made, VERSION, [PYTHON])
    return made


@pytest.fixture
def run(bundle: Path, tmp_path: Path) -> Run:
    """Run the bundle's `install` as somebody who is not root and has a home of their own."""
    other = tmp_path / "programs"
    other.mkdir()
    (other / "id").write_text("#!/bin/sh\necho 4242\n", encoding="utf-8")
    (other / "id").chmod(0o755)
    env = {"PATH": f"{other}:/usr/bin:/bin", "HOME": str(tmp_path / "home"), "ACU_PYTHON": sys.executable}

    def runs(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [bundle / "install", *arguments], env=env, capture_output=True, text=True, timeout=100, check=False
        )

    return runs


def test_install_upgrade_and_uninstall(run: Run, bundle: Path, tmp_path: Path) -> None:
    local = tmp_path / "home" / ".local"
    prefix, link = local / "share/acud", local / "bin/acud"

    def version() -> str:
        return subprocess.run([link], capture_output=True, text=True, check=True).stdout

    for _ in range(2):  # the second is an upgrade
        done = run()
        assert (done.returncode, done.stderr) == (0, "")
        assert f"acud {VERSION} installed in" in done.stdout
        assert version() == f"acud {VERSION}\n"
        assert not (prefix / "of the former").exists()
        (prefix / "of the former").touch()
    unit = (local / "share/systemd/user/acud.service").read_text(encoding="utf-8")
    assert f"\nExecStart={prefix}/bin/acud daemon run\n" in unit
    assert (prefix / "share/doc/acud/acud.toml").read_text() == (ROOT / "conf/acud.toml").read_text()
    assert (prefix / "share/doc/acud/packaging.md").is_file()

    (bundle / "wheels" / f"acud-{VERSION}-py3-none-any.whl").unlink()
    package.write_sums(bundle)
    done = run()
    assert done.returncode != 0
    assert f"what was there before is back at {prefix}" in done.stderr
    assert version() == f"acud {VERSION}\n"

    assert run("--uninstall").returncode == 0
    assert [path for path in local.rglob("*") if not path.is_dir() or path.is_symlink()] == []


def test_a_damaged_bundle_is_refused(run: Run, bundle: Path, tmp_path: Path) -> None:
    (bundle / "acud.toml").write_text("[display]\n", encoding="utf-8")
    done = run()
    assert done.returncode == 1
    assert "acud.toml: FAILED" in done.stdout
    assert "the bundle is damaged" in done.stderr
    assert not (tmp_path / "home").exists()


def test_a_place_that_holds_something_else_is_left_alone(run: Run, tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "letter").touch()
    for arguments in (["--prefix", str(tmp_path / "theirs")], ["--prefix", str(tmp_path / "theirs"), "--uninstall"]):
        assert run(*arguments).returncode == 1
    assert (tmp_path / "theirs" / "letter").exists()


def test_what_it_does_not_know_is_named(run: Run) -> None:
    assert "unknown option --perfix" in run("--perfix", "/x").stderr
    assert "sudo ./install" in run("--help").stdout


def test_a_python_without_wheels_is_refused(run: Run, bundle: Path, tmp_path: Path) -> None:
    package.add_files(bundle, VERSION, ["3.9"])
    assert "no Python here that the bundle has wheels for (3.9)" in run("--only-prefix").stderr
    assert not (tmp_path / "home").exists()


def test_addresses_stand_in_the_metadata_where_somebody_names_them(tmp_path: Path) -> None:
    shutil.copy(ROOT / "conf" / "package" / "project_urls.py", tmp_path / "hook.py")
    head = '[project]\nname = "a"\nversion = "1"\ndynamic = ["urls"]\n'
    (tmp_path / "pyproject.toml").write_text(f'{head}[tool.hatch.metadata.hooks.custom]\npath = "hook.py"\n', "utf-8")
    script = (
        "from hatchling.metadata.core import ProjectMetadata; from hatchling.plugin.manager import PluginManager; "
        "print(ProjectMetadata('.', PluginManager()).core.urls)"
    )

    def told(**named: str) -> str:
        command, env = [sys.executable, "-c", script], os.environ | named
        return subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=True).stdout.strip()

    assert told() == "{}"
    assert told(PACKAGE_PROJECT_URLS='{"Homepage": "https://example.org"}') == "{'Homepage': 'https://example.org'}"


@pytest.mark.parametrize(
    "text", ["https://example.org", "Homepage=example.org", "=https://x.org", f"{'n' * 33}=https://x"]
)
def test_an_address_without_a_name_or_scheme_is_refused(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        package.main(["--url", text])
    assert "such as Homepage=https://example.org/acud" in capsys.readouterr().err
