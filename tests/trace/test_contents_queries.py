"""Every get of the sidecars has its REQUEST, and every reply its RESPONSE."""

from __future__ import annotations

from collections import Counter
from hashlib import sha256

import pytest

from tests.trace.queries import Answer, answer_in, asked_by, asked_in, exchange_of, recorded_answer
from tests.trace.sidecar import (
    PATHS,
    Row,
    Sidecar,
    digest,
    digest_in,
    field,
    is_captured,
    reading_of,
    seconds,
    sidecar_of,
)
from zenlake.trace import MessageSeen
from zenlake.trace.timelines.exchange import Exchange

ASKING = [name for name in PATHS if sidecar_of(name).of("get")]
ANSWERING = [name for name in PATHS if sidecar_of(name).queries_received]

QUERY_SECONDS_MAX = 1.0
"""The longest time that a queryable takes before it replies."""
TIMEOUT = Answer(
    "err", None, sha256(b"Timeout").hexdigest(), "zenoh/string", None, None, (None, None)
)
"""The error that a session reports to its own get at the timeout; it crosses no link."""


def remove_answer(response: MessageSeen, wanted: list[Answer]) -> None:
    """Removes the answer in a message from `wanted`, if it is there."""
    for answer in wanted:
        if answer_in(response, like=answer) == answer:
            wanted.remove(answer)
            return


def not_sent(exchange: Exchange, answers: list[Answer]) -> list[Answer]:
    """Answers without a response in the exchange; each response matches one answer."""
    left = list(answers)
    for response in (*exchange.responses, *exchange.after_final):
        remove_answer(response, left)
    return left


def given_by(sidecar: Sidecar, node: str) -> set[Answer]:
    """Answers of the node's own queryables, which the node receives without a message."""
    return {
        recorded_answer(reply)
        for row in sidecar.queries_received
        if row["node"] == node
        for reply in row["replies"]
    }


def plain(answer: Answer) -> Answer:
    return answer._replace(timestamp=None, replier=None, qos=None)


def test_captures_have_queries() -> None:
    assert len(ASKING) == 17
    assert len(ANSWERING) == 16


@pytest.mark.parametrize("name", ASKING)
def test_each_get_has_one_request(name: str) -> None:
    sidecar, reading = sidecar_of(name), reading_of(name)
    for node in {row["node"] for row in sidecar.of("get")}:
        wanted = Counter(asked_by(sidecar, row) for row in sidecar.of("get") if row["node"] == node)
        zid = sidecar.zids[node]
        sent = [event for event in reading.of("REQUEST") if event.sender_zid == zid]
        assert Counter(map(asked_in, sent)) == wanted


@pytest.mark.parametrize("name", ASKING)
def test_each_reply_has_a_response_to_its_request(name: str) -> None:
    """A queryable on the same node receives the query and replies without a message."""
    sidecar = sidecar_of(name)
    found = reading_of(name).exchanges()
    checked = 0
    for get in sidecar.of("get"):
        exchange = exchange_of(sidecar, get, found)
        assert exchange.final is not None
        replies = [recorded_answer(reply) for reply in get["replies"]]
        missing = [answer for answer in not_sent(exchange, replies) if answer != TIMEOUT]
        assert {plain(answer) for answer in missing} <= given_by(sidecar, get["node"])
        checked += len(replies) - len(missing)
    assert checked or name == "compression", "only its queries have no reply"


@pytest.mark.parametrize("name", ANSWERING)
def test_each_call_of_a_queryable_has_a_request_and_its_answers(name: str) -> None:
    sidecar = sidecar_of(name)
    found = reading_of(name).exchanges()
    checked = 0
    for row in sidecar.queries_received:
        if not is_captured(row, sidecar.capture) or is_own(sidecar, row):
            continue
        answers = [recorded_answer(reply) for reply in row["replies"] if not reply.get("failed")]
        about = [exchange for exchange in found if is_about(sidecar, exchange, row)]
        assert about
        # Queries may be equal, and one request may call two queryables of a node.
        assert any(not not_sent(exchange, answers) for exchange in about)
        checked += 1
    assert checked or name == "encrypted_links", "its answers are encrypted"


def is_own(sidecar: Sidecar, row: Row) -> bool:
    """Whether a node queried itself."""
    return any(
        get["node"] == row["node"] and get["started"] <= row["t"] <= get["t"]
        for get in sidecar.of("get")
    )


def is_about(sidecar: Sidecar, exchange: Exchange, row: Row) -> bool:
    """Whether this exchange called a queryable; in a group any member may answer."""
    request, zid = exchange.request, sidecar.zids[row["node"]]
    if request is None or exchange.responder_zid not in (zid, None):
        return False
    body = row.get("payload")
    return (
        exchange.key == row["key"]
        and (exchange.parameters or "") == row["parameters"]
        and digest(field(request, "payload")) == digest_in(body)
        and digest(field(request, "attachment")) == digest_in(row.get("attachment"))
        and abs(seconds(request) - row["t"]) < QUERY_SECONDS_MAX
        and exchange.requester_zid != zid
    )
