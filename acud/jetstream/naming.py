"""Names of the fleet: hosts, subjects, streams and buckets."""

from __future__ import annotations

import re
import socket

import msgspec

from acud.errors import ConfigError
from acud.fleet import HOST, FleetSettings

_PLAIN_KEY = re.compile(r"[A-Za-z0-9_-]+")


def own_host(settings: FleetSettings) -> str:
    """Return this host's name: the one set, else the machine's, made a plain word.

    Raises: ConfigError when the machine's name holds nothing that could be one.
    """
    if settings.host:
        return settings.host
    name = re.sub(r"[^a-z0-9]+", "-", socket.gethostname().lower())[:63].strip("-")
    if not HOST.fullmatch(name):
        raise ConfigError("this machine's name is no name for a host of a fleet", hint="set [fleet] host")
    return name


def key_of(name: str) -> str:
    """Return `name` as one token of a key in a bucket: ids as they are, anything else in hexadecimal."""
    return name if _PLAIN_KEY.fullmatch(name) else "=" + name.encode().hex()


class Names(msgspec.Struct, frozen=True):
    """Every name on the servers of the fleet whose subjects begin with `prefix`."""

    prefix: str

    def request(self, host: str) -> str:
        """The subject of requests to `host`."""
        return f"{self.prefix}.req.{host}"

    def event(self, host: str, topic: str) -> str:
        """The subject of an event of `host`; `topic` may be `>`."""
        return f"{self.prefix}.event.{host}.{topic}"

    def wake(self, agent: str) -> str:
        """The subject of wakes for `agent`."""
        return f"{self.prefix}.wake.{agent}"

    def seen(self, host: str) -> str:
        """The subject of the word that wakes of `host` were seen."""
        return f"{self.prefix}.seen.{host}"

    def told(self, host: str, topic: str) -> str:
        """The subject of what `host` tells and nobody stores; `topic` may be `>`."""
        return f"{self.prefix}.told.{host}.{topic}"

    def job(self, kind: str) -> str:
        """The subject of jobs of `kind`."""
        return f"{self.prefix}.job.{kind}"

    def answer(self, asker: str, job_id: str) -> str:
        """The subject of answers to a job that `asker` asked; `job_id` may be `*`."""
        return f"{self.prefix}.answer.{asker}.{job_id}"

    def bucket(self, name: str) -> str:
        """The bucket `name`: hosts (living ones), members (all that ever joined), places, drains."""
        return f"{self.prefix}_{name}"

    def stream(self, name: str) -> str:
        """The stream `name`: EVENTS, WAKES, JOBS."""
        return f"{self.prefix.upper()}_{name}"
