"""TransportClaims: one transport per node on the other side, however both connect to each other.

A node that opens claims the other's id when it learns it, before OPEN; a node that accepts
claims it when OPEN came. Two nodes that connect to each other at the same moment each hold a
claim for their own link when the other's OPEN arrives. Then the greater id refuses, so its own
link stays, and the smaller waits for the outcome of its own: if that is refused, it accepts the
other's. A deployed node never refuses for a link that is not open yet; with it the link of the
smaller id stays. Either way exactly one does (limits: H09).
"""

from __future__ import annotations

import threading
import time
from collections import Counter

from zenlake.wire import CloseReason, ZenohId


class TransportClaim:
    """The right to one transport with one node. Claims are compared by identity."""

    __slots__ = ("is_open", "is_opener", "source", "zid")

    def __init__(self, zid: ZenohId, is_opener: bool, source: str = "") -> None:
        self.zid = zid
        self.source = source
        self.is_opener = is_opener
        self.is_open = False


class TransportClaims:
    """All claims of a node. The methods may be called by any thread; `accept` may wait.

    Of `transports_max` in all, those that come in from one address may be `per_address_max`: the
    rest is kept for others.
    """

    def __init__(self, own_zid: ZenohId, transports_max: int, per_address_max: int) -> None:
        self._own_zid = own_zid
        self._max = transports_max
        self._per_address_max = per_address_max
        self._accepted: Counter[str] = Counter()
        self._claims: dict[ZenohId, TransportClaim] = {}
        self._changed = threading.Condition()
        self._is_closed = False

    def open(self, zid: ZenohId) -> TransportClaim | None:
        """Claim a node for a link of ours; None if a transport exists or is about to open."""
        with self._changed:
            if zid in self._claims or self._is_closed:
                return None
            claim = self._claims[zid] = TransportClaim(zid, True)
            return claim

    def accept(self, zid: ZenohId, patience_s: float, source: str) -> TransportClaim | CloseReason:
        """Claim a node that connects, or say why not (wire reference §5.2, step 5)."""
        deadline = time.monotonic() + patience_s
        with self._changed:
            while (claim := self._claims.get(zid)) is not None:
                left = deadline - time.monotonic()
                is_ours = claim.is_opener and not claim.is_open
                if not is_ours or zid < self._own_zid or left <= 0:
                    return CloseReason.MAX_LINKS
                self._changed.wait(left)
            if len(self._claims) >= self._max or self._is_closed:
                return CloseReason.INVALID
            if self._accepted[source] >= self._per_address_max:
                return CloseReason.INVALID
            claim = self._claims[zid] = TransportClaim(zid, False, source)
            self._accepted[source] += 1
            return claim

    def note_open(self, claim: TransportClaim) -> None:
        with self._changed:
            claim.is_open = True
            self._changed.notify_all()

    def release(self, claim: TransportClaim) -> None:
        with self._changed:
            if self._claims.get(claim.zid) is claim:
                del self._claims[claim.zid]
                if not claim.is_opener:
                    self._accepted[claim.source] -= 1
                    if self._accepted[claim.source] == 0:
                        del self._accepted[claim.source]
                self._changed.notify_all()

    def has(self, zid: ZenohId) -> bool:
        return zid in self._claims

    def close(self) -> None:
        """Refuse all later claims, and those that wait."""
        with self._changed:
            self._is_closed = True
            for claim in self._claims.values():
                claim.is_open = True
            self._changed.notify_all()
