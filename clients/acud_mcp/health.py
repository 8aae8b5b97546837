"""`health_check`: what the daemon finds about itself."""

from __future__ import annotations

import msgspec

from acud.protocol.requests.daemon import Doctor, DoctorReply, Finding, Status, StatusReply
from acud_mcp.tool import Asking


class HealthAsked(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `health_check`."""


class HealthView(msgspec.Struct, frozen=True):
    """`status`: ok, warning or fault, the worst of the `findings`; `parts` counts what was looked at."""

    status: str
    version: str
    waits_live: int
    displays: tuple[str, ...]
    parts: int
    findings: tuple[Finding, ...]


async def health_check(call: Asking, given: HealthAsked) -> HealthView:
    """Return the daemon's findings that are not well."""
    doctor: DoctorReply = await call.ask(Doctor())
    status: StatusReply = await call.ask(Status())
    unwell = tuple(finding for finding in doctor.findings if finding.level != "ok")
    levels = {finding.level for finding in unwell}
    worst = "fault" if "fault" in levels else "warning" if levels else "ok"
    displays = tuple(f"{display.name} {display.state.value}" for display in status.displays)
    return HealthView(worst, status.version, status.waits_live, displays, len(doctor.findings), unwell)
