"""A wheelhouse and a bundle that install acud without a compiler; see docs/packaging.md.

Each interpreter has its own environment under .state with the tools of conf/package.lock. In it pip downloads the
locked wheels, hashes checked, and compiles pillow-simd. auditwheel carries its libraries into its wheel, because Debian
and Ubuntu name libjpeg differently. The bundle is installed once, to see that it can be and what that takes.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
LOCK = ROOT / "requirements.lock"
TOOLS_LOCK = ROOT / "conf" / "package.lock"
UV = ROOT / ".tools" / "bin" / "uv"
EXTRAS = ("all", "ocr")
"""Extras whose wheels are in the bundle; it installs the first. Not `ray` and `omniparser`: 0.2 and several GB."""

_UV_ENV = {"UV_PYTHON_DOWNLOADS": "never", "UV_SYSTEM_CERTS": "1", "UV_NO_PROGRESS": "1"}

FROM_SOURCE = {"http-ece", "nkeys", "pillow-simd"}
"""What its makers publish no wheels of."""

BUILD_TOOLS = ("hatchling", "pybind11", "setuptools")
"""Those of the lock's group `build` that make wheels."""

BASE_PACKAGES = ("Essential: yes", "Priority: required")
"""What says of a Debian package that every machine has it; apt and what all of them need are there besides."""


_LONGEST_LABEL = 32
"""Of an address, as indexes take it (packaging.python.org, "Well-known Project URLs in Metadata")."""


class Fault(Exception):
    """Something could not be made; the message is one line."""


def main(arguments: list[str]) -> int:
    """Build, measure, and print what was made."""
    parser = argparse.ArgumentParser(prog="scripts/package", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--python", action="append", metavar="PATH", help="an interpreter to make wheels for")
    parser.add_argument(
        "--url", action="append", default=[], type=_url, metavar="NAME=ADDRESS", help="an address for acud's metadata"
    )
    parser.add_argument("--unmeasured", action="store_true", help="do not install it to see what it takes")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "package", metavar="DIR", help="where to")
    asked = parser.parse_args(arguments)
    for flags in ("CC", "CFLAGS", "CPPFLAGS", "LDFLAGS"):
        os.environ.pop(flags, None)  # what a person sets for this machine's processor
    base = Path(sys.base_prefix) / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}"
    interpreters = [Path(one) for one in asked.python or [base]]
    try:
        made = package(interpreters, asked.out.resolve(), dict(asked.url))
        if not asked.unmeasured:
            _tell("installing it once")
            made |= measured(Path(made["wheelhouse"]).parent, interpreters[0])
    except Fault as fault:
        print(f"package: {fault}", file=sys.stderr)
        return 1
    print(json.dumps(made) if asked.json else "\n".join(f"{name:<15} {value}" for name, value in made.items()))
    return 0


def _url(text: str) -> tuple[str, str]:
    """Return the name and the address of `Homepage=https://example.org`. Raises: argparse.ArgumentTypeError."""
    name, _, address = text.partition("=")
    if not name or len(name) > _LONGEST_LABEL or not address.startswith(("https://", "http://")):
        raise argparse.ArgumentTypeError(f"{text!r} is no NAME=ADDRESS, such as Homepage=https://example.org/acud")
    return name, address


def package(interpreters: list[Path], out: Path, urls: Mapping[str, str]) -> dict[str, Any]:
    """Make the wheelhouse and the bundle in `out`; return what they are. `urls`: the project's addresses by name."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    shutil.rmtree(out, ignore_errors=True)
    bundle = out / f"acud-{version}-linux-x86_64"
    wheels = bundle / "wheels"
    wheels.mkdir(parents=True)
    pythons = [_add_wheels(interpreter, wheels, urls) for interpreter in interpreters]
    add_files(bundle, version, pythons)
    archive = _archive(bundle)
    return {
        "version": version,
        "pythons": pythons,
        "wheels": len(list(wheels.iterdir())),
        "needs_compiler": any(path.suffix != ".whl" for path in wheels.iterdir()),
        "wheelhouse": str(wheels),
        "bundle": str(archive),
        "bundle_mb": round(archive.stat().st_size / 1e6, 1),
        "sha256": hashlib.sha256(archive.read_bytes()).hexdigest(),
    }


def measured(bundle: Path, interpreter: Path) -> dict[str, Any]:
    """Return what `bundle` takes installed, the Python side and the system's packages."""
    return {"installed_mb": installed_mb(bundle, interpreter), "apt_mb": apt_mb(runtime_packages())}


def _tell(words: str) -> None:
    print(f"==> {words}", file=sys.stderr, flush=True)


def _run(command: Iterable[str | Path], env: Mapping[str, str] | None = None, given: str = "") -> str:
    command = [str(part) for part in command]
    done = subprocess.run(
        command, input=given, capture_output=True, text=True, check=False, cwd=ROOT, env={**os.environ, **(env or {})}
    )
    if done.returncode != 0:
        print(done.stdout[-4000:] + done.stderr[-4000:], file=sys.stderr)
        raise Fault(f"{' '.join(command)[:200]}: exit code {done.returncode}")
    return done.stdout


# ---- wheels --------------------------------------------------------------------------------------------------------


def _add_wheels(interpreter: Path, wheels: Path, urls: Mapping[str, str]) -> str:
    """Put the wheels for one interpreter into `wheels`; return its version, such as "3.11"."""
    python = _run([interpreter, "-c", "import sys; print(*sys.version_info[:2], sep='.')"]).strip()
    env = _tools(interpreter, python)
    locked = entries(LOCK.read_text(encoding="utf-8"))
    wanted = runtime_names(python)
    absent = wanted - locked.keys()
    if absent:
        raise Fault(f"requirements.lock does not have {', '.join(sorted(absent))}; run scripts/lock")
    with tempfile.TemporaryDirectory() as scratch:
        downloads, source = Path(scratch, "downloads.lock"), Path(scratch, "source.lock")
        downloads.write_text("".join(locked[name] for name in sorted(wanted - FROM_SOURCE)), encoding="utf-8")
        source.write_text("".join(locked[name] for name in sorted(FROM_SOURCE)), encoding="utf-8")
        _tell(f"Python {python}: {len(wanted)} wheels")
        pip = [env / "bin" / "python", "-m", "pip"]
        checked = ["--quiet", "--no-deps", "--require-hashes"]
        _run([*pip, "download", *checked, "--only-binary", ":all:", "-d", wheels, "-r", downloads])
        drop_requirements(next(wheels.glob("rapidocr-*[0-9]-py3-none-any.whl")))
        installer = Path(scratch, "pip.lock")
        installer.write_text(entries(TOOLS_LOCK.read_text(encoding="utf-8"))["pip"], encoding="utf-8")
        _run([*pip, "download", *checked, "--only-binary", ":all:", "-d", wheels, "-r", installer])
        _tell(f"Python {python}: compiling {', '.join(sorted(FROM_SOURCE))}")
        # Past pip's cache: a wheel's name does not say for which processor it was compiled.
        raw = Path(scratch, "raw")
        _run([*pip, "wheel", *checked, "--no-cache-dir", "--no-build-isolation", "-w", raw, "-r", source])
        path = {"PATH": f"{env / 'bin'}:{os.environ['PATH']}"}
        own = Path(scratch, "own")
        _run([env / "bin" / "auditwheel", "repair", "-w", wheels, *raw.glob("*-linux_x86_64.whl")], path)
        own_sources = [ROOT, ROOT / "conf" / "pillow-shim"]
        named = {"PACKAGE_PROJECT_URLS": json.dumps(dict(urls))}
        _run([*pip, "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", own, *own_sources], named)
        _run([env / "bin" / "twine", "check", "--strict", *own.glob("acud-*.whl")])
        for wheel in (*own.glob("*.whl"), *raw.glob("*-none-any.whl")):
            shutil.copy(wheel, wheels)
    _check_simd(wheels, python)
    return python


def drop_requirements(wheel: Path) -> None:
    """Put in the place of a wheel one that asks for no other, `+models` in its version: acud reads the models of
    RapidOCR and runs none of its code, which would bring OpenCV.
    """
    name, version, tags = wheel.name.split("-", 2)
    own = f"{version}+models"
    record = f"{name}-{own}.dist-info/RECORD"
    rows = [f"{record},,\n"]
    with zipfile.ZipFile(wheel) as taken, zipfile.ZipFile(wheel.with_name(f"{name}-{own}-{tags}"), "w") as made:
        for file in taken.namelist():
            place, data = file.replace(f"{name}-{version}.dist-info/", f"{name}-{own}.dist-info/"), taken.read(file)
            if place.endswith(".dist-info/METADATA"):
                data = re.sub(rb"^Requires-Dist: .*\n", b"", data, flags=re.MULTILINE)
                data = data.replace(f"\nVersion: {version}\n".encode(), f"\nVersion: {own}\n".encode(), 1)
            if place != record:
                made.writestr(place, data, zipfile.ZIP_DEFLATED)
                digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
                rows.append(f"{place},sha256={digest},{len(data)}\n")
        made.writestr(record, "".join(rows))
    wheel.unlink()


def _tools(interpreter: Path, python: str) -> Path:
    """Return the environment of tools on `interpreter`, made when the lock or the interpreter is another."""
    env = ROOT / ".state" / f"package-env-{python}"
    locked = entries(LOCK.read_text(encoding="utf-8"))
    tools = TOOLS_LOCK.read_text(encoding="utf-8")
    builders = needed_names(python, "-", given="\n".join(BUILD_TOOLS)) - entries(tools).keys()
    wanted = tools + "".join(locked[name] for name in sorted(builders))
    stamp = hashlib.sha256(f"{interpreter} {wanted}".encode()).hexdigest()
    if (env / ".made").is_file() and (env / ".made").read_text(encoding="utf-8") == stamp:
        return env
    _tell(f"Python {python}: tools")
    _run([UV, "venv", "--quiet", "--no-config", "--clear", "--python", interpreter, env], _UV_ENV)
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as lock:
        lock.write(wanted)
        lock.flush()
        _run([UV, "pip", "sync", "--quiet", "--no-config", "--python", env, "--require-hashes", lock.name], _UV_ENV)
    (env / ".made").write_text(stamp, encoding="utf-8")
    return env


def _check_simd(wheels: Path, python: str) -> None:
    from scripts.simd_kind import simd_kind

    tag = f"cp{python.replace('.', '')}"
    (wheel,) = wheels.glob(f"pillow_simd-*-{tag}-*.whl")
    with zipfile.ZipFile(wheel) as opened, tempfile.TemporaryDirectory() as scratch:
        (core,) = (name for name in opened.namelist() if re.match(r"PIL/_imaging\.\S+\.so$", name))
        kind = simd_kind(Path(opened.extract(core, scratch)))
    if kind != "sse4":
        raise Fault(f"{wheel.name} holds {kind} code, not sse4")


# ---- what is needed ------------------------------------------------------------------------------------------------


def entries(lock: str) -> dict[str, str]:
    """Return each package of a lock with its lines: pins and hashes. It may have one for each Python."""
    found: dict[str, str] = {}
    for part in re.split(r"\n(?=[A-Za-z0-9])", "\n" + lock.strip() + "\n"):
        name = re.match(r"[A-Za-z0-9._-]+", part)
        if name:
            at = re.sub(r"[-_.]+", "-", name[0]).lower()
            found[at] = found.get(at, "") + part.rstrip() + "\n"
    return found


def needed_names(python: str, *wanted: str | Path, given: str = "") -> set[str]:
    """Return the packages that `wanted`, arguments of `uv pip compile`, come to on that Python, by the lock."""
    options = ["--quiet", "--no-header", "--no-annotate", "--python-version", python, "-c", LOCK]
    return entries(_run([UV, "pip", "compile", *options, *wanted], _UV_ENV, given=given)).keys() - {"acud"}


def runtime_names(python: str) -> set[str]:
    """Return what acud and its extras need. Not `pillow`: the shim is no package of the lock."""
    return needed_names(python, ROOT / "pyproject.toml", *(f"--extra={extra}" for extra in EXTRAS))


def runtime_packages() -> list[str]:
    """Return the system packages that acud runs with."""
    lines = (ROOT / "conf" / "apt-packages").read_text(encoding="utf-8").splitlines()
    return ["python3", *(line for line in lines if not line.startswith("#"))]


# ---- the bundle ----------------------------------------------------------------------------------------------------


def add_files(bundle: Path, version: str, pythons: Iterable[str]) -> None:
    """Put everything but the wheels into `bundle`, and the hashes of all of it. Safe to repeat."""
    install = (ROOT / "conf" / "package" / "install").read_text(encoding="utf-8")
    install = install.replace("@VERSION@", version).replace("@PYTHONS@", " ".join(pythons))
    (bundle / "install").write_text(install, encoding="utf-8")
    (bundle / "install").chmod(0o755)
    for name in ("conf/package/trim", "conf/apt-packages", "conf/acud.toml", "LICENSE", "CHANGELOG.md", "README.md"):
        shutil.copy(ROOT / name, bundle)
    shutil.copytree(ROOT / "conf" / "systemd", bundle / "systemd", dirs_exist_ok=True)
    shutil.copytree(ROOT / "docs", bundle / "docs", dirs_exist_ok=True)
    write_sums(bundle)


def write_sums(bundle: Path) -> None:
    """Write SHA256SUMS, which `install` checks everything else against."""
    files = sorted(path for path in bundle.rglob("*") if path.is_file() and path.name != "SHA256SUMS")
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(bundle)}\n" for path in files]
    (bundle / "SHA256SUMS").write_text("".join(lines), encoding="utf-8")


def _archive(bundle: Path) -> Path:
    """Return a tar of `bundle`, as root's files. Not compressed: wheels are."""
    archive = bundle.with_name(f"{bundle.name}.tar")

    def plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = "root"
        return entry

    with tarfile.open(archive, "w") as opened:
        opened.add(bundle, bundle.name, filter=plain)
    return archive


def installed_mb(bundle: Path, interpreter: Path) -> float:
    """Install `bundle` in a place for the moment and return the megabytes (10^6) that it takes on disk."""
    with tempfile.TemporaryDirectory(prefix="acud-package-") as scratch:
        prefix = Path(scratch, "acud")
        _run([bundle / "install", "--only-prefix", "--prefix", prefix], {"ACU_PYTHON": str(interpreter)})
        files = {(at.st_dev, at.st_ino): at.st_blocks * 512 for at in (path.lstat() for path in prefix.rglob("*"))}
    return round(sum(files.values()) / 1e6, 1)


def apt_mb(packages: Iterable[str]) -> float | None:
    """Return the megabytes that `packages` and what they need add to a minimal Debian; None where there is no apt."""
    if shutil.which("apt-get") is None:
        return None
    base = _by_name(line for line in _run(["apt-cache", "dumpavail"]).split("\n\n") if line)
    needed = [name for name, text in base.items() if any(f"\n{one}" in text for one in BASE_PACKAGES)]
    minimal = _with_dependencies([*needed, "apt"])
    added = _with_dependencies([*minimal, *packages]) - minimal
    return round(sum(int(_field(base[name], "Installed-Size")) for name in added) * 1024 / 1e6, 1)


def _by_name(stanzas: Iterable[str]) -> dict[str, str]:
    """Return the stanzas of dpkg(1)'s control files by the name of their package; of several versions the last."""
    return {_field(one, "Package"): one for one in stanzas}


def _field(stanza: str, name: str) -> str:
    found = re.search(rf"^{name}: (.*)$", stanza, re.MULTILINE)
    return found[1] if found else "0"


def _with_dependencies(packages: Iterable[str]) -> set[str]:
    """Return what apt would install for `packages` on a machine that has nothing."""
    nothing = ["-o", "Dir::State::status=/dev/null", "-o", "APT::Install-Recommends=0"]
    said = _run(["apt-get", "--simulate", *nothing, "install", *packages], {"LC_ALL": "C"})
    return set(re.findall(r"^Inst ([^ :]+)", said, re.MULTILINE))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
