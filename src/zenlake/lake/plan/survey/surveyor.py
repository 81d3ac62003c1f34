"""The survey of a capture: a pass over all of it that decides which pairs are regular.

A large capture is surveyed in two steps, of which many tasks do the second. The index tells whose
each packet is and which nodes each pair connects, at the speed of the disk. So the pairs can be
given to tasks, and each of these checks its own before it reads them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zenlake.lake.fast_reader.assemble import pairs as field
from zenlake.lake.fast_reader.assemble import reasons
from zenlake.lake.fast_reader.assemble.assemble_kernel import UNSURE
from zenlake.lake.fast_reader.assemble.pairs import ASSEMBLE, PASS, Pairs
from zenlake.lake.fast_reader.assemble.reading import CHUNK_BYTES, Known, Range, Reading
from zenlake.lake.fast_reader.scan.byte_source import open_bytes
from zenlake.lake.fast_reader.scan.capture_file import Refusal, scan_of
from zenlake.lake.fast_reader.scan.file_window import FileWindow, Observer, changed
from zenlake.lake.plan.survey.identities import Identities, followed, sharing
from zenlake.lake.plan.survey.judgement import judge
from zenlake.lake.plan.survey.listening import listen
from zenlake.lake.plan.survey.ranges import ranges_of
from zenlake.lake.plan.survey.survey import COLUMNS, COUNTED, Survey

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray


def survey(
    path: str, chunk_bytes: int = CHUNK_BYTES, observer: Observer | None = None
) -> Survey | Refusal:
    """Look through a whole capture; a refusal where all of it is for the exact reader.

    The `observer` sees all bytes of the file, unless it is refused.
    """
    source = open_bytes(path)
    try:
        window = FileWindow(source, path, observer)
        scan = scan_of(window)
        if isinstance(scan, Refusal):
            return scan
        reading = Reading(window, scan, Pairs(), is_survey=True, chunk_bytes=chunk_bytes)
        talks = listen(reading)
    finally:
        source.close()
    if reading.problem:
        return Refusal(reading.problem)
    sightings = np.concatenate((followed(talks), reading.sightings()))
    identities = Identities(sightings, reading.pairs.count)
    state = reading.pairs.state[: reading.pairs.count]
    end = reading.packet_count, reading.last_ns
    judge(state, talks, identities.zids, identities.elsewhere(), end)
    return _survey_of(reading, identities)


def index(
    path: str, chunk_bytes: int = CHUNK_BYTES, observer: Observer | None = None
) -> Survey | Refusal | None:
    """As `survey`, without a look into connections: pairs that may be regular are `UNCHECKED`.

    None where the answer to an INIT may lie in two segments. Then it is not certain which nodes
    that pair connects, and sessions could be divided.
    """
    source = open_bytes(path)
    try:
        window = FileWindow(source, path, observer)
        scan = scan_of(window)
        if isinstance(scan, Refusal):
            return scan
        reading = Reading(
            window, scan, Pairs(), is_survey=True, chunk_bytes=chunk_bytes, first_role=PASS
        )
        reading.begin_chunk()
        while reading.advance():
            reading.begin_chunk()
    finally:
        source.close()
    if reading.problem:
        return Refusal(reading.problem)
    state = reading.pairs.state[: reading.pairs.count]
    identities = Identities(reading.sightings(), reading.pairs.count)
    is_unsure = state[:, field.HAS_DATA] & UNSURE != 0
    if (is_unsure & (identities.zids[:, 0] != "")).any():
        return None
    reason = state[:, field.REASON]
    # A regular pair has both INITs, each at the beginning of a segment.
    has_both = (identities.zids != "").all(axis=1)
    reason[(reason == reasons.NONE) & ~has_both] = reasons.HANDSHAKE
    # More pairs than these may share their nodes: a session may live on after its last packet.
    spans = state[:, field.FIRST_PACKET], state[:, field.LAST_PACKET]
    is_shared = sharing(identities.zids, identities.elsewhere(), *spans)
    reason[(reason == reasons.NONE) & is_shared] = reasons.SEVERAL_LINKS
    reason[reason == reasons.NONE] = reasons.UNCHECKED
    return _survey_of(reading, identities)


def _survey_of(reading: Reading, identities: Identities) -> Survey:
    pairs, last = reading.pairs, reading.packet_count
    facts = {
        "size_bytes": reading.window.size,
        "packets": last,
        "first_ns": reading.first_ns,
        "last_ns": reading.last_ns,
        "others": reading.others,
        "cut_bytes": reading.cut_bytes,
    }
    columns: dict[str, NDArray[Any]] = {
        name: pairs.state[: pairs.count, place].copy() for name, place in COLUMNS.items()
    }
    columns["keys"] = pairs.keys[: pairs.count].copy()
    columns["pair_of"] = reading.pair_of()
    columns["marks"] = np.array(reading.marks, np.int64).reshape(-1, 2)
    columns["specials"] = np.array(reading.specials, np.int64).reshape(-1, 2)
    everything = np.ones(len(columns["marks"]), np.bool_)
    columns["ranges"] = ranges_of(columns["marks"], (reading.window.size, last + 1), everything)
    columns["elsewhere"] = identities.elsewhere()
    return Survey(facts, columns, identities.zids)


def check(path: str, indexed: Survey, chunk_bytes: int = CHUNK_BYTES) -> Survey:
    """Look into the pairs of an index, or of a part of one, that may be regular."""
    is_open = indexed.reason == reasons.UNCHECKED
    if not is_open.any():
        return indexed
    pairs = Pairs.of_keys(indexed.keys)
    state = pairs.state[: len(indexed)]
    for name in COUNTED:
        state[:, COLUMNS[name]] = getattr(indexed, name)
    # These are counted again: the first packet of a pair is known by that.
    state[is_open, field.PACKETS] = state[is_open, field.BYTES] = 0
    state[:, field.REASON] = np.where(is_open, reasons.NONE, indexed.reason)
    state[:, field.ROLE] = np.where(is_open, ASSEMBLE, PASS)
    reading, talks = _checked(path, indexed, pairs, is_open, chunk_bytes)
    if reading.problem and not reading.is_too_much:
        raise changed(path, 0)
    if reading.is_too_much:
        state[is_open, field.REASON] = reasons.UNCHECKED
    elif reading.packets_seen != len(indexed.pair_of):
        raise changed(path, 0)
    judge(state, talks, indexed.zids, indexed.elsewhere, (indexed.packets, indexed.last_ns))
    return indexed.checked({name: state[:, place].copy() for name, place in COLUMNS.items()})


def _checked(
    path: str, indexed: Survey, pairs: Pairs, is_open: NDArray[np.bool_], chunk_bytes: int
) -> tuple[Reading, NDArray[np.int64]]:
    ranges = [Range(*row) for row in indexed.ranges.tolist()]
    known = Known(ranges, indexed.specials, indexed.pair_of, (~is_open).astype(np.uint8))
    source = open_bytes(path)
    try:
        window = FileWindow(source, path)
        scan = scan_of(window) if window.size == indexed.size_bytes else None
        if scan is None or isinstance(scan, Refusal):
            raise changed(path, 0)
        reading = Reading(
            window, scan, pairs, False, chunk_bytes=chunk_bytes, known=known, is_check=True
        )
        return reading, listen(reading)
    finally:
        source.close()
