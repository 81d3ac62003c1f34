"""Causes: why something failed, for `zenlake why` and the columns named `cause`.

A verdict is what one link shows of a query. A cause explains it from all links of a capture, and
publications, tokens and sessions have causes too. The names are public, the worst comes first.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple, get_args


class Cause(NamedTuple):
    """A cause: whether something failed because of it, and what it means."""

    failed: bool
    meaning: str
    page: str = ""
    """The rule of the protocol that it rests on, as `citations` reads it; empty without one."""


CAUSES: Final[dict[str, Cause]] = {
    "reply_after_final": Cause(
        True, "a reply came after the final response and is dropped", "behaviour reference §4.5"
    ),
    "final_missing": Cause(
        True, "a node answered and never sent its final response", "behaviour reference §2.6, §4.5"
    ),
    "timeout": Cause(
        True,
        "a node was asked and neither answered nor finalised in time",
        "behaviour reference §4.5",
    ),
    "router_lost": Cause(
        True, "the session over which the answer had to come was lost", "behaviour reference §4.5"
    ),
    "session_closed": Cause(
        True, "the session was closed before the query was finished", "behaviour reference §2.1"
    ),
    "responder_lost": Cause(
        True,
        "the node that was asked disappeared before it answered",
        "behaviour reference §2.5, §4.5",
    ),
    "router_died": Cause(True, "all sessions of a router ended at once, without CLOSE"),
    "lease_exceeded": Cause(
        True, "a node was silent for longer than its lease", "wire reference §5.7"
    ),
    "unresponsive": Cause(
        True, "a node could not send to another for too long, and closed", "wire reference §6.6"
    ),
    "session_lost": Cause(True, "the connection of a session ended without CLOSE"),
    "refused_authentication": Cause(
        True, "a session was refused: credentials missing or wrong", "wire reference §5.2, §10.2"
    ),
    "refused_version": Cause(
        True, "a session was refused: another version of the protocol", "wire reference §5.2"
    ),
    "refused_limit": Cause(
        True, "a session was refused: too many sessions or links", "wire reference §5.2"
    ),
    "refused": Cause(True, "a session was refused for another reason", "wire reference §5.2"),
    "lost_on_link": Cause(
        True, "sent and did not arrive: sequence numbers are missing", "wire reference §6.5"
    ),
    "incomplete_fragments": Cause(
        True, "not all fragments of a large message came", "wire reference §7"
    ),
    "congestion_drop": Cause(
        True, "a node received it and dropped it: a queue was full", "wire reference §6.6"
    ),
    "stale_sn": Cause(
        True, "it has an old sequence number, so the receiver ignores it", "wire reference §6.5"
    ),
    "ghost_token": Cause(
        True,
        "a token is still announced to a node, and its owner is gone",
        "behaviour reference §2.8",
    ),
    "missing_after_reconnect": Cause(
        True, "declared before a reconnect, and not after it", "behaviour reference §3.2"
    ),
    "token_not_told": Cause(
        True,
        "a token is alive, and is not announced to a node that asked",
        "behaviour reference §2.8, §3.2",
    ),
    "doubled_token": Cause(
        True, "one token is announced to a node twice at the same time", "behaviour reference §2.8"
    ),
    "error": Cause(True, "the queryable answered with an error", "behaviour reference §2.6"),
    "reply_key_outside": Cause(
        True, "replies for keys that were not asked for are dropped", "behaviour reference §2.6"
    ),
    "at_chunk": Cause(
        True, "wildcards do not match chunks that begin with @", "behaviour reference §1.3"
    ),
    "key_mismatch": Cause(
        True, "a key that is nearly the same was declared", "behaviour reference §1.3"
    ),
    "not_complete": Cause(
        True,
        "only complete queryables were asked, and none is complete",
        "behaviour reference §4.5",
    ),
    "not_relayed": Cause(
        True, "a router does not forward between two peers", "behaviour reference §4.2"
    ),
    "not_passed_on": Cause(
        True,
        "a match was declared, and it was not forwarded there",
        "behaviour reference §4.2, §4.5",
    ),
    "not_yet_declared": Cause(True, "the match was declared only later"),
    "gone": Cause(True, "there was a match before, and it is gone"),
    "no_queryable": Cause(
        True,
        "no node ever declared a queryable for this key, or one like it",
        "behaviour reference §2.5",
    ),
    "no_subscriber": Cause(True, "no subscriber for this key, or one like it, was declared"),
    "no_reply": Cause(
        True, "a queryable received the query and sent no reply", "behaviour reference §2.6"
    ),
    "capture_incomplete": Cause(False, "the capture lacks packets where the answer would be"),
    "not_visible": Cause(True, "the capture has only one link of the router that would know"),
    "own_queryable": Cause(
        False,
        "the requester asks its own queryable: no link shows the replies",
        "behaviour reference §2.5",
    ),
    "reconnected": Cause(False, "the same nodes connected again, after their session ended"),
    "capture_ended": Cause(False, "the capture ends before the timeout"),
    "consolidated": Cause(
        False, "replies were replaced by newer ones of the same key", "behaviour reference §2.7"
    ),
    "partly_dropped": Cause(
        False, "some replies were dropped, others delivered", "behaviour reference §2.6, §2.7"
    ),
    "answered": Cause(False, "a query got its replies"),
    "delivered": Cause(False, "publications reached all their subscribers"),
    "alive": Cause(False, "a token is announced to all nodes that asked"),
}
_RANKS: Final = {cause: rank for rank, cause in enumerate(CAUSES)}
WELL: Final = frozenset({"answered", "delivered", "alive"})
"""Causes of a success."""

OWN_QUERYABLE: Final = "own_queryable"
QueryCause = Literal[
    "own_queryable",
    "responder_lost",
    "no_reply",
    "not_complete",
    "not_relayed",
    "not_passed_on",
    "gone",
    "not_yet_declared",
    "not_visible",
    "no_queryable",
]
"""Why a query is `empty`, in order of precedence."""
QUERY_CAUSES: Final[tuple[QueryCause, ...]] = get_args(QueryCause)

SessionCause = Literal[
    "refused_authentication",
    "refused_version",
    "refused_limit",
    "refused",
    "lease_exceeded",
    "unresponsive",
    "session_lost",
    "capture_incomplete",
]
"""Why a session was refused or ended other than by an ordinary CLOSE."""
SESSION_CAUSES: Final[tuple[SessionCause, ...]] = get_args(SessionCause)


def rank(cause: str) -> int:
    """The position of a cause in the list: the lower, the worse."""
    return _RANKS[cause]
