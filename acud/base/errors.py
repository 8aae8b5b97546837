"""The errors of acud, drawn as a tree.

    AcudError
    ├── UsageError               the caller can mend it: bad value, unknown name, wrong state
    │   ├── InvalidRequest       malformed, unknown or oversized message
    │   ├── NotFound             no such wait, display, window …
    │   ├── Conflict             same request id with other content; illegal move of a state
    │   └── Refused              a limit, a policy or an unsupported setup forbids it
    │       ├── NoJudge          a sentence, and no judge is configured that could answer it
    │       ├── NotEnabled       a feature is switched off in the settings
    │       └── NotInstalled     the extra of acud that the request needs is not installed
    ├── ConfigError              a setting is unknown or malformed
    ├── Unavailable              a part acud needs does not answer now
    │   ├── DaemonDown           no supervisor behind the control socket
    │   ├── DisplayDown          the X server is gone or refuses us
    │   ├── StoreUnavailable     database locked, full, read-only, corrupt or not ours
    │   └── ShmFull              /dev/shm cannot hold a ring of the size asked for
    ├── OutcomeUnknown           an effect was started and its end never recorded
    ├── ProtocolError            a peer broke the message contract
    └── InternalError            a fault of acud itself

Every error carries `code` (stable, for programs), a message (one line, names the fault), `hint` (the next step, or "")
and `facts` (plain values). `from_wire` rebuilds one from its wire form.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

Facts = dict[str, Any]


class AcudError(Exception):
    """The root: one line of fault, one line of next step, and facts as attributes."""

    code: ClassVar[str] = "error"

    def __init__(self, message: str, *, hint: str = "", **facts: Any) -> None:
        super().__init__(message)
        self.message, self.hint = message, hint
        self.facts: Facts = facts

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message

    def __reduce__(self) -> tuple[Any, ...]:
        return (_rebuild, (type(self), self.message, self.hint, self.facts))


class UsageError(AcudError):
    """The caller can correct the error."""

    code = "usage"


class InvalidRequest(UsageError):
    """A message or one of its values is malformed."""

    code = "invalid_request"


class NotFound(UsageError):
    """A named thing does not exist."""

    code = "not_found"


class Conflict(UsageError):
    """The thing exists, and its state forbids the request."""

    code = "conflict"


class Refused(UsageError):
    """A limit, a policy or an unsupported setup forbids the request."""

    code = "refused"


class NoJudge(Refused):
    """A condition holds a sentence, and no judge is configured that could answer it (not: one that is down)."""

    code = "no_judge"


class NotEnabled(Refused):
    """The feature that answers the request is switched off in the settings."""

    code = "not_enabled"


class NotInstalled(Refused):
    """The extra that the request needs is not installed here; the hint is the command that installs it."""

    code = "not_installed"


class ConfigError(AcudError):
    """A setting is unknown or malformed; the message names the key."""

    code = "config"


class Unavailable(AcudError):
    """A part that acud needs does not answer now."""

    code = "unavailable"


class DaemonDown(Unavailable):
    """No supervisor answers on the control socket."""

    code = "daemon_down"


class DisplayDown(Unavailable):
    """An X server is gone or refuses the connection."""

    code = "display_down"


class StoreUnavailable(Unavailable):
    """The database is locked, full, read-only, corrupt or not ours."""

    code = "store_unavailable"


class ShmFull(Unavailable):
    """/dev/shm cannot hold a ring of the size asked for."""

    code = "shm_full"


class OutcomeUnknown(AcudError):
    """The daemon began an effect and never recorded its end; the request is not repeated."""

    code = "outcome_unknown"


class ProtocolError(AcudError):
    """A peer broke the message contract."""

    code = "protocol"


class InternalError(AcudError):
    """A fault of acud itself, reported to the caller and logged with its traceback."""

    code = "internal"


def suggest(name: str, known: Iterable[str]) -> str:
    """Return `did you mean X? ` with the name in `known` that is spelled nearly as `name`, "" for none."""
    from difflib import get_close_matches

    near = get_close_matches(name.lower(), list(known), n=1, cutoff=0.7)
    return f"did you mean {near[0]}? " if near else ""


_BY_CODE: dict[str, type[AcudError]] = {
    kind.code: kind for kind in tuple(globals().values()) if isinstance(kind, type) and issubclass(kind, AcudError)
}


def _rebuild(kind: type[AcudError], message: str, hint: str, facts: Facts) -> AcudError:
    # Not by keyword: a fact may be called `message` or `hint`.
    error = kind(message, hint=hint)
    error.facts = dict(facts)
    return error


def from_wire(code: str, message: str, hint: str, facts: Facts) -> AcudError:
    """Return the error that a peer sent; an unknown code becomes the root, keeping the code in `facts`."""
    kind = _BY_CODE.get(code)
    if kind is None:
        return _rebuild(AcudError, message, hint, {"peer_code": code, **facts})
    return _rebuild(kind, message, hint, facts)
