"""Bytes and what they mean: the vectors of the wire reference §12, and some of our own.

The expected messages are written with constructors, so they owe nothing to a decoder. Numbers
are those of the reference; names that begin with a letter are ours, derived from its rules for
what no recorded vector shows. Origin W is recorded from deployed nodes, D derived by hand.
"""

from __future__ import annotations

from tests.vectors import (
    data,
    declarations,
    derived_network,
    derived_transport,
    frames,
    handshake,
    negative,
    primitives,
    queries,
    scouting,
    units,
)
from tests.vectors.vector import Vector

ALL: tuple[Vector, ...] = (
    *scouting.VECTORS,
    *handshake.VECTORS,
    *frames.VECTORS,
    *declarations.VECTORS,
    *data.VECTORS,
    *queries.VECTORS,
    *derived_transport.VECTORS,
    *derived_network.VECTORS,
)

LINK_STATES = frames.LINK_STATES + data.LINK_STATES + derived_network.LINK_STATES
UNITS = units.UNITS
NEGATIVE = negative.NEGATIVE
ZINTS = primitives.ZINTS
ENCODINGS = primitives.ENCODINGS
TIMESTAMPS = primitives.TIMESTAMPS

__all__ = ["ALL", "ENCODINGS", "LINK_STATES", "NEGATIVE", "TIMESTAMPS", "UNITS", "ZINTS", "Vector"]
