"""StateTracker: the state that a reader needs to begin in the middle of a recording.

Feed it all links, batch by batch or packet by packet. At any time, `packets` returns packets that
bring a new reader to the same state: the handshake of each open link, its aliases, live
declarations, open interests and requests, unfinished messages, and the last sequence number of
each lane. They have the original times, and end at the sequence number of the next byte, so that
the following packets continue them.
"""

from __future__ import annotations

from collections import OrderedDict
from operator import itemgetter
from typing import Final, NamedTuple

from zenlake.capture.segment_format import FIRST, PLAIN
from zenlake.capture.transport import ACK, FIN, RST, SYN, UDP
from zenlake.limits import (
    RECORDING_ADDRESS_PAIRS_MAX,
    RECORDING_ADDRESS_USES_MAX,
    RECORDING_DATAGRAM_LINKS_MAX,
    RECORDING_TRACKED_BYTES_MAX,
)
from zenlake.recording.link_packets import LinkPackets
from zenlake.recording.link_state import state_units
from zenlake.recording.packet_headers import End, Parsed, ends_of_pair, pair_of_ends, parse
from zenlake.recording.tracked_items import Budget
from zenlake.recording.tracked_link import TrackedLink
from zenlake.wire import Init, decode_batch
from zenlake.wire.headers import ID_BITS, INIT_ID

_MASK: Final = 0xFFFF_FFFF


class StatePacket(NamedTuple):
    """One packet of the state: the time, flags and bytes of its block."""

    time_ns: int
    flags: int
    data: bytes


class _LinkCount:
    """The number of stream links so far between two addresses."""

    __slots__ = ("count", "ends", "order", "time_ns")

    def __init__(self, ends: tuple[End, End]) -> None:
        self.ends = ends
        self.count = 0
        self.order = 0
        self.time_ns = 0


class _Followed:
    """A link that is fed packet by packet, with its unfinished batches."""

    __slots__ = ("link", "needed", "parts")

    def __init__(self, link: TrackedLink) -> None:
        self.link = link
        self.parts: list[list[bytes]] = [[], []]
        self.needed = [0, 0]


class StateTracker:
    """The state of all links of a recording."""

    def __init__(self, bytes_max: int = RECORDING_TRACKED_BYTES_MAX) -> None:
        self._budget = Budget(bytes_max)
        self._links: dict[int, TrackedLink] = {}
        self._link_counts: OrderedDict[bytes, _LinkCount] = OrderedDict()
        """By address pair (the smaller of both orders), the least recently used first."""
        self._order = 0
        self._numbers = 0
        self._followed: dict[bytes, tuple[_Followed, int]] = {}
        """The link and the direction, by `Parsed.pair`."""

    @property
    def forgotten(self) -> int:
        """How many messages are missing in the state because its limit was reached."""
        return self._budget.forgotten

    @property
    def links(self) -> list[TrackedLink]:
        """The open links, in the order in which they opened."""
        return list(self._links.values())

    # --- by link -------------------------------------------------------------------------

    def open(
        self,
        ends: tuple[End, End],
        is_stream: bool,
        time_ns: int,
        next_seq: tuple[int, int] = (0, 0),
        is_group: bool = False,
    ) -> TrackedLink:
        """A link opens; `ends[0]` opened it. The bytes of each direction begin at `next_seq`."""
        self._order += 1
        self._numbers += 1
        link = TrackedLink(
            self._numbers,
            ends,
            is_stream,
            is_group,
            self._count_link(ends, time_ns) if is_stream else 1,
            self._order,
            time_ns,
            self._budget,
        )
        link.next_seq = [next_seq[0], next_seq[1]]
        self._links[link.number] = link
        return link

    def batch(
        self, link: TrackedLink, direction: int, data: bytes, flags: int, time_ns: int
    ) -> None:
        """A batch without its length prefix, as it crossed the link."""
        self._order += 1
        if flags & PLAIN:
            link.plain_batch(direction, data, self._order, time_ns)
        else:
            was_open = link.is_open
            link.batch(direction, data, self._order, time_ns)
            self._order = link.count
            if link.is_open and not was_open and self._budget.has_topologies:
                self._note_session(link, False)
            if link.is_group and link.is_over:
                self.close(link, time_ns)

    def close(self, link: TrackedLink, time_ns: int) -> None:
        if self._links.pop(link.number, None) is not None:
            link.forget()
            if self._budget.has_topologies and link.is_open:
                self._note_session(link, True)
            self._order += 1
            if link.is_stream:
                counted = self._links_between(link.ends)
                counted.order, counted.time_ns = self._order, time_ns

    def _note_session(self, link: TrackedLink, is_over: bool) -> None:
        """Remove the link between two nodes from link states when their session ends.

        Nodes need not announce this: readers conclude it from the end of the session.
        """
        one, other = link.zids
        if one is None or other is None:
            return
        nodes = {one, other}
        for same in self._links.values():
            if is_over and set(same.zids) == nodes and same.is_open and not same.is_over:
                return  # they have another session
        for remaining in self._links.values():
            for side in remaining.sides:
                if side.topology is not None and is_over:
                    side.topology.unlink(one, other)
                elif side.topology is not None:
                    side.topology.relink(one, other)

    def end_all(self, time_ns: int) -> list[bytes]:
        """Close the links that were open when a recorder ended; returns RST packets for them."""
        found: list[bytes] = []
        for link in self.links:
            packets = LinkPackets(link.ends, link.is_stream, link.next_seq)
            found += packets.reset()
            self.close(link, time_ns)
        self._followed.clear()
        return found

    def _count_link(self, ends: tuple[End, End], time_ns: int) -> int:
        counted = self._links_between(ends)
        counted.count += 1
        counted.order, counted.time_ns, counted.ends = self._order, time_ns, ends
        return counted.count

    def _links_between(self, ends: tuple[End, End]) -> _LinkCount:
        pair = min(_pairs_of(ends))
        counted = self._link_counts.get(pair)
        if counted is None:
            counted = self._link_counts[pair] = _LinkCount(ends)
            if len(self._link_counts) > RECORDING_ADDRESS_PAIRS_MAX:
                self._link_counts.popitem(last=False)
        else:
            self._link_counts.move_to_end(pair)
        return counted

    # --- by packet -----------------------------------------------------------------------

    def feed_packet(self, time_ns: int, data: bytes, flags: int) -> None:
        """Apply a packet of the interface WIRE, or of STATE where reading begins."""
        headers = parse(data)
        if headers is None:
            return
        if headers.protocol == UDP:
            if flags & FIRST:
                self._feed_datagram(time_ns, data[headers.start :], flags, headers.pair)
            return
        if headers.flags & (SYN | RST | FIN):
            self._feed_control(time_ns, headers)
            return
        entry = self._followed.get(headers.pair)
        if entry is None or len(data) == headers.start:
            return
        followed, direction = entry
        link = followed.link
        if headers.seq != link.next_seq[direction]:
            link.lose(direction)
            followed.parts[direction] = []
        link.next_seq[direction] = (headers.seq + len(data) - headers.start) & _MASK
        if flags & FIRST:
            followed.parts[direction] = []
            prefix = link.prefix_bytes(direction)
            content = data[headers.start + prefix :]
            if flags & PLAIN:
                # A long batch continues in the next packet; this one has its sequence number.
                self.batch(link, direction, content, flags, time_ns)
                return
            stop = headers.start + prefix
            size = int.from_bytes(data[headers.start : stop], "little")
            if len(content) >= size:
                self.batch(link, direction, content, flags, time_ns)
                return
            followed.parts[direction] = [content]
            followed.needed[direction] = size - len(content)
        elif followed.parts[direction]:
            content = data[headers.start :]
            followed.parts[direction].append(content)
            followed.needed[direction] -= len(content)
            if followed.needed[direction] <= 0:
                whole = b"".join(followed.parts[direction])
                followed.parts[direction] = []
                self.batch(link, direction, whole, flags, time_ns)

    def _feed_control(self, time_ns: int, headers: Parsed) -> None:
        pair, flags = headers.pair, headers.flags
        entry = self._followed.get(pair)
        if flags & SYN and not flags & ACK:
            if entry is not None:
                self._end_followed(entry[0], time_ns)
            ends = ends_of_pair(pair)
            start = (headers.seq + 1) & _MASK
            self._follow(self.open(ends, True, time_ns, (start, start)))
        elif entry is None:
            return
        elif flags & SYN:
            entry[0].link.next_seq[entry[1]] = (headers.seq + 1) & _MASK
        elif flags & RST:
            self._end_followed(entry[0], time_ns)
        else:
            self._order += 1
            link, direction = entry[0].link, entry[1]
            link.fins.append((self._order, time_ns, direction))
            link.next_seq[direction] = headers.seq
            if len({one[2] for one in link.fins}) == 2:
                self._end_followed(entry[0], time_ns)

    def _follow(self, link: TrackedLink) -> _Followed:
        followed = _Followed(link)
        pair, reverse = _pairs_of(link.ends)
        self._followed[pair] = (followed, 0)
        if not link.is_group:
            self._followed[reverse] = (followed, 1)
        return followed

    def _end_followed(self, followed: _Followed, time_ns: int) -> None:
        link = followed.link
        for pair in _pairs_of(link.ends):
            entry = self._followed.get(pair)
            if entry is not None and entry[0] is followed:
                del self._followed[pair]
        self.close(link, time_ns)

    def _feed_datagram(self, time_ns: int, content: bytes, flags: int, pair: bytes) -> None:
        entry = self._followed.get(pair)
        if entry is not None and _begins_another(entry[0].link, content):
            self._end_followed(entry[0], time_ns)
            entry = None
        if entry is None:
            datagram_links = [one for one in self._links.values() if not one.is_stream]
            if len(datagram_links) >= RECORDING_DATAGRAM_LINKS_MAX:
                oldest = self._followed.get(pair_of_ends(*datagram_links[0].ends))
                if oldest is not None:
                    self._end_followed(oldest[0], time_ns)
            ends = ends_of_pair(pair)
            link = self.open(ends, False, time_ns, is_group=_is_group(ends[1]))
            entry = (self._follow(link), 0)
        followed, direction = entry
        self.batch(followed.link, direction, content, flags, time_ns)
        if followed.link.is_group and followed.link.is_over:
            self._end_followed(followed, time_ns)

    # --- the state -----------------------------------------------------------------------

    def packets(self) -> list[StatePacket]:
        """The packets that bring a new reader to this state."""
        found: list[tuple[int, int, int, bytes]] = []
        open_uses: set[bytes] = set()
        for link in self._links.values():
            if link.is_stream:
                open_uses.add(min(_pairs_of(link.ends)))
            _link_packets(link, found)
        for pair, counted in self._link_counts.items():
            if pair not in open_uses:
                count = min(counted.count, RECORDING_ADDRESS_USES_MAX)
                earlier = LinkPackets(counted.ends, True, [1 << 20, 1 << 20])
                for one in earlier.earlier_uses(count):
                    found.append((counted.order, counted.time_ns, 0, one))
        found.sort(key=itemgetter(0))
        return [StatePacket(time_ns, flags, data) for _, time_ns, flags, data in found]


def _link_packets(link: TrackedLink, found: list[tuple[int, int, int, bytes]]) -> None:
    """Appends the state of one link: order, time, flags and bytes of each packet."""
    units = state_units(link)
    sizes = [0, 0]
    for unit in units:
        sizes[unit.direction] += len(unit.data)
    firsts = [link.next_seq[direction] - sizes[direction] for direction in (0, 1)]
    packets = LinkPackets(link.ends, link.is_stream, firsts)
    earlier = min(link.use - 1, RECORDING_ADDRESS_USES_MAX)
    for one in packets.earlier_uses(earlier) + packets.opening():
        found.append((link.order, link.opened_ns, 0, one))
    for unit in units:
        flags = FIRST
        for one in packets.data(unit.direction, unit.data):
            found.append((unit.order, unit.time_ns, flags, one))
            flags = 0
    for order, time_ns, direction in link.fins:
        found.append((order, time_ns, 0, packets.closing()[direction]))


def _pairs_of(ends: tuple[End, End]) -> tuple[bytes, bytes]:
    """`Parsed.pair` of both directions between two ends."""
    return pair_of_ends(*ends), pair_of_ends(ends[1], ends[0])


def _begins_another(link: TrackedLink, content: bytes) -> bool:
    """Whether a datagram is the InitSyn of another session between the same ends."""
    if not link.is_open or link.is_group or not content or content[0] & ID_BITS != INIT_ID:
        return False
    messages = decode_batch(content).messages
    return bool(messages) and isinstance(messages[0], Init) and messages[0].cookie is None


def _is_group(end: End) -> bool:
    first = end.address[0]
    return first == 0xFF if len(end.address) == 16 else 224 <= first < 240
