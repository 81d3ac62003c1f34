"""Causes: the words for why something failed, the worst first. Programs may count on them."""

from __future__ import annotations

from typing import Final, NamedTuple


class Cause(NamedTuple):
    """One cause: whether something failed because of it, and what it means."""

    failed: bool
    meaning: str


CAUSES: Final[dict[str, Cause]] = {
    "reply_after_final": Cause(True, "a reply came after the final response and is thrown away"),
    "final_missing": Cause(True, "a node answered and never sent its final response"),
    "timeout": Cause(True, "a node was asked and neither answered nor finalised in time"),
    "router_lost": Cause(True, "the session over which the answer had to come was lost"),
    "session_closed": Cause(True, "the session was closed before the query was over"),
    "responder_lost": Cause(True, "the node that was asked disappeared while it was asked"),
    "router_died": Cause(True, "all sessions of a router ended at once, without CLOSE"),
    "lease_exceeded": Cause(True, "a node was silent for longer than its lease"),
    "unresponsive": Cause(True, "a node could not send to another for too long, and closed"),
    "session_lost": Cause(True, "the connection of a session ended without CLOSE"),
    "refused_authentication": Cause(True, "a session was refused: credentials missing or wrong"),
    "refused_version": Cause(True, "a session was refused: another version of the protocol"),
    "refused_limit": Cause(True, "a session was refused: too many sessions or links"),
    "refused": Cause(True, "a session was refused for another reason"),
    "lost_on_link": Cause(True, "sent and did not arrive: sequence numbers are missing"),
    "incomplete_fragments": Cause(True, "a large message of which not all fragments came"),
    "congestion_drop": Cause(True, "a node took it and did not send it on: dropped, queue full"),
    "stale_sn": Cause(True, "came with an old sequence number, so the receiver ignores it"),
    "ghost_token": Cause(True, "a node is still told of a token whose owner is gone"),
    "missing_after_reconnect": Cause(True, "declared before a reconnect, and not after it"),
    "token_not_told": Cause(True, "a token is alive and a node that asked is not told"),
    "doubled_token": Cause(True, "a node was told of one token twice, at the same time"),
    "error": Cause(True, "the queryable answered with an error"),
    "reply_key_outside": Cause(True, "replies for keys that were not asked for are dropped"),
    "at_chunk": Cause(True, "wildcards do not match chunks that begin with @"),
    "key_mismatch": Cause(True, "a key that is nearly the same was declared"),
    "not_complete": Cause(True, "asked were complete queryables only, and none is"),
    "not_relayed": Cause(True, "a router does not pass on between two peers"),
    "not_passed_on": Cause(True, "somebody matches, and it was not passed on to them"),
    "not_yet_declared": Cause(True, "who wanted it was declared only later"),
    "gone": Cause(True, "who wanted it was there before, and is gone"),
    "no_queryable": Cause(True, "nobody ever declared a queryable for this key, or one like it"),
    "no_subscriber": Cause(True, "no subscriber for this key, or one like it, was declared"),
    "no_reply": Cause(True, "a queryable received the query and stayed silent"),
    "capture_incomplete": Cause(False, "the capture lost packets just where the answer would be"),
    "not_visible": Cause(True, "the capture has only one link of the router that would know"),
    "own_queryable": Cause(
        False, "the asker's own queryable is asked inside it: no link shows what it replies"
    ),
    "reconnected": Cause(False, "the same nodes connected again, after their session ended"),
    "capture_ended": Cause(False, "the capture ends before the timeout"),
    "consolidated": Cause(False, "replies gave way to newer ones of the same key"),
    "partly_dropped": Cause(False, "some replies were dropped, others delivered"),
    "answered": Cause(False, "all is well"),
    "delivered": Cause(False, "all is well"),
    "alive": Cause(False, "all is well"),
    "nothing": Cause(False, "the capture has nothing about what was asked for"),
}
_RANKS: Final = {cause: rank for rank, cause in enumerate(CAUSES)}
WELL: Final = frozenset({"answered", "delivered", "alive"})


def rank(cause: str) -> int:
    """The lower the worse."""
    return _RANKS[cause]
