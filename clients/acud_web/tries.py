"""How often an address may be wrong. Rules only: the time is passed in."""

from __future__ import annotations

from collections import OrderedDict

_ADDRESSES = 1024
"""So many are remembered; the one that was wrong longest ago is forgotten first."""


class Tries:
    """`most` wrong tries at once, and one more each `again_s`."""

    def __init__(self, most: int, again_s: float) -> None:
        self._most = most
        self._again_s = again_s
        self._spent: OrderedDict[str, tuple[float, float]] = OrderedDict()
        """By address: how many tries are spent, and as of when."""

    def wait_s(self, address: str, now_s: float) -> float:
        """Return how long `address` has to wait until it may be wrong again; 0: not at all."""
        return max(0.0, (self._now(address, now_s) + 1 - self._most) * self._again_s)

    def wrong(self, address: str, now_s: float) -> None:
        """Note a wrong try."""
        self._spent[address] = (self._now(address, now_s) + 1, now_s)
        self._spent.move_to_end(address)
        if len(self._spent) > _ADDRESSES:
            self._spent.popitem(last=False)

    def _now(self, address: str, now_s: float) -> float:
        spent, at_s = self._spent.get(address, (0.0, now_s))
        return max(0.0, spent - (now_s - at_s) / self._again_s)
