"""`Counters`: what routing refused or ignored, by cause."""

from __future__ import annotations

from typing import Final

_NAMES: Final = (
    "future_timestamps",
    "ignored_interests",
    "invalid_keys",
    "late_responses",
    "malformed_gossip",
    "redefined_aliases",
    "refused_aliases",
    "refused_declarations",
    "refused_interests",
    "refused_link_states",
    "refused_requests",
    "reused_ids",
    "reused_request_ids",
    "timed_out_interests",
    "timed_out_requests",
    "unexpected_messages",
    "unknown_aliases",
    "unknown_nodes",
    "unknown_undeclarations",
)


class Counters:
    """Every dropped message of a neighbour is counted in one of these."""

    __slots__ = _NAMES

    def __init__(self) -> None:
        self.future_timestamps = 0
        """Publications whose timestamp was replaced, or that were dropped for it."""

        self.ignored_interests = 0
        """From above, or CURRENT for anything but tokens."""

        self.invalid_keys = 0
        self.late_responses = 0
        """RESPONSE or RESPONSE_FINAL of no open request: late, twice, or a wrong number."""

        self.malformed_gossip = 0
        self.redefined_aliases = 0
        self.refused_aliases = 0
        """Number 0, or beyond the limits."""

        self.refused_declarations = 0
        self.refused_interests = 0
        self.refused_link_states = 0
        """Nodes and links of a network beyond the limits."""

        self.refused_requests = 0
        """Beyond the limits; each was answered with RESPONSE_FINAL."""

        self.reused_ids = 0
        """Declarations whose live id stood for another key."""

        self.reused_request_ids = 0
        """REQUESTs whose id was still open."""

        self.timed_out_interests = 0
        self.timed_out_requests = 0
        self.unexpected_messages = 0
        """Kinds that this face does not send, such as queries from a multicast group."""

        self.unknown_aliases = 0
        self.unknown_nodes = 0
        """NodeIds that a router did not announce before."""

        self.unknown_undeclarations = 0

    def as_dict(self) -> dict[str, int]:
        return {name: getattr(self, name) for name in _NAMES}
