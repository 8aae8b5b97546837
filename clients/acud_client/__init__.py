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
    from acud.base.errors import AcudError, DaemonDown
    from acud.types import (
        AllOf,
        AnyOf,
        Change,
        Criteria,
        FileState,
        NotificationText,
        NotOf,
        Policy,
        ProcessExit,
        Rect,
        ScreenImage,
        Stable,
        Text,
        Then,
        Widget,
        WindowTitle,
        appears_then_goes,
        widget_condition,
    )
    from acud.types.tasks import ActionStatus, ActionType, Detail, ItemStatus, TaskStatus
    from acud_client.aio import AsyncClient
    from acud_client.stream import AsyncEventStream, EventStream, Trimmed
    from acud_client.sync import Client

__all__ = [
    "ActionStatus",
    "ActionType",
    "AcudError",
    "AllOf",
    "AnyOf",
    "AsyncClient",
    "AsyncEventStream",
    "Change",
    "Client",
    "Criteria",
    "DaemonDown",
    "Detail",
    "EventStream",
    "FileState",
    "ItemStatus",
    "NotOf",
    "NotificationText",
    "Policy",
    "ProcessExit",
    "Rect",
    "ScreenImage",
    "Stable",
    "TaskStatus",
    "Text",
    "Then",
    "Trimmed",
    "Widget",
    "WindowTitle",
    "appears_then_goes",
    "widget_condition",
]

_HOMES = {
    "AcudError": "acud.base.errors",
    "DaemonDown": "acud.base.errors",
    "AsyncClient": "acud_client.aio",
    "AsyncEventStream": "acud_client.stream",
    "Client": "acud_client.sync",
    "EventStream": "acud_client.stream",
    "Trimmed": "acud_client.stream",
    "ActionStatus": "acud.types.tasks",
    "ActionType": "acud.types.tasks",
    "Detail": "acud.types.tasks",
    "ItemStatus": "acud.types.tasks",
    "TaskStatus": "acud.types.tasks",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES.get(name, "acud.types")), name)
