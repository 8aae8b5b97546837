"""What a listener on the subjects of events has heard already: a publication that is repeated is stored once, heard
twice.
"""

from __future__ import annotations

import re

from acud_fleet.forwarding import TRIMMED

_NUMBER = re.compile("[0-9]{1,20}")


class Hearing:
    """The newest number heard of each host, and of which store."""

    def __init__(self) -> None:
        self._newest: dict[str, tuple[str, int]] = {}

    def is_news(self, host: str, identity: str) -> bool:
        """Note the message `identity` of `host` ("": one that is not stored); False when it was heard before."""
        parts = identity.split(":")
        if len(parts) != 3 or _NUMBER.fullmatch(parts[2]) is None:
            return True
        instance, n = parts[1], int(parts[2])
        known, newest = self._newest.get(host, ("", 0))
        if instance == known and n <= newest:
            return False
        self._newest[host] = (instance, n)
        return True


def is_gap(subject: str) -> bool:
    """Tell whether a message on `subject` says that events of its host are lost."""
    return subject.endswith(f".{TRIMMED}")
