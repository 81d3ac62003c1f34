"""Conditions of rules.

GENERATED from what zenlake.rules declare by `make generate`. Do not edit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from zenlake.columnar.jit import inlined
from zenlake.columnar.memory import get_long, get_small, get_word
from zenlake.lake.fast_reader.screening._generated.codes import CONSOLIDATION_COLUMN, ENCODING_ID_COLUMN, ENCODING_SCHEMA_OFFSET_COLUMN, ENTITY_ID_COLUMN, FRAGMENT_DROP_COLUMN, FRAGMENT_FIRST_COLUMN, FRAGMENT_MORE_COLUMN, INTEREST_ID_COLUMN, KEY_SCOPE_COLUMN, KEY_SUFFIX_LENGTH_COLUMN, NODE_ID_COLUMN, PAYLOAD_LENGTH_COLUMN, PRESENT_COLUMN, PRIORITY_COLUMN, PUSH_PUT, QOS_COLUMN, REQUEST_ID_COLUMN, SHM_COLUMN, TARGET_COLUMN, UNKNOWN_EXTENSIONS_COLUMN
from zenlake.lake.fast_reader.screening.condition_functions import BAD, EMPTY, WIDE, is_empty_frame, is_key_missing, is_schema_ascii, qos_byte, stamp_ns

if TYPE_CHECKING:
    from zenlake.columnar.memory import Buffer, Table

RULES: Final = (
    "batch-too-large",
    "low-latency-batched",
    "fragment-small",
    "frame-empty",
    "priority-not-agreed",
    "priority-differs",
    "best-effort-control",
    "control-qos",
    "priority-control-data",
    "block-first-and-block",
    "default-sent",
    "fragment-empty",
    "fragment-marked-without-patch",
    "alias-unknown",
    "alias-of-other-side",
    "alias-zero",
    "alias-nested",
    "key-not-canonical",
    "key-invalid",
    "key-empty",
    "response-key-empty",
    "put-to-many",
    "entity-id-zero",
    "undeclared-without-key",
    "declaration-unasked",
    "answer-outside-interest",
    "answer-after-final",
    "answer-to-nothing",
    "interest-id-zero",
    "final-repeated",
    "final-of-peers",
    "request-id-outside",
    "request-without-timeout",
    "reply-consolidation",
    "encoding-unknown",
    "schema-not-text",
    "timestamp-ahead",
    "shm-not-agreed",
    "node-id-not-router",
    "node-id-unknown",
    "extension-unknown",
)
"""The rule of each bit, the lowest first."""


@inlined
def conditions_of_unit(
    table: Table, room: int, row: int, batch_size: int, unit_bytes: int,
    is_low_latency: bool, messages: int,
) -> int:
    """The rules to evaluate for a batch; `row` is its first."""
    found = 0
    # batch-too-large
    if (unit_bytes > batch_size):
        found |= 0x1
    # low-latency-batched
    if (is_low_latency and messages > 1):
        found |= 0x2
    # fragment-small
    if (get_small(table, room, FRAGMENT_MORE_COLUMN, row) and 2 * unit_bytes <= batch_size):
        found |= 0x4
    return found


@inlined
def conditions_of_row(
    buf: Buffer, table: Table, room: int, count: int, row: int, kind: int, wanted: int,
    qos: bool, patch: int, request_id_bits: int, is_in_channel: bool, is_reliable: bool,
    priority: int, key_code: int, key_flags: int, time_ns: int,
) -> int:
    """The rules to evaluate for a message; `wanted` are those about its kind."""
    present = get_long(table, room, PRESENT_COLUMN, row)
    found = 0
    # frame-empty
    if wanted & 0x8 and (is_empty_frame(table, room, count, row)):
        found |= 0x8 & wanted
    # priority-not-agreed
    if wanted & 0x10 and (present & 512 != 0 and get_small(table, room, PRIORITY_COLUMN, row) != 5 and (not qos)):
        found |= 0x10 & wanted
    # priority-differs
    if wanted & 0x20 and (is_in_channel and qos and (qos_byte(table, room, row, present) & 7 != priority)):
        found |= 0x20 & wanted
    # best-effort-control
    if wanted & 0x40 and (is_in_channel and (not is_reliable)):
        found |= 0x40 & wanted
    # control-qos
    if wanted & 0x80 and (qos_byte(table, room, row, present) & ~16 != 8):
        found |= 0x80 & wanted
    # priority-control-data
    if wanted & 0x100 and (qos_byte(table, room, row, present) & 7 == 0):
        found |= 0x100 & wanted
    # block-first-and-block
    if wanted & 0x200 and (qos_byte(table, room, row, present) & 8 and qos_byte(table, room, row, present) & 32):
        found |= 0x200 & wanted
    # default-sent
    if wanted & 0x400 and (present & 16 != 0 and get_small(table, room, QOS_COLUMN, row) == 5 or (present & 512 != 0 and get_small(table, room, PRIORITY_COLUMN, row) == 5) or (present & 64 != 0 and get_word(table, room, NODE_ID_COLUMN, row) == 0) or (present & 33554432 != 0 and get_small(table, room, TARGET_COLUMN, row) == 0) or (present & 8192 != 0 and get_small(table, room, CONSOLIDATION_COLUMN, row) == 0) or (kind == PUSH_PUT and present & 2 != 0 and (get_word(table, room, ENCODING_ID_COLUMN, row) == 0) and (get_word(table, room, ENCODING_SCHEMA_OFFSET_COLUMN, row) == 0))):
        found |= 0x400 & wanted
    # fragment-empty
    if wanted & 0x800 and (get_word(table, room, PAYLOAD_LENGTH_COLUMN, row) == 0):
        found |= 0x800 & wanted
    # fragment-marked-without-patch
    if wanted & 0x1000 and ((get_small(table, room, FRAGMENT_FIRST_COLUMN, row) or get_small(table, room, FRAGMENT_DROP_COLUMN, row)) and patch == 0):
        found |= 0x1000 & wanted
    # alias-unknown, alias-of-other-side
    if wanted & 0x6000 and (is_key_missing(table, room, row, key_code)):
        found |= 0x6000 & wanted
    # alias-zero, entity-id-zero
    if wanted & 0x408000 and (get_word(table, room, ENTITY_ID_COLUMN, row) == 0):
        found |= 0x408000 & wanted
    # alias-nested
    if wanted & 0x10000 and (get_word(table, room, KEY_SCOPE_COLUMN, row)):
        found |= 0x10000 & wanted
    # key-not-canonical, key-invalid
    if wanted & 0x60000 and (key_flags & BAD):
        found |= 0x60000 & wanted
    # key-empty, response-key-empty
    if wanted & 0x180000 and (key_flags & EMPTY):
        found |= 0x180000 & wanted
    # put-to-many
    if wanted & 0x200000 and (key_flags & WIDE):
        found |= 0x200000 & wanted
    # undeclared-without-key
    if wanted & 0x800000 and (get_word(table, room, KEY_SCOPE_COLUMN, row) == 0 and get_word(table, room, KEY_SUFFIX_LENGTH_COLUMN, row) == 0):
        found |= 0x800000 & wanted
    # declaration-unasked
    if wanted & 0x1000000 and (not present & 262144 != 0):
        found |= 0x1000000 & wanted
    # answer-outside-interest, answer-after-final, answer-to-nothing, final-repeated
    if wanted & 0x2e000000 and (get_word(table, room, INTEREST_ID_COLUMN, row)):
        found |= 0x2e000000 & wanted
    # interest-id-zero, final-of-peers
    if wanted & 0x50000000 and (get_word(table, room, INTEREST_ID_COLUMN, row) == 0):
        found |= 0x50000000 & wanted
    # request-id-outside
    if wanted & 0x80000000 and (get_word(table, room, REQUEST_ID_COLUMN, row) >> request_id_bits):
        found |= 0x80000000 & wanted
    # request-without-timeout
    if wanted & 0x100000000 and (not present & 134217728 != 0):
        found |= 0x100000000 & wanted
    # reply-consolidation
    if wanted & 0x200000000 and (present & 8192 != 0):
        found |= 0x200000000 & wanted
    # encoding-unknown
    if wanted & 0x400000000 and (get_word(table, room, ENCODING_ID_COLUMN, row) >= 53 and get_word(table, room, ENCODING_ID_COLUMN, row) != 65535):
        found |= 0x400000000 & wanted
    # schema-not-text
    if wanted & 0x800000000 and (not is_schema_ascii(buf, table, room, row)):
        found |= 0x800000000 & wanted
    # timestamp-ahead
    if wanted & 0x1000000000 and (present & 1 != 0 and stamp_ns(table, room, row) - time_ns >= 500000000):
        found |= 0x1000000000 & wanted
    # shm-not-agreed
    if wanted & 0x2000000000 and (get_small(table, room, SHM_COLUMN, row)):
        found |= 0x2000000000 & wanted
    # node-id-not-router, node-id-unknown
    if wanted & 0xc000000000 and (get_word(table, room, NODE_ID_COLUMN, row)):
        found |= 0xc000000000 & wanted
    # extension-unknown
    if wanted & 0x10000000000 and (get_small(table, room, UNKNOWN_EXTENSIONS_COLUMN, row)):
        found |= 0x10000000000 & wanted
    return found
