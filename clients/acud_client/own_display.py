"""The display that a caller's own programs show on ($DISPLAY): the target of its requests that name none."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import msgspec
from msgspec.structs import replace

from acud.base.errors import AcudError, from_wire
from acud.protocol.requests.displays import DisplayAdd, DisplayListReply
from acud.types import DisplayState

_LOCAL = re.compile(r":(\d+)(?:\.(\d+))?", re.ASCII)


def _silent(_note: str) -> None:
    pass


class OwnDisplay(msgspec.Struct, frozen=True):
    """A local display and its Xauthority ("": the usual one). `say` gets a note if the settings mean another one."""

    display: str
    auth_file: str = ""
    say: Callable[[str], None] = _silent

    def direct_request(
        self, request: msgspec.Struct, reply: DisplayListReply
    ) -> tuple[msgspec.Struct, DisplayAdd | None]:
        """Return `request` on this display, and the request that has it watched, if it is not watched yet."""
        if reply.default_is_set:
            if reply.default != self.display:
                self.say(
                    f"note: `screen` is {reply.default or 'what [display] default names'}, as set; "
                    f"for DISPLAY={self.display} give --display {self.display}"
                )
            return request, None
        known = any(one.name == self.display and one.state is not DisplayState.ENDED for one in reply.displays)
        add = None if known else DisplayAdd(self.display, self.auth_file)
        return replace(request, display=self.display), add

    def fault(self, fault: AcudError) -> AcudError:
        """Return why this display cannot be had, with the next step."""
        message = f"DISPLAY is {self.display}, which cannot be watched: {fault.message}"
        hint = "name another with --display (acud display list), or unset DISPLAY for the default one"
        return from_wire(fault.code, message, hint, fault.facts)


def find_own_display(env: Mapping[str, str], say: Callable[[str], None] = _silent) -> OwnDisplay | None:
    """Return the local display that DISPLAY names in `env`, or None: another host's cannot be watched."""
    found = _LOCAL.fullmatch(env.get("DISPLAY", "").strip())
    if found is None:
        return None
    screen = f".{int(found[2])}" if int(found[2] or 0) else ""
    return OwnDisplay(f":{int(found[1])}{screen}", env.get("XAUTHORITY", ""), say)


def names_no_display(request: msgspec.Struct) -> bool:
    """Return whether the request looks at, or acts on, a display and leaves open which one."""
    if getattr(request, "display", None) != "":
        return False
    if any(getattr(request, name, "") for name in ("task_id", "view", "scene_id")):
        return False  # these name one
    actions = getattr(request, "actions", ())
    if any(isinstance(getattr(one, place, None), str) for one in actions for place in ("at", "start", "to")):
        return False  # so does the id of an element (`t3-12`)
    return not getattr(request, "target", "").strip().lower().startswith("display:")
