"""Types that two threads convert to first at once: msgspec 0.22 alone dies of a SIGSEGV."""

import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import msgspec

from acud.base.typed_values import convert, decode_json, json_decoder, msgpack_decoder

JSON, MSGPACK = b'{"inner": {"number": 1}}', b"\x81\xa5inner\x81\xa6number\x01"
WAYS: tuple[Callable[[Any], Any], ...] = (
    lambda kind: convert({"inner": {"number": 1}}, kind),
    lambda kind: decode_json(JSON, kind),
    lambda kind: json_decoder(kind).decode(JSON),
    lambda kind: msgpack_decoder(kind).decode(MSGPACK),
)


def _convert_in_two_threads(way: Callable[[Any], Any]) -> None:
    """Convert to a fresh type in a second thread while the first still collects what the type's fields are."""
    collecting, began, ended = threading.Event(), threading.Event(), threading.Event()

    def number() -> type[int]:
        collecting.set()
        began.wait(10)
        ended.wait(0.2)  # a lock holds the second thread up until after this; without one it ends at once
        return int

    def second() -> None:
        collecting.wait(10)
        began.set()
        found.append(way(outer).inner.number)
        ended.set()

    globals()["number"] = number
    inner = msgspec.defstruct("inner", [("number", "number()")], module=__name__)
    outer = msgspec.defstruct("outer", [("inner", inner)])
    found: list[int] = []
    thread = threading.Thread(target=second)
    thread.start()
    found.append(way(outer).inner.number)
    thread.join()
    assert found == [1, 1]


def test_two_threads_may_use_a_type_first_at_once() -> None:
    done = subprocess.run([sys.executable, "-m", __name__], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


if __name__ == "__main__":
    for one in WAYS:
        _convert_in_two_threads(one)
