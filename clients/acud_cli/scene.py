"""`acud scene` and `acud annotate`: what is on the displays, as text or JSON, and as a vision model sees it."""

from __future__ import annotations

import shlex
from contextlib import closing
from typing import Any, Literal

import click
import msgspec

from acud.protocol.requests.scenes import Annotation, SceneAnnotated, SceneReply
from acud.types import Rect
from acud.types.scene import SceneMode
from acud_cli.exit_codes import Exit
from acud_cli.formatting import cost, count
from acud_cli.options import BOX, PictureFile, WholeNumber, complete_displays, display_option, pick, task_option
from acud_cli.session import Session, as_json, pass_session, say, say_all, warn, write_picture
from acud_client.sync import Client

_NONE = "none"


@click.command(short_help="Show what is on the displays: windows, text, widgets.")
@click.option(
    "--mode",
    type=click.Choice([_NONE, *(mode.value for mode in SceneMode)]),
    default=SceneMode.AGENT_TURN.value,
    show_default=True,
    help="How much to look at: full scan, changes only, or (none) cached.",
)
@click.option(
    "--display",
    "-d",
    "displays",
    multiple=True,
    metavar="NAME",
    shell_complete=complete_displays,
    help="Only this one; may be repeated.",
)
@click.option(
    "--target", "-t", default="", metavar="WHAT", help="Only this: an element's id, words of a window's title, an app."
)
@click.option("--prompt", is_flag=True, help="With --json: the text form in it.")
@click.option("--max-tokens", type=WholeNumber(0, 1_000_000), default=0, help="Of the text; 0 is all of it.")
@click.option("--since", type=WholeNumber(0), default=0, metavar="ID", help="What differs from that scene.")
@click.option(
    "--marks",
    type=PictureFile(".png"),
    metavar="FILE",
    help="Write a PNG of the (first) display there, with the ids drawn in.",
)
@click.option(
    "--within",
    "within_s",
    type=click.FloatRange(0, 300),
    default=5.0,
    show_default=True,
    metavar="SECONDS",
    help="Show what was read before if a look takes longer; 0 waits for it.",
)
@click.option("--watch", is_flag=True, help="Go on, one after the other as they differ.")
@task_option
@pass_session
def scene(session: Session, *, mode: str, displays: tuple[str, ...], watch: bool, **options: Any) -> int:
    """Show what is on the displays: windows, focus, text and widgets with ids that stay while the thing is there.

    \b
    acud scene                                # as text, for a person or a prompt
    acud scene --json --mode active
    acud scene --target report                # the windows with that in their title
    acud scene --since 41                     # what differs from scene 41
    acud scene --marks scene.png              # a picture with the ids in it too
    acud scene --watch
    """
    if watch and options["since"]:
        raise click.UsageError("--watch shows every scene that differs; leave out --since")
    if watch and options["marks"] is not None:
        raise click.UsageError("--watch draws no pictures; leave out --marks")
    client = session.client()
    if watch:
        return _print_changes(session, client, displays, options["max_tokens"])
    form: Literal["json", "prompt"] = "json" if session.json and not options["prompt"] else "prompt"
    reply = client.scene(
        None if mode == _NONE else SceneMode(mode),
        displays,
        form=form,
        marks=options["marks"] is not None,
        **pick(options, "max_tokens", "since", "task_id", "target", "within_s"),
    )
    if options["marks"] is not None:
        write_picture(options["marks"], reply.marks)
        if reply.marks_left_out:
            warn(f"note: {reply.marks_left_out} elements have no mark: there is no room for more")
    session.show(_without_marks(reply), lambda: _print_scene(reply, options["target"]))
    return Exit.OK


def _without_marks(reply: SceneReply) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(reply, builtin_types=(bytes,))
    return {name: value for name, value in plain.items() if name != "marks"}


def _print_scene(reply: SceneReply, target: str) -> None:
    say_all(reply.text.splitlines())
    for one in reply.left_out:
        again = f"acud scene -d {one.display} --max-tokens {one.tokens}"
        again += f" --target {shlex.quote(target)}" if target else ""
        left_out = f"{count(one.widgets, 'widget')}, {count(one.texts, 'text')}"
        say(f"left out of {one.display}: {left_out}; all of it: {again}")


def _print_changes(session: Session, client: Client, displays: tuple[str, ...], max_tokens: int) -> int:
    try:
        with closing(client.subscribe_scene(displays)) as scenes:
            for found in scenes:
                if session.json:
                    print(as_json(found), flush=True)
                else:
                    say_all(client.scene(None, displays, form="prompt", max_tokens=max_tokens).text.splitlines())
                    say()
    except KeyboardInterrupt:
        return Exit.OK
    return Exit.OK


@click.command(short_help="Describe a display with a vision model.")
@display_option
@click.option("--ask", default="", metavar="BACKEND", help="Backend to ask (default: auto, as [vision] says).")
@click.option("--scene", metavar="TEXT", help="Ask no model: this is what the display shows.")
@click.option(
    "--element",
    "elements",
    type=(str, str, BOX),
    multiple=True,
    metavar="KIND TEXT X,Y,W,H",
    help="Ask no model: this is there. May be repeated.",
)
@click.option("--since", default=0, type=WholeNumber(0), metavar="ID", help="What is said is about that scene.")
@task_option
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
    """Have a vision model describe a display; its words are in the scene until the pixels they are about change.

    With --scene or --element you describe it yourself, and no model is asked. Asking may cost money; the cost is shown.

    \b
    acud annotate
    acud annotate --ask claude --display :100
    acud annotate --element icon "a rubbish bin" 100,100,40,40
    """
    told = scene is not None or bool(elements)
    if told and ask:
        raise click.UsageError("--ask asks a model, --scene and --element say it yourself; give one kind")
    client = session.client()
    if told:
        said = tuple(Annotation(kind, desc, Rect(*box)) for kind, desc, box in elements) if elements else None
        reply = client.set_vlm_annotations(scene, said, display=display, scene_id=since, task_id=task_id)
    else:
        reply = client.annotate_scene(ask or "auto", display=display, task_id=task_id)
    session.show(reply, lambda: _print_annotation(reply))
    return Exit.OK


def _print_annotation(reply: SceneAnnotated) -> None:
    if reply.vlm_scene is not None:
        say(reply.vlm_scene)
    for one in reply.vlm_elements or ():
        box = one.bbox
        say(f"{one.id} {one.kind} {one.desc!r} [{box.x},{box.y},{box.w},{box.h}]")
    if reply.model:
        warn(f"{reply.model}: {cost(reply.cost_usd)}")
    if reply.left_out:
        warn(f"note: {reply.left_out} elements that the model placed outside the picture are left out")
