"""Decoded: the messages of many units as rows, each with its place in the capture."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from zenlake import columnar
from zenlake.columnar.columns import Columns
from zenlake.lake.fast_reader.assemble.batches import decodable
from zenlake.lake.fast_reader.assemble.units import Units
from zenlake.lake.fast_reader.columns.reassembly import Whole
from zenlake.trace.rows.seq import ORDINAL_BITS

CODES: Final = {kind: code for code, kind in enumerate(columnar.kinds())}
HANDSHAKES: Final = ("INIT_SYN", "INIT_ACK", "OPEN_SYN", "OPEN_ACK", "CLOSE")
TRANSPORT: Final = ("FRAME", "FRAGMENT", "KEEP_ALIVE", *HANDSHAKES)

Rows = NDArray[np.int64]
"""Some of many rows."""
ALL: Final = slice(None)
"""All of them, without a copy."""


def codes_of(*kinds: str) -> NDArray[np.uint8]:
    return np.array([CODES[kind] for kind in kinds], np.uint8)


class Decoded:
    """Columns of rows: `packet`, `time_ns`, `seq`, `pair`, `direction`, and decoded fields.

    `whole` are reassembled messages. Each becomes a unit after that of its last fragment, from
    which it has its place, sequence number and channel.
    """

    def __init__(self, units: Units, whole: list[Whole]) -> None:
        self.units = _with_whole(units, whole)
        data, bounds = self.units.data, self.units.bounds
        self.columns: Columns = columnar.decode(data, bounds, decodable(self.units.form))
        self.is_batch: NDArray[np.bool_] = self.units.form != columnar.NETWORK
        """For each unit whether it is a batch, and not a reassembled message."""
        self.unit: NDArray[np.int64] = self.columns["unit"].astype(np.int64)
        self.kind: NDArray[np.uint8] = self.columns["kind"]
        self._carriers = [one._replace(place=one.place + n + 1) for n, one in enumerate(whole)]
        """Reassembled messages with their places among all units."""
        self.fragments = {self._first_row(one.place): one.fragments for one in self._carriers}
        self._are_kind: dict[tuple[str, ...], NDArray[np.bool_]] = {}
        self._have: dict[str, NDArray[np.bool_]] = {}
        self._channels: dict[str, tuple[NDArray[Any], NDArray[np.bool_]]] = {}

    def __len__(self) -> int:
        return len(self.columns)

    def _first_row(self, unit: int) -> int:
        return int(np.searchsorted(self.unit, unit))

    # --- place -------------------------------------------------------------------------------

    @cached_property
    def pair(self) -> NDArray[np.int32]:
        return self.units.pair[self.unit]

    @cached_property
    def direction(self) -> NDArray[np.uint8]:
        return self.units.direction[self.unit]

    @cached_property
    def owner(self) -> NDArray[np.int64]:
        """The number of one direction of one connection."""
        return self.pair.astype(np.int64) * 2 + self.direction

    @cached_property
    def packet(self) -> NDArray[np.int64]:
        return self.units.packet[self.unit]

    @cached_property
    def time_ns(self) -> NDArray[np.int64]:
        return self.units.time_ns[self.unit]

    @cached_property
    def unit_seq(self) -> NDArray[np.int64]:
        """`seq` of batches. A packet counts a batch, then its messages, then the next batch."""
        weights = np.bincount(self.unit, minlength=len(self.units)) + self.is_batch
        before = np.cumsum(weights) - weights
        packet = self.units.packet
        is_first = np.concatenate(([True], packet[1:] != packet[:-1]))
        first = np.maximum.accumulate(np.where(is_first, np.arange(len(packet)), 0))
        seq: NDArray[np.int64] = (packet << ORDINAL_BITS) + before - before[first]
        return seq

    @cached_property
    def seq(self) -> NDArray[np.int64]:
        starts = np.searchsorted(self.unit, np.arange(len(self.units)))
        within = np.arange(len(self)) - starts[self.unit]
        first = self.unit_seq + self.is_batch
        seq: NDArray[np.int64] = first[self.unit] + within
        return seq

    # --- values ------------------------------------------------------------------------------

    # These are called often, so results are cached, and read-only.

    def is_kind(self, *kinds: str) -> NDArray[np.bool_]:
        found = self._are_kind.get(kinds)
        if found is None:
            table = np.zeros(256, np.bool_)
            table[codes_of(*kinds)] = True
            found = self._are_kind[kinds] = read_only(table[self.kind])
        return found

    def present(self, field: str) -> NDArray[np.bool_]:
        found = self._have.get(field)
        if found is None:
            found = self._have[field] = read_only(self.columns.present(field))
        return found

    def channel(self, name: str) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """`sn`, `reliable` or `priority` of the FRAME or FRAGMENT, and which rows have it."""
        found = self._channels.get(name)
        if found is None:
            values, present = self.columns[name].astype(np.int64), self.present(name).copy()
            for one in self._carriers:
                row = self._first_row(one.place)
                values[row], present[row] = one.channel(name), True
            found = self._channels[name] = read_only(values), read_only(present)
        return found

    def numbers(self, name: str, rows: Rows | slice = ALL) -> pa.Array:
        """A column as BIGINT, null where the field is absent."""
        return numbers(self.columns[name][rows], self.present(name)[rows])


def read_only(values: NDArray[Any]) -> NDArray[Any]:
    values.flags.writeable = False
    return values


def numbers(values: NDArray[Any], present: NDArray[np.bool_]) -> pa.Array:
    data = pa.py_buffer(values.astype(np.int64))
    validity = None if present.all() else pa.py_buffer(np.packbits(present, bitorder="little"))
    return pa.Array.from_buffers(pa.int64(), len(values), [validity, data])


def _with_whole(units: Units, whole: list[Whole]) -> Units:
    """The units, with reassembled messages inserted after their last fragments."""
    if not whole:
        return units
    places = np.array([one.place + 1 for one in whole])
    parts: list[Any] = []
    last = 0
    for one in whole:
        end = int(units.bounds[one.place + 1])
        parts += [units.data[last:end], np.frombuffer(one.data, np.uint8)]
        last = end
    parts.append(units.data[last : int(units.bounds[-1])])
    sizes = np.insert(np.diff(units.bounds), places, [len(one.data) for one in whole])
    form = np.insert(units.form, places, columnar.NETWORK)
    of_last: list[Any] = [np.insert(one, places, one[places - 1]) for one in units[3:]]
    bounds = np.concatenate(([0], np.cumsum(sizes)))
    return Units(np.concatenate(parts), bounds, form, *of_last)
