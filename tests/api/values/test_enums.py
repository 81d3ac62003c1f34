"""Enumerations: the same constants, numbers and texts as eclipse-zenoh's, and hashable."""

from __future__ import annotations

import copy
import pickle

import pytest
import zenoh

import zenlake
from zenlake.api.query.consolidation import QueryConsolidation, consolidation_mode_of
from zenlake.api.values.enums import Priority, SampleKind, WhatAmI

NAMES = [
    "CongestionControl",
    "ConsolidationMode",
    "InterceptionPoint",
    "Locality",
    "Priority",
    "QueryTarget",
    "Reliability",
    "ReplyKeyExpr",
    "SampleKind",
    "SetIntersectionLevel",
    "WhatAmI",
]


def constants(cls: type) -> dict[str, tuple[int, str, str]]:
    named = {name: getattr(cls, name) for name in dir(cls) if name.isupper()}
    return {name: (int(value), str(value), repr(value)) for name, value in named.items()}


@pytest.mark.parametrize("name", NAMES)
def test_constants_are_the_same(name: str) -> None:
    assert constants(getattr(zenlake, name)) == constants(getattr(zenoh, name))


def test_a_constant_equals_only_itself() -> None:
    # Objects, because type checkers take every name for a constant of its own.
    default: object = Priority.DEFAULT
    low: object = Priority.DATA_LOW
    numbers: list[object] = [5, 0]
    assert default == Priority.DATA
    assert low != Priority.DATA
    assert Priority.DATA not in numbers
    assert SampleKind.PUT not in numbers
    assert len({Priority.DATA, Priority.DEFAULT, Priority.MIN}) == 2
    with pytest.raises(TypeError):
        _ = Priority.DATA < Priority.MIN  # type: ignore[operator]  # as there


def test_constants_stay_single_when_copied_or_pickled() -> None:
    assert copy.deepcopy(Priority.DATA) is copy.copy(Priority.DATA) is Priority.DATA
    assert pickle.loads(pickle.dumps(WhatAmI.PEER)) is WhatAmI.PEER
    assert WhatAmI.from_number(4) is WhatAmI.CLIENT


def test_no_further_constants_can_be_made() -> None:
    with pytest.raises(TypeError, match="No constructor defined for Priority"):
        Priority(5)
    with pytest.raises(TypeError, match="not an acceptable base type"):
        type("More", (Priority,), {})
    with pytest.raises(AttributeError):
        Priority.DATA.colour = "red"  # type: ignore[attr-defined]  # wrong on purpose


def test_query_consolidation_wraps_a_mode() -> None:
    latest = zenlake.ConsolidationMode.LATEST
    assert QueryConsolidation(latest).mode is latest
    assert QueryConsolidation.AUTO == QueryConsolidation.DEFAULT
    assert consolidation_mode_of(latest) is consolidation_mode_of(QueryConsolidation(latest))
    with pytest.raises(TypeError):
        QueryConsolidation("latest")  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(TypeError):
        consolidation_mode_of(3)  # type: ignore[arg-type]  # wrong on purpose
