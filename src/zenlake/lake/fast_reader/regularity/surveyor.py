"""The survey of a capture: a pass over all of it that decides which pairs are regular.

A large capture is surveyed in two steps. The index finds the pair of each packet and the nodes of
each pair, at the speed of the disk. Then pairs are assigned to tasks, and each task checks its own
pairs before it reads them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zenlake.lake.fast_reader.assemble import pairs as field
from zenlake.lake.fast_reader.assemble import reasons
from zenlake.lake.fast_reader.assemble.assemble_kernel import UNSURE
from zenlake.lake.fast_reader.assemble.capture_pass import (
    CHUNK_BYTES,
    CapturePass,
    second_pass,
)
from zenlake.lake.fast_reader.assemble.pairs import ASSEMBLE, SKIP, Pairs
from zenlake.lake.fast_reader.regularity.final_checks import check_at_end
from zenlake.lake.fast_reader.regularity.identities import (
    Identities,
    inits_of_handshakes,
    pairs_sharing_nodes,
)
from zenlake.lake.fast_reader.regularity.ranges import ranges_of
from zenlake.lake.fast_reader.regularity.regularity_check import check_pass
from zenlake.lake.fast_reader.regularity.survey import COLUMNS, COUNTED, Survey
from zenlake.lake.fast_reader.scan.capture_file import Refusal, scan_of
from zenlake.lake.fast_reader.scan.file_window import Observer, changed, open_window

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray


def survey(
    path: str,
    chunk_bytes: int = CHUNK_BYTES,
    observer: Observer | None = None,
    content: bytes | None = None,
) -> Survey | Refusal:
    """Surveys a whole capture; a refusal if all of it is left to the exact reader.

    The `observer` gets all bytes of the file, unless the file is refused. A capture in memory is
    given as `content`.
    """
    with open_window(path, observer, content) as window:
        scan = scan_of(window)
        if isinstance(scan, Refusal):
            return scan
        capture_pass = CapturePass(window, scan, Pairs(), chunk_bytes)
        sessions = check_pass(capture_pass)
    if capture_pass.problem:
        return Refusal(capture_pass.problem)
    init_rows = np.concatenate((inits_of_handshakes(sessions), capture_pass.init_rows()))
    identities = Identities(init_rows, capture_pass.pairs.count)
    state = capture_pass.pairs.state[: capture_pass.pairs.count]
    end = capture_pass.packet_count, capture_pass.last_ns
    check_at_end(state, sessions, identities.zids, identities.elsewhere(), end)
    return _survey_of(capture_pass, identities)


def index(
    path: str, chunk_bytes: int = CHUNK_BYTES, observer: Observer | None = None
) -> Survey | Refusal | None:
    """As `survey`, without checking messages: pairs that may be regular are `UNCHECKED`.

    None if the answer to an INIT may lie in two segments. Then the nodes of that pair are not
    certain, and one session could be assigned to two tasks.
    """
    with open_window(path, observer) as window:
        scan = scan_of(window)
        if isinstance(scan, Refusal):
            return scan
        capture_pass = CapturePass(window, scan, Pairs(), chunk_bytes, first_role=SKIP)
        capture_pass.begin_chunk()
        while capture_pass.read_packets():
            capture_pass.begin_chunk()
    if capture_pass.problem:
        return Refusal(capture_pass.problem)
    state = capture_pass.pairs.state[: capture_pass.pairs.count]
    identities = Identities(capture_pass.init_rows(), capture_pass.pairs.count)
    is_unsure = state[:, field.HAS_DATA] & UNSURE != 0
    if (is_unsure & (identities.zids[:, 0] != "")).any():
        return None
    reason = state[:, field.REASON]
    # A regular pair has both INITs, each at the beginning of a segment.
    has_both = (identities.zids != "").all(axis=1)
    reason[(reason == reasons.NONE) & ~has_both] = reasons.HANDSHAKE
    # The check may find more pairs that share nodes: a session may outlast its last packet.
    spans = state[:, field.FIRST_PACKET], state[:, field.LAST_PACKET]
    is_shared = pairs_sharing_nodes(identities.zids, identities.elsewhere(), *spans)
    reason[(reason == reasons.NONE) & is_shared] = reasons.SEVERAL_LINKS
    reason[reason == reasons.NONE] = reasons.UNCHECKED
    return _survey_of(capture_pass, identities)


def _survey_of(capture_pass: CapturePass, identities: Identities) -> Survey:
    pairs, last = capture_pass.pairs, capture_pass.packet_count
    facts = {
        "size_bytes": capture_pass.window.size,
        "packets": last,
        "first_ns": capture_pass.first_ns,
        "last_ns": capture_pass.last_ns,
        "others": capture_pass.others,
        "cut_bytes": capture_pass.cut_bytes,
        "packets_before": capture_pass.scan.packets_before,
        "state_packets": capture_pass.scan.state_packets,
        "dropped": capture_pass.scan.dropped,
        "redacted": capture_pass.scan.redacted,
    }
    columns: dict[str, NDArray[Any]] = {
        name: pairs.state[: pairs.count, place].copy() for name, place in COLUMNS.items()
    }
    columns["keys"] = pairs.keys[: pairs.count].copy()
    columns["pair_of"] = capture_pass.pair_of()
    columns["marks"] = np.array(capture_pass.marks, np.int64).reshape(-1, 2)
    columns["specials"] = np.array(capture_pass.scan.specials, np.int64).reshape(-1, 2)
    everything = np.ones(len(columns["marks"]), np.bool_)
    columns["ranges"] = ranges_of(
        columns["marks"], (capture_pass.window.size, last + 1), everything
    )
    columns["zids"], columns["elsewhere"] = identities.zids, identities.elsewhere()
    return Survey(facts, columns)


def check(path: str, indexed: Survey, chunk_bytes: int = CHUNK_BYTES) -> Survey:
    """Checks the pairs of an index, or of a part of one, that may be regular."""
    is_open = indexed.reason == reasons.UNCHECKED
    if not is_open.any():
        return indexed
    pairs = Pairs.from_keys(indexed.keys)
    state = pairs.state[: len(indexed)]
    for name in COUNTED:
        state[:, COLUMNS[name]] = getattr(indexed, name)
    # Counted again from 0: a count of 1 marks the first packet of a pair.
    state[is_open, field.PACKETS] = state[is_open, field.BYTES] = 0
    state[:, field.REASON] = np.where(is_open, reasons.NONE, indexed.reason)
    state[:, field.ROLE] = np.where(is_open, ASSEMBLE, SKIP)
    with open_window(path) as window:
        capture_pass = second_pass(window, indexed, pairs, is_open, chunk_bytes, is_check=True)
        sessions = check_pass(capture_pass)
    if capture_pass.problem and not capture_pass.is_memory_limit:
        raise changed(path, 0)
    if capture_pass.is_memory_limit:
        state[is_open, field.REASON] = reasons.UNCHECKED
    elif capture_pass.packets_seen != len(indexed.pair_of):
        raise changed(path, 0)
    check_at_end(
        state, sessions, indexed.zids, indexed.elsewhere, (indexed.packets, indexed.last_ns)
    )
    return indexed.checked({name: state[:, place].copy() for name, place in COLUMNS.items()})
