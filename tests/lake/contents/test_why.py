"""Why: a lake has the same stories as the captures it was made of."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest

from tests.lake.contents.tables import Tables, name_of
from tests.lake.derive.duck.test_session_stories import stories_of
from tests.trace.sidecar import PATHS
from tests.why.bundled_stories import path_of
from zenlake.cli.main import main
from zenlake.lake.pipeline.pipeline import run
from zenlake.lake.publish import Store
from zenlake.lake.sql import on_duckdb
from zenlake.semantics import verdicts as semantics
from zenlake.semantics.causes import CAUSES
from zenlake.why import Scope, report
from zenlake.why.from_capture import read_capture
from zenlake.why.from_lake import read_lake, read_tables
from zenlake.why.records import Evidence

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FAILURES = (
    *("held_query", "late_reply", "dropped", "at_chunks", "ghost_token", "router_dies"),
    *("old_tokens", "line_of_routers", "after_the_last"),
)
VERDICTS = {
    "answered": {"answered"},
    "consolidated": {"answered"},
    "partly_dropped": {"answered"},
    "reply_key_outside": {"answered"},
    "reply_after_final": {"reply_after_final", "answered"},
    "error": {"error"},
    "timeout": {"timeout"},
    "final_missing": {"timeout", "no_final"},
    "router_lost": {"interrupted", "timeout"},
    "no_queryable": {"empty"},
    "no_reply": {"empty"},
}
"""For each cause, the verdicts that the first hop may have."""
EVERYTHING = Scope(key="**")


@pytest.fixture(scope="module")
def failures(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("why") / "lake"
    run([path_of(name) for name in FAILURES], place, spark)
    return place


def stories_of_lake(lake: Path, wanted: Scope) -> dict[str, list[Any]]:
    return {
        evidence.capture: stories_of(report(evidence, wanted))
        for evidence in read_lake(str(lake), wanted)
    }


@pytest.fixture(scope="module")
def everything(lake: Path) -> list[Evidence]:
    """Read once, because a lake of many captures is slow to read for each of them."""
    return list(read_lake(str(lake), EVERYTHING))


def test_bundled_captures_have_the_same_stories(everything: list[Evidence]) -> None:
    assert len(everything) >= 28
    for evidence in everything:
        expected = report(read_capture(evidence.capture, EVERYTHING), EVERYTHING)
        assert stories_of(report(evidence, EVERYTHING)) == stories_of(expected), evidence.capture


def test_failures_of_bundled_captures_have_the_same_stories(lake: Path) -> None:
    """All captures with failures, and two without."""
    expected = {
        capture: report(read_capture(capture, Scope()), Scope())
        for capture in map(str, PATHS.values())
    }
    chosen = [capture for capture, made in expected.items() if made.stories]
    assert len(chosen) > 10
    chosen += [capture for capture, made in expected.items() if not made.stories][:2]
    with (
        TemporaryDirectory() as spill,
        on_duckdb.opened(Store(lake).snapshot(), spill) as connection,
    ):
        for capture in chosen:
            [evidence] = read_tables(connection, Scope(), capture)
            assert stories_of(report(evidence, Scope())) == stories_of(expected[capture]), capture


@pytest.mark.parametrize(
    "wanted",
    [
        Scope(),
        Scope(key="robot/**"),
        Scope(key="alive/arm"),
        Scope(key="lidar/*"),
        Scope(query="1"),
        Scope(packet=22),
    ],
    ids=str,
)
def test_recorded_failures_have_the_same_stories(failures: Path, wanted: Scope) -> None:
    found = stories_of_lake(failures, wanted)
    assert sorted(found) == sorted(path_of(name) for name in FAILURES)
    assert sum(len(stories) - 1 for stories in found.values()) >= 1
    for capture, stories in found.items():
        assert stories == stories_of(report(read_capture(capture, wanted), wanted)), capture


def test_only_listed_causes_and_verdicts_are_compared() -> None:
    assert VERDICTS.keys() <= CAUSES.keys()
    assert set().union(*VERDICTS.values()) <= semantics.VERDICTS.keys()


def test_stories_agree_with_the_verdicts_of_the_tables(
    everything: list[Evidence], tables: Tables
) -> None:
    compared = 0
    for evidence in everything:
        rows = {
            (row["session"], row["seq"]): row
            for row in tables.of(name_of(evidence.capture), "queries")
        }
        seqs = {(one.session, one.at, one.request_id): one.seq for one in evidence.queries}
        for story in report(evidence, EVERYTHING, is_ungrouped=True).stories:
            if story.subject == "query":
                seq = seqs[story.session or "", story.at, story.request_id or 0]
                row = rows[story.session, seq]
                assert row["verdict"] in VERDICTS[story.cause], story.headline
                if story.cause == "consolidated":
                    assert f"{row['replies']} replies arrived, " in story.headline
                    assert f", {row['delivered'] - row['errors']} delivered" in story.headline
                compared += 1
    assert compared >= 80


def test_command_reads_a_lake(failures: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It reads all captures or one; an unknown capture is a usage error."""
    path = path_of("held_query")
    assert main(["why", path]) == 1
    of_capture = capsys.readouterr().out
    assert main(["why", str(failures), "--capture", path]) == 1
    assert capsys.readouterr().out == f"{of_capture}\n"
    assert main(["why", str(failures), "--key", "robot/arm/pose"]) == 1
    every = capsys.readouterr().out
    assert every.count(": nothing failed, as far as it shows\n") == len(FAILURES) - 1
    assert main(["why", str(failures), "--capture", "other"]) == 2
    assert main(["why", str(failures), "--query", "77"]) == 2
