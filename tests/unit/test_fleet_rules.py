"""The rules of a fleet that need no server: names over hosts, replies in parts, who is chosen."""

import asyncio
import time
from collections.abc import Collection
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from acud.base.errors import AcudError, DaemonDown, InvalidRequest, ProtocolError, StoreUnavailable, Unavailable
from acud.features.fleet.names import key_of, own_host
from acud.protocol import VERSION
from acud.protocol.events import Event
from acud.protocol.fleet import HostState
from acud.protocol.fleet_ends import end_rearmed
from acud.protocol.requests.agents import AgentList, AgentListReply
from acud.protocol.requests.daemon import EventsSince
from acud.protocol.requests.displays import DisplayRemove
from acud.protocol.requests.looks import BaselineReply
from acud.protocol.requests.tasks import TaskList, TaskListReply
from acud.protocol.requests.waits import WaitCreate, WaitList, WaitListReply
from acud.protocol.requests.wakes import WakeList, WakeListReply
from acud.types import AllOf, Change, Criteria, WaitInfo, WaitState, WakeInfo, WakeKind
from acud.types.agent_runs import RunInfo, RunSpec, RunState
from acud.types.tasks import Task, TaskStatus, TaskView
from acud_fleet import envelopes
from acud_fleet.envelopes import inward, outward
from acud_fleet.events import EventFeed
from acud_fleet.host_client import HostClient
from acud_fleet.merged_replies import MergedReplies, request_for_host
from acud_fleet.places import choose
from acud_fleet.registry import Life, Member
from acud_fleet.state_mirror import PAGE, every
from tests.integration.client_replies import wait_info


def test_displays_and_tokens_are_named_by_host_outside_and_bare_inside() -> None:
    told = outward(BaselineReply(":100@s/1x1#3", ":100"), "h1")
    assert told == BaselineReply("h1/:100@s/1x1#3", "h1/:100")
    until = AllOf((Change(baseline=told.baseline), Criteria("h1/:100 is on the screen")))
    asked, hosts = inward(WaitCreate(until, target="display:h1/:100"))
    assert hosts == {"h1"}
    assert asked.target == "display::100"
    assert asked.until == AllOf((Change(baseline=":100@s/1x1#3"), Criteria("h1/:100 is on the screen")))
    assert inward(DisplayRemove("h2/:7.1"))[0] == DisplayRemove(":7.1")
    assert inward(TaskList(displays=("h1/:1", "h2/:2")))[1] == {"h1", "h2"}


def test_a_list_of_displays_is_split_by_host_and_a_bare_name_is_refused() -> None:
    assert request_for_host(TaskList(displays=("h1/:1", "h2/:2")), "h2").displays == ("h2/:2",)
    with pytest.raises(InvalidRequest, match="names no host"):
        request_for_host(TaskList(displays=(":1",)), "h2")


def test_a_large_reply_is_cut_and_put_together_again() -> None:
    data = bytes(range(256)) * 40
    cut = envelopes.cut(data, 3000)
    assert all(len(part) <= 3000 for part, _ in cut)
    parts, whole = envelopes.ReplyParts(), None
    parts.take(*_wire(cut[0]))  # an answer that breaks off, and comes again from its beginning
    for one in cut:
        assert whole is None
        whole = parts.take(*_wire(one))
    assert whole == data
    assert envelopes.cut(b"small", 3000) == [(b"small", {})]
    with pytest.raises(ProtocolError):
        parts.take(b"", "first/second")


def _wire(one: tuple[bytes, dict[str, str]]) -> tuple[bytes, str]:
    return one[0], one[1].get(envelopes.PART, "")


def _member(host: str, displays: int, load: float = 0.0, life: Life = Life.UP, **labels: str) -> Member:
    return Member(HostState(host, "i", labels, displays, 4, load, "1", VERSION, 0.0), life)


class _Hosts:
    """Two hosts, `up` and `away`; each has a wait of task `t`, one on its display `:1`, and one of neither."""

    def __init__(self) -> None:
        self.members = {"up": _member("up", 0), "away": _member("away", 0, life=Life.LOST)}
        self.ends: dict[tuple[str, str], WaitInfo] = {}
        made = wait_info(WaitState.WATCHING)
        of_task = replace(made, wait_id="of task", spec=replace(made.spec, task_id="t"), display=":9")
        self._waits = (of_task, replace(made, wait_id="on display", display=":1"), replace(made, display=":9"))

    def all(self) -> dict[str, Member]:
        return self.members

    def up(self) -> dict[str, Member]:
        return {"up": self.members["up"]}

    def away(self) -> dict[str, str]:
        return {"away": "lost"}

    async def ask(self, host: str, request: WaitList, *_: object) -> WaitListReply:
        """Answer as that host's store does: `tests/integration/test_store_tables.py` holds it to that."""
        found = [one for one in self._waits if one.spec.task_id in request.tasks or one.display in request.displays]
        return WaitListReply(tuple(found[request.offset : request.offset + request.limit]), len(found))

    async def waits(self, member: Member) -> list[WaitInfo]:
        return [replace(one, display=f"{member.state.host}/{one.display}") for one in self._waits]

    async def find_ends(self, hosts: Collection[str]) -> dict[tuple[str, str], WaitInfo]:
        assert set(hosts) == {"up"}
        return self.ends


def test_a_list_of_some_tasks_and_displays_is_the_same_of_a_host_that_is_away() -> None:
    hosts: Any = _Hosts()
    merged = MergedReplies(hosts, hosts, hosts, 0.0, "/home", {})
    for displays in (("up/:1", "away/:1"), ("away/:1",), ("up/:1",)):
        reply = asyncio.run(merged.reply(WaitList(tasks=("t",), displays=displays)))
        found = sorted((one.wait_id, one.display.split("/")[0]) for one in reply.waits)
        on_displays = sorted(("on display", name.split("/")[0]) for name in displays)
        assert found == [("of task", "away"), ("of task", "up"), *on_displays]
        assert reply.total == len(found)


class _ManyRows:
    """Hosts with `each` rows of every list; the rows of all of them are made in turn, `h1-0` last."""

    def __init__(self, hosts: int, each: int) -> None:
        self._names = [f"h{number}" for number in range(1, hosts + 1)]
        self._each = each

    def up(self) -> list[str]:
        return self._names

    def away(self) -> dict[str, str]:
        return {}

    def all(self) -> dict[str, Member]:
        return {name: _member(name, 0) for name in self._names}

    async def find_ends(self, _: Collection[str]) -> dict[tuple[str, str], WaitInfo]:
        return {}

    async def ask(self, host: str, request: Any, *_: object) -> Any:
        msgspec.convert(msgspec.to_builtins(request), type(request))
        first = self._names.index(host)
        made = [self._row(type(request), f"{host}-{n}", 1e9 - n * len(self._names) - first) for n in range(self._each)]
        return self._reply(type(request), tuple(made[request.offset : request.offset + request.limit]))

    def _row(self, of: type, name: str, utc_s: float) -> Any:
        wait = wait_info(WaitState.WATCHING)
        if of is WaitList:
            return replace(wait, wait_id=name, created_utc_s=utc_s)
        if of is TaskList:
            return TaskView(Task(name, name, TaskStatus.ACTIVE, utc_s, utc_s), ())
        if of is WakeList:
            return WakeInfo(name, WakeKind.RESOLVED, "text", created_utc_s=utc_s)
        return RunInfo(name, RunState.RUNNING, RunSpec("do it"), ":1", utc_s)

    def _reply(self, of: type, rows: tuple[Any, ...]) -> Any:
        replies: dict[type, Any] = {
            WaitList: lambda: WaitListReply(rows, self._each),
            TaskList: lambda: TaskListReply(rows, self._each),
            WakeList: lambda: WakeListReply(rows, self._each, ()),
            AgentList: lambda: AgentListReply(rows),
        }
        return replies[of]()


_LISTS = [(WaitList, "waits"), (TaskList, "tasks"), (WakeList, "wakes"), (AgentList, "runs")]


@pytest.mark.parametrize(("of", "field"), _LISTS)
def test_a_page_of_the_fleets_lists_is_right_however_far_back_it_is(of: Any, field: str) -> None:
    hosts: Any = _ManyRows(3, 1500)
    merged = MergedReplies(hosts, hosts, hosts, 0.0, "/home", {})
    for offset in (0, 1001, 4495):
        reply = asyncio.run(merged.reply(of(offset=offset, limit=10)))
        found = [_name_of(one) for one in getattr(reply, field)]
        assert found == [f"h{n % 3 + 1}-{n // 3}" for n in range(offset, min(4500, offset + 10))]


def _name_of(row: Any) -> str:
    match row:
        case WaitInfo():
            return row.wait_id
        case TaskView():
            return row.task.task_id
        case WakeInfo():
            return row.wake_id
        case _:
            return str(row.run_id)


def test_all_of_a_list_is_read_though_rows_leave_it_meanwhile() -> None:
    rows = [f"wait-{number}" for number in range(5 * PAGE)]
    stay = set(rows)
    for leave in (1, PAGE):

        async def ask(offset: int, leave: int = leave) -> list[str]:
            page = rows[offset : offset + PAGE]
            if offset and len(rows) > 3 * PAGE:  # newer ones end: the rest moves up
                stay.difference_update(rows[:leave])
                del rows[:leave]
            return page

        assert stay <= set(asyncio.run(every(ask)))


def test_a_list_tells_an_end_as_the_fleet_told_it_whatever_the_host_says() -> None:
    hosts: Any = _Hosts()
    merged = MergedReplies(hosts, hosts, hosts, 0.0, "/home", {})
    asked = WaitList(displays=("up/:1",))
    ended = replace(wait_info(WaitState.TIMEOUT), wait_id="on display", display="up/:1")
    hosts.ends = {("up", "on display"): ended}
    assert asyncio.run(merged.reply(asked)) == WaitListReply((), 0)  # live ones are asked for, and it is none
    reply = asyncio.run(merged.reply(replace(asked, ended=True)))
    assert (reply.waits, reply.total) == ((ended,), 1)


def test_a_wait_that_went_elsewhere_is_listed_of_the_host_that_it_is_on() -> None:
    hosts: Any = _Hosts()
    merged = MergedReplies(hosts, hosts, hosts, 0.0, "/home", {})
    asked = WaitList(displays=("up/:1", "away/:1"), ended=True)
    # `up` had ended it by itself behind a cut wire, and says so; the other host has it under the same id.
    hosts.ends = {("up", "on display"): end_rearmed(wait_info(), "up", "away/:1", 1.0)}
    reply = asyncio.run(merged.reply(asked))
    assert [(one.wait_id, one.display, one.state) for one in reply.waits] == [
        ("on display", "away/:1", WaitState.WATCHING)
    ]
    assert reply.total == 1


def test_the_feed_tells_no_end_of_a_wait_that_goes_on_elsewhere() -> None:
    sent: list[bytes] = []
    feed = EventFeed(lambda topic, body: sent.append(topic))
    moved = end_rearmed(wait_info(), "h1", "h2/:100", time.time())
    feed.publish_end(moved, "h1")
    for host, topic in (("h1", "wait.cancelled"), ("h2", "wait.created"), ("h2", "wait.resolved")):
        feed.take(host, envelopes.codec.encode(Event(7, 3, topic, time.time(), moved.wait_id, {})))
    assert sent == [b"wait.created", b"wait.resolved"]


def test_labels_come_first_then_room_then_load() -> None:
    members = [_member("a", 2), _member("b", 1, 0.9), _member("c", 1, 0.2), _member("d", 0, life=Life.LOST)]
    best, others = choose(members, {}, needs_room=True, passed_over={})
    assert best is not None
    assert best.host == "c"
    assert "lost" in others["d"]
    assert choose(members, {"gpu": "yes"}, needs_room=True, passed_over={})[0] is None
    best, _ = choose([*members, _member("e", 3, gpu="yes")], {"gpu": "yes"}, needs_room=True, passed_over={})
    assert best is not None
    assert best.host == "e"
    assert choose([_member("a", 4)], {}, needs_room=True, passed_over={})[1] == {"a": "full: 4 displays of 4"}
    assert choose(members, {}, needs_room=True, passed_over={"c": "full", "b": "full"})[0] == members[0]


def test_readers_of_the_feed_are_told_of_what_is_gone() -> None:
    sent: list[bytes] = []
    feed = EventFeed(lambda topic, body: sent.append(topic))
    start = feed.newest
    feed.publish_own("fleet.lost", "h1", {})
    feed.take("h1", envelopes.codec.encode(Event(7, 3, "wait.resolved", time.time(), "w", {"display": ":100"})))
    page = feed.since(EventsSince(start))
    assert [event.topic for event in page.events] == ["fleet.lost", "wait.resolved"]
    assert page.trimmed == 0
    assert page.events[1].data == {"display": "h1/:100", "host": "h1"}
    feed.mark_missed()
    feed.publish_own("fleet.back", "h1", {})
    late = feed.since(EventsSince(start))
    assert late.trimmed == feed.newest
    assert late.events[0].prev < late.events[0].n
    assert sent == [b"fleet.lost", b"wait.resolved", b"fleet.back"]


def test_the_feed_tells_one_end_of_a_wait_that_the_fleet_ended() -> None:
    sent: list[bytes] = []
    feed = EventFeed(lambda topic, body: sent.append(topic))
    ended = replace(wait_info(WaitState.TIMEOUT), ended_utc_s=time.time())
    feed.publish_end(ended, "h1")
    feed.publish_end(ended, "h1")
    for topic in ("wait.resolved", "wait.timeout", "wait.note"):  # what the host says on its return
        feed.take("h1", envelopes.codec.encode(Event(7, 3, topic, time.time(), ended.wait_id, {})))
    feed.take("h1", envelopes.codec.encode(Event(8, 7, "wait.resolved", time.time(), "another", {})))
    feed.publish_end(replace(wait_info(WaitState.TIMEOUT), wait_id="of before", ended_utc_s=1.0), "h1")
    assert sent == [b"wait.timeout", b"wait.note", b"wait.resolved"]


def test_keys_hold_what_names_hold() -> None:
    assert key_of("wait-0123") == "wait-0123"
    assert key_of(":100") == "=3a313030"
    assert key_of("a.b") != "a.b"
    from acud.config.fleet import FleetSettings

    assert own_host(FleetSettings(host="h1")) == "h1"


class _Failing(HostClient):
    """Every question fails with `fault`."""

    def __init__(self, fault: AcudError) -> None:
        self._failing = fault

    async def ask(self, *_: Any, **__: Any) -> Any:
        raise self._failing


@pytest.mark.parametrize(("fault", "lives"), [
    (Unavailable("nobody listens", host="h1", reason="up", delivered=False), False),
    (Unavailable("no answer in time", host="h1", reason="silent"), False),
    (DaemonDown("no daemon behind it", host="h1"), False),
    (StoreUnavailable("the disk is full", host="h1"), True),
    (Unavailable("carries no signature", host="h1", reason="unproven"), True),
    (InvalidRequest("another version", host="h1"), True),
])  # fmt: skip
def test_a_host_that_refuses_lives_and_one_that_is_silent_does_not(fault: AcudError, lives: bool) -> None:
    assert asyncio.run(_Failing(fault).answers("h1")) is lives


def test_a_host_that_cannot_be_asked_from_here_is_not_said_to_be_silent() -> None:
    with pytest.raises(Unavailable, match="no NATS server"):
        asyncio.run(_Failing(Unavailable("no NATS server answers", reason="fleet_down")).answers("h1"))
