"""`python -m acud.supervisor [--debug]`: the daemon in the foreground."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import msgspec

from acud import config, log, paths
from acud.clock import SystemClock
from acud.errors import AcudError
from acud.process import become_subreaper
from acud.supervisor import instance, logfile
from acud.supervisor.app import App
from acud.supervisor.commands import handlers


def main() -> int:
    """Run until a signal or a `shutdown` request; return the exit code."""
    try:
        return _run("--debug" in sys.argv[1:])
    except AcudError as fault:
        sys.stderr.write(f"acud: {fault}\n")
        return 1


def _run(debug: bool) -> int:
    os.umask(0o077)
    places = paths.resolve(os.environ)
    paths.make_private(places.home)
    settings = config.load(places.config, os.environ)
    if debug:
        settings = msgspec.structs.replace(settings, daemon=msgspec.structs.replace(settings.daemon, debug=True))
    instance.prepare(places)
    lock = instance.InstanceLock(places.lock)
    try:
        return _serve(settings, places)
    finally:
        lock.release()


def _serve(settings: config.Settings, places: paths.Paths) -> int:
    swept = instance.sweep(places)
    become_subreaper()
    with _logging(places.debug_log, settings.daemon) as log_file:
        if swept:
            log.logger("supervisor").info("instance.swept", files=len(swept))
        app = App(settings, places, SystemClock(), os.environ, log_file)
        logfile.keep_small(app.loop, places.debug_log, settings.daemon.log_max_mb)
        _end_on_signals(app)
        try:
            app.start(handlers())
            app.loop.run()
        finally:
            app.close()
            instance.dismantle(places)
    return 0


@contextlib.contextmanager
def _logging(path: Path, settings: config.DaemonSettings) -> Iterator[IO[bytes]]:
    """Send this process's events, and its children's standard error, to the log file."""
    with path.open("ab", buffering=0) as log_file:
        path.chmod(0o600)
        os.dup2(log_file.fileno(), sys.stderr.fileno())
        log.configure("supervisor", debug=settings.debug)
        yield log_file


def _end_on_signals(app: App) -> None:
    """End in good order on SIGTERM and SIGINT (signal.set_wakeup_fd wakes the poll)."""
    reader, writer = socket.socketpair()
    reader.setblocking(False)
    writer.setblocking(False)
    signal.set_wakeup_fd(writer.fileno())
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)

    def wake() -> None:
        with contextlib.suppress(BlockingIOError):
            while reader.recv(64):
                writer.fileno()  # keeps the pair alive with this callback
        app.end(keep_displays=False)

    app.loop.watch(reader, wake)


if __name__ == "__main__":
    sys.exit(main())
