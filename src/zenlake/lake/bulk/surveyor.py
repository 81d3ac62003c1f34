"""The survey of a capture: a pass over all of it that decides which pairs are regular."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from zenlake.capture.tcp_hole import MASK as SEQ_MASK
from zenlake.capture.tcp_hole import UNKNOWN
from zenlake.lake.bulk import pairs as field
from zenlake.lake.bulk import reasons
from zenlake.lake.bulk.capture_file import Refusal, map_file, scan_of
from zenlake.lake.bulk.conversation import CHAINS_OPEN, OPEN, STAGE
from zenlake.lake.bulk.identities import Identities
from zenlake.lake.bulk.listener import Listener
from zenlake.lake.bulk.pairs import Pairs
from zenlake.lake.bulk.reading import CHUNK_BYTES, Reading
from zenlake.lake.bulk.surveyed import COLUMNS, Survey

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray


def survey(path: str, chunk_bytes: int = CHUNK_BYTES) -> Survey | Refusal:
    """Look through a whole capture; a refusal where all of it is for the scalar road."""
    data = map_file(path)
    scan = scan_of(data)
    if isinstance(scan, Refusal):
        return scan
    pairs, listener = Pairs(), Listener()
    reading = Reading(data, scan, pairs, is_survey=True, chunk_bytes=chunk_bytes)
    spare = reading.new_batches()
    with ThreadPoolExecutor(1) as beside:
        # One stretch is listened to while the next is read.
        heard = beside.submit(np.zeros, 0, np.int32)
        while reading.advance():
            listener.tell(pairs, heard.result())
            listener.make_room(pairs)
            reading.batches, spare = spare, reading.batches
            heard = beside.submit(listener.hear, spare, reading.units, pairs.state)
        heard.result()
    if reading.problem:
        return Refusal(reading.problem)
    listener.end(pairs)
    return _judge(reading, listener.talks[: pairs.count])


def _judge(reading: Reading, talks: NDArray[np.int64]) -> Survey:
    """What can be said only once all was read."""
    pairs, last = reading.pairs, reading.packet_count
    state = pairs.state[: pairs.count]
    reason = state[:, field.REASON]
    is_left = reason == reasons.NONE
    is_left = _leave(reason, is_left, talks[:, STAGE] != OPEN, reasons.HANDSHAKE)
    has_rest = (state[:, field.HAVE] != 0) | (state[:, field.HAVE + 1] != 0)
    is_left = _leave(reason, is_left, has_rest, reasons.UNFINISHED)
    is_left = _leave(reason, is_left, talks[:, CHAINS_OPEN] != 0, reasons.FRAGMENTS)
    for side in (0, 1):
        following, acked = state[:, field.NEXT + side], state[:, field.ACKED + side]
        beyond = ((acked - following + 0x8000_0000) & SEQ_MASK) - 0x8000_0000
        has_more = (following != UNKNOWN) & (acked != UNKNOWN) & (beyond > 0)
        is_left = _leave(reason, is_left, has_more, reasons.ACKED_BEYOND)
    identities = Identities(reading.data, reading.sightings(), talks)
    zids = identities.zids
    # A session without an end in sight lives on, for the scalar road, and takes later links.
    is_over = is_left & (state[:, field.CAUSE] != 0)
    ends = np.where(is_over, state[:, field.LAST_PACKET], last)
    is_shared = identities.sharing(state[:, field.FIRST_PACKET], ends)
    is_left = _leave(reason, is_left, is_shared, reasons.SEVERAL_LINKS)
    # What the end of the capture closes.
    is_open = state[:, field.CAUSE] == 0
    state[is_open, field.CLOSED_PACKET] = last
    state[is_open, field.CLOSED_NS] = reading.last_ns
    has_no_end = state[:, field.ENDED_NS] == 0
    state[has_no_end, field.ENDED_NS] = reading.last_ns
    facts = {
        "size_bytes": len(reading.data),
        "packets": last,
        "first_ns": reading.first_ns,
        "last_ns": reading.last_ns,
        "others": reading.others,
        "cut_bytes": reading.cut_bytes,
    }
    columns: dict[str, NDArray[Any]] = {
        name: state[:, index].copy() for name, index in COLUMNS.items()
    }
    columns["keys"] = pairs.keys[: pairs.count].copy()
    columns["pair_of"] = reading.pair_of()
    return Survey(facts, columns, zids)


def _leave(
    reason: NDArray[np.int64],
    is_left: NDArray[np.bool_],
    is_bad: NDArray[np.bool_],
    why: int,
) -> NDArray[np.bool_]:
    """Those that are still regular."""
    reason[is_left & is_bad] = why
    return is_left & ~is_bad
