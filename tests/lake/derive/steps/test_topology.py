"""Nodes and adjacencies, from hand-made events."""

from __future__ import annotations

from typing import Any

from tests.lake.derive.steps.cases import MS, Row, Staged, by_case, columns, frame, staged
from zenlake.lake.derive.duck import Engine
from zenlake.lake.derive.steps import adjacencies, nodes


def node(zid: str, first: int, last: int, **more: Any) -> Row:
    return {"capture": "c", "zid": zid, "first_ns": first, "last_ns": last, **more}


NODES = [
    node("a", 5, 6, role="peer", locators="tcp/b tcp/a"),
    node("a", 3, 4, role="router"),
    node("a", 9, 9, locators="tcp/a tcp/c"),
    node("b", 1, 1),
    node("b", 2, 2, locators=""),
]


def test_node_merges_all_its_announcements(engine: Engine) -> None:
    found = by_case(nodes.build(frame(engine, "node_events", NODES)), "zid")["c"]
    assert columns(found, "zid", "role", "locators", "first_ns", "last_ns") == [
        ("a", "peer", "tcp/a tcp/b tcp/c", 3, 9),
        ("b", None, None, 1, 2),
    ]


def state(seq: int, *links: str, sn: int | None = None, **more: Any) -> list[Row]:
    """A link state; links are written `b`, or `b=7` with a weight."""
    rows = []
    for link in links or ("",):
        neighbour, _, weight = link.partition("=")
        rows.append(
            {
                "seq": seq,
                "sn": seq if sn is None else sn,
                "neighbour_zid": neighbour or None,
                "weight": int(weight) if weight else None,
                **more,
            }
        )
    return rows


CASES: dict[str, list[Row]] = {
    "grows": state(1, "b") + state(2, "b", "c") + state(3, "c"),
    "comes back": state(1, "b") + state(2) + state(3, "b"),
    "weight": state(1, "b=1") + state(2, "b=2") + state(3, "b=2"),
    "outdated": state(1, "b", sn=5) + state(2, sn=4) + state(3, "b", sn=6),
    "begins again elsewhere": state(1, "b", sn=5) + state(2, sn=1, session="s2"),
    "without links": state(1, "b") + state(2, has_links=False),
    "tellers": state(1, "b") + state(2, told_by_zid="t2") + state(3, zid="z2"),
    "announced twice": state(1, "b", "b") + state(2, "b"),
    "other session": state(1, "b") + state(2, "b", session="s2"),
    "gone": state(1, "b"),
    "still here": state(1, "b"),
    "left and came back": state(1, "b") + state(6, "b"),
    "link over": state(1, "b", "c") + state(6, "b", "c"),
    "link made again": state(1, "b") + state(6, "b"),
    "announced too late": state(6, "b"),
}


def stay(case: str, one: str, other: str | None, first: int, last: int | None) -> Row:
    ends = {"opener_zid": one, "acceptor_zid": other, "time_ns": first * MS}
    return {"capture": case, "session": f"{one}{first}", **ends, "closed_ns": last and last * MS}


STAYS = [
    stay("left and came back", "t", "x", 0, 3),
    stay("left and came back", "t", "x", 5, 9),
    stay("link over", "t", "x", 0, None),
    stay("link over", "b", "z", 0, 3),
    stay("link over", "z", "b", 2, 4),
    stay("link made again", "z", "b", 0, 3),
    stay("link made again", "z", "b", 5, None),
    stay("announced too late", "z", "b", 0, 4),
]


def staged_cases() -> Staged:
    rows = staged(CASES, told_by_zid="t", zid="z", has_links=True)
    sessions: list[Row] = [
        *STAYS,
        {"capture": "gone", "session": "s", "opener_zid": "t", "closed_ns": 7 * MS},
        {"capture": "gone", "session": "s2", "acceptor_zid": "t", "closed_ns": 9 * MS},
        {"capture": "still here", "session": "s", "opener_zid": "t", "closed_ns": 7 * MS},
        {"capture": "still here", "session": "s2", "acceptor_zid": "t"},
    ]
    return {"edge_events": rows, "sessions": sessions}


def test_adjacencies_begin_and_end_with_announcements(engine: Engine) -> None:
    frames = [frame(engine, name, rows) for name, rows in staged_cases().items()]
    found = by_case(adjacencies.build(*frames), "from_ns")

    def edges(case: str) -> list[tuple[Any, ...]]:
        names = ("neighbour_zid", "weight", "from_ns", "to_ns")
        return [
            (neighbour, weight, start // MS, end and end // MS)
            for neighbour, weight, start, end in columns(found[case], *names)
        ]

    assert edges("grows") == [("b", None, 1, 3), ("c", None, 2, None)]
    assert edges("gone") == [("b", None, 1, 9)]
    assert edges("still here") == [("b", None, 1, None)]
    assert edges("left and came back") == [("b", None, 1, 3), ("b", None, 6, 9)]
    assert sorted(edges("link over")) == [("b", None, 1, 4), ("c", None, 1, None)]
    assert edges("link made again") == [("b", None, 1, 3), ("b", None, 6, None)]
    assert edges("announced too late") == [("b", None, 6, None)]
    assert edges("comes back") == [("b", None, 1, 2), ("b", None, 3, None)]
    assert edges("weight") == [("b", 1, 1, 2), ("b", 2, 2, None)]
    assert edges("outdated") == [("b", None, 1, None)]
    assert edges("begins again elsewhere") == [("b", None, 1, 2)]
    assert edges("without links") == [("b", None, 1, None)]
    assert edges("tellers") == [("b", None, 1, None)]
    assert edges("announced twice") == [("b", None, 1, None)]
    assert columns(found["other session"], "session", "packet", "told_by_zid", "zid") == [
        ("s", 1, "t", "z")
    ]
