"""Every limit of zenlake: its name, its default, its configuration key, and why.

A limit is a named constant, so that compiled code reads it at no cost. `_KEYS_AND_REASONS` has its
configuration key and its reason. `LIMITS` lists all of them for documentation, configuration and
tests.
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
RECORDING_STATE_BYTES_MAX: Final = 256 << 20
VLAN_TAGS_MAX: Final = 4
IP_EXTENSION_HEADERS_MAX: Final = 8
IP_DATAGRAMS_MAX: Final = 1_024
IP_FRAGMENT_BYTES_MAX: Final = 8 << 20
IP_FRAGMENT_SECONDS_MAX: Final = 30
ENDS_MAX: Final = 65_536
TCP_FLOWS_MAX: Final = 100_000
TCP_NEW_FLOWS_MAX: Final = 32_768
TCP_HOLE_BYTES_MAX: Final = 1 << 20
TCP_HELD_BYTES_MAX: Final = 64 << 20
TCP_HOLE_SEGMENTS_MAX: Final = 64
TCP_HOLE_SECONDS_MAX: Final = 1
MESSAGE_BYTES_MAX: Final = 1 << 30
TRACE_MESSAGE_BYTES_MAX: Final = 64 << 20
TRACE_FRAGMENT_BYTES_MAX: Final = 128 << 20
TRACE_SCAN_BYTES_MAX: Final = 512 << 10
TRACE_CANDIDATES_MAX: Final = 1_024
TRACE_UNDECIDED_BYTES_MAX: Final = 1 << 20
TRACE_UNDECIDED_CONNECTIONS_MAX: Final = 4_096
TRACE_HELD_DATAGRAMS_MAX: Final = 16
TRACE_WAITING_BATCHES_MAX: Final = 512
TRACE_HELD_BYTES_MAX: Final = 64 << 20
TRACE_HELD_DATAGRAM_BYTES_MAX: Final = 16 << 20
FAST_READER_HELD_BYTES_MAX: Final = 64 << 20
TRACE_KEY_BYTES_MAX: Final = 64 << 20
TRACE_UDP_LINKS_MAX: Final = 65_536
TRACE_SCOUTS_MAX: Final = 4_096
TRACE_SESSIONS_MAX: Final = 100_000
TRACE_ENTITIES_MAX: Final = 100_000
EXCHANGES_PER_SESSION_MAX: Final = 16_384
EXCHANGES_MAX: Final = 65_536
EXCHANGE_BYTES_MAX: Final = 4 << 20
EXCHANGES_BYTES_MAX: Final = 64 << 20
LATE_RESPONSE_SECONDS_MAX: Final = 60
DECLARATIONS_PER_SESSION_MAX: Final = 32_768
DECLARATIONS_MAX: Final = 131_072
INTERESTS_PER_SESSION_MAX: Final = 16_384
INTERESTS_MAX: Final = 65_536
ANSWERS_PER_INTEREST_MAX: Final = 64
QUERYABLES_MAX: Final = 100_000
QUERYABLES_COMPARED_MAX: Final = 10_000_000
RULES_OPEN_MAX: Final = 65_536
RULES_ENDED_REQUESTS_MAX: Final = 16_384
RULES_FINDINGS_PER_SIDE_MAX: Final = 100
WHY_RECORDS_MAX: Final = 100_000
WHY_REPLIES_PER_QUERY_MAX: Final = 1_000
WHY_SAMPLES_PER_KEY_MAX: Final = 1_000
WHY_SAMPLES_MAX: Final = 200_000
WHY_KEYS_COMPARED_MAX: Final = 500_000
EXPRESSION_CHARACTERS_MAX: Final = 4_096
EXPRESSION_DEPTH_MAX: Final = 64
REMEMBERED_MAX: Final = 100_000
HANDSHAKE_SECONDS_MAX: Final = 10
GROUP_PEERS_MAX: Final = 1_000
HELLO_BYTES_MAX: Final = 1_400
HELLO_BYTES_PER_SECOND_MAX: Final = 8_192
SCOUTERS_MAX: Final = 1_024
AUTHENTICATION_FAILURES_MAX: Final = 10
AUTHENTICATION_BAN_SECONDS_MAX: Final = 60
AUTHENTICATION_SOURCES_MAX: Final = 4_096

ALIASES_MAX: Final = 65_535
ALIAS_BYTES_MAX: Final = 16 << 20
FACE_DECLARATIONS_MAX: Final = 100_000
FACE_INTERESTS_MAX: Final = 100_000
FACE_QUERIES_MAX: Final = 10_000
FACE_BYTES_MAX: Final = 128 << 20
ROUTING_BYTES_MAX: Final = 512 << 20
ALIASED_INTERESTS_MAX: Final = 1_024
CACHED_ROUTES_MAX: Final = 65_536
GOSSIP_PSIDS_MAX: Final = 4_096
GOSSIP_DISCOVERIES_MAX: Final = 4_096
ROUTE_NOTES_MAX: Final = 200
ADMIN_ANSWERS_MAX: Final = 32
ADMIN_ANSWERS_PER_SESSION_MAX: Final = 4
NETWORK_NODES_MAX: Final = 2_048
NETWORK_LINKS_MAX: Final = 32_768
LINK_STATE_LIST_BYTES_MAX: Final = 1 << 20
WITHDRAWALS_MAX: Final = 1_024
HELD_REPLIES_MAX: Final = 100_000
HELD_REPLY_BYTES_MAX: Final = 256 << 20

REASSEMBLY_MESSAGE_BYTES_MAX: Final = 64 << 20
REASSEMBLY_BYTES_MAX: Final = 128 << 20
REASSEMBLY_PROCESS_BYTES_MAX: Final = 512 << 20
REASSEMBLY_LARGE_BYTES_MAX: Final = 1 << 30
FRAGMENT_IDLE_SECONDS_MAX: Final = 10
LEASE_SECONDS_MAX: Final = 86_400
UDP_REMOTES_MAX: Final = 1_200
ANSWER_RATIO_MAX: Final = 3
UNVERIFIED_SOURCES_MAX: Final = 4_096
UDP_WAITING_BYTES_MAX: Final = 16 << 20
UDP_BYTES_PER_SECOND_MAX: Final = 50 << 20
UDP_BURST_BYTES_MAX: Final = 128 << 10
HANDSHAKE_BYTES_MAX: Final = 131_074
HANDSHAKE_IDLE_SECONDS_MAX: Final = 5
HANDSHAKES_MAX: Final = 100
TRANSPORTS_MAX: Final = 1_000
SESSIONS_PER_ADDRESS_PERCENT_MAX: Final = 75
UNSENT_BYTES_MAX: Final = 16 << 20
UNSENT_PROCESS_BYTES_MAX: Final = 1 << 30
HANDLER_ITEMS_MAX: Final = 256
HANDLER_BYTES_MAX: Final = 64 << 20
CALLBACK_HOLD_MS_MAX: Final = 10
CONFIG_CHARACTERS_MAX: Final = 1 << 20
CONFIG_DEPTH_MAX: Final = 64
DESERIALIZED_ITEMS_MAX: Final = 1 << 20
ROS_PAYLOAD_BYTES_MAX: Final = 16 << 20
DERIVE_BYTES_MAX: Final = 512 << 20
LAKE_RETENTION_HOURS_MAX: Final = 168
LAKE_SMALL_FILES_MAX: Final = 64
LAKE_WAIT_SECONDS_MAX: Final = 600
FOLLOW_PENDING_EVENTS_MAX: Final = 400_000
FOLLOW_REPLAY_BYTES_MAX: Final = 1 << 30
FOLLOW_WINDOW_SAMPLES_MAX: Final = 50_000
FOLLOW_COMPARED_SAMPLES_MAX: Final = 5_000_000
REPORT_SERVER_REQUESTS_MAX: Final = 16
SQL_BYTES_MAX: Final = 2 << 30
SQL_UNCOUNTED_BYTES_MAX: Final = 1 << 30
SQL_SPILL_BYTES_MAX: Final = 16 << 30
SQL_SECONDS_MAX: Final = 30
OPTION_CHARACTERS_MAX: Final = 1 << 20
STREAM_OFFSET_CHARACTERS_MAX: Final = 4_096
STREAM_HANDSHAKE_SECONDS_MAX: Final = 2
GLOB_CHOICES_MAX: Final = 1_000
GLOB_DEPTH_MAX: Final = 64
REDACTION_BYTES_MAX: Final = 256 << 20
EXPLAIN_BYTES_MAX: Final = 8_192
EXPLAIN_CHARACTERS_MAX: Final = 65_536
RECORDING_TRACKED_BYTES_MAX: Final = 32 << 20
RECORDING_STATE_MESSAGE_BYTES_MAX: Final = 1 << 20
RECORDING_STATE_HANDSHAKE_BATCHES_MAX: Final = 16
RECORDING_LINK_STATE_NODES_MAX: Final = 4_096
RECORDING_LINK_STATES_PER_NODE_MAX: Final = 16
RECORDING_ADDRESS_PAIRS_MAX: Final = 4_096
RECORDING_ADDRESS_USES_MAX: Final = 64
RECORDING_DATAGRAM_LINKS_MAX: Final = 4_096
RECORDING_QUEUE_BYTES_MAX: Final = 64 << 20
RECORDING_RESERVE_BYTES_MAX: Final = 8 << 20
RECORDING_UNSYNCED_BYTES_MAX: Final = 8 << 20
RECORDING_UNSYNCED_SECONDS_MAX: Final = 1


class Limit(NamedTuple):
    """One row of the table: read `value` for the default in force."""

    name: str
    value: int
    key: str
    why: str


_KEYS_AND_REASONS: Final = {
    "EXTENSIONS_PER_MESSAGE_MAX": (
        "limits/wire/extensions_per_message",
        "a batch holds up to 65,535 one-byte extensions; no message defines more than nine",
    ),
    "LOCATORS_PER_HELLO_MAX": (
        "limits/wire/locators",
        "locators in one HELLO or one link state; a host has a few addresses",
    ),
    "LINK_STATES_PER_LIST_MAX": (
        "limits/wire/link_states",
        "nodes described in one link-state message",
    ),
    "LINKS_PER_LINK_STATE_MAX": ("limits/wire/links", "neighbours of one node in one link state"),
    "TIMESTAMPS_PER_STACK_MAX": (
        "limits/wire/timestamps_per_stack",
        "records in a TsStack extension; deployed nodes stop at 255",
    ),
    "BATCH_BYTES_MAX": (
        "transport/link/tx/batch_size",
        "the largest value of the u16 length prefix; also bounds decompression",
    ),
    "LOW_LATENCY_UNIT_BYTES_MAX": (
        "limits/wire/low_latency_unit_bytes",
        "the u32 prefix allows up to 4 GiB; a unit never exceeds the agreed batch size",
    ),
    "KEY_EXPR_BYTES_MAX": (
        "limits/keyexpr/bytes",
        "matching costs at most the product of two lengths",
    ),
    "KEY_EXPR_CHUNKS_MAX": (
        "limits/keyexpr/chunks",
        "matching costs at most the product of two chunk counts",
    ),
    "PACKET_BYTES_MAX": (
        "limits/capture/packet_bytes",
        "the largest snap length that other tools write; a longer record is damage",
    ),
    "CAPTURE_BLOCK_BYTES_MAX": (
        "limits/capture/block_bytes",
        "the u32 length of a pcapng block allows up to 4 GiB; other tools have the same limit",
    ),
    "CAPTURE_RESYNC_BYTES_MAX": (
        "limits/capture/resync_bytes",
        "bytes searched for the next record after damage; without one the rest of the file is"
        " skipped",
    ),
    "CAPTURE_INTERFACES_MAX": (
        "limits/capture/interfaces",
        "interfaces in one section of a pcapng file; a host has a few",
    ),
    "CAPTURE_COMMENT_BYTES_MAX": (
        "limits/capture/comment_bytes",
        "bytes kept of all comments of one capture; every packet may have many of 64 KiB",
    ),
    "CAPTURE_EXPANSION_RATIO_MAX": (
        "limits/capture/expansion_ratio",
        "traffic compresses by a factor of tens, a decompression bomb by a thousand and more",
    ),
    "CAPTURE_EXPANSION_FREE_BYTES_MAX": (
        "limits/capture/expansion_free_bytes",
        "a compressed file may expand to this size at any ratio; small captures are often"
        " repetitive",
    ),
    "RECORDING_STATE_BYTES_MAX": (
        "limits/recording/state_bytes",
        "bytes of the state at the start of a segment that a reader keeps until its first packet",
    ),
    "VLAN_TAGS_MAX": (
        "limits/capture/vlan_tags",
        "tags before the network layer of a packet; QinQ has two",
    ),
    "IP_EXTENSION_HEADERS_MAX": (
        "limits/capture/ip_extension_headers",
        "headers between IPv6 and its payload; each kind occurs once, one of them twice (RFC 8200)",
    ),
    "IP_DATAGRAMS_MAX": (
        "limits/capture/ip_datagrams",
        "incomplete fragmented datagrams; the oldest is dropped",
    ),
    "IP_FRAGMENT_BYTES_MAX": (
        "limits/capture/ip_fragment_bytes",
        "fragments of all incomplete datagrams",
    ),
    "IP_FRAGMENT_SECONDS_MAX": (
        "limits/capture/ip_fragment_seconds",
        "packet time in which a datagram must be complete; identifiers are reused",
    ),
    "ENDS_MAX": ("limits/capture/ends", "pairs of addresses whose text is cached"),
    "TCP_FLOWS_MAX": (
        "limits/capture/tcp_flows",
        "TCP connections followed at once; the least recently used is closed",
    ),
    "TCP_NEW_FLOWS_MAX": (
        "limits/capture/tcp_new_flows",
        "TCP connections with a single segment (scans and floods); the oldest is closed",
    ),
    "TCP_HOLE_BYTES_MAX": (
        "limits/capture/tcp_hole_bytes",
        "bytes of one direction kept after a hole; more than common receive windows",
    ),
    "TCP_HELD_BYTES_MAX": (
        "limits/capture/tcp_held_bytes",
        "bytes kept after holes in all connections; the oldest hole is reported as a gap",
    ),
    "TCP_HOLE_SEGMENTS_MAX": (
        "limits/capture/tcp_hole_segments",
        "segments after which a hole that the receiver has acknowledged counts as a gap",
    ),
    "TCP_HOLE_SECONDS_MAX": (
        "limits/capture/tcp_hole_seconds",
        "packet time after which a hole that the receiver has acknowledged counts as a gap",
    ),
    "MESSAGE_BYTES_MAX": (
        "transport/link/rx/max_message_size",
        "a network message that a node reassembles from fragments; larger ones are dropped",
    ),
    "TRACE_MESSAGE_BYTES_MAX": (
        "limits/trace/message_bytes",
        "a network message of a capture that is reassembled from fragments",
    ),
    "TRACE_FRAGMENT_BYTES_MAX": (
        "limits/trace/fragment_bytes",
        "fragments of incomplete messages in all sessions; the oldest message is dropped",
    ),
    "TRACE_SCAN_BYTES_MAX": (
        "limits/trace/scan_bytes",
        "bytes of one direction kept during the search for the first batch",
    ),
    "TRACE_CANDIDATES_MAX": (
        "limits/trace/candidates",
        "offsets in the searched bytes of one direction at which a batch may begin",
    ),
    "TRACE_UNDECIDED_BYTES_MAX": (
        "limits/trace/undecided_bytes",
        "bytes of one direction without Zenoh after which a connection counts as another protocol",
    ),
    "TRACE_UNDECIDED_CONNECTIONS_MAX": (
        "limits/trace/undecided_connections",
        "connections that may be Zenoh, at about 8 kB each; the oldest is no longer searched",
    ),
    "TRACE_HELD_DATAGRAMS_MAX": (
        "limits/trace/held_datagrams",
        "datagrams between two addresses kept until they are recognized as Zenoh",
    ),
    "TRACE_WAITING_BATCHES_MAX": (
        "limits/trace/waiting_batches",
        "batches of one direction that wait for older ones of the other direction",
    ),
    "TRACE_HELD_BYTES_MAX": (
        "limits/trace/held_bytes",
        "bytes of incomplete batches and undecided connections; the oldest is dropped",
    ),
    "TRACE_HELD_DATAGRAM_BYTES_MAX": (
        "limits/trace/held_datagram_bytes",
        "datagrams of all addresses kept until they are recognized as Zenoh",
    ),
    "FAST_READER_HELD_BYTES_MAX": (
        "limits/lake/fast_reader_held_bytes",
        "bytes of incomplete batches in the fast reader; beyond it the exact reader reads the file",
    ),
    "TRACE_KEY_BYTES_MAX": (
        "limits/trace/key_bytes",
        "declared keys of all sessions; further ones are unknown",
    ),
    "TRACE_UDP_LINKS_MAX": (
        "limits/trace/udp_links",
        "pairs of UDP addresses followed at once; the least recently used is closed",
    ),
    "TRACE_SCOUTS_MAX": ("limits/trace/scouts", "addresses that sent SCOUT or HELLO"),
    "TRACE_SESSIONS_MAX": (
        "limits/trace/sessions",
        "sessions listed at the end; closed ones are removed first",
    ),
    "TRACE_ENTITIES_MAX": ("limits/trace/entities", "declarations of one node whose keys are kept"),
    "EXCHANGES_PER_SESSION_MAX": (
        "limits/trace/exchanges_per_session",
        "open requests of one session; the oldest is reported unfinished",
    ),
    "EXCHANGES_MAX": ("limits/trace/exchanges", "open requests of all sessions"),
    "EXCHANGE_BYTES_MAX": (
        "limits/trace/exchange_bytes",
        "responses kept of one request; more are counted",
    ),
    "EXCHANGES_BYTES_MAX": (
        "limits/trace/exchanges_bytes",
        "responses kept of all requests; more are counted",
    ),
    "LATE_RESPONSE_SECONDS_MAX": (
        "limits/trace/late_response_seconds",
        "packet time after its final in which a response still belongs to a request",
    ),
    "DECLARATIONS_PER_SESSION_MAX": (
        "limits/trace/declarations_per_session",
        "open declarations of one session; the oldest is reported unfinished",
    ),
    "DECLARATIONS_MAX": ("limits/trace/declarations", "open declarations of all sessions"),
    "INTERESTS_PER_SESSION_MAX": (
        "limits/trace/interests_per_session",
        "open interests of one session; the oldest is reported unfinished",
    ),
    "INTERESTS_MAX": ("limits/trace/interests", "open interests of all sessions"),
    "ANSWERS_PER_INTEREST_MAX": (
        "limits/trace/answers_per_interest",
        "declarations kept as answers to one interest; more are counted",
    ),
    "QUERYABLES_MAX": (
        "limits/trace/queryables",
        "queryables of a capture that are considered to explain queries without a reply",
    ),
    "QUERYABLES_COMPARED_MAX": (
        "limits/trace/queryables_compared",
        "queryables compared with queries without a reply, in all; beyond it causes are left out",
    ),
    "RULES_OPEN_MAX": (
        "limits/rules/open",
        "requests, interests, declarations or aliases of one side that rules keep; a session"
        " with more is checked message by message",
    ),
    "RULES_ENDED_REQUESTS_MAX": (
        "limits/rules/ended_requests",
        "finished requests of one side, kept to recognize late responses",
    ),
    "RULES_FINDINGS_PER_SIDE_MAX": (
        "limits/rules/findings_per_side",
        "findings of one rule for one side of a session; more are counted and reported at its end",
    ),
    "WHY_RECORDS_MAX": (
        "limits/why/records",
        "queries, declarations, published keys and so on, of each kind, that `why` keeps of a"
        " capture",
    ),
    "WHY_REPLIES_PER_QUERY_MAX": (
        "limits/why/replies_per_query",
        "replies to one query that `why` keeps; more are counted",
    ),
    "WHY_SAMPLES_PER_KEY_MAX": (
        "limits/why/samples_per_key",
        "publications of one key on one link that `why` follows one by one; more are counted",
    ),
    "WHY_SAMPLES_MAX": (
        "limits/why/samples",
        "publications of all keys that `why` follows one by one; more are counted",
    ),
    "WHY_KEYS_COMPARED_MAX": (
        "limits/why/keys_compared",
        "pairs of keys compared to find one that nearly matches; beyond it none is suggested",
    ),
    "EXPRESSION_CHARACTERS_MAX": (
        "limits/decode/expression_characters",
        "length of a filter of `zenlake decode`",
    ),
    "EXPRESSION_DEPTH_MAX": (
        "limits/decode/expression_depth",
        "nested parentheses and negations in a filter of `zenlake decode`",
    ),
    "REMEMBERED_MAX": (
        "limits/decode/remembered",
        "declarations and requests kept while a key is followed",
    ),
    "HANDSHAKE_SECONDS_MAX": (
        "limits/transport/cookie_seconds",
        "time from INIT to OPEN; an older cookie is refused",
    ),
    "GROUP_PEERS_MAX": (
        "transport/multicast/max_sessions",
        "peers of one multicast group; any datagram may claim to be a new one",
    ),
    "HELLO_BYTES_MAX": (
        "limits/scouting/hello_bytes",
        "one answer to SCOUT; locators that do not fit into an Ethernet frame are left out",
    ),
    "HELLO_BYTES_PER_SECOND_MAX": (
        "limits/scouting/hello_bytes_per_second",
        "all answers to SCOUT; the source address of a SCOUT may be forged",
    ),
    "SCOUTERS_MAX": (
        "limits/scouting/scouters",
        "addresses whose SCOUTs are counted; the oldest is forgotten",
    ),
    "AUTHENTICATION_FAILURES_MAX": (
        "limits/transport/authentication_failures",
        "wrong passwords from one address before it is banned",
    ),
    "AUTHENTICATION_BAN_SECONDS_MAX": (
        "limits/transport/authentication_ban_seconds",
        "duration of a ban",
    ),
    "AUTHENTICATION_SOURCES_MAX": (
        "limits/transport/authentication_sources",
        "addresses whose wrong passwords are counted; the oldest is forgotten",
    ),
    "ANSWER_RATIO_MAX": (
        "limits/udp/answer_ratio",
        "bytes answered for each byte received from an address that may be forged",
    ),
    "UNVERIFIED_SOURCES_MAX": (
        "limits/udp/unverified_sources",
        "addresses that sent too little to be answered, and used cookies; the oldest is forgotten",
    ),
    "UDP_REMOTES_MAX": (
        "limits/udp/remotes",
        "source addresses for which one UDP listener has links; datagrams of others are dropped",
    ),
    "UDP_WAITING_BYTES_MAX": (
        "limits/udp/waiting_bytes",
        "datagrams of one source that wait to be read; later ones are dropped",
    ),
    "UDP_BYTES_PER_SECOND_MAX": (
        "limits/udp/bytes_per_second",
        "bytes sent on one UDP link: receivers keep up with it; deployed nodes send about as fast",
    ),
    "UDP_BURST_BYTES_MAX": (
        "limits/udp/burst_bytes",
        "bytes sent on one UDP link before its rate is limited: they fit a receiver's buffer",
    ),
    "HANDSHAKE_BYTES_MAX": (
        "limits/transport/handshake_bytes",
        "bytes received on one link before its session is open: two batches of the largest size;"
        " the handshake of TLS may have as many again",
    ),
    "HANDSHAKE_IDLE_SECONDS_MAX": (
        "limits/transport/handshake_idle_seconds",
        "time without a byte during a handshake",
    ),
    "HANDSHAKES_MAX": (
        "transport/unicast/accept_pending",
        "incoming handshakes at once; then the oldest of the busiest address ends",
    ),
    "TRANSPORTS_MAX": ("transport/unicast/max_sessions", "open transports of one node"),
    "SESSIONS_PER_ADDRESS_PERCENT_MAX": (
        "limits/transport/sessions_per_address_percent",
        "share of max_sessions that one address may have, rounded up; the rest is reserved for"
        " others",
    ),
    "UNSENT_BYTES_MAX": (
        "limits/transport/unsent_bytes",
        "bytes of one transport queued for a slow link; beyond it messages are dropped, or it"
        " is closed",
    ),
    "UNSENT_PROCESS_BYTES_MAX": (
        "limits/transport/unsent_process_bytes",
        "bytes of all transports queued for slow links beyond the limits of each queue: large"
        " messages, and messages kept although a queue is full; one message is always accepted",
    ),
    "ALIASES_MAX": (
        "limits/routing/aliases",
        "aliases on one face in one direction; the id has 16 bits",
    ),
    "ALIAS_BYTES_MAX": (
        "limits/routing/alias_bytes",
        "aliased keys of one neighbour; further aliases are ignored",
    ),
    "FACE_DECLARATIONS_MAX": (
        "limits/routing/declarations",
        "current declarations of one neighbour; more are ignored",
    ),
    "FACE_INTERESTS_MAX": (
        "limits/routing/interests",
        "current interests of one neighbour; more are ignored",
    ),
    "FACE_QUERIES_MAX": (
        "limits/routing/queries",
        "open requests of one neighbour; more are answered with an error",
    ),
    "FACE_BYTES_MAX": (
        "limits/routing/session_bytes",
        "memory of the declarations, aliases, interests and open requests of one session:"
        " 100,000 declarations of ordinary keys fit",
    ),
    "ROUTING_BYTES_MAX": (
        "limits/routing/process_bytes",
        "memory of the declarations, aliases, interests and open requests of all sessions"
        " together; beyond it further ones of any session are refused",
    ),
    "ALIASED_INTERESTS_MAX": (
        "limits/routing/aliased_interests",
        "keys for which one neighbour requested aliases: each prefix sent to it is looked up"
        " among them; beyond it keys are sent in full",
    ),
    "CACHED_ROUTES_MAX": (
        "limits/routing/cached_routes",
        "keys whose route from one region is cached; then the cache is cleared",
    ),
    "GOSSIP_PSIDS_MAX": (
        "limits/routing/gossip_psids",
        "nodes that one neighbour may number in its gossip",
    ),
    "GOSSIP_DISCOVERIES_MAX": (
        "limits/routing/gossip_discoveries",
        "nodes discovered by gossip and not yet processed",
    ),
    "ROUTE_NOTES_MAX": (
        "limits/routing/route_notes",
        "decisions of each kind that the explanation of a route lists; more are counted",
    ),
    "ADMIN_ANSWERS_MAX": (
        "limits/admin/answers",
        "long answers of the admin space at once: each has a thread; more are refused",
    ),
    "ADMIN_ANSWERS_PER_SESSION_MAX": (
        "limits/admin/session_answers",
        "long answers of the admin space for one session at once; more are refused",
    ),
    "NETWORK_NODES_MAX": (
        "limits/routing/network_nodes",
        "routers of one network; each may be the root of a tree with all of them; more are ignored",
    ),
    "NETWORK_LINKS_MAX": (
        "limits/routing/network_links",
        "links that all routers of one network list together, each from both ends: a tree of"
        " them is computed at once; more are ignored",
    ),
    "LINK_STATE_LIST_BYTES_MAX": (
        "limits/routing/link_state_list_bytes",
        "one link-state message: its entries are kept until the last is read; a longer one is"
        " ignored",
    ),
    "WITHDRAWALS_MAX": (
        "limits/routing/withdrawals",
        "recent undeclarations of one router, kept for a minute for neighbours that missed them;"
        " the oldest is forgotten",
    ),
    "HELD_REPLIES_MAX": (
        "limits/session/held_replies",
        "keys whose newest reply one query holds until it ends; more are dropped and logged",
    ),
    "HELD_REPLY_BYTES_MAX": (
        "limits/session/held_reply_bytes",
        "replies that one query holds until it ends, one in any case; more are dropped and logged",
    ),
    "REASSEMBLY_BYTES_MAX": (
        "limits/transport/reassembly_bytes",
        "fragments of incomplete messages in all channels of one session, counting the first"
        " bytes of each message",
    ),
    "REASSEMBLY_PROCESS_BYTES_MAX": (
        "limits/transport/reassembly_process_bytes",
        "fragments of incomplete messages in all sessions of the process, counted in the same way",
    ),
    "REASSEMBLY_MESSAGE_BYTES_MAX": (
        "limits/transport/reassembly_message_bytes",
        "bytes of a message that count as its first bytes",
    ),
    "REASSEMBLY_LARGE_BYTES_MAX": (
        "limits/transport/reassembly_large_bytes",
        "bytes of larger messages beyond their first bytes, in all sessions of the process",
    ),
    "FRAGMENT_IDLE_SECONDS_MAX": (
        "limits/transport/fragment_idle_seconds",
        "an incomplete message is dropped if no fragment arrives for this time",
    ),
    "LEASE_SECONDS_MAX": (
        "limits/transport/lease_seconds",
        "a lease has up to 2^64 - 1 ms; a peer that vanished would stay for ever",
    ),
    "HANDLER_ITEMS_MAX": (
        "limits/handler_items",
        "items in the default channel, and before a callback; beyond it the link waits",
    ),
    "HANDLER_BYTES_MAX": (
        "limits/handler_bytes",
        "payloads and attachments above 1 KiB in any handler, but always one item; then a FIFO"
        " makes the link wait, and a ring drops the oldest",
    ),
    "CALLBACK_HOLD_MS_MAX": (
        "limits/callback_hold_ms",
        "time of a callback on the thread that reads its link; beyond it another thread reads",
    ),
    "CONFIG_CHARACTERS_MAX": ("limits/config/characters", "length of a configuration"),
    "CONFIG_DEPTH_MAX": ("limits/config/depth", "nested lists and objects in a configuration"),
    "DESERIALIZED_ITEMS_MAX": (
        "limits/deserialized_items",
        "items of a collection that take no bytes each: a count alone must not fill memory",
    ),
    "ROS_PAYLOAD_BYTES_MAX": (
        "limits/ros/payload_bytes",
        "a payload that is converted to JSON, whose text is several times as long",
    ),
    "DERIVE_BYTES_MAX": (
        "limits/derive_bytes",
        "memory for building derived tables within a task; the rest is spilled to disk",
    ),
    "LAKE_RETENTION_HOURS_MAX": (
        "limits/lake_retention_hours",
        "files that a newer version of a lake does not need are kept for readers of older ones",
    ),
    "LAKE_SMALL_FILES_MAX": (
        "limits/lake_small_files",
        "files under 16 MiB of one table; a run that leaves more merges them",
    ),
    "LAKE_WAIT_SECONDS_MAX": (
        "limits/lake_wait_seconds",
        "time that a run waits for another one that is publishing",
    ),
    "FOLLOW_PENDING_EVENTS_MAX": (
        "limits/follow/pending_events",
        "messages of queries, declarations and interests that a follower keeps because later ones"
        " may change their rows; beyond it the oldest rows stay as they are",
    ),
    "FOLLOW_REPLAY_BYTES_MAX": (
        "limits/follow/replay_bytes",
        "bytes of a recording that a follower reads again when it starts; of a longer recording it"
        " reads the last segments and the state before them",
    ),
    "FOLLOW_WINDOW_SAMPLES_MAX": (
        "limits/follow/window_samples",
        "recent samples of a followed recording that every version compares with each other",
    ),
    "FOLLOW_COMPARED_SAMPLES_MAX": (
        "limits/follow/compared_samples",
        "samples of a followed recording that are compared with each other when its follower is"
        " stopped; at the end of the recording there is no limit",
    ),
    "REPORT_SERVER_REQUESTS_MAX": (
        "limits/report/requests",
        "requests that `zenlake up` answers at a time; others are closed",
    ),
    "SQL_BYTES_MAX": (
        "limits/sql_bytes",
        "memory that a statement of `zenlake sql` may add to its process, as the kernel counts it",
    ),
    "SQL_UNCOUNTED_BYTES_MAX": (
        "limits/sql_uncounted_bytes",
        "part of `limits/sql_bytes` for memory that DuckDB does not count (texts of functions,"
        " rows in Python); DuckDB may use the rest, then it spills to disk",
    ),
    "SQL_SPILL_BYTES_MAX": (
        "limits/sql_spill_bytes",
        "disk space for data of a statement that does not fit into memory; beyond it the"
        " statement fails",
    ),
    "SQL_SECONDS_MAX": (
        "limits/sql_seconds",
        "time for a statement on DuckDB, unless set otherwise",
    ),
    "REDACTION_BYTES_MAX": (
        "limits/recording/redaction_bytes",
        "memory of the redaction of a recording for all links: declared prefixes, removed"
        " declarations and requests, unfinished messages; beyond it messages are not recorded",
    ),
    "EXPLAIN_BYTES_MAX": (
        "limits/explain_bytes",
        "bytes that `zenoh_explain` reads in SQL: many small messages become a line or more for"
        " each byte",
    ),
    "EXPLAIN_CHARACTERS_MAX": (
        "limits/explain_characters",
        "length of the result of `zenoh_explain`",
    ),
    "OPTION_CHARACTERS_MAX": (
        "limits/option_characters",
        'length of an option of `spark.read.format("zenoh")`',
    ),
    "STREAM_OFFSET_CHARACTERS_MAX": (
        "limits/stream_offset_characters",
        "length of the JSON in the option startingOffsets of a stream",
    ),
    "STREAM_HANDSHAKE_SECONDS_MAX": (
        "limits/stream_handshake_seconds",
        "how long a micro-batch of a stream waits for the end of a handshake",
    ),
    "GLOB_CHOICES_MAX": (
        "limits/glob_choices",
        "names that one path pattern may list in braces, `{a,b}`: each is looked up",
    ),
    "GLOB_DEPTH_MAX": ("limits/glob_depth", "nested braces in one path pattern"),
    "RECORDING_TRACKED_BYTES_MAX": (
        "limits/recording/tracked_bytes",
        "memory for the state that a segment repeats at its start; beyond it the oldest requests"
        " are forgotten, then new declarations",
    ),
    "RECORDING_STATE_MESSAGE_BYTES_MAX": (
        "limits/recording/state_message_bytes",
        "the longest message that a segment repeats at its start: a request may carry a payload",
    ),
    "RECORDING_STATE_HANDSHAKE_BATCHES_MAX": (
        "limits/recording/state_handshake_batches",
        "batches of a handshake that a segment repeats; four are usual, datagrams may be repeated",
    ),
    "RECORDING_LINK_STATE_NODES_MAX": (
        "limits/recording/link_state_nodes",
        "nodes in the link states of one neighbour that a segment repeats at its start",
    ),
    "RECORDING_LINK_STATES_PER_NODE_MAX": (
        "limits/recording/link_states_per_node",
        "link states of one node that a segment repeats at its start: one for each time at which"
        " links were added, then the newest",
    ),
    "RECORDING_ADDRESS_PAIRS_MAX": (
        "limits/recording/address_pairs",
        "pairs of addresses whose earlier links are counted, for the names of links",
    ),
    "RECORDING_ADDRESS_USES_MAX": (
        "limits/recording/address_uses",
        "earlier links between two addresses that a segment repeats, two packets each",
    ),
    "RECORDING_DATAGRAM_LINKS_MAX": (
        "limits/recording/datagram_links",
        "datagram links, and senders in a multicast group, whose state is kept: datagrams do not"
        " show their end",
    ),
    "RECORDING_QUEUE_BYTES_MAX": (
        "limits/recording/queue_bytes",
        "memory for batches that wait for the recorder's writer; what does not fit is lost"
        " and counted",
    ),
    "RECORDING_RESERVE_BYTES_MAX": (
        "limits/recording/reserve_bytes",
        "further memory for batches with more than publications: their loss would leave"
        " aliases unknown",
    ),
    "RECORDING_UNSYNCED_BYTES_MAX": (
        "limits/recording/unsynced_bytes",
        "bytes that the system may hold back before they must be on the disk",
    ),
    "RECORDING_UNSYNCED_SECONDS_MAX": (
        "limits/recording/unsynced_seconds",
        "time after which written bytes must be on the disk",
    ),
}

LIMITS: Final[tuple[Limit, ...]] = tuple(
    Limit(name, globals()[name], key, why) for name, (key, why) in _KEYS_AND_REASONS.items()
)
