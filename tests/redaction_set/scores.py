"""How much of what is secret in the set is hidden, and how much beside it.

A secret in a picture is hidden when at most one letter at an edge of it shows (a letter shows when half of its box
does); a secret in a text, when no character of it is left. `overhidden` is the share of other letters of pictures, and
of other words of texts, that are hidden too.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from acud.config import AccessibilitySettings, OcrSettings, RedactionSettings
from acud.evaluator.accessibility.provider import AtSpiProvider
from acud.evaluator.ocr.reader import TextReading
from acud.evaluator.ports import RedactedPixels
from acud.evaluator.view_pixels import ViewPixels
from acud.features.redaction.evaluator import RedactionRules
from acud.features.redaction.secure_fields import SecureFields
from acud.features.redaction.text_rules import find
from acud.types import Rect
from tests.redaction_set.marked import Half, Text
from tests.redaction_set.screens import Letter, Shown, shown

PictureRules = Callable[[Shown], Awaitable[Sequence[Rect]]]
"""Returns what of a screen is hidden: boxes in its pixels."""
TextRules = Callable[[str], Iterable[tuple[int, int]]]
"""Returns what of a text is hidden: from this character to before that one."""


class Score(NamedTuple):
    """Secrets and how many of them are hidden; other letters or words and how many of them are hidden too. `missed`:
    the secrets that show, each with the screen or text that it stands in.
    """

    secrets: int = 0
    hidden: int = 0
    others: int = 0
    overhidden: int = 0
    missed: tuple[tuple[str, str], ...] = ()

    def plus(self, other: Score) -> Score:
        return Score(*(mine + more for mine, more in zip(self, other, strict=True)))  # type: ignore[arg-type]


def figures(half: Half) -> dict[str, Any]:
    pictures, texts = asyncio.run(of_pictures_by_acud(half)), of_texts(half.texts, texts_by_acud)
    both = pictures.plus(texts)
    return {
        "n": both.secrets, "hidden": _share(both.hidden, both.secrets),
        "overhidden": _share(both.overhidden, both.others), "pictures": pictures.secrets,
        "pictures_hidden": _share(pictures.hidden, pictures.secrets),
        "pictures_overhidden": _share(pictures.overhidden, pictures.others), "texts": texts.secrets,
        "text_hidden": _share(texts.hidden, texts.secrets), "text_overhidden": _share(texts.overhidden, texts.others),
    }  # fmt: skip


def _share(part: int, whole: int) -> float:
    return round(part / max(1, whole), 4)


# ---- pictures ----------------------------------------------------------------------------------------------------


async def of_pictures_by_acud(half: Half) -> Score:
    """Return the score of acud's rules on the screens of a half, with the widgets at hand as in the daemon."""
    text, mirrors = TextReading(OcrSettings()), AtSpiProvider(60)
    fields = SecureFields(AccessibilitySettings(), mirrors)
    rules = RedactionRules(RedactionSettings(), text, fields)

    async def hidden(one: Shown) -> list[Rect]:
        whole = Rect(0, 0, one.pixels.shape[1], one.pixels.shape[0])
        shot = ViewPixels(":1", 1, 1, 0, whole, one.pixels, one.screen.name, told=one.told)
        out = await rules.redact_shot(shot)
        if not isinstance(out, RedactedPixels):
            raise TypeError(f"{one.screen.name}: {out.reason}")
        return [found.box for found in out.hidden]

    try:
        return await of_pictures(half, hidden)
    finally:
        await fields.close()
        await mirrors.close()
        text.close()


async def of_pictures(half: Half, rules: PictureRules) -> Score:
    score = Score()
    async for one in shown(half):
        score = score.plus(of_letters(one, await rules(one)))
    return score


def of_letters(one: Shown, boxes: Sequence[Rect]) -> Score:
    covered = np.zeros(one.pixels.shape[:2], np.bool_)
    for box in boxes:
        covered[max(0, box.y) : max(0, box.bottom), max(0, box.x) : max(0, box.right)] = True
    by_secret: defaultdict[int, list[tuple[Letter, bool]]] = defaultdict(list)
    for letter in one.letters:
        place = letter.box
        is_hidden = bool(covered[place.y : place.bottom, place.x : place.right].mean() > 0.5)
        by_secret[letter.secret].append((letter, is_hidden))
    others = [is_hidden for _, is_hidden in by_secret.pop(-1, [])]
    missed = [letters for letters in by_secret.values() if not whole([is_hidden for _, is_hidden in letters])]
    written = "".join(cell.text for cell in one.screen.cells)
    seen = "".join(written.split())
    return Score(
        len(by_secret), len(by_secret) - len(missed), len(others), sum(others),
        tuple((one.screen.name, "".join(seen[letter.place] for letter, _ in letters)) for letters in missed),
    )  # fmt: skip


def whole(letters: Sequence[bool]) -> bool:
    """Tell whether a secret is hidden of whose letters these are: all, or all but the first or the last."""
    left = [place for place, is_hidden in enumerate(letters) if not is_hidden]
    return not left or (len(letters) > 1 and left in ([0], [len(letters) - 1]))


# ---- texts -------------------------------------------------------------------------------------------------------


def texts_by_acud(text: str) -> list[tuple[int, int]]:
    return [(span.start, span.end) for span in find(text)]


def of_texts(texts: Iterable[Text], rules: TextRules) -> Score:
    score = Score()
    for text in texts:
        score = score.plus(of_text(text, rules(text.marked.text)))
    return score


def of_text(text: Text, spans: Iterable[tuple[int, int]]) -> Score:
    """Return the score of what is hidden of one text. A word is hidden when half of it is."""
    written = text.marked.text
    hidden = [False] * len(written)
    for begin, end in spans:
        hidden[begin:end] = [True] * (end - begin)
    by_secret: defaultdict[int, list[int]] = defaultdict(list)
    words: list[list[int]] = [[]]
    for place, character in enumerate(written):
        secret = text.marked.secret_at(place)
        if secret >= 0 and not character.isspace():
            by_secret[secret].append(place)
        if secret >= 0 or character.isspace():
            words.append([])
        else:
            words[-1].append(place)
    others = [word for word in words if any(written[place].isalnum() for place in word)]
    missed = [places for places in by_secret.values() if not all(hidden[place] for place in places)]
    return Score(
        len(by_secret), len(by_secret) - len(missed), len(others),
        sum(2 * sum(hidden[place] for place in word) > len(word) for word in others),
        tuple((text.kind, "".join(written[place] for place in places)) for places in missed),
    )  # fmt: skip
