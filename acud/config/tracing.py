"""Settings of the traces that acud sends about itself."""

from __future__ import annotations

from urllib.parse import urlsplit

from msgspec import Struct

from acud.config.http_listeners import is_loopback

_TRACES_PATH = "/v1/traces"


class OtelSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[otel]`"""

    endpoint: str = ""

    def __post_init__(self) -> None:
        """Refuse invalid addresses of an OTLP receiver, and secrets in them: addresses are logged."""
        if not self.endpoint:
            return
        parts = urlsplit(self.endpoint)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("endpoint is no http:// or https:// address")
        if parts.username or parts.password or parts.query or parts.fragment:
            raise ValueError("endpoint holds more than host and path; headers go into OTEL_EXPORTER_OTLP_HEADERS")

    @property
    def url(self) -> str:
        """The URL for spans: the endpoint, with OTLP's own path if it has none; "" for nowhere."""
        has_path = urlsplit(self.endpoint).path not in ("", "/")
        return self.endpoint if has_path or not self.endpoint else self.endpoint.rstrip("/") + _TRACES_PATH

    @property
    def is_here(self) -> bool:
        return is_loopback(urlsplit(self.endpoint).hostname or "")
