"""The receivers in docs/wakes.md, run as they are printed: they take a signed wake, and nothing else."""

from __future__ import annotations

import re
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from standardwebhooks.webhooks import WebhookVerificationError

from acud.delivery.routes import sign, signing_key

PAGE = (Path(__file__).parents[2] / "docs" / "wakes.md").read_text(encoding="utf-8")
SECRET = "whsec_" + "c2VjcmV0IG9mIHRoZSB0ZXN0cyE="
BODY = b'{"id": "wake-1", "kind": "resolved"}'


def example(begin: str) -> str:
    """Return the indented block of the page that begins with the line `begin`."""
    block = re.search(rf"^    {re.escape(begin)}.*?(?=\n\n\S|\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert block is not None
    return textwrap.dedent(block[0])


def signed(moment: float, body: bytes = BODY, wake_id: str = "wake-1") -> dict[str, str]:
    stamp = str(int(moment))
    return {
        "webhook-id": wake_id,
        "webhook-timestamp": stamp,
        "webhook-signature": sign(signing_key(SECRET), wake_id, stamp, body),
    }


def bad(how: str) -> tuple[dict[str, str], bytes]:
    """Return what a receiver must refuse: headers and body."""
    now_s = time.time()
    good = signed(now_s)
    return {
        "another body": (signed(now_s, b"{}"), BODY),
        "another id": (good | {"webhook-id": "wake-2"}, BODY),
        "another time": (good | {"webhook-timestamp": str(int(now_s) + 1)}, BODY),
        "ten minutes old": (signed(now_s - 600), BODY),
        "ten minutes early": (signed(now_s + 600), BODY),
        "another signature": (good | {"webhook-signature": "v1,AAAA"}, BODY),
        "no signature": (good | {"webhook-signature": ""}, BODY),
    }[how]


WAYS = (
    "another body", "another id", "another time", "ten minutes old", "ten minutes early", "another signature",
    "no signature",
)  # fmt: skip


@pytest.fixture(scope="module")
def is_genuine() -> Callable[..., bool]:
    names: dict[str, Any] = {}
    exec(compile(example("import base64, hashlib, hmac, time"), "docs/wakes.md", "exec"), names)
    found: Callable[..., bool] = names["is_genuine"]
    return found


def test_the_receiver_without_a_library_takes_a_signed_wake(is_genuine: Callable[..., bool]) -> None:
    assert is_genuine(signing_key(SECRET), signed(time.time()), BODY)
    two = signed(time.time())
    assert is_genuine(signing_key(SECRET), two | {"webhook-signature": "v1,AAAA " + two["webhook-signature"]}, BODY)


@pytest.mark.parametrize("how", WAYS)
def test_and_nothing_else(is_genuine: Callable[..., bool], how: str) -> None:
    headers, body = bad(how)
    assert not is_genuine(signing_key(SECRET), headers, body)


def with_library(headers: dict[str, str], body: bytes) -> Any:
    names: dict[str, Any] = {"body": body, "headers": headers}
    code = example("from standardwebhooks.webhooks import Webhook").replace("whsec_…", SECRET)
    exec(compile(code, "docs/wakes.md", "exec"), names)
    return names["wake"]


def test_the_receiver_with_the_library_takes_a_signed_wake() -> None:
    assert with_library(signed(time.time()), BODY)["id"] == "wake-1"


@pytest.mark.parametrize("how", WAYS)
def test_and_nothing_else_either(how: str) -> None:
    headers, body = bad(how)
    with pytest.raises(WebhookVerificationError):
        with_library(headers, body)
