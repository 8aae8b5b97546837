"""Who may be judged when what is left of a budget does not suffice for all: the nearest deadlines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from acud.supervisor.waits.accounts import Accounts, spends
from acud.supervisor.waits.live import Live
from acud.types import JudgeName
from acud.waits import budget as rules
from acud.waits.effects import JobKind


class Admission:
    """Asked before a judging job leaves. Nothing is booked: what is under way is read from the waits themselves."""

    def __init__(
        self, lives: Mapping[str, Live], accounts: Accounts, judge_of: Callable[[JudgeName], JudgeName]
    ) -> None:
        self._lives = lives
        self._accounts = accounts
        self._judge_of = judge_of

    def held(self, asking: Iterable[Live]) -> dict[str, str]:
        """Return those of `asking` who must stay behind, by wait id, each with the reason."""
        found: dict[str, str] = {}
        admitted: list[str] = []
        for live in sorted(asking, key=_deadline):
            if not spends(live, self._judge_of(live.spec.judge)):
                continue
            task_id = live.spec.task_id
            reason = self._reason(live, admitted.count(task_id) if task_id else 0)
            if reason:
                found[live.wait_id] = reason
            else:
                admitted.append(task_id)
        return found

    def _reason(self, live: Live, admitted: int) -> str:
        own = rules.limit_in_flight(self._accounts.of_wait(live), _in_flight(live))
        if own:
            return f"budget: {own}"
        if not self._accounts.is_shared(live):
            return ""  # and nothing is added up: there may be thousands of waits
        others = [one for one in self._lives.values() if one.spec.task_id == live.spec.task_id]
        task = rules.limit_in_flight(self._accounts.of_task(live), sum(map(_in_flight, others)) + admitted)
        return f"budget of the task: {task}, for waits that were due before or end sooner" if task else ""


def _in_flight(live: Live) -> int:
    return sum(flight.request.kind is JobKind.JUDGE and not flight.request.local for flight in live.machine.flights)


def _deadline(live: Live) -> float:
    return live.deadline_timer.at_s if live.deadline_timer is not None else 0.0
