"""The options of a child, sent at its start as one msgpack message on its standard input (not in argv, which `ps`
shows).
"""

from __future__ import annotations

from msgspec import Struct, field

from acud.config import (
    AccessibilitySettings,
    FeatureSettings,
    GroundingSettings,
    JobSettings,
    NotifySettings,
    OcrSettings,
    OtelSettings,
    RedactionSettings,
    VisionSettings,
    WakeSettings,
)
from acud.config.api_keys import ApiKey
from acud.config.backends import AnyBackend, Price, predefined_backends
from acud.config.fleet import FleetSettings
from acud.config.http_listeners import ListenerSettings, WebSettings


class CaptureOptions(Struct, frozen=True, tag="capture", forbid_unknown_fields=True):
    """For a capture process: the display, its Xauthority file ("" for the usual one), and how to grab.

    `managed`: acud started its X server and window manager. `owner`: the uid that may serve the display besides ours
    and root (-1: nobody).
    """

    display: str
    auth_file: str
    frames_endpoint: str
    slots: int
    max_fps: float
    floor_s: float
    method: str
    managed: bool
    owner: int = -1


class EvaluatorOptions(Struct, frozen=True, tag="evaluator", forbid_unknown_fields=True):
    """For an evaluator: which judges, whether it owns an OCR engine, and the directories it writes pictures to.

    `backends` hold no keys and headers; `keys` do, by backend. `call_share`: its part of each backend's calls a minute.
    `fleet`, `jobs`: how the backend `fleet` asks workers on other machines. `features`: which are on.
    """

    vision: VisionSettings
    ocr: OcrSettings
    owns_ocr: bool
    evidence_dir: str
    spool_dir: str
    max_jobs: int
    diff_max_width: int
    prices: dict[str, Price] = {}
    backends: dict[str, AnyBackend] = field(default_factory=predefined_backends)
    keys: dict[str, ApiKey] = {}
    call_share: float = 1.0
    redaction: RedactionSettings = RedactionSettings()
    grounding: GroundingSettings = GroundingSettings()
    accessibility: AccessibilitySettings = AccessibilitySettings()
    fleet: FleetSettings = FleetSettings()
    jobs: JobSettings = JobSettings()
    features: FeatureSettings = FeatureSettings()


class DeliveryOptions(Struct, frozen=True, tag="relay", forbid_unknown_fields=True):
    """For the delivery process: the settings of routes and notifications, and secrets that may stand in files."""

    wake: WakeSettings
    openclaw_token: str
    webhook_secret: str
    notify: NotifySettings = NotifySettings()
    push_key: str = ""


class WebOptions(Struct, frozen=True, tag="web", forbid_unknown_fields=True):
    """For the web process: which of its two listeners to serve and how, the ACU_HOME of the daemon that it asks,
    and where traces go. `listener_fd`, `gateway_fd`: the sockets that it inherits from the supervisor, their holder.
    """

    listener: ListenerSettings
    gateway: WebSettings
    home: str
    otel: OtelSettings = OtelSettings()
    listener_fd: int = -1
    gateway_fd: int = -1


class FleetOptions(Struct, frozen=True, tag="fleet", forbid_unknown_fields=True):
    """For the fleet process: how this host joins, the ACU_HOME of the daemon that it answers for, and the agents for
    which this host forwards wakes, `side_by_side` of them at once.
    """

    settings: FleetSettings
    home: str
    carry: tuple[str, ...] = ()
    side_by_side: int = 1


class EndpointOptions(Struct, frozen=True, tag="endpoint", forbid_unknown_fields=True):
    """For a further process of a fleet's endpoint: the ACU_HOME that it belongs to, and its number, from 1 on. It
    inherits the page of numbers that all share, and the socket over which it is given connections.
    """

    settings: FleetSettings
    home: str
    number: int
    shared_fd: int
    channel_fd: int


class RecorderOptions(Struct, frozen=True, tag="recorder", forbid_unknown_fields=True):
    """For a recorder: the display's notices, and the files that it writes, in `folder` alone.

    `redaction`: the rules for what to hide in each frame; None: nothing. `ocr`, `accessibility`: how the recorder finds
    it.
    """

    recording_id: str
    folder: str
    frames_endpoint: str
    fps: float
    crf: int
    redaction: RedactionSettings | None = None
    ocr: OcrSettings = OcrSettings()
    accessibility: AccessibilitySettings = AccessibilitySettings()


class Bootstrap(Struct, frozen=True, forbid_unknown_fields=True):
    """`endpoint`: the `children` socket. `identity`: this child's name there. `parent_pid`: the process that must still
    live.

    `rests_s`: how much later than `heartbeat_s` the next heartbeat may come while nothing happens. `nice`: how far the
    child's priority is below the supervisor's, since the supervisor keeps the deadlines.
    """

    endpoint: str
    identity: str
    parent_pid: int
    heartbeat_s: float
    debug: bool
    options: (
        CaptureOptions
        | EvaluatorOptions
        | DeliveryOptions
        | WebOptions
        | RecorderOptions
        | FleetOptions
        | EndpointOptions
    )
    rests_s: float = 0.0
    nice: int = 0
