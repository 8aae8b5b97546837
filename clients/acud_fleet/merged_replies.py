"""Requests about everything, asked of every host; a host that is away is named in the reply, or is its error."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec

from acud import __version__
from acud.base import ids
from acud.base.errors import AcudError, InvalidRequest
from acud.process.child_process import rss_mb
from acud.protocol import VERSION
from acud.protocol.requests.agents import AgentList, AgentListReply
from acud.protocol.requests.command import name_of
from acud.protocol.requests.daemon import Doctor, DoctorReply, Finding, Status, StatusReply, Usage, UsageReply
from acud.protocol.requests.displays import DisplayList, DisplayListReply
from acud.protocol.requests.recordings import RecordList, RecordListReply
from acud.protocol.requests.tasks import TaskList, TaskListReply
from acud.protocol.requests.waits import WaitFacets, WaitList, WaitListReply
from acud.protocol.requests.wakes import WakeList, WakeListReply
from acud.types import WaitFilter, WaitInfo, WaitState
from acud.types.tasks import TaskStatus, TaskView
from acud.types.waits import fold_search_words, words_of_wait
from acud_fleet.envelopes import host_in, inward, outward
from acud_fleet.host_client import HostClient
from acud_fleet.places import make_missing
from acud_fleet.registry import Member, Roster
from acud_fleet.state_mirror import OfflineState, is_elsewhere

_EACH_S = 8.0
_FACETS = WaitFacets.__struct_fields__
_LIVE_TASKS = (TaskStatus.ACTIVE, TaskStatus.PAUSED)


class _ListRows(msgspec.Struct, frozen=True):
    """The field of a reply that holds the rows of a list, how many one request may ask, and a row's id."""

    field: str
    most: int
    id_of: Callable[[Any], str]


Replies = dict[str, Any]
"""By host, its reply with displays named as outside."""

Row = TypeVar("Row")
Merger = TypeVar("Merger", bound=Callable[..., Any])
MERGERS: dict[str, Callable[..., Any]] = {}
"""Mergers of replies, by the name of the request: for each that is declared with `FleetRoute.ALL`."""


_LISTS: dict[type[msgspec.Struct], _ListRows] = {}
"""What is listed newest first: a page of the fleet's is cut from what all hosts have, in the order of all."""


def _merges_replies(request: type[msgspec.Struct], rows: _ListRows | None = None) -> Callable[[Merger], Merger]:
    """Have the decorated method merge the replies to `request`; those of a list of `rows` are asked page by page."""

    def register(merger: Merger) -> Merger:
        MERGERS[name_of(request)] = merger
        if rows is not None:
            _LISTS[request] = rows
        return merger

    return register


class MergedReplies:
    """Asks all reachable hosts and merges their replies. `warnings`: the endpoint's own, each with its fix."""

    def __init__(
        self,
        host_client: HostClient,
        roster: Roster,
        offline: OfflineState,
        started_utc_s: float,
        home: str,
        warnings: Mapping[str, tuple[str, str]],
    ) -> None:
        self._host_client = host_client
        self._roster = roster
        self._offline = offline
        self._started_utc_s = started_utc_s
        self._home = home
        self._warnings = warnings

    async def reply(self, request: Any) -> Any:
        """Return one reply for the fleet. Raises: Unavailable, naming them, when hosts are missing from an answer that
        has no place to report that.
        """
        replies, silent = await self._ask_hosts(request)
        made = MERGERS[name_of(type(request))](self, request, replies, silent)
        return await made if asyncio.iscoroutine(made) else made

    async def _ask_hosts(self, request: Any) -> tuple[Replies, dict[str, str]]:
        hosts = [host for host in self._roster.up() if _needs_host(request, host)]
        answers = await asyncio.gather(*(self._try_host(host, request) for host in hosts))
        replies = {host: found for host, found in zip(hosts, answers, strict=True) if not isinstance(found, AcudError)}
        silent = {host: str(found) for host, found in zip(hosts, answers, strict=True) if isinstance(found, AcudError)}
        return replies, self._roster.away() | silent

    async def _try_host(self, host: str, request: Any) -> Any:
        try:
            own, _ = inward(request_for_host(request, host))
            rows = _LISTS.get(type(request))
            reply = await (self._ask_host(host, own) if rows is None else self._ask_rows(host, own, rows))
            return outward(reply, host)
        except InvalidRequest:
            raise
        except AcudError as fault:
            return fault

    async def _ask_host(self, host: str, request: Any) -> Any:
        return await self._host_client.ask(host, request, ids.new_id("req"), _EACH_S)

    async def _ask_rows(self, host: str, request: Any, rows: _ListRows) -> Any:
        """Return the reply with all rows of `host` up to the end of the page."""
        found: dict[str, Any] = {}
        wanted, at, first = request.offset + request.limit, 0, None
        while True:
            limit = min(rows.most, wanted - at)
            reply = await self._ask_host(host, msgspec.structs.replace(request, offset=at, limit=limit))
            first = first or reply
            page = getattr(reply, rows.field)
            at += len(page)
            found.update((rows.id_of(one), one) for one in page)
            if len(page) < limit or at >= wanted:
                return msgspec.structs.replace(first, **{rows.field: tuple(found.values())})

    # ---- with a place for what is missing ----

    @_merges_replies(Status)
    def _merge_status(self, _: Status, replies: Replies, silent: dict[str, str]) -> StatusReply:
        all_of: list[StatusReply] = list(replies.values())
        costs = [one.cost_usd_today for one in all_of if one.cost_usd_today is not None]
        members = self._roster.all()
        return StatusReply(
            version=__version__,
            protocol=VERSION,
            pid=os.getpid(),
            started_utc_s=self._started_utc_s,
            uptime_s=time.time() - self._started_utc_s,
            home=self._home,
            server_start="",
            displays=tuple(display for one in all_of for display in one.displays),
            children=tuple(
                msgspec.structs.replace(child, name=f"{host}/{child.name}")
                for host, one in replies.items()
                for child in one.children
            ),
            judges=(),
            waits_live=sum(one.waits_live for one in all_of),
            waits_ended=sum(one.waits_ended for one in all_of),
            judge_calls=sum(one.judge_calls for one in all_of),
            cost_usd_today=sum(costs) if costs else None,
            queued_jobs=sum(one.queued_jobs for one in all_of),
            degraded=(
                *silent.values(),
                *(f"fleet: {text}" for text, _ in self._warnings.values()),
                *_other_versions(members),
                *(f"host {host}: {words}" for host, one in replies.items() for words in one.degraded),
            ),
            rss_mb=round(rss_mb(), 1),
            wakes=_add_counts(one.wakes for one in all_of),
            waits=_add_counts(one.waits for one in all_of),
            wake_routes=tuple(dict.fromkeys(route for one in all_of for route in one.wake_routes)),
            fleet={host: silent.get(host) or member.life.value for host, member in members.items()},
        )

    @_merges_replies(Doctor)
    def _merge_doctor(self, _: Doctor, replies: Replies, silent: dict[str, str]) -> DoctorReply:
        fix = "start its daemon, or acud fleet forget HOST"
        own = [Finding(f"host {host}", "fault", words, fix) for host, words in silent.items()]
        own += [Finding("fleet", "warning", text, fix) for text, fix in self._warnings.values()]
        own += [Finding("fleet", "warning", words, "update the older") for words in _other_versions(self._roster.all())]
        told = (
            msgspec.structs.replace(finding, part=f"{host}: {finding.part}")
            for host, one in replies.items()
            for finding in one.findings
        )
        return DoctorReply((*own, *told))

    @_merges_replies(DisplayList)
    async def _merge_displays(self, _: DisplayList, replies: Replies, silent: dict[str, str]) -> DisplayListReply:
        defaults = [one.default for one in replies.values() if one.default]
        lost = [info for member in self._list_lost(silent) for info in await self._offline.displays(member)]
        displays = [display for one in replies.values() for display in one.displays]
        return DisplayListReply((*displays, *lost), defaults[0] if len(replies) == 1 and defaults else "")

    @_merges_replies(TaskList, _ListRows("tasks", 200, lambda one: str(one.task.task_id)))
    async def _merge_tasks(self, request: TaskList, replies: Replies, silent: dict[str, str]) -> TaskListReply:
        lost = [view for member in self._list_lost(silent) for view in await self._offline.tasks(member)]
        lost = [view for view in lost if _find_asked_task(request, view)]
        found = [view for one in replies.values() for view in one.tasks]
        newest = sorted((*found, *lost), key=lambda view: -view.task.created_at)
        return TaskListReply(_cut_page(request, newest), sum(one.total for one in replies.values()) + len(lost))

    @_merges_replies(WaitList, _ListRows("waits", 1000, lambda one: str(one.wait_id)))
    async def _merge_waits(self, request: WaitList, replies: Replies, silent: dict[str, str]) -> WaitListReply:
        lost = [info for member in self._list_lost(silent) for info in await self._offline.waits(member)]
        lost = [info for info in lost if _find_asked_wait(request, info)]
        told = await self._offline.find_ends(replies.keys())
        lost += [info for info in told.values() if not is_elsewhere(info) and _find_asked_wait(request, info)]
        everything = [(host, info) for host, one in replies.items() for info in one.waits]
        found = [info for host, info in everything if (host, info.wait_id) not in told and not is_elsewhere(info)]
        newest = sorted((*found, *lost), key=lambda info: -info.created_utc_s)
        total = sum(one.total for one in replies.values()) - len(everything) + len(found) + len(lost)
        of_hosts = [one.facets for one in replies.values() if one.facets is not None]
        facets = WaitFacets(
            *(tuple(sorted({value for one in of_hosts for value in getattr(one, name)})) for name in _FACETS)
        )
        return WaitListReply(_cut_page(request, newest), total, facets if request.facets else None)

    @_merges_replies(WakeList, _ListRows("wakes", 1000, lambda one: str(one.wake_id)))
    async def _merge_wakes(self, request: WakeList, replies: Replies, silent: dict[str, str]) -> WakeListReply:
        told = await self._offline.find_ends(replies.keys())
        elsewhere = {key for key, info in told.items() if is_elsewhere(info)}
        everything = [(host, wake) for host, one in replies.items() for wake in one.wakes]
        found = [wake for host, wake in everything if (host, wake.wait_id) not in elsewhere]
        wakes = sorted(found, key=lambda wake: -wake.created_utc_s)
        failing = {f"{host}/{route}": why for host, one in replies.items() for route, why in one.failing.items()}
        routes = dict.fromkeys(route for one in replies.values() for route in one.routes)
        total = sum(one.total for one in replies.values()) - len(everything) + len(found)
        health = tuple(
            msgspec.structs.replace(route, host=host) for host, one in replies.items() for route in one.health
        )
        return WakeListReply(_cut_page(request, wakes), total, tuple(routes), failing | silent, health)

    def _list_lost(self, silent: dict[str, str]) -> list[Member]:
        members = self._roster.all()
        return [members[host] for host in silent if host in members]

    # ---- whole or not at all ----

    @_merges_replies(RecordList, _ListRows("recordings", 1000, lambda one: str(one.recording_id)))
    def _merge_recordings(self, request: RecordList, replies: Replies, silent: dict[str, str]) -> RecordListReply:
        _require_all("recordings", silent)
        found = sorted((one for r in replies.values() for one in r.recordings), key=lambda one: -one.created_utc_s)
        paths = ", ".join(f"{host}:{one.path}" for host, one in replies.items())
        return RecordListReply(_cut_page(request, found), paths)

    @_merges_replies(AgentList, _ListRows("runs", 500, lambda one: str(one.run_id)))
    def _merge_runs(self, request: AgentList, replies: Replies, silent: dict[str, str]) -> AgentListReply:
        _require_all("runs", silent)
        found = sorted((one for r in replies.values() for one in r.runs), key=lambda one: -one.created_utc_s)
        return AgentListReply(_cut_page(request, found))

    @_merges_replies(Usage)
    def _merge_usage(self, _: Usage, replies: Replies, silent: dict[str, str]) -> UsageReply:
        _require_all("usage", silent)
        all_of: list[UsageReply] = list(replies.values())
        costs = [one.cost_usd for one in all_of if one.cost_usd is not None]
        return UsageReply(
            tuple(sorted((row for one in all_of for row in one.rows), key=lambda row: row.day, reverse=True)),
            sum(one.evaluations for one in all_of),
            sum(costs) if costs else None,
            sum(one.unpriced for one in all_of),
            min((one.kept_days for one in all_of), default=0.0),
        )


def _cut_page(request: Any, newest: list[Row]) -> tuple[Row, ...]:
    return tuple(newest[request.offset : request.offset + request.limit])


def _require_all(what: str, silent: dict[str, str]) -> None:
    if silent:
        raise make_missing(f"the fleet's {what} can't be told whole", silent)


def _needs_host(request: Any, host: str) -> bool:
    """Return whether `host` has to be asked: not when only displays are named, and none of them is its."""
    named = getattr(request, "displays", ())
    return not named or bool(getattr(request, "tasks", ())) or any(host_in(name) in ("", host) for name in named)


def request_for_host(request: Any, host: str) -> Any:
    if isinstance(request, WaitList):
        only = request.filter.display
        if only and host_in(only) not in ("", host):
            request = msgspec.structs.replace(request, displays=(only,))
    named = getattr(request, "displays", ())
    if not named:
        return request
    bare = [name for name in named if not host_in(name)]
    if bare:
        raise InvalidRequest(f"{bare[0]} names no host", hint="in a fleet a display is host/:100; acud display list")
    return msgspec.structs.replace(request, displays=tuple(name for name in named if host_in(name) == host))


def _find_asked_wait(request: WaitList, info: WaitInfo) -> bool:
    plain = not request.states and (request.ended or info.state is WaitState.WATCHING)
    is_asked = (plain or info.state in request.states) and _is_of(request, info.spec.task_id, info.display)
    return is_asked and _fits_filter(request.filter, info)


def _fits_filter(filters: WaitFilter, info: WaitInfo) -> bool:
    """Return, as a host's own store does but for the names of tasks, whether this is one of those wanted."""
    words = words_of_wait(info.wait_id, info.spec, info.display, info.verdict)
    return (
        filters.display in ("", info.display)
        and filters.task_id in ("", info.spec.task_id)
        and filters.judge in ("", info.spec.judge)
        and filters.since_utc_s <= (info.ended_utc_s or info.created_utc_s)
        and all(f" {word}" in words for word in fold_search_words(filters.text).split())
    )


def _find_asked_task(request: TaskList, view: TaskView) -> bool:
    task = view.task
    plain = not request.statuses and (request.ended or task.status in _LIVE_TASKS)
    return (plain or task.status in request.statuses) and _is_of(request, task.task_id, task.display)


def _is_of(request: TaskList | WaitList, task_id: str, display: str) -> bool:
    """Return, as a host's own store does, whether this is of one of the tasks or on one of the displays named."""
    everything = not request.tasks and not request.displays
    return everything or task_id in request.tasks or display in request.displays


def _other_versions(members: dict[str, Member]) -> list[str]:
    return [
        f"host {host} runs acud {one.state.version}, this side {__version__}"
        for host, one in members.items()
        if one.state.version != __version__
    ]


def _add_counts(counts: Any) -> dict[str, int]:
    total: dict[str, int] = {}
    for one in counts:
        for name, count in one.items():
            total[name] = total.get(name, 0) + count
    return total
