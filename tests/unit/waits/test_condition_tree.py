"""Three-valued logic, leaf order, words."""

from hypothesis import given
from hypothesis import strategies as st

from acud.types import (
    MOST_BOXES,
    AllOf,
    Answer,
    AnyOf,
    Change,
    Criteria,
    NotOf,
    Rect,
    Stable,
    Text,
    Until,
    Verdict,
    WindowTitle,
    condition_text,
    no,
    unknown,
    yes,
)
from acud.waits.condition_tree import evaluate, is_local, leaves, open_leaves

ORDER = {Answer.NO: 0, Answer.UNKNOWN: 1, Answer.YES: 2}
verdicts = st.sampled_from([yes("y"), no("n"), unknown("engine", "u")])
conditions = st.recursive(
    st.just(Criteria("c")),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: AllOf(tuple(parts))),
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: AnyOf(tuple(parts))),
        inner.map(NotOf),
    ),
    max_leaves=8,
)


def kleene(until: Until, answers: list[Answer]) -> int:
    """The textbook: no < unknown < yes; all is min, any is max, not is 2 - x."""
    if isinstance(until, NotOf):
        return 2 - kleene(until.part, answers)
    if isinstance(until, AllOf | AnyOf):
        values = [kleene(part, answers) for part in until.parts]
        return min(values) if isinstance(until, AllOf) else max(values)
    return ORDER[answers.pop(0)]


@given(conditions, st.data())
def test_evaluate_is_kleenes_logic(until: Until, data: st.DataObject) -> None:
    found = {index: data.draw(verdicts) for index in range(len(leaves(until)))}
    answers = [found[index].answer for index in range(len(found))]
    assert ORDER[evaluate(until, found).answer] == kleene(until, answers)


@given(conditions, st.data())
def test_an_open_leaf_is_exactly_one_that_is_missing_and_may_matter(until: Until, data: st.DataObject) -> None:
    count = len(leaves(until))
    found = data.draw(st.dictionaries(st.integers(0, count - 1), verdicts))
    asked = open_leaves(until, found)
    assert not asked & found.keys()
    if not asked:
        rest = {index: data.draw(verdicts) for index in range(count)}
        assert evaluate(until, {**rest, **found}).answer is evaluate(until, found).answer
    else:
        assert evaluate(until, found).answer is Answer.UNKNOWN


@given(conditions, st.data())
def test_what_is_not_known_never_makes_a_yes(until: Until, data: st.DataObject) -> None:
    count = len(leaves(until))
    found: dict[int, Verdict] = data.draw(st.dictionaries(st.integers(0, count - 1), verdicts))
    if evaluate(until, found).answer is Answer.YES:
        rest = {index: data.draw(verdicts) for index in range(count)}
        assert evaluate(until, {**rest, **found}).answer is Answer.YES


def test_leaves_are_depth_first_left_to_right() -> None:
    until = AllOf((Text("a"), NotOf(AnyOf((Criteria("b"), Change()))), WindowTitle("c"), Stable(1)))
    assert leaves(until) == (Text("a"), Criteria("b"), Change(), WindowTitle("c"), Stable(1))
    assert [is_local(leaf) for leaf in leaves(until)] == [False, False, True, True, True]


def test_details_say_what_decided() -> None:
    until = AllOf((Text("a"), AnyOf((Text("b"), Text("c")))))
    assert evaluate(until, {0: yes("a is there"), 1: no("no b"), 2: yes("c too")}).detail == "a is there and c too"
    assert evaluate(until, {0: no("no a"), 1: no("no b"), 2: no("no c")}).detail == "no a; no b; no c"
    assert evaluate(NotOf(Text("a")), {0: yes("a is there")}).detail == "still so: a is there"
    assert evaluate(until, {0: yes("a"), 1: unknown("engine", "it broke"), 2: no("no c")}) == unknown(
        "engine", "it broke"
    )


def test_boxes_are_of_the_parts_that_decided() -> None:
    """Of what does not decide, none: a person is shown what the answer rests on."""
    one, two = Rect(0, 0, 8, 8), Rect(40, 0, 8, 8)
    both, either = AllOf((Text("a"), Text("b"))), AnyOf((Text("a"), Text("b")))
    assert evaluate(both, {0: yes("a", (one,)), 1: yes("b", (two,))}).boxes == (one, two)
    assert evaluate(both, {0: yes("a", (one,)), 1: no("no b")}).boxes == ()
    assert evaluate(either, {0: no("no a", (one,)), 1: yes("b", (two,))}).boxes == (two,)
    assert evaluate(NotOf(Text("a")), {0: yes("a", (one,))}).boxes == (one,)
    assert len(yes("many", tuple(Rect(x, 0, 1, 1) for x in range(99))).boxes) == MOST_BOXES


def test_describe_reads_well() -> None:
    until = AllOf((Text("a", gone=True), AnyOf((WindowTitle("b"), Change(settle_s=2))), NotOf(Stable(5))))
    assert condition_text(until) == (
        'the text "a" is gone and (a window titled "b" is there or the target changed and settled for 2 s) '
        "and not the target is unchanged for 5 s"
    )
    assert condition_text(Criteria("the build is done")) == "the build is done"
