"""A whole replay: find and read the recording, run once for each judge, and compare the verdicts."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from itertools import combinations

from msgspec.structs import replace

from acud.base.errors import ConfigError, InvalidRequest
from acud.base.paths import Paths
from acud.config import RedactionSettings, Settings, api_keys
from acud.config.backends import without_secrets
from acud.evaluator.context import EvaluatorContext
from acud.features.evaluators import build_context
from acud.features.recording.replay import recording as recordings
from acud.features.recording.replay.frame_source import FrameSource
from acud.features.recording.replay.recording import RecordedFrames
from acud.features.recording.replay.simulation import ReplayReport, Simulation
from acud.protocol.bootstrap import EvaluatorOptions
from acud.protocol.questions import Hide
from acud.protocol.replay import ReplayAsk, ReplayBegan, ReplayFault, ReplayLine, ReplayPair, ReplayRow
from acud.types import Change, HiddenBox, HostLeaf, JudgeName, Rect, Target, WaitSpec, Widget, WindowTitle
from acud.waits.condition_tree import leaves, names_host
from acud.waits.sentences import with_meanings
from acud.waits.targets import parse_target
from acud.waits.tiles import Grid, masks
from acud.waits.validation import check_pattern, validate

Tell = Callable[[ReplayLine], None]

_MAX_S = 10 * 365 * 86_400.0
_NO_WINDOWS = "a recording holds no list of windows, so what rules hide of windows is not known"


class ReplaySession:
    """Replays a recording by `ask`; `tell` gets each line. `env` holds the keys of backends."""

    def __init__(self, ask: ReplayAsk, paths: Paths, settings: Settings, env: Mapping[str, str], tell: Tell) -> None:
        self._ask = ask
        self._paths = paths
        self._settings = settings
        self._env = env
        self._tell = tell

    async def run(self) -> None:
        """Replay. Raises: AcudError when nothing can be replayed as asked."""
        _check_patterns(self._settings.redaction)
        until, target = self._ask.until, parse_target(self._ask.target, "", self._ask.ignore)
        self._check_target(target)
        folder, recording_id = recordings.find(self._ask.recording, self._paths.recordings)
        recorded = recordings.load(folder, recording_id)
        from_s, to_s = self._find_span(recorded)
        spec = validate(
            until,
            target,
            timeout_s=to_s - from_s if self._ask.timeout_s is None else self._ask.timeout_s,
            default_timeout_s=1.0,
            max_timeout_s=_MAX_S,
            policy=self._ask.policy,
            budget=self._ask.budget,
        )
        self._report_began(recorded, target, from_s, to_s)
        faults, rows = list(recorded.faults), []
        for run, judge in enumerate(self._ask.judges):
            rows.append(await self._replay_judge(run, judge, recorded, spec, (from_s, to_s), faults))
        self._compare_judges(rows)
        if faults:
            what = "; ".join(dict.fromkeys(faults))
            self._tell(ReplayFault("damaged", f"the recording is damaged: {what}", "what is before it was replayed"))

    def _check_target(self, target: Target) -> None:
        for judge in self._ask.judges:
            self._settings.check_judge(judge)
        found = leaves(self._ask.until)
        if names_host(self._ask.until):
            raise InvalidRequest(
                "a recording holds pixels, and no files, processes or notifications",
                hint="replay conditions on what shows",
            )
        if any(isinstance(leaf, WindowTitle) for leaf in found) or target.window or target.monitor or target.pty:
            raise InvalidRequest(
                "a recording holds pixels, and no windows, monitors or terminals",
                hint="replay conditions on what shows, on the screen or a region:x,y,w,h of it",
            )
        if any(isinstance(leaf, Change) and leaf.baseline for leaf in found):
            raise InvalidRequest("a baseline is of a live display", hint="leave it out: --from is the baseline")

    def _find_span(self, recorded: RecordedFrames) -> tuple[float, float]:
        from_s, to_s = self._ask.from_s, min(math.inf if self._ask.to_s is None else self._ask.to_s, recorded.end_s)
        if not from_s < to_s:
            raise InvalidRequest(
                f"nothing lies between {from_s:g} and {to_s:g} s", hint=f"the recording ends at {recorded.end_s:.1f} s"
            )
        return from_s, to_s

    def _report_began(self, recorded: RecordedFrames, target: Target, from_s: float, to_s: float) -> None:
        stretches, notes = recorded.stretches, _list_notes(recorded, target)
        frames = sum(len(stretch.shown) for stretch in stretches)
        self._tell(
            ReplayBegan(
                recorded.recording_id, target.display, len(stretches), frames, recorded.end_s, from_s, to_s, notes
            )
        )

    async def _replay_judge(
        self,
        run: int,
        choice: str,
        recorded: RecordedFrames,
        spec: WaitSpec,
        span: tuple[float, float],
        faults: list[str],
    ) -> list[ReplayRow]:
        report = ReplayReport(run)
        frames = FrameSource(self._make_hide())
        async with AsyncExitStack() as stack:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="acud-replay-"))
            context = build_context(self._make_options(folder), stack, frames)
            judge = await self._resolve_judge(context, choice)
            meant = with_meanings(spec.until, choice)
            if not any(isinstance(leaf, Widget | HostLeaf) for leaf in leaves(meant)):  # no recording holds those
                spec = replace(spec, until=meant)
            deadline_s = span[0] + self._ask.timeout_s if self._ask.timeout_s else math.inf
            simulation = Simulation(recorded, spec, judge, self._ask, context, frames, report, self._tell, deadline_s)
            self._tell(await simulation.play(run, *span))
        faults += frames.faults
        return report.rows

    async def _resolve_judge(self, context: EvaluatorContext, choice: str) -> str:
        """Return the judge that `choice` means now; a chain of several stays `auto`, which evaluators follow."""
        if choice == JudgeName.AUTO:
            await context.judges.check_health()
            return choice if len(self._settings.vision.chain()) > 1 else context.judges.choose(choice)
        return choice

    def _make_options(self, folder: str) -> EvaluatorOptions:
        """Return an evaluator's options as the daemon would set them, without evidence."""
        settings = self._settings
        return EvaluatorOptions(
            vision=settings.vision,
            ocr=settings.ocr,
            owns_ocr=True,
            evidence_dir=folder,
            spool_dir=folder,
            max_jobs=1,
            diff_max_width=settings.wait.diff_max_width,
            prices=settings.prices,
            backends=without_secrets(settings.backends),
            keys=api_keys.read_all(settings.backends, self._env),
            redaction=settings.redaction,
            grounding=settings.grounding,
            accessibility=settings.accessibility,
            fleet=settings.fleet,
            jobs=settings.jobs,
            features=replace(settings.features, grounding=False, scene=False),
        )

    def _make_hide(self) -> Hide | None:
        settings = self._settings.redaction
        if not self._settings.features.redaction:
            return None
        if settings.windows:
            return Hide(fault=_NO_WINDOWS)
        if not settings.regions:
            return None
        # The regions of every display: a recording does not name its display.
        return Hide(tuple(HiddenBox("region", Rect(*one.box)) for one in settings.regions))

    def _compare_judges(self, rows: list[list[ReplayRow]]) -> None:
        for first, second in combinations(range(len(rows)), 2):
            said = [{row.frame: row.verdict.answer for row in rows[run] if _is_judged(row)} for run in (first, second)]
            both = sorted(said[0].keys() & said[1].keys())
            differ = tuple(frame for frame in both if said[0][frame] != said[1][frame])
            self._tell(ReplayPair((first, second), len(both), len(both) - len(differ), differ))


def _list_notes(recorded: RecordedFrames, target: Target) -> tuple[str, ...]:
    stretch = recorded.stretches[0]
    grid = Grid(stretch.width, stretch.height)
    found = masks(grid, target.region or Rect(0, 0, grid.width, grid.height), target.ignore)
    partly = (found.touching & ~found.whole).bit_count()
    told = "lie partly outside the target; what changed in them is told by the video, which is not exact"
    return (f"{partly} tiles of 16 px {told}",) if partly else ()


def _is_judged(row: ReplayRow) -> bool:
    return row.gate in ("judged", "forced")


def _check_patterns(settings: RedactionSettings) -> None:
    try:
        for pattern in settings.patterns:
            check_pattern(pattern, "redaction")
    except InvalidRequest as fault:
        raise ConfigError(f"[redaction]: {fault.message}", hint=fault.hint) from fault
