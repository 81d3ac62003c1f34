"""NodeSettings: the configuration of a node, read in one place.

The keys and defaults are those of behaviour reference §6.2. A value that depends on the mode
is `{router: ..., peer: ..., client: ...}` or the same for all.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from math import isfinite
from typing import Final

from zenlake.admin.settings import AdminSettings
from zenlake.errors import LocalError
from zenlake.limits import (
    FRAGMENT_IDLE_SECONDS_MAX,
    GROUP_PEERS_MAX,
    HANDSHAKE_IDLE_SECONDS_MAX,
    HANDSHAKES_MAX,
    LIMITS,
    MESSAGE_BYTES_MAX,
    REASSEMBLY_BYTES_MAX,
    REASSEMBLY_LARGE_BYTES_MAX,
    REASSEMBLY_PROCESS_BYTES_MAX,
    SESSIONS_PER_ADDRESS_PERCENT_MAX,
    TRANSPORTS_MAX,
    UNSENT_PROCESS_BYTES_MAX,
)
from zenlake.links.options import LinkSettings
from zenlake.node.users_file import read_users
from zenlake.protocol.offer import QUEUE_BATCHES
from zenlake.routing.settings import RoutingSettings
from zenlake.wire import EndPoint, Resolution, WhatAmI, ZenohId
from zenlake.wire.defaults import (
    DEFAULT_BATCH_BYTES,
    DEFAULT_HANDSHAKE_TIMEOUT_MS,
    DEFAULT_INTEREST_TIMEOUT_MS,
    DEFAULT_JOIN_INTERVAL_MS,
    DEFAULT_KEEP_ALIVE,
    DEFAULT_LEASE_MS,
    DEFAULT_QUERY_TIMEOUT_MS,
    DEFAULT_SCOUTING_TIMEOUT_MS,
)

Get = Callable[[str], object]

ROLES: Final = {str(role): role for role in WhatAmI}
ALL_ROLES: Final = int(WhatAmI.ROUTER | WhatAmI.PEER | WhatAmI.CLIENT)
_LANES: Final = (
    "control",
    "real_time",
    "interactive_high",
    "interactive_low",
    "data_high",
    "data",
    "data_low",
    "background",
)
_LIMITS: Final = {limit.key: limit.value for limit in LIMITS}
_TX: Final = "transport/link/tx"
_QUEUE: Final = f"{_TX}/queue"
_DROP: Final = f"{_QUEUE}/congestion_control/drop"
_BLOCK: Final = f"{_QUEUE}/congestion_control/block"

NEVER_S: Final = threading.TIMEOUT_MAX
_SHORTEST_WAIT_S: Final = 0.01


class Retry:
    """How long to wait before trying again: first, at most, and how it grows.

    A first wait below 0 means never, a longest one of 0 or less none at all. There is always
    some wait: no number makes a node try without end.
    """

    __slots__ = ("factor", "first_s", "max_s")

    def __init__(self, first_s: float = 1.0, max_s: float = 4.0, factor: float = 2.0) -> None:
        self.first_s = first_s
        self.max_s = max_s
        self.factor = factor

    @property
    def initial_s(self) -> float:
        return NEVER_S if self.first_s < 0 else max(self.first_s, _SHORTEST_WAIT_S)

    def after(self, wait_s: float) -> float:
        longest_s = self.max_s if self.max_s > 0 else NEVER_S
        return max(_SHORTEST_WAIT_S, min(wait_s * self.factor, longest_s, NEVER_S))

    def for_endpoint(self, endpoint: EndPoint) -> Retry:
        """`tcp/host:port#retry_period_init_ms=...` comes before the configuration."""
        config = endpoint.config
        first = config.get("retry_period_init_ms")
        longest = config.get("retry_period_max_ms")
        factor = config.get("retry_period_increase_factor")
        try:
            return Retry(
                self.first_s if first is None else _finite(first) / 1000,
                self.max_s if longest is None else _finite(longest) / 1000,
                self.factor if factor is None else _finite(factor),
            )
        except ValueError:
            raise LocalError(f"{endpoint}: a retry period is a number") from None


def _finite(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError(text)
    return number


class NodeSettings:
    """Defaults of a role; `read` applies a configuration, tests set attributes."""

    def __init__(self, role: WhatAmI = WhatAmI.PEER, zid: ZenohId | None = None) -> None:
        is_client = role == WhatAmI.CLIENT
        is_router = role == WhatAmI.ROUTER
        self.role = role
        self.zid = zid or random_zid()
        self.listen: list[EndPoint] = []
        self.listen_timeout_s: float | None = 0.0
        self.listen_exit_on_failure = True
        self.listen_retry = Retry()
        self.connect: list[EndPoint] = []
        self.connect_timeout_s: float | None = 0.0 if is_client else None  # None: for ever
        self.connect_exit_on_failure = is_client
        self.connect_retry = Retry()
        self.waits_for_scouted = True
        self.waits_for_declares = True
        self.scouting_timeout_s = DEFAULT_SCOUTING_TIMEOUT_MS / 1000
        self.scouting_delay_s = 0.5
        self.multicast_enabled = True
        self.multicast_address = "224.0.0.224:7446"
        self.multicast_interface = "auto"
        self.multicast_ttl = 1
        self.multicast_listen = True
        self.multicast_autoconnect = 0 if is_router else ALL_ROLES
        self.multicast_strategy = Strategy()
        self.gossip_autoconnect = 0 if is_router else ALL_ROLES
        self.gossip_strategy = Strategy()
        self.open_timeout_s = DEFAULT_HANDSHAKE_TIMEOUT_MS / 1000
        self.accept_timeout_s = DEFAULT_HANDSHAKE_TIMEOUT_MS / 1000
        self.accept_pending = HANDSHAKES_MAX
        self.handshake_idle_s: float = HANDSHAKE_IDLE_SECONDS_MAX
        self.max_sessions = TRANSPORTS_MAX
        self.address_percent = SESSIONS_PER_ADDRESS_PERCENT_MAX
        self.qos = True
        self.low_latency = False
        self.compression = False
        self.resolution = Resolution()
        self.lease_ms = DEFAULT_LEASE_MS
        self.keep_alive = DEFAULT_KEEP_ALIVE
        self.batch_size = DEFAULT_BATCH_BYTES
        self.queue_batches: tuple[int, ...] = QUEUE_BATCHES
        self.wait_before_drop_s = 0.001
        self.wait_before_close_s: float | None = 5.0  # None: for ever
        self.batching = True
        self.batching_s = 0.001
        self.message_bytes_max = MESSAGE_BYTES_MAX
        self.reassembly_bytes_max = REASSEMBLY_BYTES_MAX
        self.reassembly_process_bytes_max = REASSEMBLY_PROCESS_BYTES_MAX
        self.reassembly_large_bytes_max = REASSEMBLY_LARGE_BYTES_MAX
        self.fragment_idle_s: float = FRAGMENT_IDLE_SECONDS_MAX
        self.unsent_process_bytes_max = UNSENT_PROCESS_BYTES_MAX
        self.group_join_interval_s = DEFAULT_JOIN_INTERVAL_MS / 1000
        self.group_qos = False
        self.group_peers_max = GROUP_PEERS_MAX
        self.user: str | None = None
        self.password: str | None = None
        self.users: Mapping[str, str] | None = None
        self.links = LinkSettings()
        self.routing = RoutingSettings(timestamping=is_router, wall_ns=time.time_ns)
        self.admin = AdminSettings()

    def sessions_per_address(self) -> int:
        """How many of `max_sessions` may come in from one address."""
        return -(-self.max_sessions * self.address_percent // 100)

    @staticmethod
    def read(get: Get, role: WhatAmI | None = None) -> NodeSettings:
        """Read a configuration: `get` returns the value at a path, None where nothing is set."""
        if role is None:
            mode = get("mode") or "peer"
            if not isinstance(mode, str) or mode not in ROLES:
                raise LocalError(f"mode is router, peer or client, not {mode!r}")
            role = ROLES[mode]
        zid = get("id")
        settings = NodeSettings(role, ZenohId.parse(str(zid)) if zid is not None else None)
        reader = _Reader(get, role)
        _read_endpoints(settings, reader)
        _read_scouting(settings, reader)
        _read_transport(settings, reader)
        _read_queues(settings, reader)
        _read_authentication(settings, reader)
        _read_routing(settings, reader)
        _read_admin(settings, reader)
        _read_limits(settings, reader)
        return settings


class Strategy:
    """`autoconnect_strategy`: whether the node with the smaller id leaves connecting to others."""

    __slots__ = ("greater_zid_only",)

    def __init__(self, greater_zid_only: int = 0) -> None:
        self.greater_zid_only = greater_zid_only  # the roles for which it is `greater-zid`

    def allows(self, own: ZenohId, other: ZenohId, role: WhatAmI) -> bool:
        return not self.greater_zid_only & role or other < own

    @staticmethod
    def of(value: object) -> Strategy:
        if value is None:
            return Strategy()
        if isinstance(value, Mapping):
            mask = 0
            for role in WhatAmI:
                mask |= _strategy_mask(value.get(f"to_{role}")) & role
            return Strategy(mask)
        return Strategy(_strategy_mask(value))


def _strategy_mask(word: object) -> int:
    if word not in (None, "always", "greater-zid"):
        raise LocalError(f"autoconnect_strategy is always or greater-zid, not {word!r}")
    return ALL_ROLES if word == "greater-zid" else 0


class _Reader:
    """Values of a configuration as this mode sees them."""

    def __init__(self, get: Get, role: WhatAmI) -> None:
        self.get = get
        self.role = role

    def value(self, path: str) -> object:
        found = self.get(path)
        if isinstance(found, Mapping) and found and ROLES.keys() >= found.keys():
            return found.get(str(self.role))
        return found

    def number(self, path: str, default: float) -> float:
        found = self.value(path)
        if found is None:
            return default
        if isinstance(found, bool) or not isinstance(found, int | float):
            raise LocalError(f"{path} is a number, not {found!r}")
        return found

    def whole(self, path: str, default: int) -> int:
        return int(self.number(path, default))

    def limit(self, path: str) -> int:
        """One of `limits.LIMITS`."""
        return self.whole(path, _LIMITS[path])

    def flag(self, path: str, default: bool) -> bool:
        found = self.value(path)
        if found is None:
            return default
        if not isinstance(found, bool):
            raise LocalError(f"{path} is true or false, not {found!r}")
        return found

    def text(self, path: str) -> str | None:
        found = self.value(path)
        return None if found is None else str(found)

    def endpoints(self, path: str) -> list[EndPoint] | None:
        found = self.value(path)
        if found is None:
            return None
        texts: list[str] = []
        for item in found if isinstance(found, list) else [found]:
            if isinstance(item, Mapping):  # {strategy: "allOf", locators: [...]}
                texts += [str(text) for text in item.get("locators", ())]
            else:
                texts.append(str(item))
        return [EndPoint.parse(text) for text in texts]

    def roles(self, path: str, default: int) -> int:
        found = self.value(path)
        if found is None:
            return default
        names = found.split("|") if isinstance(found, str) else found
        mask = 0
        for name in names if isinstance(names, list) else [names]:
            role = ROLES.get(str(name))
            if name and role is None:
                raise LocalError(f"{path}: there is no role {name!r}")
            mask |= role or 0
        return mask

    def mapping(self, path: str) -> Mapping[str, object]:
        found = self.value(path)
        return found if isinstance(found, Mapping) else {}

    def retry(self, path: str) -> Retry:
        return Retry(
            self.number(f"{path}/period_init_ms", 1000) / 1000,
            self.number(f"{path}/period_max_ms", 4000) / 1000,
            self.number(f"{path}/period_increase_factor", 2),
        )

    def patience(self, path: str, default_s: float | None) -> float | None:
        """Milliseconds; a negative number means for ever."""
        found = self.number(path, -1 if default_s is None else default_s * 1000)
        return None if found < 0 else found / 1000


def _read_endpoints(settings: NodeSettings, reader: _Reader) -> None:
    listen = reader.endpoints("listen/endpoints")
    settings.listen = _default_listen(settings.role) if listen is None else listen
    settings.listen_timeout_s = reader.patience("listen/timeout_ms", settings.listen_timeout_s)
    settings.listen_exit_on_failure = reader.flag("listen/exit_on_failure", True)
    settings.listen_retry = reader.retry("listen/retry")
    settings.connect = reader.endpoints("connect/endpoints") or []
    settings.connect_timeout_s = reader.patience("connect/timeout_ms", settings.connect_timeout_s)
    settings.connect_exit_on_failure = reader.flag(
        "connect/exit_on_failure", settings.connect_exit_on_failure
    )
    settings.connect_retry = reader.retry("connect/retry")
    conditions = "open/return_conditions"
    settings.waits_for_scouted = reader.flag(f"{conditions}/connect_scouted", True)
    settings.waits_for_declares = reader.flag(f"{conditions}/declares", True)


def _default_listen(role: WhatAmI) -> list[EndPoint]:
    if role == WhatAmI.CLIENT:
        return []
    port = 7447 if role == WhatAmI.ROUTER else 0
    return [EndPoint.parse(f"tcp/[::]:{port}")]


def _read_scouting(settings: NodeSettings, reader: _Reader) -> None:
    settings.scouting_timeout_s = (
        reader.number("scouting/timeout", DEFAULT_SCOUTING_TIMEOUT_MS) / 1000
    )
    settings.scouting_delay_s = reader.number("scouting/delay", 500) / 1000
    multicast = "scouting/multicast"
    settings.multicast_enabled = reader.flag(f"{multicast}/enabled", True)
    settings.multicast_address = reader.text(f"{multicast}/address") or settings.multicast_address
    settings.multicast_interface = reader.text(f"{multicast}/interface") or "auto"
    settings.multicast_ttl = reader.whole(f"{multicast}/ttl", 1)
    settings.multicast_listen = reader.flag(f"{multicast}/listen", True)
    settings.multicast_autoconnect = reader.roles(
        f"{multicast}/autoconnect", settings.multicast_autoconnect
    )
    settings.multicast_strategy = Strategy.of(reader.value(f"{multicast}/autoconnect_strategy"))
    gossip = "scouting/gossip"
    settings.gossip_autoconnect = reader.roles(f"{gossip}/autoconnect", settings.gossip_autoconnect)
    settings.gossip_strategy = Strategy.of(reader.value(f"{gossip}/autoconnect_strategy"))


def _read_transport(settings: NodeSettings, reader: _Reader) -> None:
    unicast = "transport/unicast"
    settings.open_timeout_s = (
        reader.number(f"{unicast}/open_timeout", DEFAULT_HANDSHAKE_TIMEOUT_MS) / 1000
    )
    settings.accept_timeout_s = (
        reader.number(f"{unicast}/accept_timeout", DEFAULT_HANDSHAKE_TIMEOUT_MS) / 1000
    )
    settings.accept_pending = reader.whole(f"{unicast}/accept_pending", HANDSHAKES_MAX)
    settings.max_sessions = reader.whole(f"{unicast}/max_sessions", TRANSPORTS_MAX)
    settings.low_latency = reader.flag(f"{unicast}/lowlatency", False)
    settings.qos = reader.flag(f"{unicast}/qos/enabled", True)
    settings.compression = reader.flag(f"{unicast}/compression/enabled", False)
    if settings.qos and settings.low_latency:
        raise LocalError("transport/unicast: lowlatency and qos cannot both be enabled")
    multicast = "transport/multicast"
    settings.group_join_interval_s = (
        reader.number(f"{multicast}/join_interval", DEFAULT_JOIN_INTERVAL_MS) / 1000
    )
    settings.group_qos = reader.flag(f"{multicast}/qos/enabled", False)
    settings.group_peers_max = reader.whole(f"{multicast}/max_sessions", GROUP_PEERS_MAX)
    protocols = reader.value("transport/link/protocols")
    settings.links = LinkSettings(
        reader.mapping("transport/link/tcp"),
        reader.mapping("transport/link/tls"),
        [str(name) for name in protocols] if isinstance(protocols, list) else None,
    )


def _read_queues(settings: NodeSettings, reader: _Reader) -> None:
    bits = reader.text(f"{_TX}/sequence_number_resolution") or "32bit"
    if bits not in ("8bit", "16bit", "32bit", "64bit"):
        raise LocalError(f"{_TX}/sequence_number_resolution is 8bit to 64bit, not {bits!r}")
    settings.resolution = Resolution.of(sn_bits=int(bits.removesuffix("bit")))
    settings.lease_ms = reader.whole(f"{_TX}/lease", DEFAULT_LEASE_MS)
    settings.keep_alive = reader.whole(f"{_TX}/keep_alive", DEFAULT_KEEP_ALIVE)
    settings.batch_size = reader.whole(f"{_TX}/batch_size", DEFAULT_BATCH_BYTES)
    settings.queue_batches = tuple(reader.whole(f"{_QUEUE}/size/{lane}", 2) for lane in _LANES)
    if not all(1 <= count <= 16 for count in settings.queue_batches):
        raise LocalError(f"{_QUEUE}/size is 1 to 16 batches")
    settings.wait_before_drop_s = reader.number(f"{_DROP}/wait_before_drop", 1000) / 1e6
    wait_us = reader.number(f"{_BLOCK}/wait_before_close", 5_000_000)
    settings.wait_before_close_s = None if wait_us < 0 else wait_us / 1e6
    settings.batching = reader.flag(f"{_QUEUE}/batching/enabled", True)
    settings.batching_s = reader.number(f"{_QUEUE}/batching/time_limit", 1) / 1000
    settings.message_bytes_max = reader.limit("transport/link/rx/max_message_size")


def _read_authentication(settings: NodeSettings, reader: _Reader) -> None:
    path = "transport/auth/usrpwd"
    settings.user = reader.text(f"{path}/user")
    settings.password = reader.text(f"{path}/password")
    dictionary = reader.text(f"{path}/dictionary_file")
    if dictionary is not None:
        settings.users = read_users(dictionary)


def _read_routing(settings: NodeSettings, reader: _Reader) -> None:
    routing = settings.routing
    routing.timestamping = reader.flag("timestamping/enabled", routing.timestamping)
    routing.drop_future_timestamp = reader.flag("timestamping/drop_future_timestamp", False)
    routing.query_timeout_ms = reader.whole("queries_default_timeout", DEFAULT_QUERY_TIMEOUT_MS)
    routing.interest_timeout_s = (
        reader.number("routing/interests/timeout", DEFAULT_INTEREST_TIMEOUT_MS) / 1000
    )
    routing.gossip = reader.flag("scouting/gossip/enabled", True)
    routing.gossip_multihop = reader.flag("scouting/gossip/multihop", False)
    routing.gossip_targets = reader.roles("scouting/gossip/target", routing.gossip_targets)
    if settings.role != WhatAmI.CLIENT and routing.gossip_targets & WhatAmI.CLIENT:
        raise LocalError('scouting/gossip/target: "client" is not allowed as gossip target')
    routing.link_weights = _read_weights(reader, "routing/router")
    routing.linkstate_peers = reader.text("routing/peer/mode") == "linkstate"
    routing.peer_link_weights = _read_weights(reader, "routing/peer")


def _read_weights(reader: _Reader, path: str) -> dict[ZenohId, int]:
    """By neighbour."""
    weights = reader.get(f"{path}/linkstate/transport_weights")
    listed = weights if isinstance(weights, list) else []
    return {ZenohId.parse(one["dst_zid"]): one["weight"] for one in listed}


def _read_admin(settings: NodeSettings, reader: _Reader) -> None:
    settings.admin = AdminSettings(
        enabled=reader.flag("adminspace/enabled", False),
        read=reader.flag("adminspace/permissions/read", True),
        write=reader.flag("adminspace/permissions/write", False),
        metadata=reader.get("metadata"),
    )


def _read_limits(settings: NodeSettings, reader: _Reader) -> None:
    """Limits that can be configured; the API refuses to set the others."""
    transport = "limits/transport"
    settings.address_percent = reader.limit(f"{transport}/sessions_per_address_percent")
    settings.handshake_idle_s = reader.limit(f"{transport}/handshake_idle_seconds")
    settings.reassembly_bytes_max = reader.limit(f"{transport}/reassembly_bytes")
    settings.reassembly_process_bytes_max = reader.limit(f"{transport}/reassembly_process_bytes")
    settings.reassembly_large_bytes_max = reader.limit(f"{transport}/reassembly_large_bytes")
    settings.fragment_idle_s = reader.limit(f"{transport}/fragment_idle_seconds")
    settings.unsent_process_bytes_max = reader.limit(f"{transport}/unsent_process_bytes")
    routing = settings.routing
    routing.declarations_max = reader.limit("limits/routing/declarations")
    routing.interests_max = reader.limit("limits/routing/interests")
    routing.queries_max = reader.limit("limits/routing/queries")
    routing.face_bytes_max = reader.limit("limits/routing/session_bytes")
    routing.bytes_max = reader.limit("limits/routing/process_bytes")


def random_zid() -> ZenohId:
    return ZenohId.from_int(int.from_bytes(os.urandom(16), "little") or 1)
