"""Formatting: how stories write nodes, times, counts and keys."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Final

from zenlake.trace.timelines.unanswered import short_key
from zenlake.why.records import Evidence, Loss, Moment

_ZID_DIGITS_MIN: Final = 4
_ERROR_BYTES_MAX: Final = 80
_PACKETS_SHOWN: Final = 5


class Labels:
    """Formats nodes and times of one capture: zids as unique prefixes, times since its start."""

    def __init__(self, evidence: Evidence) -> None:
        self._first_ns = evidence.first_ns
        self._roles = evidence.roles
        zids = set(evidence.roles)
        for session in evidence.sessions.values():
            zids |= {zid for zid in (session.opener, session.acceptor) if zid}
        self._zids = sorted(zids)
        self._short: dict[str, str] = {}

    def short(self, zid: str) -> str:
        known = self._short.get(zid)
        if known is None:
            place = bisect_left(self._zids, zid)
            # In sorted order, the zids with the longest common prefix are its neighbours.
            beside = [one for one in self._zids[max(place - 1, 0) : place + 2] if one != zid]
            digits = _ZID_DIGITS_MIN
            while digits < len(zid) and any(one.startswith(zid[:digits]) for one in beside):
                digits += 1
            known = self._short[zid] = zid[:digits]
        return known

    def who(self, zid: str | None) -> str:
        """The node as text, such as `client c1a0`."""
        if zid is None:
            return "an unnamed node"
        return f"{self._roles.get(zid, 'node')} {self.short(zid)}"

    def role(self, zid: str | None) -> str | None:
        return None if zid is None else self._roles.get(zid)

    def since(self, time_ns: int) -> str:
        return f"{(time_ns - self._first_ns) / 1e9:.3f} s"

    def at(self, moment: Moment) -> str:
        """The moment as text, such as `packet 88, 1.234 s`."""
        if moment.packet is None:
            return f"at {self.since(moment.time_ns)}"
        return f"packet {moment.packet}, {self.since(moment.time_ns)}"


def ms(milliseconds: float) -> str:
    """The duration as text, such as `10,000 ms` or `0.4 ms`."""
    if milliseconds >= 100:
        return f"{milliseconds:,.0f} ms"
    return f"{milliseconds:.1f} ms"


def apart(earlier_ns: int, later_ns: int) -> str:
    return ms((later_ns - earlier_ns) / 1e6)


def counted(count: int, one: str, many: str | None = None) -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def answers_text(replies: int, errors: int) -> str:
    """The counts as text, such as `2 replies`, `1 reply and 1 error` or `no reply`."""
    texts = [counted(replies, "reply", "replies")] if replies else []
    texts += [counted(errors, "error")] if errors else []
    return listed(texts) or "no reply"


def listed(texts: list[str]) -> str:
    """The words as a list in text: `a, b and c`."""
    if len(texts) < 2:
        return "".join(texts)
    return f"{', '.join(texts[:-1])} and {texts[-1]}"


def in_packet(moment: Moment | None) -> str:
    """The packet of a moment as text: ` (packet 7)`, empty without one."""
    return "" if moment is None or moment.packet is None else f" (packet {moment.packet})"


def capitalized(text: str) -> str:
    return text[:1].upper() + text[1:]


def packets_text(packets: Sequence[int | None], count: int | None = None) -> str:
    """Packets as text: `packet 7`, `packets 7, 8, 9, 10, 11 and 30 more`; `count` is the total."""
    shown = [str(packet) for packet in dict.fromkeys(packets)]
    total = len(shown) if count is None else max(count, len(shown))
    if total > _PACKETS_SHOWN:
        kept = shown[:_PACKETS_SHOWN]
        shown = [*kept, f"{total - len(kept):,} more"]
    return f"packet{'s' if len(shown) > 1 else ''} {listed(shown)}"


def key_text(key: str | None) -> str:
    """The key in at most a line or two; not escaped for a terminal."""
    return "(key not known)" if key is None else short_key(key)


def error_text(payload: bytes | None) -> str | None:
    """The beginning of the text of an error reply."""
    return None if payload is None else payload[:_ERROR_BYTES_MAX].decode("utf-8", "replace")


def capture_again(losses: Sequence[Loss]) -> list[str]:
    """How to avoid these losses in the next capture."""
    kinds = {loss.kind for loss in losses}
    advice = []
    if "truncated" in kinds:
        advice.append("Packets were cut by the snap length: capture them whole (tcpdump -s 0).")
    if kinds - {"truncated"}:
        advice.append("Capture again without losses (larger buffer: tcpdump -B).")
    return advice
