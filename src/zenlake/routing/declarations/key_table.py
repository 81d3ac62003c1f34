"""`KeyTable`: the aliases of keys on one face, in both directions (§3.5).

Each side numbers keys with D_KEYEXPR, and either side may use either numbering. M=1 ("sender")
means the neighbour's numbering in a received message, and ours in a sent one.
"""

from __future__ import annotations

from zenlake.limits import ALIAS_BYTES_MAX, ALIASES_MAX
from zenlake.routing.memory import Account, alias_bytes
from zenlake.wire.values.wire_expr import WireExpr


class KeyTable:
    __slots__ = ("_account", "_candidate", "_their_bytes", "our_ids", "ours", "their_ids", "theirs")

    def __init__(self, account: Account) -> None:
        self._account = account
        self.ours: dict[int, str] = {}
        self.our_ids: dict[str, int] = {}
        self.theirs: dict[int, str] = {}
        self.their_ids: dict[str, int] = {}
        self._their_bytes = 0
        self._candidate = 1

    def resolve(self, expr: WireExpr) -> str | None:
        """The full text of a received expression, None if its number is unknown.

        The text is not validated: it may not be a key expression.
        """
        if expr.scope == 0:
            return expr.suffix
        prefix = (self.theirs if expr.sender else self.ours).get(expr.scope)
        if prefix is None:
            return None
        return prefix + expr.suffix if expr.suffix else prefix

    def learn(self, id: int, key: str) -> bool:
        """Add an alias of the other side that is not in use; False if that is beyond a limit."""
        size = len(key.encode())
        if len(self.theirs) >= ALIASES_MAX or self._their_bytes + size > ALIAS_BYTES_MAX:
            return False
        if not self._account.charge(alias_bytes(key)):
            return False
        self.theirs[id] = key
        self.their_ids[key] = id
        self._their_bytes += size
        return True

    def forget(self, id: int) -> bool:
        """Remove an alias of the other side; False if it was not in use."""
        key = self.theirs.pop(id, None)
        if key is None:
            return False
        if self.their_ids.get(key) == id:
            del self.their_ids[key]
        self._their_bytes -= len(key.encode())
        self._account.release(alias_bytes(key))
        return True

    def define(self, key: str) -> int:
        """Assign our smallest number unused in both directions to `key`; 0 if there is none.

        A key can always be written out, so a neighbour without memory left gets no number.
        """
        if len(self.ours) >= ALIASES_MAX or not self._account.charge(alias_bytes(key)):
            return 0
        id = self._candidate
        while id in self.ours or id in self.theirs:
            id += 1
        self._candidate = id
        if id > 0xFFFF:
            return 0
        self.ours[id] = key
        self.our_ids[key] = id
        return id

    def known(self, key: str, suffix: str) -> WireExpr | None:
        """An expression for `key` + `suffix` if `key` has a number, the neighbour's if possible."""
        id = self.their_ids.get(key)
        if id is not None:
            return WireExpr(id, suffix, False)
        id = self.our_ids.get(key)
        return None if id is None else WireExpr(id, suffix, True)

    def has_any(self) -> bool:
        """Whether any key has a number."""
        return len(self.their_ids) > 0 or len(self.our_ids) > 0

    def shortest(self, key: str) -> WireExpr:
        """The expression for a publication or query: the longest numbered beginning."""
        if self.has_any():
            end = len(key)
            while end > 0:
                expr = self.known(key[:end], key[end:])
                if expr is not None:
                    return expr
                end = key.rfind("/", 0, end)
        return WireExpr(0, key)
