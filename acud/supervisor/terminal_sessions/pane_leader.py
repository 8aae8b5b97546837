"""The first process of a pane that runs a command: it ends as the command did, once tmux has read all its output.

tmux (seen with 3.3a) closes a pane when its first process ended, and drops what it has not read by then. So this
process asks the terminal for its status first (DSR): tmux answers once it has read all that came before. Run by its
path with `python -I -S`; it imports nothing of acud.
"""

from __future__ import annotations

import os
import resource
import select
import signal
import sys
import termios
import time
import tty
from collections.abc import Sequence

_ANSWER_S = 5.0  # the longest wait for the terminal's answer
_STATUS, _WELL = b"\033[5n", b"\033[0n"
_FORWARDED = {signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGWINCH}
_TAKEN = {*_FORWARDED, signal.SIGCHLD, signal.SIGINT, signal.SIGQUIT}
"""SIGINT and SIGQUIT come from keys: the command, in the same process group, gets them too."""
_OF_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)  # ignored by Python, but the command must not inherit that


def run(command: Sequence[str]) -> int:
    """Run `command` to its end; return its exit status, a signal's number negative."""
    # Use sigwait: a handler would not run for a signal that comes just before `waitpid`.
    signal.pthread_sigmask(signal.SIG_BLOCK, _TAKEN)
    child = os.posix_spawnp(command[0], [*command], os.environ, setsigmask=(), setsigdef=_OF_PYTHON)
    while True:
        number = signal.sigwait(_TAKEN)
        if number in _FORWARDED:
            os.kill(child, number)
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)


def wait_until_read(terminal: int) -> None:
    """Wait until the `terminal` has read what was written to it, or is gone."""
    for number in (signal.SIGTTOU, signal.SIGTTIN):
        signal.signal(number, signal.SIG_IGN)
    end_s = time.monotonic() + _ANSWER_S
    said = b""
    try:
        os.tcsetpgrp(terminal, os.getpgrp())  # the command may have left another group in front
        os.set_blocking(terminal, True)
        tty.setraw(terminal)  # drops unread typing, and does not echo the terminal's answer
        os.write(terminal, _STATUS)
        while _WELL not in said and select.select([terminal], [], [], max(0.0, end_s - time.monotonic()))[0]:
            more = os.read(terminal, 1024)
            if not more:  # it was closed
                return
            said += more
    except (OSError, termios.error):
        pass


def end_as(code: int) -> None:
    """End this process with the exit status `code`, or by the signal of a negative one."""
    if code < 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # the command left its own
        if -code not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(-code, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.kill(os.getpid(), -code)
    os._exit(code)


if __name__ == "__main__":
    ended = run(sys.argv[1:])
    wait_until_read(0)
    end_as(ended)
