"""`acud annotate`: what a vision model sees on a display, asked for or told."""

from __future__ import annotations

import click

from acud.protocol.requests.scenes import Annotation, SceneAnnotated
from acud.types import Rect
from acud_cli.exits import Exit
from acud_cli.session import Session, json_option, pass_session, say, warn
from acud_cli.targets import task_option
from acud_cli.values import BOX
from acud_cli.words import cost


@click.command(short_help="Have a vision model say what is on a display.")
@click.option("--display", "-d", default="", metavar="NAME", help="Which display (default: the default one).")
@click.option("--ask", default="", metavar="BACKEND", help="Who is asked (default: auto, as [vision] says).")
@click.option("--scene", metavar="TEXT", help="Nobody is asked: this is what the display shows.")
@click.option(
    "--element",
    "elements",
    type=(str, str, BOX),
    multiple=True,
    metavar="KIND TEXT X,Y,W,H",
    help="Nobody is asked: this is there. May be repeated.",
)
@click.option("--since", default=0, type=click.IntRange(min=0), metavar="ID", help="What is said is about that scene.")
@task_option
@json_option
@pass_session
def annotate(
    session: Session,
    *,
    display: str,
    ask: str,
    scene: str | None,
    elements: tuple[tuple[str, str, tuple[int, ...]], ...],
    since: int,
    task_id: str,
) -> int:
    """Have a vision model say what is on a display; its words are in the scene until the pixels they are about change.

    With --scene or --element you say it yourself, and no model is asked. Asking may cost money, which is told.

    \b
    acud annotate
    acud annotate --ask claude --display :100
    acud annotate --element icon "a rubbish bin" 100,100,40,40
    """
    told = scene is not None or bool(elements)
    if told and ask:
        raise click.UsageError("--ask asks a model, --scene and --element say it yourself; give one kind")
    with session.client() as client:
        if told:
            said = tuple(Annotation(kind, desc, Rect(*box)) for kind, desc, box in elements) if elements else None
            reply = client.set_vlm_annotations(scene, said, display=display, scene_id=since, task_id=task_id)
        else:
            reply = client.annotate_scene(ask or "auto", display=display, task_id=task_id)
    session.show(reply, lambda: _print(reply))
    return Exit.OK


def _print(reply: SceneAnnotated) -> None:
    if reply.vlm_scene is not None:
        say(reply.vlm_scene)
    for one in reply.vlm_elements or ():
        box = one.bbox
        say(f"{one.id} {one.kind} {one.desc!r} [{box.x},{box.y},{box.w},{box.h}]")
    if reply.model:
        warn(f"{reply.model}: {cost(reply.cost_usd)}")
    if reply.left_out:
        warn(f"note: {reply.left_out} elements that the model placed outside the picture are left out")
