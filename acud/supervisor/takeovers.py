"""Displays that a person has taken over: who may act on them meanwhile, and when that ends."""

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
_LOOK_S = 30.0
"""The loop's clock stands still in suspend, leases run on: they are looked at this often at least."""


class Takeovers:
    """Leases by display. What is held counts from the commit on; the store keeps it over restarts and reboots."""

    def __init__(
        self,
        journal: Journal,
        loop: EventLoop,
        clock: Clock,
        input_dispatcher: InputDispatcher,
        watched_displays: WatchedDisplays,
    ) -> None:
        self._journal = journal
        self._loop = loop
        self._clock = clock
        self._input_dispatcher = input_dispatcher
        self._watched_displays = watched_displays
        self._live: dict[int, Takeover] = {}
        self.taken = Observers[Callable[[str, str], None]]()
        """Called with the name of a display that a person has just taken over, and the words for it."""
        self.handed_back = Observers[Callable[[WatchedDisplay, str], None]]()
        """Called in the turn's transaction when a person gives a display back with a note, with the words for it."""
        self._notes: dict[int, str] = {}

    def resume(self) -> None:
        """Take up what a former supervisor kept; what ran out meanwhile ends now."""
        for takeover in self._journal.store.takeovers.all():
            self._hold(takeover)

    def of(self, number: int) -> Takeover | None:
        """Return who has the display with this number now, or None."""
        takeover = self._live.get(number)
        return takeover if takeover is not None and self._left_s(takeover) > 0 else None

    def check(self, watched: WatchedDisplay, lease: str) -> None:
        """Raise Refused, naming who has `watched` and until when, if it is taken over and `lease` is not its lease."""
        for one in self._watched_displays.of_server(watched):
            takeover = self.of(one.number)
            if takeover is not None and not _proves(lease, takeover):
                raise _refused(one, takeover, _ACT)

    # ---- requests: in the turn's transaction -----------------------------------------------------------------------

    def take(self, watched: WatchedDisplay, who: str, for_s: float, note: str, lease: str) -> Takeover:
        """Take `watched`, or prolong the takeover that `lease` proves. Raises: Refused when another person has it."""
        if not watched.number:
            raise Unavailable(f"display {watched.name} is still being made", hint="try again")
        for one in self._watched_displays.of_server(watched):
            held = self._stored(one)
            if held is not None and not _proves(lease, held):
                raise _refused(one, held, _GIVE_BACK)
        before = self._stored(watched)
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
        self._tell("display.taken", watched, takeover, until_utc_s=round(takeover.until.utc_s, 3), note=takeover.note)
        self._journal.after_commit(lambda: self._taken(watched, takeover, fresh=before is None))
        return takeover

    def release(self, watched: WatchedDisplay, lease: str, *, force: bool, note: str = "") -> None:
        """Give `watched` back; `note` is for the agents.

        Raises: Conflict when nobody has it; Refused without its lease, unless `force`.
        """
        takeover = self._stored(watched)
        if takeover is None:
            raise Conflict(f"display {watched.name} is not taken over", hint="acud display list")
        if not force and not _proves(lease, takeover):
            raise _refused(watched, takeover, _GIVE_BACK)
        self._journal.store.takeovers.drop(watched.number)
        reason = "given back" if _proves(lease, takeover) else "forced"
        self._tell("display.released", watched, takeover, reason=reason, **({"note": note} if note else {}))
        words = (
            f"{takeover.who} gave {watched.name} back at {utc_iso(self._clock.instant().utc_s)}: {note}" if note else ""
        )
        if note:
            for handed_back in self.handed_back:
                handed_back(watched, words)
        self._journal.after_commit(lambda: self._released(takeover, words))

    def take_note(self, watched: WatchedDisplay) -> str:
        """Return what was said when `watched` was given back last, to the first that asks after it; "" for nothing."""
        return self._notes.pop(watched.number, "")

    def _released(self, takeover: Takeover, words: str) -> None:
        self._forget(takeover)
        if words:
            self._notes[takeover.number] = words

    def _stored(self, watched: WatchedDisplay) -> Takeover | None:
        # Of the store, not of `_live`: another request of this very turn may have taken or released it.
        takeover = self._journal.store.takeovers.of(watched.number)
        return takeover if takeover is not None and self._left_s(takeover) > 0 else None

    def _tell(self, topic: str, watched: WatchedDisplay, takeover: Takeover, **facts: float | str) -> None:
        self._journal.event(topic, watched.name, who=takeover.who, **facts)

    # ---- held ------------------------------------------------------------------------------------------------------

    def _taken(self, watched: WatchedDisplay, takeover: Takeover, *, fresh: bool) -> None:
        self._hold(takeover)
        if fresh:
            self._notes.pop(watched.number, None)
            for one in self._watched_displays.of_server(watched):
                self._input_dispatcher.drop(one, words_of(watched, takeover))
                for taken in self.taken:
                    taken(one.name, words_of(watched, takeover))

    def _hold(self, takeover: Takeover) -> None:
        self._live[takeover.number] = takeover
        self._look_later(takeover)

    def _look_later(self, takeover: Takeover) -> None:
        delay_s = min(_LOOK_S, max(0.0, self._left_s(takeover)))
        self._loop.call_later(delay_s, lambda: self._look(takeover))

    def _look(self, takeover: Takeover) -> None:
        if self._live.get(takeover.number) != takeover:
            return  # given back, or prolonged
        if self._left_s(takeover) > 0:
            self._look_later(takeover)
            return
        self._forget(takeover)
        self._journal.keep(lambda: self._run_out(takeover))

    def _run_out(self, takeover: Takeover) -> None:
        stored = self._journal.store.takeovers.of(takeover.number)
        if stored != takeover:
            return
        self._journal.store.takeovers.drop(takeover.number)
        watched = self._watched_displays.numbered(takeover.number)
        if watched is not None:
            self._tell("display.released", watched, takeover, reason="run out")

    def _forget(self, takeover: Takeover) -> None:
        if self._live.get(takeover.number) == takeover:
            del self._live[takeover.number]

    def _left_s(self, takeover: Takeover) -> float:
        return takeover.until.remaining_s(self._clock.instant())


def words_of(watched: WatchedDisplay, takeover: Takeover) -> str:
    """Return who has the display, until when, and what they say of it."""
    note = f" ({takeover.note})" if takeover.note else ""
    return f"display {watched.name} is taken over by {takeover.who} until {utc_iso(takeover.until.utc_s)}{note}"


def _proves(lease: str, takeover: Takeover) -> bool:
    return bool(lease) and secrets.compare_digest(lease.encode(), takeover.lease.encode())


def _refused(watched: WatchedDisplay, takeover: Takeover, hint: str) -> Refused:
    return Refused(
        words_of(watched, takeover),
        hint=hint.format(display=watched.name),
        who=takeover.who,
        until_utc_s=round(takeover.until.utc_s, 3),
    )
