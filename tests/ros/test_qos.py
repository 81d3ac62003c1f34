"""Quality of service, as tokens encode it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zenlake.ros.qos import Qos, read_bridge_qos, read_rmw_qos
from zenlake.ros.reading import Reading

DEFAULT = Qos("reliable", "volatile", "keep_last", 42, None, None, "automatic", None)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("::,:,:,:,,", DEFAULT),
        ("::,7:,:,:,,", DEFAULT._replace(depth=7)),
        ("2::,5:,:,:,,", DEFAULT._replace(reliability="best_effort", depth=5)),
        (":1:2,:,:,:,,", DEFAULT._replace(durability="transient_local", history="keep_all")),
        (
            "1:2:1,10:5,0:60,3000:3,0,7",
            Qos(
                "reliable",
                "volatile",
                "keep_last",
                10,
                5_000_000_000,
                60_000_003_000,
                "manual_by_topic",
                7,
            ),
        ),
        ("::,:9223372036,854775807:,:,,", DEFAULT),
        ("::,:0,0:,:,,", DEFAULT._replace(deadline_ns=0)),
    ],
)
def test_qos_of_rmw_zenoh_is_read(text: str, wanted: Qos) -> None:
    reading = Reading()
    assert read_rmw_qos(text, reading) == wanted
    assert reading.unread is None


@pytest.mark.parametrize(
    ("text", "wanted", "unread"),
    [
        ("", Qos(), "QoS has 1 parts instead of 6"),
        ("::,:,:,", Qos(), "QoS has 5 parts instead of 6"),
        ("9::,:,:,:,,", DEFAULT._replace(reliability=None), "reliability '9' is not known"),
        (":x:,:,:,:,,", DEFAULT._replace(durability=None), "durability 'x' is not known"),
        ("::,-1:,:,:,,", DEFAULT._replace(depth=None), "depth '-1' is not a number"),
        ("::,٣:,:,:,,", DEFAULT._replace(depth=None), "depth '٣' is not a number"),
        ("::,9223372036854775808:,:,:,,", DEFAULT._replace(depth=None), "is not a number"),
        ("::,:x,1:,:,,", DEFAULT, "deadline seconds 'x' is not a number"),
        ("::1:,:,:,,", DEFAULT, "history '1' has 1 parts instead of 2"),
    ],
)
def test_invalid_qos_of_rmw_zenoh_has_a_reason(text: str, wanted: Qos, unread: str) -> None:
    reading = Reading()
    assert read_rmw_qos(text, reading) == wanted
    assert reading.unread is not None
    assert unread in reading.unread


@pytest.mark.parametrize(
    ("text", "is_writer", "wanted", "type_hash"),
    [
        (":::", True, Qos("reliable", "volatile", "keep_last", 1), None),
        (":::", False, Qos("best_effort", "volatile", "keep_last", 1), None),
        ("K:1:1:0,10", True, Qos("reliable", "transient_local", "keep_last", 10), None),
        (":0::1,-1", True, Qos("best_effort", "volatile", "keep_all", -1), None),
        (
            ":1:::typehash=RIHS01_ab;",
            True,
            Qos("reliable", "volatile", "keep_last", 1),
            "RIHS01_ab",
        ),
        (":1:::a=b;c:d", True, Qos("reliable", "volatile", "keep_last", 1), None),
    ],
)
def test_qos_of_the_bridge_is_read(
    text: str, is_writer: bool, wanted: Qos, type_hash: str | None
) -> None:
    reading = Reading()
    assert read_bridge_qos(text, is_writer, reading) == (wanted, type_hash)
    assert reading.unread is None


def test_invalid_qos_of_the_bridge_has_a_reason() -> None:
    for text, unread in (
        ("::", "QoS has 3 parts"),
        ("x:::", "QoS begins with 'x'"),
        (":7::", "reliability '7' is not known"),
        (":::1", "history '1' has 1 parts"),
    ):
        reading = Reading()
        read_bridge_qos(text, True, reading)
        assert unread in (reading.unread or "")


TEXTS = st.text(st.sampled_from("0123456789:,K-x")) | st.text()


@given(TEXTS)
def test_any_text_has_values_that_fit_the_tables(text: str) -> None:
    for qos in (read_rmw_qos(text, Reading()), read_bridge_qos(text, True, Reading())[0]):
        numbers = (qos.depth, qos.deadline_ns, qos.lifespan_ns, qos.lease_ns)
        assert all(one is None or -(1 << 63) <= one < 1 << 63 for one in numbers)
