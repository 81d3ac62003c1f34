"""The page of all bundled captures agrees with the tables."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.lake.contents.tables import Tables
from tests.trace.sidecar import PATHS
from zenlake.lake.publish import Store
from zenlake.report import Selection, report


def test_every_message_is_counted_in_a_cell(page_data: dict[str, Any], tables: Tables) -> None:
    kinds = sum((tables.counts(name) for name in tables.names()), Counter())
    by_word = {
        "publications": ("PUSH/",),
        "queries": ("REQUEST",),
        "replies": ("RESPONSE",),
        "declarations": ("DECLARE/", "INTEREST"),
        "discovery": ("OAM", "SCOUT", "HELLO"),
        "transport": (
            *("INIT", "OPEN", "CLOSE", "KEEP_ALIVE", "JOIN", "TRANSPORT_OAM"),
            *("FRAME", "FRAGMENT"),
        ),
    }
    cells = page_data["traffic"]["cells"]
    found: Counter[str] = Counter()
    for kind, number in zip(cells["kind"], cells["messages"], strict=True):
        found[page_data["traffic"]["kinds"][kind]] += number
    assert found == {
        word: sum(number for kind, number in kinds.items() if kind.startswith(begins))
        for word, begins in by_word.items()
    }
    assert found.total() == page_data["overview"]["messages"]


def test_failed_queries_have_their_hops(page_data: dict[str, Any]) -> None:
    keys = page_data["names"]["keys"]
    slow = [
        query
        for query in page_data["waterfall"]["queries"]
        if keys[query["key"]] == "db/b" and query["parameters"] == "slow"
    ]
    timed_out = next(query for query in slow if query["verdict"] == "timeout")
    assert len(timed_out["hops"]) == 2
    assert "did not answer within the timeout of 150 ms" in timed_out["reason"]
    assert any("timed out" in finding["text"] for finding in page_data["findings"])


def test_real_captures_have_no_ghost_tokens(page_data: dict[str, Any]) -> None:
    shown = page_data["declarations"]
    assert (shown["ghosts"], shown["doubles"]) == (0, 0)
    assert {life["entity"] for life in shown["lives"]} == set(shown["entities"])


def test_page_is_written_for_all_captures(
    lake: Path, page_data: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "collect", lambda *_: page_data)
    made = report.write(Store(lake), tmp_path / "page.html", Selection())
    assert made.bytes == made.path.stat().st_size < 2_000_000
    text = made.path.read_text("utf-8")
    assert [path for path in map(str, PATHS.values()) if path not in text] == []
