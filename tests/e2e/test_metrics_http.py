"""/metrics of the gateway: who gets it, and what."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from acud.protocol.web import digest_of, new_secret
from tests.e2e import faults
from tests.e2e.metrics import Scrape
from tests.fixtures.daemon import Daemon


@contextmanager
def _gateway(**web: object) -> Iterator[tuple[Daemon, httpx.Client]]:
    """A daemon whose gateway serves, and a client without a pass."""
    with Daemon(settings=faults.settings(web={"enabled": True, "port": 0, **web})) as daemon:

        def url() -> str:
            found = [one.text for one in daemon.client.doctor().findings if one.part == "dashboard"]
            return found[0].split()[1].rstrip(";,") if found else ""

        with httpx.Client(base_url=faults.until(url, "the gateway"), trust_env=False, timeout=30) as http:
            yield daemon, http


@pytest.fixture(scope="module")
def closed() -> Iterator[tuple[Daemon, httpx.Client]]:
    """As it comes: nobody without a pass."""
    with _gateway() as made:
        yield made


@pytest.fixture(scope="module")
def opened() -> Iterator[tuple[Daemon, httpx.Client]]:
    """Open to scrapes from this machine."""
    with _gateway(metrics_open=True) as made:
        yield made


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_a_scrape_with_a_token(closed: tuple[Daemon, httpx.Client]) -> None:
    daemon, http = closed
    token = new_secret()
    daemon.client.web_token_create(digest_of(token))
    answer = http.get("/metrics", headers=_bearer(token))
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert answer.headers["cache-control"] == "no-store"
    found = Scrape(answer.text)
    assert found.of("acud_child_up", kind="web", name="0") == 1
    assert found.of("acud_requests_total", request="web_pass") >= 1


def test_without_a_pass(closed: tuple[Daemon, httpx.Client]) -> None:
    _, http = closed
    assert http.get("/metrics").status_code == 401
    assert http.get("/metrics", headers=_bearer("a" * 43)).status_code == 401


def test_a_pass_that_is_limited_to_a_display_sees_no_others(closed: tuple[Daemon, httpx.Client]) -> None:
    daemon, http = closed
    token = new_secret()
    daemon.client.web_token_create(digest_of(token), displays=[":1"])
    assert http.get("/metrics", headers=_bearer(token)).status_code == 403


def test_open_scrapes_come_from_this_machine(opened: tuple[Daemon, httpx.Client]) -> None:
    _, http = opened
    faults.until(lambda: Scrape(http.get("/metrics").text).of("acud_degraded_reasons") == 0, "nothing amiss")
    for header in ("X-Forwarded-For", "Forwarded", "X-Real-IP", "Via"):
        assert http.get("/metrics", headers={header: "203.0.113.9"}).status_code == 401


def test_open_scrapes_open_nothing_else(opened: tuple[Daemon, httpx.Client]) -> None:
    _, http = opened
    assert http.get("/api/me").status_code == 401
    assert http.get("/metrics", headers={"Host": "elsewhere.example"}).status_code == 421
    assert http.get("/metrics", headers={"Origin": "http://elsewhere.example"}).status_code == 403
    assert http.post("/metrics").status_code == 405
