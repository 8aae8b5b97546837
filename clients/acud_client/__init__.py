"""The Python client of acud: requests and events, sync and async.

    from acud_client import Client, Text

    with Client() as acud:
        wait = acud.wait_create(Text("Download complete"), timeout_s=300).wait
        print(acud.wait_end(wait.wait_id).wait.message)

Names are loaded when first used, so that importing this package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from acud.base.errors import AcudError as AcudError
    from acud.base.errors import DaemonDown as DaemonDown
    from acud.types import Policy as Policy
    from acud.types import Rect as Rect
    from acud.types.conditions import *  # noqa: F403  # its list is the list of kinds
    from acud.types.tasks import ActionStatus as ActionStatus
    from acud.types.tasks import ActionType as ActionType
    from acud.types.tasks import Detail as Detail
    from acud.types.tasks import ItemStatus as ItemStatus
    from acud.types.tasks import TaskStatus as TaskStatus
    from acud_client.aio import AsyncClient as AsyncClient
    from acud_client.stream import AsyncEventStream as AsyncEventStream
    from acud_client.stream import EventStream as EventStream
    from acud_client.stream import Trimmed as Trimmed
    from acud_client.sync import Client as Client

_HOMES = {
    "acud.base.errors": ("AcudError", "DaemonDown"),
    "acud.types": ("Policy", "Rect"),
    "acud.types.tasks": ("ActionStatus", "ActionType", "Detail", "ItemStatus", "TaskStatus"),
    "acud_client.aio": ("AsyncClient",),
    "acud_client.stream": ("AsyncEventStream", "EventStream", "Trimmed"),
    "acud_client.sync": ("Client",),
}


def __getattr__(name: str) -> Any:
    conditions: list[str] = import_module("acud.types.conditions").__all__
    homes = {one: home for home, names in _HOMES.items() for one in names} | dict.fromkeys(conditions, "acud.types")
    if name == "__all__":
        return [*homes]
    if name not in homes:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(homes[name]), name)
