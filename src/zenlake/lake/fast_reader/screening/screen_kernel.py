# Parts: 474c75e65913fd66
"""Kernel: one pass over decoded messages, which rules to evaluate for which rows and batches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from zenlake.columnar import forms
from zenlake.columnar.jit import inlined
from zenlake.columnar.memory import get_small, get_word
from zenlake.lake.fast_reader.scan.numbers import Numbers, signed, uncounted_entry
from zenlake.lake.fast_reader.screening._generated import codes, conditions
from zenlake.lake.fast_reader.screening.noncanonical import may_be_noncanonical
from zenlake.wire.defaults import DEFAULT_PRIORITY

if TYPE_CHECKING:
    from zenlake.columnar.memory import Buffer, Table

NONCANONICAL: Final = 1 << 61
"""The encoding of the row may be noncanonical."""
FIRST_MESSAGE: Final = 1 << 62
"""The row is the first network message of its direction."""
_NEVER: Final = -1
_MARGIN_NS: Final = 1_000_000_000
"""The margin of the rules about leases."""
_PREFIX_BYTES: Final = 2
"""The prefix counts for the size of a batch, but not of a low-latency unit."""

Facts = Any
"""`facts.Facts`."""


@uncounted_entry
def screen_rows(
    buf: Buffer,
    table: Table,
    room: int,
    count: int,
    facts: Facts,
    masks: Numbers,
    last_sent_ns: Numbers,
) -> None:
    """Writes for each row the bits of the rules to evaluate to `masks`.

    For a batch after a long silence `last_sent_ns` gets the time, plus 1, at which each direction
    last sent something; for other batches it stays 0.
    """
    row = 0
    for unit in range(len(facts.pair)):
        owner = 2 * signed(facts.pair[unit]) + signed(facts.direction[unit])
        is_batch = signed(facts.form[unit]) != forms.NETWORK
        begin = row
        while row < count and get_word(table, room, codes.UNIT_COLUMN, row) == unit:
            row += 1
        if is_batch:
            _note_silence(facts, unit, owner, last_sent_ns)
        if row == begin:
            continue
        # Handshakes and ends of sessions are fed to the checker.
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
    if is_batch and may_be_noncanonical(buf, table, room, count, row, kind):
        found |= NONCANONICAL
    if kind >= codes.FIRST_NETWORK and not facts.has_sent[owner]:
        facts.has_sent[owner] = True
        found |= FIRST_MESSAGE
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
def _note_silence(facts: Facts, unit: int, owner: int, last_sent_ns: Numbers) -> None:
    """Notes a silence that may break the rules about leases."""
    now = facts.time_ns[unit]
    own, other = facts.last_ns[owner], facts.last_ns[owner ^ 1]
    limit = facts.lease_ns[owner] // 4 * 3 + _MARGIN_NS
    if (own != _NEVER and now - own > limit) or (
        other != _NEVER and now - other > 2 * facts.lease_ns[owner ^ 1] + _MARGIN_NS
    ):
        last_sent_ns[unit, 0], last_sent_ns[unit, 1] = own + 1, other + 1
    facts.last_ns[owner] = max(own, now)
