"""Limits of the data in a page. The page shows how much is left out."""

from __future__ import annotations

from typing import Final

BINS_MAX: Final = 240
"""Time bins on the axis: about two pixels each on a phone."""
PARTS: Final = 64
"""The number of parts of a time bin, which are drawn when the time axis is zoomed."""
SEGMENTS_MAX: Final = 12
"""Intervals with recorded packets; the pauses between them are not drawn."""
CELLS_MAX: Final = 40_000
"""Cells of traffic by time, key, nodes and kind: about 1 MB."""
FINE_MESSAGES_MAX: Final = 200_000
"""With more messages, parts of time bins are not counted by key and node."""
FINE_CELLS_MAX: Final = 20_000
"""In that case, cells of traffic by parts of time bins and kind only: about 0.3 MB."""
CELL_LEVELS: Final = (
    # Time bins per cell, keys, nodes; the first level that is small enough is used.
    (1, 200, 100),
    (2, 120, 60),
    (2, 60, 30),
    (4, 40, 20),
    (4, 20, 10),
    (8, 8, 6),
)
KEYS_MAX: Final = 1_000
"""Keys that the tree shows one by one; the others are summed by their first chunk."""
FIRST_CHUNKS_MAX: Final = 100
KEY_CELLS_MAX: Final = 12_000
NODES_MAX: Final = 150
"""Nodes that the graph and the sums show one by one; the others count as one."""
PAIRS_LOOKED_AT_MAX: Final = 500_000
SESSION_EDGES_MAX: Final = 400
SESSIONS_LISTED_MAX: Final = 40
QUERY_CELLS_MAX: Final = 10_000
QUERY_KEYS_MAX: Final = 300
"""Keys of queries that are listed besides the keys of the tree."""
QUERIES_FAILED_MAX: Final = 40
QUERIES_SLOW_MAX: Final = 20
HOPS_MAX: Final = 12
REPLIES_MAX: Final = 24
"""Events of one query on all its hops."""
LIVES_MAX: Final = 240
"""Declarations drawn one by one."""
LOSSES_MAX: Final = 100
LOSS_CELLS_MAX: Final = 8_000
VIOLATION_EXAMPLES_MAX: Final = 60
VIOLATION_CELLS_MAX: Final = 4_000
EXPLAINED_MAX: Final = 12
EXPLAINED_BYTES_MAX: Final = 4_096
EXPLAINED_LINES_MAX: Final = 120
EXPLAINED_FILE_BYTES_MAX: Final = 256 * 1024 * 1024
"""Larger captures are not read again to find the bytes of a few messages."""
STORIES_MAX: Final = 80
STORY_CAPTURES_MAX: Final = 20
"""Captures that `why` reads into memory, within the limits of `why`."""
STORY_STEPS_MAX: Final = 20
STORY_ADVICE_MAX: Final = 4
CAPTURES_LISTED_MAX: Final = 100
KEY_CHARACTERS_MAX: Final = 400
TEXT_CHARACTERS_MAX: Final = 300
PAYLOAD_BYTES_MAX: Final = 96
