"""The shipped fake: a judge that really looks at the picture, by rules from a script, with faults on request.

    {"delay_ms": 200, "default": "no",
     "rules": [{"pixel": [600, 300, "#00c040"], "answer": "yes", "criteria": "build", "detail": "the lamp is green"},
               {"area": [0, 0, 1280, 40, "#ff0000"], "answer": "no"}],
     "fault": ""}

`[vision] scripted` is that JSON, or the path of a file holding it (read anew when it changes, so a test can turn the
judge). Coordinates are view pixels before scaling. The first rule that fits answers; the answer goes through the same
parser as a model's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import numpy as np
import simplejpeg
from msgspec import Meta, Struct
from numpy.typing import NDArray

from acud.base.errors import ConfigError
from acud.base.typed_values import decode_json
from acud.base.value_errors import describe_decode_fault
from acud.config.backends import Price, cost_usd
from acud.evaluator.judges.judge import JudgePicture, JudgeQuestion, JudgeReply, split
from acud.evaluator.judges.prompt import parse_verdict, parse_verdicts
from acud.protocol.evaluation import JudgeHealth
from acud.types import Verdict, unknown

Colour = Annotated[str, Meta(pattern="^#[0-9a-fA-F]{6}$", description="a colour such as #00ff00")]
_GARBAGE = "Yesterday's report says that the answer may be found on the screen."


class ScriptRule(Struct, frozen=True, forbid_unknown_fields=True):
    """One look: the pixel at (x, y), or any pixel of a box (x, y, w, h), has a colour. Neither: the rule always fits.

    `criteria`: only for questions that contain this text. `tolerance`: largest difference per channel; JPEG smears.
    """

    answer: Literal["yes", "no"] = "yes"
    pixel: tuple[int, int, Colour] | None = None
    area: tuple[int, int, int, int, Colour] | None = None
    criteria: str = ""
    detail: str = ""
    tolerance: int = 40


class Script(Struct, frozen=True, forbid_unknown_fields=True):
    """What the judge does. `fault`: never answer, fail, or answer with garbage or nothing.

    `model`: its price is charged for the tokens, in place of `cost_usd`.
    """

    delay_ms: Annotated[float, Meta(ge=0)] = 0.0
    rules: tuple[ScriptRule, ...] = ()
    default: Literal["yes", "no"] = "no"
    fault: Literal["", "hang", "error", "garbage", "empty"] = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = 0.0
    model: str = ""


class ScriptSource:
    """Where a script comes from: inline JSON, or a file read again whenever it was replaced or written."""

    def __init__(self, setting: str) -> None:
        self._setting = setting
        self._stamp: tuple[int, int, int] | None = None
        self._script = Script()

    def read(self) -> Script:
        """Return the script as it stands. Raises: ConfigError when it is unset, unreadable or malformed."""
        if not self._setting:
            raise ConfigError("vision.scripted is not set", hint="give JSON or the path of a script file")
        if self._setting.lstrip().startswith("{"):
            return _decode_script(self._setting.encode(), "vision.scripted")
        return self._from_file(Path(self._setting))

    def _from_file(self, path: Path) -> Script:
        try:
            found = path.stat()
            stamp = (found.st_ino, found.st_mtime_ns, found.st_size)
            if stamp != self._stamp:
                self._script, self._stamp = _decode_script(path.read_bytes(), str(path)), stamp
        except OSError as fault:
            raise ConfigError(f"cannot read {path}: {fault.strerror}", hint="see vision.scripted") from fault
        return self._script


def _decode_script(text: bytes, source: str) -> Script:
    try:
        return decode_json(text, Script)
    except msgspec.DecodeError as fault:
        words = describe_decode_fault(fault, Script, "the script")
        raise ConfigError(f"{source}: {words}", hint="see acud/evaluator/judges/scripted.py") from fault


class ScriptedJudge:
    """Answers by a script; see the module's docstring."""

    name = "scripted"
    local = True

    def __init__(self, setting: str, prices: Mapping[str, Price] | None = None, timeout_s: float = 60.0) -> None:
        self._source = ScriptSource(setting)
        self._prices = prices or {}
        self._timeout_s = timeout_s

    async def evaluate(self, question: JudgeQuestion, picture: JudgePicture) -> JudgeReply:
        """Return the script's verdict, after its delay; the picture is looked at first, as a model would. One that
        takes longer than `timeout_s` is given up, as a model's is: `unknown(judge_down)`.
        """
        try:
            async with asyncio.timeout(self._timeout_s):
                return await self._apply_script(self._source.read(), question, picture)
        except ConfigError as fault:
            return JudgeReply(unknown("judge_down", str(fault)))
        except TimeoutError:
            return JudgeReply(self._make_late_verdict())

    def _make_late_verdict(self) -> Verdict:
        return unknown("judge_down", f"{self.name} gave no answer within {self._timeout_s:g} s")

    async def _apply_script(self, script: Script, question: JudgeQuestion, picture: JudgePicture) -> JudgeReply:
        words = await asyncio.to_thread(answer, script, question, picture)
        await asyncio.sleep(script.delay_ms / 1000)
        return await self._make_reply(script, words)

    async def _make_reply(self, script: Script, words: str) -> JudgeReply:
        if script.fault == "hang":
            await asyncio.Event().wait()
        if script.fault == "error":
            return JudgeReply(unknown("judge_down", "the script says: error"))
        said = {"garbage": _GARBAGE, "empty": ""}.get(script.fault, words)
        return JudgeReply(parse_verdict(said), script.tokens_in, script.tokens_out, self._compute_cost(script))

    async def evaluate_together(
        self, questions: tuple[JudgeQuestion, ...], picture: JudgePicture
    ) -> tuple[JudgeReply, ...]:
        """Return the script's verdicts on all `questions` after one delay, read from one numbered answer."""
        try:
            async with asyncio.timeout(self._timeout_s):
                return await self._apply_script_together(self._source.read(), questions, picture)
        except ConfigError as fault:
            return split([unknown("judge_down", str(fault))] * len(questions), None, None, None)
        except TimeoutError:
            return split([self._make_late_verdict()] * len(questions), None, None, None)

    async def _apply_script_together(
        self, script: Script, questions: tuple[JudgeQuestion, ...], picture: JudgePicture
    ) -> tuple[JudgeReply, ...]:
        words = await asyncio.to_thread(_write_answers, script, questions, picture)
        await asyncio.sleep(script.delay_ms / 1000)
        if script.fault in ("hang", "error"):
            reply = await self._make_reply(script, "")
            return split([reply.verdict] * len(questions), None, None, None)
        said = {"garbage": _GARBAGE, "empty": ""}.get(script.fault, words)
        verdicts = parse_verdicts(said, len(questions))
        return split(verdicts, script.tokens_in, script.tokens_out, self._compute_cost(script))

    def _compute_cost(self, script: Script) -> float | None:
        if not script.model:
            return script.cost_usd
        return cost_usd(script.model, script.tokens_in, script.tokens_out, self._prices)

    async def check_health(self) -> JudgeHealth:
        """Return ready when the script can be read and has no fault `error`."""
        try:
            script = self._source.read()
        except ConfigError as fault:
            return JudgeHealth(self.name, "down", str(fault))
        failing = script.fault == "error"
        return JudgeHealth(self.name, "down" if failing else "ready", "the script says: error" if failing else "")

    async def close(self) -> None:
        """Do nothing."""


def answer(script: Script, question: JudgeQuestion, picture: JudgePicture) -> str:
    """Return the words of the first rule that fits, else of the default."""
    image: NDArray[np.uint8] = simplejpeg.decode_jpeg(picture.jpeg, colorspace="RGB")
    for rule in script.rules:
        if rule.criteria in question.criteria and _fits_picture(rule, image, picture):
            return f"{rule.answer.upper()}: {rule.detail or _describe_rule(rule)}"
    return f"{script.default.upper()}: no rule of the script fits"


def _write_answers(script: Script, questions: tuple[JudgeQuestion, ...], picture: JudgePicture) -> str:
    return "\n".join(f"{number} {answer(script, one, picture)}" for number, one in enumerate(questions, 1))


def _fits_picture(rule: ScriptRule, image: NDArray[np.uint8], picture: JudgePicture) -> bool:
    if rule.pixel is not None:
        x, y, colour = rule.pixel
        return _any_has(image, picture, (x, y, 1, 1), colour, rule.tolerance)
    if rule.area is not None:
        return _any_has(image, picture, rule.area[:4], rule.area[4], rule.tolerance)
    return True


def _any_has(
    image: NDArray[np.uint8], picture: JudgePicture, box: tuple[int, int, int, int], colour: str, tolerance: int
) -> bool:
    across, down = picture.width / picture.view_width, picture.height / picture.view_height
    left, top = int(box[0] * across), int(box[1] * down)
    right, bottom = max(left + 1, int((box[0] + box[2]) * across)), max(top + 1, int((box[1] + box[3]) * down))
    seen = image[max(0, top) : bottom, max(0, left) : right].astype(np.int16)
    wanted = np.frombuffer(bytes.fromhex(colour[1:]), np.uint8).astype(np.int16)
    return bool((np.abs(seen - wanted) <= tolerance).all(axis=2).any())


def _describe_rule(rule: ScriptRule) -> str:
    if rule.pixel is not None:
        return f"the pixel at {rule.pixel[0]},{rule.pixel[1]} is {rule.pixel[2]}"
    return f"{rule.area[4]} shows in {list(rule.area[:4])}" if rule.area is not None else "the rule always fits"
