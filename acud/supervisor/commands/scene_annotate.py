"""Answer `scene_annotate`."""

from __future__ import annotations

from acud.errors import AcudError, InvalidRequest, NotFound
from acud.protocol.evaluation import Described
from acud.protocol.requests.scenes import SceneAnnotate, SceneAnnotated
from acud.scene.annotations import Remark
from acud.supervisor.aiming import Aimed
from acud.supervisor.app import App
from acud.supervisor.control import Call
from acud.supervisor.scenes.annotating import Told
from acud.tasks.nouns import ActionType
from acud.types import Target


class _Annotated:
    """One request on its way."""

    def __init__(self, app: App, request: SceneAnnotate, call: Call) -> None:
        self.app = app
        self.request = request
        self.call = call
        self.backend = app.annotating.backend(request.ask) if request.ask else ""
        place = app.tasks.place(request.task_id, "screen", request.display)
        self.target = Target(place.display)
        self.task_id = place.task_id
        self.log = app.diary.doing(place.task_id, ActionType.VISION, f"describe with {self.backend or 'own words'}")

    def fail(self, fault: AcudError) -> None:
        """Answer with the fault."""
        self.log(fault, None)
        self.call.fail(fault)

    def on_aim(self, outcome: Aimed | AcudError) -> None:
        """A frame of now is there: ask about it, or take down what the client says."""
        if isinstance(outcome, AcudError):
            self.fail(outcome)
            return
        self.screen, self.source = outcome.screen, outcome.picture.source
        if self.backend:
            secure = self.app.scenes.secure(self.screen)
            described = self.call.later(self.on_described)
            self.app.annotating.ask(self.source, self.backend, secure, described, self.task_id)
        else:
            self.say(self.frame())

    def frame(self) -> int:
        """Return the frame that the client speaks of. Raises: NotFound for a scene that is forgotten."""
        if not self.request.scene_id:
            return self.source.frame
        scene = self.app.scenes.former(self.request.scene_id, [self.screen])
        shown = next(iter(scene.displays), None) if scene is not None else None
        if shown is None or shown.epoch != self.source.epoch:
            raise NotFound(
                f"scene {self.request.scene_id} of {self.screen.name} is forgotten", hint="take a new one (acud scene)"
            )
        return shown.frame

    def say(self, frame: int) -> None:
        """Take down what the client says of a frame."""
        given = self.request.vlm_elements
        remarks = None if given is None else [Remark(one.kind, one.desc, one.bbox) for one in given]
        self.app.annotating.say(self.screen.number, self.source, frame, self.request.vlm_scene, remarks)
        self.answer(Described(cost_usd=0.0))

    def on_described(self, outcome: Told | AcudError) -> None:
        """The model answered; pixels that changed meanwhile are dropped at once."""
        if isinstance(outcome, AcudError):
            self.fail(outcome)
            return
        said = outcome.described
        self.app.annotating.say(self.screen.number, self.source, outcome.frame, said.scene, said.remarks)
        self.answer(said)

    def answer(self, said: Described) -> None:
        """Reply with what stands."""
        scene = self.app.scenes.newest([self.screen])
        reply = SceneAnnotated(
            scene_id=scene.scene_id,
            vlm_scene=scene.vlm_scene,
            vlm_elements=scene.vlm_elements,
            model=said.model,
            cost_usd=said.cost_usd,
            left_out=said.left_out,
        )
        self.log(None, {"elements": len(scene.vlm_elements or ()), "cost_usd": said.cost_usd})
        self.call.reply(reply)


def handle(app: App, request: SceneAnnotate, call: Call) -> None:
    """Say it of a frame grabbed after this call, or of the scene that the client names."""
    if not request.ask and request.vlm_scene is None and request.vlm_elements is None:
        raise InvalidRequest("nothing is said and nobody is asked", hint="give vlm_scene, vlm_elements or ask")
    annotated = _Annotated(app, request, call)
    app.aiming.at(annotated.target, call.later(annotated.on_aim))
