"""What the simulation is driven by: measured figures, and assumptions about the work, each with its source."""

from __future__ import annotations

import msgspec


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """Read on a real system by `scripts/simulate --measure`; rates are of one NATS server beside its clients.

    `job_overhead_ms`: of a job beyond its queues and its model. `frame_cpu_ms`: a host's CPU for a captured frame,
    `judged_cpu_ms`: for one that is judged elsewhere (encoding, job, verdict), without redaction. `display_mb`: memory.
    """

    machine: str = ""
    events_per_s: float
    wakes_per_s: float
    jobs_per_s: float
    job_overhead_ms: float
    job_kb: float
    frame_cpu_ms: float
    judged_cpu_ms: float
    redact_cpu_ms: float
    display_mb: float


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """Assumed, not measured: what the displays of a fleet do. Waits on one display share a view: one job asks for all.

    `active`: share of displays that repaint now, `fps` times a second; a judgement of one follows at most every
    `min_interval_s`, of the others every `floor_s` (the defaults of waits). A model call takes a lognormal time. Prices
    are of google/gemini-2.0-flash-lite-001 in acud's own table.
    """

    displays_per_host: int = 64
    waits_per_display: int = 4
    active: float = 0.2
    fps: float = 2.0
    min_interval_s: float = 2.0
    floor_s: float = 30.0
    wait_lasts_s: float = 300.0
    events_per_wait: float = 4.0
    model_median_s: float = 1.2
    model_sigma: float = 0.5
    places_per_worker: int = 32
    cores_per_host: int = 16
    tokens_in: int = 900
    tokens_out: int = 30
    usd_per_million_in: float = 0.075
    usd_per_million_out: float = 0.30
    usd_per_host_hour: float = 0.60
    usd_per_worker_hour: float = 0.04
