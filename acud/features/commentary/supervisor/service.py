"""The commentary in the supervisor: stores inputs, makes analyses when due, publishes results.

Nothing blocks: the embedded commentary takes microseconds, an evaluator asks the model. Inputs left unanalysed before a
restart are analysed after it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from msgspec import Struct
from msgspec.structs import asdict, replace

from acud.base import log
from acud.base.errors import AcudError
from acud.config import Settings
from acud.features.commentary import prompt
from acud.features.commentary.prompt import AGENT, AUDIO_CHARACTERS, SYSTEM, clean_analysis, make_window, user_prompt
from acud.features.commentary.schedule import AnalysisSchedule
from acud.features.commentary.settings import AnalysisSettings
from acud.features.commentary.tables import AnalysisInputs, AnalysisTable, MessageFeed, SenseEventTable
from acud.process.event_loop import Timer
from acud.protocol.evaluation import Job, JobResult, Thought
from acud.protocol.questions import ThinkAsk, View
from acud.protocol.requests.commentary import AnalysisStatusReply
from acud.protocol.requests.daemon import Purpose
from acud.supervisor.core import Core
from acud.supervisor.coroutines import Callback, Resume, run_steps
from acud.supervisor.evaluator_pool import EvaluatorPool
from acud.supervisor.job_queues import Lane
from acud.supervisor.observers import Observers
from acud.supervisor.redaction import Redaction
from acud.types import JudgeName
from acud.types.chat import ChatMessage
from acud.types.commentary import AnalysisConfig, AnalysisResult, ContextWindow, FeedItem, SenseEvent
from acud.waits.schedule import NORMAL_PRIORITY


class AnalysisUsage(Struct, frozen=True):
    """The usage of all analyses, failed ones included. `unpriced`: how many of them have an unknown cost."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float = 0.0
    unpriced: int = 0

    def plus(self, answer: Thought) -> AnalysisUsage:
        return AnalysisUsage(
            self.calls + 1,
            self.tokens_in + (answer.tokens_in or 0),
            self.tokens_out + (answer.tokens_out or 0),
            self.cost_usd + (answer.cost_usd or 0.0),
            self.unpriced + (answer.cost_usd is None),
        )


_LOG = log.logger("commentary")
MARK = "[🧠] "
"""Before the commentary's own words in the feed."""
OPENROUTER_MODEL = "google/gemini-2.5-flash-lite"
"""The model of OpenRouter if none is named; other backends use their own."""
ATTENDED_S = 600.0
"""Time after a client's last request for feed, senses or results during which acud's own displays are sensed."""


class Commentary:
    """Owns the loop's state."""

    def __init__(self, core: Core, asker: ModelAsker) -> None:
        database, settings = core.store, core.settings.of(AnalysisSettings)
        self.feed, self.sense, self.analyses = MessageFeed(database), SenseEventTable(database), AnalysisTable(database)
        self._journal, self._usage_log = core.journal, core.usage_log
        self._loop, self._clock = core.loop, core.clock
        self._asker = asker
        self._hide = core.redaction.redact
        self._rules = AnalysisSchedule(AnalysisConfig(**asdict(settings)), core.clock.monotonic_s())
        self._before: ContextWindow | None = None
        self._timer: Timer | None = None
        self._spent = AnalysisUsage()
        self._fault = ""
        self._attended_s = float("-inf")
        self.attended = Observers[Callable[[], None]]()
        """Called whenever a client begins to listen, so that it gets the window in front."""

    @property
    def config(self) -> AnalysisConfig:
        return self._rules.config

    @property
    def sensing(self) -> bool:
        """Whether acud's own displays are sensed: it is on, and a client listens or a backend is named."""
        listened = self.config.backend or self._clock.monotonic_s() - self._attended_s < ATTENDED_S
        return self.config.enabled and bool(listened)

    def start(self) -> None:
        """Analyse inputs that a former supervisor left unanalysed."""
        self._rules.set_last_pushed(self.analyses.last_pushed())
        answered, now = self.analyses.find_answered(), self._collect_inputs()
        if now.heard > answered.heard or now.seen > answered.seen:
            self._note_news()

    def note_listener(self) -> None:
        before = self.sensing
        self._attended_s = self._clock.monotonic_s()
        if self.sensing and not before:
            for observer in self.attended:
                observer()

    def add_message(self, text: str, priority: str, source: str) -> int:
        """Add a message to the feed, in this turn; return its number."""
        number = self.feed.add(FeedItem(0, text, priority, self._now_ms(), source))
        if source != AGENT:
            self._journal.after_commit(self._note_news)
        return number

    def add_event(self, event: SenseEvent) -> int:
        """Add a sense event, redacted, in this turn; return its number."""
        number = self.sense.add(self._redact_and_date(event))
        self._journal.after_commit(self._note_news)
        return number

    def keep_sensed(self, event: SenseEvent) -> None:
        """Keep an event of one of acud's own displays, in this turn or when the disk accepts it again."""
        self._journal.keep(partial(self._add_sensed, self._redact_and_date(event)), self._note_news, droppable=True)

    def _add_sensed(self, event: SenseEvent) -> None:
        self.sense.add(event)

    def configure(self, config: AnalysisConfig) -> None:
        self._rules.configure(config, self._clock.monotonic_s())
        self._set_timer()

    def _note_news(self) -> None:
        self._rules.note_news(self._clock.monotonic_s())
        self._set_timer()

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        due_s = self._rules.due_s()
        self._timer = self._loop.call_at(due_s, self._on_timer) if due_s is not None else None

    def _on_timer(self) -> None:
        version = self._rules.tick(self._clock.monotonic_s())
        if version is not None:
            run_steps(self._analyse_window(version), self._on_analysed)
        self._set_timer()

    def _on_analysed(self, outcome: AcudError | None) -> None:
        if outcome is not None:
            self._take_failure(Thought(reason=outcome.message))
        self._set_timer()

    async def _analyse_window(self, version: int) -> None:
        window, inputs = self.window(), self._collect_inputs()
        if window.is_empty:
            self._rules.skip(version)
            return
        began_s = self._clock.monotonic_s()
        thought = await self._ask_model(window)
        latency_ms = round((self._clock.monotonic_s() - began_s) * 1000)
        self._spent = self._spent.plus(thought)
        if self.config.log_verbose:
            _LOG.info("commentary.turn", prompt=self._hide(user_prompt(window)), answer=thought.text or thought.reason)
        if thought.code and not (thought.code == "truncated" and thought.text):  # a truncated answer is used
            self._take_failure(thought)
        else:
            text, self._fault, self._before = clean_analysis(thought.text), "", window
            push = self._rules.take_analysis(text, version, self._clock.monotonic_s())
            self._keep_result(thought, text, window, inputs, push, latency_ms)

    async def _ask_model(self, window: ContextWindow) -> Thought:
        backend, named = self.config.backend, choose_model(self.config)
        if not backend:
            text = prompt.comment(window, self._before)
            return Thought(text, model=prompt.MODEL, tokens_in=0, tokens_out=0, cost_usd=0.0)
        thought = await self._asker.ask(self.config, window)
        tokens, model = (thought.tokens_in, thought.tokens_out), thought.model or named
        self._usage_log.enter(Purpose.COMMENTARY, backend, thought.cost_usd, tokens, model=model)
        return thought

    def _take_failure(self, answer: Thought) -> None:
        limited = answer.code == "rate_limited"
        self._fault = answer.reason
        now_s = self._clock.monotonic_s()
        self._rules.take_failure(now_s, rate_limited=limited, retry_after_s=answer.retry_after_s)
        _LOG.warning("commentary.failed", reason=answer.reason, rate_limited=limited)

    def _keep_result(
        self,
        answer: Thought,
        text: str,
        window: ContextWindow,
        inputs: AnalysisInputs,
        push: str | None,
        latency_ms: int,
    ) -> None:
        now_ms = self._now_ms()
        tokens = (answer.tokens_in, answer.tokens_out)
        result = AnalysisResult(
            0, now_ms, text, window.counts(), push is not None, answer.model, latency_ms, *tokens, answer.cost_usd
        )
        message = FeedItem(0, MARK + push, "normal", now_ms, AGENT) if push is not None else None
        self._journal.keep(lambda: self._write_result(result, inputs, message), droppable=True)

    def _write_result(self, result: AnalysisResult, inputs: AnalysisInputs, message: FeedItem | None) -> None:
        number = self.analyses.add(result, inputs)
        feed_id = self.feed.add(message) if message is not None else 0
        self._journal.event(
            "analysis.result",
            str(number),
            analysis=result.analysis,
            app=result.context.currentApp,
            pushed=result.pushed,
            model=result.model,
            feed_id=feed_id,
        )

    def window(self) -> ContextWindow:
        """Return the input of an analysis made now."""
        now_ms, age_ms = self._now_ms(), self.config.max_age_ms
        return make_window(self.feed.above(0), self.sense.words(), now_ms, age_ms)

    def status(self) -> AnalysisStatusReply:
        """Return the state of the loop, with its usage."""
        newest = self.analyses.newest(1)
        return AnalysisStatusReply(
            messages=self.feed.count(),
            sense_events=self.sense.count(),
            config=self.config,
            model=name_model(self.config),
            **asdict(self._spent),
            interval_ms=round(self._rules.interval_s * 1000),
            fault=self._fault or _unused_model(self.config),
            last=newest[0] if newest else None,
        )

    def _redact_and_date(self, event: SenseEvent) -> SenseEvent:
        meta = replace(event.meta, app=self._hide(event.meta.app), windowTitle=self._hide(event.meta.windowTitle))
        return replace(event, ocr=self._hide(event.ocr), meta=meta, receivedAt=self._now_ms())

    def _collect_inputs(self) -> AnalysisInputs:
        return AnalysisInputs(self.feed.newest_of_others(AGENT), self.sense.newest())

    def _now_ms(self) -> int:
        return int(self._clock.instant().utc_s * 1000)


def name_model(config: AnalysisConfig) -> str:
    """Return the model that comments with `config`: the embedded commentary unless a backend is named."""
    if not config.backend:
        return prompt.MODEL
    return choose_model(config) or f"the model of {config.backend}"


def choose_model(config: AnalysisConfig) -> str:
    """Return the model to request of the backend; "" for its default."""
    return config.model or (OPENROUTER_MODEL if config.backend == JudgeName.OPENROUTER else "")


def _unused_model(config: AnalysisConfig) -> str:
    """Return why a named model is not asked, or ""."""
    return f"model {config.model} is not asked: no backend is named" if config.model and not config.backend else ""


_LOOKED_AT = 4 * AUDIO_CHARACTERS
"""Characters of a chunk that are redacted: more than are sent, so that no key is missed for being cut, and few enough
for the supervisor."""


class ModelAsker:
    """Asks the backend of the settings through the pool."""

    def __init__(self, pool: EvaluatorPool, settings: Settings, redaction: Redaction) -> None:
        self._pool = pool
        self._settings = settings
        self._redaction = redaction

    def ask(self, config: AnalysisConfig, window: ContextWindow) -> Callback[Thought]:
        """Await the model's thought, in a later turn, whatever happens. Speech is redacted if it leaves this machine;
        screen text was redacted on arrival.
        """
        if not self._settings.backends[config.backend].is_local:
            redact = self._redaction.redact
            audio = tuple(replace(chunk, text=redact(chunk.text[:_LOOKED_AT])) for chunk in window.audio)
            window = replace(window, audio=audio)
        question = ThinkAsk(
            config.backend,
            SYSTEM,
            (ChatMessage("user", user_prompt(window), quotes=True),),
            model=choose_model(config),
            picture=False,
            max_tokens=config.max_tokens,
            temperature=config.temperature,
            recurring=True,
        )
        return Callback(lambda resume: self._pool.submit(_Question(question, resume)))


class _Question:
    """One question to a model. It is not repeated when its worker dies, which may have asked already."""

    lane = Lane.JUDGE
    display = ""
    priority = NORMAL_PRIORITY

    def __init__(self, ask: ThinkAsk, on_done: Resume[Thought]) -> None:
        self._ask = ask
        self._done = on_done
        self._sent = False

    def build(self, job_id: str) -> Job | None:
        if self._sent:
            self._done(Thought(code="judge_down", reason="the evaluator ended while the model was asked"))
            return None
        self._sent = True
        # An empty view: the question takes no frame.
        return Job(job_id, View(""), "", 0, 0, think=self._ask)

    def on_part(self, result: JobResult) -> None:
        """Do nothing: a thought has no parts."""

    def on_result(self, result: JobResult) -> None:
        reason = f"the model was not asked: {result.reason or result.status}"
        self._done(result.thought or Thought(code="judge_down", reason=reason, cost_usd=0.0))

    def on_lost(self, reason: str) -> None:
        """Report a lost answer; whether the model was asked, and the cost, are unknown."""
        self._done(Thought(code="judge_down", reason=f"the model's answer was lost: {reason}"))
