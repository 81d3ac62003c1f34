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
    """Messages of neighbours that were dropped or refused, by cause."""

    __slots__ = _NAMES

    def __init__(self) -> None:
        self.future_timestamps = 0
        """Publications whose timestamp was replaced, or that were dropped for it."""

        self.ignored_interests = 0
        """Interests of nodes above, and CURRENT ones in anything but tokens."""

        self.invalid_keys = 0
        self.late_responses = 0
        """Responses without an open request: late, repeated, or with a wrong number."""

        self.malformed_gossip = 0
        self.redefined_aliases = 0
        self.refused_aliases = 0
        """Aliases with number 0, or beyond the limits."""

        self.refused_declarations = 0
        self.refused_interests = 0
        self.refused_link_states = 0
        """Nodes and links of a network beyond the limits."""

        self.refused_requests = 0
        """Requests beyond the limits; each was answered with RESPONSE_FINAL."""

        self.reused_ids = 0
        """Declarations with an id that is in use for another key."""

        self.reused_request_ids = 0
        """REQUESTs with an id that is in use."""

        self.timed_out_interests = 0
        self.timed_out_requests = 0
        self.unexpected_messages = 0
        """Messages that this face must not send, such as queries of a multicast group."""

        self.unknown_aliases = 0
        self.unknown_nodes = 0
        """NodeIds that a router did not announce before."""

        self.unknown_undeclarations = 0

    def as_dict(self) -> dict[str, int]:
        return {name: getattr(self, name) for name in _NAMES}
