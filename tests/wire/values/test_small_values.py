"""Roles, QoS, resolution, queryable info, key expressions: small values with a few bits each."""

from __future__ import annotations

import pytest

from zenlake.errors import LocalError
from zenlake.wire import (
    CloseReason,
    CongestionControl,
    ConsolidationMode,
    Del,
    Priority,
    Push,
    QoS,
    QoSLink,
    QueryableInfo,
    Resolution,
    WhatAmI,
    WhatAmIMatcher,
    WireExpr,
    encode,
)
from zenlake.wire.primitives import Malformed
from zenlake.wire.values import choices, qos, queryable_info, resolution, whatami

ROLES = [
    (WhatAmI.ROUTER, 0, 1, "router"),
    (WhatAmI.PEER, 1, 2, "peer"),
    (WhatAmI.CLIENT, 2, 4, "client"),
]


@pytest.mark.parametrize(("role", "code", "mask", "text"), ROLES)
def test_role_in_its_three_forms(role: WhatAmI, code: int, mask: int, text: str) -> None:
    assert whatami.role_of_code(code) is role
    assert whatami.code_of_role(role) == code
    assert whatami.role_of_mask(mask) is role
    assert int(role) == mask
    assert str(role) == text


def test_roles_that_do_not_exist() -> None:
    with pytest.raises(Malformed, match="role 3 is reserved"):
        whatami.role_of_code(3)
    for mask in {*range(256)} - {1, 2, 4}:
        with pytest.raises(Malformed):
            whatami.role_of_mask(mask)


def test_sets_of_roles() -> None:
    texts = ["", "router", "peer", "router|peer", "client", "router|client", "peer|client"]
    for mask, text in enumerate([*texts, "router|peer|client"]):
        matcher = WhatAmIMatcher(mask)
        assert str(matcher) == text
        assert [role for role in WhatAmI if matcher.matches(role)] == [
            role for role, _, bit, _ in ROLES if mask & bit
        ]
        assert matcher == whatami.matcher_of_mask(mask)
        assert hash(matcher) == hash(whatami.matcher_of_mask(mask))
    for mask in (-1, 8):
        with pytest.raises(LocalError):
            WhatAmIMatcher(mask)


@pytest.mark.parametrize("byte", range(64))
def test_every_qos_byte_has_its_properties(byte: int) -> None:
    value = QoS(byte)
    assert value.priority == byte % 8
    assert value.express == bool(byte & 0x10)
    block, first = byte & 0x08, byte & 0x20
    wanted = (
        CongestionControl.BLOCK
        if block
        else (CongestionControl.BLOCK_FIRST if first else CongestionControl.DROP)
    )
    assert value.congestion is wanted
    assert qos.byte_of_qos(qos.qos_of_byte(byte)) == byte
    for reserved in (0x40, 0x80, 0xC0):
        assert qos.qos_of_byte(byte | reserved) == value
    # A QoS built from these properties lacks only F beside D, which has no meaning.
    built = QoS.of(value.priority, value.congestion, value.express)
    assert built.byte == (byte & ~0x20 if block else byte)


def test_qos_values_that_deployed_nodes_send() -> None:
    assert str(QoS(0x19)) == "real_time, block, express"
    assert QoS.of().byte == 0x05
    assert QoS.of(congestion=CongestionControl.BLOCK).byte == 0x0D
    assert QoS.of(Priority.CONTROL, CongestionControl.BLOCK).byte == 0x08
    for byte in (-1, 0x40):
        with pytest.raises(LocalError):
            QoS(byte)


def test_frame_priority_uses_three_bits() -> None:
    for byte in range(256):
        assert qos.priority_of_byte(byte) == byte & 7


def test_resolution_codes_and_their_smaller_masks() -> None:
    bits, masks = (8, 16, 32, 64), (0x7F, 0x3FFF, 0xFFF_FFFF, 0xFFFF_FFFF)
    for byte in range(16):
        value = Resolution(byte)
        assert (value.sn_bits, value.sn_mask) == (bits[byte & 3], masks[byte & 3])
        assert value.request_id_bits == bits[byte >> 2]
        assert Resolution.of(value.sn_bits, value.request_id_bits) == value
        for high in range(0, 256, 16):
            assert resolution.resolution_of_byte(high | byte) == value
    assert Resolution().byte == 0x0A
    for byte in (-1, 16):
        with pytest.raises(LocalError):
            Resolution(byte)
    with pytest.raises(LocalError):
        Resolution.of(sn_bits=28)


@pytest.mark.parametrize(
    ("link", "value", "text"),
    [
        (QoSLink.of(), 1, "QoS"),
        (QoSLink.of((1, 3), reliable=True), 0x8180E, "priorities 1-3, reliable"),
        (QoSLink.of((6, 7), reliable=False), 0x3836, "priorities 6-7, best effort"),
        (QoSLink.of((0, 7)), 0x3802, "priorities 0-7"),
        (QoSLink.of(reliable=False), 4, "best effort"),
        (QoSLink(0), 0, "no QoS"),
    ],
)
def test_qos_link_has_its_number_and_text(link: QoSLink, value: int, text: str) -> None:
    assert link.value == value
    assert str(link) == text
    assert QoSLink(value) == link


def test_invalid_qos_link_is_refused() -> None:
    for first, last in ((3, 1), (-1, 2), (0, 8)):
        with pytest.raises(LocalError):
            QoSLink.of((first, last))
    assert QoSLink(0x8180E).priorities == (1, 3)
    assert QoSLink(1).priorities is None
    assert QoSLink(1).reliable is None


def test_queryable_info_in_both_dialects() -> None:
    for distance in (0, 1, 3, 255, 256, 0xFFFF):
        for complete in (False, True):
            info = QueryableInfo(complete, distance)
            deployed, pages = distance << 8 | complete, distance << 1 | complete
            assert queryable_info.number_of_queryable_info(info) == deployed
            assert queryable_info.queryable_info_of_number(deployed) == info
            assert queryable_info.pages_number_of_queryable_info(info) == pages
            assert queryable_info.queryable_info_of_pages_number(pages) == info
    # 0x03ff was forwarded as 0x0301: bits 7 to 1 mean nothing.
    forwarded = queryable_info.queryable_info_of_number(0x03FF)
    assert queryable_info.number_of_queryable_info(forwarded) == 0x0301


def test_distance_has_16_bits() -> None:
    with pytest.raises(Malformed):
        queryable_info.queryable_info_of_number(0x10000 << 8)
    with pytest.raises(Malformed):
        queryable_info.queryable_info_of_pages_number(0x10000 << 1)
    for distance in (-1, 0x10000):
        with pytest.raises(LocalError):
            QueryableInfo(distance=distance)


def test_unknown_choices_are_refused_except_for_consolidation() -> None:
    assert [choices.consolidation_of_number(n) for n in range(4)] == list(ConsolidationMode)
    for number in (4, 255, 2**64 - 1):
        assert choices.consolidation_of_number(number) is ConsolidationMode.AUTO
    assert [str(reason) for reason in CloseReason][7] == "connection_to_self"
    for number in (2, 2**64 - 1):
        with pytest.raises(Malformed):
            choices.bound_of_number(number)
    with pytest.raises(Malformed):
        choices.target_of_number(3)


def test_wire_expr_names_the_side_of_its_scope() -> None:
    assert str(WireExpr(0, "a/b")) == "a/b"
    assert str(WireExpr(2, "/x")) == "[sender 2]/x"
    assert str(WireExpr(2, "/x", sender=False)) == "[receiver 2]/x"
    assert WireExpr(2, "/x") != WireExpr(2, "/x", sender=False)
    assert len({WireExpr(2, "/x"), WireExpr(2, "/x"), WireExpr(3, "/x")}) == 2


@pytest.mark.parametrize("scope", [-1, 0x10000])
def test_scope_that_does_not_fit_is_never_sent(scope: int) -> None:
    with pytest.raises(LocalError):
        encode(Push(WireExpr(scope), Del()))
