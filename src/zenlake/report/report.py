"""Report: queries the data of all sections from a lake, and writes the page."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, NamedTuple

import zenlake
from zenlake.output_file import OutputFile
from zenlake.report.database import Database, Tables, opened
from zenlake.report.declarations import declarations
from zenlake.report.findings import findings
from zenlake.report.keys import keys, rank_keys
from zenlake.report.losses import losses
from zenlake.report.names import Names
from zenlake.report.overview import overview
from zenlake.report.page import html
from zenlake.report.queries import queries
from zenlake.report.selection import Selection
from zenlake.report.stories import stories
from zenlake.report.time_axis import TimeAxis
from zenlake.report.topology import topology
from zenlake.report.traffic import traffic
from zenlake.report.violations import violations
from zenlake.report.waterfall import waterfall


class WrittenPage(NamedTuple):
    """A page that was written."""

    path: Path
    bytes: int
    seconds: float
    messages: int
    findings: list[str]


def write(store: Tables, path: Path, selection: Selection) -> WrittenPage:
    begun = time.perf_counter()
    data = collect(store, selection)
    text = html(data).encode()
    with OutputFile(path) as file:
        file.write(text)
    spent = round(time.perf_counter() - begun, 3)
    texts = [finding["text"] for finding in data["findings"]]
    return WrittenPage(path, len(text), spent, data["overview"]["messages"], texts)


def collect(store: Tables, selection: Selection) -> dict[str, Any]:
    """The data of the page, ready for JSON."""
    with opened(store, selection) as database:
        axis = TimeAxis(_times(database))
        names = Names(database)
        rank_keys(database, names)
        data: dict[str, Any] = {
            "overview": overview(database, names, axis),
            "traffic": traffic(database, axis),
            "keys": keys(database, axis),
            "queries": queries(database, names),
            "waterfall": waterfall(database, names, axis),
            "declarations": declarations(database, names, axis),
            "topology": topology(database, names, axis),
            "losses": losses(database, names, axis),
            "violations": violations(database, names, axis),
        }
        listed = data["waterfall"]["queries"]
        data["why"] = stories(database, names, listed)
        data["findings"] = [one._asdict() for one in findings(database, data)]
        # Last, because the sections add names.
        data["names"] = names.to_json()
        data["axis"] = axis.to_json()
        data["about"] = {
            "lake": store.directory.resolve().name,
            "version": zenlake.__version__,
            "lakeVersion": database.version or None,
            **database.selection._asdict(),
        }
    return data


def _times(database: Database) -> list[tuple[int, int]]:
    """Times of the first and last packet of each capture that has packets."""
    found = database.rows("""
        SELECT first_ns, last_ns FROM chosen_captures
        WHERE first_ns IS NOT NULL AND last_ns IS NOT NULL""")
    return [(first, last) for first, last in found] or [(0, 0)]
