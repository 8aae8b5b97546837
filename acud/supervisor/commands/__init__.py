"""One handler per request of `acud.protocol.requests`; a test pairs them."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from acud.supervisor.commands import (
    agent_cancel,
    agent_list,
    agent_result,
    baseline,
    display_add,
    display_create,
    display_list,
    display_remove,
    doctor,
    events_since,
    evidence,
    gui_agent,
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
    look,
    baseline,
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
    gui_agent,
    agent_result,
    agent_list,
    agent_cancel,
    usage,
    events_since,
    evidence,
)


def handlers() -> dict[str, Callable[..., Any]]:
    """Return the handler of each request by name; a module here is named after its request."""
    return {module.__name__.rpartition(".")[2]: module.handle for module in COMMANDS}
