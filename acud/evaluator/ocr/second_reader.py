"""When a line is read a second time, by tesseract, and which of two readings stands.

The first reader's dictionary has no Cyrillic, no accented Greek, no Hangul: it reads such words as the few letters that
it knows, mostly with little confidence (`3apy3k` for «Загрузка»). On 2,500 lines of Latin and Chinese letters it was
right, none had less than 0.88. So what is less sure, or has too few letters for its width, is read again, with the
languages of one script after the other. Once a view has shown a script, everything there that is not entirely sure is
read again with that script. Icons, which are read as single letters far apart, are left alone.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from msgspec import Struct, field

from acud.base.errors import Unavailable
from acud.evaluator.ocr import scripts
from acud.evaluator.ocr.bands import glyph_widths, word_spans
from acud.evaluator.ocr.engine import Bgr, Reading
from acud.evaluator.ocr.read_queue import Steps
from acud.evaluator.ocr.scripts import SCRIPTS, WritingScript
from acud.evaluator.ocr.tesseract import PROGRAM, Tesseract
from acud.protocol.evaluation import MissingReader

SURE, CERTAIN = 0.88, 0.995
"""Of the first reader: Latin words that it reads less surely are wrong; no word of another script came above the other.
"""
_ACCEPTED, _ACCEPTED_MET, _ACCEPTED_LATIN = 0.8, 0.3, 0.9
"""How sure tesseract must be: of a script not seen in the view before, of one that was, of Latin letters instead of
what the first reader itself takes for nothing."""
_MAIN_SHARE = 0.5  # of the letters of a reading are a script's; the others may be names and numbers
_LONG_WORD = 5
"""A word of so many letters, all of a script that the view has shown, stands against a doubted reading however unsure
tesseract is: it gives «γραμματοσειρά» 0.2 (measured)."""
_OVERRULES = 0.92  # how sure it must be to stand against a first reading that is `SURE`, in a view with its script
_LATIN = "eng"
_LETTER_X, _LETTERS_MORE = 1.0, 0.5
"""Letters are no wider than so many line heights, and half a one for all."""
_LEAST_ICON_X, _ICON_X, _STRAY_X = 0.5, 1.4, 0.15
_MOST_ICONS = 4
"""Icons are so wide, in heights of their box, and so many side by side; the title bars of five toolkits have three.
What is narrower than the third is the edge of a window."""
_CERTAIN_GLYPH, _LEAST_GLYPHS = 0.97, 0.6
"""Single digits and letters of tables are read with more than the first; the buttons of a title bar, with less than the
other."""
_LEAST_WIDE_X = 1.5  # narrower places hold an icon, a digit or a letter, which cannot be distinguished alone
_PROBES, _BATCH = 4, 16
_MOST_PROBED = 4
"""Scripts that are tried on lines of a view that has shown none of them; then tesseract's detection is asked."""
_DETECTED_LINES, _MOST_DETECTIONS = 4, 2
_MOST_TRIES, _PLACE_PX, _MOST_PLACES = 3, 16, 256
"""A place that showed nothing readable so often (a video, a chart) is left alone."""
_LISTED_S, _PAUSE_S = 60.0, 60.0
"""The installed languages are asked for anew after this time, and a failed program is not started again before."""


class LineProgram(Protocol):
    """A program that reads lines a second time; `Tesseract` is the only one."""

    languages: frozenset[str]

    @property
    def detects_scripts(self) -> bool:
        """Whether `script_name` can be asked."""

    def read(self, crops: Sequence[Bgr], languages: Sequence[str]) -> list[Reading]:
        """Return the reading of each crop, in order. Raises: Unavailable."""

    def script_name(self, crops: Sequence[Bgr]) -> str:
        """Return the script of the crops, "" if the program is not sure. Raises: Unavailable."""


class ViewScripts(Struct):
    """What is known of a view: the scripts it has shown, and the places where nothing could be read."""

    met: list[WritingScript] = field(default_factory=list)
    fruitless: dict[tuple[int, int], int] = field(default_factory=dict)
    detections: int = 0
    failed: bool = False
    """Whether lines have their first reading only because the program failed."""

    def hopeless(self, place: tuple[int, int]) -> bool:
        """Return whether that place, the upper left corner of a line, was tried in vain too often."""
        return self.fruitless.get(_cell(place), 0) >= _MOST_TRIES

    def note_fruitless(self, place: tuple[int, int]) -> None:
        """Count one more try in vain."""
        if len(self.fruitless) >= _MOST_PLACES:
            self.fruitless.clear()
        self.fruitless[_cell(place)] = self.fruitless.get(_cell(place), 0) + 1


class Doubt(Struct, frozen=True):
    """A first reading that a second one may replace, the pixels it is of, and where these begin in their view."""

    crop: Bgr
    reading: Reading
    place: tuple[int, int] = (0, 0)


class SecondReader:
    """Reads lines again. Owns nothing between batches: each batch is one process. Not safe in threads."""

    def __init__(
        self, make: Callable[[], LineProgram] = Tesseract, monotonic_s: Callable[[], float] = time.monotonic
    ) -> None:
        self._make = make
        self._now = monotonic_s
        self._lock = threading.Lock()
        self._program: LineProgram | None = None
        self._made_s = -_LISTED_S
        self._failed_s = -_PAUSE_S
        self._met_unreadable: dict[str, None] = {}
        self.fault = ""  # why lines that it should have read have the first reader's reading ("": none has)

    @property
    def version(self) -> str:
        """The program's name, version and languages; "" before the first use."""
        return "" if self._program is None else f"{PROGRAM} ({' '.join(sorted(self._program.languages))})"

    @property
    def missing(self) -> tuple[MissingReader, ...]:
        """The scripts that were met since this process began and that no installed language reads."""
        there = frozenset[str]() if self._program is None else self._program.languages
        found = [(name, scripts.script_of(name)) for name in self._met_unreadable]
        return tuple(
            MissingReader(name, scripts.packages(script, there) if script else (scripts.PROGRAM_PACKAGE,))
            for name, script in found
            if not (script.readable_languages(there) if script else there)
        )

    def reread(self, doubts: Sequence[Doubt], view: ViewScripts) -> Steps[list[Reading]]:
        """Return the reading of each that stands, in order. Another view may be read between two steps. A line that the
        program fails at keeps its first reading, and `fault` gives the reason.
        """
        found = [one.reading for one in doubts]
        wanted = [
            n for n, one in enumerate(doubts) if is_doubtful(one.reading, one.crop) and not view.hopeless(one.place)
        ]
        if not wanted and not view.met:
            return found
        try:
            program = self._get_program()
            left = yield from _Rereading(program, doubts, found, view, self._note_unreadable).reread_lines(wanted)
        except Unavailable as fault:
            view.failed = True
            self._note_failure(fault)
            if self._program is None and len(wanted) >= _DETECTED_LINES:
                self._note_unreadable(scripts.UNKNOWN)
        else:
            for n in left:
                view.note_fruitless(doubts[n].place)
        return found

    @property
    def paused(self) -> bool:
        """Whether the program failed a moment ago, so that it is not started now."""
        return self._now() - self._failed_s < _PAUSE_S

    def cannot_read(self, text: str) -> str:
        """Return why words like `text` can't be read ("": they can, or the first reader reads them alone). Remembers
        their script as one that was met. Blocks for some milliseconds; from any thread.
        """
        script = scripts.lacking(text)
        if script is None:
            return ""
        try:
            languages = self._get_program().languages
        except Unavailable as fault:
            self._note_failure(fault)
            languages = frozenset() if self._program is None else self._program.languages
        if script.readable_languages(languages):
            return self.fault
        self._note_unreadable(script.name)
        missing = " ".join(scripts.packages(script, languages))
        return f"no reader of {script.name} letters is installed: apt install {missing}"

    def _note_unreadable(self, script: str) -> None:
        self._met_unreadable[script] = None

    def _note_failure(self, fault: Unavailable) -> None:
        if not self.paused:
            self.fault = f"{fault.message}; {fault.hint}" if fault.hint else fault.message
            self._failed_s = self._now()

    def _get_program(self) -> LineProgram:
        with self._lock:
            if self.paused:
                raise Unavailable(self.fault)
            if self._now() - self._made_s >= _LISTED_S or self._program is None:
                self._program = None
                self._program, self._made_s = self._make(), self._now()
            self.fault = ""
            return self._program


class _Rereading(Struct):
    """Lines of one view that are read again. `found`: the readings that stand so far, by place. `met_unreadable` is
    called with the name of each script met that no language reads.
    """

    program: LineProgram
    doubts: Sequence[Doubt]
    found: list[Reading]
    view: ViewScripts
    met_unreadable: Callable[[str], None]

    def reread_lines(self, places: Sequence[int]) -> Steps[list[int]]:
        """Read the lines in doubt, at `places`; return the places that no reader could read. Raises: Unavailable."""
        left, tried = list(places), list(self.view.met)
        for script in self.view.met:
            left = yield from self._read_with(script, left)
        for script in _readable_scripts(self.program.languages, self.view.met)[:_MOST_PROBED]:
            if not left:
                break
            tried.append(script)
            left = yield from self._try_script(script, left)
        if len(left) >= _DETECTED_LINES and self.view.detections < _MOST_DETECTIONS and self.program.detects_scripts:
            self.view.detections += 1
            left = yield from self._read_in_detected_script(left, tried)
        for script in self.view.met:
            wary = [
                n
                for n, one in enumerate(self.found)
                if not one.reader and n not in places and _is_wary(one, self.doubts[n].crop)
            ]
            yield from self._read_with(script, wary)
        return left

    def _read_in_detected_script(self, left: list[int], tried: Sequence[WritingScript]) -> Steps[list[int]]:
        """Ask which script the lines are in, and read them with it; it is remembered where it can't be read."""
        script = scripts.script_of(self.program.script_name([self.doubts[n].crop for n in left]))
        yield
        if script is None or script in tried:
            return left
        if not script.readable_languages(self.program.languages):
            self.met_unreadable(script.name)
            return left
        return (yield from self._try_script(script, left))

    def _try_script(self, script: WritingScript, left: Sequence[int]) -> Steps[list[int]]:
        """Read the widest lines with `script`, and where one of them is in it, the others as well."""
        first = sorted(left, key=lambda n: -self.doubts[n].crop.shape[1])[:_PROBES]
        still = yield from self._read_with(script, first)
        others = [n for n in left if n not in first]
        if script not in self.view.met:
            return [*still, *others]
        return (yield from self._read_with(script, [*still, *others]))

    def _read_with(self, script: WritingScript, places: Sequence[int]) -> Steps[list[int]]:
        """Return the places that `script` could not read."""
        languages = script.readable_languages(self.program.languages)
        if _LATIN in self.program.languages:
            languages = (*languages, _LATIN)
        left = []
        for start in range(0, len(places), _BATCH):
            some = places[start : start + _BATCH]
            read = self.program.read([self.doubts[n].crop for n in some], languages)
            yield
            for n, second in zip(some, read, strict=True):
                first = self.found[n]
                if not stands(first, second, script, met=script in self.view.met):
                    left.append(n)
                    continue
                sure = max(first.confidence, second.confidence)  # no less than the reading that it replaces
                self.found[n] = second._replace(confidence=sure, reader=f"{PROGRAM} {'+'.join(languages)}")
                if script not in self.view.met and scripts.share(second.text, script) > 0:
                    self.view.met.append(script)
        return left


def is_doubtful(reading: Reading, crop: Bgr) -> bool:
    """Return whether a first reading is doubtful: little confidence, too few letters, or Greek letters, in a crop too
    wide for an icon.
    """
    height, width = crop.shape[:2]
    if width < _LEAST_WIDE_X * height or (reading.confidence >= SURE and not _is_odd(reading.text, crop)):
        return False
    return not _is_icons(reading.text, crop)


def without_icons(reading: Reading, crop: Bgr) -> Reading:
    """Return a reading without the single letters far apart that icons are taken for: as none where the reader itself
    is in doubt, else half as sure.
    """
    if not reading.text or reading.confidence >= _CERTAIN_GLYPH or not _is_icons(reading.text, crop):
        return reading
    if len(reading.text.replace(" ", "")) > 1 and reading.confidence < _LEAST_GLYPHS:
        return Reading("", 0.0)
    return reading._replace(confidence=reading.confidence / 2)


def stands(first: Reading, second: Reading, script: WritingScript, *, met: bool) -> bool:
    """Return whether the second reading replaces the first. `met`: the view has shown that script."""
    letters = sum(letter.isalpha() for letter in second.text)
    part = scripts.share(second.text, script)
    if part < _MAIN_SHARE:
        return first.confidence < 0.5 and second.confidence >= _ACCEPTED_LATIN and letters >= 3 and part == 0
    if not met and not scripts.shows(second.text, script):
        return False
    if first.text and first.confidence >= SURE and scripts.share(first.text, script) == 0:
        return met and first.confidence < CERTAIN and second.confidence >= _OVERRULES and part == 1
    pure = met and part == 1
    least = _ACCEPTED if not pure else _ACCEPTED_MET if letters < _LONG_WORD else 0.0
    return second.confidence >= least and letters > 1


def _is_odd(text: str, crop: Bgr) -> bool:
    height, width = crop.shape[:2]
    letters = len(text.replace(" ", ""))
    if any(sum("\u0370" <= letter <= "\u03ff" for letter in word) and len(word) > 1 for word in text.split()):
        return True
    most = (_LETTER_X * letters + _LETTERS_MORE) * height
    return bool(width > most and sum(right - left for left, right in word_spans(crop)) > most)


def _is_wary(reading: Reading, crop: Bgr) -> bool:
    letters = any(letter.isalpha() for letter in reading.text)
    return reading.confidence < CERTAIN and (letters or is_doubtful(reading, crop))


def _is_icons(text: str, crop: Bgr) -> bool:
    """Return whether a crop is icons: one glyph about as wide as high, or a few of one width, and no letter more."""
    height = crop.shape[0]
    glyphs = [width for width in glyph_widths(crop) if width > _STRAY_X * height]
    if len(glyphs) > _MOST_ICONS or len(text.replace(" ", "")) > len(glyphs):
        return False
    fit = all(_LEAST_ICON_X * height <= width <= _ICON_X * height for width in glyphs)
    return fit and max(glyphs, default=0) - min(glyphs, default=0) <= 1


def _readable_scripts(languages: frozenset[str], but: Sequence[WritingScript]) -> list[WritingScript]:
    return [script for script in SCRIPTS if script not in but and script.readable_languages(languages)]


def _cell(place: tuple[int, int]) -> tuple[int, int]:
    return place[0] // _PLACE_PX, place[1] // _PLACE_PX
