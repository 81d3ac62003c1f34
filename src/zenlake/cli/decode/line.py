"""`LineFormat`: an event of a trace as one line.

Columns: time, packet, sender and receiver, kind (indented within a FRAME), then the fields of
that kind. Widths only grow, so that columns stay aligned as far as possible.
"""

from __future__ import annotations

from typing import Any, Final

from zenlake.cli.decode.detail import detail_of
from zenlake.cli.decode.text import ZID_DIGITS, lease_text, ms_text
from zenlake.cli.output import RESET, count_text, safe, style_code
from zenlake.trace.events import MessageSeen, Missing, SessionChanged, TraceEvent, Undecoded
from zenlake.trace.link import Link
from zenlake.trace.message_attributes import time_text
from zenlake.trace.session import Node, Session
from zenlake.wire import Frame

TIMES: Final = ("relative", "absolute", "delta")
_NS_PER_S: Final = 1_000_000_000
_NAMES_KEPT_MAX: Final = 65_536
# Styles of kinds by their first letters; FRAME is dim because its messages follow.
_STYLES: Final = (
    ("FRA", "dim"),
    ("KEEP", "dim"),
    ("PUSH", "data"),
    ("RE", "query"),
    ("DECLARE", "declare"),
    ("INTEREST", "declare"),
    ("CLOSE", "error"),
    ("", "handshake"),
)


class LineFormat:
    """Formats lines; keeps names, widths and the last time."""

    def __init__(self, first_ns: int, time: str = "relative", colour: bool = False) -> None:
        self._time = time
        self._first_ns = first_ns
        self._last_ns = first_ns
        self._second = -1
        self._second_text = ""
        self._colour = colour
        self._dim = style_code("dim") if colour else ""
        self._notice = style_code("notice") if colour else ""
        self._reset = RESET if colour else ""
        self._who_width = 27
        self._who: dict[tuple[Link, int], tuple[str | None, str | None, str]] = {}
        self._kinds: dict[str, tuple[str, str]] = {}
        self._short_zids: dict[str, str] = {}
        self._zids: dict[str, str] = {}

    def line(self, event: TraceEvent, note: str = "") -> str:
        """`note` is put at the end of the line."""
        if isinstance(event, MessageSeen):
            text = self._message(event)
        elif isinstance(event, SessionChanged):
            text = self._session(event)
        elif isinstance(event, Missing):
            text = self._missing(event)
        else:
            assert isinstance(event, Undecoded)
            text = self._undecoded(event)
        return f"{text}  {note}" if note else text

    def _message(self, event: MessageSeen) -> str:
        kinds = self._kinds.get(event.kind)
        if kinds is None:
            kinds = self._kinds[event.kind] = self._kind_columns(event.kind)
        kind = kinds[0] if event.carrier is None else kinds[1]
        who = self._who_to_whom(event)
        detail = detail_of(event)
        message: Any = event.message
        if event.fragments or event.ignored is not None or message.extensions:
            detail += self._remarks(event)
        head = f"{self._dim}{self._time_column(event.time_ns)} {event.packet:>6}{self._reset}"
        if self._dim and isinstance(message, Frame):
            return f"{head}  {who}  {kind}{self._dim}{detail}{self._reset}"
        return f"{head}  {who}  {kind}{detail}".rstrip()

    def _remarks(self, event: MessageSeen) -> str:
        text = f"  in {count_text(event.fragments, 'fragment')}" if event.fragments else ""
        message: Any = event.message
        if message.extensions:
            headers = ", ".join(hex(extension.header) for extension in message.extensions)
            text += f"  unknown extensions {headers}"
        if event.ignored is not None:
            text += f"  {self._notice}ignored: {safe(event.ignored)}{self._reset}"
        return text

    def _kind_columns(self, kind: str) -> tuple[str, str]:
        """The column of a kind outside and inside a FRAME."""
        style = next(style for first, style in _STYLES if kind.startswith(first))
        code = style_code(style) if self._colour else ""
        alone = f"{kind:<22}"
        inside = alone if kind.startswith("FRA") else f"  {kind:<20}"
        return f"{code}{alone}{self._reset} ", f"{code}{inside}{self._reset} "

    def _time_column(self, time_ns: int) -> str:
        if self._time == "absolute":
            second, fraction = divmod(time_ns, _NS_PER_S)
            if second != self._second:
                self._second = second
                self._second_text = time_text(second * _NS_PER_S)[:19].replace("T", " ")
            return f"{self._second_text}.{fraction // 1000:06}"
        since = self._last_ns if self._time == "delta" else self._first_ns
        self._last_ns = time_ns
        return f"{(time_ns - since) / _NS_PER_S:11.6f}"

    def _who_to_whom(self, event: MessageSeen) -> str:
        place = (event.link, event.direction)
        sender, receiver = event.sender_zid, event.receiver_zid
        known = self._who.get(place)
        if known is not None and known[0] == sender and known[1] == receiver:
            who = known[2]
        else:
            if len(self._who) >= _NAMES_KEPT_MAX:
                self._who.clear()
            names = (
                self._name(event.sender_node, event.sender),
                self._name(event.receiver_node, event.receiver),
            )
            who = f"{names[0]} > {names[1]}"
            self._who[place] = (sender, receiver, who)
        if len(who) > self._who_width:
            self._who_width = len(who)
        return who.ljust(self._who_width)

    def _name(self, node: Node | None, address: str) -> str:
        """The role and first digits of a node; its address if the node is unknown."""
        if node is None or node.zid is None:
            return address
        return f"{node.role or 'node'} {self._short(node.zid)}"

    def _short(self, zid: str) -> str:
        """Four digits of a zid, more if two nodes would share them."""
        short = self._short_zids.get(zid)
        if short is None:
            if len(self._zids) >= _NAMES_KEPT_MAX:
                self._zids.clear()
                self._short_zids.clear()
            digits = ZID_DIGITS
            while self._zids.get(zid[:digits], zid) != zid and digits < len(zid):
                digits += 2
            short = zid[:digits]
            self._zids[short] = zid
            self._short_zids[zid] = short
        return short

    def _notice_line(self, event: TraceEvent, text: str) -> str:
        head = f"{self._dim}{self._time_column(event.time_ns)} {event.packet:>6}{self._reset}"
        return f"{head}  {self._notice}-- {text}{self._reset}"

    def _session(self, event: SessionChanged) -> str:
        session = event.session
        if session.is_multicast:
            text = f"multicast group {session.id}: {event.change}"
        else:
            names = [self._name(node, node.address) for node in session.nodes]
            text = f"session {event.change}: {names[0]} to {names[1]}"
        if event.change in ("opened", "found"):
            text += terms_text(session)
        if event.change in ("closed", "refused", "lost") and session.close_reason is not None:
            text += f", {session.close_reason}"
        return self._notice_line(event, f"{text}  {event.link.name}")

    def _missing(self, event: Missing) -> str:
        amount = f" {event.count}" if event.count else ""
        amount += f" {event.bytes} B" if event.bytes else ""
        text = f"missing: {event.kind}{amount}, {safe(event.cause)}  {_ends_text(event)}"
        return self._notice_line(event, text)

    def _undecoded(self, event: Undecoded) -> str:
        place = _ends_text(event)
        text = f"undecoded: {event.state} {event.bytes} B, {safe(event.cause)}  {place}"
        return self._notice_line(event, text)


def _ends_text(event: Missing | Undecoded) -> str:
    return f"{event.link.sender(event.direction)} > {event.link.receiver(event.direction)}"


def terms_text(session: Session) -> str:
    """The negotiated parameters, as far as they are known."""
    words = []
    if session.qos:
        words.append("qos")
    if session.compression:
        words.append("compression")
    if session.lowlatency:
        words.append("lowlatency")
    if session.sn_bits is not None and session.sn_bits != 32:
        words.append(f"sn {session.sn_bits} bits")
    if session.batch_size is not None:
        words.append(f"batch {session.batch_size}")
    leases = [node.lease_ms for node in session.nodes]
    known = [lease_text(lease) for lease in leases if lease is not None]
    if known:
        words.append(f"lease {' and '.join(dict.fromkeys(known))}")
    if session.opened_ns is not None and session.seen_start:
        words.append(f"after {ms_text(session.opened_ns - session.started_ns)}")
    return f" ({', '.join(words)})" if words else ""
