"""Interests of this session at its node (behaviour reference §3.2).

Entities with the same key and kind share one interest: the first sends it, the last sends FINAL.
"""

from __future__ import annotations

from typing import Final

from zenlake.session.port import CONTROL_QOS, Port
from zenlake.wire import Interest, InterestMode, WireExpr

SUBSCRIBERS: Final = 0
QUERYABLES: Final = 1
TOKENS: Final = 2


class SharedInterest:
    """One INTEREST and how many entities of this session rely on it."""

    __slots__ = ("id", "is_final", "key", "kind", "mode", "users")

    def __init__(self, id: int, kind: int, mode: InterestMode, key: str) -> None:
        self.id = id
        self.kind = kind
        self.mode = mode
        self.key = key
        self.users = 0
        # Whether the node has declared all that exists (D_FINAL).
        self.is_final = False


class Interests:
    """All interests of the session, by kind and key, and by id."""

    __slots__ = ("_by_content", "_by_id", "_port")

    def __init__(self, port: Port) -> None:
        self._port = port
        self._by_content: dict[tuple[int, InterestMode, str], SharedInterest] = {}
        self._by_id: dict[int, SharedInterest] = {}

    def acquire(self, kind: int, mode: InterestMode, key: str, now: float) -> SharedInterest:
        """Send an interest, unless an equal one exists; answers may come before this returns."""
        content = (kind, mode, key)
        interest = self._by_content.get(content)
        if interest is None:
            interest = SharedInterest(self._port.next_id(), kind, mode, key)
            self._by_content[content] = interest
            self._by_id[interest.id] = interest
            interest.users = 1
            self._port.to_network(self.message(interest.id, kind, mode, key), now)
        else:
            interest.users += 1
        return interest

    def release(self, interest: SharedInterest, now: float) -> bool:
        """Release one use; returns whether it was the last."""
        interest.users -= 1
        if interest.users > 0:
            return False
        del self._by_content[(interest.kind, interest.mode, interest.key)]
        del self._by_id[interest.id]
        self._port.to_network(Interest(InterestMode.FINAL, interest.id, qos=CONTROL_QOS), now)
        return True

    def message(self, id: int, kind: int, mode: InterestMode, key: str) -> Interest:
        return Interest(
            mode,
            id,
            keyexprs=True,
            subscribers=kind == SUBSCRIBERS,
            queryables=kind == QUERYABLES,
            tokens=kind == TOKENS,
            key=WireExpr(0, self._port.namespace.full(key)),
            qos=CONTROL_QOS,
        )

    def is_live(self, id: int) -> bool:
        return id in self._by_id

    def finish(self, id: int) -> bool:
        """Handle D_FINAL; False if the interest is not one of these."""
        interest = self._by_id.get(id)
        if interest is None:
            return False
        interest.is_final = True
        return True

    def keys(self, kind: int) -> list[str]:
        """The keys of all live interests in this kind."""
        return [interest.key for interest in self._by_id.values() if interest.kind == kind]
