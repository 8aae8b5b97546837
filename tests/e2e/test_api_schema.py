"""The API is what its own document says: schemathesis tries it on a real gateway with a real daemon."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings, strategies
from msgspec import Struct

from acud.protocol.web import Scope
from acud.types import Criteria
from acud.types.tasks import ActionType
from acud_web import api as served
from acud_web import application
from acud_web.api import document
from tests.e2e.api_support import SETTINGS, Api
from tests.e2e.desktop import until
from tests.fixtures.daemon import Daemon

OPERATIONS = [(one.method, one.path) for one in served.OPERATIONS if one.media != "text/event-stream"]
"""A stream has no end to be tried."""
SHORT, LONG = 2, 100
UNTOLD = {"/api/actions", "/api/waits", "/api/waits/{id}/update", "/api/gui/do", "/api/gui/find", "/api/displays"}
UNTOLD |= {"/api/recordings", "/api/recordings/{id}/replay", "/api/waits/try"}
UNTOLD |= {"/api/tasks", "/api/tasks/{id}/update", "/api/change", "/api/runs", "/api/terminals/{terminal}/type"}
"""What takes values that no schema can tell from bad ones: a target, a pattern, a size, a status, nothing to do."""
BLOCKING = {"block_s", "timeout_s", "settle_s", "settle_timeout_s"}
"""What a request may ask to be waited for, minutes even."""
CHECKED = (
    "status_code_conformance", "content_type_conformance", "response_headers_conformance",
    "response_schema_conformance", "negative_data_rejection", "positive_data_acceptance", "unsupported_method",
)  # fmt: skip


@cache
def read_schema() -> Any:
    """Return the document as schemathesis reads it, which takes a second that each collection would take, too."""
    import schemathesis

    return schemathesis.openapi.from_dict(document.document(application.ROWS, served.OPERATIONS))


class There(Struct):
    """A gateway, a token for it that may not launch programs, and by the first part of a path the id of something that
    is there.
    """

    api: Api
    acting: Api
    ids: dict[str, str]

    def put_in(self, case: Any, path: str) -> None:
        """Have `case` ask about something that is there: the first name in `path` is its id."""
        if found := self.ids.get(path.split("/")[2]):
            for name in re.findall("{(.*?)}", path)[:1]:
                case.path_parameters[name] = found


@pytest.fixture(scope="module")
def there() -> Iterator[There]:
    small = "[capture]\nmax_megapixels = 1\n"
    with Daemon(settings=SETTINGS + small) as daemon, Api(daemon) as api, Api(daemon, Scope.ACT) as acting:
        client = daemon.client
        task = client.task_register("to be tried", ["a"], display_width=64, display_height=48).view.task
        client.task_log_action(task.task_id, ActionType.CLI, "make", item=1)
        wait = client.wait_create(Criteria("it rains"), task_id=task.task_id, timeout_s=600).wait.wait_id
        recording = until(lambda: client.record_list(task_id=task.task_id).recordings, "a recording")[0].recording_id
        display = client.display_create(64, 48).display.name
        yield There(api, acting, {"tasks": task.task_id, "waits": wait, "recordings": recording, "displays": display})


@pytest.mark.parametrize("operation", OPERATIONS, ids=" ".join)
def test_an_operation_is_what_the_document_says(operation: tuple[str, str], there: There) -> None:
    tried(operation, there, SHORT)


@pytest.mark.long
@pytest.mark.parametrize("operation", OPERATIONS, ids=" ".join)
def test_an_operation_is_what_the_document_says_at_length(operation: tuple[str, str], there: There) -> None:
    tried(operation, there, LONG)


@pytest.mark.parametrize(("method", "path"), OPERATIONS, ids=lambda one: one)
def test_a_method_that_is_not_there_is_told_which_are(method: str, path: str, there: There) -> None:
    answer = there.api.raw.request("TRACE", re.sub("{.*?}", "1", path))
    assert (answer.status_code, answer.json()["code"]) == (405, "method_not_allowed")
    assert method in answer.headers["allow"].split(", ")


def tried(operation: tuple[str, str], there: There, examples: int) -> None:
    """Send so many requests that the document allows, and as many that it does not; half of them, unless they delete,
    about something that is there.
    """
    from schemathesis import GenerationMode
    from schemathesis.checks import CHECKS, load_all_checks

    method, path = operation
    declared = read_schema()[path][method]
    load_all_checks()
    untold = {"positive_data_acceptance"} if path in UNTOLD or path.endswith("/actions") else set()
    checks = CHECKS.get_by_names([name for name in CHECKED if name not in untold])

    def sent(mode: GenerationMode) -> None:
        @seed(1)
        @settings(
            max_examples=examples,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=declared.as_strategy(generation_mode=mode), real=strategies.booleans())
        def attempt(case: Any, real: bool) -> None:
            if real and method != "DELETE" and mode is GenerationMode.POSITIVE:
                there.put_in(case, path)
            if mode is GenerationMode.POSITIVE and case.headers:
                case.headers.pop("Idempotency-Key", None)  # the generator likes to give the same one again
            if mode is GenerationMode.POSITIVE and isinstance(case.body, dict):
                asked = [(name, case.body[name]) for name in BLOCKING & set(case.body)]
                case.body |= {name: min(limit_s, 0.1) for name, limit_s in asked if isinstance(limit_s, int | float)}
                if path == "/api/change":
                    case.body.setdefault("timeout_s", 0.1)
            headers = (there.acting if path == "/api/actions" else there.api).headers
            answer = case.call(base_url=there.api.url, headers=headers, timeout=60)
            assert answer.status_code not in (500, 502), answer.text
            if answer.status_code != 413:  # refused for its length, before anybody read it
                case.validate_response(answer, checks=checks)

        attempt()

    sent(GenerationMode.POSITIVE)
    if declared.query or declared.body:
        sent(GenerationMode.NEGATIVE)
