"""Answer `scene`."""

from __future__ import annotations

from msgspec.structs import replace

from acud.errors import AcudError, DisplayDown, Unavailable
from acud.protocol.requests.scenes import SceneGet, SceneReply
from acud.scene.diff import diff
from acud.scene.nouns import Scene
from acud.scene.prompt import prompt_text
from acud.supervisor.app import App
from acud.supervisor.control import Call
from acud.supervisor.scenes.marking import Marked, Marking
from acud.supervisor.screens import Screen
from acud.tasks.nouns import ActionType


def handle(app: App, request: SceneGet, call: Call) -> None:
    """Look where it is asked for, and answer with what is known then."""
    place = app.tasks.place(request.task_id, "screen", request.displays[0] if request.displays else "")
    names = request.displays or ((place.display,) if request.task_id and place.display else ())
    log = app.diary.doing(place.task_id, ActionType.VISION, "scene")

    def fail(fault: AcudError) -> None:
        log(fault, None)
        call.fail(fault)

    def look(screens: list[Screen]) -> None:
        if request.mode is None:
            answer(screens)
        else:
            app.scenes.look(screens, request.mode, lambda: later(screens))

    def answer(screens: list[Screen]) -> None:
        fault = _missing(app, screens) if names else None
        if fault is not None:
            fail(fault)
            return
        scene = app.scenes.newest(screens)
        reply = _reply(app, request, screens, scene)
        if request.marks and screens:
            marking = Marking(app, screens[0], scene, request.max_side_px)
            marking.draw(call.later(lambda outcome: marked(reply, outcome)))
        else:
            done(reply)

    def marked(reply: SceneReply, outcome: Marked | AcudError) -> None:
        if isinstance(outcome, AcudError):
            fail(outcome)
            return
        picture, left_out = outcome.picture, outcome.left_out
        done(replace(reply, marks=picture.image, marks_frame=picture.frame, marks_left_out=left_out))

    def done(reply: SceneReply) -> None:
        log(None, {"scene": app.scenes.scene_id})
        call.reply(reply)

    later = call.later(answer)

    def begun(outcome: Screen | AcudError) -> None:
        if isinstance(outcome, AcudError):
            fail(outcome)
        else:
            look([outcome])

    if names:
        look([app.screens.get(name) for name in dict.fromkeys(names)])
    elif app.screens.by_name:
        look(list(app.screens.by_name.values()))
    else:
        app.hosting.with_display("", call.later(begun))


def _missing(app: App, screens: list[Screen]) -> AcudError | None:
    """Return why a display that was asked for is in no scene: it must not be left out without a word."""
    for screen in screens:
        if app.screens.by_name.get(screen.name) is not screen:
            return DisplayDown(f"display {screen.name} was removed while it was looked at", hint="acud display list")
        if not screen.number:
            return Unavailable(f"display {screen.name} is still being added", hint="ask again in a moment")
    return None


def _reply(app: App, request: SceneGet, screens: list[Screen], scene: Scene) -> SceneReply:
    before = app.scenes.former(request.since, screens) if request.since else None
    change = diff(before, scene) if before is not None else None
    if request.form == "prompt":
        return SceneReply(text=prompt_text(scene, request.max_tokens), diff=change)
    return SceneReply(scene=scene, diff=change)
