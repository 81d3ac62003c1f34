"""RouterAccounts: the messages between two routers on a wire (behaviour reference §3.6, §4.7).

A declaration has no id: its router and its key identify it. Routers are named by numbers that
their neighbour assigned in its link states.
"""

from __future__ import annotations

from zenlake.testing.simulation.accounts import Accounts, Side, resolve
from zenlake.testing.simulation.journal import InvariantError
from zenlake.wire import (
    Declare,
    DeclareFinal,
    DeclareKeyExpr,
    DeclareQueryable,
    DeclareSubscriber,
    DeclareToken,
    Interest,
    NetworkMessage,
    Oam,
    Push,
    Request,
    UndeclareQueryable,
    UndeclareSubscriber,
    UndeclareToken,
    ZenohId,
    decode_link_states,
)


class RouterSide(Side):
    def __init__(self) -> None:
        super().__init__()
        self.nodes: dict[int, ZenohId] = {}
        """The numbers that it assigned to routers."""


class RouterAccounts(Accounts):
    def __init__(self) -> None:
        self._routers = (RouterSide(), RouterSide())
        super().__init__(self._routers)

    def read(self, side: int, message: NetworkMessage) -> None:
        mine, theirs = self._routers[side], self._routers[1 - side]
        if isinstance(message, Interest):
            raise InvariantError("a router sends an interest to a router")
        if isinstance(message, Oam):
            self._describe(mine, message)
        elif isinstance(message, Push | Request):
            self._check_source(mine, message)
            resolve(mine, theirs, message.key)
        elif isinstance(message, Declare):
            self._declare_sourced(mine, theirs, message)

    def _describe(self, mine: RouterSide, message: Oam) -> None:
        assert isinstance(message.body, bytes)
        states = decode_link_states(message.body).link_states
        for state in states:
            if state.zid is not None:
                mine.nodes[state.psid] = state.zid
        for state in states:
            for psid in (state.psid, *state.links):
                if psid not in mine.nodes:
                    raise InvariantError(f"node {psid}, which was not described")

    def _check_source(self, mine: RouterSide, message: Push | Request | Declare) -> None:
        if (message.node_id or 0) not in mine.nodes:
            raise InvariantError(
                f"{message.NAME} of node {message.node_id}, which was not described"
            )

    def _declare_sourced(self, mine: RouterSide, theirs: RouterSide, message: Declare) -> None:
        body = message.body
        if isinstance(body, DeclareKeyExpr):
            self.number_key(mine, theirs, body)
            return
        if isinstance(body, DeclareFinal) or message.interest_id is not None:
            raise InvariantError("a router answers an interest of a router")
        self._check_source(mine, message)
        if isinstance(body, DeclareSubscriber | DeclareQueryable | DeclareToken):
            if body.id != 0:
                raise InvariantError(f"{body.NAME} has id {body.id}")
            resolve(mine, theirs, body.key)
        elif isinstance(body, UndeclareSubscriber | UndeclareQueryable | UndeclareToken):
            if body.key is None:
                raise InvariantError(f"{body.NAME} without a key")
            # A new child of a tree gets recent undeclarations of its root, declared or not.
            resolve(mine, theirs, body.key.key)
