"""What the pass of a request is good for. Everything that shows or does something asks here."""

from __future__ import annotations

from starlette.requests import HTTPConnection

from acud.protocol.web import Pass, Scope
from acud_web.faults import wrong


def pass_of(request: HTTPConnection) -> Pass:
    """Return the pass that let `request` in; only routes with a scope have one."""
    found: Pass = request.state.pass_
    return found


def need(request: HTTPConnection, scope: Scope) -> Pass:
    """Return the pass when it is good for what needs `scope`. Raises: Fault 403."""
    found = pass_of(request)
    if not found.allows(scope):
        raise wrong(403, "forbidden", f"this needs the scope {scope.value}, and this pass has {found.scope.value}")
    return found


def need_unlimited(request: HTTPConnection, scope: Scope) -> Pass:
    """Return the pass when it has `scope` over everything. Raises: Fault 403 for one limited to displays or tasks."""
    found = need(request, scope)
    if not found.unlimited:
        raise wrong(403, "forbidden", "this pass is limited to some displays or tasks")
    return found


def need_display(request: HTTPConnection, name: str, scope: Scope, task_id: str = "") -> Pass:
    """Return the pass when it has `scope` over the display `name`, or over the task `task_id` whose display that is.
    Raises: Fault 403, in the same words whether there is such a display or not.
    """
    found = need(request, scope)
    if not found.sees(name, task_id):
        raise wrong(403, "forbidden", "this pass is not good for that display")
    return found
