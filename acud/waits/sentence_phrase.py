"""A sentence with placeholders for its quoted words and contractions in full, and which of its words are a name."""

from __future__ import annotations

import re

from msgspec import Struct

from acud.language.quotation_marks import MARKS, QUOTED, quoted_words
from acud.waits.sentence_grammar import grammar

_MOST_CHARS = 400  # of a sentence without its quoted words; a longer one means more than a local condition
_POLITE = ("could you ", "can you ", "would you ", "will you ")  # questions that are requests
PLACEHOLDER = re.compile(r"<\d+>")
_SEPARATORS = frozenset("&-–—|:·+/")  # signs between the words of a title


class Phrase(Struct, frozen=True):
    """Words of a sentence with placeholders for quoted words: `<0>` for the first of them."""

    text: str
    quoted: tuple[str, ...]
    first: str = ""
    """The first word of the sentence, which has a capital letter in any case."""

    @classmethod
    def from_sentence(cls, sentence: str) -> Phrase | None:
        """Return the sentence as a phrase; None if quoted words are blank, quotes are left over, or it is too long."""
        plain = " ".join(sentence.split())
        words: list[str] = []

        def take(match: re.Match[str]) -> str:
            words.append(quoted_words(match).strip())
            return f"<{len(words) - 1}>"

        text = QUOTED.sub(take, plain)
        text = text.rstrip(".!? " if text.casefold().startswith(_POLITE) else ".! ")
        for contraction, full in grammar().contractions:
            text = contraction.sub(full, text)
        is_odd = PLACEHOLDER.search(plain) is not None or not all(words) or len(text) > _MOST_CHARS
        return None if is_odd or not set(MARKS).isdisjoint(text) else cls(text, tuple(words), text.partition(" ")[0])

    def with_text(self, text: str) -> Phrase:
        """Return a phrase of other words of the same sentence."""
        return Phrase(text.strip(" ,"), self.quoted, self.first)

    def quote(self, word: str) -> str:
        """Return the quoted words for the placeholder `word`, "" for any other word."""
        return self.quoted[int(word[1:-1])] if PLACEHOLDER.fullmatch(word) is not None else ""

    def name(self, text: str) -> str:
        """Return `text` if it is certainly a name (quoted, or each word with a capital or digit), else ""."""
        words = text.split()
        is_name = (
            bool(words) and words[0].casefold() not in grammar().never_first and "<" not in text and "'s" not in text
        )
        is_name &= all(word in _SEPARATORS or word != word.lower() or word.isdigit() for word in words)
        is_name &= grammar().never_within.isdisjoint(word.casefold() for word in words[1:])
        is_name &= len(words) == 1 or words[:1] != [self.first]
        return self.quote(text) or (text if is_name else "")
