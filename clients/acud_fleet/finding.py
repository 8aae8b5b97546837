"""On which host a task, wait, recording or run lives: what its host told, else what the hosts say when asked."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

from acud import ids
from acud.errors import AcudError, Conflict, NotFound, Unavailable
from acud.protocol.requests.agent_result import AgentResult
from acud.protocol.requests.record_show import RecordShow
from acud.protocol.requests.task_thread import TaskThread
from acud.protocol.requests.wait_show import WaitShow
from acud_fleet.asking import Asker
from acud_fleet.places import Kind, Places
from acud_fleet.roster import Roster

_PROBE_S = 10.0

FIELDS: dict[str, Kind] = {"task_id": "task", "wait_id": "wait", "recording_id": "recording", "run_id": "run"}
"""Fields of requests that name something which lives on one host."""

_NOUNS = {"task": "task", "wait": "wait", "recording": "rec", "run": "run"}


def _probe(kind: Kind, name: str) -> msgspec.Struct:
    """Return a request that changes nothing, and that a host which does not know `name` answers with not_found."""
    if kind == "wait":
        return WaitShow(name, evaluations=0)
    if kind == "task":
        return TaskThread(name, limit=1)
    return RecordShow(name) if kind == "recording" else AgentResult(name, peek=True)


class Finding:
    """Finds hosts of objects."""

    def __init__(self, asker: Asker, roster: Roster, places: Places) -> None:
        self._asker = asker
        self._roster = roster
        self._places = places

    async def host_of(self, kind: Kind, name: str) -> str:
        """Return the host of `name`, which may be an id's unambiguous beginning.

        Raises: NotFound when every host was asked and none knows it; Unavailable, naming who did not answer, when one
        of those might; Conflict when several know one that begins so.
        """
        host = await self._places.host_of(kind, name) if ids.is_id(name, _NOUNS[kind]) else ""
        return host or await self._ask_all(kind, name)

    async def any_host_of(self, name: str) -> str:
        """Return the host of `name`, whatever it is. Raises: NotFound, Unavailable."""
        noun = name.partition("-")[0]
        for kind in FIELDS.values():
            if _NOUNS[kind] == noun:
                return await self.host_of(kind, name)
        raise NotFound(f"{name!r} is no id of a task, wait, run or recording", hint="give a whole id")

    async def _ask_all(self, kind: Kind, name: str) -> str:
        hosts = list(self._roster.up())
        answers = await asyncio.gather(*(self._knows(host, kind, name) for host in hosts))
        found = [host for host, known in zip(hosts, answers, strict=True) if known is True]
        if len(found) == 1:
            self._places.remember(name, found[0])
            return found[0]
        if found:
            raise Conflict(f"{name} begins an id on several hosts: {', '.join(found)}", hint="give the whole id")
        silent = self._roster.away() | {
            host: str(fault) for host, fault in zip(hosts, answers, strict=True) if isinstance(fault, AcudError)
        }
        if silent:
            raise missing(f"no host that answers knows {kind} {name}", silent)
        raise NotFound(f"no host of the fleet knows {kind} {name}", hint=f"acud --fleet {kind} list")

    async def _knows(self, host: str, kind: Kind, name: str) -> bool | AcudError:
        try:
            await self._asker.ask(host, _probe(kind, name), ids.new_id("req"), _PROBE_S)
        except NotFound:
            return False
        except AcudError as fault:
            return fault
        return True


def missing(what: str, silent: dict[str, Any]) -> Unavailable:
    """Return the error of an answer that lacks hosts; it names each with its reason."""
    reasons = "; ".join(str(reason) or host for host, reason in silent.items())
    return Unavailable(
        f"{what}, and not every host answers: {reasons}",
        hint="acud fleet hosts; acud fleet forget HOST for one that will not come back",
        reason="hosts_missing",
        hosts=",".join(silent),
    )
