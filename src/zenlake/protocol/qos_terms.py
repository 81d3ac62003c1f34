"""QoS in INIT: whether there are priorities, and which of them a link is for (wire reference §5.3).

QoSLink is QoS with a range of priorities or a reliability (endpoint metadata `prio`, `rel`).
An opener's range must lie within an acceptor's; if one side sets no value, the other's applies.
"""

from __future__ import annotations

from typing import Final

from zenlake.protocol.errors import HandshakeError, refusal
from zenlake.protocol.offer import Offer
from zenlake.wire import CloseReason, Init, QoSLink

PLAIN: Final = QoSLink(1)
_TAG: Final = 7


def own_qos(offer: Offer) -> QoSLink | None:
    """The QoS that this node offers; None if QoS is off."""
    if not offer.qos:
        return None
    return PLAIN if offer.qos_link is None else offer.qos_link


def qos_of(init: Init) -> QoSLink | None:
    """The QoS in an INIT; None if QoS is off."""
    link = init.qos_link
    if link is None:
        return PLAIN if init.qos else None
    if init.qos:
        raise _failure("QoS and QoSLink exclude each other")
    if link.value & _TAG == 0:
        return None
    if link.priorities is not None and not link.priorities[0] <= link.priorities[1] <= 7:
        raise _failure(f"{link} is no range of priorities")
    return link


def set_qos(init: Init, qos: QoSLink | None) -> None:
    if qos is None:
        return
    if qos.priorities is None and qos.reliable is None:
        init.qos = True
    else:
        init.qos_link = qos


def agree_qos(opener: QoSLink | None, acceptor: QoSLink | None) -> QoSLink | None:
    """The agreed QoS; None unless both offer it."""
    if opener is None or acceptor is None:
        return None
    reliable = acceptor.reliable if opener.reliable is None else opener.reliable
    if acceptor.reliable is not None and reliable != acceptor.reliable:
        raise _failure("the two ends want the link for different reliabilities")
    wanted, wide = opener.priorities, acceptor.priorities
    if wanted is None:
        return QoSLink.of(wide, reliable)
    if wide is not None and not (wide[0] <= wanted[0] and wanted[1] <= wide[1]):
        raise _failure(f"{opener} is not within {acceptor}")
    return QoSLink.of(wanted, reliable)


def _failure(cause: str) -> HandshakeError:
    return refusal(CloseReason.GENERIC, cause)
