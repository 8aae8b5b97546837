"""Codes in sentences: `use 482913 to sign in`, `the door code is 4471#`, `381920 ist dein Bestätigungscode`.

A number counts by its context: the name of a code with words that lead from it to the number, or the number's purpose.
`labels.toml` holds the words. Every search begins at one of a few words and is bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from acud.features.redaction.labels import label_words
from acud.features.redaction.spans import RedactedSpan, Rule

_NEEDLE = re.compile(
    r"cod(?:es?|igos?|ici|ice)(?![a-z])|códigos?(?!\w)|kod(?:en|et|e|y|u|unuz|un)?(?!\w)|kód(?:ja|od|om|u|y|em)?(?!\w)|koodi(?!\w)|код(?:ы|"
    r"а|ом)?(?!\w)"
    r"|(?:pins?(?<!\wpin)(?<!\wpins)|otp(?<!\wotp)|tan(?<!\wtan)|mtan(?<!\wmtan)|puk(?<!\wpuk))(?!\w)"
    r"|combination(?!\w)|kombination(?!\w)"
)
_WORD_START = re.compile(r"[\w-]*$")
_WORD_BEFORE = re.compile(r"(\w+)\W{1,2}$")
_WORD_AFTER = re.compile(r"\W{1,2}(\w+)")

_VALUE = re.compile(
    r"(?<![\w.:/+,-])(?<!#)(?:[A-Za-z]{1,3}-)?(?P<value>(?:"
    r"[0-9]{3}[ -][0-9]{3}|[0-9]{2}[ -][0-9]{2}[ -][0-9]{2}|[0-9]{4}[ -][0-9]{4}|[0-9]{1,2}-[0-9]{1,2}-[0-9]{1,2}"
    r"|[0-9](?:-[0-9]){3,5}|[0-9]{2}(?:[ ][0-9]{1,2}){2}"
    r"|[0-9]{4,10}|[0-9]{3}(?=[#*])|(?=[A-Z]{0,9}[0-9])[A-Z0-9]{4,10}(?:-[A-Z0-9]{3,8}){0,5}|"
    r"(?=[a-z]{0,7}[0-9])[a-z0-9]{6,8}"
    r")[#*]?)(?![\w/:%-]|[.,][0-9])"
)
_IS = (
    r"(?:[ ](?:is|are|was|lautet|lauten|ist|sind|war|est|c['’]est|es|é|è|jest|to|är|er|on|это|of|shows|reads|shown|"
    r"je|it['’]s|its|that['’]s|wäre)|"
    r"[ ]?(?:=|:|-|–|—|->|→))"
)
_SUM = (
    r"[ ](?:(?:[€$£¥₹]|(?:eur|usd|gbp|chf|pln|inr|rs)[. ])[0-9][0-9.,]{0,12}"
    r"|[0-9][0-9.,]{0,12}[ ]?"
    r"(?:eur|euros?|€|usd|\$|gbp|£|chf|pln|zł|sek|nok|dkk|kr|czk|kč|huf|ft|try|tl|rub|руб|inr)(?!\w))"
)
_TO_VALUE = re.compile(
    rf"(?:[ ](?![^ ]*[0-9])[^\s.!?;]{{1,24}}|{_SUM}){{0,9}}?{_IS}[ :]{{1,2}}"
    r"(?:(?:now|still|le|la|el|il|der|die|jetzt|nun|jetzt|ahora|ora|nu|nog)[ :]{1,2})?[\"'\[(«]?|[ ][\"'\[(«]?"
)
"""The words from the name of a code to its value."""
_FROM_VALUE = re.compile(
    r"[\"'\])»]?[ ](?:is|ist|lautet|est|es|è|é|jest|to|är|er|on|as|als|come|como|comme|som|jako)[ ]"
    r"(?:[^\s.!?;:0-9]{1,24}[ ]){0,5}?"
)
_NOT_ITS_UNIT = re.compile(
    r"[ ][^.!?\n]{0,30}?(?:%|percent|prozent|\boff\b|discount|rabatt|remise|descuento|korting|free shipping)"
    r"|[ ](?:lines?|bytes?|characters?|chars|files?|times|items?|x|zeilen|lignes|of|von|de)\b"
)
_OF_CARD = re.compile(
    r"(?:codes?|numbers?|digits|nummer|ziffern|zahlen|chiffres|cryptogramme|c[óo]digo|d[íi]gitos|n[úu]meros|cijfers)[ ]"
    r"(?:on|from|at|auf|au|al|del?|en|op)[ ](?:the[ ]|der[ ]|de[ ]|el[ ]|la[ ])?"
    r"(?:back|front|reverse|rear|rückseite|vorderseite|dos|verso|dorso|reverso|atrás|achterkant)"
    r"(?:[ ](?:of|der|de|del|van)[ ][^\s.!?]{1,12}(?:[ ]card)?)?[ ]?"
    r"(?:is|are|ist|sind|est|sont|es|son|zijn|:|=|-)?[ ]{0,2}"
    r"(?P<value>[0-9]{3,4})(?![\w/:-]|[.,][0-9])"
)
"""The code of a card, found by where it is printed."""
_SIDES = (
    *(" the back", " the front", " the rear", "on back", "on front", "rückseite", "vorderseite", " dos", " verso"),
    *(" dorso", "reverso", " atrás", "achterkant"),
)
_MAX_GAP = 90
_OWN = r"your|ihre?|deine?|votre|ton|tu|tus|su|tuo|suo|seu|sua|je|jouw|uw|din|ditt|twój|ваш|твой|kodunuz|senin"
_ABOUT = re.compile(
    rf"(?<!\w)(?:{_OWN})(?!\w)|expire|valid|verif|sign(?:ing)?[ -]?in|log(?:ging)?[ -]?[io]n|share|authent|one-time|"
    r"confirm|security|request|door|gate|garage|keypad|alarm|safe\b|lock|entrance|lobby|wi-?fi|entry|access|"
    r"minute|gültig|läuft ab|"
    r"\bsms\b|e-?mail|text[ ]message|zugang|tür|haus|bestätig|anmeld|porte|portail|entrée|immeuble|connexion|connect|"
    r"puerta|portal|acceso|entrar|"
    r"porta|portone|cancello|scad|access[oi]|deur|poort|inlog|eenmalig|dörr|engång|jednoraz|guard|2-step|two-|2fa|mfa|anyone|niemand|"
    r"schranke|barrier|aufzug|keller|briefkasten|packstation|wohnung|toilet|\bwc\b|locker|spind|ověř|přihl|belép|egyszer|hitel|verific|sprawdz|logowan|drzwi|bram|войти|вход|двер|подтвер|никому|kapı|giriş"
)

_USE = re.compile(
    r"(?<!\w)(?:use|enter|type|input|submit|key in|punch in|reply(?:[ ]with)?|disarm[ ]with|gib|gebe?n[ ]sie|"
    r"nutzen?[ ]sie|nutze|verwende|verwenden[ ]sie|tippe|saisis(?:sez|s)?|entrez|utilisez?|tapez|composez|introduzca|"
    r"introduce|ingresa|ingrese|usa|inserisci|digita|digite|insira|voer|gebruik|ange|wpisz|użyj|введите|используйте)"
    r"[ ](?:(?:the|this|code|pin|den|die|le|el|il|o|de|kod|код|koden|código|codigo|codice)[ ]){0,2}$"
)
_PURPOSE = re.compile(
    r"[ ](?:to[ ](?:sign[ -]?[io]n|log[ -]?[io]n|verify|confirm|complete|reset|access|unlock|authenticate|finish|"
    r"continue|activate|validate|approve|authori[sz]e|pay|release|register|link|pair|"
    r"get[ ]in|open)\b|as[ ](?:your|the|a)[ ][^.!?\n]{0,40}?(?:code|pin|otp|tan|pass)|(?:when|"
    r"if)[ ][^.!?\n]{0,60}(?:pin|code|asked)|"
    r"(?:at|on)[ ]the[ ](?:door|gate|keypad|machine|terminal|entrance)|um[ ][^.!?\n]{0,40}(?:anmeld|bestätig|zu[ ])|"
    r"(?:zum|zur)[ ](?:anmeld|einlogg|bestätig|login|verif)|als[ ]|ein\b|pour[ ](?:vous[ ]|te[ ]|t['’]?)?"
    r"(?:connecter|confirmer|valider|vérifier|activer|accéder|entrer|ouvrir)|comme[ ]|para[ ](?:iniciar|confirmar|"
    r"verificar|acceder|entrar|validar|acessar|abrir)|como[ ]|per[ ](?:confermare|accedere|verificare|entrare|aprire)|"
    r"come[ ]|om[ ](?:in|te)[ ]|för[ ]att[ ]|aby[ ]|чтобы[ ]|для[ ](?:входа|подтверждения)|"
    r"within[ ][0-9]+[ ](?:second|minute))"
)
_OPENS = re.compile(
    r"(?:opens?|unlocks?|öffnet|ouvre|abre|apre)(?:[ ][^\s.!?]{1,20}){0,3}?[ ](?:with|mit|avec|con|com)[ ]$"
)
_PLACE_TELLS = re.compile(
    r"(?:keypad|tastenfeld|lock|then|dann|puis|press|pad|safe|tresor|box|kasten|tor[ ][0-9])[ :]{1,2}$"
)
_PLACE = re.compile(
    r"(?<!\w)(?:schlüssel|tür|haus|hof|keller|garten|eingangs|wohnungs|seiten|hinter)?(?:kasten|safe|tresor|keypad|lock(?:er|box)?|schloss|door|gate|garage|alarm|entrance|"
    r"lobby|tor|tür|porte|portail|puerta|porta|deur)(?!\w)"
)


def find_codes_in_sentences(text: str, low: str) -> Iterator[RedactedSpan]:
    """Yield the codes in sentences of `text`; `low` is the text in lower case, each character in its place."""
    for needle in _NEEDLE.finditer(low):
        word = _WORD_START.search(low, max(0, needle.start() - 24), needle.start())
        begins = word.start() if word is not None else needle.start()
        if _is_secret_code(low, begins, needle.end()):
            yield from _find_after(text, low, needle.end())
            yield from _find_before(text, low, begins)
            yield from _find_below(text, low, needle.end())
    for match in _OF_CARD.finditer(low) if any(side in low for side in _SIDES) else ():
        yield RedactedSpan(*match.span("value"), Rule.CODE)
    for verb in _MAY_SAY.finditer(low):
        line_end = low.find("\n", verb.start())
        limit = verb.start() + _REACH if line_end < 0 else min(verb.start() + _REACH, line_end)
        value = _VALUE.search(text, max(0, verb.start() - 8 * verb[0][0].isdigit()), limit + 1)
        if value is not None and _is_for_entry(low, *value.span("value"), value["value"]):
            yield RedactedSpan(*value.span("value"), Rule.CODE)


_REACH = 64


def _is_for_entry(low: str, start: int, end: int, shown: str) -> bool:
    """Return whether the sentence asks to enter low[start:end], or it stands beside what it opens."""
    before = low[max(0, start - 60) : start]
    place = before.rpartition("\n")[2]
    used = _USE.search(before) is not None and _PURPOSE.match(low, end) is not None
    placed = (shown[-1] in "#*" or _PLACE_TELLS.search(place)) and _PLACE.search(place)
    return used or bool(placed) or _OPENS.search(before) is not None


_MAY_SAY = re.compile(
    r"(?:use|enter|type|input|submit|key in|punch|reply|disarm|gib|geben?|nutzen?|verwenden?|tippe|sais|entrez|"
    r"utilis|tapez|composez|introdu|ingres|usa|inserisci|digit|insira|voer|gebruik|ange|wpisz|użyj|введ|использ)"
    r"|opens?[ ]|unlocks?[ ]|öffnet|ouvre|abre|apre|[0-9][#*]|keypad|tastenfeld|lock[ :]|then[ ]|dann[ ]|puis[ ]"
    r"|press[ ]|pad[ :]|safe[ :]|tresor|box[ :]|kasten|tor[ ][0-9]"
)


def _is_secret_code(low: str, start: int, end: int) -> bool:
    """Return whether the word low[start:end] names a code that gives access, by itself or by the words around it."""
    word = low[start:end]
    if word in label_words("other_codes"):
        return False
    others = label_words("code_topics")
    before, after = _WORD_BEFORE.search(low, max(0, start - 30), start), _WORD_AFTER.match(low, end, end + 30)
    if (before is not None and before[1] in others) or (after is not None and after[1] in others):
        return False
    if any(word.startswith(topic) and len(word) - len(topic) < 6 for topic in others if len(topic) > 3):
        return False
    if word in label_words("plain_codes"):
        line = low.rfind("\n", 0, start) + 1
        stop = low.find("\n", end)
        begin, stop = max(line, start - 80), min(end + 80, stop if stop >= 0 else len(low))
        return _ABOUT.search(low, begin, stop) is not None
    return True


def _find_after(text: str, low: str, end: int) -> Iterator[RedactedSpan]:
    lead = _TO_VALUE.match(low, end, end + _MAX_GAP)
    while lead is not None:
        value = _VALUE.match(text, lead.end())
        if value is not None:
            if any(c.isdigit() for c in value["value"]) and not _NOT_ITS_UNIT.match(low, value.end()):
                yield RedactedSpan(*value.span("value"), Rule.CODE)
            return
        # The first verb may not be the one that leads to the value: `the code to the door is 4471`.
        further = _TO_VALUE.match(low, lead.end() - 1, end + _MAX_GAP) if low[lead.end() - 1] == " " else None
        lead = further if further is not None and further.end() > lead.end() else None


_NEXT_LINE = re.compile(
    r"[^\n0-9]{0,80}\n[ \t]*(?:\n[ \t]*)?(?P<value>[0-9]{4,8}"
    r"|[0-9]{3}[ -][0-9]{3}|[0-9]{4}[ -][0-9]{4}|[0-9](?:[ ][0-9]){3,7}"
    r"|(?=[A-Z]{0,7}[0-9])[A-Z0-9]{5,8})[ \t]*(?=\n|$)"
)


def _find_below(text: str, low: str, end: int) -> Iterator[RedactedSpan]:
    """Yield the code that has a line to itself, below its announcement: `Here is your code:`."""
    value = _NEXT_LINE.match(text, end)
    if value is not None:
        yield RedactedSpan(*value.span("value"), Rule.CODE)


def _find_before(text: str, low: str, start: int) -> Iterator[RedactedSpan]:
    line = max(low.rfind("\n", 0, start) + 1, start - _MAX_GAP)
    for value in _VALUE.finditer(text, line, start):
        if _FROM_VALUE.fullmatch(low, value.end(), start):
            yield RedactedSpan(*value.span("value"), Rule.CODE)
