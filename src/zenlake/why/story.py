"""Story: what failed and why, step by step, and what to try."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Final

from zenlake.semantics.causes import CAUSES
from zenlake.semantics.citations import cited
from zenlake.why.records import Moment

_REPEATED_MAX: Final = 100
_SENTENCE: Final = re.compile(r"(?:^|(?<=\. ))[a-z](?=[a-z]+ [0-9a-f]{4})")


@dataclass(slots=True)
class Step:
    """One event of a story; `order` sorts steps of the same time."""

    at: Moment
    text: str
    order: int = 0


@dataclass(slots=True)
class Story:
    """`subject` is query, publication, publisher, querier, subscriber, declaration, token,
    liveliness, session or link."""

    subject: str
    cause: str
    at: Moment
    key: str | None = None
    session: str | None = None
    request_id: int | None = None
    trace_id: int | None = None
    headline: str = ""
    nodes: list[str] = field(default_factory=list)
    """Full zids."""
    culprit: str | None = None
    """The node to look at first."""
    reached: list[str] = field(default_factory=list)
    """Zids of nodes that received the publication, at least in part; without routers on the way."""
    packets: list[int] = field(default_factory=list)
    """Packets that show the cause."""
    steps: list[Step] = field(default_factory=list)
    advice: list[str] = field(default_factory=list)
    count: int = 1
    """Number of stories with the same cause, node and key; this is the first of them."""
    repeated: list[Moment] = field(default_factory=list)
    """Where the others begin, up to a limit."""
    last: Moment | None = None
    """Where the last of them begins."""
    is_note: bool = False
    """Whether it is information and not a failure, such as a retry that succeeded."""

    @property
    def failed(self) -> bool:
        return CAUSES[self.cause].failed and not self.is_note

    def add(self, at: Moment, text: str) -> None:
        self.steps.append(Step(at, text, len(self.steps)))

    def add_evidence(self, at: Moment, text: str) -> None:
        """Adds a step whose packet shows the cause."""
        self.add(at, text)
        self.cite(at)

    def cite(self, *moments: Moment | None) -> None:
        """Adds the packets of these moments to the evidence."""
        for moment in moments:
            if (
                moment is not None
                and moment.packet is not None
                and moment.packet not in self.packets
            ):
                self.packets.append(moment.packet)

    def involve(self, *zids: str | None) -> None:
        for zid in zids:
            if zid is not None and zid not in self.nodes:
                self.nodes.append(zid)

    @property
    def group(self) -> tuple[object, ...]:
        """Stories with the same group are shown once."""
        place = self.session if self.key is None else None
        node = self.culprit or (self.nodes[0] if self.nodes else None)
        return self.subject, self.cause, self.failed, node, self.key, place

    def repeat(self, other: Story) -> None:
        """Counts another story of the same group."""
        self.count += 1
        self.last = other.at
        if len(self.repeated) < _REPEATED_MAX:
            self.repeated.append(other.at)

    def ordered_steps(self) -> list[Step]:
        return sorted(self.steps, key=lambda step: (step.at.time_ns, step.order))

    def mentions(self, packet: int) -> bool:
        return packet in self.packets or any(step.at.packet == packet for step in self.steps)

    def set_headline(self, headline: str) -> None:
        """Sets the first line; capitalizes names of nodes at the beginning of a sentence."""
        self.headline = _SENTENCE.sub(lambda found: found[0].upper(), headline)

    def as_json(self, roles: dict[str, str]) -> dict[str, Any]:
        return {
            "subject": self.subject,
            "cause": self.cause,
            "meaning": CAUSES[self.cause].meaning,
            "sections": [section.link for section in cited(CAUSES[self.cause].page)],
            "failed": self.failed,
            "count": self.count,
            "last_packet": self.at.packet if self.last is None else self.last.packet,
            "last_time_ns": self.at.time_ns if self.last is None else self.last.time_ns,
            "headline": self.headline,
            "key": self.key,
            "session": self.session,
            "request_id": self.request_id,
            "trace_id": self.trace_id,
            "packet": self.at.packet,
            "time_ns": self.at.time_ns,
            "culprit_zid": self.culprit,
            "nodes": [{"zid": zid, "role": roles.get(zid)} for zid in self.nodes],
            "reached_zids": self.reached,
            "packets": self.packets,
            "steps": [
                {"packet": step.at.packet, "time_ns": step.at.time_ns, "text": step.text}
                for step in self.ordered_steps()
            ],
            "advice": self.advice,
        }
