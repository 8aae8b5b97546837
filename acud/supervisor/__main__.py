"""`python -m acud.supervisor [--debug] [--sockets=gateway=5,relay=6]`: the daemon in the foreground.

`--sockets`: inherited descriptors of sockets that a former daemon listened on.
"""

from __future__ import annotations

import contextlib
import gc
import os
import resource
import signal
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import msgspec

from acud import config
from acud.base import log, paths, private_files
from acud.base.clock import SystemClock
from acud.base.errors import AcudError, Unavailable
from acud.config import http_listeners
from acud.features.supervisors import FEATURES, redaction
from acud.process.child_process import become_subreaper
from acud.store import backup
from acud.supervisor import instance, logfile
from acud.supervisor.app import App
from acud.supervisor.handlers import HANDLERS


def main() -> int:
    """Run until a signal or a `shutdown` request; return the exit code."""
    try:
        return _run_daemon("--debug" in sys.argv[1:])
    except AcudError as fault:
        sys.stderr.write(f"acud: {fault}\n")
        return 1


def _run_daemon(debug: bool) -> int:
    os.umask(0o077)
    # A core dump would hold keys and pictures of screens; children and programs on displays inherit this.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    places = paths.resolve(os.environ)
    opened = private_files.check_instance(places)
    with _explain_os_errors(places.home):
        paths.make_private(places.home)
    settings = config.load(places.config, os.environ)
    if debug:
        settings = msgspec.structs.replace(settings, daemon=msgspec.structs.replace(settings.daemon, debug=True))
    with _explain_os_errors(places.home):
        lock = instance.InstanceLock(places.lock)
    try:
        with _explain_os_errors(places.home):
            backup.finish_swap(places.home)  # first: an interrupted restore may have left gaps that others would fill
            instance.prepare(places)
        return _serve(settings, places, opened)
    finally:
        lock.release()


def _serve(settings: config.Settings, places: paths.Paths, opened: list[private_files.Deviation]) -> int:
    with _explain_os_errors(places.home):
        swept = instance.remove_leftovers(places)
    become_subreaper()
    given = http_listeners.inherited_sockets(_read_option("--sockets="), os.environ)
    is_made = False
    try:
        with _redirect_log(places, settings.daemon) as log_file:
            if swept:
                log.logger("supervisor").info("instance.swept", files=len(swept))
            for one in opened:
                log.logger("supervisor").warning("instance.open", path=str(one.path), fault=one.fault, fix=one.fix)
            for former, name in config.former_names(places.config, os.environ):
                log.logger("supervisor").warning("settings.former_name", former=former, name=name)
            app = App(settings, places, SystemClock(), os.environ, log_file, given, HANDLERS, FEATURES, redaction)
            is_made = True
            gc.freeze()  # the objects made so far live as long as the process: spare collections the work
            _run_app(app)
    finally:
        instance.dismantle(places, rings=is_made)
    return 0


def _read_option(name: str) -> str:
    return next((one.removeprefix(name) for one in sys.argv[1:] if one.startswith(name)), "")


def _run_app(app: App) -> None:
    for path in (app.paths.debug_log, app.paths.programs_log):
        logfile.keep_small(app, path)
    _end_on_signals(app)
    try:
        app.start()
        app.loop.run()
    finally:
        app.close()


@contextlib.contextmanager
def _explain_os_errors(home: Path) -> Iterator[None]:
    """Turn faults of the file system (full, read-only, no permission) into a reason not to start."""
    try:
        yield
    except OSError as fault:
        where = f": {fault.filename}" if fault.filename else ""
        raise Unavailable(
            f"cannot start in {home}: {fault.strerror}{where}", hint="mend that, or set ACU_HOME elsewhere"
        ) from fault


@contextlib.contextmanager
def _redirect_log(places: paths.Paths, settings: config.DaemonSettings) -> Iterator[IO[bytes]]:
    """Send this process's events, and its children's standard error, to the log file. A fault that ends the daemon is
    logged there, and then printed by `main` on its original standard error.
    """
    with contextlib.ExitStack() as stack:
        with _explain_os_errors(places.home):
            log_file = stack.enter_context(_open_log(places.debug_log))
        stack.callback(os.dup2, stack.enter_context(_duplicate_file(sys.stderr)).fileno(), sys.stderr.fileno())
        os.dup2(log_file.fileno(), sys.stderr.fileno())
        log.configure("supervisor", debug=settings.debug)
        try:
            yield log_file
        except AcudError as fault:
            log.logger("supervisor").error("daemon.ended", fault=str(fault))
            raise


def _open_log(path: Path) -> IO[bytes]:
    descriptor = private_files.open_regular(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.fchmod(descriptor, 0o600)
    return os.fdopen(descriptor, "ab", buffering=0)


def _duplicate_file(file: IO[str]) -> IO[bytes]:
    return os.fdopen(os.dup(file.fileno()), "wb", buffering=0)


def _end_on_signals(app: App) -> None:
    """End in good order on SIGTERM and SIGINT, reload on SIGHUP (signal.set_wakeup_fd wakes the poll)."""
    reader, writer = socket.socketpair()
    reader.setblocking(False)
    writer.setblocking(False)
    signal.set_wakeup_fd(writer.fileno())
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: None)

    def on_signal() -> None:
        numbers = b""
        with contextlib.suppress(BlockingIOError):
            while came := reader.recv(64):
                numbers += came
                writer.fileno()  # keeps the pair alive with this callback
        if signal.SIGTERM in numbers or signal.SIGINT in numbers:
            app.end(keep_displays=False)
        elif signal.SIGHUP in numbers:
            app.settings_reload.on_signal()

    app.loop.watch(reader, on_signal)


if __name__ == "__main__":
    sys.exit(main())
