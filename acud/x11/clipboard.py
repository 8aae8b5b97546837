"""Selections of one display: read from their owners, and owned as long as this connection lives (ICCCM 2).

Large texts go in pieces both ways (INCR, ICCCM 2.7.2). Ownership ends with the capture process: X keeps no copies.
"""

from __future__ import annotations

import time
from collections.abc import Generator

from msgspec import Struct
from Xlib import X, Xatom
from Xlib.protocol import event, request

from acud.base.errors import NotFound, Refused, Unavailable
from acud.types.actions import MAX_CLIPBOARD
from acud.x11.connection import Connection
from acud.x11.events import PropertyTouched, SelectionAsked, SelectionEvent, SelectionGiven, SelectionLost, Translator
from acud.x11.input_steps import ActOutcome, Pause, Steps, pause_for
from acud.x11.window_tree import get_reply, resource_id
from acud.x11.windows import CLIENT_EVENTS, decode_text

MAX_BYTES = 900_000
"""Of UTF-8: a message to the supervisor is at most 1 MiB."""
_ANSWER_S = 2.0  # an owner's time for its answer, and for each piece of a large one
_PIECE = 65_536
_UNTAKEN_S = 30.0
_PNG = b"\x89PNG\r\n\x1a\n"


class ClipboardAtoms:
    """The atoms of selections."""

    def __init__(self, connection: Connection) -> None:
        atom = connection.wire.get_atom
        self.selections: dict[str, int] = {"clipboard": atom("CLIPBOARD"), "primary": Xatom.PRIMARY}
        self.targets: int = atom("TARGETS")
        self.timestamp: int = atom("TIMESTAMP")
        self.utf8: int = atom("UTF8_STRING")
        self.incr: int = atom("INCR")
        self.plain_utf8: int = atom("text/plain;charset=utf-8")
        self.plain: int = atom("text/plain")
        self.text: int = atom("TEXT")
        self.png: int = atom("image/png")
        self.property: int = atom("_ACUD_SELECTION")

    def of_utf8(self) -> tuple[int, ...]:
        """Return the targets that are answered in UTF-8."""
        return (self.utf8, self.plain_utf8, self.plain, self.text)


class _Owned(Struct, frozen=True):
    """A selection of ours: the text, and the server's time at which it became ours."""

    text: str
    time_ms: int


class _Transfer(Struct):
    """A large text on its way to `window`, with the rest still to send."""

    window: int
    property: int
    kind: int
    rest: bytes
    begun_s: float


class Clipboard:
    """Gets and sets selections. Owns an unmapped window; the server frees it with the connection."""

    def __init__(self, connection: Connection, translator: Translator) -> None:
        self._connection = connection
        self._wire = connection.wire
        self._translator = translator
        self.names = ClipboardAtoms(connection)
        self._window = connection.root.create_window(
            -1, -1, 1, 1, 0, 0, window_class=X.InputOnly, override_redirect=True, event_mask=X.PropertyChangeMask
        )
        translator.follow(self._window.id)
        self._owned: dict[int, _Owned] = {}
        self._transfers: dict[tuple[int, int], _Transfer] = {}
        self._given: list[SelectionGiven] = []
        self._touched: list[PropertyTouched] = []

    # ---- ours -------------------------------------------------------------------------------------------------------

    def set(self, selection: str, text: str) -> Steps:
        """Own `selection` with `text`. Raises: Unavailable when another program takes it at once."""
        atom = self.names.selections[selection]
        now_ms = yield from self._server_time()
        request.SetSelectionOwner(display=self._wire, window=self._window, selection=atom, time=now_ms)
        if self._read_owner(atom) != self._window.id:
            raise Unavailable(f"the {selection} could not be taken", hint="another program took it; try again")
        self._owned[atom] = _Owned(text, now_ms)
        return ActOutcome()

    def on_event(self, event: SelectionEvent) -> None:
        """Handle an event of the X server that concerns selections."""
        if isinstance(event, SelectionAsked):
            self._serve_selection(event)
        elif isinstance(event, SelectionLost):
            self._owned.pop(event.selection, None)
        elif isinstance(event, PropertyTouched):
            self._on_property_changed(event)
        elif event.requestor == self._window.id:
            self._given[:] = [event]

    def _serve_selection(self, selection_request: SelectionAsked) -> None:
        self._drop_untaken(time.monotonic() - _UNTAKEN_S)
        owned = self._owned.get(selection_request.selection)
        answer = self._encode_selection(owned, selection_request.target) if owned is not None else None
        place = selection_request.property or selection_request.target  # ICCCM 2.2: obsolete clients name none
        if answer is not None:
            self._send_data(selection_request.requestor, place, *answer)
        window = self._connection.xlib.create_resource_object("window", selection_request.requestor)
        window.send_event(
            event.SelectionNotify(
                time=selection_request.time_ms, requestor=window, selection=selection_request.selection,
                target=selection_request.target, property=place if answer is not None else X.NONE,
            )
        )  # fmt: skip

    def _drop_untaken(self, before_s: float) -> None:
        for key, transfer in list(self._transfers.items()):
            if transfer.begun_s <= before_s:
                del self._transfers[key]
                self._translator.unfollow(transfer.window)

    def _encode_selection(self, owned: _Owned, target: int) -> tuple[int, int, bytes | list[int]] | None:
        """Return type, format and data for `target`; None refuses it."""
        names = self.names
        if target == names.targets:
            return Xatom.ATOM, 32, [names.targets, names.timestamp, *names.of_utf8(), Xatom.STRING]
        if target == names.timestamp:
            return Xatom.INTEGER, 32, [owned.time_ms]
        if target in names.of_utf8():
            return names.utf8 if target == names.text else target, 8, owned.text.encode()
        if target == Xatom.STRING:
            return Xatom.STRING, 8, owned.text.encode("latin-1", "replace")
        return None

    def _send_data(self, window: int, place: int, kind: int, form: int, data: bytes | list[int]) -> None:
        if isinstance(data, bytes) and len(data) > _PIECE:
            if (window, place) not in self._transfers:
                self._translator.follow(window)
            self._transfers[window, place] = _Transfer(window, place, kind, data, time.monotonic())
            # A superset of the events that `windows` selects: a selection of events replaces the one before.
            self._connection.xlib.create_resource_object("window", window).change_attributes(event_mask=CLIENT_EVENTS)
            kind, form, data = self.names.incr, 32, [len(data)]
        self._change_property(window, place, kind, form, data)

    def _change_property(self, window: int, place: int, kind: int, form: int, data: bytes | list[int]) -> None:
        request.ChangeProperty(
            display=self._wire, mode=X.PropModeReplace, window=window, property=place, type=kind, data=(form, data)
        )

    def _on_property_changed(self, event: PropertyTouched) -> None:
        """Note a property that came or went: the next piece of a transfer either way."""
        if event.window == self._window.id:
            self._touched[:] = [] if event.is_deleted else [event]
            return
        transfer = self._transfers.get((event.window, event.property))
        if transfer is None or not event.is_deleted:
            return
        piece, transfer.rest = transfer.rest[:_PIECE], transfer.rest[_PIECE:]
        self._change_property(event.window, event.property, transfer.kind, 8, piece)
        if not piece:
            del self._transfers[event.window, event.property]
            self._translator.unfollow(event.window)

    # ---- theirs -----------------------------------------------------------------------------------------------------

    def get(self, selection: str) -> Steps:
        """Read the text of `selection`. Raises: NotFound when it has no owner or holds no text, Unavailable when its
        owner does not answer, Refused when it is too large.
        """
        atom = self.names.selections[selection]
        own = self._find_own(selection)
        if own is not None:
            return ActOutcome(text=_check_size(own.text))
        other = "something else"
        for target in (self.names.utf8, Xatom.STRING):
            given = yield from self._convert_selection(atom, target, selection)
            if given.property == X.NONE:
                continue
            kind, data = yield from self._read_answer(selection, self._texts)
            # An owner may answer any request with all that it has: xclip answers a request for text with a picture.
            if kind in self._texts:
                return ActOutcome(text=_check_size(decode_text(data)))
            other = self._name_of(kind)
            break
        hint = "ask for its picture (--picture FILE, image=true), or paste it into a program and look"
        raise NotFound(f"the {selection} holds no text, but {other}", hint=hint)

    def get_picture(self, selection: str) -> Steps:
        """Read the picture of `selection` in PNG. Raises as `get` does."""
        other = "a text"
        if self._find_own(selection) is None:
            given = yield from self._convert_selection(self.names.selections[selection], self.names.png, selection)
            other = "what its owner gives in no PNG"
            if given.property != X.NONE:
                kind, data = yield from self._read_answer(selection, frozenset((self.names.png,)))
                if kind == self.names.png and data.startswith(_PNG):
                    return ActOutcome(png=data)
                other = self._name_of(kind)
        raise NotFound(f"the {selection} holds no picture, but {other}", hint="copy a picture, or read the text")

    def _find_own(self, selection: str) -> _Owned | None:
        """Return our own text as `selection`. Raises: NotFound when it has no owner."""
        atom = self.names.selections[selection]
        owner = self._read_owner(atom)
        if owner == X.NONE:
            raise NotFound(f"nothing was copied: nobody owns the {selection}", hint="copy something first")
        return self._owned.get(atom) if owner == self._window.id else None

    def _name_of(self, atom: int) -> str:
        said = get_reply(request.GetAtomName(display=self._wire, defer=True, atom=atom)) if atom else None
        return str(said.name) if said is not None else "something else"

    def _convert_selection(self, atom: int, target: int, selection: str) -> Generator[Pause, None, SelectionGiven]:
        now_ms = yield from self._server_time()
        self._given.clear()
        request.ConvertSelection(
            display=self._wire, requestor=self._window, selection=atom, target=target, property=self.names.property,
            time=now_ms,
        )  # fmt: skip

        def is_given() -> bool:
            return any((g.selection, g.target, g.time_ms) == (atom, target, now_ms) for g in self._given)

        yield from pause_for(_ANSWER_S, is_given)
        if not is_given():
            raise _no_answer(selection)
        return self._given[0]

    def _read_answer(self, selection: str, wanted: frozenset[int]) -> Generator[Pause, None, tuple[int, bytes]]:
        """Return the owner's data and its type; for a type not `wanted`, perhaps no data."""
        self._touched.clear()  # before the deletion, which asks for the first piece
        kind, data = self._take_property(wanted)
        if kind != self.names.incr:
            return kind, data
        whole = bytearray()
        while True:
            yield from pause_for(_ANSWER_S, self._has_piece)
            if not self._has_piece():
                raise _no_answer(selection)
            self._touched.clear()
            of_piece, piece = self._take_property(wanted)
            if not piece:
                return kind, bytes(whole)
            kind = of_piece
            # Unwanted data is read to its end too: its owner would not answer again before.
            whole += piece if kind in wanted else b""
            if len(whole) > MAX_BYTES:
                raise _too_large()

    @property
    def _texts(self) -> frozenset[int]:
        return frozenset((Xatom.STRING, *self.names.of_utf8()))

    def _has_piece(self) -> bool:
        return any(touched.property == self.names.property for touched in self._touched)

    def _take_property(self, wanted: frozenset[int]) -> tuple[int, bytes]:
        """Read and delete the property that the owner set on our window: its type and bytes."""
        said = get_reply(
            request.GetProperty(
                display=self._wire, defer=True, delete=True, window=self._window, property=self.names.property,
                type=X.AnyPropertyType, long_offset=0, long_length=MAX_BYTES // 4 + 1,
            )
        )  # fmt: skip
        if said is None or said.value is None:
            return X.NONE, b""
        if said.bytes_after:
            self._window.delete_property(self.names.property)
            if said.property_type not in wanted:
                return said.property_type, b""
            raise _too_large()
        return said.property_type, bytes(said.value[1]) if said.value[0] == 8 else b""

    def _server_time(self) -> Generator[Pause, None, int]:
        """Return the server's time, from an empty change of a property (ICCCM 2.1)."""
        self._touched.clear()
        request.ChangeProperty(
            display=self._wire, mode=X.PropModeAppend, window=self._window, property=self.names.timestamp,
            type=Xatom.INTEGER, data=(32, []),
        )  # fmt: skip
        yield from pause_for(_ANSWER_S, lambda: bool(self._touched))
        if not self._touched:
            raise Unavailable("the X server does not tell its time", hint="try again")
        return self._touched[0].time_ms

    def _read_owner(self, selection: int) -> int:
        return resource_id(request.GetSelectionOwner(display=self._wire, selection=selection).owner)


def _no_answer(selection: str) -> Unavailable:
    return Unavailable(
        f"the owner of the {selection} gave no answer within {_ANSWER_S:g} s", hint="its program hangs, or is busy"
    )


def _too_large() -> Refused:
    return Refused(f"the selection is larger than {MAX_BYTES} bytes", hint="copy less at a time")


def _check_size(text: str) -> str:
    if len(text) > MAX_CLIPBOARD or len(text.encode()) > MAX_BYTES:
        raise _too_large()
    return text
