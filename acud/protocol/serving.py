"""What the web process and the supervisor say to each other."""

from __future__ import annotations

from msgspec import Struct

from acud.protocol.children import Fault, Heartbeat, Stop

ToWeb = Stop


class WebHello(Struct, frozen=True, tag="web_hello", forbid_unknown_fields=True):
    """The web process serves the relay endpoints at `url` and the gateway at `gateway_url` ("": not served).

    `token_file`: where the relay's token lies ("": it is in the settings, or none is asked for). `fault`: why one of
    the two is not served though it should be; it is tried again, and told of by another hello.
    """

    pid: int
    url: str = ""
    token_file: str = ""
    gateway_url: str = ""
    fault: str = ""
    fix: str = ""


FromWeb = Heartbeat | Fault | WebHello
