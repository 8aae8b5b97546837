"""Finds a text among the lines that were read: white space folded, case ignored by default, across line breaks.

Engines misread what looks alike (`-O2` as `-02`), drop spaces beside signs, and make some up. Words of five letters or
more are therefore found in that disguise too, unless case is to match; but no word is found in the end of one and the
beginning of the next ("Saved" in "Save Document"). `gone` asks for plain absence: there any length, more look-alikes
and also doubtful readings still count as there, so that one misread letter does not end a wait.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from functools import reduce
from itertools import accumulate, islice, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from acud.base.patterns import PatternFault, compile_pattern
from acud.evaluator.ocr.changes import union
from acud.evaluator.ocr.engine import Line
from acud.evaluator.ocr.ligatures import SPELLINGS
from acud.evaluator.ocr.text_layout import are_beside, blocks, level_edges, rows
from acud.language.quotation_marks import plain_marks
from acud.types import Echo, Rect, Text, Verdict, no, unknown, yes
from acud.waits.read_text import (
    BUT_TYPED,
    ECHO_LETTERS,
    are_of_a_word,
    find_line_start,
    find_places,
    is_echo,
    normalise_text,
)

_MAX_QUOTE = 200
_MOST_HITS = 1000
_MIN_DISGUISED = 5
"""Characters of a text that may be found among look-alikes; shorter ones ("10", "Yes") would be found anywhere."""
_MOST_PITCH = 4.0  # rows of a list are at most so many heights of a line apart
_NEAR = 0.75  # share of letters that a text and the nearest reading must have in common to be worth naming
_SIGNS = str.maketrans(SPELLINGS)
_MISREAD = {"0": "o", "1": "l", "i": "l", "|": "l", ",": ".", ";": ":"}
_COMMA_IN_NUMBER = re.compile(r"(?<=\d),(?=\d)")
_BETWEEN_CJK = re.compile("(?<=[\u3000-\u30ff\u3400-\u9fff]) (?=[\u3000-\u30ff\u3400-\u9fff])")
_CLOSE = str.maketrans(_MISREAD)
_ALIKE = str.maketrans({**_MISREAD, "!": "l", "5": "s", "8": "b", "2": "z"})


ReadAs = Callable[[str], str]
"""How words are made comparable."""


class JoinedLines(NamedTuple):
    """Lines joined to one text, and each line's span in it."""

    text: str
    spans: tuple[tuple[int, int, Line], ...]

    def lines_at(self, start: int, end: int) -> list[Line]:
        """Return the lines that text[start:end] touches."""
        return [line for first, last, line in self.spans if first < max(end, start + 1) and last > start]

    def text_before(self, line: Line) -> str:
        """Return the text before `line` in its row, and in the rows above that wrap into it."""
        spans: list[list[tuple[int, int, Line]]] = []
        for span in self.spans:
            above = spans[-1][-1][2].box if spans else span[2].box
            if not spans or abs(2 * span[2].box.y + span[2].box.h - 2 * above.y - above.h) >= above.h:
                spans.append([])
            spans[-1].append(span)
        row = next(at for at, some in enumerate(spans) if any(one is line for *_, one in some))
        # Rows of other windows, which begin elsewhere, do not show how wide those of this one are.
        mine = spans[row][0][2].box
        own = [at for at, some in enumerate(spans) if abs(some[0][2].box.x - mine.x) <= mine.h]
        edges = [max(one.box.right for *_, one in spans[at]) for at in own]
        begins = spans[own[find_line_start(own.index(row), edges, 0.75 * mine.h)]][0][0]
        return self.text[begins : next(first for first, _, one in self.spans if one is line)]


class TextHit(NamedTuple):
    """Where the text shows on a page: in these lines, from `start` to `end` of its text."""

    lines: list[Line]
    page: JoinedLines
    start: int
    end: int

    def is_echo(self, echoes: Sequence[Echo]) -> bool:
        """Return whether it is one of the echoes, by the text before it in its row (of the page or of its window alone)
        and after it in its line.
        """
        line, spans = self.lines[0], self.page.spans
        own = next(block for block in blocks([one for *_, one in spans]) if any(one is line for one in block))
        begun = self.page.text[next(first for first, _, one in spans if one is line) : self.start]
        after = self.page.text[self.end : next(last for _, last, one in spans if one is self.lines[-1])]
        pages = (self.page, make_page([own], normalise_text))
        return any(is_echo(echoes, (page.text_before(line) + begun)[-2 * ECHO_LETTERS :], after) for page in pages)

    @property
    def box(self) -> Rect:
        """The box around the matched lines, in the view."""
        return reduce(union, (line.box for line in self.lines))

    def words(self, at: Rect) -> str:
        """Return the matched lines as a quotation with their box; `at` is the view's place in its source."""
        return _quote_lines(self.lines, at)


def _quote_lines(lines: Sequence[Line], at: Rect) -> str:
    box = reduce(union, (line.box for line in lines)).shift(at.x, at.y)
    others = ", ".join(dict.fromkeys(line.reader for line in lines if line.reader))
    by = f" by {others}" if others else ""
    return f'"{" ".join(line.text for line in lines)[:_MAX_QUOTE]}" at {box.x},{box.y} ({box.w}x{box.h}){by}'


def look_for(
    lines: Sequence[Line],
    leaf: Text,
    min_confidence: float,
    at: Rect,
    echoes: Sequence[Echo] = (),
    pixels: NDArray[np.uint8] | None = None,
) -> Verdict:
    """Return the verdict on `leaf` over the `lines` of a view that lies at `at` in its source, but for `echoes` of what
    acud typed. `pixels` (height x width x 4 uint8): of the view, where the edges of panes are looked for.
    """
    if not leaf.regex and not alike(leaf.text):
        return unknown("engine", "the text to look for is blank")
    counted = lines if leaf.gone else [line for line in lines if line.confidence >= min_confidence]
    try:
        hits = _find_hits(counted, leaf, echoes)
    except PatternFault as fault:
        return unknown("engine", f"the regular expression {fault}")
    if leaf.gone:
        return _judge_absence(lines, leaf, hits[:1], at)
    open_signs = _find_open_signs(leaf)
    hits = [hit for hit in hits if not _has_open_sign(open_signs, hit)]
    boxes = _list_boxes(hits[: leaf.count])
    if len(hits) >= leaf.count:
        times = f" {leaf.count} times, first" if leaf.count > 1 else ""
        return yes(f"reads{times} {hits[0].words(at)}", boxes, len(hits))
    if len(doubtful := _find_doubtful(counted, leaf, echoes)) >= leaf.count:
        return unknown("engine", f'"{leaf.text}" may be there, its accents or signs misread: {doubtful[0].words(at)}')
    if hits:
        edge = _lower_edge(lines, hits, at, pixels)
        more = f"; text goes on to the lower edge{edge}, so more may be out of view" if edge is not None else ""
        return no(f'"{leaf.text}" is there {len(hits)} of {leaf.count} times{more}', boxes, len(hits))
    if echoes and _find_hits(counted, leaf):
        return no(f"{_describe_absence(leaf, len(counted))}, {BUT_TYPED}")
    return no(_describe_absence(leaf, len(counted)) + _describe_nearest(lines, leaf, at))


def _lower_edge(
    lines: Sequence[Line], hits: Sequence[TextHit], at: Rect, pixels: NDArray[np.uint8] | None
) -> str | None:
    """Return which lower edge the rows under the last hit go on to, as those of a scrolled list do: " of its pane", or
    "" of the view; None where there is room for another row.
    """
    last = max((hit.box for hit in hits), key=lambda box: box.bottom)
    column = sorted(
        (one.box for one in lines if one.box.x < last.right and last.x < one.box.right), key=lambda box: box.y
    )
    pitch = min((last.y - box.y for box in column if last.y - box.y > last.h // 2), default=last.h)
    pitch = pitch if pitch <= _MOST_PITCH * last.h else last.h
    if at.h - max(last.bottom, *(box.bottom for box in column), 0) < last.h:
        return ""
    if pixels is None:
        return None
    end, half = last, last.h // 2
    is_ruled = bool(level_edges(pixels, last.x, last.y + half - pitch, last.right, last.y + half))
    for box in column:
        if abs(box.y - end.y - pitch) <= pitch // 4 and abs(box.x - last.x) <= last.h:
            if not is_ruled and level_edges(pixels, last.x, end.y + half, last.right, box.y + half):
                break
            end = box
    return " of its pane" if level_edges(pixels, last.x, end.y + half, last.right, end.bottom + pitch) else None


def _judge_absence(lines: Sequence[Line], leaf: Text, hits: list[TextHit], at: Rect) -> Verdict:
    hits = hits or ([] if leaf.regex else _find_as(lines, leaf, _words_alike if leaf.whole_words else alike))
    if hits:
        return no(f"still reads {hits[0].words(at)}", _list_boxes(hits))
    return yes(_describe_absence(leaf, len(lines)))


def _describe_absence(leaf: Text, line_count: int) -> str:
    if line_count == 0:
        return f'"{leaf.text}" is not there, and no other text is'
    return f'"{leaf.text}" is ' + (
        f"in none of {line_count} lines of text" if line_count > 1 else "not in the one line of text"
    )


def _describe_nearest(lines: Sequence[Line], leaf: Text, at: Rect) -> str:
    """Return words about the line, doubtful or not, that differs least from the text, "" if none is near: it may be
    the text, misread.
    """
    wanted = caseless(leaf.text)
    if leaf.regex or len(wanted) < _MIN_DISGUISED:
        return ""
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(wanted)
    count, best, nearest = len(wanted.split()), _NEAR, None
    for line in lines:
        words = caseless(line.text).split()
        for start in range(max(1, len(words) - count + 1)):
            matcher.set_seq1(" ".join(words[start : start + count]))
            if matcher.real_quick_ratio() > best and matcher.quick_ratio() > best and matcher.ratio() > best:
                best, nearest = matcher.ratio(), line
    return f"; the nearest is {_quote_lines([nearest], at)}" if nearest is not None else ""


def _list_boxes(hits: Sequence[TextHit]) -> tuple[Rect, ...]:
    return tuple(dict.fromkeys(hit.box for hit in hits))


def _find_hits(lines: Sequence[Line], leaf: Text, echoes: Sequence[Echo] = ()) -> list[TextHit]:
    """Return the hits of the text that are no echo."""
    if leaf.regex:
        pattern = compile_pattern(leaf.text, ignore_case=not leaf.match_case, lines=True)
        pages = (make_page(rows(lines), read_as, row_end="\n") for read_as in (normalise_text, _respell))
        found = ([hit for span in pattern.spans(page.text) if (hit := _hit(page, *span)) is not None] for page in pages)
        return max((_drop_echoes(hits, echoes) for hits in found), key=len)
    if leaf.match_case:
        return _drop_echoes(_find_as(lines, leaf, fold_spaces), echoes)
    hits = _drop_echoes(_find_as(lines, leaf, caseless), echoes)
    if len(hits) < leaf.count and len(fold_lookalikes(leaf.text)) >= _MIN_DISGUISED:
        hits = max(hits, _drop_echoes(_find_disguised(lines, leaf), echoes), key=len)
    return hits


def _find_doubtful(lines: Sequence[Line], leaf: Text, echoes: Sequence[Echo]) -> list[TextHit]:
    """Return the hits with other accents, which engines confuse or lose, or with a sign whose width is uncertain."""
    if leaf.regex:
        return []
    hits: list[TextHit] = []
    if open_signs := _find_open_signs(leaf):
        hits += [hit for hit in _find_as(lines, leaf, _signs_short) if _has_open_sign(open_signs, hit)]
    if _has_accents(leaf.text):
        found = _find_as(lines, leaf, _without_accents)
        hits += [hit for hit in found if any(_has_accents(line.text) for line in hit.lines)]
    return _drop_echoes(hits, echoes)


def _has_open_sign(open_signs: Sequence[str], hit: TextHit) -> bool:
    """Return whether a sign in the hit may stand for a spelling in the text or a longer one: its width is undecided."""
    return any(sign in line.text for sign in open_signs for line in hit.lines)


def _find_open_signs(leaf: Text) -> list[str]:
    """Return the signs that stand for a spelling in the text (`!=`, `==`) or for a longer one."""
    if leaf.regex:
        return []
    wanted = _signs_short(leaf.text)
    return [sign for sign in "≠≡" if sign not in leaf.text and SPELLINGS[sign][:2] in wanted]


def _signs_short(text: str) -> str:
    return fold_lookalikes(text).replace("!==", "!=").replace("===", "==")


def _has_accents(text: str) -> bool:
    return _without_accents(text) != caseless(text)


def without_echoes(lines: Sequence[Line], words: str, echoes: Sequence[Echo]) -> Sequence[Line]:
    """Return the lines without those in which `words` are an echo."""
    hits = _find_as(lines, Text(words), caseless) if echoes and words else []
    typed = {id(line) for hit in hits if hit.is_echo(echoes) for line in hit.lines}
    return [line for line in lines if id(line) not in typed] if typed else lines


def _drop_echoes(hits: list[TextHit], echoes: Sequence[Echo]) -> list[TextHit]:
    return [hit for hit in hits if not hit.is_echo(echoes)] if echoes else hits


def _find_disguised(lines: Sequence[Line], leaf: Text) -> list[TextHit]:
    if leaf.whole_words:
        return _find_as(lines, leaf, _words_close)
    return [hit for hit in _find_as(lines, leaf, fold_lookalikes) if _is_in_words(leaf.text, hit)]


def _with_spaces(text: str) -> re.Pattern[str]:
    """Return the pattern of `text` with or without a space (a group) between any two letters."""
    return re.compile("( ?)".join(map(re.escape, _join_words(text))))


def _is_in_words(wanted: str, hit: TextHit) -> bool:
    """Return whether the spaces of `wanted` are those on screen: "100 items" is not "10 0 items", "log in" not "login".

    The first reader decides them by the pixels, except some beside signs; others may lose spaces, or insert some that
    cut off no word of the screen.
    """
    text = _words_close(" ".join(line.text for line in hit.lines))
    letters, is_settled = caseless(wanted).replace(" ", ""), not any(line.reader for line in hit.lines)
    counts = accumulate(len(_join_words(line.text)) for line in hit.lines)
    ends = {
        n for n, (line, after) in zip(counts, pairwise(hit.lines), strict=False) if not are_beside(line.box, after.box)
    }
    asked = {place - n for n, place in enumerate(one.start() for one in re.finditer(" ", _words_close(wanted)))}
    for found in _with_spaces(wanted).finditer(text):
        begin = len(text[: found.start()].replace(" ", ""))
        read = {n for n, space in enumerate(found.groups(), 1) if space}
        is_other = any(begin + n not in ends and _are_one(letters[n - 1], letters[n]) for n in read ^ asked)
        if not (is_settled and is_other) and (read <= asked or _stands_alone(text, *found.span())):
            return True
    return False


def _are_one(left: str, right: str) -> bool:
    return are_of_a_word(left, right) or (left.isdigit() and right in ".,") or (left in ".," and right.isdigit())


def _join_words(text: str) -> str:
    return _words_close(text).replace(" ", "")


def _stands_alone(text: str, start: int, end: int) -> bool:
    return not (text[start - 1 : start].isalnum() or text[end : end + 1].isalnum())


def _find_as(lines: Sequence[Line], leaf: Text, read_as: ReadAs) -> list[TextHit]:
    wanted = read_as(leaf.text)
    best: list[TextHit] = []
    for order in (rows, blocks):
        pages = _make_pages(order(lines), read_as, whole=order is rows)
        found = (hit for page in pages for hit in _list_hits(page, wanted, whole_words=leaf.whole_words))
        best = max(best, list(islice(found, _MOST_HITS)), key=len)
        if len(best) >= leaf.count:
            break
    return best


def _list_hits(page: JoinedLines, wanted: str, *, whole_words: bool) -> Iterator[TextHit]:
    """Return where `wanted` stands in the page, each behind the one before."""
    hits = (_hit(page, *place) for place in find_places(wanted, page.text, whole_words=whole_words))
    return (hit for hit in hits if hit is not None)


def _hit(page: JoinedLines, start: int, end: int) -> TextHit | None:
    lines = page.lines_at(start, end)  # none: a pattern that fits the empty text of an empty screen
    if not lines:
        return None
    return TextHit(lines, page, start, end)


def _make_pages(groups: list[list[Line]], read_as: ReadAs, *, whole: bool) -> Iterable[JoinedLines]:
    gap = "" if read_as in (alike, fold_lookalikes) else " "  # engines drop spaces, and find some
    return (make_page(part, read_as, gap) for part in ([groups] if whole else [[group] for group in groups]))


def make_page(groups: Iterable[Sequence[Line]], read_as: ReadAs, gap: str = " ", row_end: str = "") -> JoinedLines:
    """Return the lines of `groups` as one text: `gap` between lines, `row_end` (or else `gap`) between groups."""
    text, spans = "", []
    for group in groups:
        for place, line in enumerate(group):
            words = read_as(line.text)
            between = (gap if place else row_end or gap) if text else ""
            if read_as not in (normalise_text, _respell) and _BETWEEN_CJK.search(text[-1:] + between + words[:1]):
                between = ""
            start = len(text) + len(between)
            text += between + words
            spans.append((start, len(text), line))
    return JoinedLines(text, tuple(spans))


def fold_spaces(text: str) -> str:
    """Return `text` as `normalise_text`, with no space between Chinese or Japanese letters (engines drop it, or make it
    up) and with signs spelt out, quotes and dashes made plain.
    """
    return _BETWEEN_CJK.sub("", plain_marks(_respell(text)))


def _respell(text: str) -> str:
    """Return `text` as `normalise_text`, its signs as programs spell them: fonts for code draw `!=` as one sign."""
    return normalise_text(text).translate(_SIGNS)


def caseless(text: str) -> str:
    """Return `text` folded, without case."""
    return fold_spaces(text).casefold()


def fold_lookalikes(text: str) -> str:
    """Return `text` without case and spaces, the letters that engines take for one another made one."""
    return _replace_lookalikes(caseless(text).replace(" ", ""))


def letters_close(text: str) -> str:
    """Return `text` in small letters, those that engines take for one another made one: as long as `text`."""
    return _replace_lookalikes(text.lower())


def _words_close(text: str) -> str:
    return _replace_lookalikes(caseless(text))


def _replace_lookalikes(text: str) -> str:
    """A comma becomes a point as well, but for one between digits: "1,000" is not "1.000"."""
    return _COMMA_IN_NUMBER.sub("\u201a", text).translate(_CLOSE)


def _without_accents(text: str) -> str:
    """Return `text` without case and accents; the caron of ď, ľ and ť is drawn, and read, as an apostrophe."""
    apart = unicodedata.normalize("NFKD", caseless(text))
    bare = " " + "".join(one for one in apart if not unicodedata.combining(one))
    return unicodedata.normalize("NFC", "".join(b for a, b in pairwise(bare) if not (b == "'" and a in "dlt")))


def _words_alike(text: str) -> str:
    """Return `text` without case and accents, which engines lose, all letters that look alike made one."""
    return _without_accents(text).translate(_ALIKE)


def alike(text: str) -> str:
    """Return `text` without case, accents and spaces; letters that look alike become one letter."""
    return _words_alike(text).replace(" ", "")
