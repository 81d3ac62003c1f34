"""Figures that several commands show are equal, over all bundled captures."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.lake.contents.tables import rows_of_query
from tests.trace.sidecar import PATHS
from zenlake import trace
from zenlake.cli.main import main
from zenlake.lake.measures import recorded_ns
from zenlake.lake.publish import Store
from zenlake.lake.summary import Summary, summarise

Facts = dict[str, Any]
ALL = [str(path) for path in PATHS.values()]


@pytest.fixture(scope="module")
def summary(lake: Path) -> Summary:
    return summarise(Store(lake).snapshot(), ALL)


@pytest.fixture
def listed(lake: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Facts]:
    """The figures that `lake ls` shows for each capture."""
    found = printed(capsys, "lake", "ls", "--json", "--lake", str(lake))
    assert sorted(one["capture"] for one in found) == sorted(ALL)
    return {one["capture"]: one for one in found}


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[Facts]:
    main(list(arguments))
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_messages_and_undecoded_bytes_are_equal(
    lake: Path,
    page_data: Facts,
    summary: Summary,
    listed: dict[str, Facts],
    capsys: pytest.CaptureFixture[str],
) -> None:
    decoded = printed(capsys, "decode", "--count", "--json", *ALL)
    found = rows_of_query(lake, "SELECT capture, kind, count(*) FROM messages GROUP BY 1, 2")
    counts: dict[str, Facts] = {path: {} for path in ALL}
    for capture, kind, number in found:
        counts[capture][kind] = number
    assert counts == {one["file"]: one["counts"] for one in decoded}
    totals = {path: sum(kinds.values()) for path, kinds in counts.items()}
    assert totals == {path: one["messages"] for path, one in listed.items()}
    messages = sum(totals.values())
    assert messages == page_data["overview"]["messages"] == summary.one("messages")["messages"]
    undecoded: Counter[str] = Counter()
    for one in decoded:
        undecoded.update(one["undecoded"])
    assert undecoded == {state: size for state, size, _ in page_data["overview"]["undecoded"]}


def test_broken_rules_are_equal(
    lake: Path, page_data: Facts, summary: Summary, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = printed(capsys, "check", "--json", *ALL)
    checked = {one["file"]: one for one in lines if one["event"] == "summary"}
    found: dict[str, Counter[str]] = {path: Counter() for path in ALL}
    for capture, rule, times in rows_of_query(lake, "SELECT capture, rule, times FROM violations"):
        found[capture][rule] += times
    assert found == {path: one["rules"] for path, one in checked.items()}
    findings = sum(one["event"] == "finding" for one in lines)
    assert [(findings,)] == rows_of_query(lake, "SELECT count(*) FROM violations")
    severities: Counter[str] = Counter()
    for one in checked.values():
        severities.update(one["findings"])
    shown: Counter[str] = Counter()
    for _, word, _, number, *_ in page_data["violations"]["rules"]:
        shown[word] += number
    assert severities == shown
    answers = summary.answers["severities"]
    assert severities == {row["severity"]: row["broken"] for row in answers}
    assert severities["note"] > 100


def test_sessions_packets_and_time_are_equal(
    page_data: Facts, summary: Summary, listed: dict[str, Facts]
) -> None:
    sessions, packets = 0, 0
    spans: list[tuple[int, int]] = []
    for path in ALL:
        with trace.open(path) as opened:
            for _ in opened.steps():
                pass
        assert opened.session_count == listed[path]["sessions"]
        times: tuple[int, int] = (listed[path]["first_ns"], listed[path]["last_ns"])
        assert times == (opened.first_ns, opened.last_ns)
        sessions += opened.session_count
        packets += opened.packets
        spans.append(times)
    assert sessions == page_data["overview"]["sessions"]
    assert sessions == sum(row["sessions"] for row in summary.answers["sessions"])
    assert packets == summary.one("captures")["packets"]
    assert packets == sum(one["packets"] for one in page_data["overview"]["captures"])
    seconds = recorded_ns(spans) / 1e9
    assert seconds == page_data["overview"]["seconds"] == summary.recorded_seconds


def test_queries_hops_and_samples_are_equal(
    lake: Path, page_data: Facts, summary: Summary, listed: dict[str, Facts]
) -> None:
    queries = sum(one["queries"] for one in listed.values())
    hops = sum(one["hops"] for one in listed.values())
    assert hops > queries > 0
    assert queries == page_data["overview"]["queries"]
    assert queries == sum(row["queries"] for row in summary.answers["verdicts"])
    assert [(hops,)] == rows_of_query(lake, "SELECT count(*) FROM queries")
    samples = sum(one["samples"] for one in listed.values())
    assert [(samples,)] == rows_of_query(lake, "SELECT count(*) FROM samples")
