"""Liveliness: tokens of this session and of others (behaviour reference §2.8).

A key is present while at least one token on it exists, of this session or another. Each liveliness
subscriber remembers the keys that were reported to it as present, so that each change is reported
once, even if several interests match it or several nodes announce it.
"""

from __future__ import annotations

from zenlake.keyexpr.matching import intersects
from zenlake.session.interests import TOKENS, Interests, SharedInterest
from zenlake.session.open_query import OpenQuery
from zenlake.session.port import Port
from zenlake.session.queries import Queries
from zenlake.session.sink import Sink
from zenlake.session.subscribers import SharedDeclaration
from zenlake.wire import (
    ConsolidationMode,
    DeclareToken,
    Del,
    InterestMode,
    Put,
    UndeclareToken,
    WireExpr,
)


class Watcher:
    """One liveliness subscriber."""

    __slots__ = ("eid", "interest", "is_live", "key", "present_keys", "sink")

    def __init__(self, eid: int, key: str, sink: Sink) -> None:
        self.eid = eid
        self.key = key
        self.sink = sink
        self.interest: SharedInterest | None = None
        self.present_keys: set[str] = set()
        self.is_live = True


class Token:
    """One liveliness token of this session."""

    __slots__ = ("eid", "is_live", "key")

    def __init__(self, eid: int, key: str) -> None:
        self.eid = eid
        self.key = key
        self.is_live = True


class Liveliness:
    """Tokens, liveliness subscribers and liveliness queries of the session."""

    __slots__ = (
        "_declared",
        "_gets",
        "_interests",
        "_port",
        "_queries",
        "_remote",
        "_remote_keys",
        "watchers",
    )

    def __init__(self, port: Port, interests: Interests, queries: Queries) -> None:
        self._port = port
        self._interests = interests
        self._queries = queries
        # Own tokens by key.
        self._declared: dict[str, SharedDeclaration] = {}
        # Tokens of others: by id, and the number of ids on each key.
        self._remote: dict[int, str] = {}
        self._remote_keys: dict[str, int] = {}
        # Open queries by interest, each with the keys of its replies.
        self._gets: dict[int, tuple[OpenQuery, set[str]]] = {}
        self.watchers: dict[int, Watcher] = {}

    def declare_token(self, key: str, now: float) -> Token:
        token = Token(self._port.next_eid(), key)
        declared = self._declared.get(key)
        if declared is not None:
            declared.users += 1
            return token
        declared = self._declared[key] = SharedDeclaration(self._port.next_id())
        declared.users = 1
        whole = WireExpr(0, self._port.namespace.full(key))
        self._port.declare(DeclareToken(declared.id, whole), now)
        self._report_appeared(key, None)
        return token

    def undeclare_token(self, token: Token, now: float) -> None:
        token.is_live = False
        declared = self._declared[token.key]
        declared.users -= 1
        if declared.users == 0:
            del self._declared[token.key]
            # Only the node knows whether the key is gone: other nodes may have older tokens on it,
            # which interests of mode FUTURE did not receive.
            self._port.declare(UndeclareToken(declared.id), now)

    def declare_subscriber(self, key: str, sink: Sink, history: bool, now: float) -> Watcher:
        watcher = Watcher(self._port.next_eid(), key, sink)
        self.watchers[watcher.eid] = watcher
        if history:
            for present in [*self._declared, *self._remote_keys]:
                if intersects(key, present):
                    self._report_present(watcher, present)
        mode = InterestMode.CURRENT_FUTURE if history else InterestMode.FUTURE
        # The watcher is registered before: it must get the answers that the node sends at once.
        watcher.interest = self._interests.acquire(TOKENS, mode, key, now)
        if history:
            for present in self._remote_keys:
                if intersects(key, present):
                    self._report_present(watcher, present)
        return watcher

    def undeclare_subscriber(self, watcher: Watcher, now: float) -> None:
        watcher.is_live = False
        del self.watchers[watcher.eid]
        interest = watcher.interest
        assert interest is not None
        if self._interests.release(interest, now):
            self._forget_uncovered()
        self._port.close(watcher.sink)

    def get(self, key: str, sink: Sink, timeout_ms: int, now: float) -> OpenQuery:
        """One reply per key that is present; ends with D_FINAL."""
        deadline = now + timeout_ms / 1000
        query = self._queries.open(key, sink, ConsolidationMode.NONE, deadline, None, 0)
        answered: set[str] = set()
        for present in self._declared:
            if intersects(key, present):
                self._answer(query, answered, present)
        interest_id = self._port.next_id()
        self._gets[interest_id] = (query, answered)
        mode = InterestMode.CURRENT
        self._port.to_network(self._interests.message(interest_id, TOKENS, mode, key), now)
        self._sweep_gets()
        return query

    def receive_declared(self, id: int, key: str, interest_id: int | None) -> None:
        """Handle D_TOKEN."""
        get = None if interest_id is None else self._gets.get(interest_id)
        if get is not None:
            query, answered = get
            if query.is_open:
                self._answer(query, answered, key)
            return
        if interest_id is not None and not self._interests.is_live(interest_id):
            # The token answers a query that has ended, or a subscriber that was undeclared.
            return
        known = self._remote.get(id)
        if known != key:
            if known is not None:
                self._forget(id)
            self._remote[id] = key
            self._remote_keys[key] = self._remote_keys.get(key, 0) + 1
        self._report_appeared(key, interest_id)

    def receive_undeclared(self, id: int, key: str | None) -> None:
        """Handle U_TOKEN; with an unknown id only its key is used."""
        known = self._remote.get(id)
        if known is not None:
            self._forget(id)
            self._report_vanished(known)
        elif key:
            self._report_vanished(key)

    def finish(self, interest_id: int) -> None:
        """Handle the D_FINAL of a liveliness query."""
        get = self._gets.pop(interest_id, None)
        if get is not None:
            get[0].complete()

    def close(self) -> None:
        for watcher in self.watchers.values():
            watcher.is_live = False
            self._port.close(watcher.sink)
        self.watchers.clear()
        self._gets.clear()

    def _report_appeared(self, key: str, interest_id: int | None) -> None:
        """Report a key to all matching subscribers; in an answer, to those with history only.

        The node answers all of their interests at once, with the number of one of them.
        """
        for watcher in self.watchers.values():
            interest = watcher.interest
            # The watcher is being declared, and `declare_subscriber` will report the key.
            is_concerned = interest_id is None or (
                interest is not None and interest.mode == InterestMode.CURRENT_FUTURE
            )
            if is_concerned and intersects(watcher.key, key):
                self._report_present(watcher, key)

    def _report_vanished(self, key: str) -> None:
        """Report the end of a key; subscribers without history may not know its beginning."""
        if key in self._declared or key in self._remote_keys:
            return
        for watcher in self.watchers.values():
            interest = watcher.interest
            future = interest is not None and interest.mode == InterestMode.FUTURE
            if key in watcher.present_keys or (future and intersects(watcher.key, key)):
                watcher.present_keys.discard(key)
                self._port.to_application(
                    watcher.sink, self._port.factory.sample(key, Del(), None, None)
                )

    def _report_present(self, watcher: Watcher, key: str) -> None:
        if key not in watcher.present_keys:
            watcher.present_keys.add(key)
            self._port.to_application(
                watcher.sink, self._port.factory.sample(key, Put(b""), None, None)
            )

    def _answer(self, query: OpenQuery, answered: set[str], key: str) -> None:
        if key not in answered:
            answered.add(key)
            query.hand_over(self._port.factory.ok(key, Put(b""), None, None, None))

    def _forget(self, id: int) -> None:
        key = self._remote.pop(id)
        left = self._remote_keys[key] - 1
        if left:
            self._remote_keys[key] = left
        else:
            del self._remote_keys[key]

    def _forget_uncovered(self) -> None:
        """Forget tokens that no interest covers any more: their end will not be received."""
        keys = self._interests.keys(TOKENS)
        for id, key in list(self._remote.items()):
            if not any(intersects(watched, key) for watched in keys):
                self._forget(id)

    def _sweep_gets(self) -> None:
        """End queries that got no D_FINAL in time."""
        for interest_id in [id for id, (query, _) in self._gets.items() if not query.is_open]:
            del self._gets[interest_id]
