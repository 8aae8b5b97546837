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
    wake_list.SPEC,
    wake_retry.SPEC,
    wake_test.SPEC,
    events_since.SPEC,
    evidence.SPEC,
)

BY_NAME: dict[str, RequestSpec] = {spec.name: spec for spec in REQUESTS}

__all__ = ["BY_NAME", "REQUESTS", "RequestSpec"]
