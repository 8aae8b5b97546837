"""Secrets that a label announces in running text: `SmtpPassword=…`, `Door code for the office: …`, `the PIN is …`.

Every search begins at a word of the vocabulary and is bounded, so that the time is in proportion to the length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from acud.features.redaction.labels import RULES, Label, LabelKind, find_announcing, find_label, label_words
from acud.features.redaction.rule_data import forms, has_form
from acud.features.redaction.spans import RedactedSpan, Rule, is_mixed, join_full_lines
from acud.features.redaction.values import accepts, accepts_in_prose, find_end, looks_chosen

_PLAIN_VERBS = frozenset(("is", "lautet", "ist", "est", "es", "é", "è", "jest", "är"))
_NO_OPTIONS = "via and or is option flag to for instead in on from with are was as argument if when"
_NO_OPTION_VALUES = frozenset(_NO_OPTIONS.split())
_OF_WIFI = ("ssid", "wifi", "wi-fi", "wlan", "wpa")


def find_labelled(text: str, *, read: bool = False) -> Iterator[RedactedSpan]:
    """Yield what labels announce in `text`, without quotes; `read`: it was read off a screen, a tab between boxes."""
    if read:
        text = text.replace(";", ":")  # in small letters an engine takes one for the other
    flow = join_full_lines(text, read=False)
    for word in find_announcing(text):
        if not word.startswith("REDACTED_"):
            for start in _find_words(text, word):
                yield from _find_at(text, flow, start, start + len(word), read)
    if " - " in flow and "\n" not in flow and len(flow) <= _LONGEST_TITLE:
        yield from _find_in_title(flow)


_LONGEST_TITLE, _LONGEST_WORD, _LONGEST_REST, _LEAST_MIXED = 200, 400, 160, 8


def _find_words(text: str, word: str) -> Iterator[int]:
    """Yield where `word` stands in `text` as a run of its own."""
    at = text.find(word)
    while at >= 0:
        end = at + len(word)
        if not (_is_of_run(text[at - 1 : at]) or _is_of_run(text[end : end + 1])):
            yield at
        at = text.find(word, end)


def _is_of_run(c: str) -> bool:
    return c.isalnum() or c == "_"


def _find_at(text: str, flow: str, start: int, end: int, read: bool) -> Iterator[RedactedSpan]:
    left = text[max(0, start - 48) : start]
    cuts = [cut.end() for cut in forms()["delimiter"].finditer(left)]
    left = left[cuts[-1] :] if cuts else left
    is_path = text[start - 1 : start] == "/"
    finders = (_find_assigned, _find_option, _find_stated, _find_adjacent)
    for find in finders[:2] if is_path else finders:
        found = find(flow if find in (_find_stated, _find_adjacent) else text, left, start, end, read)
        if found:
            yield from found
            return


def _find_assigned(text: str, left: str, start: int, _end: int, read: bool) -> list[RedactedSpan]:
    match = forms()["assigned"].match(text, start)
    if match is None or (match["join"] == "\t" and not read):
        return []
    name = left + text[start : match.start("join")]
    aside = name.rstrip().endswith(")") and "(" in name  # `Password (printed on the label): …`
    found = find_label(name) or (find_label(name.rpartition(" (")[0]) if aside else None)
    if (
        found is not None
        and found.is_bare
        and found.kind is LabelKind.KEY
        and any(word in text[max(0, start - 80) : start].lower() for word in _OF_WIFI)
    ):
        found = Label("wi-fi key", LabelKind.PASSWORD, is_bare=False)
    if found is None:
        return []
    begin = match.end()
    if text.startswith(("[REDACTED_", "//"), begin):
        return []
    is_plain = found.kind in (LabelKind.PASSWORD, LabelKind.PHRASE) and not looks_chosen(_word_at(text, begin))
    if match["join"] == "\t" and is_plain:
        return []  # the next cell: its place decides whether it is a value or the head of another column (`cells`)
    key = text[text.rfind("\n", 0, start) + 1 : match.start("join")]
    if match["join"].strip() == "=" and found.kind is LabelKind.PASSWORD and _is_property(key.strip()):
        rest = text[begin:].partition("\n")[0]
        if len(rest) <= _LONGEST_REST and not set(rest) & set("\t\"'#;") and accepts(found, rest):
            return [RedactedSpan(begin, begin + len(rest), RULES[found.kind])]
    called = text[max(0, start - len(left) - 3) : start - len(left)].replace(" ", "")
    if match["join"][:2] in ("',", '",') and not called.endswith(('("', "('")):
        return []
    if begin >= len(text) or text[begin] == "\n":
        return _take_next_line(text, begin, found)
    at_line_start = not text[max(0, start - len(left) - 8) : start - len(left)].strip(" \t") or read
    found = found._replace(
        is_setting=has_form(name.strip(" \t\"'"), "setting of words")
        and match["join"][:1] not in " \t(,"
        and forms()["sole value"].match(text, begin) is not None
    )
    spans = _take_value(text, begin, found, match["join"], whole=at_line_start and not name.strip().count("  "))
    # On a screen the quotes go too: they may be letters that were misread.
    return [_with_quotes(text, span) for span in spans] if read else spans


def _is_property(key: str) -> bool:
    """Return whether it is a key of a properties file, with a value up to the end of the line."""
    return "." in key and all(part.replace("-", "").replace("_", "").isalnum() for part in key.split("."))


def _word_at(text: str, begin: int) -> str:
    return text[begin : begin + _LONGEST_WORD].split()[0] if text[begin : begin + 1].strip() else ""


def _quoted_at(text: str, begin: int) -> tuple[int, int] | None:
    """Return the place of what is quoted from `begin` on, without the quotation marks."""
    quoted = forms()["quoted"].match(text, begin)
    return None if quoted is None else quoted.span("value" if quoted["value"] is not None else "rest")


def _with_quotes(text: str, span: RedactedSpan) -> RedactedSpan:
    quotes = text[span.start - 1 : span.start] in ("'", '"') and text[span.end : span.end + 1] in ("'", '"')
    return RedactedSpan(span.start - quotes, span.end + quotes, span.rule)


def _take_value(text: str, begin: int, label: Label, join: str, *, whole: bool) -> list[RedactedSpan]:
    """Return the value that begins at `begin`; `whole`: nothing else may stand on its line."""
    rule = RULES[label.kind]
    quoted = _quoted_at(text, begin)
    if quoted is not None:
        value = text[slice(*quoted)]
        return [RedactedSpan(*quoted, rule)] if accepts(label, value, quoted=True) and value not in "()" else []
    if join.endswith(">") and join != "=>":
        close = text.find("</", begin)
        return [RedactedSpan(begin, close, rule)] if accepts(label, text[begin:close]) else []
    line_end = text.find("\n", begin)
    line_end = len(text) if line_end < 0 else line_end
    tab = text.find("\t", begin, line_end)
    line_end = line_end if tab < 0 else tab
    end = find_end(label, text, begin, line_end)
    if end > begin:
        spans = [RedactedSpan(begin, end, rule), *_find_further(text, label, end, line_end)]
        return spans if accepts(label, text[spans[0].start : spans[0].end]) else []
    groups = forms()["key in groups"].match(text, begin, line_end) if label.kind is LabelKind.KEY else None
    if groups is not None and accepts(label, groups[0]):
        return [RedactedSpan(begin, groups.end(), rule)]
    whole_phrase = label.kind in (LabelKind.PHRASE, LabelKind.SEED)
    match = forms()["phrase value" if whole_phrase else "setting value"].match(text, begin, line_end)
    if match is None or not accepts(label, match[0]):
        return []
    end = match.end()
    if (
        label.kind is LabelKind.KEY
        and (host := forms()["host"].search(match[0]))
        and "//" in text[max(0, begin - 40) : begin]
    ):
        return [RedactedSpan(begin, begin + host.start(), rule)]
    if label.kind is LabelKind.KEY and '"' in match[0]:
        return [RedactedSpan(begin, begin + match[0].index('"'), rule)]
    rest = text[end:line_end].split()
    if looks_chosen(match[0]) and (match[0][-1] in ",;" or rest[:1] == [";"]):
        rest = []  # the next words are about something else
    if (
        label.kind is LabelKind.PASSWORD
        and whole
        and "=" not in join
        and 0 < len(rest) <= 4
        and not rest[0].startswith(("#", "|", "&", "/", "(", "[", "-"))
    ):
        end = line_end
    end -= len(match[0]) - len(match[0].rstrip(",;")) if end == match.end() and len(match[0].rstrip(",;")) else 0
    return [RedactedSpan(begin, end, rule)]


def _find_further(text: str, label: Label, end: int, limit: int) -> Iterator[RedactedSpan]:
    """Yield the codes that follow the one that ended at `end`, where the label names several."""
    while (
        label.kind is LabelKind.CODE
        and label.term.endswith("s")
        and (more := forms()["further code"].match(text, end, limit))
    ):
        begin, end = more.end(), find_end(label, text, more.end(), limit)
        yield RedactedSpan(begin, end, RULES[label.kind])


def _take_next_line(text: str, begin: int, label: Label) -> list[RedactedSpan]:
    match = forms()["value below"].match(text, begin)
    if match is None:
        return []
    value = match["value"]
    strong = accepts(label, value) and (label.kind not in (LabelKind.PASSWORD, LabelKind.PHRASE) or looks_chosen(value))
    if "REDACTED_" in value or ":" in value[-1:] or "=" in value[1:-2] or not strong:
        return []
    return [RedactedSpan(*match.span("value"), RULES[label.kind])]


def _find_option(text: str, left: str, start: int, _end: int, read: bool) -> list[RedactedSpan]:
    option = f"{text[max(0, start - 32) : start]}.".split()[-1][:-1]
    if not option.startswith("-") or not f"a{option}".replace("-", "").replace("_", "").isalnum():
        return []
    match = forms()["option value"].match(text, start)
    if match is None:
        return []
    found = find_label(left + text[start : match.start("word")])
    word = match["word"]
    if found is None or word.casefold() in _NO_OPTION_VALUES:
        return []
    # After an option stands its value: a token there need not look random.
    found = found._replace(is_bare=found.is_bare and not (is_mixed(word) and len(word) >= _LEAST_MIXED))
    if not accepts(found, word) or forms()["option about keys"].search(text, max(0, start - 32), match.start("word")):
        return []
    place, rule = _quoted_at(text, match.start("word")) or match.span("word"), RULES[found.kind]
    user, colon, _ = text[slice(*place)].partition(":")
    if found.term == "auth" and colon and "://" not in word:  # `--proxy-auth user:password`
        return [RedactedSpan(place[0] + len(user) + 1, place[1], Rule.PASSWORD)]
    return [RedactedSpan(*place, rule)]


def _find_stated(text: str, left: str, start: int, _end: int, read: bool) -> list[RedactedSpan]:
    """`the PIN is …`"""
    match = forms()["stated"].match(text, start)
    if match is None:
        return []
    found = find_label(left + text[start : match.start("verb")])
    return _take_prose_value(text, match.end(), found, verb=match["verb"] in _PLAIN_VERBS)


def _find_adjacent(text: str, left: str, start: int, end: int, read: bool) -> list[RedactedSpan]:
    """`typed the password …`, `cvc …`, `SSN …`"""
    match = forms()["adjacent"].match(text, start)
    if match is None:
        return []
    found = find_label(left + text[start : match.start("gap")])
    if found is None:
        return _find_adjacent_later(text, left, match)
    # `(password raspberry)`
    inside, closing, _ = text[match.end() : match.end() + 61].partition(")")
    alone = text[start - len(left) - 1 : start - len(left)] == "(" and bool(closing) and len(inside.split()) == 1
    return _take_prose_value(text, match.end(), found, verb=alone) or _find_adjacent_later(text, left, match)


def _find_adjacent_later(text: str, left: str, match: re.Match[str]) -> list[RedactedSpan]:
    """Find the value after a label with more words: `passport no. …`, `N° de sécurité sociale …`."""
    longer = match.end()
    for _ in range(3):
        more = forms()["one more word"].match(text, longer)
        if more is None or more[0].strip(" .").casefold() in label_words("code_topics"):
            return []  # `code for order 55210`
        if more[0].strip().casefold() in label_words("prepositions"):
            return []
        found = find_label(left + text[match.start() : more.end()])
        longer = more.end()
        if found is not None and not (found.kind is LabelKind.KEY and found.is_bare):
            spans = _take_prose_value(text, longer, found)
            if spans:
                return spans
    return []


def _is_plain_password(label: Label, word: str, after: str) -> bool:
    """Return whether a plain word is the password: it ends its sentence, or is words joined by hyphens."""
    bare = word.strip(".,;:!?)\"'")
    if label.kind is LabelKind.PASSWORD and has_form(bare, "joined words"):
        return True
    ends = after in ("", "\n") or word[-1] in ".,;!)"
    return (
        label.kind is LabelKind.PASSWORD
        and ends
        and has_form(bare, "plain password")
        and bare.casefold() not in label_words("no_values")
        and bare.casefold() not in label_words("of_passwords")
    )


def _are_alike(groups: Sequence[str]) -> bool:
    """Return whether the groups form a key rather than words and a number: all of one length, or most with digits."""
    with_digits = sum(any(c.isdigit() for c in group) for group in groups)
    return with_digits > 0 and (len({*map(len, groups[:-1])}) == 1 < with_digits or 2 * with_digits > len(groups))


def _take_prose_value(text: str, begin: int, label: Label | None, *, verb: bool = False) -> list[RedactedSpan]:
    if label is None or text.startswith("[REDACTED_", begin):
        return []
    quoted = _quoted_at(text, begin)
    if quoted is not None and label.kind in (LabelKind.PASSWORD, LabelKind.PHRASE, LabelKind.KEY):
        return [RedactedSpan(*quoted, RULES[label.kind])] if accepts(label, text[slice(*quoted)], quoted=True) else []
    begin += text[begin : begin + 1] in ("'", '"', "`")
    line_end = text.find("\n", begin)
    line_end = len(text) if line_end < 0 else line_end
    end = find_end(label, text, begin, line_end)
    if end > begin and accepts_in_prose(label, text[begin:end]):
        return [RedactedSpan(begin, end, RULES[label.kind]), *_find_further(text, label, end, line_end)]
    groups = forms()["key in groups"].match(text, begin, line_end) if label.kind is LabelKind.KEY else None
    if groups is not None and _are_alike(groups[0].split()) and accepts(label, groups[0]):
        return [RedactedSpan(begin, groups.end(), RULES[label.kind])]
    word = _word_at(text, begin)
    after = text[begin + len(word) : begin + len(word) + 1]
    if not word or not (accepts_in_prose(label, word) or (verb and _is_plain_password(label, word, after))):
        return []
    kept = word.rstrip(".,;:?)\"'")
    return [RedactedSpan(begin, begin + len(kept), RULES[label.kind])] if kept else []


def _find_in_title(text: str) -> Iterator[RedactedSpan]:
    """Yield the part of a window's title that another part names as a password."""
    parts, at = [], 0
    for part in text.split(" - "):
        parts.append((at, part))
        at += len(part) + 3
    named = [find_label(part) for _, part in parts]
    if any(one is not None and one.kind is LabelKind.PASSWORD for one in named):
        for (at, part), name in zip(parts, named, strict=True):
            if (
                name is None
                and " " not in part
                and len(part) >= 8
                and looks_chosen(part)
                and any(c.isdigit() for c in part)
            ):
                yield RedactedSpan(at, at + len(part), Rule.PASSWORD)
