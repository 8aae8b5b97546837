"""The commentary on a real daemon: its rings, its rhythm, and that it says nothing twice."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from acud.analysis.nouns import FEED_KEPT, SENSE_KEPT, SenseMeta
from acud.errors import InvalidRequest
from acud.protocol.requests.analysis_config import AnalysisConfigReply, AnalysisConfigure
from tests.daemon import Daemon
from tests.e2e.conftest import BARE
from tests.e2e.desktop import until

QUICK = '[analysis]\ncadence = "event"\n'


@pytest.fixture
def own() -> Iterator[Daemon]:
    """A daemon that comments soon after news."""
    with Daemon(settings=BARE + QUICK) as running:
        yield running


def _now_ms() -> int:
    return int(time.time() * 1000)


def test_rings_outlive_a_kill(own: Daemon) -> None:
    for number in range(FEED_KEPT + 3):
        posted = own.client.feed_post(f"message {number}").id
    for number in range(SENSE_KEPT + 2):
        own.client.sense_post("text", _now_ms(), f"line {number}", roi={"data": "QQ==", "bbox": [0, 0, 1, 1]})
    assert posted == FEED_KEPT + 3
    own.kill()
    own.start()
    messages = [one for one in own.client.feed_list().messages if one.source != "agent"]
    events = own.client.sense_list().events
    assert messages[-1].text == f"message {FEED_KEPT + 2}"
    assert [event.id for event in events] == list(range(3, SENSE_KEPT + 3))
    assert events[0].roi == {"data": "QQ==", "bbox": [0, 0, 1, 1]}
    assert own.client.sense_list(after=SENSE_KEPT, meta_only=True).events[0].roi == {"bbox": [0, 0, 1, 1]}
    assert own.client.feed_post("next").id > posted
    # What nobody had answered for when the daemon was killed is answered for now.
    until(lambda: bool(own.client.analysis_history().results), "an analysis")


def test_it_says_what_is_new_once(own: Daemon) -> None:
    with own.client.events(topic="analysis.") as told:
        own.client.sense_post("context", _now_ms(), meta=SenseMeta(app="Editor"))
        event = next(told)
    [result] = own.client.analysis_history().results
    assert (event.subject, event.data["pushed"], event.data["model"]) == (str(result.id), True, "embedded")
    assert (result.analysis, result.context.currentApp) == ("Editor is in front.", "Editor")
    assert (result.tokensIn, result.tokensOut, result.cost_usd) == (0, 0, 0.0)
    [said] = own.client.feed_list().messages
    assert (said.text, said.source) == ("[🧠] Editor is in front.", "agent")
    status = own.client.analysis_status()
    assert (status.calls, status.model, status.last, status.fault) == (1, "embedded", result, "")


def test_reconfigured_while_it_runs(own: Daemon) -> None:
    config = own.client.analysis_config
    before = config().config
    changed = config(interval_ms=10, max_age_ms=1, temperature=1.5, push_to_feed=False).config
    assert (changed.interval_ms, changed.max_age_ms, changed.temperature) == (5000, 10_000, 1.5)
    assert (changed.cadence, changed.push_to_feed, before.push_to_feed) == ("event", False, True)
    for bad in (
        AnalysisConfigure(temperature=float("nan")),
        AnalysisConfigure(temperature=3.0),
        AnalysisConfigure(backend="skynet"),
        AnalysisConfigure(interval_ms=10**9),
    ):
        with pytest.raises(InvalidRequest):
            own.client.ask(bad, AnalysisConfigReply)
    assert config().config == changed
    named = config(model="some/model").config
    assert (named.model, own.client.analysis_status().model) == ("some/model", "embedded")
    assert "no backend" in own.client.analysis_status().fault
    assert config(enabled=False).config.enabled is False
