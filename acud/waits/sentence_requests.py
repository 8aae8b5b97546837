"""What a sentence says to the one who waits, beside its condition: openings such as `could you tell me as soon as`, and
closings such as `, thanks` or `-> wake me up`.

All words here are a closed vocabulary, but for those of a reason (`because I need to leave`) and of what was before
(`I started it an hour ago`). Words that it does not have stay in the condition, which is then none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple


class Asked(NamedTuple):
    """What may be the condition of a sentence. `ends`: it is waited for that it no longer holds."""

    condition: str
    ends: bool = False


def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


# ---- vocabulary ----------------------------------------------------------------------------------------------------

_PLEASE = r"(?:please|pls|plz|kindly|just|simply)"
_THANKS = r"(?:thanks|thank you|thx|ty|cheers)(?: (?:very much|so much|a lot|a bunch|in advance))?"
_GRATEFUL = (
    r"(?:many thanks|much appreciated|that would be (?:great|nice|good|lovely|helpful)|(?:will|would|could) you)"
)
_GREETING = (
    rf"(?:(?:hey|hi|hello)(?: there)?|hiya|yo|good (?:morning|afternoon|evening)|ok|okay|alright|so|and|also|now|listen"
    rf"|brb|afk|be right back|sorry|sorry to bother you(?:,? but)?|{_PLEASE}|{_THANKS}|do me a favou?r|if you "
    rf"(?:can|could|would))"
)
_AWAY = (
    r"(?:I (?:am|will be) (?:just |now )?(?:busy|back|in|on|at|not at|off|away|going|heading|stepping|popping"
    r"|leaving|out"
    r"|getting|grabbing|making|taking|having)"
    r"|(?:just )?(?:off|gone|going|heading|stepping|popping|getting|grabbing) (?:to|for|a|some))"
    r"(?: (?:to|out|off|away|for|a|an|the|some|my|of|get|grab|make|fetch|have|take|go|be|eat|sleep"
    r"|coffee|tea|lunch|dinner|breakfast|break|walk|shower|nap|meeting|drink|snack|cup|quick|short|bit|while|moment"
    r"|minute|few|minutes|from|keyboard|desk|bed|home|kitchen|now|in|on|call|phone|garden|office|train|shop|gym"
    r"|soon|later))*(?=[,;.:]| so | and )"
)
"""Where the one who asks is meanwhile."""
_FREE = (
    r"(?:(?:(?!(?:left|right|top|bottom|upper|lower|first|second|third|both|two|three|all|each|every|only|other|again"
    r"|not|no|every|time|times|often|always|never|twice|more|still|if|unless|when|once|until|before|after|while"
    r"|whenever|within|pane|panel|window|dialog|tab|screen|monitor"
    r"|desktop|button|red|green|blue|see|watch|look|read|know|hear|wait|click|press|open|close|check)(?![\w-]))"
    r"[A-Za-z'-]+)(?: |(?=[,;.:]|$))){1,14}"
)
"""Words of a reason or of what was done before: none that could tell more of the condition."""
_BACKGROUND = (
    r"(?:I (?:have )?(?:just )?(?:started|launched|kicked off|begun|began|queued|submitted|set up|went|had to|want to"
    r"|need to|have to|can not|do not want to|do not have time to)"
    r"|(?:my|the) (?!(?:left|right|upper|lower|top|bottom|first|second|third|other|only)\b)(?:[a-z]+ ){1,2}(?:is"
    r"|are|has"
    rf"|takes|needs|will|runs)) {_FREE}(?=[,;.] (?!(?:when|if|once|until|while)\b)(?!.*\b(?:it|there|they|them"
    rf"|that)\b))"
)
"""What the one who asks has done, or wants: nothing that is to be seen."""
_REASON = (
    rf"(?:because|cause|cuz|cos|so|so that) I (?:can|want to|need to|have to|must|do not want to|will"
    rf"|am going to) {_FREE}"
    rf"|I (?:want|need|have) to {_FREE}"
    rf"|(?<=[,;:.] )I do not want to (?:miss|forget|lose|waste) {_FREE}"
)
_MODAL = (
    rf"(?:(?:could|can|would|will) (?:you|ya|u)(?: (?:be so kind as to|{_PLEASE}))*"
    r"|(?:I|we)(?: (?:just|only|really))? (?:want|need|have|would like|would love)(?: you)? to"
    r"|(?:is it|would it be) possible(?: for you)? to|(?:you|we|I) (?:can|may|could|should|must)"
    r"|any chance you (?:could|can)|be (?:so kind|a dear|so good) (?:and|as to|to)|may I ask you to|(?:make"
    r"|be) sure (?:to"
    r"|you)|remember to|do not forget to"
    r"|(?:I would appreciate it|I would be (?:grateful|glad|happy|thankful)|(?:it )?would be (?:great|nice|good|lovely"
    r"|helpful)) if you (?:could|would))"
)
_A_SIGN = (
    r"(?:an? |the )?(?:quick |little |short )?(?:shout|ping|heads[- ]?up|nudge|nod|buzz|call|signal|sign|yell|hint|note"
    r"|word|holler|ring|tap|beep|message|notice|notification|line|poke|wave)"
)
_WANT_SIGN = (
    r"(?:(?:(?:I|we) )?(?:want|need|would like|would love|could use|would appreciate|would be (?:grateful|glad|happy"
    rf"|thankful) for)|(?:can|could|may) (?:I|we) (?:get|have)) {_A_SIGN}"
)
_TELL = (
    r"(?:(?:tell|inform|warn|remind|nudge|buzz|call|message|signal|text|page|phone|ring|alarm) (?:me|us)(?: up)?"
    r"|(?:notify|alert|ping"
    r"|poke)(?: me| us)?|let (?:me|us) know|lemme know|lmk"
    rf"|wake(?: me| us)?(?: up)?|(?:give|send|drop|shoot|show)(?: me| us)? {_A_SIGN}|hit (?:me|us) up"
    r"|(?:come (?:and )?)?(?:get|fetch) (?:me|us)|(?:get|catch) my attention|(?:sound|raise) (?:the|an) alarm"
    r"|make (?:a|some) noise|say something|get back to (?:me|us)|keep (?:me|us) posted|trigger|say so|speak up|(?:shout"
    rf"|yell|beep|holler)(?: at me)?"
    r"|(?:come|get|report) back(?: to me)?|(?:report|return)(?: to me)?|continue|go on|go ahead|carry"
    r" on|proceed|resume|move on"
    r"|know|hear (?:from you|about it)|(?:be|get) (?:told|notified|informed|alerted|pinged|woken(?: up)?))"
)
_TELLING = (
    r"would you mind (?:telling me|letting me know|notifying me|alerting me|pinging me|waking"
    r" me(?: up)?|waiting)"
)
_WAIT = (
    r"(?:(?:wait|hold on|hold off|hold it|hang on|hang tight|sit tight|stand by|pause|stay put|sleep"
    r"|do nothing|idle|block|rest|relax"
    r"|leave me alone|waiting|stick around|hold your horses|keep still|poll|keep your eyes peeled|stare at the screen)"
    r"|keep (?:on )?(?:waiting|looking|watching|checking|monitoring)|(?:I am|we are) waiting)"
)
_SCREEN = r"(?:the|my|this|that) (?:whole |entire )?(?:screen|display|desktop)"
_WATCH = r"(?:watch|monitor|observe|look at|check(?: on)?|keep (?:an eye|your eyes|one eye) on|keep (?:on )?watching)"
_WATCH_ALL = (
    rf"(?:{_WATCH} (?:{_SCREEN}|things|this|it|that|everything)|watch|check|look(?= for )"
    rf"|monitor(?= for )|keep an eye out|watch out|look out)"
)
_HOW = (
    r"(?: (?:back|here|for me|about it|closely|right away|straight away|immediately|directly|patiently|quietly"
    r"|there|right there|right here|asap|at once|please|pls|then))*"
)
_ASK = rf"(?:(?:{_MODAL} )?(?:{_PLEASE},? )*(?:{_TELL}|{_WATCH_ALL}|{_WAIT})|{_TELLING}|{_WANT_SIGN}){_HOW}"
_DO_NOT = (
    rf"(?:{_PLEASE} )?do not (?:(?:come back|continue|go on|return|proceed|move on|carry on|do anything"
    rf"(?: else)?|stop waiting|move|touch anything)"
    r"|(?:wake|bother|disturb|ping|tell) me(?: up)?)"
)
_AND = r"(?:[,;:.!]| -| –| —){0,3}(?: (?:and then|and|so|then))?"
_WHEN = (
    r"(?:(?:only |right |exactly )?(?:until after|until|till|'til|when|whenever|once|as soon as|after"
    r"|if and when|if|whether"
    r"|in case)|(?:at|on|upon)(?= (?:the next|the first|any|a) change)|(?:for )?the (?:very )?(?:moment|minute"
    r"|instant)(?: that| when)?|the (?:very second|second that)|should)"
)
_GOES_ON = (
    r"(?:continue|go on|go ahead|carry on|proceed|resume|move on|start|come back|take over|take a look|have a look"
    r"|do (?:the next step|the rest|anything(?: else)?)|get (?:going|back to work|on with it))"
)
_GOING_ON = r"(?:continuing|going on|proceeding|moving on|carrying on|doing anything(?: else)?|resuming)"

# ---- openings ------------------------------------------------------------------------------------------------------

_PIECE = _words(rf"(?:{_AWAY}|{_ASK}|{_BACKGROUND}|{_GREETING}){_AND} ")
_OPENED = _words(
    rf"(?:{_WHEN}(?: (?:you (?:see|notice|find)|it happens) that)?|(?<=\w )the second|(?P<ends>as long as|while)"
    rf"|(?P<thing>for|await)) "
)
_GREETED = _words(rf"(?:{_GREETING}|{_AWAY}){_AND} ")
_WAIT_THE = _words(r"(?<=\bwait )(?:the |a |<)")
_NOT_BEFORE = _words(rf"{_DO_NOT} (?:(?P<ends>as long as|while)|before|until|till) ")
_WATCHED = _words(rf"(?:{_MODAL} )?(?:{_PLEASE} )*(?:(?:watch|look|monitor|keep an eye) (?:out )?for|{_WATCH}) ")
_ONE = _words(r"(?:there is (?:one|it)|(?:you|I|we) (?:can )?(?:see|find|spot) (?:it|one)|(?:it|one) is there)")
_IT = _words(r"(?:it|that|this|one) ")
_ASKED_WHEN = _words(rf"(?:{_ASK}) {_WHEN} ")
_THAT = _words(r"(?:it|(?:that|this)(?: (?:text|message|notice|word|window|button))?) ")
_DOES = _words(r"(?:it|that|this) (?:does|is|has)")
_NAMED = r"(?:the |an? |any )?(?:[a-z]+ ){0,3}<\d+>(?: (?!now\b|right\b|at\b|on\b)[a-z]+)?"
_STATED = tuple(
    _words(
        rf"(?:{_GREETING},? )*{said}(?: on {_SCREEN}| now| right now"
        rf"| at the moment)*[,;.] (?:{_GREETING},? )*(?P<ask>.+)"
    )
    for said in (
        r"(?:it|the screen|the display|(?!(?:some|any|every)(?:one|body)\b)[a-z]{3,}) (?:still |currently |now )?"
        rf"(?:keeps (?:on )?(?:saying|showing)|says|shows) (?P<it>{_NAMED})",
        rf"there is (?:still |currently |now )?(?P<it>{_NAMED})",
        rf"(?P<it>{_NAMED}) is (?:still |currently |now )?(?:visible|shown|on|open|disabled|gr[ea]yed out"
        rf"|(?:un)?ticked)",
    )
)
"""What is so now, before it is asked for what shall become of it."""
_QUESTION = _words(
    rf"(?:{_GREETING},? )*(?P<verb>has|have|is|are) (?P<it>(?:the |an? |any )?(?:[a-z]+ ){{0,3}}<\d+>"
    r"(?: (?:window|button|link|message|check box))?) (?P<said>(?!not |no )[^.]+?)(?: yet| already)?\. (?P<ask>.+)"
)
_MOST_PIECES = 8


def _opened(text: str) -> Iterator[Asked]:
    """Yield the condition after an opening, and `text` itself before it."""
    yield Asked(text)
    yield from _stated(text)
    start, may_begin = 0, True
    for _ in range(_MOST_PIECES):
        if (watched := _WATCHED.match(text, start)) is not None:
            yield from _watched(text[watched.end() :])
        if (rest := _NOT_BEFORE.match(text, start)) is not None:
            yield Asked(text[rest.end() :], ends=rest["ends"] is not None)
            return
        if (rest := _OPENED.match(text, start)) is not None:
            yield from _after(text[rest.end() :], rest)
            return
        if (piece := _PIECE.match(text, start)) is None:
            break
        may_begin &= _GREETED.fullmatch(piece[0]) is not None or piece[0].endswith(": ")
        start = piece.end()
    if start and (may_begin or _WAIT_THE.match(text, start) is not None):
        yield Asked(text[start:])


def _after(rest: str, opened: re.Match[str]) -> Iterator[Asked]:
    if opened["ends"]:
        yield Asked(rest, ends=True)
        return
    yield Asked(rest)
    if opened["thing"]:
        yield Asked(f"there is {rest}")
        yield from _watched(rest)


def _stated(text: str) -> Iterator[Asked]:
    """Yield the condition of `X is so now, tell me when it …`, and of `has X …? Tell me when it does`."""
    stated = next((found for one in _STATED if (found := one.fullmatch(text)) is not None), None)
    if stated is not None and (request := _ASKED_WHEN.match(stated["ask"])) is not None:
        said = stated["ask"][request.end() :]
        if (pronoun := _THAT.match(said)) is not None:
            yield Asked(f"{stated['it']} {said[pronoun.end() :]}")
    asks = _QUESTION.fullmatch(text)
    request = asks and _ASKED_WHEN.match(asks["ask"])
    if asks and request and _DOES.fullmatch(asks["ask"], request.end()) is not None:
        yield Asked(f"{asks['it']} {asks['verb']} {asks['said']}")


def _watched(text: str) -> Iterator[Asked]:
    """Yield the condition of `X and tell me when it …`, said of X."""
    subject, *rest = re.split(r",? and |[,;.] | - ", text, maxsplit=1)
    found = _ASKED_WHEN.match(rest[0]) if rest else None
    if found is None:
        return
    subject, said = re.sub(r"(?: for me)?,?$", "", subject), rest[0][found.end() :]
    if _ONE.fullmatch(said) is not None:
        yield Asked(f"there is {subject}")
    elif (pronoun := _IT.match(said)) is not None:
        yield Asked(f"{subject} {said[pronoun.end() :]}")


# ---- closings ------------------------------------------------------------------------------------------------------

_CLOSING = _words(
    rf"(?:[,;:.!]| -| –| —| ->| =){{0,3}}(?: (?:and then|and|only then|then|so))? (?:"
    rf"{_THANKS}|{_GRATEFUL}|{_REASON}|{_WANT_SIGN}|{_PLEASE}|ok|okay|:-?\)"
    rf"|(?:{_MODAL} )?(?:{_PLEASE} )*{_TELL}(?: about (?:it|that|this))?{_HOW}"
    r"(?: (?:when|once|as soon as|if) (?:(?:it|this|that) (?:happens|has happened|occurs|does|is the case)"
    r"|(?:both|all)(?: of them)? (?:happen|have happened)(?P<order> in (?:that|this) order)))?"
    rf"|(?:that |so |so that )?(?:I|we|you) can {_GOES_ON}|before (?:you|we|I) {_GOES_ON}|before {_GOING_ON}"
    r"|not (?:before|earlier|sooner)(?: than that)?"
    r")$"
)
_MOST_CLOSINGS = 5


def _closed(text: str) -> Iterator[str]:
    """Yield `text`, and what is left of it without its closings, one by one."""
    yield text
    for _ in range(_MOST_CLOSINGS):
        found = _CLOSING.search(text)
        if found is None:
            return
        text = text[: found.start()] + (found["order"] or "")
        yield text


def asked(text: str) -> Iterator[Asked]:
    """Yield what may be the condition in `text`: what takes fewest words for an opening or a closing comes first."""
    for rest in _closed(text):
        yield from _opened(rest)
