"""Classes without subclasses."""

from __future__ import annotations

import pytest

from tests.api.against import both


@pytest.mark.parametrize(
    "name", ["Config", "Encoding", "NTP64", "Timestamp", "TimestampId", "ZBytes", "ZenohId"]
)
def test_values_refuse_subclasses(name: str) -> None:
    ours, theirs = both(lambda z: type("Mine", (getattr(z, name),), {}))
    assert ours == theirs == ("raises", "TypeError")
