"""Message types are found by name, hash and key."""

from __future__ import annotations

import sys

import pytest

pytest.importorskip("rosbags", reason="needs zenlake[ros]")

from tests.ros.dds import dds_type
from zenlake.errors import LocalError
from zenlake.ros.definitions import Definition, _by_hash, _stores, check_extra, find

SCAN = "sensor_msgs/msg/LaserScan"
STRING = "std_msgs/msg/String"
STRING_HASH = "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"
"""An example of the design document of rmw_zenoh."""


@pytest.mark.parametrize(
    "meant",
    [
        STRING,
        "std_msgs/String",
        dds_type(STRING),
        STRING_HASH,
        f"0/chatter/{dds_type(STRING)}/{STRING_HASH}",
        f"fleet/0/robot/chatter/{dds_type(STRING)}/{STRING_HASH}",
        f"0/chatter/{dds_type(STRING)}/TypeHashNotSupported",
    ],
)
def test_type_is_found_by_every_form_of_its_name(meant: str) -> None:
    found = find(meant)
    assert isinstance(found, Definition)
    assert found.name == STRING
    assert found.store.hash_rihs01(STRING) == STRING_HASH


@pytest.mark.parametrize(
    ("meant", "reason"),
    [
        ("", "type '' is not known"),
        ("a/msg/B", "type 'a/msg/B' is not known"),
        ("RIHS01_00", "hash 'RIHS01_00' is not known"),
        (f"0/s/{dds_type(SCAN)}/RIHS01_00", f"{SCAN} with the hash 'RIHS01_00' is not known"),
        (f"0/s/{dds_type(SCAN)}/{STRING_HASH}", f"the hash is that of {STRING}, not of '{SCAN}'"),
        ("0/s/a::msg::dds_::B_/RIHS01_00", "hash 'RIHS01_00' is not known"),
    ],
)
def test_unknown_type_has_a_reason(meant: str, reason: str) -> None:
    assert find(meant) == reason


def test_hash_selects_the_release() -> None:
    """Some definitions changed between releases; their hashes differ."""
    hashes: dict[str, set[str]] = {}
    for store in _stores():
        for name in store.fielddefs:
            hashes.setdefault(name, set()).add(store.hash_rihs01(name))
    changed = {name: found for name, found in hashes.items() if len(found) > 1}
    assert changed
    for name, found in changed.items():
        for one in found:
            definition = _by_hash()[one]
            assert definition.name == name
            assert definition.store.hash_rihs01(name) == one


def test_missing_extra_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rosbags.typesys", None)
    with pytest.raises(LocalError, match=r"pip install 'zenlake\[ros\]'"):
        check_extra()
