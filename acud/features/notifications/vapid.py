"""The key pair that identifies this daemon to push services (RFC 8292)."""

from __future__ import annotations

from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from py_vapid import Vapid02
from py_vapid.utils import b64urlencode


def new_key() -> bytes:
    """Return a new private key, its number in base64url."""
    made = Vapid02()
    made.generate_keys()
    number = made.private_key.private_numbers().private_value
    return str(b64urlencode(number.to_bytes(32, "big"))).encode("ascii")


def public_key(private: bytes) -> str:
    """Return the public key as browsers take it: an uncompressed point in base64url. Raises: ValueError."""
    point = Vapid02.from_raw(private).public_key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    return str(b64urlencode(point))
