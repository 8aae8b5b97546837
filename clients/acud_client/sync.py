"""The synchronous client: one typed method per request, usable from several threads."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Generator, Sequence
from typing import Any, Self, TypeVar

import msgspec
import zmq

from acud.base import paths as places
from acud.base.errors import AcudError, Conflict
from acud.protocol.requests.displays import DisplayReply
from acud.protocol.requests.scenes import Annotation, SceneAnnotated, SceneSubscribed
from acud.protocol.requests.waits import WaitResultReply
from acud.types.scene import Scene, SceneMode
from acud_client.call import DEFAULT_S, PAUSE_S, ClientCall, ClientLimits, Step, poll_s, total_s
from acud_client.connections import ConnectionPool, PooledConnection, closed_client_error
from acud_client.daemon_socket import DaemonSocket
from acud_client.own_display import OwnDisplay, names_no_display
from acud_client.request_methods import RequestMethods
from acud_client.scenes import TOPIC, SceneSubscriber, scene_of
from acud_client.stream import EventStream

Reply = TypeVar("Reply", bound=msgspec.Struct)


class Client(RequestMethods):
    """A connection to the daemon of `paths` (None: from ACU_HOME and HOME). Close it, or use it in a `with`.

    `timeout_s` bounds plain requests; requests that ask for time get it on top. `patience_s` is how long a call waits
    for a daemon that is not there (it may be restarting); 0 reports it at once. Every method raises `DaemonDown` when
    nothing answers and otherwise the error that the daemon answered with (`acud.base.errors`). Creating one has no side
    effect. With `fleet` it speaks to the endpoint of a fleet there (`acud fleet serve`): all its hosts as one. `here`:
    the display for requests that name none (None: the daemon's default).
    """

    def __init__(
        self,
        paths: places.Paths | None = None,
        *,
        timeout_s: float = DEFAULT_S,
        patience_s: float = 0.0,
        fleet: bool = False,
        here: OwnDisplay | None = None,
    ) -> None:
        found = paths or places.resolve(os.environ)
        self._paths = found.of_fleet() if fleet else found
        self.timeout_s = timeout_s
        self.patience_s = patience_s
        self._here = None if fleet else here
        self.daemon_socket = DaemonSocket(self._paths.run / "control", self._paths.fleet)
        self._context: zmq.Context[Any] = zmq.Context()
        self._connections: ConnectionPool[zmq.Socket[Any]] = ConnectionPool(
            self._context, self._paths.endpoint("control")
        )

    @property
    def paths(self) -> places.Paths:
        """Where this client's daemon lives."""
        return self._paths

    def ask(self, request: msgspec.Struct, kind: type[Reply], *, request_id: str = "") -> Reply:
        """Send `request` and return its reply, which is a `kind`.

        `request_id` repeats an earlier call with an unknown outcome: a mutating request is not done twice.
        """
        if self._here is not None and names_no_display(request):
            request = self._place_request(request, self._here)
        limits = ClientLimits(total_s(request, self.timeout_s), self.patience_s)
        try:
            reply = self._exchange(ClientCall(request, limits, self.daemon_socket, time.monotonic(), request_id))
        except zmq.ContextTerminated:
            raise closed_client_error() from None
        assert isinstance(reply, kind)
        return reply

    def _place_request(self, request: msgspec.Struct, here: OwnDisplay) -> msgspec.Struct:
        placed, add = here.direct_request(request, self.display_list())
        if add is not None:
            try:
                self.ask(add, DisplayReply)
            except Conflict:
                pass  # another client has it watched since
            except AcudError as fault:
                raise here.fault(fault) from fault
        return placed

    def _exchange(self, call: ClientCall) -> Any:
        with PooledConnection(self._connections, self.daemon_socket) as connection:
            while True:
                step = call.next_step(time.monotonic(), connection.status)
                if step is Step.SEND:
                    connection.take_fresh().send(call.frame)
                elif step is Step.PAUSE:
                    connection.drop()
                    time.sleep(PAUSE_S)
                if connection.socket is not None and connection.socket.poll(call.listen_ms(time.monotonic())):
                    reply = call.accept(connection.socket.recv_multipart())
                    if reply is not None:
                        connection.keep()
                        return reply
                connection.look_at_socket()

    def wait_end(self, wait_id: str, *, timeout_s: float | None = None) -> WaitResultReply:
        """Return when the wait has ended, however long that takes, or after `timeout_s` with its state so far."""
        end_s = math.inf if timeout_s is None else time.monotonic() + timeout_s
        while True:
            reply = self.wait_result(wait_id, block_s=poll_s(end_s - time.monotonic()))
            if reply.ended or time.monotonic() >= end_s:
                return reply

    def events(self, *, topic: str = "", after: int | None = None) -> EventStream:
        """Return an iterator over events of topics that begin with `topic`: those after the number `after`, else those
        from its `with` on. It blocks between events, misses none, and must be closed (`with`)."""
        return EventStream(self, self._paths.endpoint("events"), topic, after)

    def current_scene(self, displays: Sequence[str] = ()) -> Scene:
        """Return the last scene that was read of `displays` (none: all), without looking anew."""
        return scene_of(self.scene(None, displays))

    def refresh_scene(
        self, mode: SceneMode = SceneMode.AGENT_TURN, displays: Sequence[str] = (), *, within_s: float = 45.0
    ) -> Scene:
        """Return the scene of a frame grabbed after this call, by a look of the strength `mode`. What was not read
        after `within_s` seconds is as it was read before, or unknown, as its provider's state shows.
        """
        return scene_of(self.scene(mode, displays, within_s=within_s))

    def subscribe_scene(self, displays: Sequence[str] = ()) -> Generator[Scene, None, None]:
        """Yield the scene of `displays` (none: all) now, and each time it differs, as fast as `[scene]` allows.

        It blocks between scenes; closing the iterator ends the subscription. A slow reader gets the newest scene.
        """
        reader = SceneSubscriber(displays)
        with self.events(topic=TOPIC) as stream:
            try:
                while True:
                    reader.subscription = self.ask(reader.make_request(), SceneSubscribed).subscription
                    until_s = reader.schedule_renewal()
                    while True:
                        if reader.is_news(scene := self.current_scene(reader.displays)):
                            yield scene
                        if stream.next(max(0.0, until_s - time.monotonic())) is None:
                            break
            finally:
                if reader.subscription:
                    self.ask(reader.make_request(0.0), SceneSubscribed)

    def set_vlm_annotations(
        self,
        vlm_scene: str | None = None,
        vlm_elements: Sequence[Annotation] | None = None,
        *,
        display: str = "",
        scene_id: int = 0,
        task_id: str = "",
    ) -> SceneAnnotated:
        """Set what a model saw of `display`; see `scene_annotate`."""
        return self.scene_annotate(display, vlm_scene, vlm_elements, scene_id=scene_id, task_id=task_id)

    def annotate_scene(self, backend: str = "auto", *, display: str = "", task_id: str = "") -> SceneAnnotated:
        """Have a vision backend describe `display`; the reply includes what that cost."""
        return self.scene_annotate(display, ask=backend, task_id=task_id)

    def close(self) -> None:
        """Close every socket; calls of other threads end with a UsageError. Twice is harmless."""
        self._connections.close()
        self._context.term()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
