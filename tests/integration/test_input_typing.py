"""What is typed is what a terminal reads, byte for byte, whatever the keyboard layout; the keymap is restored."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from acud.types.actions import Key, TypeText
from tests.fixtures.patience import until
from tests.integration.capture_rig import program_after
from tests.integration.halting import go_on, halt
from tests.integration.input_rig import HandsRig, Witness
from tests.integration.input_texts import MANY, TEXTS
from tests.integration.xserver import XServer


@pytest.fixture
def rig(xserver: XServer) -> Iterator[HandsRig]:
    with HandsRig(xserver) as rig:
        yield rig


_LINE = 38
"""Characters for which the keymap has free keys: it need not change before an xterm has read them, however late."""


class PatientRig(HandsRig):
    """One whose process gives a program that answers no pings 4 s to read a key: on a machine that is not ours alone an
    xterm may take more than the second of docs/acting.md.
    """

    program = program_after("from acud.x11 import keyboard, keymap; keyboard.LINGER_S = keymap.LINGER_S = 4.0")


class Terminal:
    """An xterm whose lines go to a file until the end of input."""

    def __init__(self, rig: HandsRig, path: Path) -> None:
        self.path = path
        self._lines = 0
        command = ("xterm", "-u8", "-e", "sh", "-c", f"stty -echo; touch {path}.ready; cat > {path}")
        self.process = subprocess.Popen(command, env={**rig.server.env(), "LC_ALL": "C.UTF-8"})
        rig.windows_where(lambda w: any(info.wm_class == "XTerm" for info in w.windows))

    def type(self, rig: HandsRig, line: str) -> None:
        """Type a line, and return once it was read: who changes the keyboard before would change it."""
        rig.do(TypeText(line + "\n"))
        self._lines += 1
        until(lambda: self.path.exists() and self.path.read_bytes().count(b"\n") >= self._lines, "the line")

    def read(self, rig: HandsRig) -> str:
        rig.do(Key("ctrl+d"))
        assert self.process.wait(timeout=60) == 0
        return self.path.read_text()


def set_layout(server: XServer, layout: str) -> None:
    subprocess.run(["setxkbmap", *layout.split()], env=server.env(), check=True)


@pytest.mark.parametrize(
    ("layout", "group", "most"),
    [
        ("de", 0, _LINE),
        ("us,ru", 1, 8),
        *(pytest.param(one, 0, 99, marks=pytest.mark.long) for one in ("us", "ru", "fr")),
    ],
)
def test_a_terminal_reads_every_script(
    rig: HandsRig, xserver: XServer, tmp_path: Path, layout: str, group: int, most: int
) -> None:
    set_layout(xserver, layout)
    with Witness(xserver) as witness:
        witness.xkb.lock_group(group)
        before = witness.keymap()
        terminal = Terminal(rig, tmp_path / "typed")
        texts = [text[:most] for text in TEXTS.values()]
        lines = [text[n : n + _LINE] for text in texts for n in range(0, len(text), _LINE)]
        for line in lines:
            terminal.type(rig, line)
        assert terminal.read(rig) == "".join(line + "\n" for line in lines)
        assert witness.xkb.state().group == group
        witness.until(lambda: witness.keymap() == before)


def test_more_different_characters_than_there_are_free_keys(xserver: XServer, tmp_path: Path) -> None:
    with PatientRig(xserver) as rig:
        terminal = Terminal(rig, tmp_path / "typed")
        rig.do(TypeText(MANY + "\n"))
        assert terminal.read(rig) == MANY + "\n"


def test_caps_lock_changes_nothing_and_is_on_afterwards(rig: HandsRig, xserver: XServer, tmp_path: Path) -> None:
    with Witness(xserver) as witness:
        witness.xkb.lock_caps(on=True)
        witness.connection.sync()
        terminal = Terminal(rig, tmp_path / "typed")
        rig.do(TypeText("aBc жЖ\n"))
        assert witness.xkb.state().has_caps
        assert terminal.read(rig) == "aBc жЖ\n"


def test_a_layout_that_changes_under_way_is_followed(rig: HandsRig, xserver: XServer, tmp_path: Path) -> None:
    terminal = Terminal(rig, tmp_path / "typed")
    for layout in ("de", "us", "ru", "us,ru"):
        set_layout(xserver, layout)
        terminal.type(rig, f"{layout}: yz@{{}} ö漢ж")
    typed = terminal.read(rig)
    assert typed == "".join(f"{layout}: yz@{{}} ö漢ж\n" for layout in ("de", "us", "ru", "us,ru"))


def test_a_long_text_stops_no_frames(rig: HandsRig, tmp_path: Path) -> None:
    terminal = Terminal(rig, tmp_path / "typed")
    text = ("The quick brown fox jumps over the lazy dog 0123456789. " * 180)[:9_990]
    lines = "".join(text[n : n + 500] + "\n" for n in range(0, len(text), 500))[:10_000]
    assert rig.process is not None
    halt(rig.process.pid)  # it finds both before it, however late we are run
    act_id = rig.ask(TypeText(lines))
    rig.demand_grab()
    go_on(rig.process.pid)
    assert rig.grabbed().grab, "frames are answered while it types"
    assert not any(getattr(m, "act_id", "") == act_id for m in rig.said), "it was typing meanwhile"
    assert not rig.answer(act_id).code
    rig.do(Key("Return"))
    assert terminal.read(rig) == lines + "\n"


def test_a_character_no_key_types_is_refused_before_the_first_key(rig: HandsRig, tmp_path: Path) -> None:
    terminal = Terminal(rig, tmp_path / "typed")
    answer = rig.fail(TypeText("abc\x00"))
    assert answer.code == "invalid_request"
    assert "U+0000" in answer.message
    assert terminal.read(rig) == ""
