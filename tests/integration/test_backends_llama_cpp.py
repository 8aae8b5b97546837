"""llama.cpp's own server as a backend, with a model that really looks at the picture: whether it is bright."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from acud.evaluator.judges.picture_encoding import encode_for_judge
from acud.evaluator.judges.provider import ChatRequest
from acud.protocol.requests.daemon import Finding
from acud.types import Criteria, WaitInfo, no, yes
from acud.types.chat import ChatMessage, ChatTool
from tests.e2e import faults
from tests.fixtures.daemon import Daemon
from tests.fixtures.painter import Painter
from tests.integration.vendors import QUESTION, Quick, model
from tests.llama_cpp.server import KEY, MODEL, LlamaServer

pytestmark = [pytest.mark.long, pytest.mark.timeout(400)]

BRIGHT = Criteria("the room in the photograph is lit")
"""Nothing that acud could decide by itself."""


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the first server writes its models."""
    return tmp_path_factory.mktemp("llama_cpp")


@pytest.fixture(scope="module")
def llama(models: Path) -> Iterator[LlamaServer]:
    """A server that takes pictures, once for the tests that leave it as it is."""
    with LlamaServer(models) as running:
        yield running


@pytest.fixture(scope="module")
def blind(models: Path) -> Iterator[LlamaServer]:
    with LlamaServer(models, sees=False) as running:
        yield running


def picture(light: int) -> Any:
    """Return a JPEG of one grey, `light` from 0 to 255."""
    return encode_for_judge(np.full((540, 960, 4), light, np.uint8), 960, 72)


def settings(server: LlamaServer, **more: Any) -> str:
    """Return an acud.toml with the server as the backend `llama`."""
    backend = {"kind": "openai", "url": server.url, "model": MODEL, "local": True, "tries": 1, **more}
    return faults.settings(vision={"backend": "llama"}, **{"backends.llama": backend})


def finding(daemon: Daemon, part: str) -> Finding | None:
    return next((one for one in daemon.client.doctor().findings if one.part == part), None)


def down(daemon: Daemon) -> Finding | None:
    """Return what the doctor finds of the backend once it is down."""
    found = finding(daemon, "judge llama")
    return found if found is not None and found.level != "ok" else None


# ---- a wait from beginning to end ----------------------------------------------------------------------------------


def test_a_wait_is_judged_by_it_from_the_pixels_and_its_tokens_are_counted(llama: LlamaServer) -> None:
    with Daemon(settings=settings(llama), env={"ACU_LLAMA_API_KEY": KEY}) as daemon:
        screen = daemon.client.display_create().display
        wait = daemon.client.wait_create(BRIGHT, display=screen.name).wait
        assert faults.judged(daemon, wait, "no").verdict.detail == "the picture is dark"
        with closing(Painter(screen)):
            told = faults.ended(daemon, wait, "resolved")
        assert told.verdict.detail == "the picture is bright"
        rows = daemon.client.wait_show(wait.wait_id, evaluations=100).evaluations
        assert {row.judge for row in rows} == {"llama"}
        used = daemon.client.usage()
        (row,) = (one for one in used.rows if one.judge == "llama")
        assert row.evaluations == told.spent.evaluations >= 2
        assert row.tokens_in > 50 * row.evaluations
        assert row.tokens_out == 3 * row.evaluations  # YES:, the sentence, the end
        assert (row.cost_usd, row.unpriced) == (0.0, 0)
        found = finding(daemon, "judge llama")
        assert (found is not None and found.level, found is not None and "ready" in found.text) == ("ok", True)
        assert KEY not in daemon.log() + repr(faults.events(daemon)) + repr(daemon.client.doctor())
    assert KEY not in llama.log()


def test_a_server_that_hangs_and_dies_in_mid_request_is_unknown_until_it_is_back(models: Path) -> None:
    with (
        LlamaServer(models) as server,
        Daemon(settings=settings(server, timeout_s=5.0, tries=3), env={"ACU_LLAMA_API_KEY": KEY}) as daemon,
    ):
        screen = daemon.client.display_create().display
        wait = daemon.client.wait_create(BRIGHT, display=screen.name).wait
        faults.judged(daemon, wait, "no")
        server.halt()
        with closing(Painter(screen)):
            told = faults.judged(daemon, wait, "unknown", "judge_down")
            assert "llama gave no answer within 5 s" in told.verdict.detail
            faults.until(server.has_unread, "a request under way")
            server.kill()
            faults.until(lambda: "(after 3 tries)" in detail(daemon, wait), "the death told")
            server.start()
            ended = faults.ended(daemon, wait, "resolved")
        assert ended.verdict.detail == "the picture is bright"
        rows = daemon.client.wait_show(wait.wait_id, evaluations=100).evaluations
        assert [row.verdict.answer.value for row in rows].count("no") == 1


def detail(daemon: Daemon, wait: WaitInfo) -> str:
    """Return what the wait's newest verdict says."""
    return daemon.client.wait_show(wait.wait_id).wait.verdict.detail


def test_without_an_mmproj_it_is_told_what_to_start_it_with(blind: LlamaServer) -> None:
    with Daemon(settings=settings(blind, tries=3), env={"ACU_LLAMA_API_KEY": KEY}) as daemon:
        screen = daemon.client.display_create().display
        wait = daemon.client.wait_create(BRIGHT, display=screen.name).wait
        told = faults.judged(daemon, wait, "unknown", "rejected")
        assert "image input is not supported" in told.verdict.detail
        assert "llama-server with --mmproj" in told.verdict.detail
        found = faults.until(lambda: down(daemon), "a backend known to be down")
        assert "llama-server with --mmproj" in found.text
        rows = daemon.client.wait_show(wait.wait_id, evaluations=100).evaluations
        assert {row.verdict.code for row in rows} == {"rejected"}


# ---- its API -------------------------------------------------------------------------------------------------------


@pytest.mark.asyncio
async def test_many_questions_at_once_each_have_the_answer_to_their_own_picture(llama: LlamaServer) -> None:
    backend = model("vllm", llama.url, key=KEY, model=MODEL)
    lights = [0, 255, 60, 200] * 8
    replies = await asyncio.gather(*(backend.evaluate(QUESTION, picture(light)) for light in lights))
    await backend.close()
    expected = {True: yes("the picture is bright"), False: no("the picture is dark")}
    assert [one.verdict for one in replies] == [expected[light > 128] for light in lights]
    assert {one.tokens_out for one in replies} == {3}


@pytest.mark.asyncio
async def test_a_conversation_thinks_and_takes_tools_and_a_verdict_is_asked_for_without(llama: LlamaServer) -> None:
    backend = model("vllm", llama.url, key=KEY, model=MODEL)
    tool = ChatTool("click", "Click a place.", '{"type": "object", "properties": {"x": {"type": "integer"}}}')
    request = ChatRequest((ChatMessage("user", "now?"),), system="Be brief.", pictures=(picture(9),), tools=(tool,))
    reply = await backend.ask(request)
    verdict = (await backend.evaluate(QUESTION, picture(9))).verdict
    await backend.close()
    assert (reply.code, reply.text.strip(), verdict) == ("", "I ponder", no("the picture is dark"))


@pytest.mark.asyncio
async def test_a_context_that_is_too_small_is_told_in_its_own_words(models: Path) -> None:
    with LlamaServer(models, context=256) as server:
        backend = model("vllm", server.url, key=KEY, model=MODEL, clock=Quick())
        reply = await backend.evaluate(QUESTION, picture(255))
        await backend.close()
    assert reply.verdict.code == "rejected"
    assert "exceeds the available context size" in reply.verdict.detail
