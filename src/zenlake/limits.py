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
)
