"""The faults of a soak: each is made, held, mended, and then whoever was hit has to be back."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import msgpack
import zmq

from acud.base.errors import AcudError
from acud.types import Criteria
from tests.soak.canvas import Canvas, CanvasGone
from tests.soak.ledger import now_s
from tests.soak.machine import pids
from tests.soak.plan import Step
from tests.soak.work import LONG_S
from tests.soak.world import World

_BACK_S = 90.0
_STEPS_S = (-86_400, -3600, -60, 60, 3600, 86_400)
_FAILURES = ("error", "garbage", "empty", "hang")


def inject(world: World, step: Step) -> None:
    """Make the fault of `step`, hold it, mend it, and note whether the daemon answers and what was hit is back."""
    world.ledger.begin(step.number, step.kind)
    note = ""
    try:
        verb, _, what = step.kind.partition(" ")
        fault = WHOLE.get(step.kind)
        done = fault(world, step, step.chance()) if fault else _signalled(world, step, verb, what)
        note = "" if done else "nobody to hit"
    finally:
        fault = _answers(world)
        world.ledger.end(step.number, survived=not fault, note=note)
        if fault:
            world.ledger.violate("not survived", f"after {step.kind}: {fault}", step.number)


def _answers(world: World) -> str:
    """Return "" once the daemon answers, or why it does not."""
    try:
        world.client.status()
    except AcudError as fault:
        return str(fault)
    return ""


# ---- signals to processes ------------------------------------------------------------------------------------------


def _signalled(world: World, step: Step, verb: str, kind: str) -> bool:
    pid = world.pid_of(kind, step.chance())
    if not pid:
        return False
    if verb == "stop":
        _send(pid, signal.SIGSTOP)
        time.sleep(step.hold_s)
        _send(pid, signal.SIGCONT)
    else:
        _send(pid, signal.SIGKILL)
        time.sleep(step.hold_s / 4)
        _comes_back(world, step, kind, pid)
    return True


def _comes_back(world: World, step: Step, kind: str, pid: int) -> None:
    """What the daemon restarts is there again, in another process; a recorder or display of its own need not be."""
    if kind not in ("capture", "evaluator", "relay"):
        return
    end_s = now_s() + _BACK_S
    while pid in pids(world.daemon.paths, kind):
        if now_s() > end_s:
            world.ledger.violate("not survived", f"the killed {kind} {pid} is still there", step.number)
            return
        time.sleep(0.1)


def _send(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def _kill_supervisor(world: World, step: Step, chance: random.Random) -> bool:
    world.daemon.kill()
    time.sleep(step.hold_s / 4)
    world.daemon.start()
    return True


def _kill_receiver(world: World, step: Step, chance: random.Random) -> bool:
    world.receiver.kill()
    time.sleep(step.hold_s)
    world.receiver.start()
    return True


# ---- X servers -----------------------------------------------------------------------------------------------------


def _kill_display(world: World, step: Step, chance: random.Random) -> bool:
    """A managed X server dies: its display ends, and its waits say unknown, never no."""
    names = world.managed()
    if not names:
        return False
    name = chance.choice(names)
    display = next((d for d in world.client.display_list().displays if d.name == name), None)
    servers = [pid for pid in pids(world.daemon.paths, "display") if f" {name} " in _command(pid)]
    canvas = world.canvas(name)
    if display is None or not servers or canvas is None:  # a step of work may remove it meanwhile
        return False
    world.ledger.uproot(name)
    with canvas.lock:  # nobody paints what the dying server may still show
        canvas.gone = True
        _send(servers[0], signal.SIGKILL)
    _told_unknown(world, step, canvas)
    world.forget(name)
    return True


def _kill_adopted(world: World, step: Step, chance: random.Random) -> bool:
    """Somebody else's X server dies and comes back: its display is down, then up, and its waits go on."""
    name = world.adopted.display
    canvas = world.canvases[name]
    world.ledger.uproot(name)
    with canvas.lock:
        canvas.gone = True
        world.adopted.kill()
    try:
        _told_unknown(world, step, canvas)
    finally:
        world.adopted.restart()
        _revive(canvas)
    return True


def _revive(canvas: Canvas) -> None:
    for _ in range(20):
        with contextlib.suppress(CanvasGone, AcudError, OSError):
            canvas.revive()
            return
        time.sleep(0.2)


def _told_unknown(world: World, step: Step, canvas: Canvas) -> None:
    """A live wait on a dead display has to say unknown; a picture of it has to be an error."""
    name = canvas.display
    ended = world.ledger.ended()
    live = [a for a in world.ledger.waits("lamp", "change", display=name) if a.wait_id not in ended]
    if live and not _until(lambda: _says_unknown(world, live[-1].wait_id)):
        world.ledger.violate("error told as absence", f"{live[-1].wait_id} says no on a dead display", step.number)
    world.ledger.count("dead displays checked")
    try:
        world.client.look(display=name)
    except AcudError:
        return
    if not canvas.gone:
        return
    world.ledger.violate("stale answer", f"a picture of {name}, whose X server is dead", step.number)


def _says_unknown(world: World, wait_id: str) -> bool:
    with contextlib.suppress(AcudError):
        wait = world.client.wait_show(wait_id, evaluations=0).wait
        return wait.verdict.answer.value == "unknown" or bool(wait.ended_utc_s)
    return False


def _until(found: Callable[[], bool], within_s: float = _BACK_S) -> bool:
    end_s = now_s() + within_s
    while not found():
        if now_s() > end_s:
            return False
        time.sleep(0.1)
    return True


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


# ---- room, locks, clock --------------------------------------------------------------------------------------------


def _fill_disk(world: World, step: Step, chance: random.Random) -> bool:
    with _ballast(world.disk.fill, world.disk.drop):
        time.sleep(step.hold_s)
    return True


def _fill_shm(world: World, step: Step, chance: random.Random) -> bool:
    with _ballast(world.shm.fill, world.shm.drop):
        time.sleep(step.hold_s)
    return True


@contextlib.contextmanager
def _ballast(fill: Callable[[], None], drop: Callable[[], None]) -> Iterator[None]:
    try:
        fill()
        yield
    finally:
        drop()


def _lock_store(world: World, step: Step, chance: random.Random) -> bool:
    """Another program holds the database's write lock for longer than the daemon waits for it."""
    with closing(sqlite3.connect(world.daemon.paths.database, timeout=20, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        time.sleep(step.hold_s)
        other.execute("ROLLBACK")
    return True


def _step_clock(world: World, step: Step, chance: random.Random) -> bool:
    """The wall clock jumps, and later jumps back."""
    world.step_clock(chance.choice(_STEPS_S))
    time.sleep(step.hold_s)
    world.step_clock(0)
    return True


# ---- judges --------------------------------------------------------------------------------------------------------


def _delay_judge(world: World, step: Step, chance: random.Random) -> bool:
    world.script.set(delay_ms=chance.choice((500, 3000, 12_000)))
    time.sleep(step.hold_s)
    world.script.set()
    return True


def _judge_fails(world: World, step: Step, chance: random.Random) -> bool:
    """A judge that is broken says nothing; a wait that is armed meanwhile must not be told no."""
    world.script.set(fault=chance.choice(_FAILURES))
    wait_id = ""
    try:
        if canvas := world.any_canvas(chance):
            with world.call(step.number, "wait_create (judge broken)"):
                until = Criteria("what a broken judge is asked")
                wait_id = world.client.wait_create(until, display=canvas.display, timeout_s=LONG_S).wait.wait_id
        time.sleep(step.hold_s)
        if wait_id:
            _never_no(world, step, wait_id)
    finally:
        world.script.set()
    return True


def _never_no(world: World, step: Step, wait_id: str) -> None:
    with contextlib.suppress(sqlite3.OperationalError):
        said = world.store.no_verdicts(wait_id)
        world.ledger.count("broken judges checked")
        if said:
            world.ledger.violate("error told as absence", f"{said} times no from a broken judge", step.number)
    with world.call(step.number, "wait_cancel (judge broken)"):
        world.client.wait_cancel(wait_id)


# ---- messages ------------------------------------------------------------------------------------------------------


def _garbage(world: World, step: Step, chance: random.Random) -> bool:
    """Foreign and damaged bytes on both sockets, also under the name of a child."""
    paths = world.daemon.paths
    with zmq.Context() as context:
        for endpoint in ("control", "children"):
            for name in (b"", b"capture-1", b"evaluator 0", b"relay"):
                with context.socket(zmq.DEALER) as socket:
                    socket.setsockopt(zmq.LINGER, 200)
                    if name:
                        socket.setsockopt(zmq.IDENTITY, name + b"~" if endpoint == "control" else name)
                    socket.connect(paths.endpoint(endpoint))
                    for _ in range(8):
                        socket.send_multipart(_message(chance))
    return True


def _message(chance: random.Random) -> list[bytes]:
    known = msgpack.packb({"v": 1, "id": "soak", "body": {"type": chance.choice(("status", "wait_show", "heartbeat"))}})
    damaged = bytearray(known)
    for _ in range(chance.randrange(1, 4)):
        damaged[chance.randrange(len(damaged))] = chance.randrange(256)
    noise = chance.randbytes(chance.choice((0, 1, 50, 5000)))
    parts: list[bytes] = chance.choice(
        ([noise], [b"", noise], [b"", bytes(damaged)], [bytes(damaged)] * 3, [b"", known[:-3]])
    )
    return parts


WHOLE: dict[str, Callable[[World, Step, random.Random], bool]] = {
    "kill supervisor": _kill_supervisor, "kill receiver": _kill_receiver, "kill display": _kill_display,
    "kill adopted display": _kill_adopted, "fill disk": _fill_disk, "fill shm": _fill_shm, "lock store": _lock_store,
    "step clock": _step_clock, "delay judge": _delay_judge, "judge fails": _judge_fails, "garbage": _garbage,
}  # fmt: skip
