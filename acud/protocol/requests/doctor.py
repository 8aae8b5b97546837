"""`doctor`: what the daemon knows of its own health, part by part."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from acud.protocol.requests.spec import RequestSpec


class Doctor(Struct, frozen=True, tag="doctor", forbid_unknown_fields=True):
    """Ask for findings: each part, its version, the fallback in use and why, and the fix for each fault."""


class Finding(Struct, frozen=True, forbid_unknown_fields=True):
    """One part's health. `level`: ok, warning, fault. `fix`: the next step for anything but ok."""

    part: str
    level: Literal["ok", "warning", "fault"]
    text: str
    fix: str = ""


class DoctorReply(Struct, frozen=True, forbid_unknown_fields=True):
    """The daemon's findings; the CLI adds those it can only see from outside."""

    findings: tuple[Finding, ...]


SPEC = RequestSpec(Doctor, DoctorReply)
