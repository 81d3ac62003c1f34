"""Every limit of zenlake: its name, its default, its configuration key, and why.

A limit is a named constant, so that compiled code reads it at no cost, and a row of
`LIMITS`, so that documentation, configuration and tests can list them all.
"""

from __future__ import annotations

from typing import Final, NamedTuple

EXTENSIONS_PER_MESSAGE_MAX: Final = 32
LOCATORS_PER_HELLO_MAX: Final = 64
LINK_STATES_PER_LIST_MAX: Final = 4096
LINKS_PER_LINK_STATE_MAX: Final = 4096
TIMESTAMPS_PER_STACK_MAX: Final = 255
BATCH_BYTES_MAX: Final = 65_535
LOW_LATENCY_UNIT_BYTES_MAX: Final = 65_535
KEY_EXPR_BYTES_MAX: Final = 4_096
KEY_EXPR_CHUNKS_MAX: Final = 128
PACKET_BYTES_MAX: Final = 262_144
CAPTURE_BLOCK_BYTES_MAX: Final = 16_777_216
CAPTURE_RESYNC_BYTES_MAX: Final = 4_194_304
CAPTURE_INTERFACES_MAX: Final = 4_096
CAPTURE_COMMENT_BYTES_MAX: Final = 262_144
CAPTURE_EXPANSION_RATIO_MAX: Final = 200
CAPTURE_EXPANSION_FREE_BYTES_MAX: Final = 67_108_864
VLAN_TAGS_MAX: Final = 4
IP_EXTENSION_HEADERS_MAX: Final = 8
IP_DATAGRAMS_MAX: Final = 1_024
IP_FRAGMENT_BYTES_MAX: Final = 8 << 20
IP_FRAGMENT_SECONDS_MAX: Final = 30
ENDS_MAX: Final = 65_536
TCP_FLOWS_MAX: Final = 100_000
TCP_HOLE_BYTES_MAX: Final = 1 << 20
TCP_HELD_BYTES_MAX: Final = 64 << 20
TCP_HOLE_SEGMENTS_MAX: Final = 64
TCP_HOLE_SECONDS_MAX: Final = 1


class Limit(NamedTuple):
    """One row of the table: read `value` for the default in force."""

    name: str
    value: int
    key: str
    why: str


LIMITS: Final = (
    Limit(
        "EXTENSIONS_PER_MESSAGE_MAX",
        EXTENSIONS_PER_MESSAGE_MAX,
        "limits/wire/extensions_per_message",
        "a batch holds up to 65,535 one-byte extensions; no message defines more than nine",
    ),
    Limit(
        "LOCATORS_PER_HELLO_MAX",
        LOCATORS_PER_HELLO_MAX,
        "limits/wire/locators",
        "locators in one HELLO or one link state; a host has a few addresses",
    ),
    Limit(
        "LINK_STATES_PER_LIST_MAX",
        LINK_STATES_PER_LIST_MAX,
        "limits/wire/link_states",
        "nodes described in one link-state message",
    ),
    Limit(
        "LINKS_PER_LINK_STATE_MAX",
        LINKS_PER_LINK_STATE_MAX,
        "limits/wire/links",
        "neighbours of one node in one link state",
    ),
    Limit(
        "TIMESTAMPS_PER_STACK_MAX",
        TIMESTAMPS_PER_STACK_MAX,
        "limits/wire/timestamps_per_stack",
        "records in a TsStack extension; deployed nodes stop at 255",
    ),
    Limit(
        "BATCH_BYTES_MAX",
        BATCH_BYTES_MAX,
        "transport/link/tx/batch_size",
        "the u16 length prefix cannot say more; also bounds decompression",
    ),
    Limit(
        "LOW_LATENCY_UNIT_BYTES_MAX",
        LOW_LATENCY_UNIT_BYTES_MAX,
        "limits/wire/low_latency_unit_bytes",
        "the u32 prefix claims up to 4 GiB; a unit never exceeds the agreed batch size",
    ),
    Limit(
        "KEY_EXPR_BYTES_MAX",
        KEY_EXPR_BYTES_MAX,
        "limits/keyexpr/bytes",
        "matching costs at most the product of two lengths",
    ),
    Limit(
        "KEY_EXPR_CHUNKS_MAX",
        KEY_EXPR_CHUNKS_MAX,
        "limits/keyexpr/chunks",
        "matching costs at most the product of two chunk counts",
    ),
    Limit(
        "PACKET_BYTES_MAX",
        PACKET_BYTES_MAX,
        "limits/capture/packet_bytes",
        "the largest snap length other tools write; a longer record is damage",
    ),
    Limit(
        "CAPTURE_BLOCK_BYTES_MAX",
        CAPTURE_BLOCK_BYTES_MAX,
        "limits/capture/block_bytes",
        "the u32 length of a pcapng block claims up to 4 GiB; other tools stop here too",
    ),
    Limit(
        "CAPTURE_RESYNC_BYTES_MAX",
        CAPTURE_RESYNC_BYTES_MAX,
        "limits/capture/resync_bytes",
        "searched for the next record after damage; then the rest of the file is given up",
    ),
    Limit(
        "CAPTURE_INTERFACES_MAX",
        CAPTURE_INTERFACES_MAX,
        "limits/capture/interfaces",
        "interfaces remembered in one section of a pcapng file; a host has a few",
    ),
    Limit(
        "CAPTURE_COMMENT_BYTES_MAX",
        CAPTURE_COMMENT_BYTES_MAX,
        "limits/capture/comment_bytes",
        "kept of all comments of one capture; every packet may have many of 64 KiB",
    ),
    Limit(
        "CAPTURE_EXPANSION_RATIO_MAX",
        CAPTURE_EXPANSION_RATIO_MAX,
        "limits/capture/expansion_ratio",
        "traffic compresses by tens, a bomb by a thousand and more",
    ),
    Limit(
        "CAPTURE_EXPANSION_FREE_BYTES_MAX",
        CAPTURE_EXPANSION_FREE_BYTES_MAX,
        "limits/capture/expansion_free_bytes",
        "a compressed file may expand to this much at any ratio; small ones are often monotonous",
    ),
    Limit(
        "VLAN_TAGS_MAX",
        VLAN_TAGS_MAX,
        "limits/capture/vlan_tags",
        "tags before the network layer of a packet; QinQ has two",
    ),
    Limit(
        "IP_EXTENSION_HEADERS_MAX",
        IP_EXTENSION_HEADERS_MAX,
        "limits/capture/ip_extension_headers",
        "headers between IPv6 and its payload; each kind occurs once, one of them twice (RFC 8200)",
    ),
    Limit(
        "IP_DATAGRAMS_MAX",
        IP_DATAGRAMS_MAX,
        "limits/capture/ip_datagrams",
        "fragmented datagrams in progress; the oldest is given up",
    ),
    Limit(
        "IP_FRAGMENT_BYTES_MAX",
        IP_FRAGMENT_BYTES_MAX,
        "limits/capture/ip_fragment_bytes",
        "fragments held for all datagrams in progress",
    ),
    Limit(
        "IP_FRAGMENT_SECONDS_MAX",
        IP_FRAGMENT_SECONDS_MAX,
        "limits/capture/ip_fragment_seconds",
        "packet time a datagram has to become whole; identifiers are reused",
    ),
    Limit(
        "ENDS_MAX",
        ENDS_MAX,
        "limits/capture/ends",
        "pairs of addresses whose text is kept; made again when needed",
    ),
    Limit(
        "TCP_FLOWS_MAX",
        TCP_FLOWS_MAX,
        "limits/capture/tcp_flows",
        "TCP connections followed at once; the least recently used is closed",
    ),
    Limit(
        "TCP_HOLE_BYTES_MAX",
        TCP_HOLE_BYTES_MAX,
        "limits/capture/tcp_hole_bytes",
        "bytes of one direction held behind a hole; more than common receive windows",
    ),
    Limit(
        "TCP_HELD_BYTES_MAX",
        TCP_HELD_BYTES_MAX,
        "limits/capture/tcp_held_bytes",
        "bytes held behind holes in all connections; the oldest hole is given up",
    ),
    Limit(
        "TCP_HOLE_SEGMENTS_MAX",
        TCP_HOLE_SEGMENTS_MAX,
        "limits/capture/tcp_hole_segments",
        "segments after which a hole the receiver has acknowledged will not be filled",
    ),
    Limit(
        "TCP_HOLE_SECONDS_MAX",
        TCP_HOLE_SECONDS_MAX,
        "limits/capture/tcp_hole_seconds",
        "packet time after which a hole the receiver has acknowledged will not be filled",
    ),
)
