"""Ids of nodes and entities, and source infos."""

from __future__ import annotations

import pytest

import zenlake
from tests.api.against import both
from zenlake import wire


def test_identifiers() -> None:
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
    for wrong in (
        lambda z: z.ZenohId(),
        lambda z: z.EntityGlobalId(),
        lambda z: z.SourceInfo(1, 2),
    ):
        ours, theirs = both(lambda z, wrong=wrong: getattr(z, wrong)())  # type: ignore[misc]
        assert ours == theirs == ("raises", "TypeError")
