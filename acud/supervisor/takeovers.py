"""Displays that a person has taken over: only the holder of the lease may act on them, until it ends."""

from __future__ import annotations

import secrets
from collections.abc import Callable

from acud.base.clock import Clock, utc_iso
from acud.base.errors import Conflict, Refused, Unavailable
from acud.process.event_loop import EventLoop
from acud.store.displays import Takeover
from acud.supervisor.input_dispatcher import InputDispatcher
from acud.supervisor.journal import Journal
from acud.supervisor.observers import Observers
from acud.supervisor.watched_displays import WatchedDisplay, WatchedDisplays

_ACT = (
    "waits and looks go on; act with its lease (--lease, or ACU_LEASE), or when it is given back: "
    "acud display release {display}"
)
_GIVE_BACK = (
    "give its lease (--lease, or ACU_LEASE); without it, whoever has the display: "
    "acud display release {display} --force"
)
_LOOK_S = 30.0  # leases are checked at least this often, as the loop's clock stands still in suspend and leases do not


class Takeovers:
    """Leases by display. A takeover is in force from its commit on; the store keeps it over restarts and reboots."""

    def __init__(
        self,
        journal: Journal,
        loop: EventLoop,
        clock: Clock,
        input_dispatcher: InputDispatcher,
        watched_displays: WatchedDisplays,
    ) -> None:
        self._journal, self._loop, self._clock, self._input_dispatcher = journal, loop, clock, input_dispatcher
        self._watched_displays = watched_displays
        self._live: dict[int, Takeover] = {}
        self.taken = Observers[Callable[[str, str], None]]()
        """Called with the name of a display that a person has just taken over, and a text that describes it."""
        self.handed_back = Observers[Callable[[WatchedDisplay, str], None]]()
        """Called in the turn's transaction when a person gives a display back with a note, with a text for it."""
        self._notes: dict[int, str] = {}

    def resume(self) -> None:
        """Resume the takeovers of a former supervisor; those that ran out meanwhile end now."""
        for takeover in self._journal.store.takeovers.all():
            self._keep_takeover(takeover)

    def find(self, number: int) -> Takeover | None:
        takeover = self._live.get(number)
        return takeover if takeover is not None and self._left_s(takeover) > 0 else None

    def check(self, watched: WatchedDisplay, lease: str) -> None:
        """Raise Refused, naming the holder and the end, if `watched` is taken over and `lease` is not its lease."""
        for one in self._watched_displays.of_server(watched):
            takeover = self.find(one.number)
            if takeover is not None and not _is_lease_of(lease, takeover):
                raise _build_refusal(one, takeover, _ACT)

    # ---- requests: in the turn's transaction -----------------------------------------------------------------------

    def take(self, watched: WatchedDisplay, who: str, for_s: float, note: str, lease: str) -> Takeover:
        """Take `watched`, or prolong the takeover of `lease`. Raises: Refused when another person has it."""
        if not watched.number:
            raise Unavailable(f"display {watched.name} is still being made", hint="try again")
        for one in self._watched_displays.of_server(watched):
            held = self._find_stored(one)
            if held is not None and not _is_lease_of(lease, held):
                raise _build_refusal(one, held, _GIVE_BACK)
        before = self._find_stored(watched)
        if lease and before is None:
            raise Conflict(f"the lease of {watched.name} has run out", hint="take it anew, without a lease")
        now = self._clock.instant()
        takeover = Takeover(
            number=watched.number,
            lease=before.lease if before else f"lease-{secrets.token_hex(8)}",
            who=who or (before.who if before else "") or "somebody",
            note=note or (before.note if before else ""),
            since_utc_s=before.since_utc_s if before else now.utc_s,
            until=now.later(for_s),
        )
        self._journal.store.takeovers.put(takeover)
        self._record_event(
            "display.taken", watched, takeover, until_utc_s=round(takeover.until.utc_s, 3), note=takeover.note
        )
        self._journal.after_commit(lambda: self._finish_take(watched, takeover, fresh=before is None))
        return takeover

    def release(self, watched: WatchedDisplay, lease: str, *, force: bool, note: str = "") -> None:
        """Give `watched` back; `note` is for the agents. Raises: Conflict when it is not taken over; Refused without
        its lease, unless `force`.
        """
        takeover = self._find_stored(watched)
        if takeover is None:
            raise Conflict(f"display {watched.name} is not taken over", hint="acud display list")
        if not force and not _is_lease_of(lease, takeover):
            raise _build_refusal(watched, takeover, _GIVE_BACK)
        self._journal.store.takeovers.drop(watched.number)
        reason = "given back" if _is_lease_of(lease, takeover) else "forced"
        self._record_event("display.released", watched, takeover, reason=reason, **({"note": note} if note else {}))
        words = (
            f"{takeover.who} gave {watched.name} back at {utc_iso(self._clock.instant().utc_s)}: {note}" if note else ""
        )
        if note:
            for handed_back in self.handed_back:
                handed_back(watched, words)
        self._journal.after_commit(lambda: self._finish_release(takeover, words))

    def take_note(self, watched: WatchedDisplay) -> str:
        """Return the note with which `watched` was last given back, once; "" for none."""
        return self._notes.pop(watched.number, "")

    def _finish_release(self, takeover: Takeover, words: str) -> None:
        self._forget_takeover(takeover)
        if words:
            self._notes[takeover.number] = words

    def _find_stored(self, watched: WatchedDisplay) -> Takeover | None:
        # From the store, not from `_live`: another request of this turn may have taken or released it.
        takeover = self._journal.store.takeovers.of(watched.number)
        return takeover if takeover is not None and self._left_s(takeover) > 0 else None

    def _record_event(self, topic: str, watched: WatchedDisplay, takeover: Takeover, **facts: float | str) -> None:
        self._journal.event(topic, watched.name, who=takeover.who, **facts)

    # ---- holding ---------------------------------------------------------------------------------------------------

    def _finish_take(self, watched: WatchedDisplay, takeover: Takeover, *, fresh: bool) -> None:
        self._keep_takeover(takeover)
        if fresh:
            self._notes.pop(watched.number, None)
            for one in self._watched_displays.of_server(watched):
                self._input_dispatcher.drop(one, words_of(watched, takeover))
                for taken in self.taken:
                    taken(one.name, words_of(watched, takeover))

    def _keep_takeover(self, takeover: Takeover) -> None:
        self._live[takeover.number] = takeover
        self._look_later(takeover)

    def _look_later(self, takeover: Takeover) -> None:
        delay_s = min(_LOOK_S, max(0.0, self._left_s(takeover)))
        self._loop.call_later(delay_s, lambda: self._check_lease(takeover))

    def _check_lease(self, takeover: Takeover) -> None:
        if self._live.get(takeover.number) != takeover:
            return  # given back, or prolonged
        if self._left_s(takeover) > 0:
            self._look_later(takeover)
            return
        self._forget_takeover(takeover)
        self._journal.keep(lambda: self._record_expiry(takeover))

    def _record_expiry(self, takeover: Takeover) -> None:
        stored = self._journal.store.takeovers.of(takeover.number)
        if stored != takeover:
            return
        self._journal.store.takeovers.drop(takeover.number)
        watched = self._watched_displays.find_by_number(takeover.number)
        if watched is not None:
            self._record_event("display.released", watched, takeover, reason="run out")

    def _forget_takeover(self, takeover: Takeover) -> None:
        if self._live.get(takeover.number) == takeover:
            del self._live[takeover.number]

    def _left_s(self, takeover: Takeover) -> float:
        return takeover.until.remaining_s(self._clock.instant())


def words_of(watched: WatchedDisplay, takeover: Takeover) -> str:
    """Describe a takeover: the display, its holder, the end and the note."""
    note = f" ({takeover.note})" if takeover.note else ""
    return f"display {watched.name} is taken over by {takeover.who} until {utc_iso(takeover.until.utc_s)}{note}"


def _is_lease_of(lease: str, takeover: Takeover) -> bool:
    return bool(lease) and secrets.compare_digest(lease.encode(), takeover.lease.encode())


def _build_refusal(watched: WatchedDisplay, takeover: Takeover, hint: str) -> Refused:
    return Refused(
        words_of(watched, takeover),
        hint=hint.format(display=watched.name),
        who=takeover.who,
        until_utc_s=round(takeover.until.utc_s, 3),
    )
