"""Names of the fleet (hosts, subjects, streams, buckets), how its streams are to be set up, and where they differ."""

from __future__ import annotations

import re
import socket

import msgspec
from nats.js.api import DiscardPolicy, StreamConfig

from acud.base.errors import ConfigError
from acud.config.fleet import HOST, FleetSettings

_PLAIN_KEY = re.compile(r"[A-Za-z0-9_-]+")
_SAME = (
    *("subjects", "retention", "discard", "max_age", "duplicate_window", "max_msgs", "max_bytes", "max_msg_size"),
    *("max_msgs_per_subject", "allow_direct", "allow_rollup_hdrs", "deny_delete", "republish", "mirror", "sources"),
    *("no_ack", "sealed", "subject_transform"),
)
"""The settings that decide what is kept, for how long, where it is copied, and how it may be read."""
_LIMITS = ("max_msgs", "max_bytes", "max_msg_size", "max_msgs_per_subject")
_UNSAID = {"retention": "limits", "discard": "old", "compression": "none"}
"""The servers' defaults."""
_DUPLICATES_S = 120.0
KEYS = "keys"
"""The bucket of the list of keys, under the key `KEY_LIST`."""
KEY_LIST = "grants"
LOST = "lost"
"""In a key of places, the kind of the mark of a wait that an endpoint ended."""


def own_host(settings: FleetSettings) -> str:
    """Return this host's name: the one set, else the machine's, made a plain word.

    Raises: ConfigError when the machine's name holds nothing that could be one.
    """
    if settings.host:
        return settings.host
    name = re.sub(r"[^a-z0-9]+", "-", socket.gethostname().lower())[:63].strip("-")
    if not HOST.fullmatch(name):
        raise ConfigError("this machine's name is no name for a host of a fleet", hint="set [fleet] host")
    return name


def key_of(name: str) -> str:
    """Return `name` as one token of a key in a bucket: ids as they are, anything else in hexadecimal."""
    return name if _PLAIN_KEY.fullmatch(name) else "=" + name.encode().hex()


def name_in(key: str) -> str:
    """Return the name that `key_of` turned into `key`; any other key unchanged."""
    try:
        return bytes.fromhex(key[1:]).decode() if key.startswith("=") else key
    except ValueError:
        return key


def sender_of(subject: str) -> str:
    """Return the sender of a message on a subject that ends with its sender: the servers let no other use it."""
    return subject.rpartition(".")[2]


ENDPOINT = "_"
"""The sender of a wake in place of a lost host, whichever endpoint it is. No host is called so."""


class FleetNames(msgspec.Struct, frozen=True):
    """The names of all subjects, streams and buckets on the fleet's NATS servers; all begin with `prefix`."""

    prefix: str

    @property
    def api(self) -> str:
        """What JetStream's subjects begin with in an account that shares the streams of another."""
        return f"{self.prefix}.api"

    def request(self, host: str) -> str:
        """The subject of requests to `host`."""
        return f"{self.prefix}.req.{host}"

    def event(self, host: str, topic: str) -> str:
        """The subject of an event of `host`; `topic` may be `>`."""
        return f"{self.prefix}.event.{host}.{topic}"

    def wake(self, agent: str, host: str) -> str:
        """The subject of wakes that `host` sends to `agent`; either may be `*`."""
        return f"{self.prefix}.wake.{_token(agent)}.{host}"

    def acknowledgement(self, host: str, agent: str) -> str:
        """The subject of acknowledgements by `agent` that wakes of `host` were seen; either may be `*`."""
        return f"{self.prefix}.seen.{host}.{_token(agent)}"

    def unstored_event(self, host: str, topic: str) -> str:
        """The subject of the events of `host` that are not stored; `topic` may be `>`."""
        return f"{self.prefix}.told.{host}.{topic}"

    def job(self, kind: str, host: str) -> str:
        """The subject of jobs of `kind` that `host` asks; either may be `*`."""
        return f"{self.prefix}.job.{kind}.{host}"

    def answer(self, host: str, asker: str, job_id: str) -> str:
        """The subject of answers to a job that `asker`, a process of `host`, asked; `job_id` may be `*`."""
        return f"{self.prefix}.answer.{host}.{asker}.{job_id}"

    def workers(self, kind: str) -> str:
        """The consumer of the workers of `kind`."""
        return f"workers-{kind}"

    def wake_reader(self, agent: str) -> str:
        """The consumer of the wakes of `agent`."""
        return f"wakes-{key_of(agent)}"

    def seen_reader(self, host: str) -> str:
        """The consumer of the acknowledgements that wakes of `host` were seen."""
        return f"seen-{key_of(host)}"

    def bucket(self, name: str) -> str:
        """The bucket `name`: hosts (living ones), members (all that ever joined), places, drains, keys."""
        return f"{self.prefix}_{name}"

    @property
    def key_list(self) -> str:
        """The subject of the list of everybody's keys, which the administrator signs."""
        return f"$KV.{self.bucket(KEYS)}.{KEY_LIST}"

    def stream(self, name: str) -> str:
        """The stream `name`: EVENTS, WAKES, JOBS."""
        return f"{self.prefix.upper()}_{name}"


def describe_differences(existing: StreamConfig, wanted: StreamConfig) -> str:
    """Return in words where `existing` differs from `wanted`; "" if it does not, or is only kept on more servers."""
    differs = [
        f"{name} is {_word(name, existing)}, not {_word(name, wanted)}"
        for name in _SAME
        if _normalise_setting(name, existing) != _normalise_setting(name, wanted)
    ]
    if wanted.compression is not None and _normalise_setting("compression", existing) != _normalise_setting(
        "compression", wanted
    ):
        differs.append(f"it is compressed by {_word('compression', existing)}, not {_word('compression', wanted)}")
    if (existing.num_replicas or 1) < (wanted.num_replicas or 1):
        differs.append(f"it is kept on {existing.num_replicas or 1} servers, not {wanted.num_replicas}")
    return "; ".join(differs)


def with_wanted_settings(existing: StreamConfig, wanted: StreamConfig) -> StreamConfig:
    """Return `wanted` on no fewer servers, stored as `existing` is (that can't be changed), and compressed like it
    unless `wanted` sets that.
    """
    copies = max(existing.num_replicas or 1, wanted.num_replicas or 1)
    compression = wanted.compression or existing.compression
    return wanted.evolve(num_replicas=copies, storage=existing.storage, compression=compression)


def bucket_stream(names: FleetNames, name: str, ttl_s: float) -> StreamConfig:
    """The stream behind a bucket (ADR-8 of NATS), as the client makes it. Its keys are read by their subjects. Full, it
    refuses what is new; `places` forgets its oldest instead, since hosts are asked for what is not found there.
    """
    whole = names.bucket(name)
    return StreamConfig(
        name=f"KV_{whole}",
        subjects=[f"$KV.{whole}.>"],
        max_age=ttl_s or None,
        duplicate_window=min(_DUPLICATES_S, ttl_s) if ttl_s else _DUPLICATES_S,
        max_msgs_per_subject=1,
        discard=DiscardPolicy.OLD if name == "places" else DiscardPolicy.NEW,
        allow_rollup_hdrs=True,
        deny_delete=True,
        allow_direct=True,
    )


def _token(name: str) -> str:
    return name if name == "*" else key_of(name)


def _normalise_setting(name: str, config: StreamConfig) -> object:
    value = getattr(config, name)
    if name in _LIMITS:
        return -1 if value is None or value <= 0 else value
    if name in ("max_age", "duplicate_window"):
        return round(value or 0.0, 3)
    return str(getattr(value, "value", value)) if value else _UNSAID.get(name, "")


def _word(name: str, config: StreamConfig) -> object:
    value = _normalise_setting(name, config)
    return "none" if value in ("", -1) else value
