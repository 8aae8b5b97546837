"""The digests by which a repeat of a request is known, keyed: whoever reads the store cannot guess what was typed."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from pathlib import Path
from typing import Any

import msgspec

from acud.errors import InvalidRequest, Refused
from acud.paths import kept_secret

_KEY_BYTES = 32


class RequestDigest:
    """Makes digests with the key in the file at `path`, which lies beside the store and never in it.

    With another key (a file that was removed, an older acud's digests) a repeat is a Conflict, never a second deed;
    such rows lapse with the others after 24 h.
    """

    def __init__(self, path: Path) -> None:
        """Read the key, or make it. Raises: Refused for a file that holds none or that others can read; OSError."""
        text = kept_secret(path, lambda: secrets.token_hex(_KEY_BYTES).encode())
        try:
            self._key = bytes.fromhex(text.decode("ascii"))
        except ValueError:
            self._key = b""
        if len(self._key) != _KEY_BYTES:
            raise Refused(f"{path} holds no key", hint=f"remove it; a new one is made: rm {path}")

    def digest(self, body: dict[str, Any]) -> str:
        """Return the HMAC-SHA-256 of a request's body. Raises: InvalidRequest for one that is nested too deeply."""
        try:
            data = msgspec.msgpack.Encoder(order="deterministic").encode(body)
        except RecursionError as fault:  # the envelope's own limit is a few levels from this one
            raise InvalidRequest("the message is nested too deeply", hint="send it flatter") from fault
        return hmac.new(self._key, data, hashlib.sha256).hexdigest()
