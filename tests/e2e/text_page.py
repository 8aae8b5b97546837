"""A page of words, and a file that tells which were drawn; run by the system's own Python.

text_page.py window | terminal GROUND PIXELS SEED TOLD

`window`: a GTK 3 window of 980x680, lines of DejaVu Sans PIXELS high in two columns, GROUND light or dark. `terminal`:
prints the page where it runs. TOLD appears, a word drawn on each line, once the page is on the screen.
"""

import os
import random
import sys
import termios
import tty
from pathlib import Path

_WORDS = """
about above accept account across action address advice afternoon against agenda agree airport allow almost already
amount animal another answer anybody approach archive around arrive article assume attach autumn average backup
balance basket beautiful because become before begin behind believe between beyond blanket bottle branch breakfast
bridge bright broken brother budget buffer building button calendar camera cancel capital careful carry castle
catalogue caution centre certain chamber change channel chapter cheese children choice circle citizen clear climate
close coffee collect colour column comfort common company compare complete concert confirm connect consider contact
continue control cottage council country couple courage course create cross current custom damage dance danger
daughter decide deliver demand depend describe desert detail device dinner direct discover distance district doctor
double doubt dream driver during early earth easily eastern economy edition effort eight either election else
emergency employ empty enough enter equal error escape evening event every evidence exact example except exchange
expect explain export express extra factory failed fairly familiar family farmer fashion father feather feature field
figure filter final finger finish flight floor flower follow foreign forest forget forward freedom fresh friend future
garden gather general gentle glass government grand great green ground group growth guard guess guide habit half
hammer handle happen harbour harvest health heavy hello helpful hidden history holiday honest horse hospital hotel
house however human hundred hurry husband ignore illness image imagine improve include income indeed index industry
inside install instead invoice iron island issue item itself jacket join journey judge juice jump jungle just keep
kernel kettle keyboard kingdom kitchen knife knock label ladder landscape language large later laugh leader learn
leather leave lecture left length lesson letter level library light limit little living loan local locked logic lonely
loose lunch machine magazine main manager market master matter maximum meal measure medical member memory message
method middle might million mineral minute mirror missing mixture modern module moment month morning mother mountain
moved museum music narrow nation nature nearly needle neighbour network never night nobody noise normal north nothing
notice number object observe ocean office often older only opinion option orange order other outside owner package
page paint paper parent partner pass path pattern pause people perfect period person phone picture piece place plain
planet plastic please pocket point police polish popular possible potato power practice prepare present press pretty
price print private problem process produce profit program project promise proper protect proud public pull purple
purpose quality quarter queen question quick quiet quite radio railway random rather ready reason receive recent
record reduce refer region regular relation remain remember remote remove repair repeat reply report request rescue
"""
ENGLISH = _WORDS.split()
COLOURS = {"light": ("#121212", "#ffffff"), "dark": ("#dbdbdb", "#1a1a1f")}
"""Ink and paper."""

COLUMN_PX = 460
MANY_SHADES = 8
"""Letters have more grey values than a bare window."""


def number(any_: random.Random) -> str:
    value = any_.randrange(10, 99_999)
    shapes = (f"{value}", f"{value / 100:.2f}", f"{value:,}", f"{value % 24}:{value % 60:02d}", f"{value % 100}%")
    return any_.choice((*shapes, f"2026-{value % 12 + 1:02d}-{value % 28 + 1:02d}", f"v{value % 9}.{value % 13}"))


def path(any_: random.Random) -> str:
    first, second = any_.sample(ENGLISH, 2)
    end = any_.choice((".txt", ".py", ".conf", ".log", ""))
    return any_.choice(("/etc", "/usr/share", "~", "/var/log", "src")) + f"/{first}/{second}{end}"


def identifier(any_: random.Random) -> str:
    first, second = any_.sample(ENGLISH, 2)
    shapes = (first + second.title(), first.title() + second.title(), f"{first}_{second}", f"{first}-{second}")
    return any_.choice((*shapes, f"{first}()", f"{first}.{second}", f"--{first}", f"{first.upper()}_{second.upper()}"))


def english(any_: random.Random) -> str:
    word = any_.choice(ENGLISH)
    return any_.choice((word, word, word, word, word.title(), word.title(), word.upper(), word + ",", word + "."))


def lines(seed: int, count: int, letters: int) -> list[list[str]]:
    """Return lines of words of at most so many letters, a few of them short; no word is there twice."""
    any_, seen, made = random.Random(seed), set(), []
    for _ in range(count):
        line: list[str] = []
        limit = any_.choice((letters, letters, letters, letters // 2, letters // 4))
        while True:
            word = any_.choice((english, english, english, english, english, english, number, path, identifier))(any_)
            if len(" ".join([*line, word])) > limit:
                break
            if word not in seen:
                seen.add(word)
                line.append(word)
        made.append(line)
    return made


def tell(told: str, drawn: list[str]) -> None:
    """Make the file `told`, whole."""
    part = Path(told + ".part")
    part.write_text("\n".join(drawn), encoding="utf-8")
    part.replace(told)


def window(ground: str, pixels: int, seed: int, told: str) -> None:
    import gi

    gi.require_version("Gtk", "3.0")
    gi.require_version("Gdk", "3.0")
    from gi.repository import Gdk, GLib, Gtk, Pango

    ink, paper = COLOURS[ground]
    face = Pango.FontDescription("DejaVu Sans")
    face.set_absolute_size(pixels * Pango.SCALE)
    look = Pango.AttrList()
    look.insert(Pango.attr_font_desc_new(face))
    style = Gtk.CssProvider()
    style.load_from_data(f"* {{ color: {ink}; background-color: {paper}; }}".encode())
    Gtk.StyleContext.add_provider_for_screen(Gdk.Screen.get_default(), style, Gtk.STYLE_PROVIDER_PRIORITY_USER)
    pitch = pixels * 3 // 2 + 2
    rows = 660 // pitch
    drawn: list[str] = []
    sheet = Gtk.Fixed()
    for place, line in enumerate(lines(seed, 2 * rows, 770 // pixels)):
        label = Gtk.Label(label=" ".join(line), attributes=look)
        while label.get_layout().get_pixel_size()[0] > COLUMN_PX:
            line = line[:-1]
            label.set_text(" ".join(line))
        sheet.put(label, 12 + place // rows * 490, 10 + place % rows * pitch)
        drawn.extend(line)

    def seen() -> bool:
        """Tell once the last line's ink can be read back from the X server; all lines are painted in one go."""
        at, edge = label.get_allocation(), frame.get_window()
        got = Gdk.pixbuf_get_from_window(edge, at.x, at.y, at.width, at.height) if edge and at.width > 1 else None
        if got is None or len(set(got.get_pixels())) < MANY_SHADES:
            return True
        tell(told, drawn)
        return False

    frame = Gtk.Window(title="Page", type=Gtk.WindowType.POPUP)
    frame.set_size_request(980, 680)
    frame.add(sheet)
    frame.show_all()
    frame.move(10, 10)
    GLib.timeout_add(20, seen)
    Gtk.main()


def terminal(seed: int, told: str) -> None:
    columns, rows = os.get_terminal_size()
    page = lines(seed, rows - 1, columns)
    tty.setcbreak(0, termios.TCSANOW)
    print("\n".join(" ".join(line) for line in page), flush=True)
    for _ in range(2):  # the second answer comes from a terminal that has sent the page to the X server
        os.write(1, b"\x1b[6n")
        while os.read(0, 1) != b"R":
            pass
    tell(told, [word for line in page for word in line])
    os.read(0, 1)


if __name__ == "__main__":
    kind, ground, pixels, seed, told = sys.argv[1:]
    if kind == "window":
        window(ground, int(pixels), int(seed), told)
    else:
        terminal(int(seed), told)
