"""What the scene subscriptions of both clients share."""

from __future__ import annotations

import time
from collections.abc import Sequence

from acud.protocol.requests.scenes import SceneReply, SceneSubscribe
from acud.types.scene import Scene

TOPIC = "scene.updated"
LEASE_S = 20.0
"""How long a subscription goes on when its reader vanishes; readers renew it in half of that."""
_FIRST_S = 1.0
"""The first renewal, which also finds what was published before the socket was connected."""


class SceneSubscriber:
    """Which scene a subscription yielded, and when to renew it."""

    def __init__(self, displays: Sequence[str]) -> None:
        self.displays = tuple(displays)
        self.subscription = ""
        self.known = -1
        self._renewed = False

    def make_request(self, for_s: float = LEASE_S) -> SceneSubscribe:
        """Return the request that begins, renews or (with 0) ends the subscription."""
        return SceneSubscribe(self.displays if for_s else (), for_s, self.subscription)

    def schedule_renewal(self) -> float:
        """Return when the next renewal is due, on the monotonic clock; the first is due soon."""
        wait_s, self._renewed = (LEASE_S / 2 if self._renewed else _FIRST_S), True
        return time.monotonic() + wait_s

    def is_news(self, scene: Scene) -> bool:
        """Return whether `scene` was not yielded yet, and count it as yielded."""
        fresh, self.known = scene.scene_id != self.known, scene.scene_id
        return fresh


def scene_of(reply: SceneReply) -> Scene:
    """Return the scene of a reply in the form `json`."""
    assert reply.scene is not None  # the form asked for
    return reply.scene
