"""/api/live/…: one display for one viewer, by WebSocket or as MJPEG; both end with the access token.

MJPEG is for viewers that know nothing else: whole pictures, two a second at most, in one answer. An old picture is not
shown: while there are no pixels it is a grey one with the reason.
"""

from __future__ import annotations

import asyncio
import hashlib
import textwrap
import time
from collections.abc import AsyncGenerator
from contextlib import ExitStack, suppress
from typing import Any

import msgspec
import numpy as np
from PIL import Image, ImageDraw
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response, StreamingResponse
from starlette.websockets import WebSocket, WebSocketDisconnect

from acud.base.errors import Unavailable, UsageError
from acud.frames.reader import FrameGone
from acud.protocol.requests.looks import LiveWatch, LiveWatched
from acud.protocol.web import Scope
from acud_web.access import access_token_of, address_of, first_of, need_display
from acud_web.live import picture_parts
from acud_web.live.displays import DisplayHub, LiveDisplay
from acud_web.live.messages import MAX_MESSAGE_BYTES, Bye, encode_message
from acud_web.live.viewer import Ended, Viewer
from acud_web.route_table import Row

BOUNDARY = "acud-frame"
MEDIA_TYPE = f"multipart/x-mixed-replace; boundary={BOUNDARY}"
_FPS = 2.0
_REPEAT_S = 10.0
"""The same picture again: a proxy in between sees that the stream lives."""
_GREY = 96
_UNKNOWN_SIZE = (640, 360)


class Pictures:
    """The pictures of `display`; use `parts` once."""

    def __init__(self, hub: DisplayHub, display: LiveDisplay, *, hides: bool) -> None:
        self._hub = hub
        self._display = display
        self._hides = hides
        self._news = asyncio.Event()
        self._size = _UNKNOWN_SIZE
        self._content: object = None
        """What the last picture was of: a ring's serial, frame and hidden places, or a reason."""
        self._sent_s = float("-inf")

    async def parts(self) -> AsyncGenerator[bytes, None]:
        """Yield parts of the answer, until the display ends; close it to stop watching."""
        self._display.join(self, self._news.set, _FPS)
        try:
            while self._display.bye is None:
                self._news.clear()
                part = await self._encode_part()
                if part:
                    self._sent_s = time.monotonic()
                    yield part
                await self._wait_for_change()
        finally:
            await self._display.remove_viewer(self)

    async def _wait_for_change(self) -> None:
        """Sleep until something may be due; half a second after a picture at least."""
        await asyncio.sleep(max(0.0, self._sent_s + 1 / _FPS - time.monotonic()))
        with suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, self._sent_s + _REPEAT_S - time.monotonic())):
                await self._news.wait()

    async def _encode_part(self) -> bytes:
        display = self._display
        reason = display.lost.reason if display.lost is not None else ""
        if display.known is not None and self._hides:
            reason = reason or display.known.fault
        if reason:
            return self._make_part(reason, _make_grey(self._size, reason)) if self._is_due(reason) else b""
        return await self._encode_newest()

    async def _encode_newest(self) -> bytes:
        known, ring = self._display.known, self._display.ring
        if known is None or ring is None or not self._is_due((ring.serial, known.frame, known.hidden)):
            return b""
        self._size = ring.size
        ring.begin_use()
        work = asyncio.get_running_loop().run_in_executor(
            self._hub.workers, lambda: ring.encode_newest_frame(known, is_redacted=self._hides)
        )
        work.add_done_callback(lambda _: ring.end_use())
        try:
            frame, jpeg = await asyncio.shield(work)
        except FrameGone:
            self._news.set()
            return b""
        return self._make_part((ring.serial, frame, known.hidden), jpeg)

    def _is_due(self, content: object) -> bool:
        return content != self._content or time.monotonic() - self._sent_s >= _REPEAT_S

    def _make_part(self, content: object, jpeg: bytes) -> bytes:
        self._content = content
        head = f"--{BOUNDARY}\r\nContent-Type: image/jpeg\r\nContent-Length: {len(jpeg)}\r\n\r\n"
        return head.encode() + jpeg + b"\r\n"


def _make_grey(size: tuple[int, int], reason: str) -> bytes:
    image = Image.new("RGBA", size, (_GREY, _GREY, _GREY, 0))
    words = "\n".join(textwrap.wrap(f"no picture now: {reason}", 60))
    ImageDraw.Draw(image).multiline_text((16, 16), words, (255, 255, 255, 0))
    return picture_parts.whole_jpeg(np.asarray(image))


_SEND_S = 20.0
"""A viewer that takes nothing for so long is cut: what is sent to it would only lie in buffers."""
_NORMAL, _POLICY, _AGAIN = 1000, 1008, 1013
"""Close codes of RFC 6455, 7.4.1, and the one for "try again later"."""


async def live(socket: WebSocket) -> None:
    """Show a display over a WebSocket. Raises: Fault before it is accepted."""
    name = await _name_display(socket)
    hub = _get_hub(socket)
    with hub.stream(access_token_of(socket).pass_id):
        await socket.accept()
        bye = await _show_display(socket, hub, name)
        if bye is not None:
            await _close_socket(socket, bye)


async def _show_display(socket: WebSocket, hub: DisplayHub, name: str) -> Bye | None:
    """Show the display; return why it ends, None when the viewer has gone."""
    async with Viewer(hub.display(name), hub.workers, hides=hub.hides(address_of(socket))) as viewer:
        return await first_of(_until_ended(socket), _hear_viewer(socket, viewer), _send_steps(socket, viewer))


async def _hear_viewer(socket: WebSocket, viewer: Viewer) -> Bye | None:
    while True:
        try:
            said = await socket.receive_text()
            if len(said) > MAX_MESSAGE_BYTES:
                return Bye("malformed", "the message is too long")
            viewer.handle_message(said)
        except WebSocketDisconnect:
            return None
        except (msgspec.MsgspecError, RecursionError, KeyError, UnicodeError):  # KeyError: bytes instead of text
            return Bye("malformed", "send {type: ack, frame} or {type: want, fps, max_side_px}")


async def _send_steps(socket: WebSocket, viewer: Viewer) -> Bye | None:
    try:
        while True:
            found = await viewer.next()
            async with asyncio.timeout(_SEND_S):
                await (socket.send_bytes(found) if isinstance(found, bytes) else socket.send_text(found))
    except Ended as ended:
        return ended.bye
    except (TimeoutError, WebSocketDisconnect):
        return None


async def _until_ended(socket: WebSocket) -> Bye | None:
    why = await socket.state.revocations.until_ended(access_token_of(socket))
    return Bye(why, f"the access token is {why}")


async def _close_socket(socket: WebSocket, bye: Bye) -> None:
    try:
        async with asyncio.timeout(1.0):
            await socket.send_text(encode_message(bye))
            await socket.close(_POLICY if bye.code in ("revoked", "expired", "malformed") else _NORMAL)
    except (TimeoutError, WebSocketDisconnect, RuntimeError):
        return  # it went first


async def pictures(request: Request) -> Response:
    """Show a display as MJPEG."""
    name = await _name_display(request)
    hub = _get_hub(request)
    with ExitStack() as counted:
        counted.enter_context(hub.stream(access_token_of(request).pass_id))
        found = Pictures(hub, hub.display(name), hides=hub.hides(address_of(request)))
        body = _stream_parts(request, found, counted.pop_all())
    return StreamingResponse(body, media_type=MEDIA_TYPE)


async def _stream_parts(request: Request, pictures: Pictures, slot: ExitStack) -> AsyncGenerator[bytes, None]:
    """Yield parts until the access token ends."""
    ended = asyncio.ensure_future(request.state.revocations.until_ended(access_token_of(request)))
    parts = pictures.parts()
    works: set[asyncio.Future[Any]] = {ended}
    try:
        while True:
            part = asyncio.ensure_future(anext(parts))
            works = {part, ended}
            await asyncio.wait(works, return_when=asyncio.FIRST_COMPLETED)
            if ended.done() or isinstance(part.exception(), StopAsyncIteration):
                return
            yield part.result()
    finally:
        # The viewer may go at any time: what runs is ended before the generator is, which may not run meanwhile.
        for work in works:
            work.cancel()
        await asyncio.wait(works)
        await parts.aclose()
        slot.close()


async def _name_display(connection: HTTPConnection) -> str:
    """Return the display's own name. Raises: Fault 403 if the access token is not good for it; UsageError for none."""
    given: str = connection.path_params["display"]
    try:
        # For no time: this starts nothing, and returns the display and its owner.
        found = await connection.state.gateway.ask(LiveWatch(given, for_s=0), LiveWatched)
    except UsageError:
        need_display(connection, given, Scope.READ)
        raise
    need_display(connection, found.display, Scope.READ, found.task_id)
    return str(found.display)


def _get_hub(connection: HTTPConnection) -> DisplayHub:
    hub: DisplayHub = connection.state.live
    return hub


_THUMBNAIL_PX = 320
_FIRST_S = 3.0
"""A capture that stands still is reported within so long."""


async def thumbnail(request: Request) -> Response:
    """Send the display as it is now, as a JPEG of at most 320 px; 304 while it shows what its `ETag` names. Raises:
    Unavailable while there are no pixels.
    """
    name = await _name_display(request)
    hub = _get_hub(request)
    display, viewer, news = hub.display(name), object(), asyncio.Event()
    display.join(viewer, news.set, 1.0)
    try:
        with suppress(TimeoutError):
            async with asyncio.timeout(_FIRST_S):
                while display.known is None and display.lost is None and display.bye is None:
                    news.clear()
                    await news.wait()
        return await _answer_small(request, hub, display)
    finally:
        await display.remove_viewer(viewer)


async def _answer_small(request: Request, hub: DisplayHub, display: LiveDisplay) -> Response:
    known, ring = display.known, display.ring
    hides = hub.hides(address_of(request))
    why = display.bye or display.lost
    if known is None or ring is None or (hides and known.fault):
        reason = why.reason if why is not None else known.fault if known is not None else "no grab was answered"
        raise Unavailable(f"no picture of {display.name}: {reason}")
    seal = hashlib.sha256(repr((ring.reader.epoch, known.frame, hides and known.hidden)).encode()).hexdigest()[:16]
    head = {"ETag": f'"{seal}"', "Cache-Control": "no-cache"}
    if request.headers.get("if-none-match") == head["ETag"]:
        return Response(status_code=304, headers=head)
    ring.begin_use()
    work = asyncio.get_running_loop().run_in_executor(
        hub.workers, lambda: ring.thumbnail(known, _THUMBNAIL_PX, is_redacted=hides)
    )
    work.add_done_callback(lambda _: ring.end_use())
    try:
        return Response(await asyncio.shield(work), headers=head, media_type="image/jpeg")
    except FrameGone:
        raise Unavailable(f"no picture of {display.name}: it changes faster than it is read") from None


ROUTES = (
    Row("GET", "/api/live/{display}.jpeg", thumbnail, Scope.READ),
    Row("GET", "/api/live/{display}.mjpeg", pictures, Scope.READ),
    Row("WS", "/api/live/{display}", live, Scope.READ),
)
