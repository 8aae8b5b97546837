"""Resources: `acud://wait/{id}`, and `acud://task/{id}` where the protocol has tasks."""

from __future__ import annotations

from typing import Any, NoReturn

import msgspec
from mcp import types
from mcp.shared.exceptions import MCPError

from acud.errors import AcudError
from acud.protocol.requests import BY_NAME
from acud.protocol.requests.waits import WaitList, WaitListReply, WaitShow, WaitShowReply
from acud_mcp.answering import text_of
from acud_mcp.conditions import in_words
from acud_mcp.daemon import Daemon
from acud_mcp.views import screen_last, wait_view

WAIT = "acud://wait/"
TASK = "acud://task/"
_TASK_REQUEST = "task_summary"
_JSON = "application/json"
_MAX_ID = 64


def prefixes() -> tuple[str, ...]:
    """Return the beginnings of the addresses there are."""
    return (WAIT, TASK) if _TASK_REQUEST in BY_NAME else (WAIT,)


def templates() -> types.ListResourceTemplatesResult:
    """Return the templates; static."""
    words = {WAIT: ("wait", "State and evidence of a wait."), TASK: ("task", "Plan and progress of a task.")}
    return types.ListResourceTemplatesResult(
        resource_templates=[
            types.ResourceTemplate(
                uri_template=f"{prefix}{{id}}", name=words[prefix][0], description=words[prefix][1], mime_type=_JSON
            )
            for prefix in prefixes()
        ]
    )


async def listed(daemon: Daemon) -> types.ListResourcesResult:
    """Return the live waits as resources. Raises: MCPError when the daemon can't say: that is not "none"."""
    try:
        reply: WaitListReply = await daemon.ask(WaitList())
    except AcudError as fault:
        _refuse(fault)
    return types.ListResourcesResult(
        resources=[
            types.Resource(
                uri=f"{WAIT}{info.wait_id}",
                name=info.wait_id,
                description=in_words(info.spec.until)[:200],
                mime_type=_JSON,
            )
            for info in reply.waits
        ]
    )


async def read(daemon: Daemon, uri: str) -> types.ReadResourceResult:
    """Return a resource as JSON. Raises: MCPError saying what to mend."""
    prefix = next((one for one in prefixes() if uri.startswith(one)), "")
    given = uri[len(prefix) :]
    if not prefix or not 0 < len(given) <= _MAX_ID:
        raise MCPError(types.INVALID_PARAMS, f"no resource {uri[:100]!r}; addresses are {WAIT}ID")
    try:
        value = await (_wait(daemon, given) if prefix == WAIT else _task(daemon, given))
    except AcudError as fault:
        _refuse(fault)
    text = text_of(screen_last(msgspec.to_builtins(value)))
    return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, mime_type=_JSON, text=text)])


async def _wait(daemon: Daemon, wait_id: str) -> msgspec.Struct:
    reply: WaitShowReply = await daemon.ask(WaitShow(wait_id, 0))
    return wait_view(reply.wait, evidence_path=reply.evidence_path)


async def _task(daemon: Daemon, task_id: str) -> Any:
    return await daemon.ask(BY_NAME[_TASK_REQUEST].request(task_id))


def _refuse(fault: AcudError) -> NoReturn:
    raise MCPError(types.INVALID_PARAMS if fault.code == "not_found" else types.INTERNAL_ERROR, str(fault)) from fault
