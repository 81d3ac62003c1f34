"""Names, times and counts as people read them."""

from __future__ import annotations

import pytest

from zenlake.why.formatting import Labels, counted, listed, ms, packets_text
from zenlake.why.records import Evidence, Moment


def test_zids_are_as_short_as_they_can_be() -> None:
    zids = ["abcd0111", "abcd0222", "abce0000", "ffff", "ffffff", "12"]
    labels = Labels(Evidence("x", roles=dict.fromkeys(zids, "client")))
    shown = [labels.short(zid) for zid in zids]
    assert shown == ["abcd01", "abcd02", "abce", "ffff", "fffff", "12"]
    assert len(set(shown)) == len(zids)


def test_a_node_has_a_role_or_none() -> None:
    labels = Labels(Evidence("x", roles={"abcd01": "router"}))
    assert labels.who("abcd01") == "router abcd"
    assert labels.who("9999") == "node 9999"
    assert labels.who(None) == "an unnamed node"


def test_times_count_from_the_start() -> None:
    labels = Labels(Evidence("x", first_ns=5_000_000_000))
    assert labels.at(Moment(6_500_000_000, 7)) == "packet 7, 1.500 s"
    assert labels.at(Moment(6_500_000_000, None)) == "at 1.500 s"


@pytest.mark.parametrize(
    ("value", "text"), [(0.42, "0.4 ms"), (99.94, "99.9 ms"), (1500.0, "1,500 ms")]
)
def test_milliseconds_are_rounded(value: float, text: str) -> None:
    assert ms(value) == text


def test_lists_and_counts_are_english() -> None:
    assert [listed(["a", "b", "c"][:count]) for count in range(4)] == [
        "",
        "a",
        "a and b",
        "a, b and c",
    ]
    assert (counted(1, "reply", "replies"), counted(2_000, "byte")) == ("1 reply", "2,000 bytes")
    assert packets_text([7, 7]) == "packet 7"
    assert packets_text([1, 2]) == "packets 1 and 2"
    assert packets_text(list(range(1, 9))) == "packets 1, 2, 3, 4, 5 and 3 more"
