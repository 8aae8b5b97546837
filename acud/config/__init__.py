"""Settings, read once: `$ACU_HOME/acud.toml`, then the environment, into frozen values. Units are in the names.

The shipped `conf/acud.toml` documents every key with its reason; a test compares it with the defaults below. Every key
but a model's price has an environment twin: the name in `SEED_NAMES` where one exists, else `ACU_<SECTION>_<KEY>`; a
list is written there with commas (`a,b`; a table `a=b,c=d`), or as JSON. A backend that is not predefined has one only
for its key: `ACU_<NAME>_API_KEY`. A renamed table is read by its former name too for one release (`FORMER_SECTIONS`).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, get_origin

import msgspec
from msgspec import Struct

from acud.base.errors import ConfigError, InvalidRequest, suggest
from acud.base.typed_values import convert, decode_json
from acud.base.value_errors import value_fault
from acud.config import named_backends, setting_errors
from acud.config.backends import PREDEFINED, SECRETS, AnyBackend, Price, predefined_backends
from acud.config.fleet import FleetSettings
from acud.config.http_listeners import ListenerSettings, WebSettings
from acud.config.limits import HostConditionSettings as HostConditionSettings
from acud.config.limits import PtySettings as PtySettings
from acud.config.limits import WaitSettings as WaitSettings
from acud.config.machine import CaptureSettings as CaptureSettings
from acud.config.machine import DaemonSettings as DaemonSettings
from acud.config.machine import DisplaySettings as DisplaySettings
from acud.config.machine import EvaluatorSettings as EvaluatorSettings
from acud.config.machine import FeatureSettings as FeatureSettings
from acud.config.machine import StoreSettings as StoreSettings
from acud.config.notify import NotifySettings as NotifySettings
from acud.config.redaction import HiddenRegion as HiddenRegion
from acud.config.redaction import HiddenWindow as HiddenWindow
from acud.config.redaction import RedactionSettings as RedactionSettings
from acud.config.tracing import OtelSettings as OtelSettings
from acud.config.vision import AccessibilitySettings as AccessibilitySettings
from acud.config.vision import ClaudeTool as ClaudeTool
from acud.config.vision import GroundingSettings as GroundingSettings
from acud.config.vision import JobSettings as JobSettings
from acud.config.vision import OcrSettings as OcrSettings
from acud.config.vision import VisionSettings as VisionSettings
from acud.config.wake import COMMAND_PLACEHOLDERS as COMMAND_PLACEHOLDERS
from acud.config.wake import WakeSettings as WakeSettings
from acud.config.wake import secret as secret
from acud.types import JudgeName, RouteName

Section = TypeVar("Section", bound=Struct)

PRICES = {
    "google/gemini-2.0-flash-001": Price(0.10, 0.40, "2026-11-21"),
    "google/gemini-2.0-flash-lite-001": Price(0.075, 0.30, "2026-11-22"),
    "claude-sonnet-4-20250514": Price(3, 15, "2026-11-22"),
}
"""Prices of models that need no setting; `[prices]` adds to them and may replace them."""


class CoreSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """All settings but the tables of features, which `Settings` adds."""

    daemon: DaemonSettings = DaemonSettings()
    features: FeatureSettings = FeatureSettings()
    display: DisplaySettings = DisplaySettings()
    capture: CaptureSettings = CaptureSettings()
    evaluator: EvaluatorSettings = EvaluatorSettings()
    vision: VisionSettings = VisionSettings()
    backends: dict[str, AnyBackend] = msgspec.field(default_factory=predefined_backends)
    ocr: OcrSettings = OcrSettings()
    grounding: GroundingSettings = GroundingSettings()
    redaction: RedactionSettings = RedactionSettings()
    accessibility: AccessibilitySettings = AccessibilitySettings()
    wait: WaitSettings = WaitSettings()
    host_conditions: HostConditionSettings = HostConditionSettings()
    pty: PtySettings = PtySettings()
    wake: WakeSettings = WakeSettings()
    http_endpoints: ListenerSettings = ListenerSettings()
    web: WebSettings = WebSettings()
    notify: NotifySettings = NotifySettings()
    otel: OtelSettings = OtelSettings()
    fleet: FleetSettings = FleetSettings()
    jobs: JobSettings = JobSettings()
    store: StoreSettings = StoreSettings()
    prices: dict[str, Price] = msgspec.field(default_factory=PRICES.copy)

    def __post_init__(self) -> None:
        """Refuse sections that contradict each other."""
        for route in self.wake.routes:
            missing = self.lacks(route)
            if missing:
                raise ValueError(f"[wake] routes: {route.value} needs {missing}")
        if self.wake.carry and not self.fleet.urls:
            raise ValueError("[wake] carry needs url in [fleet]")
        if self.vision.timeout_s >= self.evaluator.job_max_s:
            raise ValueError("[evaluator] job_max_s must be longer than [vision] timeout_s, or slow answers are lost")

        if self.redaction.recordings and not (self.features.redaction and self.redaction.reads):
            raise ValueError(
                "[redaction] recordings needs ocr and a rule that looks for text, and [features] redaction"
            )

    def lacks(self, route: RouteName) -> str:
        """Return which settings `route` lacks, with their section ("" for none)."""
        if route is RouteName.FLEET:
            return "" if self.fleet.urls else "url in [fleet]"
        missing = self.wake.missing(route)
        return f"{missing} in [wake]" if missing else ""

    def keeps(self, judge: str) -> bool:
        """Return whether a picture for `judge` stays in one's own hands; the built-in judges never send any."""
        if judge == JudgeName.FLEET:
            return self.jobs.local
        model = self.backends.get(judge)
        return model is None or model.is_local

    def check_judge(self, name: str) -> None:
        """Raise InvalidRequest where no judge has that name."""
        own = [one.value for one in JudgeName if one.value not in self.backends]
        if name not in own and name not in self.backends:
            hint = suggest(name, [*own, *self.backends])
            hint += (
                f"there are {', '.join([*own, *self.backends])}; a new one is a table [backends.{name}] of acud.toml"
            )
            raise InvalidRequest(f"there is no judge {name!r}", hint=hint, field="judge")

    def table(self, name: str) -> Struct:
        """Return the table of that name in the file (`vision`, `backends.ollama`)."""
        section, _, backend = name.partition(".")
        found: Struct = self.backends[backend] if backend else getattr(self, section)
        return found

    def of(self, kind: type[Section]) -> Section:
        found: Section = getattr(self, _SECTION_OF[kind])
        return found


FEATURE_SECTIONS = {
    "scene": "acud.features.scene.settings:SceneSettings",
    "ray": "acud.features.fleet.settings:RaySettings",
    "tasks": "acud.features.tasks.settings:TasksSettings",
    "gui_agent": "acud.features.agent.settings:GuiAgentSettings",
    "analysis": "acud.features.commentary.settings:AnalysisSettings",
    "recording": "acud.features.recording.settings:RecordingSettings",
}
"""The tables of features: read, and refused when wrong, also while the feature is off."""


def _import_type(place: str) -> tuple[type[Struct], ModuleType]:
    module, _, name = place.partition(":")
    found = import_module(module)
    return getattr(found, name), found


_FEATURE_TYPES = {section: _import_type(place) for section, place in FEATURE_SECTIONS.items()}
_SECTION_OF = {kind: section for section, (kind, _) in _FEATURE_TYPES.items()}


if TYPE_CHECKING:
    Settings = CoreSettings
else:
    Settings = msgspec.defstruct(
        "Settings",
        [(section, kind, kind()) for section, (kind, _) in _FEATURE_TYPES.items()],
        bases=(CoreSettings,),
        module=__name__,
        namespace={"__doc__": "Everything that can be set."},
        frozen=True,
        forbid_unknown_fields=True,
    )

LIVE_OF_FEATURES = frozenset(
    f"{section}.{key}" for section, (_, module) in _FEATURE_TYPES.items() for key in getattr(module, "LIVE", ())
)
"""Settings of features that take effect while the daemon runs."""

NAMING_BACKENDS = {
    "vision.backend": named_backends.JUDGES,
    "vision.backends": named_backends.CHAINABLE,
    "grounding.uitars_via": named_backends.UITARS,
    "grounding.omniparser_picker": named_backends.CHAT,
} | {
    f"{section}.{key}": named_backends.CHAT
    for section, (_, module) in _FEATURE_TYPES.items()
    for key in getattr(module, "NAMING_BACKENDS", ())
}
"""Settings that hold names of backends, and the allowed kinds."""


SEED_NAMES: dict[str, tuple[str, str]] = {
    "ACU_DEBUG": ("daemon", "debug"),
    "ACU_VISION_BACKEND": ("vision", "backend"),
    "ACU_VISION_MODEL": ("backends.ollama", "model"),
    "ACU_VISION_SYSTEM_INSTRUCTIONS": ("vision", "system_instructions"),
    "OLLAMA_URL": ("backends.ollama", "url"),
    "OLLAMA_KEEP_ALIVE": ("backends.ollama", "keep_alive"),
    "ACU_VLLM_URL": ("backends.vllm", "url"),
    "ACU_VLLM_MODEL": ("backends.vllm", "model"),
    "ACU_OPENROUTER_VISION_MODEL": ("backends.openrouter", "model"),
    "OPENROUTER_API_KEY": ("backends.openrouter", "api_key"),
    "ACU_CLAUDE_VISION_MODEL": ("backends.claude", "model"),
    "ANTHROPIC_API_KEY": ("backends.claude", "api_key"),
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
} | {
    name: (section, key)
    for section, (_, module) in _FEATURE_TYPES.items()
    for name, key in getattr(module, "SEED_NAMES", {}).items()
}
"""Environment names of existing installations, and their settings."""

FORMER_SECTIONS = {"relay": "http_endpoints", **{name: f"backends.{name}" for name in PREDEFINED}}
"""Tables by their former name, which release 0.2 still reads, in the file and in variables ("ACU_RELAY_PORT")."""

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
        "ACU_MCP_BLOCK",
        "ACU_MCP_PORT",
        "ACU_MCP_TASKS_EXTENSION",
        "ACU_LEASE",
        "ACU_WAKE_TEXT",
        "ACU_WAKE_ID",
        "ACU_WAKE_KIND",
        "ACU_WAKE_WAIT_ID",
        "ACU_WAKE_TASK_ID",
        "ACU_WAKE_SESSION_KEY",
        "ACU_WAKE_AGENT_ID",
        "ACU_WAKE_REMINDER",
    }
)
"""`ACU_*` names with other uses (places, set-up switches, options of `acud mcp` and of commands; the environment of a
command that delivers a wake)."""


_FORMER_HEADER = re.compile(rf"^(\s*\[\s*)({'|'.join(FORMER_SECTIONS)})\b", re.MULTILINE)


class SettingsTable(NamedTuple):
    """A table of the settings: its name in the file, and its type."""

    name: str
    type: type[Struct]


_PRICE = Price | None

SECTIONS = (
    *(
        SettingsTable(field.name, field.type)
        for field in msgspec.structs.fields(Settings)
        if field.name not in ("prices", "backends")
    ),
    *(SettingsTable(f"backends.{name}", type(one)) for name, one in PREDEFINED.items()),
)
"""The tables with environment twins for their keys, except prices."""


fields_of = cache(msgspec.structs.fields)
"""The fields of a type of settings, resolved once: each time takes as long as reading a file of settings."""


def environment_names(backends: Iterable[str] = ()) -> dict[str, tuple[str, str]]:
    """Return every environment name with its (section, key); for further `backends` only that of the key."""
    seeded = {place: name for name, place in SEED_NAMES.items()}
    names: dict[str, tuple[str, str]] = {}
    for section in SECTIONS:
        for field in fields_of(section.type):
            place = (section.name, field.name)
            plain = f"ACU_{section.name.removeprefix('backends.')}_{field.name}".upper()
            if field.type != _PRICE:
                names[seeded.get(place, plain)] = place
    more = {key_variable(name): (f"backends.{name}", "api_key") for name in backends if name not in PREDEFINED}
    return names | more


def key_variable(backend: str) -> str:
    seeded = {place: name for name, place in SEED_NAMES.items()}
    plain = f"ACU_{backend}_API_KEY".upper().replace("-", "_")
    return seeded.get((f"backends.{backend}", "api_key"), plain)


def former_variables() -> dict[str, str]:
    """Return the environment names of `FORMER_SECTIONS`, each with its present name."""
    former = {section: name for name, section in FORMER_SECTIONS.items()}
    return {
        f"ACU_{former[section]}_{key}".upper(): name
        for name, (section, key) in environment_names().items()
        if section in former and "." not in section  # the variables of backends kept their names
    }


def former_names(path: Path, env: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the former names in the file at `path` and the environment, each with its present name.

    Raises: ConfigError when the file cannot be read.
    """
    given = _parse_toml(path, _read_text(path))
    tables = [(f"[{former}]", f"[{name}]") for former, name in FORMER_SECTIONS.items() if former in given]
    return tables + [(former, name) for former, name in former_variables().items() if env.get(former, "") != ""]


def unknown_variables(env: Mapping[str, str], backends: Iterable[str] = ()) -> list[str]:
    """Return the `ACU_*` names in `env` that acud does not read with these `backends`, sorted, for `acud doctor`."""
    known = environment_names(backends).keys() | former_variables().keys() | NOT_SETTINGS
    return sorted(name for name in env if name.startswith("ACU_") and name not in known)


def load(path: Path, env: Mapping[str, str]) -> Settings:
    """Return the settings from the file at `path` (absent: all defaults) with the environment on top.

    Raises: ConfigError naming the file or variable and the key, for an unknown key or a malformed value.
    """
    text = _read_text(path)
    merged = _with_present_names(path, _parse_toml(path, text))
    overrides = _from_environment(env, named_backends.names(merged))
    for name, (section, key, given) in overrides.items():
        _set_key(merged, section, key, _parse_setting(name, section, key, given))
    source = setting_errors.SettingsText(path, _FORMER_HEADER.sub(_present_header, text), overrides)
    merged["backends"] = named_backends.read(merged.get("backends", {}), source)
    # All at once: one variable may name a route, another its requirements.
    try:
        settings = convert(merged, Settings)
    except msgspec.ValidationError as fault:
        known = {section.name: [key.name for key in fields_of(section.type)] for section in SECTIONS}
        found = value_fault(fault, Settings)
        raise setting_errors.config_error(found, source, known) from fault
    for place, choice in NAMING_BACKENDS.items():
        section, _, key = place.partition(".")
        given = getattr(settings.table(section), key)
        named_backends.check_named(place, given, choice, settings.backends, source)
    return msgspec.structs.replace(settings, prices=PRICES | settings.prices)


def usable(path: Path, env: Mapping[str, str]) -> Settings:
    """Return the settings that a daemon would start with, after checking the files of the secrets it needs.

    Raises: ConfigError.
    """
    settings = load(path, env)
    wake = settings.wake
    secret("openclaw_token", wake.openclaw_token, wake.openclaw_token_file)
    secret("webhook_secret", wake.webhook_secret, wake.webhook_secret_file)
    return settings


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as fault:
        raise ConfigError(f"{path} is not UTF-8 text: {fault}", hint="write it as UTF-8") from fault
    except OSError as fault:
        raise ConfigError(f"cannot read {path}: {fault.strerror}", hint="check its permissions") from fault


def _parse_toml(path: Path, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    # A number of thousands of digits is a ValueError of int(), tables nested a thousand deep a RecursionError.
    except (ValueError, RecursionError) as fault:
        place = setting_errors.toml_line(str(fault), text)
        raise ConfigError(f"{path}{place} is not valid TOML: {fault}", hint="mend the line named") from fault


def _with_present_names(path: Path, tables: dict[str, Any]) -> dict[str, Any]:
    for former, name in FORMER_SECTIONS.items():
        parent, _, last = name.rpartition(".")
        within = tables.setdefault(parent, {}) if parent and former in tables else tables
        if former not in tables or not isinstance(within, dict):
            continue
        if last in within:
            words = f"{path}: [{former}] and [{name}] are both given: [{former}] is its former name"
            raise ConfigError(words, hint=f"move the keys of [{former}] to [{name}]")
        within[last] = tables.pop(former)
    return tables


def _present_header(match: re.Match[str]) -> str:
    return match[1] + FORMER_SECTIONS[match[2]]


def _set_key(tables: dict[str, Any], section: str, key: str, value: Any) -> None:
    """Set a key in the table `section`, whose name may have dots; leave a value that is not a table to be refused."""
    for name in section.split("."):
        found = tables.get(name, {})
        if not isinstance(found, dict):
            return
        tables[name] = tables = {**found}
    tables[key] = value


def _from_environment(env: Mapping[str, str], backends: Iterable[str]) -> dict[str, tuple[str, str, str]]:
    given = {name: text for name, text in env.items() if text != ""}
    for former, name in former_variables().items():
        if former in given and name in given:
            raise ConfigError(f"{former} and {name} are both set: {former} is its former name", hint=f"unset {former}")
        if former in given:
            given[name] = given[former]
    return {name: (*place, given[name]) for name, place in environment_names(backends).items() if name in given}


def _parse_setting(name: str, section: str, key: str, text: str) -> Any:
    group = next((one for one in SECTIONS if one.name == section), None)
    if group is None:
        return text  # the key of a backend that is not predefined
    field = next(f for f in fields_of(group.type) if f.name == key)
    try:
        return convert(_split_text(text, field.type), field.type, strict=False)
    except msgspec.ValidationError as fault:
        words = value_fault(fault, field.type, lax=True).of(f"[{section}] {key}")
        raise ConfigError(f"{name}={_mask_secret(key, text)}: {words}", hint=f"it sets {section}.{key}") from fault
    except (msgspec.DecodeError, RecursionError) as fault:
        raise ConfigError(f"{name}={_mask_secret(key, text)}: {fault}", hint=f"it sets {section}.{key}") from fault


def _mask_secret(key: str, text: str) -> str:
    return "***" if key in SECRETS else repr(text)


def _split_text(text: str, kind: Any) -> Any:
    if kind is bool:
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
    if get_origin(kind) is dict:
        if text.lstrip().startswith("{"):
            return decode_json(text)
        return dict(word.strip().partition("=")[::2] for word in text.split(",") if word.strip())
    if get_origin(kind) is tuple:
        words = [word.strip() for word in text.split(",")]
        return decode_json(text) if text.lstrip().startswith("[") else [word for word in words if word]
    return text
