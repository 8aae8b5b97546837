"""Access over HTTP: turns one-time codes into sessions, makes tokens, and revokes both."""

from __future__ import annotations

from typing import Literal

from acud.base.clock import Clock
from acud.base.errors import InvalidRequest, NotFound
from acud.base.ids import new_id
from acud.protocol.requests.web import WebLogin, WebTokenCreate
from acud.protocol.web import AccessToken
from acud.store.web import LoginCode
from acud.supervisor.journal import Journal

_CODE_S = 120.0
_DAY_S = 86_400.0
_USED_S = 60.0  # the time of last use is stored no more often than this

Every = Literal["", "token", "session", "pass"]


class AccessTokens:
    """Knows digests only: a secret stays with the client that made it. `session_days`: how long a session is valid."""

    def __init__(self, journal: Journal, clock: Clock, session_days: float) -> None:
        self._journal = journal
        self._store = journal.store.web
        self._clock = clock
        self._session_s = session_days * _DAY_S

    def login(self, request: WebLogin) -> float:
        """Store a one-time code; return until when it is valid. Raises: Conflict when it exists already."""
        until_utc_s = self._clock.instant().utc_s + _CODE_S
        self._store.keep_code(
            LoginCode(request.digest, request.name, request.scope, request.displays, request.tasks, until_utc_s)
        )
        return until_utc_s

    def redeem(self, code: str, session: str) -> AccessToken:
        """Exchange a code for a session. Raises: NotFound, with the same text whatever is wrong with the code."""
        spent = self._store.spend_code(code)
        now = self._clock.instant().utc_s
        if spent is None or spent.expires_utc_s <= now:
            raise NotFound("this login link was used already, or is too old", hint="acud web login makes another")
        return self._insert_token(
            AccessToken(
                new_id("session"),
                "session",
                spent.name,
                spent.scope,
                spent.displays,
                spent.tasks,
                now,
                now + self._session_s,
            ),
            session,
        )

    def create(self, request: WebTokenCreate) -> AccessToken:
        """Make a token. Raises: Conflict when its digest exists already."""
        now = self._clock.instant().utc_s
        until_utc_s = now + request.for_s if request.for_s else 0.0
        made = AccessToken(
            new_id("token"), "token", request.name, request.scope, request.displays, request.tasks, now, until_utc_s
        )
        return self._insert_token(made, request.digest)

    def _insert_token(self, token: AccessToken, digest: str) -> AccessToken:
        self._store.insert(token, digest)
        return token

    def find_by_digest(self, digest: str) -> AccessToken:
        """Return the access token of the secret with this digest. Raises: NotFound."""
        found, now = self._store.of(digest), self._clock.instant().utc_s
        if found is None or found.is_expired(now):
            raise NotFound("this token or session is unknown, revoked or expired", hint="acud web login")
        if now - found.used_utc_s >= _USED_S:
            self._journal.keep(lambda: self._store.note_used(found.pass_id, now), droppable=True)
        return found

    def all(self) -> tuple[AccessToken, ...]:
        """Return every valid access token, newest first."""
        now = self._clock.instant().utc_s
        return tuple(one for one in self._store.all() if not one.is_expired(now))

    def revoke(self, pass_id: str, every: Every) -> tuple[AccessToken, ...]:
        """Revoke one access token, or all of a kind; return them. Raises: NotFound; InvalidRequest."""
        if bool(pass_id) == bool(every):
            raise InvalidRequest("name one token or session, or say which are all to go", hint="acud web token list")
        gone = (self._store.find(pass_id),) if pass_id else self._find_every(every)
        for one in gone:
            self._store.delete(one.pass_id)
            self._journal.event("web.revoked", one.pass_id, kind=one.kind)
        if every in ("session", "pass"):
            self._store.delete_codes()
        # Forget which sessions were made with the revoked ones, also those that have expired.
        kinds: tuple[Literal["token", "session"], ...] = ("token", "session") if every == "pass" else ()
        for kind in kinds or ((every,) if every == "token" or every == "session" else ()):
            self._store.forget_made_with(kind)
        return gone

    def _find_every(self, kind: Every) -> tuple[AccessToken, ...]:
        return tuple(one for one in self._store.all() if kind in ("pass", one.kind))
