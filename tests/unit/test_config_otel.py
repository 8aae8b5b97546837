"""`[otel] endpoint`: what is an address of a receiver."""

import msgspec
import pytest

from acud.config import OtelSettings


@pytest.mark.parametrize(("endpoint", "url", "is_here"), [
    ("", "", False), ("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/traces", True),
    ("http://localhost:4318/", "http://localhost:4318/v1/traces", True),
    ("https://collector.example/otlp/v1/traces", "https://collector.example/otlp/v1/traces", False),
])  # fmt: skip
def test_where_spans_are_posted(endpoint: str, url: str, is_here: bool) -> None:
    settings = OtelSettings(endpoint)
    assert (settings.url, settings.is_here) == (url, is_here)


@pytest.mark.parametrize(
    "endpoint",
    [
        "collector:4318",
        "ftp://collector",
        "http://",
        "http://user:secret@collector",  # pragma: allowlist secret
        "http://collector/?key=secret",
    ],
)
def test_what_is_no_receiver_or_holds_a_secret(endpoint: str) -> None:
    with pytest.raises(msgspec.ValidationError) as raised:
        msgspec.convert({"endpoint": endpoint}, OtelSettings)
    assert "secret" not in str(raised.value)
