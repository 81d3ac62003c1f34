"""Opener: the side of a handshake that connected (wire reference §5.2).

    start()   -> InitSyn
    InitAck   -> OpenSyn, with the unchanged cookie
    OpenAck   -> the session is up: `agreed`

Any other message ends the handshake with a HandshakeError, which has the reason and the CLOSE to
send. A second InitAck is ignored where datagrams may be duplicated.
"""

from __future__ import annotations

from typing import Final

from zenlake.errors import LocalError
from zenlake.protocol.errors import NO_REASON, RefusedByPeer, refusal, unproven
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
from zenlake.protocol.user_password import MARK, has_mark, nonce_of, response
from zenlake.wire import CloseReason, Init, Open, Resolution, ZenohId
from zenlake.wire.message import TransportMessage
from zenlake.wire.sequence import initial_sn
from zenlake.wire.values.lease import lease_in_ms

_TO_START: Final = 0
_AWAITS_INIT_ACK: Final = 1
_AWAITS_OPEN_ACK: Final = 2
_OVER: Final = 3


class Opener:
    """One handshake. `agreed` is set when the session is up.

    `expected_zid` is the id that scouting or gossip announced for this address.
    """

    __slots__ = ("_expected_zid", "_is_lossy", "_offer", "_phase", "_tentative", "agreed")

    def __init__(
        self, offer: Offer, expected_zid: ZenohId | None = None, is_lossy: bool = False
    ) -> None:
        self._offer = offer
        self._expected_zid = expected_zid
        self._is_lossy = is_lossy
        self._phase = _TO_START
        self._tentative: Agreed | None = None
        self.agreed: Agreed | None = None

    def start(self) -> bytes:
        """The content of the first batch to send."""
        if self._phase != _TO_START:
            raise LocalError("the handshake has started already")
        self._phase = _AWAITS_INIT_ACK
        offer = self._offer
        syn = Init(offer.role, offer.zid)
        set_sizes(syn, offer.resolution, offer.batch_size)
        set_qos(syn, own_qos(offer))
        syn.auth = MARK if offer.user is not None else None
        syn.lowlatency = offer.low_latency
        syn.compression = offer.compression
        syn.patch = offer.patch or None
        return bytes(syn)

    def receive(self, batch: bytes) -> bytes | None:
        """The content of the next batch to send; None if there is none, or the session is up."""
        phase = self._phase
        if phase in (_TO_START, _OVER):
            raise LocalError("the handshake has not started, or is over")
        self._phase = _OVER
        try:
            message = first_message(batch, is_acceptor=False)
        except RefusedByPeer as refused:
            raise self._with_likely_cause(refused) from None
        if phase == _AWAITS_INIT_ACK:
            answer = self._answer_init(message)
            self._phase = _AWAITS_OPEN_ACK
            return answer
        if self._is_lossy and isinstance(message, Init):
            self._phase = phase
            return None
        self._finish(message)
        return None

    def _with_likely_cause(self, refused: RefusedByPeer) -> RefusedByPeer:
        """The error with a likely cause: a node that refuses a password sends no reason."""
        if refused.cause != NO_REASON:
            return refused
        if self._offer.user is None:
            cause = f"{NO_REASON}; it may demand a user and a password (transport/auth/usrpwd)"
        elif self._tentative is None:
            return refused
        else:
            cause = "authentication: unknown user or wrong password"
        return RefusedByPeer(refused.reason, cause, refused.farewell)

    def _answer_init(self, ack: TransportMessage) -> bytes:
        if not isinstance(ack, Init) or ack.cookie is None:
            raise unexpected(ack, "InitAck")
        check_version(ack)
        agreed = self._agree(ack)
        # Auth is an extension of INIT like the others, so it is checked before the id (§5.2).
        syn = open_message(agreed.own_lease_ms, agreed.own_sn)
        syn.cookie = ack.cookie
        offer = self._offer
        if offer.user is not None and offer.password is not None:
            nonce = nonce_of(ack.auth)
            if nonce is None:
                raise unproven("the peer does not ask for our user and password")
            syn.auth = response(offer.user, offer.password, nonce)
        self._check_zid(ack.zid)
        self._tentative = agreed
        return bytes(syn)

    def _agree(self, ack: Init) -> Agreed:
        offer = self._offer
        resolution = self._agree_resolution(ack)
        batch_size = agree_batch_size(offer.batch_size, ack)
        qos = agree_qos(own_qos(offer), qos_of(ack))
        patch = ack.patch or 0
        if patch > offer.patch:
            raise refusal(CloseReason.GENERIC, f"patch {patch} is more than was offered")
        return Agreed(
            ack.zid,
            ack.whatami,
            is_opener=True,
            resolution=resolution,
            batch_size=batch_size,
            qos=qos is not None,
            qos_link=None if qos == PLAIN else qos,
            low_latency=offer.low_latency and ack.lowlatency,
            compression=offer.compression and ack.compression,
            patch=patch,
            own_sn=initial_sn(offer.zid, ack.zid, resolution.sn_mask),
            own_lease_ms=offer.lease_ms,
            keep_alive=offer.keep_alive,
            message_bytes_max=offer.message_bytes_max,
            queue_batches=offer.queue_batches,
        )

    def _agree_resolution(self, ack: Init) -> Resolution:
        resolution = resolution_of(ack)
        if smaller_resolution(resolution, self._offer.resolution) != resolution:
            raise refusal(CloseReason.INVALID, f"{resolution} is more than was offered")
        return resolution

    def _check_zid(self, zid: ZenohId) -> None:
        if zid == self._offer.zid:
            raise refusal(CloseReason.CONNECTION_TO_SELF, "this is our own node")
        if self._expected_zid is not None and zid != self._expected_zid:
            cause = f"node {zid} answered in place of {self._expected_zid}"
            raise refusal(CloseReason.INVALID, cause)

    def _finish(self, ack: TransportMessage) -> None:
        agreed = self._tentative
        if not isinstance(ack, Open) or ack.cookie is not None or agreed is None:
            raise unexpected(ack, "OpenAck")
        check_initial_sn(ack, agreed.sn_mask)
        if self._offer.user is not None and not has_mark(ack.auth):
            raise unproven("the peer did not confirm our user and password")
        agreed.peer_sn = ack.initial_sn
        agreed.peer_lease_ms = lease_in_ms(ack.lease, ack.seconds)
        agreed.user = self._offer.user
        self.agreed = agreed
