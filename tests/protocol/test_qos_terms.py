from __future__ import annotations

import pytest

from tests.protocol.handshakes import CLIENT, client_offer
from zenlake.protocol.errors import HandshakeError
from zenlake.protocol.qos_terms import PLAIN, agree_qos, own_qos, qos_of, set_qos
from zenlake.wire import CloseReason, Init, QoSLink, WhatAmI

LOW = QoSLink.of((1, 3))
LOW_RELIABLE = QoSLink.of((1, 3), True)
ALL = QoSLink.of((0, 7))
RELIABLE = QoSLink.of(None, True)
BEST_EFFORT = QoSLink.of(None, False)


@pytest.mark.parametrize(
    ("opener", "acceptor", "agreed"),
    [
        (None, PLAIN, None),
        (PLAIN, None, None),
        (PLAIN, PLAIN, PLAIN),
        (LOW_RELIABLE, PLAIN, LOW_RELIABLE),
        (PLAIN, LOW_RELIABLE, LOW_RELIABLE),
        (LOW, ALL, LOW),
        (LOW, LOW, LOW),
        (LOW, RELIABLE, LOW_RELIABLE),
        (RELIABLE, LOW, LOW_RELIABLE),
        (BEST_EFFORT, BEST_EFFORT, BEST_EFFORT),
    ],
    ids=str,
)
def test_agreed_qos_satisfies_both(
    opener: QoSLink | None, acceptor: QoSLink | None, agreed: QoSLink | None
) -> None:
    assert agree_qos(opener, acceptor) == agreed


@pytest.mark.parametrize(
    ("opener", "acceptor"),
    [(ALL, LOW), (QoSLink.of((0, 1)), LOW), (QoSLink.of((3, 4)), LOW), (RELIABLE, BEST_EFFORT)],
    ids=str,
)
def test_qos_that_does_not_fit_is_refused(opener: QoSLink, acceptor: QoSLink) -> None:
    with pytest.raises(HandshakeError) as caught:
        agree_qos(opener, acceptor)
    assert caught.value.reason is CloseReason.GENERIC


@pytest.mark.parametrize("qos", [None, PLAIN, LOW, LOW_RELIABLE, BEST_EFFORT], ids=str)
def test_qos_round_trips_through_init(qos: QoSLink | None) -> None:
    init = Init(WhatAmI.CLIENT, CLIENT)
    set_qos(init, qos)
    assert qos_of(init) == qos


def test_qos_link_without_a_tag_means_no_qos() -> None:
    assert qos_of(Init(WhatAmI.CLIENT, CLIENT, qos_link=QoSLink(0))) is None


@pytest.mark.parametrize("value", [2 | 5 << 3 | 4 << 11, 2 | 1 << 3 | 8 << 11, 2 | 255 << 3])
def test_invalid_range_of_priorities_is_refused(value: int) -> None:
    with pytest.raises(HandshakeError):
        qos_of(Init(WhatAmI.CLIENT, CLIENT, qos_link=QoSLink(value)))


def test_offered_qos_follows_the_settings() -> None:
    assert own_qos(client_offer(qos=False, qos_link=LOW)) is None
    assert own_qos(client_offer()) == PLAIN
    assert own_qos(client_offer(qos_link=LOW)) == LOW
