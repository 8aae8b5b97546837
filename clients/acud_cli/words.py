"""Numbers as people read them: durations, ages, sizes, times."""

from __future__ import annotations

from datetime import datetime


def duration(seconds: float) -> str:
    """Return a span: `0.42 s`, `4.2 s`, `12 s`, `5:00`, `1:02:03`, `3 d 04:00`."""
    if seconds < 0:
        return "-" + duration(-seconds)
    if seconds < 10:
        return f"{seconds:.2f} s" if seconds < 1 else f"{seconds:.1f} s"
    if seconds < 60:
        return f"{seconds:.0f} s"
    return _clock(round(seconds))


def time_given(seconds: float) -> str:
    """Return how long a wait looks: `for 5:00`; without time it looks once."""
    return f"for {duration(seconds)}" if seconds else "for one look"


def _clock(seconds: int) -> str:
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days} d {hours:02}:{minutes:02}"
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def milliseconds(value: float) -> str:
    """Return a latency: `0.4 ms`, `142 ms`, `3.2 s`."""
    if value < 10:
        return f"{value:.1f} ms"
    return f"{value:.0f} ms" if value < 1000 else f"{value / 1000:.1f} s"


def local_time(utc_s: float) -> str:
    """Return the time of day here, to the millisecond: `14:03:22.417`."""
    return datetime.fromtimestamp(utc_s).astimezone().strftime("%H:%M:%S.%f")[:-3]


def local_moment(utc_s: float) -> str:
    """Return date and time of day here, to the second."""
    return datetime.fromtimestamp(utc_s).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def count(number: int, noun: str) -> str:
    """Return `1 frame`, `2 frames`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def cost(usd: float | None) -> str:
    """Return an amount in US dollars; unknown is said, never shown as nothing."""
    if usd is None:
        return "cost unknown"
    # Single judgements cost fractions of a cent: two significant digits tell them from nothing.
    digits = 2 if usd == 0 or usd >= 1 else 4 if usd >= 0.001 else 6
    return f"${usd:.{digits}f}"
