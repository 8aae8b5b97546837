"""Every metric family of the daemon, in the order of its reply; docs/metrics.md is made from it.

Labels have few values: names of displays, judges, requests, kinds of children; never the id of a wait, a task or a
recording.
"""

from __future__ import annotations

from acud.types.metrics import Family, Kind

QUICK_S = (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
"""Buckets for what takes a millisecond: turns, commits, frames."""
SLOW_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 120.0)
"""Buckets for what waits for a judge or a receiver."""


def _gauge(name: str, words: str, *labels: str) -> Family:
    return Family(name, Kind.GAUGE, words, labels)


def _counter(name: str, words: str, *labels: str) -> Family:
    return Family(name, Kind.COUNTER, words, labels)


def _histogram(name: str, words: str, bounds: tuple[float, ...], *labels: str) -> Family:
    return Family(name, Kind.HISTOGRAM, words, labels, bounds)


DAEMON = (
    _gauge("acud_info", "Always 1; the version and the protocol are its labels.", "version", "protocol"),
    _gauge("acud_uptime_seconds", "Since the supervisor's start."),
    _gauge("acud_degraded_reasons", "How many reasons there are why the daemon is not fully well; see acud status."),
    _gauge("acud_supervisor_rss_bytes", "Resident memory of the supervisor."),
    _histogram("acud_loop_turn_seconds", "One turn of the supervisor's loop, without the poll.", QUICK_S),
)

DISPLAYS = (
    _gauge("acud_display_up", "1 while the display's pixels can be had, else 0.", "display"),
    _gauge("acud_display_stale", "1 while frames are wanted and the newest one is too old, else 0.", "display"),
    _gauge("acud_display_fps", "Frames a second that were published in the last two seconds.", "display"),
    _gauge("acud_display_wanted_fps", "The highest frame rate that any consumer wants now.", "display"),
    _gauge("acud_display_grab_path", "Always 1; how pixels come (attachfd, sysv, getimage).", "display", "path"),
    _gauge("acud_frame_age_seconds", "Since the newest frame was last known to be what the screen shows.", "display"),
    _counter("acud_frames_total", "Frames published, those of covered windows included.", "display"),
    _counter("acud_damage_events_total", "DAMAGE reports that the capture process read.", "display"),
    _counter("acud_grabs_total", "Grabs made.", "display"),
    _counter("acud_grabs_unchanged_total", "Grabs that found nothing new, so that no frame was published.", "display"),
    _gauge("acud_grab_mean_seconds", "Mean time of a grab between the two newest heartbeats.", "display"),
    _counter("acud_notices_missed_total", "Frames whose notice never came; each counts as a change of all.", "display"),
    _counter("acud_notices_unsent_total", "Messages that the capture process could not queue.", "display"),
    _counter("acud_notices_unpublished_total", "Notices that observers (recorder, web) lost.", "display"),
    _gauge("acud_ring_slots", "Frames that a ring of the display holds.", "display"),
    _gauge("acud_ring_bytes", "Shared memory of the display's rings, covered windows included.", "display"),
    _histogram(
        "acud_damage_to_frame_seconds", "From the first damage of a frame to the start of its grab.", QUICK_S, "display"
    ),
    _histogram(
        "acud_frame_to_notice_seconds", "From the start of a grab to its notice at the supervisor.", QUICK_S, "display"
    ),
)

JUDGES = (
    _gauge("acud_judge_up", "1 while an evaluator finds the judge ready or idle, else 0.", "judge"),
    _counter("acud_judge_calls_total", "Answers that the judge worked for.", "judge"),
    _counter("acud_judge_verdicts_total", "Its answers: yes, no, unknown.", "judge", "answer"),
    _counter("acud_judge_faults_total", "Its unknown answers by reason (judge_down, unparsable …).", "judge", "code"),
    _counter("acud_judge_spared_total", "Answers without a call: memo or cache.", "judge", "source"),
    _counter("acud_judge_tokens_total", "Tokens as the judge counts them: in, out.", "judge", "direction"),
    _counter("acud_judge_cost_usd_total", "Known costs in US dollars.", "judge"),
    _counter("acud_judge_unpriced_total", "Calls whose cost is not known.", "judge"),
    _histogram("acud_judge_latency_seconds", "One call, with its tries.", SLOW_S, "judge"),
    _counter("acud_judge_gated_total", "Frames that a lossy gate held back from being judged."),
)

CHATS = (
    _counter(
        "acud_chat_calls_total",
        "Calls of chat models (commentary, agents, annotations); ok or why not.",
        "model",
        "code",
    ),
    _counter("acud_chat_tokens_total", "Their tokens: in, out.", "model", "direction"),
    _counter("acud_chat_cost_usd_total", "Their known costs in US dollars.", "model"),
)

WAITS = (
    _gauge("acud_waits_live", "Live waits by their newest verdict; the reason of an unknown.", "answer", "code"),
    _counter("acud_waits_armed_total", "Waits created; those taken up after a restart are not counted again."),
    _counter("acud_waits_ended_total", "Waits that ended: resolved, timeout, cancelled, failed.", "state"),
    _histogram(
        "acud_notice_to_verdict_seconds",
        "Of resolved waits: from the notice of the deciding change to the verdict.",
        SLOW_S,
    ),
    _histogram(
        "acud_verdict_to_wake_seconds",
        "From a wake's making to a receiver that took it, tries included.",
        SLOW_S,
        "route",
    ),
)

WAKES = (
    _gauge("acud_wakes", "Kept wakes by state: pending, sent, reminding, seen, undelivered.", "state"),
    _counter("acud_wake_deliveries_total", "Deliveries tried: sent, retry, refused.", "route", "result"),
    _histogram("acud_wake_delivery_seconds", "One delivery over one route.", SLOW_S, "route"),
    _gauge("acud_wake_route_failing", "1 while the newest delivery over the route failed, else 0.", "route"),
)

PROCESSES = (
    _gauge(
        "acud_child_up", "1 for a child process that runs and is heard, else 0; recorders together.", "kind", "name"
    ),
    _gauge("acud_child_silent_seconds", "Since the child's last message, heartbeats included.", "kind", "name"),
    _gauge("acud_child_rss_bytes", "Resident memory; that of recorders added up.", "kind", "name"),
    _counter("acud_child_restarts_total", "Child processes started again after they ended unasked.", "kind"),
    _counter("acud_child_unsent_total", "Messages of the supervisor that a child of the kind did not get.", "kind"),
    _gauge("acud_pool_workers_ready", "Evaluators that take jobs."),
    _gauge("acud_pool_queued_jobs", "Due work that waits for a place.", "lane"),
    _gauge("acud_pool_running_jobs", "Jobs with an evaluator.", "lane"),
    _counter("acud_pool_jobs_total", "Results by status: done, frame_gone, dropped, failed.", "status"),
    _counter("acud_pool_leases_lost_total", "Jobs taken from an evaluator that did not renew them."),
)

KEEPING = (
    _histogram("acud_store_commit_seconds", "One commit, fsync included.", QUICK_S),
    _counter("acud_store_faults_total", "Commits that failed, by fault: full, locked, io.", "fault"),
    _gauge("acud_store_waiting_writes", "Mutations that wait for a store that takes them."),
    _counter("acud_store_dropped_records_total", "Records given up because too many waited."),
    _gauge("acud_store_bytes", "Size of the database and of its write-ahead log.", "file"),
    _gauge("acud_recordings_live", "Recordings being made."),
    _gauge("acud_recordings_bytes", "Size of the recordings, ended and live.", "state"),
    _counter(
        "acud_recording_frames_lost_total", "Frames that no recording has: dropped (disk), gone (ring).", "reason"
    ),
)

REQUESTS = (
    _counter("acud_requests_total", "Requests answered, errors included.", "request"),
    _counter("acud_request_errors_total", "Requests answered with an error, by its code.", "request", "code"),
    Family(
        "acud_request_seconds",
        Kind.SUMMARY,
        "From a request to its reply; what asks to wait (long polls) is included.",
        ("request",),
    ),
    _gauge("acud_requests_parked", "Requests whose reply is still to come."),
)

FAMILIES: tuple[Family, ...] = (*DAEMON, *DISPLAYS, *JUDGES, *CHATS, *WAITS, *WAKES, *PROCESSES, *KEEPING, *REQUESTS)
BY_NAME: dict[str, Family] = {family.name: family for family in FAMILIES}
