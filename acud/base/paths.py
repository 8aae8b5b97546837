"""ACU_HOME and what lies under it, resolved alike by the daemon and its clients, from HOME alone."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from acud.base.errors import ConfigError, Refused

# sockaddr_un holds 108 bytes with the closing zero (unix(7)); the longest endpoint name below is known.
_LONGEST_SOCKET_PATH = 107
_LONGEST_SOCKET_NAME = "/frames-999999999"
_TERMINALS_SOCKET_NAME = "/tmux"
_SHM = Path("/dev/shm")  # noqa: S108 - the frame bus lives in shared memory by design


class _Below:
    """A place below `home`."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, paths: Paths, owner: type[Paths]) -> Path:
        return paths.home / self._name


class Paths(msgspec.Struct, frozen=True):
    """The paths of one acud instance; building this value touches no file."""

    home: Path
    run: Path
    shm: Path
    fleet: bool = False
    """Whether a fleet's endpoint listens there, rather than a daemon."""

    def of_fleet(self) -> Paths:
        """Return the places of the fleet's endpoint that belongs to this ACU_HOME: a folder of its own below it."""
        found = resolve({"ACU_HOME": str(self.home / "fleet")})
        return Paths(found.home, found.run, found.shm, fleet=True)

    @property
    def instance(self) -> str:
        """The short hash of ACU_HOME that names this instance's shared memory and short socket directory."""
        return self.shm.name.rsplit("-", 1)[1]

    @property
    def config(self) -> Path:
        """The settings file; it may be absent. An endpoint of a fleet reads that of the ACU_HOME it belongs to."""
        return (self.home.parent if self.fleet else self.home) / "acud.toml"

    database = _Below("data.db")
    """The store."""
    debug_log = _Below("logs/debug.log")
    """The daemon's log, JSON lines."""
    programs_log = _Below("logs/programs.log")
    """The output of programs launched on displays that are not ours."""
    evidence = _Below("evidence")
    """Lossless evidence pictures, named by id."""
    recordings = _Below("recordings")
    """Recordings, a folder for each task and for each recording without a task."""
    displays = _Below("displays")
    """Per managed display: Xauthority, D-Bus socket, logs."""
    lock = _Below("supervisor.lock")
    """The single-instance lock; held by the supervisor while it lives."""
    request_key = _Below("request.key")
    """The key for the digests of stored requests; never in the store itself."""
    push_key = _Below("push.key")
    """The private key by which push services recognise this daemon; of this installation."""
    spool = _Below("spool")
    """Pictures on their way from an evaluator to a reply; swept at start."""

    @property
    def terminals(self) -> Path:
        """The folder of the tmux server whose sessions acud opens: unlike `run` it outlives the daemon."""
        folder = self.home / "terminals"
        is_short = len(os.fsencode(folder)) + len(_TERMINALS_SOCKET_NAME) <= _LONGEST_SOCKET_PATH
        return folder if is_short else self.run.with_name(f"{self.run.name}-terminals")

    @property
    def terminals_socket(self) -> Path:
        return Path(f"{self.terminals}{_TERMINALS_SOCKET_NAME}")

    @property
    def handover(self) -> Path:
        """The Unix socket at which a restart asks a daemon for its listening HTTP sockets."""
        return self.run / "handover"

    def endpoint(self, name: str) -> str:
        """Return the ZeroMQ address of the socket `name` (`control`, `events`, `children`)."""
        return f"ipc://{self.run / name}"

    def frames_endpoint(self, display: str) -> str:
        """Return the address on which the capture process of `display` (such as `:100`) publishes notices."""
        return f"ipc://{self.run / ('frames-' + display.lstrip(':').replace('/', '_'))}"


def resolve(env: Mapping[str, str]) -> Paths:
    """Return the places for the environment `env`: ACU_HOME, else ACU_DATA_DIR, else ~/.agentic-computer-use. Raises:
    ConfigError when neither ACU_HOME nor HOME is set, or the path is not absolute.
    """
    text = env.get("ACU_HOME") or env.get("ACU_DATA_DIR") or ""
    if not text:
        user_home = env.get("HOME", "")
        if not user_home:
            raise ConfigError("neither ACU_HOME nor HOME is set", hint="set ACU_HOME to a private directory")
        text = f"{user_home}/.agentic-computer-use"
    home = Path(text).expanduser()
    if not home.is_absolute():
        raise ConfigError(f"ACU_HOME is not an absolute path: {text}", hint="give the full path")
    digest = hashlib.sha256(os.fsencode(home)).hexdigest()[:12]
    shm = _SHM / f"acud-{os.getuid()}-{digest}"
    return Paths(home=home, run=_run_directory(home, digest), shm=shm)


def _run_directory(home: Path, digest: str) -> Path:
    run = home / "run"
    if len(os.fsencode(run)) + len(_LONGEST_SOCKET_NAME) <= _LONGEST_SOCKET_PATH:
        return run
    return Path("/tmp") / f"acud-{os.getuid()}-{digest}"  # noqa: S108 - private, owner checked in make_private


def make_private(directory: Path) -> None:
    """Create `directory` (and parents) with mode 0700, or check that an existing one is ours and closed to others.
    Raises: Refused when it belongs to another user, is a link, or is open to others.
    """
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = directory.lstat()
    if not stat.S_ISDIR(found.st_mode):
        raise Refused(f"{directory} is not a directory", hint="move it away, or set ACU_HOME elsewhere")
    if found.st_uid != os.getuid():
        raise Refused(f"{directory} belongs to uid {found.st_uid}", hint="set ACU_HOME to a directory of your own")
    if found.st_mode & 0o077:
        directory.chmod(0o700)


def free_bytes(folder: Path) -> int:
    """Return the space on the file system of `folder` that this user may use. Raises: OSError."""
    room = os.statvfs(folder)
    return room.f_bavail * room.f_frsize


def sync(*places: Path) -> None:
    """Write these files, or the names in these folders, to the disk. Raises: OSError."""
    for place in places:
        opened = os.open(place, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def keep_secret(path: Path, make: Callable[[], bytes]) -> bytes:
    """Return the content of the file at `path`, made by `make` (0600, with a closing newline) if there is none. Of two
    that start together the first wins. Raises: Refused when others can read it; OSError.
    """
    make_private(path.parent)
    if not path.exists():
        _write_new_file(path, make())
    opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    with os.fdopen(opened, "rb") as file:
        found = os.fstat(opened)
        if found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) & 0o077:
            raise Refused(f"{path} can be read by others", hint=f"remove it; a new one is made: rm {path}")
        return file.read().strip()


def _write_new_file(path: Path, text: bytes) -> None:
    """Put a whole file in place at once, never over an existing one."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    opened = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(opened, "wb") as file:
        file.write(text + b"\n")
    try:
        path.hardlink_to(partial)
    except FileExistsError:
        return
    finally:
        partial.unlink()
