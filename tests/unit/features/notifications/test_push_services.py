"""Which addresses are push services."""

import pytest

from acud.config.notify import PUSH_SERVICES
from acud.protocol.push import is_service, origin_of


@pytest.mark.parametrize("endpoint", [
    "https://fcm.googleapis.com/fcm/send/x", "https://fcm.googleapis.com:443/fcm/send/x",
    "https://web.push.apple.com/Q", "https://wns2-par02p.notify.windows.com/w/?token=x",
])  # fmt: skip
def test_those_of_the_browsers_are(endpoint: str) -> None:
    assert is_service(endpoint, PUSH_SERVICES)


@pytest.mark.parametrize("endpoint", [
    "http://fcm.googleapis.com/x", "https://fcm.googleapis.com:8443/x", "https://fcm.googleapis.com.evil.example/x",
    "https://fcm.googleapis.com@evil.example/x", "https://x:@fcm.googleapis.com/x",
    "https://push.apple.com.evil.example/x", "https://evilpush.apple.com/x", "https://127.0.0.1/x",
    "https://[::1/x", "https://fcm.googleapis.com:99999/x",
])  # fmt: skip
def test_nothing_else_is(endpoint: str) -> None:
    assert not is_service(endpoint, PUSH_SERVICES)


def test_an_origin_counts_with_its_port() -> None:
    assert is_service("http://127.0.0.1:81/x", ["http://127.0.0.1:81"])
    assert not is_service("http://127.0.0.1:82/x", ["http://127.0.0.1:81"])
    assert origin_of("https://[::1]:81/x") == "https://[::1]:81"
