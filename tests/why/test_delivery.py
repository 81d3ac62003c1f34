"""Which replies a querier gets, as its own session decides (behaviour reference §2.7)."""

from __future__ import annotations

import pytest

from tests.why.evidence_by_hand import asked, at, error, reply
from zenlake.why.delivery import consolidation_mode, dropped

REPLIES = [
    reply(1, stamp="3"),  # new
    reply(2, stamp="1"),  # old
    reply(3, stamp=""),  # none
    reply(4, stamp="2"),  # between
    reply(5, stamp="3"),  # the same as the first
]
"""The reference's own example."""


@pytest.mark.parametrize(
    ("mode", "delivered"),
    [("none", [1, 2, 3, 4, 5]), ("monotonic", [1, 5]), ("latest", [5]), ("auto", [5])],
)
def test_consolidation_decides_what_is_delivered(mode: str, delivered: list[int]) -> None:
    query = asked(0, consolidation=mode, replies=REPLIES, final=at(6))
    gone = {one.reply.at.packet for one in dropped(query)}
    assert [one.at.packet for one in REPLIES if one.at.packet not in gone] == delivered


def test_without_timestamps_the_last_reply_is_delivered() -> None:
    query = asked(0, replies=[reply(1), reply(2), reply(3, "k/a")], final=at(6))
    drops = dropped(query)
    assert [(one.reply.at.packet, one.why) for one in drops] == [(1, "latest"), (2, "latest")]
    assert all(one.instead is not None and one.instead.at.packet == 3 for one in drops)


def test_query_with_a_time_range_gets_all_replies() -> None:
    assert consolidation_mode(asked(0, consolidation="auto", parameters="_time=[..]")) == "none"
    assert consolidation_mode(asked(0, consolidation="auto", parameters="x_time=1")) == "latest"


def test_replies_after_timeout_or_final_are_dropped_and_errors_are_not() -> None:
    replies = [error(1, "no"), error(2, "no"), reply(1_500), reply(7, late=True)]
    query = asked(0, replies=replies, final=at(6))
    assert [one.why for one in dropped(query)] == ["timeout", "late"]
