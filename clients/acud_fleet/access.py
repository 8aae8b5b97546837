"""Permissions on a fleet's servers: the grants of an administrator's folder, and the permissions that follow.

The folder holds `grants.json` (names and public keys), `permissions.conf` (what each server's configuration includes)
and a seed for each key that was made here. A seed goes to its machine and is kept nowhere else.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path

import msgspec
import nkeys
from msgspec import Struct
from msgspec.structs import replace

from acud.base.errors import Conflict, InvalidRequest, NotFound
from acud.base.typed_values import decode_json
from acud.base.value_errors import describe_decode_fault
from acud.config.fleet import HOST
from acud.features.fleet.names import ENDPOINT, KEY_LIST, KEYS, FleetNames, key_of
from acud.features.fleet.signatures import KeyList, MemberKeys
from acud_fleet.initialisation import FleetRoles

_KEY = re.compile(r"U[A-Z2-7]{55}")
_KIND = re.compile(r"[a-z0-9][a-z0-9_-]{0,31}")
_API = "$JS.API"
_FLEET = "fleet"
"""The account that shares its streams with the others; of all users only the administrator is in it."""
_REPLIES, _REPLIES_FOR = 1000, "1h"
_HEAD = """\
# Written by acud fleet grant: who may do what on a fleet's NATS servers. Include it in each server's configuration, and
# restart the servers one after the other when it has changed. Public keys alone stand here. See docs/scaling.md.
"""
GRANTS = "grants.json"
PERMISSIONS = "permissions.conf"


class Role(StrEnum):
    """The part of a user in a fleet."""

    ADMIN = "admin"
    HOST = "host"
    ENDPOINT = "endpoint"
    WORKER = "worker"
    AGENT = "agent"


USUAL = {Role.ADMIN: "admin", Role.ENDPOINT: "endpoint", Role.WORKER: "vision", Role.AGENT: "main"}
"""Names for grants without one. A worker's name is the kind of its jobs."""


class Grant(Struct, frozen=True):
    """The role and `name` of a user, its public keys (newest first), and, for a host, the kinds of jobs that it asks
    workers for and the agents for which it carries wakes.
    """

    role: Role
    name: str
    keys: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    carries: tuple[str, ...] = ()


class Grants(Struct, frozen=True):
    """Every user with rights on the servers of the fleet `prefix`."""

    prefix: str
    grants: tuple[Grant, ...] = ()

    def list_roles(self) -> FleetRoles:
        """Return the users for whom the administrator makes consumers."""
        of = {role: tuple(one.name for one in self.grants if one.role is role) for role in Role}
        kinds = dict.fromkeys((*of[Role.WORKER], *(kind for one in self.grants for kind in one.kinds)))
        agents = dict.fromkeys((*of[Role.AGENT], *(agent for one in self.grants for agent in one.carries)))
        return FleetRoles(of[Role.HOST], tuple(agents), tuple(kinds))

    def key_list(self) -> bytes:
        """Return all users' keys, for the administrator to sign."""
        found = tuple(MemberKeys(one.role, one.name, one.keys) for one in self.grants)
        return msgspec.json.encode(KeyList(self.prefix, found))

    def admin_key(self) -> str:
        """Return the value of the members' `[fleet] admin_key`; "" while there is no administrator."""
        return ",".join(key for one in self.grants if one.role is Role.ADMIN for key in one.keys)

    def find(self, role: Role, name: str) -> Grant | None:
        """Return the grant of this name, None without one."""
        return next((one for one in self.grants if (one.role, one.name) == (role, name)), None)

    def with_grant(self, grant: Grant) -> Grants:
        """Return the grants with `grant` in place of its namesake. Raises: Conflict for another grant's key."""
        others = tuple(one for one in self.grants if (one.role, one.name) != (grant.role, grant.name))
        for other in others:
            if set(other.keys) & set(grant.keys):
                raise Conflict(f"that key is {other.role} {other.name}'s", hint="give each its own")
        return replace(
            self, grants=tuple(sorted((*others, grant), key=lambda one: (list(Role).index(one.role), one.name)))
        )

    def must_find(self, role: Role, name: str) -> Grant:
        """Return the grant. Raises: NotFound."""
        found = self.find(role, name)
        if found is None:
            raise NotFound(f"no {role} {name} is granted anything here", hint="acud fleet grants")
        return found

    def without(self, grant: Grant) -> Grants:
        """Return the grants without `grant`."""
        return replace(self, grants=tuple(one for one in self.grants if one != grant))


def make_grant(
    held: Grants,
    role: Role,
    name: str,
    *,
    key: str,
    kinds: tuple[str, ...] = (),
    carries: tuple[str, ...] = (),
    rotate: bool = False,
) -> Grant:
    """Return the new grant; without keys if a key is still to be made.

    Raises: InvalidRequest for what this role cannot have; Conflict for a grant that exists and would not change;
    NotFound if a key of a missing grant is to be rotated.
    """
    name = check_name(role, name)
    if role is not Role.HOST and (kinds or carries):
        raise InvalidRequest(f"jobs are asked and wakes carried by hosts, not by an {role}", hint="grant a host")
    before = held.must_find(role, name) if rotate else held.find(role, name)
    if before is not None and not (rotate or key or kinds or carries):
        raise Conflict(f"{role} {name} has its grant", hint="--rotate adds a key; acud fleet revoke takes it back")
    usual = before or Grant(role, name, kinds=(USUAL[Role.WORKER],) if role is Role.HOST else ())
    keys = (key,) if key else () if rotate or before is None else before.keys
    return replace(usual, keys=keys, kinds=kinds or usual.kinds, carries=carries or usual.carries)


def check_name(role: Role, name: str) -> str:
    """Return the name of a grant, the usual name for "". Raises: InvalidRequest for an impossible name."""
    name = name or USUAL.get(role, "")
    if role is Role.HOST and not HOST.fullmatch(name):
        raise InvalidRequest(f"{name!r} is no name of a host", hint="small letters, digits and -, at most 63")
    if role is Role.WORKER and not _KIND.fullmatch(name):
        raise InvalidRequest(
            f"{name!r} is no kind of jobs", hint="small letters, digits, _ and -, at most 32: [jobs] kind"
        )
    return name


# ---- the folder ----------------------------------------------------------------------------------------------------


def read_grants(folder: Path, prefix: str) -> Grants:
    """Return the grants of a folder, none where there is no such folder. Raises: InvalidRequest for a broken file;
    Conflict for those of another fleet.
    """
    path = folder / GRANTS
    try:
        found = decode_json(path.read_bytes(), Grants)
    except FileNotFoundError:
        return Grants(prefix)
    except msgspec.DecodeError as fault:
        raise InvalidRequest(
            f"{path}: {describe_decode_fault(fault, Grants, 'the file of grants')}",
            hint="restore it; acud fleet grant writes it",
        ) from fault
    if found.prefix != prefix:
        raise Conflict(
            f"{path} is of the fleet {found.prefix}, not {prefix}", hint="[fleet] prefix, or another --folder"
        )
    return found


def write_grants(folder: Path, grants: Grants) -> None:
    """Write the grants and the permissions that follow, each at once or not at all."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    _replace_file(folder / PERMISSIONS, permissions(grants).encode())
    _replace_file(folder / GRANTS, msgspec.json.format(msgspec.json.encode(grants)) + b"\n")


def _replace_file(path: Path, data: bytes) -> None:
    fresh = path.with_name(f".{path.name}.new")
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)


def new_seed(folder: Path, grant: Grant) -> tuple[Path, str]:
    """Write a new seed that only its owner can read, and return its file and the public key. Earlier seeds are kept."""
    seed = nkeys.encode_seed(os.urandom(32), nkeys.PREFIX_BYTE_USER)
    public = nkeys.from_seed(bytearray(seed)).public_key.decode()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    plain = grant.role if grant.name == USUAL.get(grant.role) else f"{grant.role}-{key_of(grant.name)}"
    path = folder / f"{plain}.nk"
    if path.exists():
        path = folder / f"{plain}-{public[1:9].lower()}.nk"
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(seed)
    return path, public


def check_key(key: str) -> str:
    """Return a user's public key. Raises: InvalidRequest for anything else."""
    if not _KEY.fullmatch(key):
        raise InvalidRequest("that is no public key of a user", hint="U and 55 letters and digits; never the seed (S…)")
    return key


# ---- rights --------------------------------------------------------------------------------------------------------


class Rights(Struct, frozen=True):
    """What a user may send to the streams of the fleet, ask of others and receive.

    `shared`: subjects of the account that holds the streams, JetStream's own among them (`$JS…`). `asks`: requests to
    others; `answers`: requests of others; `tells`: messages to others; `hears`: messages of others.
    """

    shared: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    tells: tuple[str, ...] = ()
    hears: tuple[str, ...] = ()
    inbox: str = ""


def list_rights(names: FleetNames, grant: Grant) -> Rights:
    """Return all that a grant's role needs, and nothing else."""
    own = _RIGHTS[grant.role](names, grant)
    return replace(own, shared=(*own.shared, *_list_read_subjects(names, KEYS, KEY_LIST)))


def _host_rights(names: FleetNames, grant: Grant) -> Rights:
    host, wakes, jobs = grant.name, names.stream("WAKES"), names.stream("JOBS")
    return Rights(
        shared=(
            # Its lease, its newest words, and where its objects are.
            *(_key_subject(names, bucket, host) for bucket in ("hosts", "members")),
            _key_subject(names, "places", f"{host}.>"),
            *(line for bucket in ("hosts", "members", "drains") for line in _list_read_subjects(names, bucket, host)),
            *_list_read_subjects(names, "places", f"{host}.>"),
            # Its events; where it stopped is what the stream holds.
            names.event(host, ">"),
            *_info_subjects(names.stream("EVENTS"), wakes),
            f"{_API}.DIRECT.GET.{names.stream('EVENTS')}.{names.event(host, '>')}",
            # Wakes of its waits, and the messages that they were seen.
            names.wake("*", host),
            *_list_take_subjects(wakes, names.seen_reader(host)),
            *(line for agent in grant.carries for line in _list_take_subjects(wakes, names.wake_reader(agent))),
            # Jobs for workers.
            *(names.job(kind, host) for kind in grant.kinds),
            *(_info_subjects(jobs) if grant.kinds else ()),
            *(f"{_API}.CONSUMER.INFO.{jobs}.{names.workers(kind)}" for kind in grant.kinds),
        ),
        answers=(names.request(host), *([names.answer(host, "*", "*")] if grant.kinds else [])),
        tells=(names.event(host, ">"), names.unstored_event(host, ">")),
        inbox=f"host-{host}",
    )


def _endpoint_rights(names: FleetNames, grant: Grant) -> Rights:
    buckets = ("hosts", "members", "drains", "places")
    return Rights(
        shared=(
            # A place on a host is claimed in its lease; drained and forgotten are hosts through the endpoint alone.
            *(_key_subject(names, bucket, ">" if bucket == "places" else "*") for bucket in buckets),
            *(line for bucket in buckets for line in _list_read_subjects(names, bucket, ">")),
            names.wake("*", ENDPOINT),  # of waits that it ends in the place of a host that is lost
        ),
        asks=(names.request("*"),),  # users that may act on every host's displays
        hears=(names.event("*", ">"), names.unstored_event("*", ">")),
        inbox="endpoint",
    )


def _worker_rights(names: FleetNames, grant: Grant) -> Rights:
    return Rights(
        shared=_list_take_subjects(names.stream("JOBS"), names.workers(grant.name)),
        asks=(names.answer("*", "*", "*"),),
        inbox="worker",
    )


def _agent_rights(names: FleetNames, grant: Grant) -> Rights:
    wakes = names.stream("WAKES")
    takes = _list_take_subjects(wakes, names.wake_reader(grant.name))
    return Rights(
        shared=(names.acknowledgement("*", grant.name), *_info_subjects(wakes), *takes),
        inbox=f"agent-{key_of(grant.name)}",
    )


def _admin_rights(names: FleetNames, grant: Grant) -> Rights:
    makes = ("INFO", "STREAM.CREATE.*", "STREAM.UPDATE.*", "STREAM.INFO.*", "CONSUMER.CREATE.>", "CONSUMER.INFO.>")
    return Rights(shared=(*(f"{_API}.{one}" for one in makes), names.key_list), inbox="admin")


_RIGHTS = {
    Role.ADMIN: _admin_rights, Role.HOST: _host_rights, Role.ENDPOINT: _endpoint_rights, Role.WORKER: _worker_rights,
    Role.AGENT: _agent_rights,
}  # fmt: skip


def _key_subject(names: FleetNames, bucket: str, key: str) -> str:
    return f"$KV.{names.bucket(bucket)}.{key}"  # ADR-8 of NATS: where a bucket's keys are


def _list_read_subjects(names: FleetNames, bucket: str, key: str) -> tuple[str, ...]:
    # By their names alone: a user that may read by number (STREAM.MSG.GET) could read all messages.
    stream = f"KV_{names.bucket(bucket)}"
    return (*_info_subjects(stream), f"{_API}.DIRECT.GET.{stream}.{_key_subject(names, bucket, key)}")


def _info_subjects(*streams: str) -> tuple[str, ...]:
    return tuple(f"{_API}.STREAM.INFO.{stream}" for stream in streams)


def _list_take_subjects(stream: str, consumer: str) -> tuple[str, ...]:
    return (
        f"{_API}.CONSUMER.INFO.{stream}.{consumer}",
        f"{_API}.CONSUMER.MSG.NEXT.{stream}.{consumer}",
        f"$JS.ACK.{stream}.{consumer}.>",
    )


# ---- accounts ------------------------------------------------------------------------------------------------------


class _Path(Struct, frozen=True):
    """Messages on `subject` that go from one account to another. `is_request`: the receiver may answer the sender."""

    subject: str
    sender: str
    receiver: str
    is_request: bool = True

    @property
    def exporter(self) -> str:
        """The account that offers the subject: the one that answers or sends."""
        return self.receiver if self.is_request else self.sender

    @property
    def importer(self) -> str:
        """The account that may use the subject."""
        return self.sender if self.is_request else self.receiver


def permissions(grants: Grants) -> str:
    """Return the part of a server's configuration that holds every user, each in an account of its own.

    Permissions within one account would not do: JetStream sends its answer to any subject that a request names, even if
    the sender may not publish there. Only messages on shared subjects leave an account.
    """
    names = FleetNames(grants.prefix)
    paths = list(dict.fromkeys(_list_paths(names, grants)))
    accounts: dict[str, list[Grant]] = {_FLEET: []}
    for one in grants.grants:
        accounts.setdefault(_name_account(one), []).append(one)
    blocks = "".join(_format_account(names, account, held, paths) for account, held in accounts.items())
    return f"{_HEAD}accounts {{\n{blocks}}}\n"


def _name_account(grant: Grant) -> str:
    return _FLEET if grant.role is Role.ADMIN else f"{grant.role}-{key_of(grant.name)}"


def _list_paths(names: FleetNames, grants: Grants) -> Iterator[_Path]:
    """Yield the ways of messages between accounts: to the streams, and between askers and answerers."""
    held = [(one, _name_account(one), list_rights(names, one)) for one in grants.grants if one.role is not Role.ADMIN]
    for _, account, own in held:
        yield from (_Path(subject, account, _FLEET) for subject in own.shared)
        for other, elsewhere, others in held:
            if other.role is not Role.HOST:
                continue
            yield from (_Path(one, account, elsewhere) for one in others.answers if _match_any(own.asks, one))
            yield from (_Path(one, elsewhere, account, False) for one in others.tells if _match_any(own.hears, one))


def _match_any(patterns: Iterable[str], subject: str) -> bool:
    """Return whether one of the patterns matches all that `subject` matches."""
    tokens = subject.split(".")
    return any(
        len(words) == len(tokens) and all(word in ("*", token) for word, token in zip(words, tokens, strict=True))
        for words in (pattern.split(".") for pattern in patterns)
    )


def _format_account(names: FleetNames, account: str, held: list[Grant], paths: list[_Path]) -> str:
    parts = {
        "users": [_format_user(names, key, one) for one in held for key in one.keys],
        "exports": [_format_export(path) for path in paths if path.exporter == account],
        "imports": [_format_import(names, path) for path in paths if path.importer == account],
    }
    jetstream = "    jetstream: enabled\n" if account == _FLEET else ""
    lists = "".join(f"    {name} = [\n{''.join(lines)}    ]\n" for name, lines in parts.items() if lines)
    return f'  "{account}" {{\n{jetstream}{lists}  }}\n'


def _format_export(path: _Path) -> str:
    kind = f'service: "{path.subject}", response: stream' if path.is_request else f'stream: "{path.subject}"'
    return f'      {{ {kind}, accounts: ["{path.importer}"] }}\n'


def _format_import(names: FleetNames, path: _Path) -> str:
    kind, inside = "service" if path.is_request else "stream", _inside(names, path.subject)
    to = "" if inside == path.subject else f', to: "{inside}"'
    return f'      {{ {kind}: {{ account: "{path.exporter}", subject: "{path.subject}" }}{to} }}\n'


def _inside(names: FleetNames, subject: str) -> str:
    """Return the name in other accounts of a subject of the streams' account: JetStream's own are in use there."""
    return names.api + subject.removeprefix(_API) if subject.startswith(f"{_API}.") else subject


def _format_user(names: FleetNames, key: str, grant: Grant) -> str:
    own = list_rights(names, grant)
    shared = own.shared if grant.role is Role.ADMIN else [f"{_API}.INFO", *(_inside(names, one) for one in own.shared)]
    publish = dict.fromkeys((*shared, *own.asks, *own.tells))
    subscribe = (*own.answers, *own.hears, f"_INBOX.{own.inbox}.>")
    replies = f'          allow_responses {{ max: {_REPLIES}, expires: "{_REPLIES_FOR}" }}\n' if own.answers else ""
    return (
        f"      {{\n        # {grant.role} {grant.name}\n        nkey: {key}\n        permissions {{\n"
        f"          publish {{ allow: [\n{_format_subjects(publish)}          ] }}\n"
        f"          subscribe {{ allow: [\n{_format_subjects(subscribe)}          ] }}\n{replies}        }}\n      }}\n"
    )


def _format_subjects(subjects: Iterable[str]) -> str:
    return "".join(f'            "{subject}"\n' for subject in subjects)
