"""The work of a soak: what agents do all day, one function for each kind of step."""

from __future__ import annotations

import contextlib
import random
import subprocess
import sys
from collections.abc import Callable

from acud.base.errors import AcudError
from acud.types import Change, Criteria, OnDisplayLost, Policy, Stable, Text, Until, WindowTitle
from acud.types.actions import Click, Move, Point
from acud.types.scene import SceneMode
from acud.types.tasks import ItemStatus, TaskStatus
from acud_client import Client
from tests.soak.canvas import HEIGHT, WIDTH, WORDS, Canvas, CanvasGone, corner_of, spot
from tests.soak.ledger import Armed, now_s
from tests.soak.plan import Step
from tests.soak.world import World

LONG_S = 3600.0
"""A timeout that no run reaches: such waits end because of what happens, or the settling ends them."""
BLIND = "blind change"
"""A change whose arming was answered with the note that its display is not up: nobody promised from when it counts."""
PAINTED = ("lamp", "change", "text")
"""Kinds of waits that end by what `light` paints."""
MAX_DISPLAYS, MAX_TASKS = 3, 4


def do(world: World, step: Step) -> None:
    """Do one step of work. What it asks for is in the ledger, however that went."""
    with contextlib.suppress(CanvasGone):
        KINDS[step.kind](world, step, step.chance())


# ---- displays ------------------------------------------------------------------------------------------------------


def _display_create(world: World, step: Step, chance: random.Random) -> None:
    if len(world.managed()) < MAX_DISPLAYS:
        with world.call(step.number, "display_create"):
            world.paint(world.client.display_create(WIDTH, HEIGHT).display)


def _display_remove(world: World, step: Step, chance: random.Random) -> None:
    names = world.managed()[1:]
    if names:
        name = chance.choice(names)
        world.forget(name)
        with world.call(step.number, "display_remove"):
            world.client.display_remove(name, force=True)


# ---- waits ---------------------------------------------------------------------------------------------------------


def _arm(world: World, step: Step, kind: str, canvas: Canvas, until: Until, **more: object) -> str:
    """Arm a wait and keep it; "" when that failed."""
    timeout_s = float(str(more.pop("timeout_s", LONG_S)))
    lamp = int(str(more.pop("lamp", -1)))
    began_s = now_s()
    more.setdefault(
        "policy", Policy(on_display_lost=OnDisplayLost.WAIT)
    )  # displays end here, and waits are to outlive it
    with world.call(step.number, "wait_create"):
        reply = world.client.wait_create(until, display=canvas.display, timeout_s=timeout_s, **more)  # type: ignore[arg-type]
        due = (began_s + timeout_s, now_s() + timeout_s)
        if kind == "change" and any("is new and empty" not in note for note in reply.notes):
            kind = BLIND
        world.ledger.arm(Armed(reply.wait.wait_id, kind, canvas.display, step.number, began_s, *due, lamp))
        return reply.wait.wait_id
    return ""


def _arm_holds(world: World, step: Step, chance: random.Random) -> None:
    if canvas := world.any_canvas(chance):
        _arm(world, step, "holds", canvas, WindowTitle("there is no such window", gone=True))


def _arm_lamp(world: World, step: Step, chance: random.Random) -> None:
    if (canvas := world.any_canvas(chance)) and (lamp := canvas.take_lamp()) >= 0:
        _arm(world, step, "lamp", canvas, Criteria(f"lamp {lamp:02d} is green"), lamp=lamp)


def _arm_text(world: World, step: Step, chance: random.Random) -> None:
    if (canvas := world.any_canvas(chance)) and (word := canvas.take_word()) >= 0:
        _arm(world, step, "text", canvas, Text(WORDS[word]), lamp=word)


def _arm_change(world: World, step: Step, chance: random.Random) -> None:
    if (canvas := world.any_canvas(chance)) and (lamp := canvas.take_lamp()) >= 0:
        box = spot(lamp)
        _arm(world, step, "change", canvas, Change(), lamp=lamp, target=f"region:{box.x},{box.y},{box.w},{box.h}")


def _arm_stable(world: World, step: Step, chance: random.Random) -> None:
    if canvas := world.any_canvas(chance):
        _arm(world, step, "stable", canvas, Stable(1.0), target="region:0,0,16,16")


def _arm_timeout(world: World, step: Step, chance: random.Random) -> None:
    if canvas := world.any_canvas(chance):
        timeout_s = round(chance.uniform(1.5, 6.0), 2)
        _arm(world, step, "timeout", canvas, Criteria("what never comes"), timeout_s=timeout_s)


def _light(world: World, step: Step, chance: random.Random) -> None:
    ended = world.ledger.ended()
    dark = [a for a in world.ledger.waits(*PAINTED) if not a.lit_s and a.wait_id not in ended]
    if dark:
        light(world, chance.choice(dark))


def light(world: World, armed: Armed) -> bool:
    """Paint what a wait waits for; False when its display is gone."""
    with world.lock:
        canvas = world.canvases.get(armed.display)
    if canvas is None or canvas.gone:
        return False
    armed.lit_s = now_s()
    try:
        (canvas.write if armed.kind == "text" else canvas.light)(armed.lamp)
    except CanvasGone:
        armed.lit_s = 0.0
        return False
    return True


def _cancel(world: World, step: Step, chance: random.Random) -> None:
    ended = world.ledger.ended()
    live = [a for a in world.ledger.waits() if a.wait_id not in ended]
    if live:
        armed = chance.choice(live)
        armed.cancelled = True
        with world.call(step.number, "wait_cancel"):
            world.client.wait_cancel(armed.wait_id, reason="the plan says so")


# ---- tasks, recordings, scenes, actions ----------------------------------------------------------------------------


def _task(world: World, step: Step, chance: random.Random) -> None:
    if len(world.tasks) >= MAX_TASKS:
        return
    isolated = chance.random() < 0.3 and len(world.managed()) < MAX_DISPLAYS
    with world.call(step.number, "task_register"):
        view = world.client.task_register(f"task {step.number}", ["first", "second"], isolated_display=isolated).view
        world.tasks.append(view.task.task_id)
        world.client.task_item_update(view.task.task_id, 1, ItemStatus.ACTIVE)
        world.client.task_update(view.task.task_id, message="going on")
        if canvas := world.any_canvas(chance):
            until = WindowTitle("there is no such window", gone=True)
            wait_id = _arm(world, step, "holds", canvas, until, task_id=view.task.task_id)
            if wait_id:
                world.ledger.armed[wait_id].cancelled = True  # by the end of its task, should that come first


def _task_end(world: World, step: Step, chance: random.Random) -> None:
    with world.lock:
        task_id = world.tasks.pop(0) if world.tasks else ""
    if task_id:
        with world.call(step.number, "task_update"):
            world.client.task_update(task_id, status=TaskStatus.COMPLETED)


def _record(world: World, step: Step, chance: random.Random) -> None:
    if canvas := world.any_canvas(chance):
        with world.call(step.number, "record_start"):
            world.client.record_start(canvas.display, fps=4)


def _record_stop(world: World, step: Step, chance: random.Random) -> None:
    with world.call(step.number, "record_stop"):
        for recording in world.client.record_list().recordings:
            if not recording.ended_utc_s:
                world.client.record_stop(recording.recording_id)
                return


def _scene(world: World, step: Step, chance: random.Random) -> None:
    if canvas := world.any_canvas(chance):
        with world.call(step.number, "scene"):
            scene = world.client.scene(SceneMode.ACTIVE, [canvas.display]).scene
            shown = scene.displays[0] if scene is not None and scene.displays else None
            if shown is None or (shown.state != "up" and not shown.reason):
                words = f"scene of {canvas.display}: {'no display' if shown is None else f'{shown.state}, no reason'}"
                world.ledger.violate("error told as absence", words, step.number)
            world.ledger.count("scenes checked")


def _act(world: World, step: Step, chance: random.Random) -> None:
    if canvas := world.any_canvas(chance):
        point = Point(chance.randrange(WIDTH), chance.randrange(HEIGHT))
        with world.call(step.number, "desktop_action"):
            world.client.desktop_action([Move(point), Click(at=point)], display=canvas.display)


def _look(world: World, step: Step, chance: random.Random) -> None:
    """A picture is of a grab made after the call, so it shows what was painted before the call."""
    canvas = world.any_canvas(chance)
    if canvas is None:
        return
    colour = chance.randrange(1 << 24)
    with canvas.lock:
        canvas.corner(colour)
        with world.call(step.number, "look"):
            seen = corner_of(world.client.look(display=canvas.display).image)
            world.ledger.count("pictures checked")
            if seen != colour and not canvas.gone:
                words = f"{canvas.display} shows {seen:06x}, painted was {colour:06x}"
                world.ledger.violate("stale answer", words, step.number)


# ---- clients -------------------------------------------------------------------------------------------------------


def _client(world: World, step: Step, chance: random.Random) -> None:
    """A client that comes, asks, listens for a moment and goes."""
    with Client(world.daemon.paths, timeout_s=60, patience_s=60) as client, world.call(step.number, "client"):
        client.wait_list()
        with client.events(topic="wait.") as stream:
            stream.next(timeout_s=chance.uniform(0.1, 1.0))


def _client_killed(world: World, step: Step, chance: random.Random) -> None:
    live = [a.wait_id for a in world.ledger.waits("timeout") if a.wait_id not in world.ledger.ended()]
    words = ["waits", "result", live[-1], "--peek", "--block", "30s"] if live else ["events", "--follow"]
    command = [sys.executable, "-m", "acud_cli", *words]
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, env={**world.daemon.env, "LD_PRELOAD": ""}, **quiet) as program:  # type: ignore[call-overload]
        with contextlib.suppress(subprocess.TimeoutExpired):
            program.wait(chance.uniform(0.3, 3.0))
        program.kill()


def _lists(world: World, step: Step, chance: random.Random) -> None:
    """A wait that was armed is in the list or can be shown; nothing is told as not there."""
    known = world.ledger.waits()
    with world.call(step.number, "status"):
        world.client.status()
    with world.call(step.number, "wait_list"):
        world.client.wait_list(ended=True, limit=200)
    if known:
        armed = chance.choice(known)
        with world.call(step.number, "wait_show"):
            try:
                world.client.wait_show(armed.wait_id)
            except AcudError as fault:
                if fault.code == "not_found":
                    world.ledger.violate("error told as absence", f"{armed.wait_id} is said not to be", step.number)
                raise


KINDS: dict[str, Callable[[World, Step, random.Random], None]] = {
    "display_create": _display_create, "display_remove": _display_remove, "arm_holds": _arm_holds,
    "arm_lamp": _arm_lamp, "arm_text": _arm_text, "arm_change": _arm_change, "arm_stable": _arm_stable,
    "arm_timeout": _arm_timeout, "light": _light, "cancel": _cancel, "task": _task, "task_end": _task_end,
    "record": _record, "record_stop": _record_stop, "scene": _scene, "act": _act, "look": _look, "client": _client,
    "client_killed": _client_killed, "lists": _lists,
}  # fmt: skip
