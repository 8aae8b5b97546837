"""Judges that are down, slow, lack what they need or refuse: is a verdict never made up, and the reason told early?"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing

from acud.types import Answer as Said
from acud.types import Criteria, Verdict, WaitState
from tests.bench.foreign.case import Answer, Case, Outcome
from tests.fixtures.daemon import Daemon
from tests.fixtures.painter import Painter
from tests.fixtures.ports import free_port
from tests.integration.model_server import Answer as Reply
from tests.integration.model_server import ModelThread, cut, hang, reset
from tests.integration.vendors import MODELS, completion

_PATIENCE_S = 60.0
_MODELS = {"/v1/models": Reply({"object": "list", "data": [{"id": MODELS["vllm"]}]})}
_PAGE = Reply(b"<html><title>Sign in</title>YES: welcome to this network</html>", headers={"content-type": "text/html"})


def _settings(url: str) -> str:
    limits = '[vision]\nbackend = "vllm"\ntimeout_s = 2\nconnect_timeout_s = 2\n'
    return f'{limits}[backends.vllm]\nurl = "{url}"\ntries = 1\nlocal = true\n'


def _ask(url: str, holds: Callable[[Verdict, WaitState], bool]) -> tuple[Verdict, WaitState]:
    """Return the verdict of a wait and its state, once `holds` of them or after a minute; its own limit is further."""
    with Daemon(settings=_settings(url)) as daemon:
        display = daemon.client.display_create(640, 480).display
        with closing(Painter(display)) as painter:
            wait_id = daemon.client.wait_create(Criteria("the lamp is green"), timeout_s=300).wait.wait_id
            until_s = time.monotonic() + _PATIENCE_S
            while True:
                now = daemon.client.wait_show(wait_id).wait
                if holds(now.verdict, now.state) or time.monotonic() > until_s:
                    return now.verdict, now.state
                painter.clock()
                time.sleep(0.2)


def _judge_unknown(*words: str, reply: Reply | None, gets: dict[str, Reply] | None = None) -> Outcome:
    """The server answers every call with `reply`, or nothing listens: unknown, with the reason, before the deadline."""

    def is_told(verdict: Verdict, state: WaitState) -> bool:
        return verdict.code != "not_judged" or state is not WaitState.WATCHING

    if reply is None:
        verdict, state = _ask(f"http://127.0.0.1:{free_port()}", is_told)
    else:
        with ModelThread(reply, gets=_MODELS if gets is None else gets) as server:
            verdict, state = _ask(server.url, is_told)
    printed = f"{state}: {verdict.answer}({verdict.code}): {verdict.detail}"
    told = f"{verdict.code} {verdict.detail}".lower()
    is_right = verdict.answer is Said.UNKNOWN and verdict.code != "not_judged" and any(one in told for one in words)
    return Outcome(Answer.RIGHT if is_right else Answer.WRONG, printed)


def _judge_recovery(*first: Reply) -> Outcome:
    """The server answers so at first, and yes then: the wait resolves."""
    with ModelThread(*first, completion("YES: it is green"), gets=_MODELS) as server:
        verdict, state = _ask(server.url, lambda _, state: state is not WaitState.WATCHING)
    is_right = state is WaitState.RESOLVED and verdict.detail == "it is green"
    return Outcome(Answer.RIGHT if is_right else Answer.WRONG, f"{state}: {verdict.answer}: {verdict.detail}")


def _lacks_model() -> Reply:
    return Reply({"error": {"message": f"The model `{MODELS['vllm']}` does not exist.", "code": 404}}, 404)


CASES = (
    Case("nothing listens", lambda _: _judge_unknown("judge_down", reply=None)),
    Case(
        "the model is not there",
        lambda _: _judge_unknown(
            "model", reply=_lacks_model(), gets={"/v1/models": Reply({"data": [{"id": "other"}]})}
        ),
    ),
    Case("an answer that never comes", lambda _: _judge_unknown("no answer", "timeout", "2 s", reply=Reply(play=hang))),
    Case(
        "a key that is refused",
        lambda _: _judge_unknown(
            "401", "key", "rejected", reply=Reply({"error": {"message": "Incorrect API key"}}, 401)
        ),
    ),
    Case("a sign-in page of the network", lambda _: _judge_unknown("html", "json", "form", reply=_PAGE), held_out=True),
    Case("an answer that is cut off", lambda _: _judge_unknown("judge_down", reply=Reply(play=cut)), held_out=True),
    Case("overloaded, then well", lambda _: _judge_recovery(Reply({"error": "loading"}, 503)), held_out=True),
    Case("a connection that is reset, then well", lambda _: _judge_recovery(Reply(play=reset)), held_out=True),
    Case(
        "too many requests, then well",
        lambda _: _judge_recovery(Reply({"error": {"message": "slow down"}}, 429, {"retry-after": "1"})),
        held_out=True,
    ),
)
