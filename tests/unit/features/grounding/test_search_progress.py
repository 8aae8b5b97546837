"""What several methods found together: the order they are asked in, and what their findings come to."""

from typing import Any

import pytest

from acud.features.grounding import search_progress
from acud.types import Rect
from acud.types.actions import Point
from acud.types.grounding import Candidate, Found, GroundingBackend, GroundingMethod, Tried

ACCESSIBILITY, OCR, UITARS = GroundingMethod.ACCESSIBILITY, GroundingMethod.OCR, GroundingMethod.UITARS
AUTO = search_progress.methods(GroundingBackend.AUTO)
MODEL = search_progress.methods(GroundingBackend.UITARS)
HERE, THERE = Rect(10, 10, 80, 30), Rect(200, 10, 80, 30)


def thing(method: GroundingMethod, box: Rect = HERE, confidence: float = 0.9, *, boxless: bool = False) -> Candidate:
    point = Point(box.x + box.w // 2, box.y + box.h // 2)
    return Candidate(point, None if boxless else box, confidence, method)


def after(*looks: tuple[GroundingMethod, Any, tuple[Candidate, ...]]) -> Found:
    found = search_progress.add(search_progress.nothing_yet(), Tried(GroundingMethod.DIRECT, "nothing"), ())
    for method, outcome, candidates in looks:
        found = search_progress.add(
            found, Tried(method, outcome, "because" if outcome == "unavailable" else ""), candidates
        )
    return found


def test_no_model_is_asked_unless_it_is_named() -> None:
    for backend in (GroundingBackend.AUTO, GroundingBackend.DIRECT):
        assert set(search_progress.methods(backend)) <= set(search_progress.LOCAL)
    assert (*AUTO, UITARS) == MODEL


def test_a_sure_answer_ends_the_search() -> None:
    found = after((ACCESSIBILITY, "sure", (thing(ACCESSIBILITY),)))
    assert found.status == "found"
    assert search_progress.next_method(MODEL, found) is None


@pytest.mark.parametrize("outcome", ["nothing", "unsure", "unavailable"])
def test_without_one_the_next_method_is_asked(outcome: str) -> None:
    candidates = (thing(ACCESSIBILITY),) if outcome == "unsure" else ()
    assert search_progress.next_method(AUTO, after((ACCESSIBILITY, outcome, candidates))) is OCR


def test_several_equally_good_are_not_chosen_from() -> None:
    both = (thing(ACCESSIBILITY), thing(ACCESSIBILITY, THERE))
    found = after((ACCESSIBILITY, "ambiguous", both))
    assert found.status == "ambiguous"
    assert found.candidates == both
    assert search_progress.next_method(AUTO, found) is None


def test_a_named_model_may_choose_among_them() -> None:
    both = (thing(ACCESSIBILITY), thing(ACCESSIBILITY, THERE))
    found = after((ACCESSIBILITY, "ambiguous", both))
    assert search_progress.next_method(MODEL, found) is UITARS
    chosen = search_progress.add(found, Tried(UITARS, "sure"), (thing(UITARS, THERE, 0.6, boxless=True),))
    assert chosen.status == "found"
    assert chosen.candidates[0].box == THERE


def test_text_on_a_doubtful_widget_confirms_it() -> None:
    words = Rect(20, 15, 40, 18)
    found = after(
        (ACCESSIBILITY, "unsure", (thing(ACCESSIBILITY, confidence=0.7),)), (OCR, "sure", (thing(OCR, words),))
    )
    assert found.status == "found"
    assert (found.candidates[0].method, found.candidates[0].box) == (ACCESSIBILITY, HERE)


def test_two_doubtful_methods_that_agree_are_still_in_doubt() -> None:
    found = after(
        (ACCESSIBILITY, "unsure", (thing(ACCESSIBILITY, confidence=0.7), thing(ACCESSIBILITY, THERE, 0.7))),
        (OCR, "unsure", (thing(OCR, THERE, 0.6),)),
    )
    assert found.status == "ambiguous"


def test_text_elsewhere_than_a_doubtful_widget_is_what_is_found() -> None:
    found = after((ACCESSIBILITY, "unsure", (thing(ACCESSIBILITY),)), (OCR, "sure", (thing(OCR, THERE),)))
    assert found.candidates == (thing(OCR, THERE),)


def test_doubt_alone_is_no_answer() -> None:
    found = after((ACCESSIBILITY, "nothing", ()), (OCR, "unsure", (thing(OCR),)))
    assert found.status == "ambiguous"
    assert "not well enough" in found.reason


def test_a_method_that_could_not_look_makes_nothing_unknown() -> None:
    found = after((ACCESSIBILITY, "unavailable", ()), (OCR, "nothing", ()))
    assert found.status == "unknown"
    assert "accessibility: because" in found.reason


def test_nothing_is_not_found_when_every_method_looked() -> None:
    assert after((ACCESSIBILITY, "nothing", ()), (OCR, "nothing", ())).status == "not_found"


def test_a_method_that_could_not_look_does_not_spoil_an_answer() -> None:
    assert after((ACCESSIBILITY, "unavailable", ()), (OCR, "sure", (thing(OCR),))).status == "found"


def test_text_does_not_overrule_a_widget_that_is_known_to_be_unusable() -> None:
    tried = Tried(ACCESSIBILITY, "nothing", "the push button 'Apply' is disabled")
    found = search_progress.add(search_progress.nothing_yet(), tried, ())
    assert search_progress.next_method(AUTO, found) is None
    assert (found.status, found.reason) == ("not_found", "the push button 'Apply' is disabled")
    assert search_progress.next_method(MODEL, found) is UITARS
