"""Lifetimes of tokens: which are odd, and which rows are not lifetimes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.report.small_lake import ASKER, ROUTER, capture, life, make, row
from zenlake.report import Selection, collect

ONWARD = {"sender_zid": ROUTER, "receiver_zid": ASKER}


def declarations_of(tmp_path: Path, *lives: dict[str, Any], **tables: Any) -> dict[str, Any]:
    for number, one in enumerate(lives):
        one["seq"] = number
    rows = {"captures": [capture()], "declarations": list(lives), **tables}
    data: dict[str, Any] = collect(make(tmp_path / "a.lake", rows), Selection())["declarations"]
    return data


def test_a_token_that_is_announced_after_its_source_was_gone_is_a_ghost(tmp_path: Path) -> None:
    data = declarations_of(
        tmp_path,
        life(100, 2_000, "arm/alive"),
        life(101, 2_001, "arm/alive", **ONWARD),  # in time
        life(102, None, "arm/alive", sender_zid=ROUTER, receiver_zid="f00d"),  # never
    )
    assert data["ghosts"] == 1
    [ghost] = [one for one in data["lives"] if one["ghost"]]
    assert (ghost["begin"], ghost["end"], ghost["endedBy"]) == (102.0, 10_000.0, None)


def test_token_that_another_node_still_announces_is_no_ghost(tmp_path: Path) -> None:
    data = declarations_of(
        tmp_path,
        life(100, 2_000, "alive"),
        life(150, 9_000, "alive", sender_zid="beef"),
        life(101, 9_001, "alive", **ONWARD),
    )
    assert data["ghosts"] == 0


def test_token_behind_a_router_that_is_gone_is_no_ghost(tmp_path: Path) -> None:
    """Routers learn the end from link state; clients need an undeclaration from their router."""
    gone = life(100, 2_000, "alive", ended_by="session", sender_zid="beef")
    between = life(101, 9_000, "alive", ended_by="session", **ONWARD, node_id=2)
    assert declarations_of(tmp_path, gone, between)["ghosts"] == 0
    client = {**between, "node_id": None}
    assert declarations_of(tmp_path / "client", gone, client)["ghosts"] == 1


def test_declaration_marked_as_answer_is_no_lifetime(tmp_path: Path) -> None:
    data = declarations_of(
        tmp_path,
        life(100, 2_000, "alive"),
        life(1_000, None, "alive", entity_id=0, interest_id=7, is_answer=True, **ONWARD),
    )
    assert (data["inAll"], data["ghosts"]) == (1, 0)


def test_a_token_declared_while_alive_overlaps(tmp_path: Path) -> None:
    data = declarations_of(
        tmp_path,
        life(100, 2_000, "alive", entity_id=1),
        life(1_500, 3_000, "alive", entity_id=2),
        life(3_000, 4_000, "alive", entity_id=3),  # after it
        life(1_600, 3_000, "alive", entity_id=2, sender_zid="beef"),  # of another node
    )
    assert data["doubles"] == 1
    assert [one["begin"] for one in data["lives"] if one["double"]] == [1500.0]


def test_answer_to_a_current_interest_is_no_lifetime(tmp_path: Path) -> None:
    asked = row(50, 5, mode="current", interest_id=7, sender_zid=ASKER, receiver_zid=ROUTER)
    data = declarations_of(
        tmp_path,
        life(100, 2_000, "alive"),
        life(1_000, None, "alive", entity_id=0, interest_id=7, **ONWARD),
        interests=[asked],
    )
    assert (data["inAll"], data["ghosts"], data["doubles"]) == (1, 0, 0)


def test_entities_alive_at_a_time_are_counted(tmp_path: Path) -> None:
    data = declarations_of(
        tmp_path,
        life(0, 5_000, "a"),
        life(2_500, None, "b"),
        life(None, 5_000, "c", ended_by="session"),
        life(0, None, "d", entity="keyexpr"),
        life(0, None, "e", entity="subscriber"),
    )
    tokens, subscribers, queryables = data["alive"]
    places = [int(share * (len(tokens) - 1)) for share in (0.1, 0.4, 0.9)]
    assert [tokens[place] for place in places] == [1, 2, 1]
    assert set(subscribers) == {1}
    assert set(queryables) == {0}
    assert data["endedWithSession"] == 1
    assert [one["seenStart"] for one in data["lives"] if one["endedBy"] == "session"] == [False]


def test_captures_do_not_mix(tmp_path: Path) -> None:
    later = life(1_000, None, "alive", **ONWARD) | {"capture": "later.pcap"}
    data = declarations_of(
        tmp_path,
        life(100, 200, "alive"),
        later,
        captures=[capture(), capture("later.pcap", 900, 9_000)],
    )
    assert data["ghosts"] == 0
    assert {one["capture"] for one in data["lives"]} == {0, 1}
