"""The end of the generated file: the walk over units, which calls the kernels of messages.

It is text because Numba caches compiled code as long as the file of the entry is unchanged: entry
and kernels must be in one file.
"""

from __future__ import annotations

COUNT_UNKNOWN = '''

@kernel
def count_unknown(out: Table, room: int, n: int) -> None:
    """Count an extension that its message does not define."""
    put_small(
        out, room, UNKNOWN_EXTENSIONS, n, get_small(out, room, UNKNOWN_EXTENSIONS, n) + 1
    )\
'''

WALK = '''

@kernel
def _finish_row(out: Table, room: int, n: int, unit: int, start: int, stop: int) -> None:
    put_word(out, room, UNIT, n, unit)
    put_word(out, room, OFFSET, n, start)
    put_word(out, room, LENGTH, n, stop - start)


@kernel
def _clear_rows(out: Table, room: int, first: int, stop: int) -> None:
    """Zero rows that are discarded: later rows are written to the same memory."""
    for n in range(first, stop):
        for column in range(_WORDS_BEGIN):
            put_small(out, room, column, n, 0)
        for column in range(_WORDS_BEGIN, _LONGS_BEGIN, 4):
            put_word(out, room, column, n, 0)
        for column in range(_LONGS_BEGIN, ROW_BYTES, 8):
            put_long(out, room, column, n, 0)


@kernel
def _frame_messages(
    buf: Buffer, pos: int, end: int, out: Table, room: int, n: int, unit: int
) -> tuple[int, int, int]:
    """Network messages until something else begins; the FRAME is the row before `n`.

    Each message gets the sequence number, reliability and priority of the FRAME. Returns the
    number of rows, the end of the last complete message, and a failure, FULL or 0.
    """
    frame = n - 1
    sn = get_word(out, room, SN, frame)
    reliable = get_small(out, room, RELIABLE, frame)
    priority = get_small(out, room, PRIORITY, frame)
    inherited = get_long(out, room, PRESENT, frame) & _INHERITED
    while pos < end and load(buf, pos) & 0x1F >= 0x19:
        if n == room:
            return n, pos, FULL
        stop = _network(buf, pos, end, out, room, n)
        if stop < 0:
            return n, pos, stop
        _finish_row(out, room, n, unit, pos, stop)
        put_word(out, room, SN, n, sn)
        put_small(out, room, RELIABLE, n, reliable)
        put_small(out, room, PRIORITY, n, priority)
        put_long(out, room, PRESENT, n, get_long(out, room, PRESENT, n) | inherited)
        n += 1
        pos = stop
    return n, pos, 0


@kernel
def _walk(
    buf: Buffer, pos: int, end: int, form: int, out: Table, room: int, n: int, unit: int
) -> tuple[int, int]:
    """Decode one unit; returns the number of rows, and a failure, FULL or 0."""
    if pos >= end and (form == NETWORK or form == SCOUTING):
        return n, @NO_NETWORK@ if form == NETWORK else @NO_SCOUTING@
    while pos < end:
        if n == room:
            return n, FULL
        id = load(buf, pos) & 0x1F
        if form == BATCH:
            stop = _transport(buf, pos, end, out, room, n)
        elif form == SCOUTING:
            stop = _scouting(buf, pos, end, out, room, n)
        elif form == NETWORK or id >= 0x19:
            stop = _network(buf, pos, end, out, room, n)
        elif id == _CLOSE_ID or id == _KEEP_ALIVE_ID:
            stop = _transport(buf, pos, end, out, room, n)
        else:
            stop = @NO_LOW_LATENCY@
        if stop < 0:
            return n, stop
        _finish_row(out, room, n, unit, pos, stop)
        n += 1
        if form == SCOUTING or form == NETWORK:
            break
        if id == _FRAME_ID:
            frame, start = n - 1, pos
            n, stop, status = _frame_messages(buf, stop, end, out, room, n, unit)
            put_word(out, room, LENGTH, frame, stop - start)
            if status != 0:
                return n, status
        pos = stop
    return n, 0


@entry
def decode_units(
    buf: Buffer,
    bounds: Numbers,
    forms: Numbers,
    unit: int,
    out: Table,
    room: int,
    n: int,
    failures: Numbers,
) -> tuple[int, int]:
    """Decode units from `unit` on, until all are read or the table is full.

    Returns the next unit and the number of rows. `failures` gets 0 or a failure for each unit.
    """
    while unit < len(forms):
        first = n
        n, status = _walk(buf, bounds[unit], bounds[unit + 1], forms[unit], out, room, n, unit)
        if status == FULL:
            _clear_rows(out, room, first, n)
            return unit, first
        if status < 0 and n < room:
            _clear_rows(out, room, n, n + 1)
        failures[unit] = status
        unit += 1
    return unit, n
'''
