"""Undelivered: publications without a subscriber.

Some reached a router that had no subscriber for them any more. Others never left the publisher:
once its interest is answered, a node sends only publications that match a subscriber (behaviour
reference §3.2). Those are not in the capture.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Final, NamedTuple

from zenlake.why.formatting import apart
from zenlake.why.network import Network
from zenlake.why.records import Declaration, Flow, InterestRecord, Moment, Sample

_UNSURE_NS: Final = 50_000_000
"""Within this time of a subscriber's end, it is uncertain whether a publication was due."""
QUIET_NS_MIN: Final = 100_000_000
"""A publisher that ends sooner after its last subscriber probably published nothing more."""
_INTERVALS: Final = 2
"""Within so many publication intervals, no publication may have been due."""


class Unreached(NamedTuple):
    """Publications that a node received after its last subscriber had gone."""

    samples: list[Sample]
    last: Declaration
    """The last subscriber before the first of these publications."""


class Silence(NamedTuple):
    """A time in which a node had no announced match, after it had one."""

    last: Declaration
    since: Moment
    until: Moment
    is_over: bool
    """Whether a match was announced again."""

    @property
    def quiet_ns(self) -> int:
        return self.until.time_ns - self.since.time_ns

    def when(self) -> str:
        """The interval as text, such as `From packet 7 on (1,200 ms)`."""
        until = f" to packet {self.until.packet}" if self.is_over else " on"
        quiet = apart(self.since.time_ns, self.until.time_ns)
        return f"From packet {self.since.packet}{until} ({quiet})"


def unreached(network: Network, flow: Flow) -> Unreached | None:
    """Publications that a node received when its subscribers of the key had gone."""
    declarations = network.matching(flow.receiver, flow.sender, "subscriber", flow.key)
    first_ns = min((declaration.declared_ns for declaration in declarations), default=0)
    samples = [
        sample
        for sample in flow.samples
        if sample.at.time_ns > first_ns
        and not any(_may_get(declaration, sample.at.time_ns) for declaration in declarations)
    ]
    if not samples:
        return None
    gone = [
        declaration
        for declaration in declarations
        if declaration.ended and declaration.ended <= samples[0].at
    ]
    if not gone:
        return None
    return Unreached(samples, max(gone, key=lambda declaration: declaration.ended or samples[0].at))


def _may_get(declaration: Declaration, time_ns: int) -> bool:
    if declaration.ended is not None and declaration.ended.time_ns + _UNSURE_NS < time_ns:
        return False
    return declaration.declared_ns - _UNSURE_NS <= time_ns


def held_back(network: Network, flow: Flow) -> Silence | None:
    """The first time in which the publisher of a key had no subscriber."""
    interval_ns = 0
    if flow.count > 1:
        interval_ns = (flow.last.time_ns - flow.first.time_ns) // (flow.count - 1)
    if network.are_peers(flow.sender, flow.receiver):  # they announce everything unasked
        end_ns = network.session_end_ns(flow.session)
        found = _times_without_match(network, flow.sender, "subscriber", flow.key, end_ns)
    else:
        found = [
            silence
            for interest in network.interests_of(flow.sender, flow.key)
            if interest.session == flow.session
            for silence in silences(network, interest)
        ]
    shortest_ns = max(QUIET_NS_MIN, _INTERVALS * interval_ns)
    return next((one for one in found if one.quiet_ns >= shortest_ns), None)


def silences(network: Network, interest: InterestRecord) -> list[Silence]:
    """The times in which a publisher or querier had no announced match any more."""
    entity = "subscriber" if "S" in interest.options else "queryable"
    key, final_ns = interest.key, interest.final_ns
    if key is None or final_ns is None or network.is_group(interest.session):
        return []
    end_ns = network.evidence.last_ns if interest.closed_ns is None else interest.closed_ns
    found = _times_without_match(network, interest.sender, entity, key, end_ns)
    return [one for one in found if one.since.time_ns >= final_ns]


def _times_without_match(
    network: Network, node: str | None, entity: str, key: str, end_ns: int
) -> list[Silence]:
    declarations = network.announced_matching(node, entity, key)
    found: list[Silence] = []
    last: Declaration | None = None
    for declaration in sorted(declarations, key=attrgetter("declared_ns")):
        begin = declaration.declared
        if (
            begin is not None
            and last is not None
            and last.ended is not None
            and begin.time_ns > last.ended.time_ns
        ):
            found.append(Silence(last, last.ended, begin, True))
        if last is None or (
            last.ended and (declaration.ended is None or declaration.ended > last.ended)
        ):
            last = declaration
    if last is not None and last.ended is not None and last.ended_by == "undeclare":
        found.append(Silence(last, last.ended, Moment(end_ns, None), False))
    return [one for one in found if one.last.ended_by == "undeclare" and one.quiet_ns > 0]
