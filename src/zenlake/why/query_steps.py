"""The steps of a query: its hops, replies, and dropped replies."""

from __future__ import annotations

from typing import Final

from zenlake.why.absence import add_declaration
from zenlake.why.delivery import Dropped, consolidation_mode, dropped
from zenlake.why.formatting import counted, key_text, ms
from zenlake.why.network import Network
from zenlake.why.query_ends import session_end, timeouts
from zenlake.why.query_trees import QueryTree
from zenlake.why.records import QueryHop, ReplyRecord
from zenlake.why.story import Story

_REPLIES_SHOWN: Final = 6
_WHY_DROPPED: Final = {
    "late": "after the final response: dropped",
    "timeout": "after the timeout: dropped",
    "key": "dropped, its key was not asked for",
    "latest": "dropped by consolidation latest, packet {instead} replaced it",
    "monotonic": "dropped by consolidation monotonic, packet {instead} is newer",
}


def add_hops(story: Story, network: Network, tree: QueryTree, is_first: bool = True) -> None:
    """Adds every hop in the order of the tree; the story sorts by time."""
    query, labels = tree.query, network.labels
    story.involve(query.requester, query.responder)
    requester, responder = labels.who(query.requester), labels.who(query.responder)
    if is_first:
        story.add(query.at, f"{requester} asks {responder} for {_asked(query)}")
    else:
        story.add(
            query.at, f"{requester} passes it on to {responder} (there it is #{query.request_id})"
        )
        _add_queryable(story, network, query)
    _add_replies(story, network, tree, is_first)
    _add_end(story, network, tree)
    for part in tree.onward:
        add_hops(story, network, part, False)


def _add_queryable(story: Story, network: Network, query: QueryHop) -> None:
    """Adds the declaration of the queryable that the query was sent to."""
    if query.key is None:
        return
    for declaration in network.matching(query.requester, None, "queryable", query.key):
        if declaration.sender == query.responder and declaration.is_alive(query.at.time_ns):
            add_declaration(story, network, declaration, query.at.time_ns)
            return


def _asked(query: QueryHop) -> str:
    timeout = "no timeout sent" if query.timeout_ms is None else f"timeout {ms(query.timeout_ms)}"
    mode = consolidation_mode(query)
    return (
        f"{key_text(query.selector)} (#{query.request_id}, target {query.target}, "
        f"consolidation {mode}, {timeout})"
    )


def _add_replies(story: Story, network: Network, tree: QueryTree, is_first: bool) -> None:
    query = tree.query
    verb = "forwards" if tree.onward else "sends"
    labels = network.labels
    lost = {id(one.reply): one for one in dropped(query)} if is_first else {}
    shown = 0
    for reply in query.replies:
        drop = lost.get(id(reply))
        is_remarkable = drop is not None or reply.kind == "ERR" or reply.after_final
        shown += 1
        if shown > _REPLIES_SHOWN and not (is_remarkable and shown <= 3 * _REPLIES_SHOWN):
            continue
        text = f"{labels.who(query.responder)} {verb} {_reply_text(network, query, reply)}"
        story.add(reply.at, text + _drop_text(drop, reply))
    more = query.more_replies + query.more_errors
    hidden = len(query.replies) + more - min(shown, _REPLIES_SHOWN)
    if hidden > 0 and query.replies:
        last = query.replies[-1].at
        story.add(last, f"... {counted(hidden, 'answer')} in all not shown one by one")


def _reply_text(network: Network, query: QueryHop, reply: ReplyRecord) -> str:
    labels = network.labels
    if reply.is_timeout:
        silent = labels.who(reply.replier)
        if reply.replier == query.responder:
            return "the error Timeout: its own queryable did not finish the query"
        return f"the error Timeout: {silent} did not finish in time"
    if reply.kind == "ERR":
        return f'the error "{key_text(reply.error)}"'
    what = "a reply" if reply.kind == "PUT" else "a reply that deletes"
    by = ""
    if reply.replier is not None and reply.replier != query.responder:
        by = f" of {labels.who(reply.replier)}"
    return f"{what}{by} for {key_text(reply.key)}"


def _drop_text(drop: Dropped | None, reply: ReplyRecord) -> str:
    if drop is None or reply.is_timeout:
        return ": after its final response" if reply.after_final else ""
    instead = None if drop.instead is None else drop.instead.at.packet
    return f": {_WHY_DROPPED[drop.why].format(instead=instead)}"


def _add_end(story: Story, network: Network, tree: QueryTree) -> None:
    query, labels = tree.query, network.labels
    responder = labels.who(query.responder)
    session = network.evidence.sessions.get(query.session)
    if query.final is not None:
        timer = ", by its timer" if timeouts(query) and not tree.onward else ""
        towards = labels.who(query.requester)
        story.add(query.final, f"{responder} finalises towards {towards}{timer}")
    elif session is not None and session.closed_ns is not None:
        story.add(session_end(session), f"{_session_ended(network, query)}: no final response")


def _session_ended(network: Network, query: QueryHop) -> str:
    session = network.evidence.sessions[query.session]
    pair = f"{network.labels.who(query.requester)} and {network.labels.who(query.responder)}"
    if session.outcome == "closed":
        return f"{network.labels.who(session.closer)} closes the session of {pair}"
    return f"the session of {pair} is lost"
