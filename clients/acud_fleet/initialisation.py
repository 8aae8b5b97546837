"""What the administrator makes on a fleet's servers: streams, buckets, and a consumer for each reader.

Nobody else may: who makes a stream may have it sent elsewhere, and who makes a consumer may have what it gives out sent
to any subject.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Literal

import msgspec
import nats.errors
import nats.js.errors
from msgspec import Struct
from nats.js.api import AckPolicy, ConsumerConfig, StoreCompression, StreamConfig

from acud.base.errors import ConfigError, InvalidRequest
from acud.base.typed_values import decode_json
from acud.config import JobSettings
from acud.config.fleet import FleetSettings
from acud.features.fleet.connection import NatsConnection
from acud.features.fleet.job_queue import jobs_consumer, jobs_stream
from acud.features.fleet.names import KEYS, FleetNames, bucket_stream, describe_differences, with_wanted_settings
from acud.features.fleet.server_policy import own_seed
from acud.features.fleet.signatures import KeyList, SignedKeys, Signer, read_keys, sign_keys
from acud.protocol import codec
from acud_fleet import streams
from acud_fleet.wakes import ACK_WAIT_S

_IN_HAND = 1000
_CONSUMER = ("filter_subject", "ack_policy", "ack_wait", "max_deliver", "max_ack_pending", "deliver_subject")
"""The settings that decide what a consumer gives out, to which readers, and how often."""
_COMPRESSES = (2, 10)
"""The first nats-server that compresses what it stores. An older one would not read what a newer one compressed."""
_GREETING_S = 3.0
_PORT = 4222
State = Literal["well", "different", "missing", "made", "changed"]


class FleetRoles(Struct, frozen=True):
    """The members: names of hosts, of agents that take wakes, and kinds of jobs that workers take."""

    hosts: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()

    def with_more(self, hosts: Iterable[str], agents: Iterable[str], kinds: Iterable[str]) -> FleetRoles:
        """Return these and more, each once."""
        more = ((self.hosts, hosts), (self.agents, agents), (self.kinds, kinds))
        return FleetRoles(*(tuple(dict.fromkeys((*held, *added))) for held, added in more))


class PartState(Struct, frozen=True):
    """A stream, bucket (`KV_…`) or consumer on the servers, or the list of keys. `differs`: where it is not as it is to
    be, in words.
    """

    name: str
    state: State
    differs: str = ""


async def check_parts(
    settings: FleetSettings, jobs: JobSettings, roles: FleetRoles, *, change: bool, grants: bytes = b""
) -> list[PartState]:
    """Return the state of each part; with `change` make missing parts and correct the others. `grants`: all users' keys
    (`KeyList` as JSON), to be signed with the seed in `settings`; b"" for a fleet without signatures.

    Raises: Unavailable when no server answers, or this key may not do that; ConfigError.
    """
    async with NatsConnection(settings, "acud fleet init", inbox="admin") as connection:
        await connection.ready()
        wanted = list_streams(connection, jobs, compressed=await all_compress(connection))
        found = [await _make_stream(connection, one, change) for one in wanted]
        missing = {one.name for one in found if one.state == "missing"}
        for stream, one in list_consumers(connection.names, jobs, roles):
            if stream in missing:
                found.append(PartState(str(one.durable_name), "missing"))
            else:
                found.append(await _make_consumer(connection, stream, one, change))
        if grants:
            found.append(await _put_keys(connection, grants, change))
        return found


async def _put_keys(connection: NatsConnection, grants: bytes, change: bool) -> PartState:
    seed, names = own_seed(connection.settings), connection.names
    if seed is None:
        raise ConfigError("the list of keys is signed with the administrator's nkey", hint="acud fleet init --help")
    signer, stream = Signer(seed), f"KV_{names.bucket(KEYS)}"
    owner = decode_json(grants, KeyList).owners().get(signer.key)
    if owner is None or owner.role != "admin":
        raise ConfigError("this seed is not the administrator's", hint="acud fleet init --nkey-seed-file …/admin.nk")
    state: State = "missing"
    with connection.translate_faults("the list of keys"):
        try:
            found = (await connection.streams.get_last_msg(stream, names.key_list, direct=True)).data or b""
            read_keys(found, names.prefix, (signer.key,))
            state = "well" if codec.decode(found, SignedKeys).grants == grants else "different"
        except InvalidRequest:
            state = "different"
        except (nats.js.errors.NotFoundError, nats.errors.NoRespondersError, nats.js.errors.ServiceUnavailableError):
            pass  # no list, or no bucket
        if change and state != "well":
            await connection.streams.publish(names.key_list, sign_keys(signer, names.prefix, grants), stream=stream)
            state = "made" if state == "missing" else "changed"
    return PartState("list of keys", state)


async def all_compress(connection: NatsConnection) -> bool:
    """Return whether each running server of the fleet can compress what it stores."""
    servers = {(one.hostname or "", one.port or _PORT) for one in connection.nats.servers}
    versions = await asyncio.gather(*(_ask_version(*server) for server in servers))
    told = [one for one in versions if one]
    return bool(told) and min(told) >= _COMPRESSES


async def _ask_version(host: str, port: int) -> tuple[int, ...]:
    """Return the version that a server sends to each client before anything else; () if it sends none."""
    try:
        async with asyncio.timeout(_GREETING_S):
            reader, writer = await asyncio.open_connection(host, port)
            try:
                line = await reader.readline()
            finally:
                writer.close()
        info = decode_json(line.removeprefix(b"INFO "), _Greeting)
        return tuple(int(part) for part in info.version.partition("-")[0].split("."))
    except (OSError, TimeoutError, ValueError, msgspec.DecodeError):
        return ()


class _Greeting(Struct):
    version: str


def list_streams(connection: NatsConnection, jobs: JobSettings, *, compressed: bool = False) -> list[StreamConfig]:
    """Return every stream and bucket of a fleet. `compressed`: on the disk, but for the pictures of jobs."""
    names, lease_s = connection.names, connection.settings.lease_s
    lasting = {"hosts": lease_s, "members": 0.0, "drains": 0.0, "places": streams.PLACES_KEPT_S, KEYS: 0.0}
    made = {"EVENTS": streams.events(names), "WAKES": streams.wakes(names), "JOBS": jobs_stream(names, jobs)}
    made |= {name: bucket_stream(names, name, ttl_s) for name, ttl_s in lasting.items()}
    copies = connection.settings.replicas
    return [
        one.evolve(
            num_replicas=copies,
            max_bytes=one.max_bytes or streams.max_bytes(name, connection.settings),
            compression=StoreCompression.S2 if compressed and name != "JOBS" else None,
        )
        for name, one in made.items()
    ]


def list_consumers(names: FleetNames, jobs: JobSettings, roles: FleetRoles) -> Iterable[tuple[str, ConsumerConfig]]:
    """Yield every consumer, after the stream that it takes from."""
    wakes = names.stream("WAKES")
    for agent in roles.agents:
        yield wakes, _reader_config(names.wake_reader(agent), names.wake(agent, "*"))
    for host in roles.hosts:
        yield wakes, _reader_config(names.seen_reader(host), names.acknowledgement(host, "*"))
    for kind in roles.kinds:
        yield names.stream("JOBS"), jobs_consumer(names, jobs, kind)


def _reader_config(name: str, subject: str) -> ConsumerConfig:
    return ConsumerConfig(
        name=name,
        durable_name=name,
        filter_subject=subject,
        ack_policy=AckPolicy.EXPLICIT,
        ack_wait=ACK_WAIT_S,
        max_ack_pending=_IN_HAND,
    )


async def _make_stream(connection: NatsConnection, config: StreamConfig, change: bool) -> PartState:
    name = str(config.name)
    with connection.translate_faults(f"stream {name}"):
        try:
            info = await connection.streams.stream_info(name)
        except nats.js.errors.NotFoundError:
            if change:
                await connection.streams.add_stream(config)
            return PartState(name, "made" if change else "missing")
        found, held = info.config, info.state.bytes
        differs = describe_differences(found, config)
        if not differs:
            return PartState(name, "well")
        too_small = config.max_bytes is not None and held > config.max_bytes
        if too_small:  # a limit below what it holds would have the servers drop the oldest at once
            differs += f"; it holds {held} bytes, so that its limit stays: raise [fleet] max_gb"
            config = config.evolve(max_bytes=found.max_bytes)
        if change:
            await connection.streams.update_stream(with_wanted_settings(found, config))
        return PartState(name, "changed" if change and not too_small else "different", differs)


async def _make_consumer(connection: NatsConnection, stream: str, config: ConsumerConfig, change: bool) -> PartState:
    name = str(config.durable_name)
    with connection.translate_faults(f"consumer {name}"):
        try:
            found = (await connection.streams.consumer_info(stream, name)).config
        except nats.js.errors.NotFoundError:
            if change:
                await connection.streams.add_consumer(stream, config)
            return PartState(name, "made" if change else "missing")
        differs = "; ".join(
            f"{field} is {_normalise_setting(found, field)}, not {_normalise_setting(config, field)}"
            for field in _CONSUMER
            if _normalise_setting(found, field) != _normalise_setting(config, field)
        )
        if not differs:
            return PartState(name, "well")
        if change:
            await connection.streams.add_consumer(stream, config)
        return PartState(name, "changed" if change else "different", differs)


def _normalise_setting(config: ConsumerConfig, field: str) -> object:
    value = getattr(config, field)
    if field == "max_deliver":
        return value or -1
    if field == "ack_wait":
        return float(value)
    return str(getattr(value, "value", value)) if value else "none"
