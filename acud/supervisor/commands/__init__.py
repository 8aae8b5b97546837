"""One handler per request of `acud.protocol.requests`; a test pairs them."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from acud.supervisor.commands import (
    baseline,
    desktop_action,
    display_add,
    display_create,
    display_list,
    display_release,
    display_remove,
    display_take,
    doctor,
    events_since,
    evidence,
    gui_do,
    gui_find,
    look,
    shutdown,
    status,
    task_delete,
    task_drill_down,
    task_item_update,
    task_list,
    task_log_action,
    task_plan_append,
    task_register,
    task_summary,
    task_thread,
    task_update,
    usage,
    wait_cancel,
    wait_create,
    wait_for_change,
    wait_list,
    wait_result,
    wait_show,
    wait_update,
    wake_list,
    wake_retry,
    wake_test,
)

COMMANDS: tuple[ModuleType, ...] = (
    status,
    doctor,
    shutdown,
    display_list,
    display_add,
    display_create,
    display_remove,
    display_take,
    display_release,
    look,
    baseline,
    desktop_action,
    gui_find,
    gui_do,
    wait_create,
    wait_list,
    wait_show,
    wait_update,
    wait_cancel,
    wait_result,
    wait_for_change,
    wake_list,
    wake_retry,
    wake_test,
    task_register,
    task_update,
    task_item_update,
    task_plan_append,
    task_log_action,
    task_summary,
    task_drill_down,
    task_thread,
    task_list,
    task_delete,
    usage,
    events_since,
    evidence,
)


def handlers() -> dict[str, Callable[..., Any]]:
    """Return the handler of each request by name; a module here is named after its request."""
    return {module.__name__.rpartition(".")[2]: module.handle for module in COMMANDS}
