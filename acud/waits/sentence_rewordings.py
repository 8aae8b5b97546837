"""Clauses that mean the same as a known clause in other words."""

from __future__ import annotations

import re
from collections.abc import Callable

_SOMEONE = r"(?:some|any)(?:one|body)"
_DONE = {
    "open": "opened", "close": "closed", "shut": "shut", "tick": "ticked", "untick": "unticked", "check": "checked",
    "uncheck": "unchecked", "pick": "picked", "select": "selected", "choose": "chosen", "delete": "deleted",
    "remove": "removed", "dismiss": "dismissed", "expand": "expanded", "collapse": "collapsed", "create": "created",
    "enter": "entered", "type": "typed", "write": "written", "put": "put", "enable": "enabled", "disable": "disabled",
    "deselect": "deselected",
}  # fmt: skip
"""Verbs, and the state of a thing after them."""
_FORMS = {
    form: done
    for base, done in _DONE.items()
    for form in (
        base,
        f"{base}s",
        f"{base}es",
        done,
        f"{base}ed",
        f"{base}d",
        {"choose": "chose", "write": "wrote"}.get(base, base),
    )
}
_DOES = "|".join(sorted(_FORMS, key=len, reverse=True))
_KNOWN = (
    "(?-i:Zoom|Steam|Teams|Skype|Spotify|Discord|Slack|Firefox|Chrome|Word|Excel|Outlook|Thunderbird|Photoshop|Gimp"
    "|Blender|LibreOffice|Windows|PayPal|YouTube|Netflix)"
)
_PROGRAM = (
    r"(?:(?:the|my|this) (?!(?:first|second|third|last|left|right|other|same|next|new|old|top|bottom|upper|lower"
    r"|chat|red|green|blue)\b)"
    r"(?:(?:[a-z]+ )?(?:app|application|program|website|site|web ?page|installer|wizard|tool)|(?:setup|browser|software"
    r"|updater|backup|scanner|game|shop|system|computer|shell|command|script|compiler|update|download|upload|export))"
    rf"|{_KNOWN})"
)
"""Programs that report their progress in words on the screen: not a person, nor a part of a window."""
_THAN = ("more", "fewer", "less", "higher", "lower", "greater")
_MUCH = rf"(?:at (?:least|most)|(?:no |not )?(?:{'|'.join(_THAN)}) than|over|under|above|below|exactly)"
_COUNT = (
    r"(?:-?\d[\d.,]*(?: ?%)?|zero|one|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty)"
    r"(?: ?(?:%|[kKMGT]B|°C|km|€|euros?|dollars?))?(?: or (?:more|fewer|less|higher))?"
)
_NEXT_TO = r"(?:(?:right |just |directly )?(?:after|beside|next to|behind|following)|labelled|called)"
_LABEL = r"(?:the (?:word |label |text )?)?(?P<label><\d+>|(?-i:[A-Z])[\w-]*(?: [\w-]+){0,2})"


_SIGNS = {"exactly": "=", "of": "=", "at least": ">=", "at most": "<="}
_SIGNS |= dict.fromkeys(("over", "above", "more", "higher", "greater"), ">")
_SIGNS |= dict.fromkeys(("under", "below", "fewer", "less", "lower"), "<")
_SIGNS |= {f"{no} {one}": {">": "<=", "<": ">="}[_SIGNS[one]] for no in ("no", "not") for one in _THAN}


def is_done(verb: str) -> str:
    """Return the state of a thing after somebody has done this to it: `ticked` for `tick`."""
    return _FORMS[verb.casefold()]


def _reword_done(found: re.Match[str]) -> str:
    if found["does"].casefold().startswith("check") and re.search(r"(?i)box\b", found["what"]) is None:
        return found[0]  # to check something is to look at it
    where = re.sub("^ from ", " in ", found.groupdict().get("where") or "")
    return f"{found['what']} is {is_done(found['does'])}{where}"


def _reword_unticked(found: re.Match[str]) -> str:
    is_gone = re.search(r"(?i) (?:gone|removed|disappears|disappeared|goes)(?: from the .+)?$", found[0]) is not None
    return f"{found[1]} is unticked" if is_gone else found[0]


def _reword_count(found: re.Match[str]) -> str:
    if " or " in found["value"]:
        return f"{found['label']} is {found['value']}"
    how = (found["how"] or "exactly").strip().casefold()
    return f"{found['label']} {_SIGNS[how.removesuffix(' than')]} {found['value']}"


_IN_OTHER_WORDS: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (
        re.compile(
            rf"{_SOMEONE} (?:has )?(?P<does>{_DOES}) (?P<what>.+?)(?P<where> (?:in|into|from) (?:the|my) .+)",
            re.IGNORECASE,
        ),
        _reword_done,
    ),
    (re.compile(rf"{_SOMEONE} (?:has )?(?P<does>{_DOES}) (?P<what>.+)", re.IGNORECASE), _reword_done),
    (
        re.compile(
            rf"{_SOMEONE} (?:has )?(?P<does>switch|turn|toggle)(?:e?s|ed) (?P<on>on|off) (?P<what>.+)", re.IGNORECASE
        ),
        r"\g<what> is \g<does>ed \g<on>",
    ),
    (
        re.compile(
            rf"{_PROGRAM} (?:says|reads|shows|prints|displays|tells me|to (?:say|show|print|display)) (.+)",
            re.IGNORECASE,
        ),
        r"it says \1",
    ),
    (
        re.compile(
            rf"{_PROGRAM} (stops (?:saying|showing|displaying)|no longer (?:says|shows|displays)|does not (?:say"
            rf"|show|display)) (.+?)(?: any ?more)?",
            re.IGNORECASE,
        ),
        r"it \1 \2 any more",
    ),
    (
        re.compile(r"(?:the |my )?window of ((?-i:[A-Z])\w+(?: (?-i:[A-Z])\w+)?) (.+)", re.IGNORECASE),
        r"the \1 window \2",
    ),
    (re.compile(rf"({_KNOWN})'s window (.+)", re.IGNORECASE), r"the \1 window \2"),
    (re.compile(r"(.+ window .+?) (?:itself|by itself|on its own)", re.IGNORECASE), r"\1"),
    (
        re.compile(
            r"(?:the )?(<\d+>|(?-i:[A-Z])\w*(?: \w+){0,2}?) (.+?)"
            r"(?: as|,? \(?(?:it|that|which) is) an? ((?:radio |check |toggle |menu |list |tree )?(?:button|box|item"
            r"|entry"
            r"|option|link|tab)|switch|check-?box)\)?",
            re.IGNORECASE,
        ),
        r"the \1 \3 \2",
    ),
    (
        re.compile(
            r"(.+ (?:tab|button|item|entry|option|link)|.+ (?:tab|button|item)(?: called| named| labelled)? <\d+>)"
            r" is the (?:one (?:that is )?)?(selected|chosen|picked|checked)(?: one)?",
            re.IGNORECASE,
        ),
        r"\1 is \2",
    ),
    (re.compile(r"(.*<\d+>) box (has a (?:tick|check ?mark)(?: in it)?)", re.IGNORECASE), r"\1 check box \2"),
    (re.compile(r"((?:the file )?[~/]\S+) (.+) in (?:the|its|that) (?:folder|directory)", re.IGNORECASE), r"\1 \2"),
    (
        re.compile(
            rf"(?:there (?:is|are) (?:now )?)?(?P<how>{_MUCH} )?(?P<value>{_COUNT}) (?:(?:is|are|gets?) (?:shown"
            rf"|displayed|left|listed) )?{_NEXT_TO} {_LABEL}",
            re.IGNORECASE,
        ),
        _reword_count,
    ),
    (
        re.compile(
            rf"(?:there (?:is|are) (?:now )?)?(?P<how>{_MUCH} )?(?P<value>{_COUNT}) (?:is|are) (?:shown|displayed"
            rf"|listed) at {_LABEL}",
            re.IGNORECASE,
        ),
        _reword_count,
    ),
    (
        re.compile(
            rf"(?:there is (?:now )?)?an? (?:number|value|count|figure) (?P<how>(?:above|over|below|under|of"
            rf"|{_MUCH}) )(?P<value>{_COUNT}) {_NEXT_TO} {_LABEL}",
            re.IGNORECASE,
        ),
        _reword_count,
    ),
    (
        re.compile(
            rf"it (?:says|shows|reads) (?P<how>{_MUCH} )?(?P<value>{_COUNT}) (?:{_NEXT_TO}|at) {_LABEL}", re.IGNORECASE
        ),
        _reword_count,
    ),
    (
        re.compile(
            rf"(?:the|my) (?!.*\b(?:second|third|left|right|upper|lower|top|bottom|red|green|blue)\b)(?:[a-z]+"
            rf" ){{1,3}}?"
            rf"((?:is|are|has|goes|gets|reaches|drops|falls|rises|climbs|hits|shows|exceeds) .*\d.*?),? (?:it|that"
            rf"|which) (?:is|stands"
            rf"|is shown|is written) {_NEXT_TO} (?P<label><\d+>)",
            re.IGNORECASE,
        ),
        r"\g<label> \1",
    ),
    (re.compile(r"(.+) is (?:back )?down to (0|zero|nothing)", re.IGNORECASE), r"\1 is 0"),
    (
        re.compile(
            r"(?:program|process|job|task) (\d+),? \((?:that|this|it) is (?:its|the) (?:pid|process (?:id|number))\)"
            r" (.+)",
            re.IGNORECASE,
        ),
        r"process \1 \2",
    ),
    (
        re.compile(
            r"((?:the |my )?(?:process|program|job|task|script)) (?:(?:with|of) (?:the )?process number|that has the"
            r" pid) (\d+) (.+)",
            re.IGNORECASE,
        ),
        r"process \2 \3",
    ),
    (
        re.compile(
            r"(<\d+>|(?-i:[A-Z])\w*(?: \w+){0,2}) is the (selected|chosen|picked) (radio button|tab|option|list item)",
            re.IGNORECASE,
        ),
        r"the \3 \1 is \2",
    ),
    (re.compile(r"(.+ slider|.*slider <\d+>) is (?:in|at|on) position (.+)", re.IGNORECASE), r"\1 is \2"),
    (
        re.compile(
            r"the (?:tick )?box (<\d+>) ((?:is|gets|has been|is not|is no longer) (?:un)?(?:ticked|checked))",
            re.IGNORECASE,
        ),
        r"the check box \1 \2",
    ),
    (
        re.compile(
            r"the (?:tick|check ?mark) (?:in|is gone from|disappears from) (the .+?)(?: (?:is (?:gone|removed)"
            r"|disappears|goes"
            r"|has (?:gone|disappeared|been removed)))?",
            re.IGNORECASE,
        ),
        _reword_unticked,
    ),
    (
        re.compile(
            rf"{_SOMEONE} (?:has )?(?:moves|moved|sets|set|drags|dragged|turns|turned|pulls|pulled|puts) (.+?)"
            r" (to|above|over|past|below|under) (\d.*)",
            re.IGNORECASE,
        ),
        r"\1 is set \2 \3",
    ),
    (re.compile(r"(.+ field|.*field <\d+>) (?:says|reads|shows|is) (\S+@\S+)", re.IGNORECASE), r"\1 = \2"),
    (re.compile(r"(.+ tab|.*tab <\d+>) is the (?:active|current) one", re.IGNORECASE), r"\1 is selected"),
    (re.compile(r"it has (?:said|shown|displayed) (<\d+>)", re.IGNORECASE), r"it says \1"),
    (
        re.compile(
            r"(?:I|you|we) (?:can )?see ((?-i:[A-Z][a-z]+) (?:accepted|completed?|failed|received|successful|confirmed"
            r"|approved|saved|established|declined|cancelled|expired|rejected|delivered|uploaded|downloaded|installed"
            r"|updated))",
            re.IGNORECASE,
        ),
        r"it says \1",
    ),
    (re.compile(r"(?:the whole of|all of) (?=\S+\.\w+ .*downloaded)(.+)", re.IGNORECASE), r"\1"),
    (
        re.compile(r"(?:I|we) have the (?:complete|whole|full|entire) (?:file )?(\S+\.\w+) in (.+)", re.IGNORECASE),
        r"\1 in \2 is complete",
    ),
    (re.compile(r"(the (?:folder|directory) [~/]\S+ (?:has|contains) .+) in it", re.IGNORECASE), r"\1"),
    (re.compile(r"(?:the )?process numbered (\d+) (.+)", re.IGNORECASE), r"process \1 \2"),
    (
        re.compile(
            r"(?:the picture|(?:the|my) (?:screen|display)|everything|the picture on (?:the|my) screen) (?:has |is"
            r" )?(?:settled|calmed|quietened)(?: down)?,? and (?:has )?not (?:moved|changed)(?: any more)? (.+)",
            re.IGNORECASE,
        ),
        r"the screen has not changed \1",
    ),
    (re.compile(r"(?:I|you|we) can (?:now )?read ((?-i:[A-Z])[^<>]*)", re.IGNORECASE), r"it says \1"),
    (
        re.compile(
            r"(?:I|you|we) (?:can )?(?:get to )?(?:see|read|find|spot|notice|make out|come across|run into) (.+)",
            re.IGNORECASE,
        ),
        r"there is \1",
    ),
    (re.compile(r"(there is .+) to be (?:read|seen)", re.IGNORECASE), r"\1"),
    (re.compile(r"(?:I|we) (?:have(?: got)?|get) (.+) on (?:the |my )?screen", re.IGNORECASE), r"there is \1"),
    (re.compile(r"in ((?:the (?:folder|directory) )?[~/]\S*?),? (there is .+)", re.IGNORECASE), r"\2 in \1"),
    (re.compile(r"in ((?:the (?:folder|directory) )?[~/]\S*?),? (\S+\.\w+) (.+)", re.IGNORECASE), r"\2 \3 in \1"),
    (
        re.compile(r"in (the .+ (?:field|box)|the (?:text )?field .+),? it says (<\d+>)", re.IGNORECASE),
        r"\1 contains \2",
    ),
    (re.compile(r"(.+ (?:field|box)|.+ (?:field|box) \S+)'s (?:text|value|content) (is .+)", re.IGNORECASE), r"\1 \2"),
    (re.compile(r"downloaded: (\S+)", re.IGNORECASE), r"\1 is downloaded"),
    (
        re.compile(
            r"(?:there is )?(?:the following|this)(?: (?:text|words?|message|phrase))?(?: (?!is\b)([^:]+))?: (<\d+>)",
            re.IGNORECASE,
        ),
        r"\2 \1",
    ),
    (
        re.compile(
            r"(.+?)(?::| =) ((?:un)?(?:checked|ticked|selected|focused)|enabled|disabled|clickable|open|closed|gone"
            r"|visible|expanded|collapsed|on|off)",
            re.IGNORECASE,
        ),
        r"\1 is \2",
    ),
    (re.compile(r"(?!.*\bpid\b)(?:the )?([^:]+): (-?[\d.,]+(?: ?[^\W\d]\S*| ?%)?)", re.IGNORECASE), r"\1 = \2"),
    (
        re.compile(
            r"(?:I|you|we) (?:can (?:no longer|not)|no longer|do not) (?:see|read|find|spot) (.+?)(?: any ?more)?",
            re.IGNORECASE,
        ),
        r"there is no \1 any more",
    ),
    (re.compile(r"(?:the )?([^:]+): (.+ or (?:more|less|fewer|higher|lower|above|below))", re.IGNORECASE), r"\1 is \2"),
    (
        re.compile(
            r"(?:the )?([^:]+): ((?:at (?:least|most)|above|over|below|under|more than|less than|fewer than) .+)",
            re.IGNORECASE,
        ),
        r"\1 is \2",
    ),
    (re.compile(r"(?:I|we) (?:am|are) rid of (.+)", re.IGNORECASE), r"\1 is gone"),
    (
        re.compile(r"(.+) shows an? (?:number|value) ((?:above|over|below|under|\w+ than|of at) .+)", re.IGNORECASE),
        r"\1 is \2",
    ),
    (
        re.compile(
            r"(.*<\d+>) box (is|gets|becomes|has been|is not|is no longer) (ticked|checked|unticked|unchecked)",
            re.IGNORECASE,
        ),
        r"\1 check box \2 \3",
    ),
    (
        re.compile(
            r"((?:a|any|some)) file (?:ending (?:in|with)|with the (?:extension|ending|suffix)|that ends (?:in"
            r"|with)) (\.\w+) (?!.*(?:gone|disappear|vanish|delete|remove|no longer|not ))(.+)",
            re.IGNORECASE,
        ),
        r"\1 \2 file \3",
    ),
    (re.compile(r"(.+) \((pid \d+)\) (.+)", re.IGNORECASE), r"\1 with \2 \3"),
    (
        re.compile(
            r"(?:the |a )?((?:check |radio |push |toggle |menu |text |progress )?\w+), (?:(?:it is|which is|that is) )?"
            r"(?:called|named|labell?ed|titled) (<\d+>), (.+)",
            re.IGNORECASE,
        ),
        r"the \1 \2 \3",
    ),
)
"""Patterns of clauses, and the known clause for each."""


def reword(text: str) -> str:
    """Return the known clause with the same meaning, or `text` as it is."""
    for pattern, known in _IN_OTHER_WORDS:
        if (found := pattern.fullmatch(text)) is not None:
            text = (found.expand(known) if isinstance(known, str) else known(found)).strip()
    return text
