"""Selections both ways with xclip: short, large (INCR), unowned, refused, from an owner that hangs."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from functools import partial

import numpy as np
import pytest
from Xlib import X
from Xlib.protocol import event

from acud.base.png import encode
from acud.protocol.capture import MOST_CLIPBOARD, ClipboardSeen, Follow
from acud.types.actions import ClipboardGet, ClipboardSet, Move, Point
from tests.integration.capture_rig import program_after
from tests.integration.input_rig import HandsRig, Witness
from tests.integration.xserver import XServer

_LARGE = "Größe 漢字 " * 27_000  # 297,000 characters


class PatientRig(HandsRig):
    """One whose process waits for the owner of a selection as long as it may need on any machine."""

    program = program_after("from acud.x11 import clipboard; clipboard._ANSWER_S = 60.0")


@pytest.fixture(scope="module")
def xserver() -> Iterator[XServer]:
    with XServer() as server:
        yield server


@pytest.fixture(scope="module")
def rig(xserver: XServer) -> Iterator[HandsRig]:
    with PatientRig(xserver) as rig:
        yield rig


def copy(server: XServer, content: str | bytes, *options: str) -> subprocess.Popen[bytes]:
    with Witness(server) as witness:
        atom = witness.connection.wire.get_atom("CLIPBOARD")
        before = witness.connection.xlib.get_selection_owner(atom)
        command = ["xclip", "-i", "-quiet", "-selection", "clipboard", *options]
        process = subprocess.Popen(command, env=server.env(), stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert process.stdin is not None
        process.stdin.write(content.encode() if isinstance(content, str) else content)
        process.stdin.close()
        witness.until(lambda: witness.connection.xlib.get_selection_owner(atom) not in {before, X.NONE})
    return process


def end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()


def pasted(server: XServer, *options: str) -> str:
    command = ["xclip", "-o", *options]
    return subprocess.run(command, env=server.env(), capture_output=True, check=True, timeout=60).stdout.decode()


@pytest.mark.parametrize("text", ["", "plain", "Größe 漢字 😀\n", _LARGE], ids=["empty", "plain", "unicode", "large"])
@pytest.mark.parametrize("selection", ["clipboard", "primary"])
def test_another_program_pastes_what_was_set(rig: HandsRig, xserver: XServer, text: str, selection: str) -> None:
    rig.do(ClipboardSet(text, selection))  # type: ignore[arg-type]
    assert pasted(xserver, "-selection", selection, "-t", "UTF8_STRING") == text
    assert rig.do(ClipboardGet(selection)).text == text  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["plain", "Größe 漢字 😀\n", _LARGE], ids=["plain", "unicode", "large"])
def test_what_another_program_copied_is_read(rig: HandsRig, xserver: XServer, text: str) -> None:
    owner = copy(xserver, text)
    assert rig.do(ClipboardGet()).text == text
    end(owner)


def test_what_another_program_copies_later_replaces_ours(rig: HandsRig, xserver: XServer) -> None:
    rig.do(ClipboardSet("ours"))
    owner = copy(xserver, "theirs")
    assert rig.do(ClipboardGet()).text == "theirs"
    end(owner)


def test_a_clipboard_without_text_says_so(rig: HandsRig, xserver: XServer) -> None:
    with Witness(xserver) as owner:
        window = owner.connection.root.create_window(0, 0, 1, 1, 0, X.CopyFromParent)
        window.set_selection_owner(owner.connection.wire.get_atom("CLIPBOARD"), X.CurrentTime)
        owner.connection.sync()
        asked = rig.ask(ClipboardGet())
        for _ in range(2):  # UTF8_STRING, STRING
            request = owner.connection.xlib.next_event()
            assert request.type == X.SelectionRequest
            refusal = event.SelectionNotify(time=request.time, requestor=request.requestor, property=X.NONE,
                                            selection=request.selection, target=request.target)  # fmt: skip
            request.requestor.send_event(refusal)
            owner.connection.flush()
        answer = rig.answer(asked)
    assert (answer.code, "no text" in answer.message) == ("not_found", True)


@pytest.mark.parametrize("side", [4, 400])
def test_a_picture_is_read_as_png(rig: HandsRig, xserver: XServer, side: int) -> None:
    png = encode(np.random.default_rng(1).integers(0, 255, (side, side, 4), np.uint8))
    owner = copy(xserver, png, "-t", "image/png")
    assert rig.do(ClipboardGet(picture=True)).png == png
    end(owner)
    owner = copy(xserver, "no picture")
    assert "no picture, but " in rig.fail(ClipboardGet(picture=True)).message
    rig.do(ClipboardSet("ours"))
    assert "no picture, but a text" in rig.fail(ClipboardGet(picture=True)).message
    end(owner)


def test_no_owner_is_no_empty_text_and_one_that_hangs_holds_nothing_up() -> None:
    with XServer() as server, HandsRig(server) as rig:
        answer = rig.fail(ClipboardGet())
        assert (answer.code, "nothing was copied" in answer.message) == ("not_found", True)
        owner = copy(server, "never")
        os.kill(owner.pid, signal.SIGSTOP)
        asked = rig.ask(ClipboardGet())
        assert rig.grab().grab, "frames go on meanwhile"
        assert rig.answer(asked).code == "unavailable"
        end(owner)
        assert rig.do(Move(Point(1, 1))).cursor == Point(1, 1)


def test_latin_1_is_read_as_such(rig: HandsRig, xserver: XServer) -> None:
    owner = copy(xserver, "Café".encode("latin-1"), "-t", "STRING")
    assert rig.do(ClipboardGet()).text == "Café"
    end(owner)


@pytest.mark.parametrize("size", [40, 2_000_000])
def test_a_picture_is_no_text(rig: HandsRig, xserver: XServer, size: int) -> None:
    owner = copy(xserver, "P" * size, "-t", "image/png")
    answer = rig.fail(ClipboardGet())
    assert (answer.code, "holds no text, but" in answer.message) == ("not_found", True)
    assert size > 1000 or "image/png" in answer.message
    end(owner)


def _is_read(text: str, message: object) -> bool:
    return isinstance(message, ClipboardSeen) and (message.code == "unavailable" or message.text == text)


def test_a_large_text_of_ours_is_seen_by_a_wait_each_time(rig: HandsRig) -> None:
    rig.send(Follow((), clipboard=True))
    for text in (_LARGE, f"again {_LARGE}"):
        since, part = len(rig.said), text[:MOST_CLIPBOARD]
        rig.do(ClipboardSet(text))
        seen = rig.until(partial(_is_read, part), since)
        assert (seen.code, seen.is_cut) == ("", True)
    rig.send(Follow(()))
