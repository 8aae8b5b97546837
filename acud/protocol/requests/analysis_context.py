"""`analysis_context`: what the commentary would be made from now."""

from __future__ import annotations

from msgspec import Struct

from acud.analysis.window import ContextWindow
from acud.protocol.requests.spec import RequestSpec


class AnalysisContextGet(Struct, frozen=True, tag="analysis_context", forbid_unknown_fields=True):
    """Return the context window as of now."""


class AnalysisContextReply(Struct, frozen=True, forbid_unknown_fields=True):
    """The window, and the prompt that a model would get."""

    context: ContextWindow
    prompt: str


SPEC = RequestSpec(AnalysisContextGet, AnalysisContextReply)
