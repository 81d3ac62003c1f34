"""The story of one query: how it ended, and which node caused that."""

from __future__ import annotations

from zenlake.semantics.causes import OWN_QUERYABLE
from zenlake.trace.timelines.origins import is_behind_hidden_router
from zenlake.trace.timelines.unanswered import Hop, Unanswered, explain, reason
from zenlake.why.absence import add_declaration, explain_absence
from zenlake.why.delivery import consolidation_mode, dropped
from zenlake.why.formatting import (
    answers_text,
    apart,
    capture_again,
    counted,
    key_text,
    listed,
    packets_text,
)
from zenlake.why.network import Network
from zenlake.why.query_ends import (
    late_replies,
    lost_session,
    session_end,
    timed_out,
)
from zenlake.why.query_failures import explain_late_reply, explain_lost_session, explain_timeout
from zenlake.why.query_steps import add_hops
from zenlake.why.query_trees import QueryTree
from zenlake.why.records import QueryHop
from zenlake.why.story import Story


def query_story(network: Network, tree: QueryTree) -> Story:
    query, labels = tree.query, network.labels
    story = Story(
        "query",
        "answered",
        query.at,
        query.key,
        query.session,
        query.request_id,
        query.trace_id,
    )
    add_hops(story, network, tree)
    story.cite(query.at)
    who, selector = labels.who(query.requester), key_text(query.selector)
    text = _outcome_text(network, tree, story)
    story.set_headline(f"Query {query.request_id} from {who} for {selector}: {text}.")
    return story


def _outcome_text(network: Network, tree: QueryTree, story: Story) -> str:
    """Sets the cause and returns the sentence."""
    query = tree.query
    replies = [reply for reply in query.replies if reply.kind != "ERR"]
    if any(late_replies(hop) for hop in tree.hops()):
        return explain_late_reply(network, tree, story)
    if timed_out(network, query):
        return explain_timeout(network, tree, story)
    if query.final is None and not query.reused:
        if lost_session(network, query) is not None:
            return explain_lost_session(network, tree, story)
        story.cause = "capture_ended"
        left = apart(query.at.time_ns, network.session_end_ns(query.session))
        came = f" {counted(len(replies), 'reply', 'replies')} arrived;" if replies else ""
        return f"not finished;{came} the capture ends {left} after the request"
    if query.final is None:
        story.cause = "final_missing"
        story.culprit = query.responder
        return "its final response never arrived, and a later query used its number"
    if replies:
        return _answered(query, story)
    if query.replies:
        return _errors(network, query, story)
    return _empty(network, tree, story)


def _answered(query: QueryHop, story: Story) -> str:
    replies = query.reply_count
    drops = [one for one in dropped(query) if one.reply.kind != "ERR"]
    assert query.final is not None
    took = apart(query.at.time_ns, query.final.time_ns)
    if not drops:
        return f"answered with {answers_text(replies, query.error_count)} in {took}"
    story.cite(*(one.reply.at for one in drops))
    story.cite(*(one.instead.at for one in drops if one.instead is not None))
    packets = packets_text([one.reply.at.packet for one in drops])
    outside = [one for one in drops if one.why == "key"]
    if outside:
        return _outside(query, story, replies, len(drops), len(outside), packets)
    story.cause = "consolidated"
    mode = consolidation_mode(query)
    which = "the newest" if mode == "latest" else "what is not older than the one before"
    sent = " (the default, auto)" if mode == "latest" else ""
    story.advice += [
        "To get every reply: get(..., consolidation=ConsolidationMode.NONE).",
        "Or use another key for each reply: consolidation compares replies of the same key.",
    ]
    return (
        f"{replies} replies arrived, {replies - len(drops)} delivered: consolidation {mode}{sent} "
        f"keeps {which} of each key and dropped {counted(len(drops), 'reply', 'replies')} "
        f"({packets})"
    )


def _outside(
    query: QueryHop, story: Story, replies: int, drops: int, outside: int, packets: str
) -> str:
    all_lost = drops == replies
    story.cause = "reply_key_outside" if all_lost else "partly_dropped"
    story.advice += [
        "Reply with a key that matches the query, or ask with the parameter _anyke "
        f"({key_text(query.key)}?_anyke)."
    ]
    return (
        f"{counted(replies, 'reply', 'replies')} arrived, {replies - drops} delivered: {outside} "
        f"for keys that were not asked for ({packets})"
    )


def _errors(network: Network, query: QueryHop, story: Story) -> str:
    story.cause = "error"
    first = query.replies[0]
    story.culprit = first.replier or query.responder
    story.cite(first.at)
    story.advice.append(f"The message is from {network.labels.who(story.culprit)}: look there.")
    count = len(query.replies)
    which = "only an error arrived: the one" if count == 1 else f"{count} errors arrived: the first"
    return (
        f"{which} from "
        f'{network.labels.who(story.culprit)} says "{key_text(first.error)}" '
        f"(packet {first.at.packet})"
    )


def _empty(network: Network, tree: QueryTree, story: Story) -> str:
    """The query finished without a reply."""
    query, labels = tree.query, network.labels
    assert query.final is not None
    story.cite(query.final)
    took = apart(query.at.time_ns, query.final.time_ns)
    ended = f"{labels.who(query.responder)} finalised after {took}"
    found = explain(network.queryables, _hop(network, tree))
    if found is not None and found.cause == OWN_QUERYABLE:
        return f"{ended}; {_asked_inside(network, found, story)}"
    nothing = f"no reply arrived; {ended}"
    hop = query if found is None else _query_at(tree, found)
    if tree.onward and hop is query:
        return f"{nothing}. {_received_unanswered(network, tree, story)}"
    if query.key is None:
        story.cause = "not_visible"
        return f"{nothing}. Its key is not known: the alias was declared before the capture began"
    absence = explain_absence(network, hop.responder, hop.requester, "queryable", query.key, hop.at)
    if absence is not None:
        absence.add_to(story, network)
        return f"{nothing}. Why: {absence.sentence}"
    return f"{nothing}. {_had_queryable(network, hop, query.key, story)}"


def _asked_inside(network: Network, found: Unanswered, story: Story) -> str:
    assert found.queryable is not None
    declaration = network.find_declaration(found.queryable)
    if declaration is not None:
        add_declaration(story, network, declaration, story.at.time_ns)
    story.cause = found.cause
    return reason(network.queryables, found, network.labels.who, lambda ns: apart(0, ns))


def _hop(network: Network, tree: QueryTree) -> Hop:
    """The query tree as input of `timelines.unanswered`, which the tables use too."""
    query = tree.query
    session = lost_session(network, query)
    hop = Hop(
        query.session,
        query.seq,
        query.at.time_ns,
        query.requester,
        query.responder,
        query.key,
        query.target,
        None if query.final is None else query.final.time_ns,
        None if session is None else session.closed_ns,
    )
    hop.onward += [_hop(network, part) for part in tree.onward]
    return hop


def _query_at(tree: QueryTree, found: Unanswered) -> QueryHop:
    """The hop at which the query stopped; the first one if no later node answered it."""
    if found.cause in ("no_reply", "responder_lost") and tree.onward:
        return tree.query
    place = (found.hop.session, found.hop.seq)
    return next(one for one in tree.hops() if (one.session, one.seq) == place)


def _received_unanswered(network: Network, tree: QueryTree, story: Story) -> str:
    labels = network.labels
    gone = [leaf.query for leaf in tree.leaves() if leaf.query.final is None]
    if gone and lost_session(network, gone[0]) is not None:
        hop = gone[0]
        session = network.evidence.sessions[hop.session]
        story.cause, story.culprit = "responder_lost", hop.responder
        story.cite(hop.at, session_end(session))
        return (
            f"{labels.who(hop.responder)} was asked (packet {hop.at.packet}) and its session was "
            f"{session.outcome} {apart(hop.at.time_ns, session_end(session).time_ns)} later"
        )
    asked = [leaf.query for leaf in tree.leaves()]
    story.cause, story.culprit = "no_reply", asked[0].responder
    asked_texts = []
    for hop in asked[:4]:
        story.cite(hop.at, hop.final)
        place = "" if hop.final is None else f", final in packet {hop.final.packet}"
        asked_texts.append(f"{labels.who(hop.responder)} (packet {hop.at.packet}{place})")
    story.advice.append(
        "The queryable got the query: find out why it sends no reply, such as an early return, or "
        "an exception before query.reply()."
    )
    who = "The queryable" if len(asked) == 1 else f"{len(asked)} nodes"
    return f"{who} received the query and sent no reply: {listed(asked_texts)}"


def _had_queryable(network: Network, query: QueryHop, key: str, story: Story) -> str:
    """A matching queryable was declared, and the query was not sent to it."""
    labels = network.labels
    alive = [
        declaration
        for declaration in network.matching(query.responder, query.requester, "queryable", key)
        if declaration.is_alive(query.at.time_ns)
    ]
    for declaration in alive[:4]:
        add_declaration(story, network, declaration, query.at.time_ns)
    first = alive[0]
    story.culprit = first.sender
    who = f"{labels.who(first.sender)}, queryable {key_text(first.key)}"
    place = f", packet {first.declared.packet}" if first.declared else ""
    if first.sender == query.responder:
        story.cause = "no_reply"
        return (
            f"{labels.who(first.sender)} has the queryable {key_text(first.key)}, received the "
            "query and sent no reply"
        )
    if is_behind_hidden_router(network, first):
        story.cause = "not_visible"
        story.advice.append(f"Capture at {labels.who(first.sender)}, on all of its links.")
        return (
            f"{who}{place}, matches; it has that from another router, which may be gone: that is "
            "not in the capture, only link state says so"
        )
    if query.target == "all_complete":
        story.cause = "not_complete"
        story.advice += [
            "Declare the queryable with complete=True if it can answer for all of its key; "
            "its key must include the one asked for.",
            "Or ask with target ALL or BEST_MATCHING.",
        ]
        return (
            f"Why: the target is ALL_COMPLETE, and {who}{place}, is not complete for "
            f"{key_text(key)}"
        )
    if network.are_peers(first.sender, query.requester):
        story.cause = "not_relayed"
        story.advice.append(
            "Let the peers find each other (gossip or multicast scouting), or make them clients."
        )
        return f"Why: {who}{place}, is a peer, and a router does not pass on from peer to peer"
    story.cause = "not_passed_on"
    until_ns = query.at.time_ns if query.final is None else query.final.time_ns
    if network.capture_gap(first.session, query.at.time_ns, until_ns):
        story.cause = "capture_incomplete"
        story.advice += capture_again(network.holes(first.session, query.at.time_ns))
        return f"{who}{place}, matches; the capture lacks packets of that link at this time"
    story.advice.append("Is there access control or a filter in the router's configuration?")
    return f"{who}{place}, matches, and the query was not passed on to it"
