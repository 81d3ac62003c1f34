"""Every configuration key, one row each (behaviour reference §6.2).

`default` is what `get_json` returns before a key is set, as in eclipse-zenoh; where it is null,
`effective` is the value that a node uses. `effect` says what a node does with the key. Keys that
zenlake does not implement are accepted and checked, so that a configuration works unchanged, but
`open` warns of them, or refuses them if they are about security (effects.py).
"""

from __future__ import annotations

from enum import Enum
from typing import Any, Final, NamedTuple

from zenlake.api.config.record_kinds import (
    ACL_POLICY,
    ACL_RULE,
    ACL_SUBJECT,
    DOWNSAMPLING,
    KEY_EXPRS,
    LOW_PASS,
    NETWORK_QOS,
    PUBLICATION_QOS,
    STATS_FILTER,
    TRANSPORT_WEIGHT,
)
from zenlake.api.config.value_kinds import (
    ADDRESS,
    ANYTHING,
    ENDPOINT,
    FLAG,
    KEY,
    MODES,
    OBJECT,
    REAL,
    ROLES,
    STRATEGY,
    TEXT,
    ZID,
    Kind,
    by_mode,
    choice,
    constant,
    list_of,
    optional,
    whole,
)
from zenlake.limits import LIMITS
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

_EVERYBODY: Final = list(MODES)
_AUTOCONNECT: Final = {"router": [], "peer": _EVERYBODY, "client": _EVERYBODY}
_MS: Final = whole()
_TIMEOUT: Final = by_mode(whole(-1))
_SWITCH: Final = by_mode(FLAG)
_SEARCH_DIRS: Final = [
    {"kind": "current_exe_parent", "value": None},
    *(".", "~/.zenoh/lib", "/opt/homebrew/lib", "/usr/local/lib", "/usr/lib"),
]


class Effect(Enum):
    """What `open` does with a value that is not the default."""

    HONOURED = "honoured"
    WARNED = "no effect: open warns"
    """Not implemented; a node without it does less, or is slower."""
    REFUSED = "open refuses it"
    """Not implemented, and a node without it would be less secure than configured."""


HONOURED: Final = Effect.HONOURED
WARNED: Final = Effect.WARNED
REFUSED: Final = Effect.REFUSED


class Key(NamedTuple):
    """One row of the table."""

    path: str
    kind: Kind
    default: Any = None
    effective: Any = None
    """The meaning of null; an object with one value per mode where the modes differ."""
    effect: Effect = HONOURED
    meaning: str = ""
    is_shown: bool = True
    """Whether `str(config)` shows the key even when nothing was set."""

    @property
    def honoured(self) -> bool:
        """Whether a node implements the key."""
        return self.effect is HONOURED


def _section(prefix: str, *rows: tuple[Any, ...], effect: Effect = HONOURED) -> list[Key]:
    """Rows of (name, kind, default, effective, meaning[, effect]) below `prefix`."""
    return [
        Key(prefix + name, kind, default, effective, (*own, effect)[0], meaning)
        for name, kind, default, effective, meaning, *own in rows
    ]


def _hidden(
    path: str, kind: Kind, meaning: str, effect: Effect = WARNED, effective: Any = None
) -> Key:
    return Key(path, kind, None, effective, effect, meaning, is_shown=False)


def _retry(what: str) -> list[Key]:
    path = f"{what}/retry/period"
    rows = [
        (f"{path}_init_ms", by_mode(whole(-1)), 1000, "first pause"),
        (f"{path}_max_ms", by_mode(whole(-1)), 4000, "longest pause"),
        (f"{path}_increase_factor", by_mode(REAL), 2.0, "growth factor"),
    ]
    return [
        _hidden(path, kind, meaning, HONOURED, effective) for path, kind, effective, meaning in rows
    ]


# fmt: off
_ROWS: Final = [
    *_section(
        "",
        ("id", ZID, None, None, "id of the node; random if null"),
        ("metadata", ANYTHING, None, None, "free JSON, shown in the admin space"),
        ("mode", choice(*MODES), None, "peer", "role of the node"),
    ),
    Key("region_name", TEXT, None, None, WARNED, "name of the region"),
    Key("gateway/south", ANYTHING, None, "auto", WARNED, "regions south of this node"),
    *_section(
        "connect/",
        ("timeout_ms", _TIMEOUT, None, {"router": -1, "peer": -1, "client": 0}, "ms to keep trying; 0 tries once, -1 for ever"),
        ("endpoints", by_mode(list_of(ENDPOINT)), [], [], "where to connect to"),
        ("exit_on_failure", _SWITCH, None, {"router": False, "peer": False, "client": True}, "whether open fails when nothing can be connected"),
    ),
    *_retry("connect"),
    *_section(
        "listen/",
        ("timeout_ms", _TIMEOUT, None, 0, "ms to keep trying; 0 tries once, -1 for ever"),
        ("endpoints", by_mode(list_of(ENDPOINT)), {"router": ["tcp/[::]:7447"], "peer": ["tcp/[::]:0"]}, [], "where to listen"),
        ("exit_on_failure", _SWITCH, None, True, "whether open fails when an endpoint cannot be bound"),
    ),
    *_retry("listen"),
    *_section(
        "open/return_conditions/",
        ("connect_scouted", FLAG, None, True, "open waits for nodes that were scouted"),
        ("declares", FLAG, None, True, "open waits for their declarations"),
    ),
    *_section(
        "scouting/",
        ("timeout", _MS, None, DEFAULT_SCOUTING_TIMEOUT_MS, "ms a client scouts"),
        ("delay", _MS, None, 500, "ms a peer waits at open"),
        ("multicast/enabled", FLAG, None, True, "scouting by multicast"),
        ("multicast/address", ADDRESS, None, "224.0.0.224:7446", "group to scout in"),
        ("multicast/interface", TEXT, None, "auto", "names of interfaces, or auto"),
        ("multicast/ttl", whole(0, 0xFFFF_FFFF), None, 1, "hops of a SCOUT"),
        ("multicast/autoconnect", by_mode(ROLES), None, _AUTOCONNECT, "roles to connect to"),
        ("multicast/autoconnect_strategy", by_mode(STRATEGY), None, "always", "which of two nodes connects"),
        ("multicast/listen", _SWITCH, None, True, "whether to answer SCOUT"),
        ("gossip/enabled", FLAG, None, True, "scouting by addresses that neighbours announce"),
        ("gossip/multihop", FLAG, None, False, "announce all known peers, not only neighbours"),
        ("gossip/target", by_mode(ROLES), None, ["router", "peer"], "roles of neighbours that get these announcements"),
        ("gossip/autoconnect", by_mode(ROLES), None, _AUTOCONNECT, "roles to connect to"),
        ("gossip/autoconnect_strategy", by_mode(STRATEGY), None, "always", "which of two nodes connects"),
    ),
    *_section(
        "",
        ("timestamping/enabled", _SWITCH, None, {"router": True, "peer": False, "client": False}, "stamp data that has no timestamp"),
        ("timestamping/drop_future_timestamp", FLAG, None, False, "drop instead of restamping"),
        ("queries_default_timeout", _MS, None, DEFAULT_QUERY_TIMEOUT_MS, "ms a query lasts at most"),
    ),
    Key("routing/router/linkstate/transport_weights", list_of(TRANSPORT_WEIGHT), [], [], HONOURED, "weights of links between routers"),
    _hidden("routing/router/peers_failover_brokering", ANYTHING, "of releases before 1.9; ignored"),
    _hidden("routing/peer/mode", choice("peer_to_peer", "linkstate"), "of releases before 1.9: linkstate if peers form a network with their routers", HONOURED),
    _hidden("routing/peer/linkstate/transport_weights", list_of(TRANSPORT_WEIGHT), "weights of links in that network", HONOURED),
    *_section(
        "",
        ("routing/interests/timeout", _MS, None, DEFAULT_INTEREST_TIMEOUT_MS, "ms to wait for the end of current declarations"),
        ("aggregation/subscribers", KEY_EXPRS, [], [], "one declaration for all below"),
        ("aggregation/publishers", KEY_EXPRS, [], [], "one declaration for all below"),
        ("qos/publication", list_of(PUBLICATION_QOS), [], [], "QoS of publications by key"),
    ),
    Key("qos/network", list_of(NETWORK_QOS), [], [], WARNED, "QoS overwritten on links"),
    *_section(
        "transport/unicast/",
        ("open_timeout", _MS, DEFAULT_HANDSHAKE_TIMEOUT_MS, None, "ms for connecting and the handshake"),
        ("accept_timeout", _MS, DEFAULT_HANDSHAKE_TIMEOUT_MS, None, "ms for the handshake of an incoming connection"),
        ("accept_pending", whole(), 100, None, "concurrent incoming handshakes"),
        ("max_sessions", whole(), 1000, None, "sessions at once"),
        ("max_links", whole(), 1, None, "links of one session", WARNED),
        ("lowlatency", FLAG, False, None, "no batches, no priorities; excludes qos"),
        ("qos/enabled", FLAG, True, None, "priorities"),
        ("compression/enabled", FLAG, False, None, "LZ4, if both agree"),
    ),
    *_section(
        "transport/multicast/",
        ("join_interval", optional(_MS), DEFAULT_JOIN_INTERVAL_MS, DEFAULT_JOIN_INTERVAL_MS, "ms between two JOINs"),
        ("max_sessions", optional(whole()), 1000, 1000, "peers of one group"),
        ("qos/enabled", FLAG, False, None, "priorities"),
        ("compression/enabled", FLAG, False, None, "LZ4", WARNED),
    ),
    *_section(
        "transport/link/",
        ("protocols", list_of(TEXT), None, None, "protocols allowed; null for all"),
        ("tx/sequence_number_resolution", choice("8bit", "16bit", "32bit", "64bit"), "32bit", None, "the smaller of both ends is used"),
        ("tx/lease", _MS, DEFAULT_LEASE_MS, None, "ms without a message after which a neighbour is considered gone"),
        ("tx/keep_alive", whole(), DEFAULT_KEEP_ALIVE, None, "keep-alive messages per lease"),
        ("tx/batch_size", whole(1, 0xFFFF), DEFAULT_BATCH_BYTES, None, "bytes of a batch"),
        *(
            (f"tx/queue/size/{lane}", whole(1, 16), 2, None, "batches that may wait; without priorities that of data")
            for lane in ("control", "real_time", "interactive_high", "interactive_low", "data_high", "data", "data_low", "background")
        ),
        ("tx/queue/congestion_control/drop/wait_before_drop", whole(-1), 1000, None, "us a message waits for room"),
        ("tx/queue/congestion_control/drop/max_wait_before_drop_fragments", whole(-1), 50_000, None, "us its fragments wait in all", WARNED),
        ("tx/queue/congestion_control/block/wait_before_close", whole(-1), 5_000_000, None, "us a message waits before the session is closed"),
        ("tx/queue/batching/enabled", FLAG, True, None, "collect messages in a batch while the link is busy"),
        ("tx/queue/batching/time_limit", whole(), 1, None, "ms a message waits in a batch at most"),
    ),
    Key("transport/link/tx/queue/allocation/mode", choice("init", "lazy"), "lazy", None, WARNED, "when memory is allocated"),
    Key("transport/link/tx/threads", whole(), 1, None, WARNED, "threads that send"),
    *_section(
        "transport/link/rx/",
        ("buffer_size", whole(1), 65_535, None, "bytes read at once", WARNED),
        ("max_message_size", whole(1), 1 << 30, None, "bytes of a message reassembled from fragments; larger ones are dropped, with a warning"),
    ),
    *_section(
        "transport/link/tls/",
        ("root_ca_certificate", TEXT, None, None, "PEM file of the authority"),
        ("listen_private_key", TEXT, None, None, "PEM file"),
        ("listen_certificate", TEXT, None, None, "PEM file"),
        ("enable_mtls", FLAG, None, False, "clients need certificates"),
        ("connect_private_key", TEXT, None, None, "PEM file"),
        ("connect_certificate", TEXT, None, None, "PEM file"),
        ("verify_name_on_connect", FLAG, None, True, "the host name must match the certificate"),
        ("close_link_on_expiration", FLAG, None, False, "close the link when the certificate expires"),
        ("so_sndbuf", whole(), None, None, "bytes of the socket's buffer"),
        ("so_rcvbuf", whole(), None, None, "bytes of the socket's buffer"),
    ),
    *(
        _hidden(f"transport/link/tls/{name}_base64", TEXT, "the file's content", HONOURED)
        for name in ("root_ca_certificate", "listen_private_key", "listen_certificate", "connect_private_key", "connect_certificate")
    ),
    *_section(
        "transport/link/tcp/",
        ("so_sndbuf", whole(), None, None, "bytes of the socket's buffer"),
        ("so_rcvbuf", whole(), None, None, "bytes of the socket's buffer"),
    ),
    *_section(
        "transport/",
        ("link/unixpipe/file_access_mask", whole(), None, None, "permissions of pipes"),
        ("shared_memory/enabled", FLAG, True, None, "zenlake never negotiates it"),
        ("shared_memory/mode", choice("init", "lazy"), "lazy", None, ""),
        ("shared_memory/transport_optimization/enabled", FLAG, True, None, ""),
        ("shared_memory/transport_optimization/pool_size", whole(1), 16 << 20, None, ""),
        ("shared_memory/transport_optimization/message_size_threshold", whole(), 3072, None, ""),
        ("shared_memory/transport_optimization/messages", list_of(TEXT), ["put", "query", "reply"], None, ""),
        effect=WARNED,
    ),
    *_section(
        "transport/auth/usrpwd/",
        ("user", TEXT, None, None, "the user name of this node"),
        ("password", TEXT, None, None, "its password"),
        ("dictionary_file", TEXT, None, None, "lines of user:password; only these may connect"),
    ),
    *_section(
        "transport/auth/pubkey/",
        *((name, TEXT, None, None, "RSA key") for name in ("public_key_pem", "private_key_pem", "public_key_file", "private_key_file")),
        ("key_size", whole(), None, None, "bits of the key"),
        ("known_keys_file", TEXT, None, None, "keys that may connect"),
        effect=REFUSED,
    ),
    *_section(
        "",
        ("adminspace/enabled", FLAG, False, None, "answer queries about this node"),
        ("adminspace/permissions/read", FLAG, True, None, "answer queries"),
        ("adminspace/permissions/write", FLAG, False, None, "accept new configuration"),
    ),
    Key("namespace", KEY, None, None, HONOURED, "prefix of all keys of this session"),
    *_section(
        "",
        ("downsampling", list_of(DOWNSAMPLING), [], None, "messages per second by key"),
        ("access_control/enabled", FLAG, False, None, "access rules", REFUSED),
        ("access_control/default_permission", choice("allow", "deny"), "deny", None, "where no rule applies", REFUSED),
        ("access_control/rules", list_of(ACL_RULE), None, None, "what is allowed or denied", REFUSED),
        ("access_control/subjects", list_of(ACL_SUBJECT), None, None, "nodes that rules apply to", REFUSED),
        ("access_control/policies", list_of(ACL_POLICY), None, None, "which rules apply to which subjects", REFUSED),
        ("low_pass_filter", list_of(LOW_PASS), [], None, "bytes of a message by key"),
        ("stats/filters", list_of(STATS_FILTER), [], None, "statistics by key"),
        ("plugins_loading/enabled", FLAG, False, None, "load plugins"),
        ("plugins_loading/search_dirs", list_of(ANYTHING), _SEARCH_DIRS, None, "where plugins are"),
        ("plugins", OBJECT, {}, None, "configuration of plugins, any JSON below their names"),
        effect=WARNED,
    ),
    *(
        _hidden(f"recording/{name}", kind, meaning, HONOURED)
        for name, kind, meaning in (
            ("path", TEXT, "folder to record all links in; null records nothing"),
            ("segment_bytes", whole(1), "bytes of a segment; 64 MiB if null"),
            ("segment_seconds", REAL, "seconds of a segment; 60 if null"),
            ("keep_bytes", whole(1), "bytes of all segments, then the oldest are deleted; null keeps all"),
            ("keep_seconds", REAL, "age at which segments are deleted; null keeps all"),
            ("exclude", KEY_EXPRS, "keys that are not recorded"),
            ("drop_payload", KEY_EXPRS, "keys recorded without payloads and attachments"),
        )
    ),
]
# fmt: on

KEYS: Final = {key.path: key for key in _ROWS}
"""All keys by path, in the order in which `get_json` writes them."""

HONOURED_LIMITS: Final = frozenset(
    {
        "limits/routing/declarations",
        "limits/routing/interests",
        "limits/routing/process_bytes",
        "limits/routing/queries",
        "limits/routing/session_bytes",
        "limits/session/held_replies",
        "limits/session/held_reply_bytes",
        "limits/transport/fragment_idle_seconds",
        "limits/transport/handshake_idle_seconds",
        "limits/transport/reassembly_bytes",
        "limits/transport/reassembly_large_bytes",
        "limits/transport/reassembly_process_bytes",
        "limits/transport/unsent_process_bytes",
        "limits/transport/sessions_per_address_percent",
    }
)
"""Limits that can be set; the others are built into the code and can only be read."""

for _limit in LIMITS:
    if _limit.key not in KEYS:
        _is_set = _limit.key in HONOURED_LIMITS
        _kind = whole(1) if _is_set else constant(_limit.value)
        _effect = HONOURED if _is_set else WARNED
        KEYS[_limit.key] = Key(
            _limit.key, _kind, _limit.value, None, _effect, _limit.why, is_shown=False
        )

BRANCHES: Final = frozenset(
    "/".join(parts[:count])
    for parts in (path.split("/") for path in KEYS)
    for count in range(len(parts))
)
"""The paths of objects that contain keys; the empty path is the whole configuration."""

NULL_BRANCHES: Final = frozenset({"connect/retry", "listen/retry"})
"""Objects that are null until a key below them is set, and are then shown with all keys."""
