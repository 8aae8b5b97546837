"""Messages between the delivery process and the supervisor: deliveries of wakes, notifications, pushes."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from acud.protocol.children import Fault, Heartbeat, Stop
from acud.protocol.push import PushTarget
from acud.types import RouteName, WakeKind


class Deliver(Struct, frozen=True, tag="deliver", forbid_unknown_fields=True):
    """Bring a wake over one route, once. (`wake_id`, `attempt`) names the delivery; `wake_id` is the same each time.

    `reminder`: which reminder it is, 0 for none.
    """

    wake_id: str
    attempt: int
    route: RouteName
    kind: WakeKind
    text: str
    created_utc_s: float
    wait_id: str = ""
    task_id: str = ""
    session_key: str = ""
    agent_id: str = ""
    reminder: int = 0
    run_id: str = ""


class Notify(Struct, frozen=True, tag="notify", forbid_unknown_fields=True):
    """Show a notification on the administrator's desktop. `number` names it in the answer."""

    number: int
    title: str
    body: str
    urgent: bool = False


class Push(Struct, frozen=True, tag="push", forbid_unknown_fields=True):
    """Send a notification to a browser, once. `number` names it in the answer; `body`: the JSON for its worker."""

    number: int
    target: PushTarget
    body: str
    urgent: bool = False


ToDelivery = Deliver | Notify | Push | Stop


class DeliveryHello(Struct, frozen=True, tag="relay_hello", forbid_unknown_fields=True):
    """The delivery process takes deliveries."""

    pid: int


class Delivered(Struct, frozen=True, tag="delivered", forbid_unknown_fields=True):
    """How a delivery ended: `sent` (the receiver took it), `retry` (it may later; not before `retry_after_s`) or
    `refused` (it will not, as it is; `ends_route`: nor any other). `reason`: one line without secrets. `ms`: how long
    it took.
    """

    wake_id: str
    attempt: int
    route: RouteName
    result: Literal["sent", "retry", "refused"]
    reason: str = ""
    retry_after_s: float = 0.0
    ms: float = 0.0
    ends_route: bool = False


class Notified(Struct, frozen=True, tag="notified", forbid_unknown_fields=True):
    """The result of a notification: `server` took it, or (`fault` set) none did."""

    number: int
    server: str = ""
    fault: str = ""
    hint: str = ""


class Pushed(Struct, frozen=True, tag="pushed", forbid_unknown_fields=True):
    """How a push ended: as with wakes, or `gone` (the push service knows that browser no longer)."""

    number: int
    result: Literal["sent", "retry", "refused", "gone"]
    reason: str = ""
    retry_after_s: float = 0.0


FromDelivery = Heartbeat | Fault | DeliveryHello | Delivered | Notified | Pushed
