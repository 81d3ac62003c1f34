"""Queries that failed: late replies, timeouts, lost sessions."""

from __future__ import annotations

from typing import Final

from zenlake.why.formatting import (
    answers_text,
    apart,
    capitalized,
    capture_again,
    counted,
    in_packet,
    listed,
    ms,
)
from zenlake.why.network import Network
from zenlake.why.query_ends import (
    is_finished,
    late_replies,
    lost_session,
    session_end,
    silent,
    timeouts,
)
from zenlake.why.query_trees import QueryTree
from zenlake.why.records import Loss, QueryHop
from zenlake.why.story import Story

_EARLY: Final = 0.9
"""A query that ends before this share of its timeout was given up early by a node."""
_DROP_QUERY: Final = (
    "The final response is sent when every Query object is dropped: in Python use `with query:` "
    "or query.drop(), and keep no reference to it in a list or a closure."
)


def explain_late_reply(network: Network, tree: QueryTree, story: Story) -> str:
    """A reply after the final response; blames the hop furthest from the querier."""
    labels = network.labels
    hop = [one for one in tree.hops() if late_replies(one)][-1]
    late = late_replies(hop)
    assert hop.final is not None
    story.cause, story.culprit = "reply_after_final", hop.responder
    story.cite(hop.final, *(reply.at for reply in late))
    errors = sum(reply.kind == "ERR" for reply in late)
    in_time = sum(not reply.after_final for reply in tree.query.replies)
    story.advice += [
        f"The order is wrong at {labels.who(hop.responder)}: replies must be sent before the "
        "query is dropped, from the same thread or after waiting for the others.",
        "Nodes that send replies and finals with different priorities can be overtaken too: "
        "compare the QoS of both packets (zenlake decode --json).",
    ]
    came = f"; {counted(in_time, 'answer')} came in time" if in_time else ""
    return (
        f"a reply came too late. {labels.who(hop.responder)} sent its final response in packet "
        f"{hop.final.packet} and {answers_text(len(late) - errors, errors)} after it"
        f"{', the first' if len(late) > 1 else ','} "
        f"{apart(hop.final.time_ns, late[0].at.time_ns)} later (packet {late[0].at.packet}). "
        f"Replies after the final response are dropped{came}"
    )


def explain_timeout(network: Network, tree: QueryTree, story: Story) -> str:
    parts = [_timeout_text(tree, story)]
    passed = _forwarding_text(network, tree)
    if passed:
        parts.append(passed)
    stuck = silent(network, tree)
    # Nodes whose traffic was captured without gaps come first and determine the cause.
    stuck.sort(key=lambda one: _hole(network, one.query) is not None)
    for one in stuck[:4]:
        parts.append(
            _in_a_hole(network, story, one) or _explain_unfinished(network, story, one, one is tree)
        )
    return ". ".join([parts[0], *map(capitalized, parts[1:])])


def _timeout_text(tree: QueryTree, story: Story) -> str:
    """A text that says when a query timed out; a node may give up earlier than its timeout."""
    query = tree.query
    if query.timeout_ms is None:
        return "timed out (no timeout was sent: each node uses its own default, 10,000 ms)"
    first = min((one.at for hop in tree.hops() for one in timeouts(hop)), default=None)
    if first is not None:
        waited_ms = (first.time_ns - query.at.time_ns) / 1e6
        if waited_ms < _EARLY * query.timeout_ms:
            story.cite(first)
            story.advice.append(
                "A node on the way has its own limit (queries_default_timeout): raise it there."
            )
            return (
                f"given up after {ms(waited_ms)} (packet {first.packet}), although its timeout is "
                f"{ms(query.timeout_ms)}"
            )
    return f"timed out after {ms(query.timeout_ms)}"


def _hole(network: Network, hop: QueryHop) -> Loss | None:
    """A loss of the capture that may have contained the final response."""
    if hop.final is not None:
        return None
    return network.capture_gap(hop.session, hop.at.time_ns, network.evidence.last_ns)


def _in_a_hole(network: Network, story: Story, tree: QueryTree) -> str | None:
    hop = tree.query
    hole = _hole(network, hop)
    if hole is None:
        return None
    if story.cause == "answered":
        story.cause, story.culprit = "capture_incomplete", None
        story.advice += capture_again(network.holes(hop.session, hop.at.time_ns))
    story.cite(hop.at, hole.at)
    return (
        f"no final response of {network.labels.who(hop.responder)} is seen, but the capture itself "
        f"lacks packets of that link (near packet {hole.at.packet}): it may have been in them"
    )


def _forwarding_text(network: Network, tree: QueryTree) -> str | None:
    """Which nodes the query was forwarded to, and which of them finished."""
    labels = network.labels
    if not tree.onward:
        return None
    good = []
    for part in tree.onward:
        hop = part.query
        if is_finished(hop):
            assert hop.final is not None
            came = answers_text(hop.reply_count, hop.error_count)
            first = f", packet {hop.replies[0].at.packet}" if hop.replies else ""
            good.append(
                f"{labels.who(hop.responder)} answered ({came}{first}) and finalised "
                f"(packet {hop.final.packet})"
            )
    who = labels.who(tree.query.responder)
    nodes = counted(len(tree.onward), "node")
    if len(tree.onward) == 1:
        nodes = labels.who(tree.onward[0].query.responder)
    text = f"{who} passed it on to {nodes}"
    return "; ".join([text, *good])


def _explain_unfinished(network: Network, story: Story, tree: QueryTree, is_first: bool) -> str:
    """Explains why one node did not finish; sets the cause."""
    hop, labels = tree.query, network.labels
    who = labels.who(hop.responder)
    story.culprit = story.culprit or hop.responder
    replies = [reply for reply in hop.replies if not reply.is_timeout]
    came = answers_text(hop.reply_count, hop.error_count)
    by_timer = timeouts(hop)
    story.cite(hop.at, *(reply.at for reply in replies[:3]), *(reply.at for reply in by_timer))
    if is_first and by_timer and by_timer[0].replier not in (None, hop.responder):
        story.culprit = by_timer[0].replier
        story.cause = "timeout"
        slow = _slow(network, story, hop)
        return (
            f"{who} reports (packet {by_timer[0].at.packet}) that "
            f"{labels.who(by_timer[0].replier)} did not finish; that link is not "
            "in the capture" + (f"; {slow}" if slow else "")
        )
    session = lost_session(network, hop)
    if session is not None:
        story.cause = "router_lost" if is_first else "responder_lost"
        gone = apart(hop.at.time_ns, session_end(session).time_ns)
        return f"the session with {who} ended {gone} after it was asked ({session.outcome})"
    if tree.onward:
        story.cause = "final_missing"
        return f"{who} has all final responses and did not send its own"
    forced = ""
    if by_timer and hop.final is not None:
        forced = f"; what it sent in packet {by_timer[0].at.packet} is the error of its own timer"
    elif hop.final is not None:
        forced = f"; its final came in packet {hop.final.packet}, after the timeout"
    loss = network.wire_loss(hop.session, hop.responder, hop.at.time_ns, hop.deadline_ns)
    if loss is not None and hop.final is None:
        story.cause = "lost_on_link"
        story.cite(loss.at)
        return (
            f"no RESPONSE_FINAL came from {who}, but {counted(loss.count or 0, 'frame')} from it "
            f"got lost before packet {loss.at.packet}: the answer may have been in them"
        )
    dead = _silence_text(network, story, hop)
    if dead is not None:
        story.cause = "timeout"
        return f"{who} received it (packet {hop.at.packet}) and {dead}"
    if labels.role(hop.responder) == "router":
        story.cause = "timeout"
        came = f" ({came} came)" if replies else ""
        text = f"{who} sent no final response in time{came}{forced}; the nodes it asked are not "
        text += "in the capture"
        slow = _slow(network, story, hop)
        story.advice.append(f"Capture at {who}, on all of its links.")
        return f"{text}; {slow}" if slow else text
    if replies:
        story.cause = "final_missing"
        story.advice.append(_DROP_QUERY)
        return (
            f"{who} answered ({came}, packet {replies[0].at.packet}) and never sent its "
            f"RESPONSE_FINAL: its application still holds the query{forced}"
        )
    story.cause = "timeout"
    text = f"{who} received it (packet {hop.at.packet}) and never sent a RESPONSE_FINAL{forced}"
    if hop.final is not None and not by_timer:
        text = f"{who} received it (packet {hop.at.packet}){forced}"
    slow = _slow(network, story, hop)
    if slow is not None:
        return f"{text}; {slow}"
    story.advice.append(f"Look at {who}: does its queryable still work, or is it blocked?")
    story.advice.append(_DROP_QUERY)
    return text


def _slow(network: Network, story: Story, hop: QueryHop) -> str | None:
    """Whether the node answers, but needs longer than the timeout."""
    timeout_ms = hop.timeout_ms
    if timeout_ms is None:
        return None
    who = network.labels.who(hop.responder)
    if hop.final is not None and not timeouts(hop):
        needed = apart(hop.at.time_ns, hop.final.time_ns)
        story.advice.append(
            f"{capitalized(who)} needed {needed}: a timeout of {ms(timeout_ms)} is short."
        )
        return f"it needed {needed}"
    other = network.answered(hop.responder, hop.selector, timeout_ms)
    if other is None or other.final is None:
        return None
    took = apart(other.at.time_ns, other.final.time_ns)
    story.cite(other.at, other.final)
    story.advice.append(
        f"{capitalized(who)} answers the same selector in {took}: ask with a longer timeout than "
        f"{ms(timeout_ms)}."
    )
    return f"another time (packet {other.at.packet}) it answered the same selector in {took}"


def _silence_text(network: Network, story: Story, hop: QueryHop) -> str | None:
    """Whether the responder has sent nothing since the request, not even keep-alives."""
    last = network.evidence.last_sent.get((hop.session, hop.responder or ""))
    if last is None or last.time_ns >= hop.at.time_ns or last.packet is None:
        return None
    until_ns = min(hop.deadline_ns, network.evidence.last_ns)
    who = network.labels.who(hop.responder)
    story.add_evidence(last, f"{who} sends its last message to {network.labels.who(hop.requester)}")
    story.advice.append(
        f"{capitalized(who)} may be frozen, without power or cut off: is it reachable?"
    )
    if network.role(hop.responder) != "router":
        story.advice.append(_DROP_QUERY)  # an idle node may be silent too
    silent_for = apart(last.time_ns, until_ns)
    return f"has sent nothing since packet {last.packet}, {silent_for} before the timeout"


def explain_lost_session(network: Network, tree: QueryTree, story: Story) -> str:
    """The session of the querier ended before the query did."""
    query, labels = tree.query, network.labels
    session = lost_session(network, query)
    assert session is not None
    end = session_end(session)
    after = apart(query.at.time_ns, end.time_ns)
    story.cite(end)
    in_a_hole = _in_a_hole(network, story, tree)
    if in_a_hole is not None:
        return in_a_hole
    waiting = _still_waiting(network, tree)
    if session.outcome == "closed" and session.closer is not None:
        story.cause, story.culprit = "session_closed", session.closer
        closer = labels.who(session.closer)
        return f"{closer} closed the session {after} after the request{in_packet(end)}"
    story.cause, story.culprit = "router_lost", query.responder
    story.advice += [
        f"Look at {labels.who(query.responder)}: did it crash or restart, or did the network fail?",
        "Connect to more than one endpoint, and repeat the query after the reconnect.",
    ]
    timeout = "" if query.timeout_ms is None else f" (its timeout was {ms(query.timeout_ms)})"
    return (
        f"no answer, because the session with {labels.who(query.responder)} was lost {after} after "
        f"the request{timeout}{waiting}"
    )


def _still_waiting(network: Network, tree: QueryTree) -> str:
    open_ones: list[QueryHop] = [one.query for one in tree.leaves() if one is not tree]
    names = [network.labels.who(one.responder) for one in open_ones if one.final is None]
    return (
        f". It had been passed on to {listed(names)}, which had not answered yet" if names else ""
    )
