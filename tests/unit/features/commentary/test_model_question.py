"""What the model of the commentary is asked, and what becomes of a question whose evaluator died."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from acud.features.commentary.supervisor.service import ModelAsker
from acud.features.redaction.text_rules import redact
from acud.protocol.evaluation import Job, JobResult, Thought
from acud.supervisor.job_queues import Work
from acud.types.commentary import AnalysisConfig, AudioChunk, ContextWindow

SECRET = "sk-proj-" + "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY"
HEARD = ContextWindow("Editor", (AudioChunk(1, "x" * 170 + f" my key is {SECRET} of course"),), (), 1, 0, 120_000)
CONFIG = AnalysisConfig(backend="openrouter")


class _Pool:
    def __init__(self) -> None:
        self.works: list[Work] = []

    def submit(self, work: Work) -> None:
        self.works.append(work)


def ask_once(*, leaves: bool, config: AnalysisConfig = CONFIG) -> tuple[Work, Job, list[Thought]]:
    pool, thoughts = _Pool(), list[Thought]()
    settings = SimpleNamespace(backends={config.backend: SimpleNamespace(is_local=not leaves)})
    asker = ModelAsker(cast("Any", pool), cast("Any", settings), cast("Any", SimpleNamespace(redact=redact)))
    asker.ask(config, HEARD).begin(cast("Any", thoughts.append))
    job = pool.works[0].build("job-1")
    assert job is not None
    return pool.works[0], job, thoughts


@pytest.mark.parametrize(("leaves", "told"), [(True, False), (False, True)])
def test_speech_is_redacted_for_whoever_is_elsewhere_before_it_is_cut(leaves: bool, told: bool) -> None:
    _, job, _ = ask_once(leaves=leaves)
    assert job.think is not None
    assert (SECRET[:8] in job.think.messages[0].text) is told


def test_the_job_takes_no_frame() -> None:
    _, job, _ = ask_once(leaves=True)
    assert (job.view.source, job.path) == ("", "")
    assert job.think is not None
    assert job.think.recurring
    assert (job.think.picture, job.think.model, job.think.temperature) == (False, "google/gemini-2.5-flash-lite", 0.3)


def test_only_openrouter_has_a_model_of_the_commentary_s_own() -> None:
    _, job, _ = ask_once(leaves=False, config=AnalysisConfig(backend="ollama"))
    assert job.think is not None
    assert job.think.model == ""


def test_a_question_whose_worker_died_is_not_asked_twice() -> None:
    work, _, thoughts = ask_once(leaves=True)
    assert work.build("job-1") is None
    assert [(one.code, one.cost_usd) for one in thoughts] == [("judge_down", None)]


def test_an_answer_and_its_absence() -> None:
    work, _, thoughts = ask_once(leaves=True)
    work.on_result(JobResult("job-1", "done", thought=Thought("Fine.")))
    work.on_result(JobResult("job-1", "failed", reason="already at 64 jobs"))
    work.on_lost("two workers died")
    assert thoughts[0].text == "Fine."
    assert [one.code for one in thoughts[1:]] == ["judge_down", "judge_down"]
    assert thoughts[1].reason == "the model was not asked: already at 64 jobs"
