"""The skeleton of a child process: told what to do on standard input, heard on the `children` socket, dead with the
supervisor.

    def main(bootstrap: Bootstrap) -> None: ...
    if __name__ == "__main__":
        child_process.run(main)

A synchronous child (`SyncChild`) drives an `EventLoop`; an asyncio child (`acud.process.async_child`) awaits. Both
speak msgpack structs over one DEALER socket and never block on a send: what does not fit the queue is counted, and the
next heartbeat reports it.

`python -m acud.capture --forks`, or of `acud.evaluator`, is a fork server: it has imported everything and forks for
each order, so that a start costs a fork and not the imports. It is single-threaded while it serves (no ZeroMQ context,
no pool), so that a fork takes nothing along that it breaks. What it forks becomes a child of the supervisor, as what
that executes is.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import select
import signal
import socket
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, Generic, NoReturn, Self, TypeVar

import msgspec
import zmq

from acud.base import log
from acud.base.errors import AcudError, InternalError, InvalidRequest, Unavailable
from acud.protocol import codec
from acud.protocol.bootstrap import Bootstrap
from acud.protocol.children import Fault, Heartbeat

EXIT_FAULT = 3
"""The child said a `Fault` and ended; a restart may help once the cause is gone."""
_PR_SET_PDEATHSIG = 1  # prctl(2)
_PR_SET_CHILD_SUBREAPER = 36
_SEND_QUEUE = 1000
_LINGER_MS = 500
Incoming = TypeVar("Incoming")
Made = TypeVar("Made")
FORK_FLAG = "--forks"
FORK_SERVER_NAME = "acud-forks"
"""What `ps` calls the server, whose command line those that it forks share (proc_pid_comm(5))."""
_MOST_BYTES = 1 << 20


def run(main: Callable[[Bootstrap], None]) -> NoReturn:
    """Read the bootstrap (with `--forks` each that comes, in a process of its own), tie this process to its parent, run
    `main`, and end with a code that tells how it went.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal's Ctrl-C reaches the group; the supervisor decides
    told = _ordered() if FORK_FLAG in sys.argv else sys.stdin.buffer.read()
    bootstrap = codec.decode(told, Bootstrap)
    die_with_parent(bootstrap.parent_pid)
    os.nice(bootstrap.nice)
    log.configure(bootstrap.identity, debug=bootstrap.debug)
    code = _run_reported(main, bootstrap)
    gc.freeze()  # the interpreter's last collections have nothing to look through then: 0.1 s
    sys.exit(code)


def guarded(call: Callable[[], Made], what: str) -> Made:
    """Return what `call`, which is code of others, returns. Raises: Unavailable naming `what` and what it raised."""
    try:
        return call()
    except Exception as fault:
        log.logger("process").warning("foreign.failed", what=what, fault=type(fault).__name__)
        raise Unavailable(f"{what} failed: {type(fault).__name__}: {str(fault)[:300]}") from fault


async def guarded_async(work: Awaitable[Made], what: str) -> Made:
    """Return what `work`, the answer to one request, comes to. Raises: its own AcudError; InternalError for a fault of
    ours, which is logged, so that one bad request does not end a process that serves many.
    """
    try:
        return await work
    except AcudError:
        raise
    except Exception as fault:
        log.logger("process").exception("request.internal", what=what)
        raise InternalError(
            f"{what} met a fault of acud itself: {type(fault).__name__}", hint="see the traceback in the log"
        ) from fault


def die_with_parent(parent_pid: int) -> None:
    """Have the kernel kill this process when its parent dies; end at once when it already has (prctl(2))."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG)")
    if os.getppid() != parent_pid:
        sys.exit(EXIT_FAULT)


def become_subreaper() -> None:
    """Have orphans of our descendants come to this process, which reaps them (prctl(2))."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


def rss_mb() -> float:
    """Return this process's resident memory in MB (proc_pid_statm(5))."""
    with open("/proc/self/statm", "rb", buffering=0) as statm:  # noqa: PTH123 - asked for at each heartbeat and status
        resident_pages = int(statm.read().split()[1])
    return resident_pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def next_beat_s(now_s: float, heartbeat_s: float, rests_s: float) -> float:
    """Return when a child that sends a heartbeat `now_s` sends the next one, by CLOCK_MONOTONIC; `rests_s` later than
    usual while it rests.

    All children do so at the same moments, so that the supervisor wakes up once for all.
    """
    if not rests_s:
        return round(now_s / heartbeat_s + 1) * heartbeat_s
    period_s = heartbeat_s + rests_s
    return max(now_s + heartbeat_s, (now_s // period_s + 1) * period_s)


def child_socket(context: zmq.Context[Any], bootstrap: Bootstrap) -> Any:
    """Return the connected DEALER socket of a child, of the kind that its `context` makes."""
    socket = context.socket(zmq.DEALER)
    socket.setsockopt(zmq.ROUTING_ID, bootstrap.identity.encode())
    socket.setsockopt(zmq.MAXMSGSIZE, codec.MAX_MESSAGE_BYTES)
    socket.setsockopt(zmq.SNDHWM, _SEND_QUEUE)
    socket.setsockopt(zmq.LINGER, _LINGER_MS)
    socket.connect(bootstrap.endpoint)
    return socket


class SyncChild(Generic[Incoming]):
    """The socket of a synchronous child. `incoming`: the union of messages it accepts.

    Watch `socket` in an `EventLoop`; call `receive` there. Closing twice is harmless.
    """

    def __init__(self, bootstrap: Bootstrap, incoming: Any) -> None:
        self._context: zmq.Context[Any] = zmq.Context()
        self._incoming = incoming
        self.socket: zmq.Socket[bytes] = child_socket(self._context, bootstrap)
        self.unsent = 0
        """Messages that found the queue full; the supervisor learns of the loss from heartbeats."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the socket, giving queued messages half a second to leave."""
        self.socket.close()
        self._context.term()

    def send(self, message: msgspec.Struct) -> bool:
        """Queue `message` without blocking; False (and counted) when the queue is full."""
        try:
            self.socket.send(codec.encode(message), zmq.NOBLOCK)
        except zmq.Again:
            self.unsent += 1
            return False
        return True

    def receive(self) -> Iterator[Incoming]:
        """Yield every message that has arrived; a malformed one is logged and left out."""
        while True:
            try:
                data = self.socket.recv(zmq.NOBLOCK)
            except zmq.Again:
                return
            message = decode_or_none(data, self._incoming)
            if message is not None:
                yield message


def decode_or_none(data: bytes, kind: Any) -> Any:
    """Return the message in `data`; None for a malformed one, which is logged and left out."""
    try:
        return codec.decode(data, kind)
    except InvalidRequest as fault:
        log.logger("process").warning("message.malformed", fault=fault.message, size=len(data))
        return None


def serve_forks() -> bytes:
    """Serve on standard input, a SOCK_SEQPACKET socket: fork for each message, and return it in the new process only.

    Each is answered with the new process's pid as decimal text, `0` when there is none. The server ends with the
    socket.
    """
    before = _renamed(FORK_SERVER_NAME)
    gc.collect()
    gc.freeze()  # what the collector never looks at stays shared with what is forked (gc.freeze)
    with socket.socket(fileno=os.dup(0)) as supervisor:
        while True:
            data = supervisor.recv(_MOST_BYTES)
            if not data:
                os._exit(0)  # nothing is queued here, and taking every module apart would take 0.1 s
            if _forked(supervisor):
                break
    _renamed(before)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    return data


def _ordered() -> bytes:
    """Serve orders; return one in the process that was forked for it, which is not tied to any parent yet."""
    die_with_parent(os.getppid())  # one that is stopped does not read that its supervisor is gone
    return serve_forks()


def _run_reported(main: Callable[[Bootstrap], None], bootstrap: Bootstrap) -> int:
    try:
        main(bootstrap)
    except Exception as fault:
        told = _told(fault)
        if told is None:
            log.logger("process").exception("child.crash")
            return 1
        log.logger("process").error("child.fault", code=told.code, message=told.message)
        _say_fault(bootstrap, told)
        return EXIT_FAULT
    return 0


def _told(fault: BaseException) -> AcudError | None:
    """Return the error that `fault` is, or that a group of tasks ended with; None for an unexpected one."""
    if not isinstance(fault, BaseExceptionGroup):
        return fault if isinstance(fault, AcudError) else None
    parts = [_told(one) for one in fault.exceptions]
    return parts[0] if all(parts) else None


def _say_fault(bootstrap: Bootstrap, fault: AcudError) -> None:
    # `main` has closed its own socket of this identity; the ROUTER takes the new one over (ROUTER_HANDOVER).
    child: SyncChild[Heartbeat] = SyncChild(bootstrap, Heartbeat)
    with child:
        child.send(Fault(fault.code, fault.message, fault.hint))


def _renamed(name: str) -> str:
    """Give this process that name; return the one it had."""
    place = Path("/proc/self/comm")
    before = place.read_text(encoding="utf-8").rstrip("\n")
    place.write_text(name, encoding="utf-8")
    return before


def _forked(supervisor: socket.socket) -> bool:
    """Return True in the new process and False in the server.

    It is forked by a process in between, which ends: an orphan is adopted by the nearest subreaper, the supervisor
    (prctl(2), PR_SET_CHILD_SUBREAPER), which so gets its status and is who it dies with.
    """
    try:
        between = os.fork()
    except OSError:
        supervisor.send(b"0")
        return False
    if between:
        if os.waitpid(between, 0)[1]:
            sys.exit(1)  # it was killed, perhaps before it answered: the next answer would be taken for this one
        return False
    parent = os.getpid()
    if _is_new(supervisor):
        _wait_for_end(parent)  # from then on the kernel counts this process as its new parent's
        return True
    os._exit(0)


def _wait_for_end(pid: int) -> None:
    """Return once that process has ended, reaped or not."""
    with contextlib.suppress(ProcessLookupError):
        ended = os.pidfd_open(pid)
        select.select([ended], [], [])
        os.close(ended)


def _is_new(supervisor: socket.socket) -> bool:
    """Fork and report the new process; return True in it once reported. It ends if the report fails."""
    pid, heard, telling = -1, -1, -1
    with contextlib.suppress(OSError):
        heard, telling = os.pipe()
        pid = os.fork()
    if pid == 0:
        os.close(telling)
        if not os.read(heard, 1):
            os._exit(1)
        os.close(heard)
        return True
    with contextlib.suppress(OSError):  # the supervisor is gone, or gave the server up
        supervisor.send(str(max(0, pid)).encode())
        if pid > 0:
            os.write(telling, b"1")
    return False
