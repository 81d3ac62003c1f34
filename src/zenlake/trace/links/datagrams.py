"""Datagrams: recognises Zenoh in UDP traffic, and assigns it to links.

Scouting (wire reference §3), multicast groups with a JOIN (§8) and unicast links are recognised
by content. QUIC is recognised by its first packets and reported as encrypted.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from zenlake.capture.packet import Skipped
from zenlake.capture.transport import UdpDatagram
from zenlake.errors import WireError
from zenlake.limits import TRACE_SCOUTS_MAX, TRACE_UDP_LINKS_MAX
from zenlake.trace.link import Link, LinkBatch, LinkClosed
from zenlake.trace.links.connection import LinkItem
from zenlake.trace.links.datagram_link import DatagramBudget, DatagramLink
from zenlake.trace.links.recognition import is_init
from zenlake.trace.links.units import COMPRESSED, PLAIN, read_content
from zenlake.wire import Hello, Init, Join, Scout, decode_scouting
from zenlake.wire.headers import HELLO_ID, ID_BITS, SCOUT_ID
from zenlake.wire.message import ScoutingMessage

SCOUTING_PORT: Final = 7446
_QUIC_VERSIONS: Final = (b"\x00\x00\x00\x01", b"\x6b\x33\x43\xcf", b"\x00\x00\x00\x00")
_QUIC_BYTES_MIN: Final = 21


class Datagrams:
    """Feed it UDP datagrams in the order of the capture, then call `finish`."""

    __slots__ = (
        "_budget",
        "_links",
        "_links_max",
        "_out",
        "_ports",
        "_scouting",
        "_scouts",
        "_skipped",
    )

    def __init__(self, out: list[LinkItem], skipped: Skipped, ports: frozenset[int]) -> None:
        self._out = out
        self._skipped = skipped
        self._ports = ports
        self._budget = DatagramBudget()
        self._links_max = TRACE_UDP_LINKS_MAX
        self._links: OrderedDict[str, DatagramLink] = OrderedDict()
        """The links by the text of their ends in direction 0, the least recently used first."""
        self._scouting: OrderedDict[str, Link] = OrderedDict()
        self._scouts: OrderedDict[str, None] = OrderedDict()
        """Addresses that sent SCOUT and may receive HELLO."""

    def feed(self, datagram: UdpDatagram) -> None:
        ends = datagram.ends
        is_group = is_multicast(ends.destination)
        direction = 0
        known = self._links.get(ends.text)
        key = ends.text
        if known is None and not is_group:
            key = f"{ends.destination}-{ends.source}"
            known = self._links.get(key)
            if known is not None:
                direction = 1
        is_new = known is None or not known.is_zenoh
        if is_new and datagram.payload and self._scouted(datagram, is_group):
            return
        if known is None:
            known = self._add(datagram, "multicast" if is_group else "udp")
        else:
            self._links.move_to_end(key)
        known.last_ns, known.packet = datagram.time_ns, datagram.number
        if known.is_repeated(direction, datagram):
            self._skipped.add("UDP datagram seen before", len(datagram.payload))
        elif is_group:
            self._group(known, datagram)
        else:
            self._unicast(known, direction, datagram)

    def finish(self) -> None:
        """Reports all links at the end of the capture."""
        while self._links:
            self._close(self._links.popitem(last=False)[1], "end")

    def _unicast(self, known: DatagramLink, direction: int, datagram: UdpDatagram) -> None:
        payload = datagram.payload
        init = _init(datagram)
        if init is not None and init.cookie is None:
            if not known.is_zenoh:
                known.offer(direction, datagram)
                return
            if known.link.session is not None:
                self._out.append(
                    LinkClosed(known.link, datagram.number, datagram.time_ns, "reused")
                )
                known.start(direction)
        elif not known.is_zenoh and (init is not None or _is_close(payload)):
            known.accept(direction)
        if known.is_zenoh:
            known.read(direction, datagram)
        elif _is_quic(payload):
            known.reject("encrypted", "QUIC")
            known.rejected_bytes += len(payload)
        else:
            known.consider(direction, datagram)

    def _group(self, known: DatagramLink, datagram: UdpDatagram) -> None:
        if not known.is_zenoh and not datagram.missing and _is_join(datagram.payload):
            known.start(0)
            known.use_form(COMPRESSED if datagram.payload[0] <= 1 else PLAIN)
        if known.is_zenoh:
            known.read(0, datagram)
        else:
            known.consider(0, datagram)

    def _add(self, datagram: UdpDatagram, protocol: str) -> DatagramLink:
        known = DatagramLink(datagram, protocol, self._out, self._budget)
        if self._ports and not self._ports.intersection(ports_of(datagram)):
            known.reject("not_zenoh", "not on the requested ports")
        self._links[datagram.ends.text] = known
        if len(self._links) > self._links_max:
            self._close(self._links.popitem(last=False)[1], "idle")
        return known

    def _close(self, known: DatagramLink, cause: str) -> None:
        known.finish()
        if known.is_zenoh:
            self._out.append(LinkClosed(known.link, known.packet, known.last_ns, cause))

    # --- scouting ------------------------------------------------------------------------

    def _scouted(self, datagram: UdpDatagram, is_group: bool) -> bool:
        """Reads SCOUT and HELLO if they are plausible: their first bytes alone prove little."""
        message = _scouting_message(datagram)
        if message is None:
            return False
        ports = ports_of(datagram)
        if self._ports and not self._ports.intersection((*ports, SCOUTING_PORT)):
            return False
        ends = datagram.ends
        expected = SCOUTING_PORT in ports or is_group
        if isinstance(message, Scout):
            has_proof = SCOUTING_PORT in ports or message.zid is not None
            if not expected or not has_proof:
                # Three bytes to the group of another protocol may have any meaning.
                return False
            self._scouts[ends.source] = None
            if len(self._scouts) > TRACE_SCOUTS_MAX:
                self._scouts.popitem(last=False)
        elif isinstance(message, Hello) and not (
            expected or ends.destination in self._scouts or message.locators
        ):
            return False
        link = self._scouting.get(ends.text)
        if link is None:
            link = Link(f"{ends.text}#1", "scouting", ends.source, ends.destination, True)
            self._scouting[ends.text] = link
            if len(self._scouting) > TRACE_SCOUTS_MAX:
                self._scouting.popitem(last=False)
        self._out.append(
            LinkBatch(
                link,
                0,
                datagram.number,
                datagram.time_ns,
                datagram.payload,
                [message],
                "ok",
                None,
                0,
            )
        )
        return True


def _scouting_message(datagram: UdpDatagram) -> ScoutingMessage | None:
    payload = datagram.payload
    if (
        len(payload) < 3
        or payload[0] & ID_BITS not in (SCOUT_ID, HELLO_ID)
        or payload[1] not in (8, 9)
    ):
        return None
    if datagram.missing:
        return None
    try:
        message, end = decode_scouting(payload, 0)
    except WireError:
        return None
    return message if end == len(payload) else None


def _init(datagram: UdpDatagram) -> Init | None:
    payload = datagram.payload
    if datagram.missing or not payload or not is_init(payload):
        return None
    message = read_content(PLAIN, payload).messages[0]
    return message if isinstance(message, Init) else None


def _is_close(payload: bytes) -> bool:
    return len(payload) == 2 and payload[0] in (0x03, 0x23)


def _is_join(payload: bytes) -> bool:
    """Whether a unit begins with a JOIN and can be decoded to its end."""
    for form in (PLAIN, COMPRESSED):
        read = read_content(form, payload)
        if read.error is None and read.messages:
            first = read.messages[0]
            # Nodes leave reserved bits 0; noise rarely does.
            return (
                isinstance(first, Join)
                and first.version in (8, 9)
                and (form != PLAIN or payload.startswith(bytes(first)))
            )
    return False


def _is_quic(payload: bytes) -> bool:
    """Whether it has a long header of a known version (RFC 9000, section 17.2)."""
    return (
        len(payload) >= _QUIC_BYTES_MIN
        and payload[0] & 0x80 != 0
        and payload[1:5] in _QUIC_VERSIONS
        and (payload[0] & 0x40 != 0 or payload[1:5] == b"\x00\x00\x00\x00")
        and payload[5] <= 20
    )


def is_multicast(address: str) -> bool:
    """Whether `A:p` or `[A]:p` is a group of IPv4 or IPv6."""
    if address.startswith("["):
        return address.startswith("[ff")
    first = address.partition(".")[0]
    return first.isdecimal() and 224 <= int(first) <= 239


def ports_of(datagram: UdpDatagram) -> tuple[int, int]:
    ends = datagram.ends
    return port_of(ends.source), port_of(ends.destination)


def port_of(address: str) -> int:
    return int(address.rpartition(":")[2])
