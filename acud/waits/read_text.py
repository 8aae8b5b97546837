"""Where words stand in text that was read, which number belongs to a label in it, and how it compares."""

from __future__ import annotations

import operator
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher

from msgspec import Struct

from acud.language.quotation_marks import plain_marks
from acud.types import Comparison, Echo, NumberSeen, Rect, ScreenNumber, Verdict, no, numbers_in, unknown, yes

_WITHOUT_SPACES = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""Letters of scripts without spaces between words, in which the end of a word is not visible."""
_INVISIBLE = re.compile("[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]")
_JOINT = r"[\s:=(\[#≈~|·•–—→-]*"
_LINK = re.compile(rf"{_JOINT}|\s*\.{{2,}}\s*|(?P<words>(?:[\s(]+[^\W\d_][\w'’-]*\)?){{1,3}})(?P<joint>\s?[:=]\s*|\s*)")
"""What may stand between a label and its number in one text: few words, as in "Downloaded so far: 90 MB"."""
_END = re.compile(rf"{_JOINT}\.*\s*")
_LIST = re.compile(r"[,;|·•]\s")
_NAMED = re.compile(r"\w\W?\s?[:=]\s*$")
_ENUMERATES = (".", ":", ")")  # signs right behind the number of an entry: "2. Tests", "14: error".
_WORD = re.compile(r"\w{2,}")
_ORDER: dict[Comparison, Callable[[float, float], bool]] = {
    Comparison.AT_LEAST: operator.ge, Comparison.MORE: operator.gt, Comparison.EQUAL: operator.eq,
    Comparison.NOT_EQUAL: operator.ne, Comparison.LESS: operator.lt, Comparison.AT_MOST: operator.le,
}  # fmt: skip
_MAX_QUOTE = 80
ECHO_LETTERS = 200
"""Letters and digits compared on each side of an echo."""
_LEAST_LIKENESS, _LEAST_TAIL = 0.75, 0.6
_HEAD, _TAIL, _SHIFT = 4, 6, 3
"""Letters at the beginning and end of typed text, and how far OCR that loses or invents letters shifts them."""
BUT_TYPED = "but for what acud itself typed"
_LOOKS_LIKE = str.maketrans({"0": "o", "1": "l", "i": "l", "5": "s", "8": "b", "2": "z"})
_MOST_REGIONS = 3


def is_whole(text: str, start: int, end: int) -> bool:
    """Return whether `text[start:end]` is whole words: no letter or digit right before or after belongs to them."""
    return not any(are_of_a_word(text[place - 1 : place], text[place : place + 1]) for place in (start, end))


def normalise_text(text: str) -> str:
    """Return `text` with white space folded, compatibility forms (full-width letters, ligatures) made plain, and
    without invisible characters (direction marks, soft hyphens, joiners).
    """
    return " ".join(_INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).split())


def comparable(text: str) -> str:
    """Return `text` in the form in which names are compared: as `normalise_text`, plain quotes and dashes, no case."""
    # Case folding may split a letter into parts that have a composed form (Unicode 3.13, caseless matching).
    return unicodedata.normalize("NFKC", normalise_text(plain_marks(text)).casefold())


def find_places(wanted: str, text: str, *, whole_words: bool) -> Iterator[tuple[int, int]]:
    """Yield the (start, end) of each place of `wanted` in `text`, without overlaps; none when it is empty."""
    start = text.find(wanted) if wanted else -1
    while start >= 0:
        end = start + len(wanted)
        is_one = not whole_words or is_whole(text, start, end)
        if is_one:
            yield start, end
        start = text.find(wanted, end if is_one else start + 1)


def are_of_a_word(before: str, after: str) -> bool:
    """Return whether two adjacent characters belong to one word, in a script with spaces between words."""
    if not (before and after) or _WITHOUT_SPACES.match(before) or _WITHOUT_SPACES.match(after):
        return False
    return _is_of_a_word(before) and _is_of_a_word(after)


def _is_of_a_word(char: str) -> bool:
    return char.isalnum() or char == "_"


# ---- echoes of what acud typed ---------------------------------------------------------------------------------------


def is_echo(echoes: Sequence[Echo], before: str, after: str) -> bool:
    """Return whether words between `before` and `after`, from their row and the rows it continues, are one of the
    echoes. An echo may go on, be misread a little, and begin out of sight.
    """
    read, rest = reduce_letters(before), reduce_letters(after)
    return any(_is_before(echo, before, read) and _is_after(echo.after, rest) for echo in echoes)


def _is_before(echo: Echo, before: str, read: str) -> bool:
    """Return whether the command stands right before, from its name on: its arguments alone may be its own output, and
    output may follow it. Its beginning may be out of sight, except for a part of its name.
    """
    command = echo.before[-echo.command :]
    if len(read) < len(command):
        return len(read) > echo.arguments and _measure_likeness(read, command[-len(read) :]) >= _LEAST_LIKENESS
    if len(command) < _HEAD and not re.search(rf"(?<![^\W_])(?:[\W_]*[^\W_]){{{len(command)}}}[\W_]*$", before):
        return False  # the end of a longer word
    return any(_ends_with(read, wanted) for wanted in (command, echo.before))


def _ends_with(read: str, wanted: str) -> bool:
    head, near = wanted[:_HEAD], read[-len(wanted) - _SHIFT :]
    found = SequenceMatcher(None, head, near[: len(head) + 2 * _SHIFT], autojunk=False).find_longest_match()
    is_begun = found.size >= min(len(head), _HEAD - 1)
    tail = min(_TAIL, len(wanted))
    is_right_before = _measure_likeness(read[-tail:], wanted[-tail:]) >= _LEAST_TAIL
    return is_begun and is_right_before and _measure_likeness(read[-len(wanted) :], wanted) >= _LEAST_LIKENESS


def find_line_start(row: int, right_edges: Sequence[float], slack: float = 0.0) -> int:
    """Return the first row of the line that a row belongs to: a row is wrapped only if it reaches as far to the right
    as any.
    """
    widest = max(right_edges, default=0.0) - slack
    while row > 0 and right_edges[row - 1] >= widest:
        row -= 1
    return row


def _is_after(wanted: str, read: str) -> bool:
    if not (wanted and read):
        return len(read) <= 1
    return _measure_likeness(read[: len(wanted)], wanted[: len(read)]) >= _LEAST_LIKENESS


def _measure_likeness(read: str, wanted: str) -> float:
    return SequenceMatcher(None, read, wanted, autojunk=False).ratio()


def reduce_letters(text: str) -> str:
    """Return the letters and digits of `text`, with those that OCR confuses made the same."""
    return "".join(filter(str.isalnum, comparable(text))).translate(_LOOKS_LIKE)


# ---- numbers -------------------------------------------------------------------------------------------------------


class LabelPlace(Struct, frozen=True):
    """A place of a label in a text.

    `number`: the one that belongs to it; `leads`: it stands before the label. `is_whole`: the text is this label and
    its number, nothing else. `ends`: nothing follows it, so that its number may stand beside or below. `where`: of the
    number, `region`: of both, in words for a verdict; `box`: of the number.
    """

    number: NumberSeen | None
    is_whole: bool
    ends: bool
    leads: bool = False
    where: str = ""
    region: str = ""
    box: Rect | None = None


def find_label_places(leaf: ScreenNumber, text: str, alike: Callable[[str], str] = str.lower) -> Iterator[LabelPlace]:
    """Yield the places of the label in `text`. `alike` makes texts comparable, letter by letter."""
    label = " ".join(leaf.label.split()).rstrip(" :=")
    wanted, read = alike(label), alike(text)
    if len(read) != len(text):
        wanted, read = label, text
    for start, end in find_places(wanted, read, whole_words=True):
        before, after = _number_before(leaf, text[:start]), _number_after(leaf, text, end)
        number = _choose_number(text, end, before, after)
        leads = number is not None and number is before
        ends = (number is None or leads) and _END.fullmatch(text, end) is not None
        between = text[end : number.start] if number is not None and not leads else ""
        is_alone = number is not None and not _WORD.search(between + text[end if leads else number.end :])
        begins = not _WORD.search(text[:start])
        yield LabelPlace(number, begins and (ends or is_alone), ends, leads)


def _number_after(leaf: ScreenNumber, text: str, end: int) -> NumberSeen | None:
    """Return the number that the text leads to from a label which ends at `end`."""
    number = next((one for one in numbers_in(text, end) if one.values_in(leaf.unit)), None)
    return number if number is not None and _is_link(text[end : number.start], number, leaf.unit) else None


def _number_before(leaf: ScreenNumber, head: str) -> NumberSeen | None:
    """Return the number that stands right before a label, at the end of `head`, and is no other label's ("a: 3 b")."""
    number = next(reversed(list(numbers_in(head))), None)
    if number is None or number.counts_else or not number.values_in(leaf.unit) or _WORD.search(head[number.end :]):
        return None
    is_entry = head[number.end :].startswith(_ENUMERATES) or (number.text.endswith(")") and number.text[0] != "(")
    return None if is_entry or _NAMED.search(head, 0, number.start) else number


def _choose_number(text: str, end: int, before: NumberSeen | None, after: NumberSeen | None) -> NumberSeen | None:
    """Return the number of a label that ends at `end`, by whether the text begins or ends with a number, as "12 Open
    3 Closed" and "Errors 3 Warnings 4" do; None where it does both or neither.
    """
    is_first = before is not None and not _WORD.search(_LIST.split(text[: before.start])[-1])
    if before is None or after is None:
        return after or (before if is_first else None)
    between = text[end : after.start]
    if any(sign in between for sign in ":=") or not text[before.end : end].strip()[0].isalnum():
        return after
    if is_first:
        return before if after.counts_else or _WORD.search(between) else None
    return None if after.counts_else or not is_number(text[after.start :]) else after


def _is_link(between: str, number: NumberSeen, unit: str) -> bool:
    """Return whether `between` links a label to its number: words that go on in lower case, or end with a colon. A
    number that counts something else ("errors in 3 files") is not linked.
    """
    found = _LINK.fullmatch(between)
    if found is None:
        return False
    words = found["words"]
    return (
        not words
        or bool((found["joint"] or "").strip())
        or (words.islower() and (bool(unit) or not number.counts_else))
    )


def read_leading_number(leaf: ScreenNumber, text: str) -> NumberSeen | None:
    """Return the number that `text` begins with, if it has the wanted unit and neither counts something else ("31 open
    incidents") nor numbers it ("2. Tests").
    """
    seen = next(numbers_in(text), None)
    if seen is None or _WORD.search(text[: seen.start]) or not seen.values_in(leaf.unit):
        return None
    rest = text[seen.end :].lstrip()
    if rest.startswith(_ENUMERATES) and _WORD.search(rest):
        return None
    return None if seen.counts_else and not leaf.unit and _WORD.match(rest) and not rest[0].isdigit() else seen


def has_leading_number(text: str) -> bool:
    """Return whether `text` begins with a number of any unit."""
    seen = next(numbers_in(text), None)
    return seen is not None and not _WORD.search(text[: seen.start])


def is_number(text: str) -> bool:
    """Return whether `text` is a number with its unit and nothing else."""
    seen = next(numbers_in(text), None)
    return seen is not None and not _WORD.search(text[: seen.start] + text[seen.end :])


def compare_number(leaf: ScreenNumber, seen: NumberSeen, where: str = "", boxes: tuple[Rect, ...] = ()) -> Verdict:
    """Return the verdict on a number that was read; `where` follows it in the words, `boxes` hold it."""
    values = seen.values_in(leaf.unit)
    tried = {*values, float("inf"), *([leaf.value] if leaf.value >= min(values) else ())} if seen.is_least else values
    answers = {_ORDER[leaf.compare](value, leaf.value) for value in tried}
    words = f'reads "{seen.text[:_MAX_QUOTE]}"{where}'
    if len(answers) == 1:
        return yes(words, boxes) if True in answers else no(words, boxes)
    if seen.is_least:
        return ambiguous(f"{words}, which is {values[0]:g} or more")
    return ambiguous(f"{words}, which may be {values[0]:g} or {values[1]:g}")


def judge_places(leaf: ScreenNumber, places: Sequence[LabelPlace]) -> Verdict:
    """Return the verdict from the places of the label. Where one text is the whole label, texts that only contain it
    are other labels; a place without a number, or with another answer, makes it ambiguous.
    """
    labels = [one for one in places if one.is_whole] or [one for one in places if one.ends or one.number is not None]
    verdicts = [
        compare_number(leaf, one.number, f' after "{leaf.label}"{one.where}', (one.box,) if one.box else ())
        for one in labels
        if one.number is not None
    ]
    if not verdicts:
        return _lacks_number(leaf, labels, places)
    if len(verdicts) == len(labels) and len({verdict.answer for verdict in verdicts}) == 1:
        return verdicts[0]
    each = dict.fromkeys(verdict.detail for verdict in verdicts)
    without = f", in {len(labels) - len(verdicts)} without a number" if len(labels) > len(verdicts) else ""
    hint = _describe_regions([one for one in labels if one.number is not None], "a target of one place settles it")
    return ambiguous(f'"{leaf.label}" is there {len(labels)} times{without}: {"; ".join(each)[:300]}{hint}')


def _lacks_number(leaf: ScreenNumber, labels: Sequence[LabelPlace], places: Sequence[LabelPlace]) -> Verdict:
    """Return the verdict if no number belongs to the label."""
    if not places:
        return unreadable(f'the label "{leaf.label}" cannot be read there')
    hint = _describe_regions(labels, "without a label, the target of a number that may be meant settles it")
    words = f'no number{_describe_unit(leaf)} can be read after "{leaf.label}"'
    if len(labels) > 1:
        return ambiguous(f"{words} in any of its {len(labels)} places{hint}")
    return ambiguous(words + hint) if hint else unreadable(words)


def _describe_regions(places: Sequence[LabelPlace], words: str) -> str:
    found = list(dict.fromkeys(one.region for one in places if one.region))[:_MOST_REGIONS]
    return f"; {words}: {', '.join(found)}" if found else ""


def judge_only_number(
    leaf: ScreenNumber, lines: Sequence[str], where: Callable[[int], str] = lambda _: "", boxes: Sequence[Rect] = ()
) -> Verdict:
    """Return the verdict on the only number of `lines` (with the wanted unit, if any); `boxes`: of the lines, or ()."""
    found = [(at, one) for at, line in enumerate(lines) for one in numbers_in(line) if one.values_in(leaf.unit)]
    if not found:
        return unreadable(f"no number{_describe_unit(leaf)} can be read there")
    if len(found) > 1:
        some = ", ".join(f'"{one.text[:_MAX_QUOTE]}"' for _, one in found[:5])
        return unreadable(
            f"{len(found)} numbers{_describe_unit(leaf)} are there ({some}): give the label of one, or its region"
        )
    at, one = found[0]
    return compare_number(leaf, one, where(at), tuple(boxes[at : at + 1]))


def unreadable(detail: str) -> Verdict:
    """Return the unknown for a number that cannot be read for certain."""
    return unknown("unreadable", detail)


def ambiguous(detail: str) -> Verdict:
    """Return the unknown for a number of uncertain place or value."""
    return unknown("ambiguous", detail)


def _describe_unit(leaf: ScreenNumber) -> str:
    return f' with the unit "{leaf.unit}"' if leaf.unit else ""
