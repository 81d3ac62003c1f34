# Parts: 8447293d84f2685f
"""The pass over decoded messages: which rules are to be asked about which rows and batches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from zenlake.columnar import forms
from zenlake.columnar.jit import inlined
from zenlake.columnar.memory import get_small, get_word
from zenlake.lake.fast_reader.scan.numbers import Numbers, signed, uncounted_entry
from zenlake.lake.fast_reader.screening._generated import codes, conditions
from zenlake.lake.fast_reader.screening.spelling import is_odd
from zenlake.wire.defaults import DEFAULT_PRIORITY

if TYPE_CHECKING:
    from zenlake.columnar.memory import Buffer, Table

ODD: Final = 1 << 61
"""The row may be spelled in another way."""
FIRST_WORDS: Final = 1 << 62
"""The row is the first network message of its direction."""
_NEVER: Final = -1
_MARGIN_NS: Final = 1_000_000_000
"""As rules about leases have it."""
_PREFIX_BYTES: Final = 2
"""The length before a batch counts, that of a low-latency unit does not."""

Facts = Any
"""As `facts.py` has them."""


@uncounted_entry
def screen_rows(
    buf: Buffer,
    table: Table,
    room: int,
    count: int,
    facts: Facts,
    masks: Numbers,
    said_ns: Numbers,
) -> None:
    """`masks` gets for each row the bits of rules to be asked.

    `said_ns` gets for a batch that comes after a long silence when each direction was heard
    before it, 1 more than that; of others it stays 0.
    """
    row = 0
    for unit in range(len(facts.pair)):
        owner = 2 * signed(facts.pair[unit]) + signed(facts.direction[unit])
        is_batch = signed(facts.form[unit]) != forms.NETWORK
        begin = row
        while row < count and get_word(table, room, codes.UNIT_COLUMN, row) == unit:
            row += 1
        if is_batch:
            _listen(facts, unit, owner, said_ns)
        if row == begin:
            continue
        # The checker is fed handshakes and ends of sessions whole.
        if codes.INIT_ACK <= get_small(table, room, codes.KIND_COLUMN, begin) <= codes.CLOSE:
            continue
        for at in range(begin, row):
            masks[at] = _screen_row(buf, table, room, count, facts, at, unit, owner, is_batch)
        if is_batch:
            masks[begin] |= _screen_unit(table, room, facts, begin, unit, row - begin)


@inlined
def _screen_row(
    buf: Buffer,
    table: Table,
    room: int,
    count: int,
    facts: Facts,
    row: int,
    unit: int,
    owner: int,
    is_batch: bool,
) -> int:
    kind, pair = get_small(table, room, codes.KIND_COLUMN, row), owner >> 1
    key_code = signed(facts.key_codes[row])
    found = conditions.conditions_of_row(
        buf,
        table,
        room,
        count,
        row,
        kind,
        facts.wanted[kind],
        facts.qos[pair],
        facts.patch[pair],
        facts.request_id_bits[pair],
        facts.has_reliable[row],
        facts.reliable[row] != 0,
        facts.priority[row] & 7 if facts.has_priority[row] else DEFAULT_PRIORITY,
        key_code,
        signed(facts.key_flags[key_code]) if key_code >= 0 else 0,
        facts.time_ns[unit],
    )
    if is_batch and is_odd(buf, table, room, count, row, kind):
        found |= ODD
    if kind >= codes.FIRST_NETWORK and not facts.has_spoken[owner]:
        facts.has_spoken[owner] = True
        found |= FIRST_WORDS
    return found


@inlined
def _screen_unit(table: Table, room: int, facts: Facts, row: int, unit: int, messages: int) -> int:
    is_low_latency = signed(facts.form[unit]) == forms.LOW_LATENCY
    size = facts.bounds[unit + 1] - facts.bounds[unit]
    if not is_low_latency:
        size += _PREFIX_BYTES
    batch_size = facts.batch_size[signed(facts.pair[unit])]
    return conditions.conditions_of_unit(
        table, room, row, batch_size, size, is_low_latency, messages
    )


@inlined
def _listen(facts: Facts, unit: int, owner: int, said_ns: Numbers) -> None:
    """Whether rules about leases may have something to say, and when a direction was heard."""
    now = facts.time_ns[unit]
    own, other = facts.last_ns[owner], facts.last_ns[owner ^ 1]
    limit = facts.lease_ns[owner] // 4 * 3 + _MARGIN_NS
    if (own != _NEVER and now - own > limit) or (
        other != _NEVER and now - other > 2 * facts.lease_ns[owner ^ 1] + _MARGIN_NS
    ):
        said_ns[unit, 0], said_ns[unit, 1] = own + 1, other + 1
    facts.last_ns[owner] = max(own, now)
