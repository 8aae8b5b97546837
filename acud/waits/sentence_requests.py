"""What a sentence holds beside its condition: openings (`could you tell me as soon as`), and closings (`, thanks` or
`-> wake me up`).

The words of a request are a closed vocabulary. Free words may only be about the user: what they do meanwhile, what they
want, and why (`I started it an hour ago`, `because I need to leave`). Words that could belong to the condition are
excluded even there. Everything else stays in the condition, which is then not understood.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from acud.waits.sentence_rewordings import is_done


class Asked(NamedTuple):
    """A possible condition of a sentence. `ends`: wait until it no longer holds. `given`: a statement about now that
    must be a condition too ("": none).
    """

    condition: str
    ends: bool = False
    given: str = ""


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


# ---- vocabulary ----------------------------------------------------------------------------------------------------

_BREAK = r"(?:[,;:.!?]| -| –| —)"
_PLEASE = r"(?:please|pls|plz|kindly|just|simply|do(?= \w+ me\b))"
_THANKS = (
    r"(?:(?:many )?(?:thanks|thank you|thx|ty|cheers)(?: (?:very much|so much|a lot|a bunch|in advance))?"
    r"|much appreciated|that would be (?:great|nice|good|lovely|helpful)|(?:will|would|could) you|right)(?:,? (?:mate"
    r"|buddy|pal|dear|friend|bro|man))?"
)
_GREETING = (
    r"(?:(?:hey|hi|hello)(?: there)?|psst|well|sooner or later|any sign of|(?:some|any)where(?: on (?:the "
    r"|my )?screen)?|hiya|yo|good (?:morning|afternoon|evening)|ok|okay|alright|so|and|also|now|listen"
    r"|brb|afk|be right back|btw|by the way|(?:quick|odd|small|one|another) (?:favou?r|one|thing|question|request)"
    rf"|listen up|heads up|no (?:need to )?(?:hurry|rush)|sorry(?: to bother you)?(?:,? but)?|{_PLEASE}|{_THANKS}"
    r"|do me a favou?r"
    r"|if you (?:can|could|would)|need|reminder|note to self|task|goal)"
)
_NEVER_OF_A_REASON = (
    "left|right|top|bottom|upper|lower|second|third|only|every|always|never|twice|if|unless|when|whenever|once|until"
    "|before|except|especially|mean|means|meant|care|interested|talking|pane|panel|told|woken|notified|alerted|pinged"
)
_TELLING_MORE = (
    f"{_NEVER_OF_A_REASON}|first|last|both|two|three|all|each|other|again|one|ones|not|no|time|times|often|more|less"
    "|still|after|while|within|instead|about|red|green|blue|yellow|grey|how|why|who|what|where|which"
)
"""Words that could belong to the condition."""
_ON_SCREEN = "window|dialog|tab|screen|monitor|desktop|button|before|see|watch|look|read|click|press|open|close|check"
_AT_WORK = f"{_ON_SCREEN}|know|hear|wait|tell|ping|wake|shout|say|says|let"
"""Words that could begin a condition, or another request."""


def _free(*without: str) -> str:
    """Return a pattern for up to fifteen words, none of them in `without`."""
    word = rf"(?!(?:{'|'.join(without)})(?![\w-]))[\w'-]+"
    return rf"{word}(?: {word}){{0,14}}"


_AROUND = (
    "baby|babies|kids?|children|child|dogs?|cats?|neighbou?rs?|boss|taxi|bus|train|plane|flight|charger|oven|pizza"
    "|food|dinner|lunch|soup|tea|coffee|kettle|washing|postman|guests?|customers?|clients?|team|family|boys?|girls?"
    "|speakers|deadline|report|meeting|lesson|class|shop|doctor|weather|sun|teacher|landlord|bank|office|car|kitchen"
    "|garden|house|laundry|husband|wife|bath|grandma|grandpa|mum|dad"
)
"""People and things around the user, not on the screen."""
_MY = r"(?:my|our|the) (?:[a-z]+ ){1,3}(?:is|are|has|have|does|do|takes|needs|wants|will|can|must|keeps|runs)"
_OFF = (
    r"(?:(?:just )?(?:off|gone|going|heading|stepping|popping|getting|grabbing)(?= (?:to|for|out|away|home|a|an"
    r"|some)\b)"
    r"|(?:have|need|got|want|about) to)"
)
_BACKGROUND = (
    rf"(?:(?:(?P<me>I|we|{_OFF})|{_MY}) {_free(_TELLING_MORE, _AT_WORK)}(?:(?={_BREAK} )"
    rf"(?(me)|(?!{_BREAK} (?:when|if|once|until|while)\b))(?!.*\b(?:it|there|they|them|that)\b)|(?= so "
    r"| and (?:then )?(?:tell"
    r"|ping|wake|shout|let|please))))"
)
"""What the user has done, is doing or wants, and where they go: nothing visible on the screen."""
_ERRAND = (
    rf"(?:(?:(?:my|our|the) )?(?:{_AROUND})(?:'s| is| are| has| have| needs?| wants?| can)"
    r"|(?:I|we) (?:want|need|have|am about|are about) to (?:go|leave|sleep|eat|cook|catch|fetch|buy|drive|walk|rest"
    rf"|shower|lie)) {_free(_TELLING_MORE, _AT_WORK)}(?={_BREAK} )(?!{_BREAK} (?:when|if|once|until|while)\b)"
    r"(?!.*\b(?:it(?! (?:says|shows|reads)\b)|they|them)\b)"
)
"""What happens around the user, or calls them away: nothing that `it` could stand for."""
_WANTING = (
    r"(?=(?:I|we|my|our|(?:it is )?time (?:for|to)|nobody|no one|(?:the|my|our) [a-z]+ (?:can|may|must|could|starts"
    r"|begins)"
    r"(?! be\b))\b)"
    rf"{_free(_TELLING_MORE, _ON_SCREEN, 'minutes?', 'seconds?', 'hours?', 'later', 'shortly', 'long', 'it')}"
)
"""A request in any words: `my wife wants`, `I would like to buy`."""
_I = r"(?:I|we)(?: (?:can|do|will|would|am|are|must|have|could|may|might|should))?(?: not)?"
_NOT_NOW = r"do not (?:want to (?:miss|forget|lose|waste)|have (?:the )?time|feel like|trust|believe)"
_CAN_BE_SEEN = "see|read|press|click|use|find|wait|watch|look|check|tell|ping|wake|type|choose|select"
_REASON = (
    rf"(?:(?:because|cause|cuz|cos|since|so|so that|and then|then|and) )?{_I} {_free(_NEVER_OF_A_REASON, _CAN_BE_SEEN)}"
    rf"|let me {_free(_NEVER_OF_A_REASON, _CAN_BE_SEEN, 'know')}"
    rf"|(?:because|cause|cuz|cos|since|so|so that) {_I} {_free(_NEVER_OF_A_REASON)}"
    rf"|(?<=[,;:.–—>=-] )(?:the )?(?:{_AROUND})(?: |'s"
    rf" ){_free(_NEVER_OF_A_REASON, _AT_WORK, 'ones?', 'counts', 'matters')}"
    rf"|(?:because|cause|cuz|cos|since|as) (?:(?:the|my|our) (?:{_AROUND})|my [a-z]+|he|she|they|(?-i:[A-Z][a-z]+))"
    rf" (?:is|are|has"
    rf"|have|wants?|needs?|can|must|will|does|do|keeps?) {_free(_NEVER_OF_A_REASON, _CAN_BE_SEEN)}"
    rf"|(?<=[,;:.–—>=-] )(?:my|our) (?:\w+ {_NOT_NOW} )?{_free(_NEVER_OF_A_REASON, _AT_WORK)}"
    r"|(?:it|this|that) is (?:(?:really|very|quite|too|so) [a-z]+|my turn|[a-z]+ time|time (?:for|to) [a-z ]+|urgent"
    r"|important|bad|good|fine|enough|my cue"
    r"|(?:when|what|all|the (?:moment|sign|signal)) (?:that )?I (?:need|want|am waiting for|wait for|have to know)"
    r"(?: (?:to (?:know|be (?:told|called|woken|alerted|notified)|hear(?: about it)?)|the [a-z ]+))?)"
    r"|(?:either|any) one(?: will do| is enough)?|(?:either|any|one)(?: of them)? will do|in (?:both|either|any) cases?"
    r"|limits included|inclusive|no (?:rush|hurry)|(?:both|either) (?:is|are) (?:fine|bad|good|ok|enough)"
)
"""Why the user asks, and what they do then."""
_MODAL = (
    r"(?:(?:I am|we are) (?:keen|eager|curious|dying|anxious|itching) to"
    rf"|(?:could|can|would|will) (?:you|ya|some(?:one|body)|any(?:one|body))(?: (?:be so kind as to|{_PLEASE}))*"
    r"|(?:(?:I|we) )?(?:(?:just|only|really) )?(?:want|need|have|would like|would love)(?: you)? to"
    r"|(?:is it|would it be) possible(?: for you)? to|(?:you|we|I) (?:can|may|could|should|must|would)|(?:some"
    r"|any)(?:one|body)|(?:go|come) and|you|let us|how about|your (?:job|task) is to|you are to"
    r"|any chance you (?:could|can)|be (?:so kind|a dear|so good) (?:and|as to|to)|may I ask you to|(?:make"
    r"|be) sure (?:to|you)|remember to|do not forget to"
    r"|(?:I would appreciate it|I would be (?:grateful|glad|happy|thankful)|(?:it )?would be (?:great|nice|good|lovely"
    r"|helpful)) if you (?:could|would))"
)
_A_SIGN = (
    r"(?:an? |the )?(?:quick |little |short )?(?:shout|ping|heads[- ]?up|nudge|nod|buzz|call|signal|sign|yell|hint|note"
    r"|word|holler|ring|tap|beep|message|notice|notification|line|poke|wave|reminder|alert|alarm)"
)
_WANT_SIGN = (
    r"(?:(?:(?:I|we) )?(?:want|need|would like|would love|could use|would appreciate|would be (?:grateful|glad|happy"
    rf"|thankful) for)|(?:can|could|may) (?:I|we) (?:get|have)) {_A_SIGN}"
)
_ME = r"(?:me|us|my [a-z]+)"
_TELL = (
    r"(?:(?:tell|inform|warn|remind|nudge|buzz|call|message|signal|text|page|e-?mail|mail|sms|dm|phone|ring|alarm"
    rf"|bother|interrupt) {_ME}"
    r"(?: up| over)?"
    rf"|(?:notify|alert|ping|poke|beep|wake|shout|yell|holler)(?: (?:at )?{_ME})?(?: up)?|let {_ME} know|lmk"
    rf"|(?:give|send|drop|shoot|show)(?: {_ME})? {_A_SIGN}|hit {_ME} up|flag (?:it|this)(?: (?:to|for) me)?"
    rf"|(?:come (?:and )?)?(?:get|fetch|find) {_ME}|(?:get|catch|draw) my attention|(?:sound|raise) (?:the|an) alarm"
    r"|make (?:a|some) noise|say(?: (?:something|so|the word))?|sing out|stop me|play (?:a|an|the|some) (?:sound"
    rf"|song|music|beep|alarm|chime)|inform|ring the bell|get back to {_ME}|keep {_ME} (?:posted|informed|updated)"
    r"|do tell|trigger|speak up"
    r"|(?:come|get|report|bring me|call me) back(?: to me)?|(?:report|return)(?: to me)?"
    r"|(?:you can )?stop (?:waiting|the wait)|end the wait|continue|go on|go ahead|carry on|proceed|resume|move on"
    r"|know|hear(?: (?:from you|(?:about )?(?:it|this|that)))?|(?:be|get) (?:told|notified|informed|alerted|pinged"
    r"|called"
    r"|woken(?: up)?))"
)
_TELLING = (
    r"(?:would you mind|how about|mind) (?:telling me|letting me know|notifying me|alerting me|pinging me|waking"
    r" me(?: up)?|waiting)"
)
_WAIT = (
    r"(?:(?:wait|hold on|hold off|hold it|hang on|hang tight|sit tight|stand by|pause|stay put|sleep"
    r"|do nothing|nothing to do|hold(?: the line)?|(?:stay|keep|be) (?:quiet|still|silent)|idle|block|rest|relax"
    r"|(?:(?:I|we) am )?(?:still |only |just )*waiting"
    r"|(?:leave|let) me (?:alone|sleep|rest|work|be|nap)|waiting|stick around|hold your horses|keep still|poll"
    r"|keep your eyes peeled|stare at the screen)"
    r"|(?:keep(?: on)?|start|begin) (?:waiting|looking|watching|checking|monitoring)|(?:I am|we are) waiting)"
)
_SCREEN = r"(?:the|my|this|that) (?:whole |entire )?(?:screen|display|desktop)"
_WATCH = (
    r"(?:watch|monitor|observe|look at|check(?: on)?|keep (?:an eye|your eyes|one eye) on"
    r"|keep your eyes (?:open|peeled)(?= for)|keep (?:on )?watching)"
)
_WATCH_ALL = (
    rf"(?:{_WATCH} (?:{_SCREEN}|things|this|it|that|everything)|keep an eye out|keep your eyes (?:open|peeled)"
    r"|be on the lookout|watch out|look out"
    r"|watch|check|(?:look|monitor)(?= for ))"
)
_HOW = (
    r"(?: (?:back|here|for me|about it|closely|right away|straight away|immediately|directly|patiently|quietly"
    r"|to (?:the|my) (?:desk|computer|screen|keyboard|table|pc|laptop|room|office|house)|there|right there|right"
    r" here|quick|quickly|loudly|gently|asap|at once|please|pls|then|for (?:it|that|this)|after that|afterwards|at"
    r" the end"
    r"(?: of it)?|in the end))*"
)
_ASK = rf"(?:(?:{_MODAL} )?(?:(?:{_PLEASE}|only),? )*(?:{_TELL}|{_WATCH_ALL}|{_WAIT})|{_TELLING}|{_WANT_SIGN}){_HOW}"
_DO_NOT = (
    rf"(?:(?:I|we) (?:can|will|must|should|do) not {_free(_TELLING_MORE, _CAN_BE_SEEN)}(?= (?:until|till|before)\b)"
    rf"|(?:{_PLEASE} |I )?do not (?:(?:come back|continue|go on|return|proceed|move on|carry on|do anything"
    rf"(?: else)?|stop waiting|move|touch anything)"
    r"|(?:wake|bother|disturb|ping|tell) me(?: up)?|want to be (?:disturbed|bothered|woken(?: up)?|told|called)"
    r"|(?:start|begin|stop|leave)))"
)
_AND = rf"{_BREAK}{{0,3}}(?: (?:and then|and|so|then|but):?)?"
_WHEN = (
    r"(?:(?:only |right |exactly )?(?:until after|until|till|'til|til|when|whenever|once|as soon as|after"
    r"|if and (?:when|only if)|if(?: by any chance)?|whether|in case)|(?:at|on|upon)(?= (?:the (?:next|first"
    r"|slightest|smallest)|any|a) (?:change|movement))|(?:for )?the"
    r" (?:very )?(?:moment|minute|instant)(?: that| when)?|the (?:very second|second that)|(?<=\w )the second"
    r"|should(?!.*\?$))"
    r"(?: (?:you (?:see|notice|find)|it happens) that)?"
)
_IS_SO = (
    r"(?:(?:it|that|this|they)(?: (?:text|dialog|window|button))? (?:does|is|has|do|are|have|did|can)"
    r"(?: (?:there|so|visible|done|in there))?|yes|there is (?:one|it))"
)
_HAPPENS = (
    r"(?:so|(?:it|this|that) (?:happens|has happened|occurs|is the case)|that is so|you (?:can )?(?:see|notice|spot"
    r"|find)"
    r" (?:it|that|this|them|one)(?: too| as well)?|(?:both|all)(?: of them)? (?:happen|have happened))"
)
_GOES_ON = (
    r"(?:continue|go on|go ahead|carry on|proceed|resume|move on|start|come back|take over|take a look|have a look"
    r"|do (?:the next step|the rest|anything(?: else)?)|get (?:going|back to work|on with it))"
)
_GOING_ON = r"(?:continuing|going on|proceeding|moving on|carrying on|doing anything(?: else)?|resuming)"

# ---- openings ------------------------------------------------------------------------------------------------------

_PIECE = _compile(rf"(?:{_ASK}|{_ERRAND}|{_BACKGROUND}|{_GREETING}){_AND} ")
_THING = (
    r"for:?|on(?= (?:a|the|any) )|await|let(?! (?:me|us)\b)|(?:(?:all|what) )?(?:I|we) (?:want|need|(?:am"
    r"|are) (?:(?:only|just|still|all) )*(?:waiting (?:for|on)|hoping for|(?:waiting|hoping) to see)|wait for|expect"
    r"|would like)(?: to see)?"
    rf"(?: is)?(?! (?:to|you)\b| {_A_SIGN})"
)
_OPENED = _compile(rf"(?:{_WHEN}|(?P<ends>(?:for )?as long as|while)|(?P<thing>{_THING})) ")
_WANTED = _compile(rf"{_WANTING} {_WHEN} ")
_GREETINGS = _compile(rf"\A(?:{_GREETING},? )+")
_STATED = _compile(rf"{_BREAK} (?:and |so )?(?:(?:{_GREETING},? )*{_ASK} )?{_WHEN} ")
_NO_LONGER = _compile(
    r"(?:it|that|this) (?:(?:does not|no longer) (?:says?|shows?) (?:that|it|so)(?: any more)?|(?:is|does|has) (?:not"
    r"|no longer)(?: any more)?|no longer (?:is|does|has)|stops)"
)
_GREETED = _compile(rf"(?:{_GREETING}|{_ERRAND}|{_BACKGROUND}){_AND} ")
_WAIT_THE = _compile(r"(?<=\bwait )(?:the |a |<)")
_NOT_BEFORE = _compile(rf"{_DO_NOT} (?:(?P<ends>as long as|while)|before|until|till) ")
_WATCHED = _compile(rf"(?:{_MODAL} )?(?:{_PLEASE} )*(?:(?:watch|look|monitor|keep an eye) (?:out )?for|{_WATCH}) ")
_ONE = _compile(r"(?:there is (?:one|it)|(?:you|I|we) (?:can )?(?:see|find|spot) (?:it|one)|(?:it|one) is there)")
_IT = _compile(r"(?:it|that|this|one) ")
_ASKED_WHEN = _compile(rf"(?:(?:{_GREETING},? )*{_ASK} )?{_WHEN} ")
_THAT = _compile(r"(?:it|(?:that|this)(?: (?:text|message|notice|word|window|button|dialog))?) ")
_NAMED = r"(?:the |an? |any )?(?:[a-z]+ ){0,3}<\d+>(?: (?!now\b|right\b|at\b|on\b)[a-z]+)?"
_SAYS_NOW = _compile(
    r"(?:is it still (?:saying|showing)|(?:it|the screen|the display|(?!(?:some|any|every)(?:one|body)\b)[a-z]{3,})"
    rf" (?:keeps (?:on )?(?:saying|showing)|(?:still |currently |now )?(?:says|shows))) (?P<it>{_NAMED})"
)
_NOW = _compile(r" (?:still|currently|right now|now|at the moment|at present)\b")
_LOADS = _compile(r"(?P<it>.+) is (?:downloading|being downloaded)")
_RUNS = _compile(r"(?P<it>.+) (?:is (?:running|alive|active|going)|runs)")
_ENDS = _compile(
    r"it (?:is (?:finished|done|over|through|not|gone)|has (?:ended|finished|exited|stopped)|ends|exits|stops|finishes"
    r"|(?:is|does) not(?: any more)?)"
)
_IS_SO_THEN = _compile(r"it (?:is|has|does)(?: there)?")
_NOT_YET = _compile(r"(?:(?P<verb>\b(?:is|are|has|have)) not|\b(?:does|do) not(?= ))(?: yet)?|(?<=.) yet$")
_THERE_IS = _compile(r"(?:there is|(?:I|we) (?:can )?see) ")
"""Statements about now, before the request about what shall become of it."""
_OF_THESE = _compile(
    r"(?P<some>one|any|either|both|all)(?: one)? of (?:those|these|them|the)(?: (?:two|three|four))?"
    r"(?: (?P<kind>words|texts|messages|windows|notifications|phrases))? (?P<said>.+)"
)
_UNQUOTED = _compile(r"(?<![<\d\w])(?!or\b|and\b)[a-z]")
_TO_DO = _compile(
    r"(?:some(?:one|body)|my [a-z]+|he|she|they|I) (?:(?:still|only|just) )?(?:has to|have to|must|needs? to|wants? to"
    r"|will|should|(?:is|am|are) (?:going|supposed|meant|about) to)"
    r" (?P<does>open|close|shut|tick|untick|check|uncheck|pick|select|delete|remove|enable|disable|expand|collapse)"
    r" (?P<what>.+)"
)
_IS_DONE = _compile(r"(?:it|that|this) (?:is (?:done|so|the case)|has happened|happens|has been done)")
_STARTED = _compile(
    r"(?:I|we) (?:have )?(?:just )?(?:clicked(?: on)?|double-clicked(?: on)?|started|opened|launched|fired up) "
    r"(?P<name>(?-i:[A-Z]\w*(?: [A-Z]\w*)*))(?: (?:just now|earlier|already|(?:ages|(?:some|a|\w+|a few|a couple of)"
    r" (?:time|while|minutes?|seconds?|moments?|hours?)) ago))?"
)
_EITHER = _compile(r"either (?:(?! or ).)+ or (?:(?! or ).)+")
_ONE_OF_IT = _compile(
    r"(?:one|either|any)(?: one)?(?: of (?:them|these|those|the two))? (?P<said>shows up|turns up|comes up|pops up"
    r"|appears"
    r"|is (?:there|visible|on (?:the )?screen))"
)
_RUNS_AS = _compile(
    r"(?:my|the) [a-z]+ (?:has|is|runs (?:as|under)|is running (?:as|under|with)) (?:the )?(?:pid|process(?: (?:id"
    r"|number))?)"
    r" (?P<pid>\d+)"
)
_STILL_NOW = _compile(
    r"(?:the|my) screen has not (?:changed|moved)(?: at all)?(?: yet| for (?:ages|a (?:long )?(?:time|while)))?"
)
_WILL_SAY = _compile(
    r"(?:it|the [a-z]+(?: (?:app|program|tool|site|page))?) (?:will|is going to|should|has to|is supposed to) (?:say"
    r"|show"
    r"|print|display) (?P<it><\d+>)"
)
_SAYS_LATER = _compile(
    r"(?:the|my) [a-z]+(?: (?:app|program|tool|site))? (?:prints|says|shows|displays|will (?:say|print|show))"
    r" (?P<it><\d+>)"
    r" (?:when it (?:is|has) (?:through|done|finished|ready|complete)|at the (?:very )?end|once it is (?:done"
    r"|finished|through))"
)
_STOPS = _compile(r"(?:it|that|this) (?:stops|has stopped) (?:saying|showing) (?:that|it|so)")
_INVERTED = _compile(
    r"(?P<verb>has|have|is|are|does|did|do|can) (?P<said>(?!.* (?:not|or) )(?!(?!both ).* and )(?:[^.?]"
    r"|\.(?=\w))+?)(?: yet| already| now)*"
)
_QUESTION = _compile(
    rf"(?:{_GREETING},? )*(?P<question>(?:has|have|is|are|does|did|do|can) (?:[^.?]|\.(?=\w))+?)"
    rf"(?:[?.,](?: (?:if (?:so|not),? )?{_ASK}(?: for it)?(?:,? {_WHEN}(?: (?:{_IS_SO}|{_HAPPENS}))?)?)?)?"
)
"""A question whether something is so, taken as a request to report when it is."""
_MOST_WORDS = 16
_MOST_PIECES = 8


def _strip_opening(text: str) -> Iterator[Asked]:
    """Yield `text` itself, then what may be the condition after an opening."""
    yield Asked(text)
    yield from _find_after_statement(text)
    yield from _find_in_question(text)
    start, may_begin = 0, True
    for _ in range(_MOST_PIECES):
        if (watched := _WATCHED.match(text, start)) is not None:
            yield from _find_after_watch(text[watched.end() :])
        if (rest := _NOT_BEFORE.match(text, start)) is not None:
            yield Asked(text[rest.end() :], ends=rest["ends"] is not None)
            return
        if (rest := _OPENED.match(text, start)) is not None:
            yield from _find_after_opening(text[rest.end() :], rest)
            return
        if (piece := _PIECE.match(text, start)) is None:
            if (wanted := _WANTED.match(text, start)) is not None:
                yield Asked(text[wanted.end() :])
            break
        may_begin &= _GREETED.fullmatch(piece[0]) is not None or piece[0].endswith(": ")
        start = piece.end()
    if start and (may_begin or _WAIT_THE.match(text, start) is not None):
        yield Asked(text[start:])


def _find_after_opening(rest: str, opened: re.Match[str]) -> Iterator[Asked]:
    if opened["ends"]:
        yield Asked(rest, ends=True)
        return
    yield Asked(rest)
    yield from _find_in_question(f"{rest}?")
    if opened["thing"]:
        yield Asked(f"there is {rest}")
        yield from _find_after_watch(rest)


def _find_after_statement(text: str) -> Iterator[Asked]:
    """Yield what may be the condition of `X is so now, tell me when it …`, with X for `it`."""
    for found in _STATED.finditer(text):
        now, said = _GREETINGS.sub("", text[: found.start()]), text[found.end() :]
        if (says := _SAYS_NOW.fullmatch(now)) is not None:
            if _STOPS.fullmatch(said) is not None:
                yield Asked(f"{says['it']} disappears")
            elif (pronoun := _THAT.match(said)) is not None:
                yield Asked(f"{says['it']} {said[pronoun.end() :]}")
            continue
        yield from _find_of_statement(now, said)
        if (pronoun := _THAT.match(said)) is not None:
            yield Asked(f"{now} {said[pronoun.end() :]}")
        elif said.endswith(" it"):
            yield Asked(f"{said.removesuffix(' it')} {now}")
        for given in _list_statements(_NOW.sub("", now)):
            if (loads := _LOADS.fullmatch(given)) is not None and _ENDS.fullmatch(said) is not None:
                yield Asked(f"{loads['it']} has finished downloading")
            if (ran := _RUNS.fullmatch(given)) is not None and _ENDS.fullmatch(said) is not None:
                yield Asked(f"{ran['it']} ends")
            if _NO_LONGER.fullmatch(said) is not None:
                yield Asked(given, ends=True)
            if _IS_SO_THEN.fullmatch(said) is not None and _NOT_YET.search(given) is not None:
                yield Asked(_NOT_YET.sub(r"\g<verb>", given).replace("  ", " "))
            subject = _THERE_IS.sub("", given).split()[:_MOST_WORDS]
            for end in range(len(subject) - (len(subject) == len(given.split())), 0, -1):
                name = " ".join(subject[:end])
                if said.endswith(" it"):
                    yield Asked(f"{said.removesuffix(' it')} {name}", given=given)
                elif (pronoun := _THAT.match(said)) is not None and name.casefold() != "it":
                    yield Asked(f"{name} {said[pronoun.end() :]}", given=given)


def _find_of_statement(now: str, said: str) -> Iterator[Asked]:
    """Yield the request `said` where `now` gives a list, a task, a started program or a text to come."""
    if (told := _OF_THESE.fullmatch(said)) is not None and (told["kind"] or not _UNQUOTED.search(now)):
        yield Asked(f"{told['some']} of the {told['kind'] or ''} {now} {told['said']}".replace("  ", " "))
    if (task := _TO_DO.fullmatch(now)) is not None and _IS_DONE.fullmatch(said) is not None:
        yield Asked(f"{task['what']} is {is_done(task['does'])}")
    if (started := _STARTED.fullmatch(now)) is not None and said.casefold().startswith("its window "):
        yield Asked(f"the {started['name']} {said[4:]}")
    if _EITHER.fullmatch(now) is not None and (one := _ONE_OF_IT.fullmatch(said)) is not None:
        yield Asked(f"{now} {one['said']}")
    if (runs := _RUNS_AS.fullmatch(now)) is not None and _ENDS.fullmatch(said) is not None:
        yield Asked(f"process {runs['pid']} ends")
    if _STILL_NOW.fullmatch(now) is not None and _IS_SO_THEN.fullmatch(said) is not None:
        yield Asked("the screen changes")
    if (will := _WILL_SAY.fullmatch(now)) is not None and _IS_SO_THEN.fullmatch(said) is not None:
        yield Asked(f"{will['it']} is visible")
    if (later := _SAYS_LATER.fullmatch(now)) is not None and (pronoun := _THAT.match(said)) is not None:
        yield Asked(f"{later['it']} {said[pronoun.end() :]}")


def _list_statements(text: str) -> Iterator[str]:
    """Yield a question as statements, with its verb after each of its words; yield a statement as it is."""
    asks = _INVERTED.fullmatch(text)
    if asks is None:
        yield text
        return
    if _BY_SOMEONE.match(asks["said"]) is not None:
        return  # what somebody may have done before shows on no screen
    verb = "" if asks["verb"].casefold() in ("does", "did", "do") else f" {asks['verb']}"
    words = asks["said"].split()[:_MOST_WORDS]
    yield from (f"{' '.join(words[:end])}{verb} {' '.join(words[end:])}" for end in range(1, len(words)))


def _find_in_question(text: str) -> Iterator[Asked]:
    """Yield what may be the condition of `has X …?`, alone or before `tell me when it has`, with the verb after X."""
    asks = _QUESTION.fullmatch(text)
    if asks is not None:
        yield from map(Asked, _list_statements(asks["question"]))


def _find_after_watch(text: str) -> Iterator[Asked]:
    """Yield the condition of `X and tell me when it …`, with X for `it`."""
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

_TOLD = (
    rf"(?:{_MODAL} )?(?:{_PLEASE} )*(?:{_TELL}|(?:inform|tell|alert|congratulate|warn|notify|call) (?:the )?[a-z]+"
    rf"|(?:[a-z]+ )?(?:reminder|alert|alarm|notification))(?: about (?:it|that|this))?{_HOW}"
)
_CLOSING = _compile(
    rf"(?: -> {_free(_NEVER_OF_A_REASON)}|(?:{_BREAK}| ->| =){{0,3}}(?: (?:and only then|only then|and then|and|then"
    r"|so|after that))? (?:"
    rf"{_THANKS}|{_REASON}|{_WANT_SIGN}|{_PLEASE}|ok|okay|go|done|bingo|:-?\)"
    rf"|{_TOLD}(?:,? {_WHEN} (?:{_HAPPENS}(?P<order> in (?:that|this) order)?|(?P<is_so>{_IS_SO}))|,? when)?"
    rf"|{_WAIT} (?:until|till) {_HAPPENS}"
    rf"|{_WHEN} (?:{_HAPPENS}|(?P<so>{_IS_SO})),? {_TOLD}"
    rf"|(?:that |so |so that )?(?:I|we|you) can {_GOES_ON}|before (?:you|we|I) {_GOES_ON}|before (?:I"
    rf"|we) {_free(_NEVER_OF_A_REASON, _CAN_BE_SEEN)}|before {_GOING_ON}"
    rf"|before you {_TELL}|is (?:what|all) (?:I|we) (?:want|need|am waiting for|wait for)(?: to (?:see|know))?"
    r"|not (?:before|earlier|sooner)(?: than that)?|(?:wait|watch) for (?:it|that|this|them|(?:those|these) [a-z]+)"
    r"))\??$"
)
_DENIED = _compile(r"\b(?:not|no|never|nowhere)\b")
_HEADED = _compile(
    rf"(?:{_free(_TELLING_MORE, _ON_SCREEN)} )?(?:(?:wait|waiting|looking) for|alarm|alert|wanted|(?:task"
    r"|job)(?: for you)?"
    r"|condition|trigger|request|wish|(?:warn|tell|wake) me): "
)
"""Any words for: wait for what follows."""
_MOST_CLOSINGS = 5
_RESTATED = _compile(r".+?[,;.]? (?:i\.e\.|in other words|meaning|that is to say),? ")
_LASTS = _compile(rf"(?:as long as|while) (?P<condition>.+?),? (?:{_PLEASE} )?{_WAIT}{_HOW}")
_UNTIL = _compile(rf"(?:until|till|til) (?P<condition>.+?),? (?:{_PLEASE} )?{_WAIT}{_HOW}")
_SPEAKS_AFTER = _compile(
    rf"(?P<lasts>.*\b(?:as long as|while) .+?),? (?:and )?{_TOLD} {_WHEN} (?:it|that|this) (?:is|does|has) not"
)
_WATCHES_ALL = _compile(rf"\b{_WATCH} {_SCREEN}\b")
_BY_SOMEONE = _compile(r"(?:some|any)(?:one|body) ")
_DONE_BY = _compile(
    r"\bhas (?:some|any)(?:one|body) (?P<done>deleted|removed|closed|opened|ticked|unticked|selected|created)"
    r" (?P<what>[^?]+?)(?=\? \w)"
)
"""A question whether somebody has done something, before the request to report it."""
_IS_IT = _compile(r"\A(?P<what>(?:the |<)[^,?;:]+?)(?:,| -|:) (?P<verb>is|has|can|does) it (?=[^?.]+\?)")
"""A question that names its subject first."""
_ON_IT = _compile(r" (?:on|in) it\b")


def _strip_closings(text: str) -> Iterator[str]:
    """Yield `text`, and what is left of it without its closings, one by one."""
    yield text
    for _ in range(_MOST_CLOSINGS):
        found = _CLOSING.search(text)
        if found is None:
            return
        text = text[: found.start()] + (found["order"] or "")
        if (found["is_so"] or found["so"]) and _DENIED.search(text) is not None:
            return  # the condition is denied, so its opposite is meant
        yield text


def find_conditions(text: str) -> Iterator[Asked]:
    """Yield what may be the condition in `text`, those with the shortest opening and closing first."""
    if (speaks := _SPEAKS_AFTER.fullmatch(text)) is not None:
        text = speaks["lasts"]
    if _WATCHES_ALL.search(text) is not None:
        text = _ON_IT.sub(" on the screen", text)
    text = _DONE_BY.sub(r"has \g<what> been \g<done>", text, count=1)
    text = _IS_IT.sub(r"\g<verb> \g<what> ", text, count=1)
    for rest in _strip_closings(text):
        if (lasting := _LASTS.fullmatch(rest)) is not None:
            yield Asked(lasting["condition"], ends=True)
        if (until := _UNTIL.fullmatch(rest)) is not None:
            yield Asked(until["condition"])
        yield from _strip_opening(rest)
        if (headed := _HEADED.match(rest)) is not None:
            yield from _strip_opening(rest[headed.end() :])
        if (restated := _RESTATED.match(rest)) is not None:
            yield Asked(rest[restated.end() :])
