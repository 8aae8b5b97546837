"""A receiver of traces: a loopback HTTP server that decodes OTLP's protobuf, as a collector does."""

from __future__ import annotations

import gzip
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class Receiver:
    """`spans`: every span that came, as protobuf decoded it; `status`: what is answered. Use in `with`."""

    def __init__(self) -> None:
        self.spans: list[Any] = []
        self.resources: list[dict[str, str]] = []
        self.paths: set[str] = set()
        self.status = 200
        self._server = _Server(("127.0.0.1", 0), self)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def take(self, path: str, body: bytes) -> None:
        told = ExportTraceServiceRequest()
        told.ParseFromString(body)
        self.paths.add(path)
        for resource in told.resource_spans:
            self.resources.append(attributes(resource.resource))
            self.spans += [span for scope in resource.scope_spans for span in scope.spans]

    def of(self, trace_id: int, name: str = "") -> list[Any]:
        """Return the spans of one trace (of that name)."""
        found = [span for span in self.spans if int.from_bytes(span.trace_id) == trace_id]
        return [span for span in found if not name or span.name == name]


def attributes(holder: Any) -> dict[str, Any]:
    """Return the attributes of a span or a resource as plain values."""
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in holder.attributes}


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], receiver: Receiver) -> None:
        super().__init__(address, _Handler)
        self.receiver = receiver


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        receiver = self.server.receiver
        if receiver.status == 200:
            assert self.headers["content-type"] == "application/x-protobuf"
            packed = self.headers.get("content-encoding") == "gzip"
            receiver.take(self.path, gzip.decompress(body) if packed else body)
        self.send_response(receiver.status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its base's word
        """Say nothing."""
