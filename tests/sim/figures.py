"""What the simulation is driven by: measured figures, and assumptions about the work, each with its source."""

from __future__ import annotations

import msgspec


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """Read on a real system by `scripts/simulate --measure`, all in one run; none is written by hand.

    Of three nats-servers that keep three copies, beside their clients: `writes_per_s`, small messages acknowledged, and
    `write_cpu_ms`, the CPU of all for one; `jobs_per_s` and `job_cpu_ms`, the same for pictures (`job_kb`)
    that are stored, given to a worker and acknowledged; `job_overhead_ms`, of a job beyond its queues and its model.

    Of a wait that ends by its deadline and wakes its agent, each of its messages signed: `bytes_per_wait`, what streams
    and buckets count of it against `max_gb` for a week (one copy); `disk_bytes_per_wait`, what that takes on the disk.

    Of hosts behind an endpoint, all with TLS: `writes_per_wait`, what a wait that is armed and cancelled writes to
    streams and buckets; `lease_writes_per_s` of one host;
    `endpoint_wait_ms`, `endpoint_result_ms`: the endpoint's CPU for that wait, and for a `wait_result`;
    `endpoint_host_ms_per_s`: for each host in its lists, whatever is asked. `request_cpu_ms`: CPU of all processes for
    a `wait_result`, client included.

    Of one host with many displays: `frame_cpu_ms`, all its processes for a captured frame; `judged_cpu_ms`, for a job
    that is asked of others; `display_mb`.
    """

    machine: str
    date: str
    writes_per_s: float
    write_cpu_ms: float
    jobs_per_s: float
    job_cpu_ms: float
    job_overhead_ms: float
    job_kb: float
    writes_per_wait: float
    bytes_per_wait: float
    disk_bytes_per_wait: float
    lease_writes_per_s: float
    endpoint_wait_ms: float
    endpoint_result_ms: float
    endpoint_host_ms_per_s: float
    request_cpu_ms: float
    frame_cpu_ms: float
    judged_cpu_ms: float
    display_mb: float


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """Assumed, not measured: what the displays of a fleet do. Waits on one display share a view: one job asks for all.

    `active`: share of displays that repaint now, `fps` times a second; a judgement of one follows at most every
    `min_interval_s`, of the others every `floor_s` (the defaults of waits). A client asks for a wait's result again
    after `poll_s`. A model call takes a lognormal time. Prices are of google/gemini-2.0-flash-lite-001 in acud's own
    table. `copies`, `max_gb`: of streams and buckets, as `acud fleet init` sets them up on three servers.
    """

    displays_per_host: int = 64
    waits_per_display: int = 4
    active: float = 0.2
    fps: float = 2.0
    min_interval_s: float = 2.0
    floor_s: float = 30.0
    wait_lasts_s: float = 300.0
    poll_s: float = 20.0
    model_median_s: float = 1.2
    model_sigma: float = 0.5
    places_per_worker: int = 32
    cores_per_host: int = 16
    memory_gb_per_host: float = 64.0
    copies: int = 3
    max_gb: float = 6.0
    network_mb_s: float = 1250.0
    tokens_in: int = 900
    tokens_out: int = 30
    usd_per_million_in: float = 0.075
    usd_per_million_out: float = 0.30
    usd_per_host_hour: float = 0.60
    usd_per_worker_hour: float = 0.04
