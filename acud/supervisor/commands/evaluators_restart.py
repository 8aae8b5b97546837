"""Answer `evaluators_restart`."""

from __future__ import annotations

from acud.errors import AcudError
from acud.protocol.requests.daemon import EvaluatorRestarted, EvaluatorsRestart, EvaluatorsRestartReply
from acud.supervisor.app import App
from acud.supervisor.control import Call


def handle(app: App, request: EvaluatorsRestart, call: Call) -> None:
    """Renew the evaluators; the reply waits for the last one."""

    def done(outcome: tuple[EvaluatorRestarted, ...] | AcudError) -> None:
        if isinstance(outcome, AcudError):
            call.fail(outcome)
        else:
            call.reply(EvaluatorsRestartReply(outcome))

    app.upkeep.rolling.begin(call.later(done))
