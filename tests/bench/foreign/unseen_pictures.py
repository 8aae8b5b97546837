"""Pairs of pictures and texts that differ in one spot, in fonts and programs that acud's rules were not written on."""

from __future__ import annotations

import io
from functools import partial

from PIL import Image, ImageChops, ImageDraw

from acud.base.errors import AcudError, InvalidRequest
from acud.types import ScreenImage, Text, WaitState
from acud.types.actions import WaitIdle
from tests.bench.foreign.case import Answer, Case, Outcome
from tests.bench.foreign.screen import SYSTEM_PYTHON, Pages, need, show, unseen
from tests.fixtures.daemon import Daemon


def _find_font(name: str) -> str:
    import subprocess

    need("fc-match")
    file = subprocess.run(["fc-match", "-f", "%{family}:%{file}", name], capture_output=True, text=True, check=True)
    family, _, path = file.stdout.partition(":")
    if name.split(":")[0].lower() not in family.lower():
        need(f"the font {name}")
    return path


def _pair(
    body: str, first: str, second: str, daemon: Daemon, style: str = "font:16px sans-serif;margin:24px"
) -> Outcome:
    """Of two rows that differ in one sign the first is looked for while only the second shows: no; then itself: yes."""
    page = f"<div id=row>{body.replace('SIGN', first)}</div>"
    other = f"<div id=row>{body.replace('SIGN', second)}</div>"
    with Pages(page, "First", style) as one, Pages(other, "Second", style) as two, show(daemon) as screen:
        screen.browse(one.url, title="First")
        one.until_loaded()
        screen.act(WaitIdle(1.0, 6.0))
        before = Image.open(io.BytesIO(daemon.client.look(display=screen.name).image)).convert("RGB")
        screen.browse(two.url, title="Second")
        two.until_loaded()
        screen.act(WaitIdle(1.0, 6.0))
        after = Image.open(io.BytesIO(daemon.client.look(display=screen.name).image)).convert("RGB")
        page_top = 100
        box = ImageChops.difference(before, after).crop((0, page_top, *before.size)).getbbox()
        if box is None:
            return Outcome(Answer.UNKNOWN, "the two rows look alike")
        left, top, right, bottom = box[0], box[1] + page_top, box[2], box[3] + page_top
        cut = (max(left - 90, 0), max(top - 12, page_top), right + 60, bottom + 12)
        told = []
        for picture in (before, after):
            held = io.BytesIO()
            picture.crop(cut).save(held, "PNG")
            wait = screen.judge(ScreenImage(held.getvalue()), timeout_s=0.0)
            told.append(f"{wait.state}: {wait.verdict.detail}")
        is_no, is_yes = not told[0].startswith("resolved"), told[1].startswith("resolved")
        answer = Answer.RIGHT if is_no and is_yes else Answer.UNKNOWN if is_no else Answer.WRONG
        return Outcome(answer, f"differ at {box}; {told}")


def _text(words: str, asked: str, is_there: bool, daemon: Daemon, font: str = "sans-serif", size: int = 18) -> Outcome:
    """A page shows `words`; are the words that are asked for there?"""
    if font != "sans-serif":
        _find_font(font)
    page = f"<p>{words}</p><p style='font:16px sans-serif'>End of page</p>"
    with Pages(page, "Page", f"font:{size}px {font!r};margin:24px") as pages, show(daemon) as screen:
        screen.browse(pages.url, title="Page")
        screen.judge(Text("End of page"), timeout_s=40.0)
        wait = screen.judge(Text(asked), timeout_s=4.0)
        is_right = (wait.state == WaitState.RESOLVED) == is_there
        missed = Answer.UNKNOWN if is_there else Answer.WRONG
        return Outcome(Answer.RIGHT if is_right else missed, f"{wait.state}: {wait.verdict.detail}")


def _text_in(command: tuple[str, ...], title: str, asked: str, is_there: bool, daemon: Daemon) -> Outcome:
    """A program shows words; are those that are asked for there?"""
    need(command[0])
    with show(daemon, manager="openbox") as screen:
        screen.launch(*command)
        screen.find_window(title)
        screen.act(WaitIdle(0.8, 6.0))
        wait = screen.judge(Text(asked), timeout_s=12.0)
        is_right = (wait.state == WaitState.RESOLVED) == is_there
        missed = Answer.UNKNOWN if is_there else Answer.WRONG
        return Outcome(Answer.RIGHT if is_right else missed, f"{wait.state}: {wait.verdict.detail}")


def _refuse_image(kind: str, daemon: Daemon) -> Outcome:
    """A picture that has nothing to look for is refused when the wait is made."""
    picture = Image.new("RGBA", (40, 24), (30, 90, 200, 255))
    if kind == "transparent":
        picture = Image.new("RGBA", (40, 24), (0, 0, 0, 0))
        ImageDraw.Draw(picture).rectangle((4, 4, 30, 18), fill=(200, 20, 20, 60))
    if kind == "hidden":
        for x in range(40):
            picture.putpixel((x, 3), (255, 0, 0, 10))
    if kind in {"large", "clear palette"}:
        picture = Image.new("RGBA", (320, 200), (9, 90, 3, 0))
        ImageDraw.Draw(picture).ellipse((40, 20, 180, 160), fill=(200, 20, 20, 255))
        picture = picture.quantize(8) if kind == "clear palette" else picture
    held = io.BytesIO()
    (picture.convert("P") if kind == "palette" else picture).save(held, "PNG")
    with show(daemon, 640, 480) as screen:
        try:
            wait = screen.judge(ScreenImage(held.getvalue()), timeout_s=4.0)
        except InvalidRequest as fault:
            return Outcome(Answer.RIGHT, f"refused: {fault}")
        is_said = wait.verdict.answer == "unknown"
        return Outcome(Answer.UNKNOWN if is_said else Answer.WRONG, f"{wait.state}: {wait.verdict.detail}")


def _refuse_text(words: str, daemon: Daemon) -> Outcome:
    """A text of characters that no pixel shows is refused when the wait is made."""
    with show(daemon, 640, 480) as screen:
        try:
            wait = screen.judge(Text(words), timeout_s=3.0)
        except AcudError as fault:
            return Outcome(Answer.RIGHT, f"refused: {fault}")
        return Outcome(Answer.WRONG, f"{wait.state}: {wait.verdict.detail}")


def _urxvt(words: str, font: str) -> tuple[str, ...]:
    shown = ("urxvt", "-title", "Notes", "-fn", f"xft:{font}:size=15", "-geometry", "44x8+30+30", "-e", "sh", "-c")
    return (*shown, f"printf '%s\\n' '{words}'; exec sleep 600")


_MATPLOTLIB = (
    "import matplotlib; matplotlib.use('Qt5Agg'); from matplotlib import pyplot as p; p.figure('Plot'); "
    "p.plot([1, 2]); p.title('Sold: 10 0 items', fontsize=18); p.show()"
)
_ROW = "<p style='border:1px solid #bbb;width:420px;padding:8px'>Invoice 2041 &nbsp; SIGN 318 EUR</p>"
_TASK = "<p style='border:1px solid #bbb;width:420px;padding:8px'><span>SIGN</span> Water the plants</p>"
_FILE = "<p>main.py<sup style='color:#b00'>SIGN</sup> &nbsp; 12 lines</p>"
_COMIC, _ROBOTO, _HACK = (
    "font:18px 'Comic Neue';margin:24px",
    "font:15px Roboto;margin:24px",
    "font:15px Hack;margin:24px",
)

CASES: tuple[Case, ...] = (
    unseen("plus for minus, Roboto", partial(_pair, _ROW, "+", "−", style=_ROBOTO)),
    unseen("3 for 8, Comic Neue", partial(_pair, _ROW, "3", "8", style=_COMIC)),
    unseen("less for greater, Hack", partial(_pair, _ROW, "&lt;", "&gt;", style=_HACK)),
    unseen("a tick for a cross", partial(_pair, _TASK, "☑", "☒")),
    unseen("an empty circle for a full one", partial(_pair, _TASK, "○", "●")),
    unseen("a small badge for none", partial(_pair, _FILE, "●", "")),
    unseen("an arrow up for one down", partial(_pair, _ROW, "▲", "▼", style=_ROBOTO)),
    unseen("the euro for the pound, Hack", partial(_pair, _ROW, "€", "£", style=_HACK)),
    unseen("now here for nowhere", partial(_text, "The cat is now here to be seen", "nowhere", False)),
    unseen("10 0 for 100, Roboto", partial(_text, "Sold 10 0 items", "100 items", False, font="Roboto")),
    unseen("man slaughter, Comic Neue", partial(_text, "man slaughter", "manslaughter", False, font="Comic Neue")),
    unseen("together for to get her", partial(_text, "They came to get her home", "together", False, size=14)),
    unseen("the same words with a wide gap", partial(_text, "Export &emsp; complete", "Export complete", True)),
    unseen("a plot's 10 0 items", partial(_text_in, (SYSTEM_PYTHON, "-c", _MATPLOTLIB), "Plot", "100 items", False)),
    unseen(
        "Fira Code in urxvt", partial(_text_in, _urxvt("if a != b and c >= d:", "Fira Code"), "Notes", "a != b", True)
    ),
    unseen("Fira Code on a page", partial(_text, "x =&gt; y !== z", "x => y", True, font="Fira Code")),
    unseen("Fira Code, not equal on a page", partial(_text, "if (x !== y) return", "x !== y", True, font="Fira Code")),
    unseen("Fira Code, an arrow on a page", partial(_text, "node -&gt; next", "node -> next", True, font="Fira Code")),
    unseen("a picture of one colour, palette", partial(_refuse_image, "palette")),
    unseen("a large disc on a transparent ground", partial(_refuse_image, "large")),
    unseen("a disc on a palette's transparent ground", partial(_refuse_image, "clear palette")),
    unseen("a picture that is nearly transparent", partial(_refuse_image, "transparent")),
    unseen("a picture whose only line is transparent", partial(_refuse_image, "hidden")),
    unseen("a text of zero-width spaces", partial(_refuse_text, "\u200b\u200d\ufeff")),
    unseen("a text of a Hangul filler", partial(_refuse_text, "\u3164")),
    unseen("a text of a Braille blank", partial(_refuse_text, "\u2800")),
    unseen("a text of variation selectors", partial(_refuse_text, "\ufe0f\u2060\u00ad")),
)
