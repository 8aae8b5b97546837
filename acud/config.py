"""Settings, read once: `$ACU_HOME/acud.toml`, then the environment, into frozen values. Units are in the names.

The shipped `conf/acud.toml` documents every key with its reason; a test holds it to the defaults below.
Every key but a model's price has an environment twin: the name in `SEED_NAMES` where one exists, else
`ACU_<SECTION>_<KEY>`; a list is written there with commas, or as JSON.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, get_origin
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta, Struct

from acud.backends import CHAINABLE, SECRET, Backends, ClaudeSettings, OllamaSettings, OpenRouterSettings, VllmSettings
from acud.errors import ConfigError
from acud.prices import Price
from acud.types import RouteName

Count = Annotated[int, Meta(ge=1, le=10_000)]
Positive = Annotated[float, Meta(gt=0)]
ClaudeTool = Literal["auto", "computer_20241022", "computer_20250124", "computer_20251124", "computer_toolset_20260801"]


class DaemonSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[daemon]`"""

    debug: bool = False
    log_max_mb: Positive = 20
    heartbeat_s: Annotated[float, Meta(ge=1, le=60)] = 1.0
    child_silent_s: Annotated[float, Meta(ge=2)] = 10.0
    restart_limit: Count = 5
    restart_window_s: Positive = 60
    max_parked_replies: Count = 4096


class DisplaySettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[display]`"""

    default: str = ""
    width: Annotated[int, Meta(ge=16, le=16384)] = 1280
    height: Annotated[int, Meta(ge=16, le=16384)] = 720
    first_number: Annotated[int, Meta(ge=1, le=60000)] = 100
    start_deadline_s: Positive = 15
    window_manager: str = "openbox"
    session_bus: bool = True


class CaptureSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[capture]`"""

    slots: Annotated[int, Meta(ge=2, le=64)] = 4
    max_fps: Annotated[float, Meta(gt=0, le=240)] = 30.0
    floor_s: Positive = 30
    method: Literal["auto", "attachfd", "sysv", "getimage"] = "auto"


class EvaluatorSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[evaluator]`"""

    workers: Annotated[int, Meta(ge=0, le=256)] = 0
    jobs_per_worker: Count = 64
    lease_s: Positive = 30


class VisionSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[vision]`"""

    backend: Literal["auto", "ocr", "ollama", "vllm", "openrouter", "claude", "scripted", "passthrough"] = "auto"
    backends: tuple[CHAINABLE, ...] = ()
    system_instructions: str = ""
    frame_max_dim: Annotated[int, Meta(ge=64, le=8192)] = 960
    frame_jpeg_quality: Annotated[int, Meta(ge=1, le=100)] = 72
    timeout_s: Positive = 120
    connect_timeout_s: Positive = 5
    breaker_failures: Count = 5
    breaker_open_s: Positive = 10
    health_interval_s: Positive = 30
    scripted: str = ""

    def chain(self) -> tuple[str, ...]:
        """Return who is asked in turn where a wait names no judge; () means ollama where ready, else ocr."""
        return (self.backend,) if self.backend != "auto" else tuple(dict.fromkeys(self.backends))


class OcrSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[ocr]`"""

    workers: Annotated[int, Meta(ge=1, le=64)] = 1
    engine: Literal["rapidocr"] = "rapidocr"
    min_confidence: Annotated[float, Meta(ge=0, le=1)] = 0.5


class GroundingSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[grounding]`"""

    backend: Literal["auto", "direct", "uitars", "claude_cu", "omniparser"] = "auto"
    fuzzy_min: Annotated[float, Meta(ge=0.5, le=1)] = 0.8
    max_dim: Annotated[int, Meta(ge=64, le=8192)] = 1920
    jpeg_quality: Annotated[int, Meta(ge=1, le=100)] = 80
    uitars_via: Literal["", "ollama", "vllm", "openrouter"] = ""
    uitars_ollama_model: str = "0000/ui-tars-1.5-7b"
    uitars_keep_alive: str = "5m"
    uitars_openrouter_model: str = "bytedance/ui-tars-1.5-7b"
    uitars_coordinates: Literal["auto", "absolute", "relative"] = "auto"
    claude_tool: ClaudeTool = "auto"
    omniparser_detector: str = ""
    omniparser_captioner: str = ""
    omniparser_device: str = "cpu"
    omniparser_picker: Literal["", "ollama", "vllm", "openrouter", "claude"] = ""
    omniparser_picker_model: str = ""
    omniparser_bbox_threshold: Annotated[float, Meta(ge=0, le=1)] = 0.05
    omniparser_iou_threshold: Annotated[float, Meta(ge=0, le=1)] = 0.1
    omniparser_max_boxes: Annotated[int, Meta(ge=1, le=500)] = 128


class HiddenWindow(Struct, frozen=True, forbid_unknown_fields=True):
    """One of `[redaction] windows`: regular expressions for title and class, either of which may be left out."""

    title: str = ""
    wm_class: str = ""

    def __post_init__(self) -> None:
        """Refuse a rule that would hide every window by mistake."""
        if not self.title and not self.wm_class:
            raise ValueError("a window to hide needs a title or a wm_class")


class HiddenRegion(Struct, frozen=True, forbid_unknown_fields=True):
    """One of `[redaction] regions`: x, y, width, height on a display; display "" means every one."""

    box: tuple[int, int, Annotated[int, Meta(ge=1)], Annotated[int, Meta(ge=1)]]
    display: str = ""


class RedactionSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[redaction]`"""

    rules: tuple[Literal["private", "pattern", "key", "card", "password", "secure"], ...] = (
        "private",
        "pattern",
        "key",
        "card",
        "password",
        "secure",
    )
    patterns: tuple[str, ...] = ()
    windows: tuple[HiddenWindow, ...] = ()
    regions: tuple[HiddenRegion, ...] = ()
    ocr: bool = True
    timeout_s: Positive = 30
    evidence: Literal["full", "redacted"] = "full"
    redact_wakes: bool = True

    def __post_init__(self) -> None:
        """Refuse expressions that do not compile."""
        for pattern in (*self.patterns, *(w.title for w in self.windows), *(w.wm_class for w in self.windows)):
            _check_expression(pattern)

    @property
    def text_rules(self) -> tuple[str, ...]:
        """The rules that look for text."""
        return tuple(rule for rule in self.rules if rule != "secure")

    @property
    def reads(self) -> bool:
        """Whether a picture's text must be known before the picture may leave."""
        return self.ocr and bool(self.text_rules)


def _check_expression(pattern: str) -> None:
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as fault:
        raise ValueError(f"not a regular expression: {pattern[:80]!r}: {fault}") from fault


class AccessibilitySettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[accessibility]`"""

    max_nodes: Annotated[int, Meta(ge=1, le=100_000)] = 5000
    max_depth: Annotated[int, Meta(ge=1, le=200)] = 40
    walk_s: Annotated[float, Meta(gt=0, le=60)] = 3.0
    answer_s: Annotated[float, Meta(gt=0, le=60)] = 0.5


class WaitSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[wait]`"""

    timeout_s: Positive = 300
    max_timeout_s: Positive = 604_800
    max_live: Count = 10_000
    diff_max_width: Annotated[int, Meta(ge=0, le=16384)] = 320


class PtySettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[pty]`"""

    poll_s: Annotated[float, Meta(ge=0.1, le=60)] = 1.0
    timeout_s: Positive = 2
    tmux: str = "tmux"


COMMAND_PLACEHOLDERS = ("{id}", "{kind}", "{wait_id}")
"""What may stand in `[wake] command`: words that acud itself makes, never one that a screen or a client chose."""


class WakeSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[wake]`"""

    routes: tuple[RouteName, ...] = ()
    openclaw_url: str = "http://127.0.0.1:18789/hooks"
    openclaw_token: str = ""
    openclaw_token_file: str = ""
    openclaw_cli: str = "openclaw"
    webhook_url: str = ""
    webhook_secret: str = ""
    webhook_secret_file: str = ""
    command: tuple[str, ...] = ()
    http_timeout_s: Positive = 10
    command_timeout_s: Positive = 30
    http_concurrency: Count = 8
    command_concurrency: Count = 2
    retry_first_s: Positive = 1
    retry_max_s: Positive = 300
    retry_for_s: Positive = 86_400
    remind_after_s: Annotated[float, Meta(ge=0)] = 300
    max_reminders: Annotated[int, Meta(ge=0, le=100)] = 2

    def __post_init__(self) -> None:
        """Refuse what could never deliver, or would put a secret where it can be read."""
        for name in ("openclaw_url", "webhook_url"):
            _check_url(name, getattr(self, name))
        for word in self.command:
            _check_word(word)
        for route in self.routes:
            missing = self.missing(route)
            if missing:
                raise ValueError(f"route {route.value} needs {missing}")

    def missing(self, route: RouteName) -> str:
        """Return which settings `route` lacks ("" when it can be used)."""
        needs = {
            RouteName.OPENCLAW: {
                "openclaw_token (or openclaw_token_file)": self.openclaw_token + self.openclaw_token_file
            },
            RouteName.OPENCLAW_CLI: {"openclaw_cli": self.openclaw_cli},
            RouteName.WEBHOOK: {
                "webhook_url": self.webhook_url,
                "webhook_secret (or webhook_secret_file)": self.webhook_secret + self.webhook_secret_file,
            },
            RouteName.COMMAND: {"command": "".join(self.command)},
        }[route]
        return " and ".join(name for name, value in needs.items() if not value)


def _check_url(name: str, url: str) -> None:
    if not url:
        return
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{name} is not an http or https URL")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError(f"{name} carries more than host and path; secrets have keys of their own")


def _check_word(word: str) -> None:
    rest = word
    for known in COMMAND_PLACEHOLDERS:
        rest = rest.replace(known, "")
    if "{" in rest or "}" in rest:
        raise ValueError(f"command may hold only {', '.join(COMMAND_PLACEHOLDERS)} in braces")


def secret(name: str, value: str, file: str) -> str:
    """Return the secret `name`: its value, else what stands in `file`, else "".

    Raises: ConfigError naming the file, never its content.
    """
    if value or not file:
        return value
    try:
        found = Path(file).expanduser().read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as fault:
        raise ConfigError(f"cannot read {file}: {type(fault).__name__}", hint=f"wake.{name}_file names it") from fault
    if not found:
        raise ConfigError(f"{file} is empty", hint=f"wake.{name}_file names it")
    return found


class TasksSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[tasks]`"""

    stuck_detection: bool = True
    stuck_check_s: Positive = 60
    stuck_after_s: Positive = 300
    stuck_cooldown_s: Positive = 300


class GuiAgentSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[gui_agent]`"""

    backend: Literal["", "ollama", "vllm", "openrouter", "claude"] = ""
    model: str = ""
    check_timeout_s: Positive = 20
    effect_timeout_s: Positive = 3


class RecordingSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[recording]`"""

    enabled: bool = True
    fps: Annotated[float, Meta(ge=0.1, le=30)] = 2.0
    crf: Annotated[int, Meta(ge=0, le=51)] = 28
    keep_failed: bool = True
    max_mb: Positive = 5000
    keep_days: Positive = 30


class StoreSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[store]`"""

    keep_days: Positive = 30
    keep_evaluations_days: Positive = 7
    keep_events: Annotated[int, Meta(ge=1000)] = 200_000
    evidence_max_mb: Positive = 2000
    busy_timeout_s: Positive = 2


PRICES = {
    "google/gemini-2.0-flash-001": Price(0.10, 0.40, "2026-11-21"),
    "google/gemini-2.0-flash-lite-001": Price(0.075, 0.30, "2026-11-22"),
    "claude-sonnet-4-20250514": Price(3, 15, "2026-11-22"),
}
"""Models whose price is known without a setting; `[prices]` adds to them and may replace them."""


class Settings(Struct, frozen=True, forbid_unknown_fields=True):
    """Everything that can be set."""

    daemon: DaemonSettings = DaemonSettings()
    display: DisplaySettings = DisplaySettings()
    capture: CaptureSettings = CaptureSettings()
    evaluator: EvaluatorSettings = EvaluatorSettings()
    vision: VisionSettings = VisionSettings()
    ollama: OllamaSettings = OllamaSettings()
    vllm: VllmSettings = VllmSettings()
    openrouter: OpenRouterSettings = OpenRouterSettings()
    claude: ClaudeSettings = ClaudeSettings()
    ocr: OcrSettings = OcrSettings()
    grounding: GroundingSettings = GroundingSettings()
    redaction: RedactionSettings = RedactionSettings()
    accessibility: AccessibilitySettings = AccessibilitySettings()
    wait: WaitSettings = WaitSettings()
    pty: PtySettings = PtySettings()
    wake: WakeSettings = WakeSettings()
    tasks: TasksSettings = TasksSettings()
    gui_agent: GuiAgentSettings = GuiAgentSettings()
    recording: RecordingSettings = RecordingSettings()
    store: StoreSettings = StoreSettings()
    prices: dict[str, Price] = msgspec.field(default_factory=PRICES.copy)

    def backends(self) -> Backends:
        """Return the models behind an API."""
        return Backends(self.ollama, self.vllm, self.openrouter, self.claude)


SEED_NAMES: dict[str, tuple[str, str]] = {
    "ACU_DEBUG": ("daemon", "debug"),
    "ACU_VISION_BACKEND": ("vision", "backend"),
    "ACU_VISION_MODEL": ("ollama", "model"),
    "ACU_VISION_SYSTEM_INSTRUCTIONS": ("vision", "system_instructions"),
    "OLLAMA_URL": ("ollama", "url"),
    "OLLAMA_KEEP_ALIVE": ("ollama", "keep_alive"),
    "ACU_VLLM_URL": ("vllm", "url"),
    "ACU_VLLM_MODEL": ("vllm", "model"),
    "ACU_OPENROUTER_VISION_MODEL": ("openrouter", "model"),
    "OPENROUTER_API_KEY": ("openrouter", "api_key"),
    "ACU_CLAUDE_VISION_MODEL": ("claude", "model"),
    "ANTHROPIC_API_KEY": ("claude", "api_key"),
    "ACU_FRAME_MAX_DIM": ("vision", "frame_max_dim"),
    "ACU_FRAME_JPEG_QUALITY": ("vision", "frame_jpeg_quality"),
    "ACU_UITARS_OLLAMA_MODEL": ("grounding", "uitars_ollama_model"),
    "ACU_UITARS_KEEP_ALIVE": ("grounding", "uitars_keep_alive"),
    "ACU_UITARS_OPENROUTER_MODEL": ("grounding", "uitars_openrouter_model"),
    "ACU_OMNIPARSER_PICKER_MODEL": ("grounding", "omniparser_picker_model"),
    "ACU_OMNIPARSER_BBOX_THRESHOLD": ("grounding", "omniparser_bbox_threshold"),
    "ACU_OMNIPARSER_IOU_THRESHOLD": ("grounding", "omniparser_iou_threshold"),
    "ACU_GUI_AGENT_BACKEND": ("grounding", "backend"),
    "ACU_DIFF_MAX_WIDTH": ("wait", "diff_max_width"),
    "ACU_OPENCLAW_CLI": ("wake", "openclaw_cli"),
    "ACU_TASK_DISPLAY_WIDTH": ("display", "width"),
    "ACU_TASK_DISPLAY_HEIGHT": ("display", "height"),
    "ACU_STUCK_DETECTION": ("tasks", "stuck_detection"),
}
"""Environment names that existing installations use, and the setting each one means."""

NOT_SETTINGS = frozenset(
    {
        "ACU_HOME",
        "ACU_DATA_DIR",
        "ACU_WORKSPACE",
        "ACU_SIMD",
        "ACU_PYTHON",
        "ACU_CAPTURE_LOG",
        "ACU_MCP_CAPS",
        "ACU_MCP_TOOLS",
        "ACU_MCP_READ_ONLY",
        "ACU_MCP_AUTOSTART",
        "ACU_MCP_PORT",
    }
)
"""`ACU_*` names that mean something elsewhere (places, set-up switches, options of `acud mcp`)."""


SECTIONS = tuple(field for field in msgspec.structs.fields(Settings) if field.name != "prices")
"""The tables whose keys have twins in the environment; a model's price has none."""


def environment_names() -> dict[str, tuple[str, str]]:
    """Return every environment name with its (section, key)."""
    seeded = {place: name for name, place in SEED_NAMES.items()}
    names: dict[str, tuple[str, str]] = {}
    for section in SECTIONS:
        for field in msgspec.structs.fields(section.type):
            place = (section.name, field.name)
            names[seeded.get(place, f"ACU_{section.name}_{field.name}".upper())] = place
    return names


def unknown_variables(env: Mapping[str, str]) -> list[str]:
    """Return the `ACU_*` names in `env` that acud does not read, sorted; `acud doctor` warns of them."""
    known = environment_names().keys() | NOT_SETTINGS
    return sorted(name for name in env if name.startswith("ACU_") and name not in known)


def load(path: Path, env: Mapping[str, str]) -> Settings:
    """Return the settings from the file at `path` (absent: all defaults) with the environment on top.

    Raises: ConfigError naming the file or variable and the key, for an unknown key or a malformed value.
    """
    tables = _read(path)
    overrides = _from_environment(env)
    if not overrides:
        return _convert(tables, str(path))
    merged = dict(tables)
    for name, (section, key, text) in overrides.items():
        found = merged.get(section, {})
        if isinstance(found, dict):
            merged[section] = {**found, key: _parse(name, section, key, text)}
    # All at once: one variable may name a route, another what that route needs.
    return _convert(merged, f"{path} with {', '.join(overrides)}")


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as fault:
        raise ConfigError(f"{path} is not valid TOML: {fault}", hint="mend the line named") from fault
    except OSError as fault:
        raise ConfigError(f"cannot read {path}: {fault.strerror}", hint="check its permissions") from fault


def _convert(tables: dict[str, Any], source: str) -> Settings:
    try:
        settings = msgspec.convert(tables, Settings)
    except msgspec.ValidationError as fault:
        raise ConfigError(f"{source}: {_name_key(str(fault))}", hint="see conf/acud.toml for every key") from fault
    return msgspec.structs.replace(settings, prices=PRICES | settings.prices)


def _name_key(fault: str) -> str:
    # msgspec puts the place last: "Object contains unknown field `x` - at `$.vision`".
    text, _, place = fault.partition(" - at ")
    return f"{place.strip('`').removeprefix('$.') or 'top level'}: {text}"


def _from_environment(env: Mapping[str, str]) -> dict[str, tuple[str, str, str]]:
    return {name: (*place, env[name]) for name, place in environment_names().items() if env.get(name, "") != ""}


def _parse(name: str, section: str, key: str, text: str) -> Any:
    group = next(f for f in SECTIONS if f.name == section)
    field = next(f for f in msgspec.structs.fields(group.type) if f.name == key)
    try:
        return msgspec.convert(_plain(text, field.type), field.type, strict=False)
    except (msgspec.ValidationError, msgspec.DecodeError) as fault:
        shown = "***" if key == SECRET else repr(text)
        raise ConfigError(f"{name}={shown}: {fault}", hint=f"it sets {section}.{key}") from fault


def _plain(text: str, kind: Any) -> Any:
    if kind is bool:
        return _boolean(text)
    if get_origin(kind) is tuple:
        words = [word.strip() for word in text.split(",")]
        return msgspec.json.decode(text) if text.lstrip().startswith("[") else [word for word in words if word]
    return text


def _boolean(text: str) -> str | bool:
    return {
        "1": True,
        "true": True,
        "yes": True,
        "on": True,
        "0": False,
        "false": False,
        "no": False,
        "off": False,
    }.get(text.lower(), text)
