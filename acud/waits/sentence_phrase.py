"""A sentence with placeholders for its quoted words and contractions in full, and which of its words are a name."""

from __future__ import annotations

import re

from msgspec import Struct

from acud.base.quotation_marks import MARKS, QUOTED, quoted_words

_MOST_CHARS = 400
"""Of a sentence without its quoted words; a longer one means more than a local condition."""
_POLITE = re.compile(
    r"\b(?:could|can|would|will) (?:you|ya|u)\b|^is it possible\b|^would it be possible\b|^any chance\b"
    r"|\b(?:could|can|may) (?:I|we) (?:get|have|ask)\b|\b(?:please|pls|ok|okay)\?$",
    re.IGNORECASE,
)
_IN_FULL = tuple(
    (re.compile(pattern, re.IGNORECASE), full)
    for pattern, full in (
        (r"’", "'"),
        (r"\b(?:can't|cannot)\b", "can not"),
        (r"\b(is|are|was|has|have|do|does|did)n't\b", r"\1 not"),
        (
            r"\b(\w+|>)'s (?=(?:not )?(?:been|become|changed|moved|happened|gone|appeared|disappeared|vanished|opened"
            r"|closed|finished|ended|exited|stopped|reached|come|popped|shown|turned|dropped|fallen|risen)\b)",
            r"\1 has ",
        ),
        (r"\b(\w+|>)'s (?=in the\b|going to\b)", r"\1 is "),
        (r"\bwon't\b", "will not"),
        (r"\b(\w+)'ll\b", r"\1 will"),
        (
            r"\b(\w+|>)'s (?=(?:at|there|enabled|disabled|gone|open|closed|visible|checked|ticked|on|off|over|under"
            r"|above"
            r"|below|done)\b)",
            r"\1 is ",
        ),
        (r"\bu\b", "you"),
        (r"\b(?:am|are|is) (?:able|allowed) to\b", "can"),
        (r"\b(?:got to|gotta)\b", "have to"),
        (r"\b(the|my|this) (?:monitor|computer screen)\b", r"\1 screen"),
        (r"\bshouldn't\b", "should not"),
        (r"\bits (?=(?:under|over|above|below|at|less|more|gone|done|there|on|off|enabled|open|closed)\b)", "it is "),
        (r"\b(gim|lem)me\b", lambda found: {"gim": "give me", "lem": "let me"}[found[1].casefold()]),
        (r"\b(wait) 4(?= [a-z<])", r"\1 for"),
        (r"\b(it|there|that|nothing|everything)'s\b", r"\1 is"),
        (r"\b(is|are|was|has|have|do|does|did)nt\b", r"\1 not"),
        (r"\btheres\b", "there is"),
        (r"\b(?:I'm|Im)\b", "I am"),
        (r"\b(I|we)'ve\b", r"\1 have"),
        (r"\bwanna\b", "want to"),
        (r"\b(I|we|you)'d\b", r"\1 would"),
        (r"\bwould(?:n't you| not you)\b", "would you"),
        (r"\b(?:wen|wehn|whne)\b", "when"),
        (
            r" \((?:expanded|collapsed|(?:un)?(?:checked|ticked|selected|focused)|enabled|disabled|clickable"
            r"|inclusive|included)\)",
            "",
        ),
        (r"\b(?:anymore|any longer)\b", "any more"),
        (
            r" (?:finally|eventually|actually|at last|ever(?= (?!was|has)\w+s\b| come| appear| show| turn"
            r"| pop))(?=[ ?,.;]|$)",
            "",
        ),
        (r" ?(?:→|⇒|=>|-+>) ?", " -> "),
    )
)
"""Words that stand for others, and adverbs that add nothing, outside of quotes."""
_SEPARATORS = frozenset("&-–—|:·+/")
"""Signs between the words of a title."""
NO_NAMES = frozenset(
    {
        "the", "a", "an", "this", "that", "these", "those", "my", "your", "its", "our", "their", "his", "her", "it",
        "all", "every", "each", "any", "some", "no", "another", "both", "other", "either", "neither", "one", "two",
        "three", "four", "five", "first", "second", "third", "fourth", "last", "final", "only", "same", "new",
        "newer", "newest", "old", "older", "oldest", "main", "whole", "entire", "big", "bigger", "biggest", "small",
        "smaller", "smallest", "large", "larger", "largest", "long", "short", "top", "bottom", "left", "right",
        "upper", "lower", "middle", "central", "front", "rear", "active", "current", "previous", "following", "red",
        "green", "blue", "yellow", "orange", "purple", "grey", "gray", "black", "white", "pink", "brown", "dark",
        "light", "coloured", "colored", "bright", "something", "anything", "nothing", "everything", "someone",
        "somebody", "when", "once", "until", "till", "if", "as", "what", "which", "who", "whose", "where", "whenever",
        "while", "after", "before", "not", "still", "again", "just", "almost", "nearly", "about", "roughly", "around",
        "more", "less", "most", "least", "i", "you", "we", "they", "he", "she", "and", "or", "but", "so", "then",
        "is", "are", "has", "have", "had", "does", "did", "would", "should", "must", "let", "wait", "tell", "there",
        "today", "tomorrow", "yesterday", "many", "several", "few",
    }
)  # fmt: skip
"""Words that no unquoted name begins with: a sentence begins with a capital letter, too. "Dark Mode""
" is a plain name."""
_HEDGE = re.compile(
    r"\b(?:is|are|was|be|has|have|isn't|not|no|never|almost|nearly|about|only|again|yet|still|just|already"
    r"|first|last|every|all|"
    r"both|than|then|when|if|unless|until|before|after|while|because|but|on|in|at|of|with|without|longer"
    r"|somehow|finally|till|wait|tell|watch|should|must|that|which|whose|where|next|below|under|beside|above|left"
    r"|right|from|for|by|or|and)\b"
)
_SENTENCE_CASE = re.compile(r"[A-ZÀ-ÖØ-Þ][\w-]*(?: (?!\w+ly\b)[a-zß-öø-ÿ][\w-]*){1,3}")
_NO_LABEL = re.compile(
    r"\b(?:also|even|soon|often|always|too|really|quite|very|once|maybe|perhaps|sometimes|ever|there"
    r"|here|you|he|she|it|we"
    r"|they|dialog|window|form|page|bar|menu|panel|pane|tab|button|field|list|box|column|row|view|site|app)\b"
)
_LABEL_VERBS = frozenset(
    {
        "accept", "add", "agree", "allow", "apply", "attach", "book", "browse", "buy", "change", "check", "choose",
        "clear", "close", "compare", "confirm", "connect", "copy", "create", "delete", "deploy", "disable", "discard",
        "download", "edit", "enable", "enter", "export", "find", "finish", "follow", "forward", "get", "hide",
        "ignore", "import", "insert", "install", "join", "keep", "leave", "load", "log", "make", "mark", "move",
        "open", "overwrite", "pay", "place", "play", "post", "print", "proceed", "publish", "quit", "receive",
        "refresh", "reload", "remember", "remove", "rename", "replace", "reply", "report", "request", "reset",
        "restart", "restore", "resume", "retry", "run", "save", "scan", "search", "select", "send", "set", "share",
        "show", "sign", "skip", "start", "stay", "stop", "submit", "subscribe", "switch", "sync", "take", "test",
        "try", "turn", "undo", "unlock", "update", "upload", "use", "verify", "view", "wrap", "read", "learn", "see",
        "track", "claim", "register", "vote", "call", "donate", "rate", "write", "sort", "filter", "invite", "reject",
        "redeem", "order", "unsubscribe", "continue", "answer", "pin", "archive", "approve", "decline", "block",
        "mute", "unmute", "pause", "schedule", "shut", "translate",
    }
)  # fmt: skip
"""First words of labels in sentence case: "Remember me", "Place order"."""


_PARTICLE = re.compile(r"(?<= \w) (?:in|out|up|on|off)$|(?<=\w\w\w) (?:in|out|up|off|all)$")
"""A particle of the verb of a label: "Keep me signed in"."""
_AGREED = re.compile(
    r"(?i)(?:yes, )?I (?:agree|accept|consent|confirm|understand|have read)(?: to)?(?: (?:the|these|those|all))?"
    r"(?: (?:terms|conditions|rules|policy|privacy policy|cookies|licen[cs]e|agreement)"
    r"(?: and (?:conditions|policies|rules))?)?"
)
"""Labels of check boxes in the first person."""


class Phrase(Struct, frozen=True):
    """Words of a sentence with placeholders for quoted words: `<0>` for the first of them."""

    text: str
    quoted: tuple[str, ...]

    @classmethod
    def from_sentence(cls, sentence: str) -> Phrase | None:
        """Return the sentence as a phrase; None if quoted words are blank, quotes are left over, or it is too long."""
        plain = " ".join(sentence.split())
        if re.search(r"<\d", plain):
            return None
        words: list[str] = []

        def take(found: re.Match[str]) -> str:
            words.append(quoted_words(found).strip())
            return f"<{len(words) - 1}>"

        text = QUOTED.sub(take, plain).rstrip(".! ")
        if _POLITE.search(text):
            text = re.sub(r" ?\?(?= |$)", ".", text).rstrip(".! ")
        for pattern, full in _IN_FULL:
            text = pattern.sub(full, text)
        is_odd = not all(words) or len(text) > _MOST_CHARS or re.search(f"[{MARKS}]", text) is not None
        first, *rest = text.strip().split(" ", 1)
        if first.casefold() in NO_NAMES:
            text = " ".join([first.lower() if first != "I" else first, *rest])  # its capital begins the sentence
        return None if is_odd else cls(text.strip(), tuple(words))

    def with_text(self, text: str) -> Phrase:
        """Return a phrase of other words of the same sentence."""
        return Phrase(text.strip(" ,"), self.quoted)

    def quote(self, given: str) -> str:
        """Return the quoted words for the placeholder `given`, "" for any other word."""
        found = re.fullmatch(r"<(\d+)>", given)
        return self.quoted[int(found[1])] if found else ""

    def name(self, given: str) -> str:
        """Return `given` if it is certainly a name (quoted, or each word with a capital or digit), else ""."""
        words = given.split()
        is_name = "'s" not in given and all(re.search(r"[A-Z\dÀ-ÖØ-Þ]", word) or word in _SEPARATORS for word in words)
        may_be = bool(words) and "<" not in given and words[0] not in NO_NAMES and words[0] != "I"
        return self.quote(given) or (given if may_be and is_name else "")


def is_hedged(words: str) -> bool:
    """Return whether unquoted words are more than a name: lower-case words that belong to a sentence."""
    return _HEDGE.search(words) is not None


def is_label(words: str, *, after_kind: bool) -> bool:
    """Return whether words are a label in sentence case. Behind the kind of control (`the radio button Express
    delivery`) they are; before it (`the Remember me checkbox`) only if they begin with a verb.
    """
    first = words.split(" ", 1)[0].casefold()
    if _AGREED.fullmatch(words) is not None:
        return True
    told = _PARTICLE.sub("", words) if first in _LABEL_VERBS else words
    if _SENTENCE_CASE.fullmatch(words) is None or is_hedged(told) or _NO_LABEL.search(words) or first == "i":
        return False
    return after_kind or first in _LABEL_VERBS
