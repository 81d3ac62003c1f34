"""AddressCheck: datagrams from addresses that are not verified yet.

The source of a datagram can be forged. Until an address returns a cookie, no state is kept for it:
InitSyn is answered with the key of the cookies alone, so that forged InitSyns take no memory and no
slot of an honest handshake. An answer is at most three times as long as the bytes that the address
sent, so that it cannot be used to amplify traffic (limits: H03).

With ids of 16 bytes an InitAck has 57 to 61 bytes, and 73 if it asks for a password; InitSyns
of deployed nodes have 19 to 35. An opener with an id shorter than 9 bytes sends too little to be
answered at once; the bytes that it sent count at its next attempt.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from zenlake.limits import ANSWER_RATIO_MAX, HANDSHAKE_SECONDS_MAX, UNVERIFIED_SOURCES_MAX
from zenlake.protocol.accepting import answer_init
from zenlake.protocol.cookie import KEY_BYTES, Seal
from zenlake.protocol.errors import HandshakeError, refusal
from zenlake.protocol.handshake import first_message
from zenlake.protocol.offer import Offer
from zenlake.wire import CloseReason, Open
from zenlake.wire.headers import CLOSE_ID, ID_BITS, INIT_ID, OPEN_ID

_REFUSED: Final = refusal(CloseReason.INVALID, "").farewell or b""


class AddressCheck:
    """Handles datagrams that do not belong to a link. `source` is a locator, `udp/host:port`."""

    __slots__ = ("_offer", "_redeemed", "_unspent", "offers", "seal", "withheld")

    def __init__(self, offer: Offer, entropy: Callable[[int], bytes]) -> None:
        self._offer = offer
        self.seal = Seal(entropy(KEY_BYTES))
        self._redeemed: OrderedDict[bytes, float] = OrderedDict()
        self._unspent: OrderedDict[str, int] = OrderedDict()  # bytes by host
        self.offers: OrderedDict[str, tuple[bytes, bytes]] | None = None
        """The last InitSyn of each source and its answer, if they are to be recorded; else None."""
        self.withheld = 0
        """The number of answers that were not sent because they would have been too long."""

    def redeem(self, datagram: bytes, source: str, now: float) -> bool:
        """Whether this is an OpenSyn with a cookie that was sent to its source: only once."""
        if datagram[0] & ID_BITS != OPEN_ID:
            return False
        try:
            syn = first_message(datagram, is_acceptor=True)
        except HandshakeError:
            return False
        if not isinstance(syn, Open) or syn.cookie is None or syn.cookie in self._redeemed:
            return False
        if self.seal.open(syn.cookie, now, source) is None:
            return False
        self._forget_redeemed(now)
        self._redeemed[syn.cookie] = now
        return True

    def _forget_redeemed(self, now: float) -> None:
        """Forget cookies that are too old to be redeemed again, and the oldest of too many."""
        redeemed = self._redeemed
        while redeemed:
            oldest = next(iter(redeemed))
            is_valid = now - redeemed[oldest] <= HANDSHAKE_SECONDS_MAX
            if is_valid and len(redeemed) < UNVERIFIED_SOURCES_MAX:
                break
            del redeemed[oldest]

    def answer(self, datagram: bytes, source: str, now: float) -> bytes:
        """The answer to send to the source of a datagram; b"" if there is none."""
        answer = self._answer(datagram, source, now)
        if not answer:
            return b""
        host = source.rpartition(":")[0]
        allowed = ANSWER_RATIO_MAX * len(datagram) + self._unspent.pop(host, 0)
        if len(answer) <= allowed:
            if self.offers is not None and datagram[0] & ID_BITS == INIT_ID:
                self.offers[source] = (datagram, answer)
                if len(self.offers) > UNVERIFIED_SOURCES_MAX:
                    self.offers.popitem(last=False)
            return answer
        self.withheld += 1
        if len(self._unspent) >= UNVERIFIED_SOURCES_MAX:
            self._unspent.popitem(last=False)
        self._unspent[host] = allowed
        return b""

    def _answer(self, datagram: bytes, source: str, now: float) -> bytes:
        """InitAck, or CLOSE because there is no session.

        A CLOSE is not answered, else two listeners would exchange CLOSEs for ever.
        """
        kind = datagram[0] & ID_BITS
        if kind == CLOSE_ID:
            return b""
        if kind != INIT_ID:
            return _REFUSED
        try:
            syn = first_message(datagram, is_acceptor=True)
            return answer_init(self._offer, syn, self.seal, source, now)
        except HandshakeError as error:
            return error.farewell or b""
