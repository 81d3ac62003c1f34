"""Rows back to the exact reader's messages, for the few that rules are evaluated on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zenlake import columnar
from zenlake.lake.fast_reader.columns.decoded import Decoded
from zenlake.lake.fast_reader.columns.keys import KeyColumn
from zenlake.lake.fast_reader.screening.rule_selection import FIRST_NETWORK, KINDS
from zenlake.rules.rare import RareMessages, set_carriers, set_keys
from zenlake.trace.events import Carrier, MessageSeen
from zenlake.trace.link import Link, LinkBatch
from zenlake.wire import Fragment, Frame, decode_network
from zenlake.wire.batch import decode_batch, decode_low_latency
from zenlake.wire.defaults import DEFAULT_PRIORITY
from zenlake.wire.message import Message


class Messages:
    """Makes events and batches of rows and units."""

    def __init__(self, links: dict[int, Link]) -> None:
        self._links = links
        self._rare = RareMessages(links)

    # --- one ---------------------------------------------------------------------------------

    def batch(self, rows: Decoded, unit: int) -> LinkBatch:
        units = rows.units
        content = units.content(unit)
        is_low = int(units.form[unit]) == columnar.LOW_LATENCY
        decode = decode_low_latency if is_low else decode_batch
        messages: list[Message] = list(decode(content).messages)
        link, direction = self._links[int(units.pair[unit])], int(units.direction[unit])
        packet, time_ns = int(units.packet[unit]), int(units.time_ns[unit])
        return LinkBatch(link, direction, packet, time_ns, content, messages, "ok", None, 0)

    def event(self, rows: Decoded, keys: KeyColumn, row: int) -> MessageSeen:
        code = int(rows.kind[row])
        if code >= FIRST_NETWORK:
            columns, start = rows.columns, int(rows.columns["offset"][row])
            content = columns.data[start : start + int(columns["length"][row])].tobytes()
            event = self.bare_event(rows, row, decode_network(content, 0)[0])
            set_carriers([event], lanes(rows, np.array([row])))
            event.key = keys.text(row)
            return event
        unit = int(rows.unit[row])
        first = int(np.searchsorted(rows.unit, unit))
        before = int((rows.kind[first:row] < FIRST_NETWORK).sum())
        message = self.batch(rows, unit).messages[before]
        event = self.bare_event(rows, row, message)
        if isinstance(message, (Frame, Fragment)):
            event.carrier = Carrier(message)
        return event

    def bare_event(self, rows: Decoded, row: int, message: Message) -> MessageSeen:
        """Without key and carrier."""
        link, direction = self._links[int(rows.pair[row])], int(rows.direction[row])
        session = link.session
        assert session is not None, f"{link} is regular, so its handshake was read"
        sender, kind = session.nodes[link.sides[direction]], KINDS[int(rows.kind[row])]
        packet, time_ns = int(rows.packet[row]), int(rows.time_ns[row])
        return MessageSeen(0, packet, time_ns, link, direction, session, sender, kind, message)

    # --- many --------------------------------------------------------------------------------

    def events(
        self, rows: Decoded, keys: KeyColumn, chosen: NDArray[np.int64]
    ) -> tuple[list[MessageSeen], list[int]]:
        """Network messages with their keys, and the places of noncanonical ones."""
        columns, unit = rows.columns, rows.unit[chosen]
        view = columns.data.data
        starts = columns["offset"][chosen].astype(np.int64)
        stops = starts + columns["length"][chosen]
        bounds = zip(starts.tolist(), stops.tolist(), strict=True)
        contents = [bytes(view[start:stop]) for start, stop in bounds]
        units = rows.units
        of_units = (units.pair, units.direction, units.packet, units.time_ns)
        places: tuple[list[int], ...] = tuple(one[unit].tolist() for one in of_units)
        pairs, directions, packets, times_ns = places
        noncanonical: list[int] = []
        found = self._rare.events(contents, pairs, directions, packets, times_ns, noncanonical)
        set_keys(found, keys.codes[chosen].tolist(), keys.texts)
        return found, noncanonical


def lanes(rows: Decoded, chosen: NDArray[np.int64]) -> list[tuple[int, int, bool] | None]:
    """Sequence number, priority and reliability of each row's FRAME; None on low latency."""
    columns = (*rows.channel("sn"), *rows.channel("priority"), rows.channel("reliable")[0])
    found: list[tuple[int, int, bool] | None] = []
    for sn, has_sn, priority, has_priority, reliable in zip(
        *(column[chosen].tolist() for column in columns), strict=True
    ):
        own = priority & 7 if has_priority else DEFAULT_PRIORITY
        found.append((sn, own, bool(reliable)) if has_sn else None)
    return found
