"""Request matching: which REQUEST a RESPONSE or RESPONSE_FINAL belongs to (behaviour reference §9).

A request is known by the side of the session that sent it and by its number. Answers repeat the
number, from the other side. Numbers are used again: an exchange begins at each REQUEST and takes
all answers until the next REQUEST with its number. A RESPONSE after the first RESPONSE_FINAL of its
exchange is late: the requester drops it.

A node needs none of this history, only whether a request is open (`routing.forwarding.queries`,
`session.queries`). Recorded traffic is matched in two ways for speed: message by message
(`trace.timelines.exchanges`) and in SQL (`lake.derive.steps.exchanges`). Tests compare both with
`match_requests`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

REQUEST: Final = "REQUEST"
RESPONSE: Final = "RESPONSE"
FINAL: Final = "FINAL"


class Matched(NamedTuple):
    """The exchange of one message."""

    request: int | None
    """The place of its REQUEST; None if that was not seen."""

    after_final: bool


def match_requests(kinds: Iterable[str]) -> list[Matched]:
    """The exchanges of messages with the same number and asking side, in order."""
    found: list[Matched] = []
    request: int | None = None
    is_final = False
    for place, kind in enumerate(kinds):
        if kind == REQUEST:
            request = place
            is_final = False
        found.append(Matched(request, is_final and kind == RESPONSE))
        is_final = is_final or kind == FINAL
    return found
