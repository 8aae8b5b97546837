"""Every request that clients can make, one file each."""

from __future__ import annotations

from acud.protocol.requests import (
    baseline,
    display_add,
    display_create,
    display_list,
    display_remove,
    doctor,
    events_since,
    evidence,
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
)
from acud.protocol.requests.spec import RequestSpec

REQUESTS: tuple[RequestSpec, ...] = (
    status.SPEC,
    doctor.SPEC,
    shutdown.SPEC,
    display_list.SPEC,
    display_add.SPEC,
    display_create.SPEC,
    display_remove.SPEC,
    look.SPEC,
    baseline.SPEC,
    wait_create.SPEC,
    wait_list.SPEC,
    wait_show.SPEC,
    wait_update.SPEC,
    wait_cancel.SPEC,
    wait_result.SPEC,
    wait_for_change.SPEC,
    task_register.SPEC,
    task_update.SPEC,
    task_item_update.SPEC,
    task_plan_append.SPEC,
    task_log_action.SPEC,
    task_summary.SPEC,
    task_drill_down.SPEC,
    task_thread.SPEC,
    task_list.SPEC,
    task_delete.SPEC,
    usage.SPEC,
    events_since.SPEC,
    evidence.SPEC,
)

BY_NAME: dict[str, RequestSpec] = {spec.name: spec for spec in REQUESTS}

__all__ = ["BY_NAME", "REQUESTS", "RequestSpec"]
