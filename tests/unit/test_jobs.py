"""Jobs and their answers as messages: what they may hold, and which answers are refused."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acud.base.errors import InvalidRequest
from acud.protocol import codec
from acud.protocol.jobs import (
    MAX_QUESTIONS,
    VERSION,
    JobQuestion,
    ToAsker,
    VisionAnswer,
    VisionBegun,
    VisionJob,
    digest_of,
    fault_of,
)
from acud.types import no, unknown, yes

JOB = VisionJob(
    "job-1", "alpha", b"\xff\xd8", 960, 540, 1280, 720, (JobQuestion("it is green"),), 1.5e9, "acud.answer.a.job-1"
)
DIGEST = digest_of(codec.encode(JOB))


def test_a_job_comes_back_as_it_went() -> None:
    assert codec.decode(codec.encode(JOB), VisionJob) == JOB


def test_nothing_in_a_job_could_hold_a_path_or_a_key() -> None:
    names = {field.name for field in msgspec.structs.fields(VisionJob)} | {
        field.name for field in msgspec.structs.fields(JobQuestion)
    }
    assert not [name for name in names if any(word in name for word in ("path", "key", "url", "token", "dir", "file"))]


@pytest.mark.parametrize("questions", [0, MAX_QUESTIONS + 1])
def test_a_job_without_questions_or_with_too_many_is_refused(questions: int) -> None:
    many = msgspec.structs.replace(JOB, questions=(JobQuestion("x"),) * questions)
    with pytest.raises(InvalidRequest, match="questions"):
        codec.decode(codec.encode(many), VisionJob)


@pytest.mark.parametrize("verdict", [yes("seen"), no("missing"), unknown("judge_down", "ollama is down")])
def test_true_answers_are_taken(verdict: object) -> None:
    assert fault_of(VisionAnswer("job-1", 0, DIGEST, verdict), DIGEST, 1) == ""  # type: ignore[arg-type]
    assert fault_of(VisionBegun("job-1", DIGEST, "beta/7"), DIGEST, 1) == ""


@pytest.mark.parametrize(("answer", "why"), [
    (VisionAnswer("job-1", 0, DIGEST, yes("x"), version=VERSION + 1), "version"),
    (VisionAnswer("job-1", 0, "0" * 32, yes("x")), "another picture"),
    (VisionAnswer("job-1", 1, DIGEST, yes("x")), "question 1 of 1"),
    (VisionAnswer("job-1", 0, DIGEST, unknown("", "x")), "contradicts"),
    (VisionAnswer("job-1", 0, DIGEST, msgspec.structs.replace(yes("x"), code="judge_down")), "contradicts"),
    (VisionBegun("job-1", "0" * 32, "beta/7"), "another picture"),
])  # fmt: skip
def test_others_are_refused_with_the_reason(answer: ToAsker, why: str) -> None:
    assert why in fault_of(answer, DIGEST, 1)


@given(st.integers(0, 200), st.integers(0, 255))
def test_a_damaged_answer_never_passes_for_another(at: int, byte: int) -> None:
    body = bytearray(codec.encode(VisionAnswer("job-1", 0, DIGEST, no("x"))))
    body[at % len(body)] = byte
    try:
        told = codec.decode(bytes(body), VisionAnswer)
    except InvalidRequest:
        return
    assert fault_of(told, DIGEST, 1) or told.digest == DIGEST
