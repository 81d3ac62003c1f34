"""Acceptor: the side of a handshake that listened (wire reference §5.2).

    InitSyn   -> InitAck, with the agreed terms and a cookie
    OpenSyn   -> OpenAck; the session is up: `agreed`

Between the two it keeps only the key of the cookie. Any other message ends the handshake with a
HandshakeError, which has the reason and the CLOSE to send. Where the address of the opener may be
forged, InitSyn is answered before there is a link (address_check.py), and an Acceptor begins with
OpenSyn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from zenlake.errors import LocalError
from zenlake.protocol.cookie import KEY_BYTES, Seal
from zenlake.protocol.errors import refusal, unproven
from zenlake.protocol.handshake import (
    agree_batch_size,
    check_initial_sn,
    check_version,
    first_message,
    open_message,
    resolution_of,
    set_sizes,
    smaller_resolution,
    unexpected,
)
from zenlake.protocol.offer import Agreed, Offer
from zenlake.protocol.qos_terms import PLAIN, agree_qos, own_qos, qos_of, set_qos
from zenlake.protocol.user_password import MARK, challenge, has_mark, prove
from zenlake.wire import CloseReason, Init, Open, ZenohId
from zenlake.wire.message import TransportMessage
from zenlake.wire.sequence import initial_sn
from zenlake.wire.values.lease import lease_in_ms

_AWAITS_INIT_SYN: Final = 0
_AWAITS_OPEN_SYN: Final = 1
_OVER: Final = 2


class Acceptor:
    """One handshake. `agreed` is set when `receive` returns the OpenAck.

    `admit` is called last and returns a reason to refuse the node, or None. `seal` is the key of
    an InitAck that was sent to `source` already; without it a new key is made.
    """

    __slots__ = ("_admit", "_offer", "_phase", "_seal", "_source", "agreed")

    def __init__(
        self,
        offer: Offer,
        entropy: Callable[[int], bytes],
        admit: Callable[[ZenohId], CloseReason | None],
        seal: Seal | None = None,
        source: str = "",
    ) -> None:
        self._offer = offer
        self._admit = admit
        self._source = source
        self._seal = Seal(entropy(KEY_BYTES)) if seal is None else seal
        self._phase = _AWAITS_INIT_SYN if seal is None else _AWAITS_OPEN_SYN
        self.agreed: Agreed | None = None

    def receive(self, batch: bytes, now: float = 0.0) -> bytes | None:
        """The content of the next batch to send."""
        phase = self._phase
        if phase == _OVER:
            raise LocalError("the handshake is over")
        self._phase = _OVER
        message = first_message(batch, is_acceptor=True)
        if phase == _AWAITS_INIT_SYN:
            answer = answer_init(self._offer, message, self._seal, self._source, now)
            self._phase = _AWAITS_OPEN_SYN
            return answer
        return self._answer_open(message, now)

    def _answer_open(self, syn: TransportMessage, now: float) -> bytes:
        if not isinstance(syn, Open) or syn.cookie is None:
            raise unexpected(syn, "OpenSyn")
        terms = self._seal.open(syn.cookie, now, self._source)
        if terms is None:
            raise refusal(CloseReason.INVALID, "the cookie is not the one of this link")
        offer = self._offer
        user: str | None = None
        if offer.users is not None:
            user = prove(syn.auth, self._seal.nonce(syn.cookie), offer.users)
        agreed = self._agreed(terms, syn, user)
        self._check_peer(agreed.zid)
        ack = open_message(offer.lease_ms, agreed.own_sn)
        ack.auth = MARK if user is not None else None
        self.agreed = agreed
        return bytes(ack)

    def _agreed(self, terms: Init, syn: Open, user: str | None) -> Agreed:
        offer = self._offer
        resolution = resolution_of(terms)
        check_initial_sn(syn, resolution.sn_mask)
        qos = qos_of(terms)
        return Agreed(
            terms.zid,
            terms.whatami,
            is_opener=False,
            resolution=resolution,
            batch_size=agree_batch_size(offer.batch_size, terms),
            qos=qos is not None,
            qos_link=None if qos == PLAIN else qos,
            low_latency=terms.lowlatency,
            compression=terms.compression,
            patch=terms.patch or 0,
            own_sn=initial_sn(offer.zid, terms.zid, resolution.sn_mask),
            peer_sn=syn.initial_sn,
            own_lease_ms=offer.lease_ms,
            peer_lease_ms=lease_in_ms(syn.lease, syn.seconds),
            keep_alive=offer.keep_alive,
            message_bytes_max=offer.message_bytes_max,
            queue_batches=offer.queue_batches,
            user=user,
        )

    def _check_peer(self, zid: ZenohId) -> None:
        if zid == self._offer.zid:
            raise refusal(CloseReason.CONNECTION_TO_SELF, "this is our own node")
        reason = self._admit(zid)
        if reason is not None:
            raise refusal(reason, f"node {zid} is not admitted")


def answer_init(offer: Offer, syn: TransportMessage, seal: Seal, source: str, now: float) -> bytes:
    """The InitAck. The cookie contains all terms, so the acceptor keeps no state."""
    if not isinstance(syn, Init) or syn.cookie is not None:
        raise unexpected(syn, "InitSyn")
    check_version(syn)
    terms = _agree(offer, syn)
    # The cookie has the peer's id and role, the InitAck has ours; all else is the same in both.
    cookie = seal.cookie(terms, now, source)
    terms.whatami = offer.role
    terms.zid = offer.zid
    terms.cookie = cookie
    if offer.users is not None:
        terms.auth = challenge(seal.nonce(cookie))
    return bytes(terms)


def _agree(offer: Offer, syn: Init) -> Init:
    """The agreed terms, as an INIT with the id and the role of the peer."""
    terms = Init(syn.whatami, syn.zid)
    resolution = smaller_resolution(offer.resolution, resolution_of(syn))
    set_sizes(terms, resolution, agree_batch_size(offer.batch_size, syn))
    set_qos(terms, agree_qos(qos_of(syn), own_qos(offer)))
    if offer.users is not None and not has_mark(syn.auth):
        raise unproven("the peer offers no user and password")
    terms.lowlatency = offer.low_latency and syn.lowlatency
    terms.compression = offer.compression and syn.compression
    terms.patch = min(offer.patch, syn.patch or 0) or None
    return terms
