"""Undelivered: publications without a subscriber.

Some reached a router that had no subscriber for them any more. Others never left the publisher:
once its interest is answered, a node sends only publications that match a subscriber (behaviour
reference §3.2). Those are not in the capture.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from zenlake.why.formatting import apart
from zenlake.why.network import Network
from zenlake.why.records import Declaration, Flow, Interest, Moment, Sample
from zenlake.why.scope import intersects

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
    first_ns = min((_begin_ns(declaration) for declaration in declarations), default=0)
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
    return _begin_ns(declaration) - _UNSURE_NS <= time_ns


def _begin_ns(declaration: Declaration) -> int:
    return 0 if declaration.declared is None else declaration.declared.time_ns


def held_back(network: Network, flow: Flow) -> Silence | None:
    """The first time in which the publisher of a key had no subscriber."""
    interval_ns = 0
    if flow.count > 1:
        interval_ns = (flow.last.time_ns - flow.first.time_ns) // (flow.count - 1)
    roles = (network.labels.role(flow.sender), network.labels.role(flow.receiver))
    if roles == ("peer", "peer"):  # peers announce everything to each other unasked
        session = network.evidence.sessions.get(flow.session)
        end_ns = None if session is None else session.closed_ns
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


def silences(network: Network, interest: Interest) -> list[Silence]:
    """The times in which a publisher or querier had no announced match any more."""
    entity = "subscriber" if "S" in interest.options else "queryable"
    key, final_ns = interest.key, interest.final_ns
    if key is None or final_ns is None or network.is_group(interest.session):
        return []
    found = _times_without_match(network, interest.sender, entity, key, interest.closed_ns)
    return [one for one in found if one.since.time_ns >= final_ns]


def _times_without_match(
    network: Network, node: str | None, entity: str, key: str, end_ns: int | None
) -> list[Silence]:
    announced = network.announced_to(node, entity)
    declarations = [
        declaration
        for declaration in announced
        if declaration.key is not None and intersects(declaration.key, key)
    ]
    found: list[Silence] = []
    last: Declaration | None = None
    for declaration in sorted(declarations, key=_begin_ns):
        if (
            last is not None
            and last.ended is not None
            and _begin_ns(declaration) > last.ended.time_ns
        ):
            begin = Moment(
                _begin_ns(declaration),
                None if declaration.declared is None else declaration.declared.packet,
            )
            found.append(Silence(last, last.ended, begin, True))
        if last is None or (
            last.ended and (declaration.ended is None or declaration.ended > last.ended)
        ):
            last = declaration
    if last is not None and last.ended is not None and last.ended_by == "undeclare":
        end = Moment(network.evidence.last_ns if end_ns is None else end_ns, None)
        found.append(Silence(last, last.ended, end, False))
    return [one for one in found if one.last.ended_by == "undeclare" and one.quiet_ns > 0]
