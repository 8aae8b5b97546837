"""The connection to NATS: credentials, reconnecting for ever, buckets; faults in acud's own words."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator
from typing import Self

import nats.errors
import nats.js.errors
from nats.js import JetStreamContext
from nats.js.api import ConsumerInfo, StreamConfig
from nats.js.kv import KeyValue

from acud.base import log
from acud.base.errors import ConfigError, Unavailable
from acud.config.fleet import FleetSettings
from acud.features.fleet.cancellation import cancel_until_done, cancellation_kept
from acud.features.fleet.names import KEYS, FleetNames, bucket_stream, describe_differences
from acud.features.fleet.server_policy import CheckedClient, credential_options, fault_text, own_seed
from acud.features.fleet.signatures import Signatures

_LOG = log.logger("fleet")
_CONNECT_S = 3
_AGAIN_S = 0.5
_PING_S = 5
_MISSED_PINGS = 2
"""A connection that stopped passing bytes is given up after 15 s at most."""
_SAFE_VERSION = (2, 11)
"""Below, a cluster may hold copies that differ after too few of its servers were up (2.9.10: seen here; 2.9 gets no
more fixes, nats-server issue 4174; drift of copies up to 2.10: issues 5205, 5576).
"""
_NEWER = "a newer nats-server, one server after the other: docs/scaling.md, Versions of nats-server"
_NO_JETSTREAM = 10039
"""nats-server's error of an account without JetStream (server/errors.json, JSNotEnabledForAccountErr)."""
_API_S = 8.0
"""Longer than the election of a new leader takes (5.25 s measured, docs/scaling.md)."""
_DENIED = "ermissions violation"
"""In a server's error about a subject that this user may not use (nats-server, `Permissions Violation for …`)."""
_HINT = "acud fleet status; nats-server needs JetStream (-js) and the permissions of docs/scaling.md"
MEND = "with the administrator's key: acud fleet init"
ConnectionNews = Callable[[bool, str], None]
Warned = Callable[[dict[str, tuple[str, str]]], None]


class NatsConnection:
    """A client of the servers in `settings`. Use it in an `async with`: it then connects, and connects again, until it
    is closed; `ready` waits for the first time.

    `news` is called with whether it is connected, and why not; `on_warning` with `warnings`, when they changed. Answers
    come to subjects below `_INBOX.<inbox>`, so that servers can separate users.
    """

    def __init__(
        self,
        settings: FleetSettings,
        name: str,
        news: ConnectionNews | None = None,
        *,
        on_warning: Warned | None = None,
        inbox: str = "",
    ) -> None:
        self.settings = settings
        self.names = FleetNames(settings.prefix)
        self.nats = CheckedClient(settings)
        self.warnings: dict[str, tuple[str, str]] = {}
        """Faults of servers that answer, with their fixes; by subject."""
        self.signatures = Signatures(settings, self._read_keys, self.warn)
        self.fault = "not connected yet"
        """Why it is not connected now: the newest fault of a server or the way there."""
        self._name = name
        self._inbox = f"_INBOX.{inbox}" if inbox else "_INBOX"
        self._news = news
        self._warned = on_warning
        self._connecting: asyncio.Task[None] | None = None
        self._ready = asyncio.Event()
        self._begun = False
        self._refused = ""
        self._denials = 0
        self._js: JetStreamContext | None = None
        self._has_chosen = False

    @property
    def connected(self) -> bool:
        """Whether a server answers now."""
        return bool(self.nats.is_connected)

    @property
    def server(self) -> str:
        """Host and port of the server in use."""
        url = self.nats.connected_url
        return url.netloc.rpartition("@")[2] if url is not None else ""

    @property
    def streams(self) -> JetStreamContext:
        """JetStream. Raises: Unavailable before the first connection."""
        if self._js is None:
            raise self.down()
        return self._js

    async def __aenter__(self) -> Self:
        self._connecting = asyncio.create_task(self._connect_to_server())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._connecting is not None:
            await cancel_until_done(self._connecting)
        if self._begun:  # a client that never began can't be closed
            with contextlib.suppress(nats.errors.Error, OSError, TimeoutError):
                await self.nats.close()
            await self.nats.let_go()

    async def ready(self) -> None:
        """Return once the connection was made. Raises: ConfigError when a named file can't be used."""
        waiting = asyncio.create_task(self._ready.wait())
        assert self._connecting is not None
        await asyncio.wait({waiting, self._connecting}, return_when=asyncio.FIRST_COMPLETED)
        if not self._ready.is_set():
            waiting.cancel()
            self._connecting.result()

    async def _connect_to_server(self) -> None:
        credentials = credential_options(self.settings)
        self.signatures.use(own_seed(self.settings))
        self._begun = True
        await self.nats.connect(
            list(self.settings.urls),
            name=self._name,
            inbox_prefix=self._inbox,
            connect_timeout=_CONNECT_S,
            reconnect_time_wait=_AGAIN_S,  # type: ignore[arg-type]  # it is slept for: fractions are as good
            max_reconnect_attempts=-1,
            ping_interval=_PING_S,
            max_outstanding_pings=_MISSED_PINGS,
            error_cb=self._on_error,
            disconnected_cb=self._on_disconnect,
            reconnected_cb=self._on_reconnect,
            **credentials,
        )
        self._js = self.nats.jetstream(timeout=_API_S)
        await self._choose_api()
        self._ready.set()
        await self._on_connect()

    async def _choose_api(self) -> None:
        """Use JetStream of this user's account, or, where that has none, the part of another's that it shares. Without
        an answer (no leader now) it is asked again before the next stream or consumer is looked for.
        """
        if self._has_chosen:
            return
        before = self._denials
        try:
            with cancellation_kept():
                await self.streams.account_info()
        except nats.js.errors.APIError as fault:
            self._has_chosen = fault.err_code is not None
            if fault.err_code == _NO_JETSTREAM:
                self._js = self.nats.jetstream(prefix=self.names.api, timeout=_API_S)
        except (nats.errors.Error, OSError, TimeoutError):
            self._has_chosen = self._denials > before  # a user that may not even ask has no other account's to use
        else:
            self._has_chosen = True

    async def _on_reconnect(self) -> None:
        try:
            self.signatures.use(own_seed(self.settings))  # another key may lie there by now
        except ConfigError as fault:
            self.warn("seed", fault.message, fault.hint)
        else:
            self.warn("seed", "", "")
        await self._on_connect()

    async def _on_connect(self) -> None:
        self.fault = ""
        _LOG.info("fleet.connected", server=self.server)
        self._judge_version()
        self._report_news(True, self.server)

    def _judge_version(self) -> None:
        found = self.nats.connected_server_version
        is_old = self.settings.replicas > 1 and (found.major, found.minor) < _SAFE_VERSION
        name = f"nats-server {found.major}.{found.minor}.{found.patch}"
        text = f"{name} may keep an old copy of a stream after too few servers were up"
        self.warn("version", text if is_old else "", _NEWER)

    async def _on_disconnect(self) -> None:
        if not self.nats.is_closed:
            self.fault = self.fault or "the connection to the server was lost"
            _LOG.warning("fleet.disconnected", fault=self.fault)
            self._report_news(False, self.fault)

    async def _on_error(self, fault: Exception) -> None:
        words = fault_text(fault)
        if _DENIED in words:
            await self._note_denial(words)
            return
        if words != self.fault:
            _LOG.warning("fleet.fault", fault=words)
        self.fault = words
        if not self.connected:
            self._report_news(False, words)

    async def _note_denial(self, words: str) -> None:
        """Note a subject that the servers deny this user. The connection stays, and no answer will come."""
        if words != self._refused:
            _LOG.warning("fleet.denied", fault=words)
        self._refused = words
        self._denials += 1

    def _report_news(self, connected: bool, text: str) -> None:
        if self._news is not None:
            self._news(connected, text)

    def down(self) -> Unavailable:
        """Return the error of a fleet that can't be reached now."""
        where = self.settings.url
        return Unavailable(
            f"no NATS server of the fleet answers ({where}): {self.fault or 'it does not answer'}",
            hint="start nats-server, or see [fleet] url; acud fleet status",
            reason="fleet_down",
        )

    def warn(self, about: str, text: str, fix: str) -> None:
        """Report a fault `about` a part of the servers; an empty `text` reports its end."""
        before = self.warnings.get(about)
        if text:
            self.warnings[about] = (text, fix)
        else:
            self.warnings.pop(about, None)
        if self.warnings.get(about) == before:
            return
        _LOG.warning("fleet.warning", about=about, text=text or "it is well now")
        if self._warned is not None:
            self._warned(self.warnings)

    async def find_stream(self, wanted: StreamConfig) -> str:
        """Return the name of an existing stream, and warn where it is not set up as wanted here: only the administrator
        makes and changes streams.

        Raises: Unavailable when it is missing (`reason` is `not_initialised`), or no server answers.
        """
        name = str(wanted.name)
        await self._choose_api()
        with self.translate_faults(f"stream {name}"):
            try:
                found = await self.streams.stream_info(name)
            except nats.js.errors.NotFoundError:
                found = None
        if found is None:
            raise self.warn_of_missing(f"stream {name}")
        most = found.config.max_bytes if wanted.max_bytes is None else wanted.max_bytes  # else the administrator's word
        differs = describe_differences(found.config, wanted.evolve(num_replicas=self.settings.replicas, max_bytes=most))
        self.warn(f"stream {name}", differs and f"the stream {name} is set up differently: {differs}", MEND)
        return name

    def warn_of_missing(self, resource: str, fix: str = MEND) -> Unavailable:
        """Warn that `resource` is missing on the servers, and return the error."""
        text = f"the servers have no {resource}"
        self.warn(resource, text, fix)
        return Unavailable(text, hint=fix, reason="not_initialised")

    async def bucket(self, name: str, *, ttl_s: float = 0.0) -> KeyValue:
        """Return the bucket `name`. `ttl_s`: how long a key lasts (0: for ever).

        Raises: ConfigError when it is there with another lifetime; Unavailable as `find_stream` does.
        """
        await self.find_stream(bucket_stream(self.names, name, ttl_s))
        wanted = self.names.bucket(name)
        with self.translate_faults(f"bucket {wanted}"):
            found = await self.streams.key_value(wanted)
            await _check_age(found, ttl_s)
            return found

    async def _read_keys(self) -> bytes:
        stream = await self.find_stream(bucket_stream(self.names, KEYS, 0.0))
        with self.translate_faults("the list of keys"):
            try:
                return (await self.streams.get_last_msg(stream, self.names.key_list, direct=True)).data or b""
            except nats.js.errors.NotFoundError:
                raise Unavailable("the servers have no list of keys", hint=MEND) from None

    async def read_consumer(self, stream: str, name: str, grantee: str) -> ConsumerInfo:
        """Return the state of the durable consumer `name` of `stream`. `grantee`: the host, agent or worker that reads
        it, as `acud fleet grant` takes it (`host h1`).

        Raises: Unavailable when it is missing, or no server answers.
        """
        await self._choose_api()
        with self.translate_faults(f"consumer {name}"):
            try:
                found: ConsumerInfo = await self.streams.consumer_info(stream, name)
            except nats.js.errors.NotFoundError:
                raise self.warn_of_missing(
                    f"consumer {name}", f"acud fleet grant {grantee}, then acud fleet init"
                ) from None
        self.warn(f"consumer {name}", "", "")
        return found

    @contextlib.contextmanager
    def translate_faults(self, what: str) -> Iterator[None]:
        """Turn faults of NATS into acud's, naming `what` was tried, and what the servers denied meanwhile."""
        before = self._denials
        try:
            with cancellation_kept():
                yield
        except (nats.errors.Error, OSError, TimeoutError) as fault:
            if not self.connected:
                raise self.down() from fault
            told = fault_text(fault) + (f"; the servers said: {self._refused}" if self._denials > before else "")
            raise Unavailable(f"{what}: {told}", hint=_HINT) from fault


async def _check_age(bucket: KeyValue, ttl_s: float) -> None:
    status = await bucket.status()
    found = float(status.ttl or 0.0)
    if abs(found - ttl_s) > 1e-3:
        raise ConfigError(
            f"bucket {status.bucket} keeps keys for {found:g} s, not {ttl_s:g}",
            hint="set [fleet] lease_s alike on every host and where acud fleet init is run",
        )


async def end_subscription(subscription: JetStreamContext.PullSubscription, delay_s: float = 0.0) -> None:
    """Take no more from a consumer. Messages that were not fetched go back, not before `delay_s`."""
    with contextlib.suppress(nats.errors.Error, OSError, TimeoutError):
        while subscription.pending_msgs:
            for message in await subscription.fetch(1, timeout=0.1):
                await message.nak(delay=delay_s or None)
    with contextlib.suppress(nats.errors.Error, OSError):
        await subscription.unsubscribe()
