"""An evaluator process whose chain goes to the fleet: what leaves it is redacted, and who is not heard is followed."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
import simplejpeg
from msgspec.structs import replace

from acud.protocol import codec
from acud.protocol.evaluation import JobResult
from acud.protocol.jobs import VisionAnswer, VisionJob, digest_of
from acud.protocol.questions import Hide
from acud.types import Answer, Criteria, HiddenBox, Rect, yes
from tests.fixtures.fleet_servers import FleetServers
from tests.integration.evaluator_rig import EvaluatorRig, PaintedRing, ask
from tests.integration.jobs_rig import LONG_S, connected, queued

CRITERIA = Criteria("the lamp is green")
SECRET = Rect(32, 32, 64, 64)
CHAIN = {"backends": ("fleet", "scripted"), "scripted": '{"default": "no"}'}


@pytest.fixture
def ring(tmp_path: Path):  # type: ignore[no-untyped-def]
    with PaintedRing(tmp_path / "ring") as painted:
        painted.fill(Rect(0, 0, 320, 200), (0, 200, 0))
        painted.fill(SECRET, (250, 250, 250))
        painted.publish()
        yield painted


def test_what_goes_to_a_worker_is_redacted_and_whole_in_itself(tmp_path: Path, ring: PaintedRing) -> None:
    hide = Hide((HiddenBox("region", SECRET),))
    alone = CHAIN | {"backends": ("fleet",)}  # in a chain, who has no worker yet is asked last
    with FleetServers() as nats, EvaluatorRig(tmp_path, owns_ocr=True, fleet_url=nats.url, **alone) as rig:
        rig.ready()
        job = replace(ring.job(ask(CRITERIA)), hide=hide)
        rig.send(job)
        sent, data = asyncio.run(_answered(nats.url))
        result = rig.next(JobResult, lambda one: one.job_id == job.job_id)
    assert result.answered[0].whole.answer is Answer.YES
    assert result.answered[0].answers[0].judge == "fleet"
    pixels = simplejpeg.decode_jpeg(sent.jpeg, colorspace="RGB")
    assert pixels[48:80, 48:80].max() < 24
    assert pixels[150, 200].tolist()[1] > 150
    assert sent.redacted
    for place in (tmp_path, Path.home()):
        assert str(place).encode() not in data


def test_an_evaluator_loads_nats_only_when_it_is_to_ask() -> None:
    code = (
        "import sys, asyncio, acud.evaluator.__main__\n"
        "from acud.config import JobSettings, VisionSettings\n"
        "from acud.features.fleet.evaluator import FleetJudge\n"
        "from acud.config.fleet import FleetSettings\n"
        "judge = FleetJudge(FleetSettings(), JobSettings(), VisionSettings())\n"
        "print(asyncio.run(judge.check_health()).state, 'nats' in sys.modules)"
    )
    env = {"PYTHONPATH": ".:clients"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env)
    assert done.stdout.split() == ["down", "False"]


async def _answered(url: str) -> tuple[VisionJob, bytes]:
    async with connected(url) as connection:
        await queued(connection)
        data = (await connection.streams.get_last_msg("ACUD_JOBS", "acud.job.vision.*")).data
        assert data is not None
        job = codec.decode(data, VisionJob)
        answer = VisionAnswer(job.job_id, 0, digest_of(data), yes("it is green"), cost_usd=0.0)
        await connection.nats.request(job.answer_to, codec.encode(answer), timeout=LONG_S)
        return job, data
