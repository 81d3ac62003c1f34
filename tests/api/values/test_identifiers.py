"""Ids of nodes and entities, and source infos."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import zenlake
from tests.api.against import both
from zenlake import wire


def test_identifiers_have_texts_bytes_and_equality() -> None:
    zid = wire.ZenohId.parse("102")
    entity = zenlake.EntityGlobalId.from_wire(zid, 7)
    assert str(entity.zid) == repr(entity.zid) == "102"
    assert bytes(entity.zid) == b"\2\1"
    assert entity == zenlake.EntityGlobalId.from_wire(zid, 7)
    assert repr(entity) == "EntityGlobalId { zid: 102, eid: 7 }"
    info = zenlake.SourceInfo(entity, 3)
    assert (info.source_id, info.source_sn) == (entity, 3)
    assert zenlake.SourceInfo.from_wire(info.wire) == info
    assert info.wire == wire.SourceInfo(zid, 7, 3)
    with pytest.raises(OverflowError):
        zenlake.SourceInfo(entity, 1 << 32)
    wrong_calls: list[Callable[[Any], object]] = [
        lambda z: z.ZenohId(),
        lambda z: z.EntityGlobalId(),
        lambda z: z.SourceInfo(1, 2),
    ]
    for wrong in wrong_calls:
        ours, theirs = both(wrong)
        assert ours == theirs == ("raises", "TypeError")
