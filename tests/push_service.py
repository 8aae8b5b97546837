"""A push service on loopback and a browser's keys; it checks what RFC 8030, 8291 and 8292 ask for, with libraries."""

from __future__ import annotations

import base64
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

import http_ece
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from msgspec import Struct
from py_vapid import Vapid02


def unpadded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Got(Struct):
    """What arrived for a browser, decrypted."""

    name: str
    body: dict[str, Any]
    claims: dict[str, Any]
    key: str
    headers: dict[str, str]


class PushService:
    """Use it in a `with`. `status`: what it answers; `extra`: headers of the answer."""

    def __init__(self) -> None:
        self.got: list[Got] = []
        self.tries = 0
        self.faults: list[str] = []
        self.status = 201
        self.extra: dict[str, str] = {}
        self._keys: dict[str, tuple[ec.EllipticCurvePrivateKey, bytes]] = {}
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                service.take(self.path.rpartition("/")[2], body, {k.lower(): v for k, v in self.headers.items()})
                self.send_response(service.status)
                for name, value in {**service.extra, "Content-Length": "0"}.items():
                    self.send_header(name, value)
                self.end_headers()

            def log_message(self, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.origin = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever)

    def target(self, name: str) -> dict[str, str]:
        """Return what a browser's subscription with the name says."""
        key, auth = ec.generate_private_key(ec.SECP256R1()), name.encode().ljust(16, b".")[:16]
        self._keys[name] = key, auth
        point = key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        return {"endpoint": f"{self.origin}/send/{name}", "p256dh": unpadded(point), "auth": unpadded(auth)}

    def take(self, name: str, body: bytes, headers: dict[str, str]) -> None:
        self.tries += 1
        if self.status != 201:
            return
        try:
            self.got.append(self._read(name, body, headers))
        except Exception as fault:  # noqa: BLE001 - told to the test, in its own thread
            self.faults.append(repr(fault))

    def _read(self, name: str, body: bytes, headers: dict[str, str]) -> Got:
        assert headers["content-encoding"] == "aes128gcm"
        scheme, _, rest = headers["authorization"].partition(" ")
        assert scheme == "vapid"
        parts = dict(part.strip().split("=", 1) for part in rest.split(","))
        assert Vapid02.verify(headers["authorization"])
        payload = parts["t"].split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        assert claims["aud"] == self.origin
        assert time.time() < claims["exp"] <= time.time() + 86_400
        key, auth = self._keys[name]
        plain = http_ece.decrypt(body, private_key=key, auth_secret=auth, version="aes128gcm")
        return Got(name, json.loads(plain), claims, parts["k"], headers)

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self.stop()
        self._thread.join()
