"""Secrets that a label announces in running text: `SmtpPassword=…`, `Door code for the office: …`, `the PIN is …`.

Every search begins at a word of the vocabulary and is bounded, so that the time is in proportion to the length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from acud.features.redaction.code_sentences import find_codes_in_sentences
from acud.features.redaction.labels import RULES, Label, LabelKind, find_label, label_words, may_announce
from acud.features.redaction.spans import RedactedSpan, Rule, lower_in_place
from acud.features.redaction.values import accepts, accepts_in_prose, find_end, looks_chosen

_MASKED = r"(?!\[REDACTED_)"
_PART = r"[\w’'°#/()\[\].*-]"
_STRICT = re.compile(
    rf"{_PART}{{0,40}}(?:[ ]{{1,2}}{_PART}{{1,24}}){{0,7}}?"
    r"""(?P<join>["']?[ ]?[:=][ ]?\{[ \t\n]{0,12}["']?(?i:value|default|plaintext|plain)["']?[ ]?[:=][ ]?"""
    r"""|["'`\])]{0,3}[ \t]{0,3}(?:=>|:?=(?!=)|::?|：)[ \t]{0,3}"""
    r"""|["']?[ \t]{1,3}\{[ \t\n]{0,6}(?:default|value)[ \t]{0,3}=[ \t]{0,3}"""
    r"""|["'][ \t]{1,3}(?:value|content|default)[ ]?=[ ]?"""
    r"""|["']?,?[ \t\n]{0,12}["']?value["']?[ ]?[:=][ \t]{0,3}"""
    r"""|["'],[ \t]{0,3}(?=["'])|\((?=["'])"""
    r"""|["']?(?:[ ][\w:-]{1,30}=["'][^"'<>\n]{0,60}["']){0,4}>(?=[^<>\n]{1,200}</)|\t)"""
)
_VERBS = (
    "is|are|was|became|lautet|ist|war|est|es|é|è|jest|är|shows|reads|contains|holds|displays|says|becomes|"
    "to(?:[ ]be)?|value|—|–|->|→|-"
)
_PLAIN_VERBS = frozenset(("is", "lautet", "ist", "est", "es", "é", "è", "jest", "är"))
_IS = re.compile(
    rf"{_PART}{{0,40}}(?P<mid>[^\n.!?:=]{{0,60}}?)(?:[ ]|(?<=c)['’])(?P<verb>{_VERBS})"
    r"(?:[ ]{1,2}|[ ]?\n[ ]{0,4})(?:now[ ]|set to[ ]|still[ ]|just[ ]|jetzt[ ]|ahora[ ])?"
)
_NEXT = re.compile(rf"{_PART}{{0,40}}?(?P<gap>[ ]{{1,2}}\(?)(?=[^\s(])")
_WRAPPED = re.compile(r"\n(?<=[^\W\d_]{3}\n|\w[^\W\d_],\n)(?=[^\s:=|]{1,40}[ .,;!]|[^\s:=|]{1,40}$)(?<=[^\n]{50}\n)")
"""Where a sentence continues in the next line, because its line was full."""
_RUN = re.compile(r"\w{2,100}")
_DELIMITERS = re.compile(r"[.;,:=：|(){}<>?&\"`/\t\n$!，；。]|(?<!\w)'|'(?!\w)")
_QUOTED = re.compile(
    r"""(?P<q>["'`])(?P<value>[^"'`\n]{1,400}?)(?P=q)|(?P<b>["'`])(?P<rest>(?:(?!(?P=b))[^\n]){1,400})(?P=b)"""
)
_ONE_MORE = re.compile(r"\w[^\s.,;:!?]{0,24}\.?[ ]{1,2}")
_CALL = re.compile(r"\([ ]?[\"']$")
_WORD = re.compile(r"[^\s&;:,]{0,2000}+(?:[&;:,](?![\w .-]{1,40}=|[<\"'])[^\s&;:,]{0,400}+){0,40}")
_PROSE_WORD = re.compile(r"[^\s\t]{1,400}")
_TO_END = re.compile(r"[^\n\t;|]{1,160}?(?=[.,;][ \n]|[.,;]?$|[\n\t;|])")
_AT_HOST = re.compile(r"@[\w-]{1,60}(?:\.[\w-]{1,60}){1,6}(?=[:/]|$)")
_GROUPS = re.compile(r"[A-Za-z0-9]{3,8}(?:[ ][A-Za-z0-9]{3,8}){2,15}")
_MORE = re.compile(
    r"[ ,;/\t]{1,4}(?:(?:and|or|und|et|y|e|i|og|och|en)[ ])?"
    r"(?=(?:[0-9]{4,10}|[A-Za-z0-9]{3,8}(?:-[A-Za-z0-9]{3,8}){1,3})(?![\w.:-]))"
)
_OPTION = re.compile(r"(?:(?<=\s)|^)--?[\w-]*$")
_OPTION_VALUE = re.compile(rf"[\w-]{{0,40}}[ \t]{{1,3}}{_MASKED}(?![-|&>])(?P<word>[^\s]{{1,400}})")
_MIXED = re.compile(r"(?=[^0-9]{0,100}[0-9])(?=[^A-Za-z]{0,100}[A-Za-z])[\w.+/=-]{8,400}")
_OF_KEYS = re.compile(r"--?(?:export|list|recv|receive|send|delete|import|fetch|search|check)[\w-]*[ \t]{1,3}$")
_PAIR = re.compile(r"(?!\w+://)[\w.@+-]{1,60}:(?=[^\s:/]{3})")
"""`--proxy-auth user:password`"""
_ASIDE = re.compile(r"[ ]\([^()\n]{1,60}\)[ ]?$")
"""`Password (printed on the label): …`"""
_OF_WIFI = re.compile(r"(?i:ssid|wi-?fi|wlan|\bwpa)")
_CLOSED = re.compile(r"[^\s()]{3,60}\)")
_SOLE = re.compile(r"[\"'`]|[^\s]{1,400}[ \t]*(?:[#;,})]|\n|$)")
_NO_OPTIONS = "via and or is option flag to for instead in on from with are was as argument if when"
_NO_OPTION_VALUES = frozenset(_NO_OPTIONS.split())
_SETTING = re.compile(
    r"(?:[A-Z][A-Z0-9]*_)+(?:SECRET|TOKEN|KEY)(?:_KEY(?:_BASE)?)?|(?:[a-z][a-z0-9]*[_-])+(?:secret|token)(?:_key)?"
    r"|(?!existing)[a-z][a-z0-9]{1,20}(?:Secret|Token)(?:Key)?|secret"
)
"""The name of a program's setting, whose value may consist of words."""
_PROPERTY = re.compile(r"[\w-]{1,40}(?:\.[\w-]{1,40}){1,8}")
"""A key of a properties file, with a value up to the end of the line."""
_REST = re.compile(r"[^\n\t\"'#;]{1,160}(?=\n|$)")
_BELOW = re.compile(
    r"[ \t]*\n(?P<skip>(?:[^\n]{0,24}\n){0,2}?)(?P<lead>[^\n\w]{0,8}(?:\w{1,16}[ ]?\|)?[ \t>]{0,8})"
    r"(?P<value>[^\s]{6,200})[ \t]*(?=\n|$)"
)


def find_labelled(text: str, *, read: bool = False) -> Iterator[RedactedSpan]:
    """Yield what labels announce in `text`, without quotes; `read`: it was read off a screen, a tab between boxes."""
    if read:
        text = text.replace(";", ":")  # in small letters an engine takes one for the other
    flow = _WRAPPED.sub(" ", text)
    for word in set(_RUN.findall(text)):
        if may_announce(word) and not word.startswith("REDACTED_"):
            for start in _find_words(text, word):
                yield from _find_at(text, flow, start, start + len(word), read)
    yield from _find_before_label(flow, lower_in_place(flow))


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
    cuts = [cut.end() for cut in _DELIMITERS.finditer(left)]
    left = left[cuts[-1] :] if cuts else left
    is_path = text[start - 1 : start] == "/"
    finders = (_find_assigned, _find_option, _find_stated, _find_adjacent)
    for find in finders[:2] if is_path else finders:
        found = find(flow if find in (_find_stated, _find_adjacent) else text, left, start, end, read)
        if found:
            yield from found
            return


def _find_assigned(text: str, left: str, start: int, _end: int, read: bool) -> list[RedactedSpan]:
    match = _STRICT.match(text, start)
    if match is None or (match["join"] == "\t" and not read):
        return []
    name = left + text[start : match.start("join")]
    found = find_label(name) or (find_label(_ASIDE.sub("", name)) if name.endswith((")", ") ")) else None)
    if (
        found is not None
        and found.is_bare
        and found.kind is LabelKind.KEY
        and _OF_WIFI.search(text, max(0, start - 80), start)
    ):
        found = Label("wi-fi key", LabelKind.PASSWORD, is_bare=False)
    if found is None:
        return []
    begin = match.end()
    if text.startswith(("[REDACTED_", "//"), begin):
        return []
    if match["join"] == "\t" and found.kind in (LabelKind.PASSWORD, LabelKind.PHRASE):
        # The next cell: whether it is a value or the head of another column is told by its place (`cells`).
        word = _PROSE_WORD.match(text, begin)
        if word is None or not looks_chosen(word[0]):
            return []
    key = text[text.rfind("\n", 0, start) + 1 : match.start("join")]
    if match["join"].strip() == "=" and found.kind is LabelKind.PASSWORD and _PROPERTY.fullmatch(key[-80:].strip()):
        rest = _REST.match(text, begin)
        if rest is not None and accepts(found, rest[0]):
            return [RedactedSpan(begin, rest.end(), RULES[found.kind])]
    if match["join"][:2] in ("',", '",') and not _CALL.search(text, 0, start - len(left)):
        return []
    if begin >= len(text) or text[begin] == "\n":
        return _take_next_line(text, begin, found)
    at_line_start = not text[max(0, start - len(left) - 8) : start - len(left)].strip(" \t") or read
    found = found._replace(
        is_setting=bool(_SETTING.fullmatch(name.strip(" \t\"'")))
        and match["join"][:1] not in " \t(,"
        and _SOLE.match(text, begin) is not None
    )
    spans = _take_value(text, begin, found, match["join"], whole=at_line_start and not name.strip().count("  "))
    # On a screen the quotes go too: they may be letters that were misread.
    return [_with_quotes(text, span) for span in spans] if read else spans


def _with_quotes(text: str, span: RedactedSpan) -> RedactedSpan:
    quotes = text[span.start - 1 : span.start] in ("'", '"') and text[span.end : span.end + 1] in ("'", '"')
    return RedactedSpan(span.start - quotes, span.end + quotes, span.rule)


def _take_value(text: str, begin: int, found: Label, join: str, *, whole: bool) -> list[RedactedSpan]:
    """Return the value that begins at `begin`; `whole`: nothing else may stand on its line."""
    rule = RULES[found.kind]
    quoted = _QUOTED.match(text, begin)
    if quoted is not None:
        group = "value" if quoted["value"] is not None else "rest"
        value = quoted[group]
        return (
            [RedactedSpan(*quoted.span(group), rule)]
            if accepts(found, value, quoted=True) and value not in (")", "(")
            else []
        )
    if join.endswith(">") and join != "=>":
        close = text.find("</", begin)
        return [RedactedSpan(begin, close, rule)] if accepts(found, text[begin:close]) else []
    line_end = text.find("\n", begin)
    line_end = len(text) if line_end < 0 else line_end
    tab = text.find("\t", begin, line_end)
    line_end = line_end if tab < 0 else tab
    end = find_end(found, text, begin, line_end)
    if end > begin:
        spans = [RedactedSpan(begin, end, rule), *_find_further(text, found, end, line_end)]
        return spans if accepts(found, text[spans[0].start : spans[0].end]) else []
    groups = _GROUPS.match(text, begin, line_end) if found.kind is LabelKind.KEY else None
    if groups is not None and accepts(found, groups[0]):
        return [RedactedSpan(begin, groups.end(), rule)]
    if found.kind in (LabelKind.PHRASE, LabelKind.SEED):
        match = _TO_END.match(text, begin, line_end)
    else:
        match = _WORD.match(text, begin, line_end)
    if match is None or not accepts(found, match[0]):
        return []
    end = match.end()
    if found.kind is LabelKind.KEY and (host := _AT_HOST.search(match[0])) and "//" in text[max(0, begin - 40) : begin]:
        return [RedactedSpan(begin, begin + host.start(), rule)]
    if found.kind is LabelKind.KEY and '"' in match[0]:
        return [RedactedSpan(begin, begin + match[0].index('"'), rule)]
    rest = text[end:line_end].split()
    if looks_chosen(match[0]) and (match[0][-1] in ",;" or rest[:1] == [";"]):
        rest = []  # the next words are about something else
    if (
        found.kind is LabelKind.PASSWORD
        and whole
        and "=" not in join
        and 0 < len(rest) <= 4
        and not rest[0].startswith(("#", "|", "&", "/", "(", "[", "-"))
    ):
        end = line_end
    end -= len(match[0]) - len(match[0].rstrip(",;")) if end == match.end() and len(match[0].rstrip(",;")) else 0
    return [RedactedSpan(begin, end, rule)]


def _find_further(text: str, found: Label, end: int, limit: int) -> Iterator[RedactedSpan]:
    """Yield the codes that follow the one that ended at `end`, where the label names several."""
    while found.kind is LabelKind.CODE and found.term.endswith("s") and (more := _MORE.match(text, end, limit)):
        begin, end = more.end(), find_end(found, text, more.end(), limit)
        yield RedactedSpan(begin, end, RULES[found.kind])


def _take_next_line(text: str, begin: int, found: Label) -> list[RedactedSpan]:
    match = _BELOW.match(text, begin)
    if match is None:
        return []
    value = match["value"]
    strong = accepts(found, value) and (found.kind not in (LabelKind.PASSWORD, LabelKind.PHRASE) or looks_chosen(value))
    if "REDACTED_" in value or ":" in value[-1:] or "=" in value[1:-2] or not strong:
        return []
    return [RedactedSpan(*match.span("value"), RULES[found.kind])]


def _find_option(text: str, left: str, start: int, _end: int, read: bool) -> list[RedactedSpan]:
    if not _OPTION.search(text[max(0, start - 32) : start]):
        return []
    match = _OPTION_VALUE.match(text, start)
    if match is None:
        return []
    found = find_label(left + text[start : match.start("word")])
    word = match["word"]
    if found is None or word.casefold() in _NO_OPTION_VALUES:
        return []
    # After an option stands its value: a token there need not look random.
    found = found._replace(is_bare=found.is_bare and not _MIXED.fullmatch(word))
    if not accepts(found, word) or _OF_KEYS.search(text, max(0, start - 32), match.start("word")):
        return []
    pair = _PAIR.match(word) if found.term == "auth" else None
    if pair is not None:
        return [RedactedSpan(match.start("word") + pair.end(), match.end("word"), Rule.PASSWORD)]
    quoted = _QUOTED.match(text, match.start("word"))
    if quoted is not None:
        return [RedactedSpan(*quoted.span("value" if quoted["value"] is not None else "rest"), RULES[found.kind])]
    return [RedactedSpan(*match.span("word"), RULES[found.kind])]


def _find_stated(text: str, left: str, start: int, _end: int, read: bool) -> list[RedactedSpan]:
    """`the PIN is …`"""
    match = _IS.match(text, start)
    if match is None:
        return []
    found = find_label(left + text[start : match.start("verb")])
    return _take_prose_value(text, match.end(), found, verb=match["verb"] in _PLAIN_VERBS)


def _find_adjacent(text: str, left: str, start: int, end: int, read: bool) -> list[RedactedSpan]:
    """`typed the password …`, `cvc …`, `SSN …`"""
    match = _NEXT.match(text, start)
    if match is None:
        return []
    found = find_label(left + text[start : match.start("gap")])
    if found is None:
        return _find_adjacent_later(text, left, match)
    # `(password raspberry)`
    alone = text[start - len(left) - 1 : start - len(left)] == "(" and _CLOSED.match(text, match.end()) is not None
    return _take_prose_value(text, match.end(), found, verb=alone) or _find_adjacent_later(text, left, match)


def _find_adjacent_later(text: str, left: str, match: re.Match[str]) -> list[RedactedSpan]:
    """Find the value after a label with more words: `passport no. …`, `N° de sécurité sociale …`."""
    longer = match.end()
    for _ in range(3):
        more = _ONE_MORE.match(text, longer)
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


def _is_plain_password(found: Label, text: str, word: re.Match[str]) -> bool:
    """Return whether a plain word is the password: it ends its sentence, or is words joined by hyphens."""
    bare = word[0].strip(".,;:!?)\"'")
    if found.kind is LabelKind.PASSWORD and _JOINED.fullmatch(bare):
        return True
    after = text[word.end() : word.end() + 1]
    ends = after in ("", "\n") or word[0][-1] in ".,;!)"
    return (
        found.kind is LabelKind.PASSWORD
        and ends
        and _PLAIN_PASSWORD.fullmatch(bare) is not None
        and bare.casefold() not in label_words("no_values")
        and bare.casefold() not in label_words("of_passwords")
    )


_JOINED = re.compile(
    r"(?!(?:up|out|end|one|two|state|well|case|not|day|peer|step|non|self|so|as|point|word|face|first|last)-)"
    r"[a-z]{2,14}(?:-[a-z]{2,14}){2,7}"
)
_PLAIN_PASSWORD = re.compile(
    r"(?!\w+(?:ed|ing|ive|able|ible|ful|ous|less|ert|ig|lich|bar|é|ée|ado|ada|ido|ida|ato|ata)$)\w{5,32}"
)


def _are_alike(groups: Sequence[str]) -> bool:
    """Return whether the groups form a key rather than words and a number: all of one length, or most with digits."""
    with_digits = sum(any(c.isdigit() for c in group) for group in groups)
    return with_digits > 0 and (len({*map(len, groups[:-1])}) == 1 < with_digits or 2 * with_digits > len(groups))


def _take_prose_value(text: str, begin: int, found: Label | None, *, verb: bool = False) -> list[RedactedSpan]:
    if found is None or text.startswith("[REDACTED_", begin):
        return []
    quoted = _QUOTED.match(text, begin)
    if quoted is not None and found.kind in (LabelKind.PASSWORD, LabelKind.PHRASE, LabelKind.KEY):
        group = "value" if quoted["value"] is not None else "rest"
        value = quoted[group]
        return [RedactedSpan(*quoted.span(group), RULES[found.kind])] if accepts(found, value, quoted=True) else []
    begin += text[begin : begin + 1] in ("'", '"', "`")
    line_end = text.find("\n", begin)
    line_end = len(text) if line_end < 0 else line_end
    end = find_end(found, text, begin, line_end)
    if end > begin and accepts_in_prose(found, text[begin:end]):
        return [RedactedSpan(begin, end, RULES[found.kind]), *_find_further(text, found, end, line_end)]
    groups = _GROUPS.match(text, begin, line_end) if found.kind is LabelKind.KEY else None
    if groups is not None and _are_alike(groups[0].split()) and accepts(found, groups[0]):
        return [RedactedSpan(begin, groups.end(), RULES[found.kind])]
    match = _PROSE_WORD.match(text, begin)
    if match is None or not (accepts_in_prose(found, match[0]) or (verb and _is_plain_password(found, text, match))):
        return []
    kept = match[0].rstrip(".,;:?)\"'")
    return [RedactedSpan(begin, begin + len(kept), RULES[found.kind])] if kept else []


# ---- before their labels -------------------------------------------------------------------------------------------

_CODE_FIRST = re.compile(
    r"(?<![\w-])(?:[A-Z]{1,3}-)?(?P<value>[0-9]{2,4}(?:[ -]?[0-9]{2,4}){1,3}|[A-Z0-9]{4,10})[ ](?:is|ist|est|es)[ ]"
    r"(?:your|the|ihr|dein|votre|su|tu)[ ](?:[\w’'-]+[ ]){0,5}?"
    r"(?i:code|passcode|otp|pin|password|tan|codigo|código|passwort)\b"
)
_CODE_TO_USE = re.compile(
    r"(?:code|otp|pin)[ :]{1,3}(?P<value>(?=[a-z]*[0-9])[a-z0-9]{4,10}|[0-9]{2,3}(?:[ -][0-9]{2,3}){1,3})"
    r"[ ](?:to|for|as)[ ](?:\w+[ ]){0,2}?(?:sign|log|verif|confirm|authenticat|access|complete|finish|reset|continue)"
)
_USED = re.compile(r"\b(?:use|enter|type|with)[ ](?:the[ ])?(?:following[ ])?$")
_PASSWORDS = re.compile(r"pass(?:word|phrase|code)")
_AS_PASSWORD = re.compile(
    r"(?<!\S)(?P<value>[^\s]{4,100})[ ](?:as|in|into|for)[ ]"
    r"(?:the|your|a|his|her|my|its|their)?[ ]?(?:[\w-]+[ ])?(?i:password|passphrase|passcode)\b"
)
_SAID_TOGETHER = re.compile(
    r"(?P<label>密码|密碼|口令|验证码|驗證碼|安全码|身份证号码?|パスワード|認証コード|確認コード|暗証番号|비밀번호|인증번호)"
    r"(?:是|为|為|は|은|는|이|가)?[ :]{0,2}(?!\[RED)[\[【「(]?(?P<value>(?![\[:=(])[!-+\x2d-:<-Z^-~]{4,64})"
)
_TITLE = re.compile(r"^[^\n]{1,200}$")


def _find_before_label(text: str, low: str) -> Iterator[RedactedSpan]:
    for match in _SAID_TOGETHER.finditer(text) if not text.isascii() else ():
        found = find_label(match["label"])
        if found is not None and (found.kind is LabelKind.PASSWORD or accepts(found, match["value"])):
            yield RedactedSpan(*match.span("value"), RULES[found.kind])
    yield from _find_codes(text, low)
    yield from find_codes_in_sentences(text, low)
    for needle in _PASSWORDS.finditer(low):
        for match in _AS_PASSWORD.finditer(text, max(0, needle.start() - 140), needle.end()):
            if looks_chosen(match["value"]):
                start = match.start("value")
                yield RedactedSpan(start, start + len(match["value"].rstrip(".,;:?)\"'")), Rule.PASSWORD)
    if " - " in text and _TITLE.match(text):
        yield from _find_in_title(text)


def _find_codes(text: str, low: str) -> Iterator[RedactedSpan]:
    if any(
        words in low
        for words in (" is your ", " is the ", " ist ihr ", " ist dein ", " est votre ", " es su ", " es tu ")
    ):
        for match in _CODE_FIRST.finditer(text):
            if any(c.isdigit() for c in match["value"]):
                yield RedactedSpan(*match.span("value"), Rule.CODE)
    for match in _CODE_TO_USE.finditer(low):
        if _USED.search(low, max(0, match.start() - 32), match.start()):
            yield RedactedSpan(*match.span("value"), Rule.CODE)


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
