"""The pictures that live waits look for, kept in the store by digest; conditions carry no bytes."""

from __future__ import annotations

from collections import OrderedDict

from acud.base import log
from acud.base.clock import Clock
from acud.base.errors import InvalidRequest, StoreUnavailable
from acud.store.waits import ImageTable
from acud.types import Until
from acud.waits.images import list_digests, strip_pictures

_LOG = log.logger("images")
_MAX_BYTES = 16 << 20  # pictures cached in memory, so that not each job reads the store


class WaitImages:
    """Pictures by digest. Those in a request are stored in its turn."""

    def __init__(self, table: ImageTable, clock: Clock) -> None:
        self._table, self._clock = table, clock
        self._held: OrderedDict[str, bytes] = OrderedDict()

    def keep(self, until: Until) -> Until:
        """Store the condition's pictures; return it with their digests in their place. Raises: InvalidRequest for bytes
        that are no picture, and for an unknown digest.
        """
        short = self.keep_brought(until)
        missing = next((digest for digest in list_digests(short) if self.get(digest) is None), "")
        if missing:
            raise InvalidRequest(
                f"no image with the digest {missing} is kept", hint="give the bytes of its PNG as `png`"
            )
        return short

    def keep_brought(self, until: Until) -> Until:
        """Do the same as `keep`, without checking the digests that come without bytes."""
        short, brought = strip_pictures(until)
        for digest, png in brought.items():
            self._table.keep(digest, png, self._clock.instant().utc_s)
            self._hold_image(digest, png)
        return short

    def get(self, digest: str) -> bytes | None:
        """Return the picture; None if it is not kept or cannot be read now."""
        png = self._held.get(digest)
        if png is None:
            try:
                png = self._table.get(digest)
            except StoreUnavailable as fault:
                _LOG.warning("image.unread", digest=digest, reason=fault.message)
        if png is not None:
            self._hold_image(digest, png)
        return png

    def _hold_image(self, digest: str, png: bytes) -> None:
        self._held[digest] = png
        self._held.move_to_end(digest)
        while len(self._held) > 1 and sum(map(len, self._held.values())) > _MAX_BYTES:
            self._held.popitem(last=False)
