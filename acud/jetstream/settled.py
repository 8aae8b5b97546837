"""How streams and buckets are to be set up, and where those on the servers differ."""

from __future__ import annotations

from nats.js.api import DiscardPolicy, StreamConfig

from acud.jetstream.naming import Names

_SAME = (
    *("subjects", "retention", "discard", "max_age", "duplicate_window", "max_msgs", "max_bytes", "max_msg_size"),
    *("max_msgs_per_subject", "allow_direct", "allow_rollup_hdrs", "deny_delete", "republish", "mirror", "sources"),
    *("no_ack", "sealed", "subject_transform"),
)
"""What decides what is kept, for how long, who else is sent it, and who may read it how."""
_LIMITS = ("max_msgs", "max_bytes", "max_msg_size", "max_msgs_per_subject")
_UNSAID = {"retention": "limits", "discard": "old"}
"""What the servers take where nothing is said."""
_DUPLICATES_S = 120.0


def told_apart(found: StreamConfig, wanted: StreamConfig) -> str:
    """Return in words where `found` is not as `wanted`; "" where it is, or is kept on more servers."""
    differs = [
        f"{name} is {_word(name, found)}, not {_word(name, wanted)}"
        for name in _SAME
        if _plain(name, found) != _plain(name, wanted)
    ]
    if (found.num_replicas or 1) < (wanted.num_replicas or 1):
        differs.append(f"it is kept on {found.num_replicas or 1} servers, not {wanted.num_replicas}")
    return "; ".join(differs)


def mended(found: StreamConfig, wanted: StreamConfig) -> StreamConfig:
    """Return `wanted` on no fewer servers, and stored as `found` is: that can't be changed."""
    return wanted.evolve(num_replicas=max(found.num_replicas or 1, wanted.num_replicas or 1), storage=found.storage)


def bucket(names: Names, name: str, ttl_s: float) -> StreamConfig:
    """The stream behind a bucket (ADR-8 of NATS), as the client makes it. Its keys are read by their subjects."""
    whole = names.bucket(name)
    return StreamConfig(
        name=f"KV_{whole}",
        subjects=[f"$KV.{whole}.>"],
        max_age=ttl_s or None,
        duplicate_window=min(_DUPLICATES_S, ttl_s) if ttl_s else _DUPLICATES_S,
        max_msgs_per_subject=1,
        discard=DiscardPolicy.NEW,
        allow_rollup_hdrs=True,
        deny_delete=True,
        allow_direct=True,
    )


def _plain(name: str, config: StreamConfig) -> object:
    value = getattr(config, name)
    if name in _LIMITS:
        return -1 if value is None or value <= 0 else value
    if name in ("max_age", "duplicate_window"):
        return round(value or 0.0, 3)
    return str(getattr(value, "value", value)) if value else _UNSAID.get(name, "")


def _word(name: str, config: StreamConfig) -> object:
    value = _plain(name, config)
    return "none" if value in ("", -1) else value
