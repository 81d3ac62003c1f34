"""Reassembly of fragments of regular connections, which are complete and in order."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from zenlake.lake.fast_reader.assemble.units import Units
from zenlake.wire import Fragment
from zenlake.wire.batch import decode_batch
from zenlake.wire.defaults import DEFAULT_PRIORITY
from zenlake.wire.headers import FRAGMENT_ID, ID_BITS


class Whole(NamedTuple):
    """A network message that the last fragment, in unit `place`, completed."""

    place: int
    data: bytes
    fragments: int
    last: Fragment

    def channel(self, name: str) -> Any:
        if name == "priority":
            return DEFAULT_PRIORITY if self.last.qos is None else int(self.last.qos)
        return getattr(self.last, name)


class Reassembly:
    """Fragments of incomplete messages, by direction and channel."""

    __slots__ = ("_waiting",)

    def __init__(self) -> None:
        self._waiting: dict[tuple[int, int, int, bool], list[bytes]] = {}

    def feed(self, units: Units) -> list[Whole]:
        headers = units.data[units.bounds[:-1]] & ID_BITS
        found: list[Whole] = []
        for unit in np.flatnonzero(headers == FRAGMENT_ID).tolist():
            fragment = decode_batch(units.content(unit)).messages[-1]
            assert isinstance(fragment, Fragment)
            place = (int(units.pair[unit]), int(units.direction[unit]))
            channel = (-1 if fragment.qos is None else int(fragment.qos), fragment.reliable)
            pieces = self._waiting.setdefault(place + channel, [])
            pieces.append(fragment.payload)
            if not fragment.more:
                del self._waiting[place + channel]
                found.append(Whole(unit, b"".join(pieces), len(pieces), fragment))
        return found
