"""The skeleton of a child process: it reads its bootstrap on standard input, sends on the `children` socket, and dies
with the supervisor.

    def main(bootstrap: Bootstrap) -> None: ...
    if __name__ == "__main__":
        child_process.run(main)

A synchronous child (`SyncChild`) drives an `EventLoop`; an asyncio child (`acud.process.async_child`) awaits. Both
send msgpack structs over one DEALER socket and never block on a send: messages that do not fit the queue are counted,
and the next heartbeat reports them.

`python -m acud.capture --forks`, or of `acud.evaluator`, is a fork server: it has imported everything and forks for
each order, so that a start costs a fork and no imports. It is single-threaded while it serves (no ZeroMQ context, no
pool), as forks would break those. A forked process becomes a child of the supervisor, like an executed one.
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
"""The child sent a `Fault` and ended; a restart may help once the cause is gone."""
_PR_SET_PDEATHSIG = 1  # prctl(2)
_PR_SET_CHILD_SUBREAPER = 36
_SEND_QUEUE = 1000
_LINGER_MS = 500
Incoming = TypeVar("Incoming")
Made = TypeVar("Made")
FORK_FLAG = "--forks"
FORK_SERVER_NAME = "acud-forks"
"""The server's process name (proc_pid_comm(5)); its command line is the same as that of its forks."""
_MOST_BYTES = 1 << 20


def run(main: Callable[[Bootstrap], None]) -> NoReturn:
    """Read the bootstrap (with `--forks`: fork for each), tie this process to its parent, run `main` and exit."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the supervisor decides
    order = _receive_order() if FORK_FLAG in sys.argv else sys.stdin.buffer.read()
    bootstrap = codec.decode(order, Bootstrap)
    die_with_parent(bootstrap.parent_pid)
    os.nice(bootstrap.nice)
    log.configure(bootstrap.identity, debug=bootstrap.debug)
    code = _run_and_report(main, bootstrap)
    gc.freeze()  # spares the interpreter's last collections: 0.1 s
    sys.exit(code)


def call_foreign(call: Callable[[], Made], what: str) -> Made:
    """Call foreign code and return its result. Raises: Unavailable naming `what` and the exception."""
    try:
        return call()
    except Exception as fault:
        log.logger("process").warning("foreign.failed", what=what, fault=type(fault).__name__)
        raise Unavailable(f"{what} failed: {type(fault).__name__}: {str(fault)[:300]}") from fault


async def answer_request(work: Awaitable[Made], what: str) -> Made:
    """Await `work`, the answer to one request, and return its result. Raises: its AcudError; InternalError for an
    internal fault, which is logged, so that one bad request does not end a process that serves many.
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
    """Have the kernel kill this process when its parent dies; exit at once if it is dead already (prctl(2))."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG)")
    if os.getppid() != parent_pid:
        sys.exit(EXIT_FAULT)


def become_subreaper() -> None:
    """Have this process adopt orphans of its descendants, which it then reaps (prctl(2))."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


def rss_mb() -> float:
    """Return this process's resident memory in MB (proc_pid_statm(5))."""
    with open("/proc/self/statm", "rb", buffering=0) as statm:  # noqa: PTH123 - read at each heartbeat and status
        resident_pages = int(statm.read().split()[1])
    return resident_pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def next_beat_s(now_s: float, heartbeat_s: float, rests_s: float) -> float:
    """Return when a child that sends a heartbeat at `now_s` sends the next one (CLOCK_MONOTONIC); `rests_s` later than
    usual while it is idle. All children send at the same moments, so that the supervisor wakes up once for all.
    """
    if not rests_s:
        return round(now_s / heartbeat_s + 1) * heartbeat_s
    period_s = heartbeat_s + rests_s
    return max(now_s + heartbeat_s, (now_s // period_s + 1) * period_s)


def child_socket(context: zmq.Context[Any], bootstrap: Bootstrap) -> Any:
    """Return the connected DEALER socket of a child, sync or async as its `context`."""
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
        self.unsent = 0  # messages lost to a full queue; heartbeats report the number to the supervisor

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the socket, after at most half a second for queued messages."""
        self.socket.close()
        self._context.term()

    def send(self, message: msgspec.Struct) -> bool:
        """Queue `message` without blocking; when the queue is full, count it and return False."""
        try:
            self.socket.send(codec.encode(message), zmq.NOBLOCK)
        except zmq.Again:
            self.unsent += 1
            return False
        return True

    def receive(self) -> Iterator[Incoming]:
        """Yield every message that has arrived; log and skip a malformed one."""
        while True:
            try:
                data = self.socket.recv(zmq.NOBLOCK)
            except zmq.Again:
                return
            message = decode_or_none(data, self._incoming)
            if message is not None:
                yield message


def decode_or_none(data: bytes, kind: Any) -> Any:
    """Return the message in `data`; log a malformed one and return None."""
    try:
        return codec.decode(data, kind)
    except InvalidRequest as fault:
        log.logger("process").warning("message.malformed", fault=fault.message, size=len(data))
        return None


def serve_forks() -> bytes:
    """Serve on standard input, a SOCK_SEQPACKET socket: fork for each message, and return it in the new process only.
    The answer to each is the new process's pid as decimal text, `0` for none. The server ends with the socket.
    """
    before = _set_process_name(FORK_SERVER_NAME)
    gc.collect()
    gc.freeze()  # memory that the collector never touches stays shared with the forks
    with socket.socket(fileno=os.dup(0)) as supervisor:
        while True:
            data = supervisor.recv(_MOST_BYTES)
            if not data:
                os._exit(0)  # nothing is queued here, and a regular exit would take 0.1 s
            if _fork_orphan(supervisor):
                break
    _set_process_name(before)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    return data


def _receive_order() -> bytes:
    """Serve orders; return each in the process forked for it, which is not tied to any parent yet."""
    die_with_parent(os.getppid())  # a stopped server would not notice that its supervisor is gone
    return serve_forks()


def _run_and_report(main: Callable[[Bootstrap], None], bootstrap: Bootstrap) -> int:
    try:
        main(bootstrap)
    except Exception as fault:
        known = _find_error(fault)
        if known is None:
            log.logger("process").exception("child.crash")
            return 1
        log.logger("process").error("child.fault", code=known.code, message=known.message)
        _send_fault(bootstrap, known)
        return EXIT_FAULT
    return 0


def _find_error(fault: BaseException) -> AcudError | None:
    """Return `fault` if it is an AcudError, or the first of a group of AcudErrors only; None for unexpected ones."""
    if not isinstance(fault, BaseExceptionGroup):
        return fault if isinstance(fault, AcudError) else None
    parts = [_find_error(one) for one in fault.exceptions]
    return parts[0] if all(parts) else None


def _send_fault(bootstrap: Bootstrap, fault: AcudError) -> None:
    # `main` has closed its own socket of this identity; the ROUTER accepts the new one (ROUTER_HANDOVER).
    child: SyncChild[Heartbeat] = SyncChild(bootstrap, Heartbeat)
    with child:
        child.send(Fault(fault.code, fault.message, fault.hint))


def _set_process_name(name: str) -> str:
    """Set the name of this process; return the former one."""
    place = Path("/proc/self/comm")
    before = place.read_text(encoding="utf-8").rstrip("\n")
    place.write_text(name, encoding="utf-8")
    return before


def _fork_orphan(supervisor: socket.socket) -> bool:
    """Fork a process; return True in it and False in the server.

    A process in between forks it and ends, so that the nearest subreaper, the supervisor, adopts the orphan (prctl(2),
    PR_SET_CHILD_SUBREAPER), gets its status and can be the parent it dies with.
    """
    try:
        between = os.fork()
    except OSError:
        supervisor.send(b"0")
        return False
    if between:
        if os.waitpid(between, 0)[1]:
            sys.exit(1)  # it was killed, perhaps before it answered: the next answer would be taken for its own
        return False
    parent = os.getpid()
    if _is_new(supervisor):
        _wait_for_end(parent)  # then the kernel has given this process its new parent
        return True
    os._exit(0)


def _wait_for_end(pid: int) -> None:
    """Wait until that process has ended, reaped or not."""
    with contextlib.suppress(ProcessLookupError):
        ended = os.pidfd_open(pid)
        select.select([ended], [], [])
        os.close(ended)


def _is_new(supervisor: socket.socket) -> bool:
    """Fork, and report the new process to the supervisor; return True in it after that. It ends if the report fails."""
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
    with contextlib.suppress(OSError):  # the supervisor is gone, or closed the socket
        supervisor.send(str(max(0, pid)).encode())
        if pid > 0:
            os.write(telling, b"1")
    return False
