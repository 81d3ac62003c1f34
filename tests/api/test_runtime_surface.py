"""Members that eclipse-zenoh has at run time, but not in its stub."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import zenoh

import zenlake
from tests.api.against import both
from tests.api.linked import two_sessions
from tests.sessions import config_of
from tests.waiting import until
from zenlake.api.documents.compatibility import NOT_OFFERED

NAMES = [name for name in dir(zenoh) if not name.startswith("_")]
CLASSES = [name for name in NAMES if inspect.isclass(getattr(zenoh, name))]
REFLECTED = {"__rtruediv__"}
"""Members that exist there because of their counterpart, and only raise TypeError."""


@pytest.mark.parametrize("name", CLASSES)
def test_no_member_is_missing(name: str) -> None:
    theirs, ours = getattr(zenoh, name), getattr(zenlake, name)
    expected = {member for member in dir(theirs) if not hasattr(object, member)} - REFLECTED
    assert expected - set(dir(ours)) == set()


def test_no_name_is_missing() -> None:
    missing = {name for name in NAMES if not hasattr(zenlake, name)} - {"zenoh"}
    assert missing <= {name.partition(".")[0] for name in NOT_OFFERED}


@pytest.mark.parametrize("one", ["ROUTER", "PEER", "CLIENT"])
@pytest.mark.parametrize("other", ["ROUTER", "PEER", "CLIENT", "router", "nonsense", 2, None])
def test_roles_combine_to_a_matcher(one: str, other: object) -> None:
    def combine(z: Any) -> object:
        named = isinstance(other, str) and other.isupper()
        return getattr(z.WhatAmI, one) | (getattr(z.WhatAmI, str(other)) if named else other)

    ours, theirs = both(combine)
    assert ours == theirs


def test_a_combination_is_a_matcher() -> None:
    roles: Any = zenlake.WhatAmI.PEER | zenlake.WhatAmI.ROUTER
    assert roles == zenlake.WhatAmIMatcher("peer|router")
    with pytest.raises(TypeError):
        roles | zenlake.WhatAmI.CLIENT


def test_querier_accepts_a_type_parameter() -> None:
    assert str(zenlake.Querier[int]).endswith("Querier[int]")  # type: ignore[misc]  # at run time only


def test_transports_do_not_use_shared_memory() -> None:
    with two_sessions() as (a, b):
        until(lambda: b.info.transports())
        (transport,) = b.info.transports()
        assert transport.is_shm is False
        whole = f"Transport {{ zid: {a.zid()}, whatami: Peer, "
        assert repr(transport) == whole + "is_qos: true, is_multicast: false, is_shm: false }"


@contextmanager
def query(package: Any) -> Iterator[Any]:
    with package.open(config_of(module=package)) as session:
        queryable = session.declare_queryable("k")
        replies = session.get("k")
        with queryable.recv() as asked:
            yield asked
        list(replies)


def warnings_of(package: Any) -> list[tuple[str, str, str]]:
    """Kind, text and file of the warnings that replies cause."""
    with query(package) as asked, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        block, high = package.CongestionControl.BLOCK, package.Priority.DATA_HIGH
        asked.reply("k", b"", congestion_control=block)
        asked.reply("k", b"", congestion_control=block, priority=high, express=True)
        asked.reply("k", b"", congestion_control=None, priority=None)
        asked.reply_del("k", priority=high)
        for wrong in ({"priority": 5}, {"congestion_control": "block"}):
            with pytest.raises(TypeError, match=f"argument '{next(iter(wrong))}'"):
                asked.reply("k", b"", **wrong)
    return [(one.category.__name__, str(one.message), one.filename) for one in caught]


def test_ignored_arguments_of_replies_are_deprecated() -> None:
    ours = warnings_of(zenlake)
    assert ours == warnings_of(zenoh)
    assert len(ours) == 4
    assert {file for _, _, file in ours} == {__file__}
