"""Queries without a reply: the table and `why` have the same cause, and the reason names it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.lake.derive.duck.one_capture import Rows, tables_of
from tests.why.bundled_stories import NAMES, path_of
from tests.why.scene import Connection, Scene, final, queryable, request
from zenlake.why import Scope, report
from zenlake.why.from_capture import read_capture
from zenlake.wire import Declare, UndeclareQueryable

pytestmark = pytest.mark.xdist_group("unanswered")

ASKER = "c1a0000000000000000000000000000a"
SERVER = "b200000000000000000000000000000b"
FINER = {"key_mismatch": {"no_queryable"}, "at_chunk": {"no_queryable"}}
"""Causes of `why`, and the less specific causes of the table."""
NAMED = ("gone", "not_yet_declared", "not_passed_on")
"""Causes with a node to blame, which the reason names too."""
EXPECTED = {
    "own/state": ("own_queryable", "the requester's own queryable own/** is asked inside it"),
    "nobody/answers/this": ("no_queryable", "no node ever declared a queryable for it"),
    "gone/x": (
        "gone",
        f"it was gone: the queryable gone/x of node {SERVER} was undeclared 101 ms before",
    ),
    "later/x": ("not_yet_declared", f"node {SERVER} declared its queryable later/x only 52 ms"),
    "silent/x": ("no_reply", f"node {SERVER} received the query and sent no reply"),
    "own/both": ("own_queryable", "the requester's own queryable own/** is asked inside it"),
}


def write(path: Path) -> None:
    scene = Scene(path)
    asker, server = Connection(scene, ASKER, 40001), Connection(scene, SERVER, 40002)
    asker.open()
    server.open()
    asker.up(queryable(1, "own/**"))
    for number, key in enumerate(("gone/x", "silent/*", "own/both"), 1):
        server.up(queryable(number, key))
    server.up(Declare(UndeclareQueryable(1)))
    scene.wait(0.1)
    for number, key in enumerate(("gone/x", "nobody/answers/this", "own/state", "later/x"), 1):
        asker.up(request(number, key))
        asker.down(final(number))
    scene.wait(0.05)
    server.up(queryable(9, "later/x"))
    for number, key in ((5, "silent/x"), (6, "own/both")):
        asker.up(request(number, key))
        server.down(request(number, key))
        server.up(final(number))
        asker.down(final(number))
    scene.wait(1)
    asker.end(close=True)
    server.end(close=True)
    scene.close()


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("unanswered") / "scene.pcapng"
    write(path)
    return path


@pytest.fixture(scope="module")
def tables(capture: Path) -> Rows:
    return tables_of(capture, capture.parent / "tables")


@pytest.mark.parametrize("key", EXPECTED)
def test_table_has_the_cause_of_an_empty_query(tables: Rows, key: str) -> None:
    row = min((row for row in tables["queries"] if row["key"] == key), key=lambda row: row["seq"])
    cause, because = EXPECTED[key]
    assert (row["verdict"], row["cause"]) == ("empty", cause)
    assert row["reason"].startswith(because)
    assert row["reason"].endswith(" without any reply")


def test_why_has_the_same_causes(capture: Path) -> None:
    wanted = Scope(key="**")
    stories = report(read_capture(str(capture), wanted), wanted).stories
    causes = {story.key: story for story in stories if story.subject == "query"}
    assert {key: story.cause for key, story in causes.items()} == {
        key: cause for key, (cause, _) in EXPECTED.items()
    }
    failed = {key for key, story in causes.items() if story.failed}
    assert failed == {"nobody/answers/this", "gone/x", "later/x", "silent/x"}
    for key, words in {
        "own/state": "own queryable own/** is asked inside it",
        "nobody/answers/this": "no node ever declared a queryable",
        "gone/x": "it was gone: the queryable gone/x",
        "silent/x": "received the query and sent no reply",
    }.items():
        assert words in causes[key].headline


@pytest.mark.parametrize("name", NAMES)
def test_bundled_failures_have_the_same_causes(name: str, tmp_path: Path) -> None:
    wanted = Scope(key="**")
    stories = report(read_capture(path_of(name), wanted), wanted).stories
    rows = {
        (row["session"], row["packet"], row["request_id"]): row
        for row in tables_of(Path(path_of(name)), tmp_path)["queries"]
    }
    for story in stories:
        if story.subject == "query":
            row = rows[story.session, story.at.packet, story.request_id]
            if row["verdict"] == "empty":
                assert row["cause"] in FINER.get(story.cause, {story.cause})
                if story.cause in NAMED:
                    assert f"node {story.culprit} " in row["reason"]
            else:
                assert row["cause"] is None


def test_table_follows_an_end_to_its_origin(tmp_path: Path) -> None:
    """Through a line of routers, as `why` does, to a session that was closed or lost."""
    capture = Path(path_of("line_of_routers"))
    rows = {row["key"]: row for row in tables_of(capture, tmp_path)["queries"]}
    reasons = {key: row["reason"] for key, row in rows.items() if row["cause"] == "gone"}
    client = "[0-9a-f]+"
    for key, words in {
        "srv/undeclared": f"of node {client} was undeclared 306.4 ms before; node 91b3.* passed",
        "srv/closed": f"ended with its session: node ({client}) closed the session with node 91b3",
        "srv/killed": "ended with its session with node 91b3.*, which was lost 302.4 ms before",
        "srv/behind": r"of node 91b3\w+ \(received from node 6902.* with node af07.*was lost",
    }.items():
        assert re.search(words, reasons.pop(key)), key
    assert not reasons
