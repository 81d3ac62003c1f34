"""`RouteNotes`: the reasons for a route, noted by the code that decides it.

Routing decides without notes. For an explanation the same functions decide once more, with notes,
so that an explanation cannot differ from what happens.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from zenlake.limits import ROUTE_NOTES_MAX

if TYPE_CHECKING:
    from zenlake.routing.face import Face

SENT: Final = "sent"
"""The message goes to the holder of a matching declaration, or towards it."""

UNKNOWN: Final = "unknown"
"""The message goes to a neighbour that may have a matching entity and has not declared it to us."""

SAME_REGION: Final = "same_region"
"""Holder and source are in a region that does not relay: peers are linked to each other."""

NO_WAY: Final = "no_way"
"""The tree that the message follows does not lead to the router that holds the declaration."""

OTHER_GATEWAY: Final = "other_gateway"
"""Another gateway of the same peer carries its messages between the peer and other routers."""

NOT_ELECTED: Final = "not_elected"
"""Another router carries messages on this key between linkstate peers and other nodes."""

IS_SOURCE: Final = "is_source"
"""A message is not sent back to its source."""

NOT_COMPLETE: Final = "not_complete"
"""The query is for complete queryables only."""

OTHER_IS_BEST: Final = "other_is_best"
"""The query goes to a nearer complete queryable of the region, and to no other one there."""


class Note:
    """The decision about one holder of one declaration."""

    __slots__ = ("holder", "hop", "is_complete", "key", "verdict")

    def __init__(
        self, verdict: str, holder: Face, key: str, hop: Face | None, is_complete: bool
    ) -> None:
        self.verdict = verdict
        self.holder = holder
        self.key = key
        """The key of the declaration; "" where none is known."""

        self.hop = hop
        """The neighbour that would get the message for this holder; None if there is none."""

        self.is_complete = is_complete
        """Whether a queryable is complete for the key."""


class RouteNotes:
    """The decisions about one message; of very many, the first of each kind."""

    __slots__ = ("counts", "notes")

    def __init__(self) -> None:
        self.notes: list[Note] = []
        self.counts: dict[str, int] = {}
        """All decisions, by verdict."""

    def add(
        self, verdict: str, holder: Face, key: str, hop: Face | None, is_complete: bool = False
    ) -> None:
        count = self.counts.get(verdict, 0)
        self.counts[verdict] = count + 1
        if count < ROUTE_NOTES_MAX:
            self.notes.append(Note(verdict, holder, key, hop, is_complete))

    def judge(self, note: Note, verdict: str) -> None:
        """Replace a verdict that a later step changed."""
        self.counts[note.verdict] -= 1
        self.counts[verdict] = self.counts.get(verdict, 0) + 1
        note.verdict = verdict
