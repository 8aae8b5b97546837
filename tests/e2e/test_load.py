"""Five hundred waits and a hundred tasks over twenty clients at once: every call gets its own answer."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from acud.types import Stable
from acud_client import Client
from tests.e2e.conftest import BARE
from tests.fixtures.daemon import Daemon

CLIENTS = 20
TASKS_EACH = 5
WAITS_PER_TASK = 5


def _work(daemon: Daemon, display: str, number: int) -> dict[str, str]:
    """Make tasks and waits; return each wait's id with the label it was made with."""
    labels: dict[str, str] = {}
    with Client(daemon.paths, timeout_s=120.0) as client:
        for one in range(TASKS_EACH):
            name = f"client {number} task {one}"
            task = client.task_register(name, ["first"], isolated_display=False).view.task
            assert task.name == name
            for wait in range(WAITS_PER_TASK):
                label = f"{name} wait {wait}"
                info = client.wait_create(Stable(3600.0), display=display, task_id=task.task_id, label=label).wait
                assert info.spec.label == label
                labels[info.wait_id] = label
    return labels


def test_no_reply_is_lost_or_given_to_another() -> None:
    with Daemon(settings=BARE) as daemon:
        display = daemon.client.display_create(64, 64).display.name
        with ThreadPoolExecutor(CLIENTS) as pool:
            made = list(pool.map(lambda number: _work(daemon, display, number), range(CLIENTS)))
        labels = {wait_id: label for part in made for wait_id, label in part.items()}
        assert len(labels) == CLIENTS * TASKS_EACH * WAITS_PER_TASK
        live = daemon.client.wait_list(limit=1000)
        assert live.total == len(labels)
        assert {wait.wait_id: wait.spec.label for wait in live.waits} == labels
        assert daemon.client.task_list(limit=100).total == CLIENTS * TASKS_EACH
