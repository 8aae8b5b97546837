"""`acud doctor`: every part as the daemon reports it and as it is seen from outside, and the fix of each fault."""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from importlib import metadata
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

import click

from acud import __version__, config
from acud.base import private_files
from acud.base.errors import ConfigError, DaemonDown
from acud.base.paths import Paths
from acud.config import Settings
from acud.protocol.requests.daemon import Finding
from acud_cli.formatting import in_words, plain
from acud_cli.session import Session, console, pass_session
from acud_client.daemon_socket import DaemonSocket, SocketState

if TYPE_CHECKING:
    from rich.text import Text


_RANK = {"ok": 0, "warning": 1, "fault": 2}
_MARKS = {"ok": ("ok", "green"), "warning": ("warning", "yellow"), "fault": ("fault", "bold red")}


@click.command(short_help="Check every part, and print the fix of each fault.")
@pass_session
def doctor(session: Session) -> int:
    """Check every part, and print the fix of each fault. It needs no running daemon, and finds more with one.

    Exit code: 0 all well, 1 warnings, 2 faults.

    \b
    acud doctor
    """
    outside = list(outside_findings(session.paths, os.environ))
    inside = _ask_daemon(session)
    worst = max(_RANK[finding.level] for finding in outside + inside)
    session.show({"findings": outside + inside, "worst": worst}, lambda: _print_findings(outside, inside, worst))
    return worst


def _ask_daemon(session: Session) -> list[Finding]:
    try:
        return list(session.client().doctor().findings)
    except DaemonDown as fault:
        if fault.facts.get("reason") == "busy":
            return [Finding("daemon", "fault", fault.message, fault.hint)]
        return []


def _print_findings(outside: list[Finding], inside: list[Finding], worst: int) -> None:
    out = console()
    for title, found in (("this machine", outside), ("the daemon", inside)):
        if found:
            out.print(title, style="dim")
        for finding in found:
            out.print(_format_line(finding), soft_wrap=True)
    start = next((one.fix for one in outside if one.part == _SOCKET and one.level == "warning"), "")
    usable = f"not started yet → {plain(start)}" if start else "usable, with warnings"
    out.print(("all well", usable, "something is broken: mend the faults above")[worst], soft_wrap=True)


def _format_line(finding: Finding) -> Text:
    from rich.text import Text

    word, style = _MARKS[finding.level]
    fix = f"\n{'':11}→ {plain(finding.fix)}" if finding.fix and finding.level != "ok" else ""
    return Text.assemble(
        (f"  {word:<8}", style), f" {plain(finding.part)}: {plain(in_words(finding.text))}", (fix, "bold")
    )


_RING_MB = 15
"""A ring of four 1280x720 frames (architecture, section 9)."""

_WANTED_RINGS = 4
_SOCKET = "control socket"
_SHM = Path("/dev/shm")  # noqa: S108 - where rings live


def outside_findings(paths: Paths, env: Mapping[str, str]) -> Iterator[Finding]:
    """Yield the findings, the basic ones first."""
    yield installation_finding()
    yield pictures_finding({name: metadata.files(name) or [] for name in _PICTURES if _is_installed(name)})
    yield from home_findings(paths)
    yield from permission_findings(paths, env)
    yield from settings_findings(paths, env)
    yield shared_memory_finding()
    yield from program_findings(paths, env)
    yield socket_finding(paths)


def installation_finding() -> Finding:
    """The interpreter and the machine: rings are tested on x86-64 only."""
    text = f"acud {__version__} on Python {platform.python_version()}, {platform.machine()}"
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return Finding("installation", "fault", text, "acud runs on Linux, x86-64")
    return Finding("installation", "ok", text)


_PICTURES = ("pillow", "pillow-simd")


def _is_installed(name: str) -> bool:
    try:
        metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def pictures_finding(installed: Mapping[str, Iterable[PurePath]]) -> Finding:
    """PIL, by the files of the packages that bring it: one, pillow-simd. The shim called `pillow` has none."""
    owners = [name for name, files in installed.items() if any(file.parts[0] == "PIL" for file in files)]
    fix = (
        f"{shlex.quote(sys.executable)} -m pip uninstall -y pillow pillow-simd, then install acud from its wheelhouse "
        "(docs/packaging.md); in a checkout: scripts/setup"
    )
    if not owners:
        return Finding("PIL", "fault", "no package here brings it", fix)
    if owners != ["pillow-simd"]:
        return Finding("PIL", "fault", f"brought by {' and '.join(owners)}; acud needs pillow-simd alone", fix)
    return Finding("PIL", "ok", f"pillow-simd {metadata.version('pillow-simd')}, and nothing else")


def home_findings(paths: Paths) -> Iterator[Finding]:
    """Return the findings on ACU_HOME: it exists, is ours, private, and has room."""
    try:
        found = paths.home.lstat()
    except FileNotFoundError:
        yield Finding("home", "ok", f"{paths.home} (made at the first start)")
        return
    except OSError as fault:
        yield Finding("home", "fault", f"{paths.home}: {fault.strerror}", "make it readable, or set ACU_HOME")
        return
    yield _check_home_owner(paths, found)
    free_mb = shutil.disk_usage(paths.home).free / 1e6
    if free_mb < 200:
        yield Finding("disk", "warning", f"{free_mb:.0f} MB free for evidence and the store", "free some room")


def _check_home_owner(paths: Paths, status: os.stat_result) -> Finding:
    if not stat.S_ISDIR(status.st_mode):
        return Finding("home", "fault", f"{paths.home} is not a directory", "move it away, or set ACU_HOME")
    if status.st_uid != os.getuid():
        text = f"{paths.home} belongs to uid {status.st_uid}, you are {os.getuid()}"
        return Finding("home", "fault", text, "set ACU_HOME to a directory of your own")
    if not os.access(paths.home, os.W_OK | os.X_OK):
        return Finding("home", "fault", f"{paths.home} is not writable", f"chmod 700 {paths.home}")
    if status.st_mode & 0o077:
        return Finding("home", "warning", f"{paths.home} is open to others", f"chmod 700 {paths.home}")
    return Finding("home", "ok", f"{paths.home}, private")


def settings_findings(paths: Paths, env: Mapping[str, str]) -> Iterator[Finding]:
    """The settings file and the environment, read as the daemon reads them."""
    backends: Iterable[str] = ()
    try:
        backends = config.usable(paths.config, env).backends
    except ConfigError as fault:
        yield Finding("settings", "fault", fault.message, fault.hint)
    else:
        source = str(paths.config) if paths.config.exists() else "defaults (no acud.toml)"
        yield Finding("settings", "ok", source)
        for former, name in config.former_names(paths.config, env):
            yield Finding("settings", "warning", f"{former} is the former name of {name}", f"rename it to {name}")
    for name in config.unknown_variables(env, backends):
        yield Finding("settings", "warning", f"{name} is set, and acud does not read it", "see docs/differences.md")


def shared_memory_finding() -> Finding:
    """Room for rings in /dev/shm; containers often give it 64 MB."""
    try:
        free_mb = shutil.disk_usage(_SHM).free / 1e6
    except OSError as fault:
        return Finding("shared memory", "fault", f"{_SHM}: {fault.strerror}", "mount a tmpfs there")
    room = int(free_mb / _RING_MB)
    text = f"{free_mb:.0f} MB free in {_SHM}, room for {room} displays of 1280x720"
    if free_mb < _RING_MB:
        return Finding("shared memory", "fault", text, "enlarge it: mount -o remount,size=512m /dev/shm (--shm-size)")
    if free_mb < _RING_MB * _WANTED_RINGS:
        return Finding("shared memory", "warning", text, "enlarge it: docker run --shm-size=512m")
    # Free space varies all the time: an unchanged machine is reported in the same words.
    return Finding("shared memory", "ok", f"room for {_WANTED_RINGS} displays of 1280x720 and more in {_SHM}")


def program_findings(paths: Paths, env: Mapping[str, str]) -> Iterator[Finding]:
    """What managed displays are made of."""
    yield _find_program("Xvfb", "managed displays", "apt-get install xvfb")
    try:
        wanted = config.load(paths.config, env).display
    except ConfigError:
        return
    if wanted.window_manager:
        name = wanted.window_manager.split()[0]
        yield _find_program(name, "the window manager of managed displays", f"apt-get install {name}")
    if wanted.session_bus:
        yield _find_program("dbus-daemon", "the session bus of managed displays", "apt-get install dbus-daemon")


def _find_program(name: str, use: str, fix: str) -> Finding:
    found = shutil.which(name)
    if found is None:
        return Finding(name, "warning", f"not found; it is needed for {use}", fix)
    return Finding(name, "ok", found)


def socket_finding(paths: Paths) -> Finding:
    """The control socket, as a client meets it."""
    daemon_socket = DaemonSocket(paths.run / "control", paths.fleet)
    status = daemon_socket.look()
    if status.state is SocketState.OPEN:
        return Finding(_SOCKET, "ok", f"{daemon_socket.path}, pid {status.pid}")
    fault = daemon_socket.fault(status.state)
    if status.state is SocketState.ABSENT and not paths.fleet:
        return Finding(_SOCKET, "warning", "not started yet", fault.hint.removeprefix("start it with: "))
    return Finding(_SOCKET, "fault", fault.message, fault.hint)


def permission_findings(paths: Paths, env: Mapping[str, str]) -> Iterator[Finding]:
    """Yield each deviation with the command that mends it; a fault is one that the daemon does not start on."""
    # That ACU_HOME itself can be read is among its other findings.
    found = [one for one in private_files.deviations(paths) if one.grave or one.path != paths.home]
    for one in found:
        yield Finding("permissions", "fault" if one.grave else "warning", f"{one.path} {one.fault}", one.fix)
    yield from _list_named_secrets(paths, env)
    if not found and paths.home.exists():
        yield Finding("permissions", "ok", "directories, sockets, store, keys and cookies are closed to others")


def _list_named_secrets(paths: Paths, env: Mapping[str, str]) -> Iterator[Finding]:
    try:
        settings = config.load(paths.config, env)
    except ConfigError:
        return  # reported as a fault of the settings
    for key, file in _list_secret_files(settings):
        why = private_files.secret_exposure(Path(file).expanduser())
        if why:
            yield Finding("permissions", "warning", f"{file} ({key}) {why}", f"chmod 600 {shlex.quote(file)}")


def _list_secret_files(settings: Settings) -> Iterator[tuple[str, str]]:
    named = {
        "[wake] openclaw_token_file": settings.wake.openclaw_token_file,
        "[wake] webhook_secret_file": settings.wake.webhook_secret_file,
        "[http_endpoints] token_file": settings.http_endpoints.token_file,
        "[web] tls_key": settings.web.tls_key,
    }
    named |= {f"[backends.{name}] api_key_file": one.api_key_file for name, one in settings.backends.items()}
    return ((key, file) for key, file in named.items() if file)
