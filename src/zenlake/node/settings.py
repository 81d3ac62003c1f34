"""NodeSettings: the configuration of a node, read in one place.

The keys and defaults are those of behaviour reference §6.2. A value that depends on the mode
is `{router: ..., peer: ..., client: ...}` or the same for all.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Final

from zenlake.admin.settings import AdminSettings
from zenlake.errors import LocalError
from zenlake.limits import (
    FRAGMENT_IDLE_SECONDS_MAX,
    GROUP_PEERS_MAX,
    HANDSHAKE_IDLE_SECONDS_MAX,
    HANDSHAKES_MAX,
    MESSAGE_BYTES_MAX,
    REASSEMBLY_BYTES_MAX,
    REASSEMBLY_LARGE_BYTES_MAX,
    REASSEMBLY_PROCESS_BYTES_MAX,
    SESSIONS_PER_ADDRESS_PERCENT_MAX,
    TRANSPORTS_MAX,
    UNSENT_PROCESS_BYTES_MAX,
)
from zenlake.links.options import LinkSettings
from zenlake.node.autoconnect import ALL_ROLES, greater_zid_roles
from zenlake.node.config_values import ROLES, ConfigValues, Get
from zenlake.node.retry import Retry
from zenlake.node.users_file import read_users
from zenlake.protocol.offer import QUEUE_BATCHES
from zenlake.recording.settings import SEGMENT_BYTES, SEGMENT_SECONDS, RecordingSettings
from zenlake.routing.settings import RoutingSettings
from zenlake.wire import EndPoint, Resolution, WhatAmI, ZenohId
from zenlake.wire.defaults import (
    DEFAULT_BATCH_BYTES,
    DEFAULT_HANDSHAKE_TIMEOUT_MS,
    DEFAULT_JOIN_INTERVAL_MS,
    DEFAULT_KEEP_ALIVE,
    DEFAULT_LEASE_MS,
    DEFAULT_SCOUTING_TIMEOUT_MS,
)
from zenlake.wire.values.qos import PRIORITIES

_TX: Final = "transport/link/tx"
_QUEUE: Final = f"{_TX}/queue"
_CONGESTION: Final = f"{_QUEUE}/congestion_control"
_CLOSE_S: Final = 5.0


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
        self.multicast_greater_zid_roles = 0
        self.gossip_autoconnect = 0 if is_router else ALL_ROLES
        self.gossip_greater_zid_roles = 0
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
        self.wait_before_close_s: float | None = _CLOSE_S  # None: for ever
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
        self.discards_publications = False
        """Whether received publications go to a recording only."""
        self.recording: RecordingSettings | None = None
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
        values = ConfigValues(get, role)
        _read_endpoints(settings, values)
        _read_scouting(settings, values)
        _read_transport(settings, values)
        _read_queues(settings, values)
        _read_authentication(settings, values)
        _read_routing(settings, values)
        _read_admin(settings, values)
        _read_limits(settings, values)
        _read_recording(settings, values)
        return settings


def _read_endpoints(settings: NodeSettings, values: ConfigValues) -> None:
    own = settings
    listen = values.endpoints("listen/endpoints")
    own.listen = _default_listen(own.role) if listen is None else listen
    own.listen_timeout_s = values.patience("listen/timeout_ms", own.listen_timeout_s)
    own.listen_exit_on_failure = values.flag("listen/exit_on_failure", own.listen_exit_on_failure)
    own.listen_retry = values.retry("listen/retry", own.listen_retry)
    own.connect = values.endpoints("connect/endpoints") or []
    own.connect_timeout_s = values.patience("connect/timeout_ms", own.connect_timeout_s)
    exits = values.flag("connect/exit_on_failure", own.connect_exit_on_failure)
    own.connect_exit_on_failure = exits
    own.connect_retry = values.retry("connect/retry", own.connect_retry)
    conditions = "open/return_conditions"
    own.waits_for_scouted = values.flag(f"{conditions}/connect_scouted", own.waits_for_scouted)
    own.waits_for_declares = values.flag(f"{conditions}/declares", own.waits_for_declares)


def _default_listen(role: WhatAmI) -> list[EndPoint]:
    if role == WhatAmI.CLIENT:
        return []
    port = 7447 if role == WhatAmI.ROUTER else 0
    return [EndPoint.parse(f"tcp/[::]:{port}")]


def _read_scouting(settings: NodeSettings, values: ConfigValues) -> None:
    own = settings
    own.scouting_timeout_s = values.seconds("scouting/timeout", own.scouting_timeout_s)
    own.scouting_delay_s = values.seconds("scouting/delay", own.scouting_delay_s)
    path = "scouting/multicast"
    own.multicast_enabled = values.flag(f"{path}/enabled", own.multicast_enabled)
    own.multicast_address = values.text(f"{path}/address") or own.multicast_address
    own.multicast_interface = values.text(f"{path}/interface") or own.multicast_interface
    own.multicast_ttl = values.whole(f"{path}/ttl", own.multicast_ttl)
    own.multicast_listen = values.flag(f"{path}/listen", own.multicast_listen)
    own.multicast_autoconnect = values.roles(f"{path}/autoconnect", own.multicast_autoconnect)
    strategy = values.value(f"{path}/autoconnect_strategy")
    own.multicast_greater_zid_roles = greater_zid_roles(strategy)
    path = "scouting/gossip"
    own.gossip_autoconnect = values.roles(f"{path}/autoconnect", own.gossip_autoconnect)
    strategy = values.value(f"{path}/autoconnect_strategy")
    own.gossip_greater_zid_roles = greater_zid_roles(strategy)


def _read_transport(settings: NodeSettings, values: ConfigValues) -> None:
    own = settings
    path = "transport/unicast"
    own.open_timeout_s = values.seconds(f"{path}/open_timeout", own.open_timeout_s)
    own.accept_timeout_s = values.seconds(f"{path}/accept_timeout", own.accept_timeout_s)
    own.accept_pending = values.whole(f"{path}/accept_pending", own.accept_pending)
    own.max_sessions = values.whole(f"{path}/max_sessions", own.max_sessions)
    own.low_latency = values.flag(f"{path}/lowlatency", own.low_latency)
    own.qos = values.flag(f"{path}/qos/enabled", own.qos)
    own.compression = values.flag(f"{path}/compression/enabled", own.compression)
    if own.qos and own.low_latency:
        raise LocalError("transport/unicast: lowlatency and qos cannot both be enabled")
    path = "transport/multicast"
    own.group_join_interval_s = values.seconds(f"{path}/join_interval", own.group_join_interval_s)
    own.group_qos = values.flag(f"{path}/qos/enabled", own.group_qos)
    own.group_peers_max = values.whole(f"{path}/max_sessions", own.group_peers_max)
    protocols = values.value("transport/link/protocols")
    own.links = LinkSettings(
        values.mapping("transport/link/tcp"),
        values.mapping("transport/link/tls"),
        [str(name) for name in protocols] if isinstance(protocols, list) else None,
    )


def _read_queues(settings: NodeSettings, values: ConfigValues) -> None:
    own = settings
    bits = values.text(f"{_TX}/sequence_number_resolution") or f"{own.resolution.sn_bits}bit"
    if bits not in ("8bit", "16bit", "32bit", "64bit"):
        raise LocalError(f"{_TX}/sequence_number_resolution is 8bit to 64bit, not {bits!r}")
    own.resolution = Resolution.of(sn_bits=int(bits.removesuffix("bit")))
    own.lease_ms = values.whole(f"{_TX}/lease", own.lease_ms)
    own.keep_alive = values.whole(f"{_TX}/keep_alive", own.keep_alive)
    own.batch_size = values.whole(f"{_TX}/batch_size", own.batch_size)
    own.queue_batches = tuple(
        values.whole(f"{_QUEUE}/size/{priority}", count)
        for priority, count in zip(PRIORITIES, own.queue_batches, strict=True)
    )
    if not all(1 <= count <= 16 for count in own.queue_batches):
        raise LocalError(f"{_QUEUE}/size is 1 to 16 batches")
    drop_us = values.number(f"{_CONGESTION}/drop/wait_before_drop", own.wait_before_drop_s * 1e6)
    own.wait_before_drop_s = drop_us / 1e6
    close_us = values.number(f"{_CONGESTION}/block/wait_before_close", _CLOSE_S * 1e6)
    own.wait_before_close_s = None if close_us < 0 else close_us / 1e6
    own.batching = values.flag(f"{_QUEUE}/batching/enabled", own.batching)
    own.batching_s = values.seconds(f"{_QUEUE}/batching/time_limit", own.batching_s)
    own.message_bytes_max = values.limit("transport/link/rx/max_message_size")


def _read_authentication(settings: NodeSettings, values: ConfigValues) -> None:
    path = "transport/auth/usrpwd"
    settings.user = values.text(f"{path}/user")
    settings.password = values.text(f"{path}/password")
    dictionary = values.text(f"{path}/dictionary_file")
    if dictionary is not None:
        settings.users = read_users(dictionary)


def _read_routing(settings: NodeSettings, values: ConfigValues) -> None:
    own = settings.routing
    own.timestamping = values.flag("timestamping/enabled", own.timestamping)
    own.drop_future_timestamp = values.flag(
        "timestamping/drop_future_timestamp", own.drop_future_timestamp
    )
    own.query_timeout_ms = values.whole("queries_default_timeout", own.query_timeout_ms)
    own.interest_timeout_s = values.seconds("routing/interests/timeout", own.interest_timeout_s)
    own.gossip = values.flag("scouting/gossip/enabled", own.gossip)
    own.gossip_multihop = values.flag("scouting/gossip/multihop", own.gossip_multihop)
    own.gossip_targets = values.roles("scouting/gossip/target", own.gossip_targets)
    if settings.role != WhatAmI.CLIENT and own.gossip_targets & WhatAmI.CLIENT:
        raise LocalError('scouting/gossip/target: "client" is not allowed as gossip target')
    own.link_weights = _read_weights(values, "routing/router")
    own.linkstate_peers = values.text("routing/peer/mode") == "linkstate"
    own.peer_link_weights = _read_weights(values, "routing/peer")


def _read_weights(values: ConfigValues, path: str) -> dict[ZenohId, int]:
    """The weights of links, by neighbour."""
    weights = values.get(f"{path}/linkstate/transport_weights")
    listed = weights if isinstance(weights, list) else []
    return {ZenohId.parse(one["dst_zid"]): one["weight"] for one in listed}


def _read_admin(settings: NodeSettings, values: ConfigValues) -> None:
    own = settings.admin
    own.enabled = values.flag("adminspace/enabled", own.enabled)
    own.read = values.flag("adminspace/permissions/read", own.read)
    own.write = values.flag("adminspace/permissions/write", own.write)
    own.metadata = values.get("metadata")


def _read_limits(settings: NodeSettings, values: ConfigValues) -> None:
    """Read the limits that can be configured; the API refuses to set the others."""
    transport = "limits/transport"
    settings.address_percent = values.limit(f"{transport}/sessions_per_address_percent")
    settings.handshake_idle_s = values.limit(f"{transport}/handshake_idle_seconds")
    settings.reassembly_bytes_max = values.limit(f"{transport}/reassembly_bytes")
    settings.reassembly_process_bytes_max = values.limit(f"{transport}/reassembly_process_bytes")
    settings.reassembly_large_bytes_max = values.limit(f"{transport}/reassembly_large_bytes")
    settings.fragment_idle_s = values.limit(f"{transport}/fragment_idle_seconds")
    settings.unsent_process_bytes_max = values.limit(f"{transport}/unsent_process_bytes")
    routing = settings.routing
    routing.declarations_max = values.limit("limits/routing/declarations")
    routing.interests_max = values.limit("limits/routing/interests")
    routing.queries_max = values.limit("limits/routing/queries")
    routing.face_bytes_max = values.limit("limits/routing/session_bytes")
    routing.bytes_max = values.limit("limits/routing/process_bytes")


def _read_recording(settings: NodeSettings, values: ConfigValues) -> None:
    path = values.text("recording/path")
    recording = RecordingSettings(
        "none" if path is None else path,
        segment_bytes=values.whole("recording/segment_bytes", SEGMENT_BYTES),
        segment_seconds=values.number("recording/segment_seconds", SEGMENT_SECONDS),
        keep_bytes=values.optional_whole("recording/keep_bytes"),
        keep_seconds=values.optional_number("recording/keep_seconds"),
        exclude=values.texts("recording/exclude"),
        drop_payload=values.texts("recording/drop_payload"),
    )
    settings.recording = None if path is None else recording


def random_zid() -> ZenohId:
    return ZenohId.from_int(int.from_bytes(os.urandom(16), "little") or 1)
