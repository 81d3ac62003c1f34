"""Rules about link states: the network as nodes announce it."""

from __future__ import annotations

from zenlake.errors import WireError
from zenlake.rules.facts import Seen
from zenlake.rules.rule import ERROR, NOTE, WARNING, rule
from zenlake.wire import LinkState, Oam
from zenlake.wire.codec import decode_link_states
from zenlake.wire.kinds import LINK_STATE_OAM_ID


def states_of(message: Oam) -> tuple[LinkState, ...]:
    """The link states of a message; none if they cannot be decoded."""
    if message.id != LINK_STATE_OAM_ID or not isinstance(message.body, bytes):
        return ()
    try:
        return decode_link_states(message.body).link_states
    except WireError:
        return ()


@rule(
    "oam-unknown",
    NOTE,
    Oam,
    text="OAM messages of the network layer are link states, id 1; others are ignored.",
    page="wire reference §2.5",
)
def oam_unknown(message: Oam, seen: Seen) -> str | None:
    return None if message.id == LINK_STATE_OAM_ID else f"OAM {message.id}"


@rule(
    "link-state-undecodable",
    ERROR,
    Oam,
    text="The body of a link state is a list of link states.",
    page="packets, LinkStateList; wire reference §2.5; SN-73, SN-74",
)
def link_state_undecodable(message: Oam, seen: Seen) -> str | None:
    if message.id != LINK_STATE_OAM_ID:
        return None
    if not isinstance(message.body, bytes):
        return "it has no bytes"
    try:
        decode_link_states(message.body)
    except WireError as error:
        return str(error)
    return None


@rule(
    "link-state-client",
    WARNING,
    Oam,
    text="Link states are sent between routers and peers, not to or by clients.",
    page="wire reference §2.5; SN-76",
)
def link_state_client(message: Oam, seen: Seen) -> str | None:
    if message.id != LINK_STATE_OAM_ID or "client" not in (seen.sender.role, seen.receiver.role):
        return None
    return f"from a {seen.sender.role} to a {seen.receiver.role}"


@rule(
    "link-state-unnamed",
    WARNING,
    Oam,
    text="A link state with the id of a node comes before other uses of the node's number.",
    page="wire reference §2.5; behaviour reference §4.7",
    whole=True,
)
def link_state_unnamed(message: Oam, seen: Seen) -> str | None:
    states = states_of(message)
    named = {state.psid for state in states if state.zid is not None}
    for state in states:
        # The id of the sender itself is known from its session.
        if state.psid and state.psid not in named and state.psid not in seen.sender.history.psids:
            return f"number {state.psid} has no id"
    return None


@rule(
    "link-state-renamed",
    ERROR,
    Oam,
    text="The number of a node stays the same as long as the node can be reached.",
    page="wire reference §2.5",
    whole=True,
)
def link_state_renamed(message: Oam, seen: Seen) -> str | None:
    states = states_of(message)
    names = {state.psid: str(state.zid) for state in states if state.zid is not None}
    for psid, name in names.items():
        known = seen.sender.history.psids.get(psid)
        if known and known != name and known in reachable(states, names, seen):
            return f"number {psid} is {known}, and is now {name}"
    return None


def reachable(states: tuple[LinkState, ...], names: dict[int, str], seen: Seen) -> set[str]:
    """The zids of the nodes that the sender reaches and whose psid has not just changed.

    Paths through the receiver do not count: the sender may not know the receiver's current links.
    """
    history = seen.sender.history
    known = history.psids | names
    links = history.node_links | node_links(states, known)
    links.pop(seen.receiver.history.psids.get(0, ""), None)
    found: set[str] = set()
    waiting = [known[0]]
    while waiting:
        zid = waiting.pop()
        if zid not in found:
            found.add(zid)
            waiting += links.get(zid, ())
    return found - {zid for psid, zid in names.items() if history.psids.get(psid) != zid}


def node_links(states: tuple[LinkState, ...], names: dict[int, str]) -> dict[str, tuple[str, ...]]:
    """The neighbours of each node, all by zid; unassigned psids are left out."""
    return {
        zid: tuple(other for psid in state.links if (other := names.get(psid)))
        for state in states
        if (zid := names.get(state.psid))
    }


@rule(
    "link-state-old",
    WARNING,
    Oam,
    text="The version of a node's link state does not fall, unless the node was gone.",
    page="behaviour reference §4.7",
    whole=True,
)
def link_state_old(message: Oam, seen: Seen) -> str | None:
    for state in states_of(message):
        # A node forgets unreachable nodes. When one returns, it is announced with version 0, or
        # its psid has been assigned to another node.
        if state.psid and state.zid is not None:
            is_same = seen.sender.history.psids.get(state.psid) == str(state.zid)
            if state.sn == 0 or not is_same:
                continue
        last = seen.sender.history.state_sns.get(state.psid)
        if last is not None and state.sn < last:
            return f"version {state.sn} of number {state.psid} after {last}"
    return None
