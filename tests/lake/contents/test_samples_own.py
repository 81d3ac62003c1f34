"""`samples` of the second set, whose sidecars record only the requested attributes."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.lake.contents.publications import got, reached, sent
from tests.lake.contents.tables import Row, Tables
from tests.trace.sidecar import OWN, Sidecar, is_captured, sidecar_of
from tests.trace.test_contents_own import MIDSTREAM, got_by
from tests.trace.test_contents_own import sent_by as sent_in_call


def to_router(tables: Tables, name: str) -> list[Row]:
    """Without a handshake: samples to the listening port of the router."""
    router = f":{sidecar_of(name).capture['ports']['tcp'][0]}"
    packets = {(row["packet"], row["link"]): row["receiver"] for row in tables.of(name, "batches")}
    return [
        row
        for row in tables.of(name, "samples")
        if packets[row["packet"], row["link"]].endswith(router)
    ]


def published(tables: Tables, name: str, node: str) -> list[Row]:
    if name in MIDSTREAM:
        return to_router(tables, name)
    zid = sidecar_of(name).zids[node]
    return [row for row in tables.of(name, "samples") if row["sender_zid"] == zid]


def calls_by(sidecar: Sidecar, name: str) -> dict[str, list[Row]]:
    """Calls by node; all together if the capture does not distinguish nodes."""
    found: dict[str, list[Row]] = {}
    for row in sidecar.of("put", "delete"):
        found.setdefault("" if name in MIDSTREAM else row["node"], []).append(row)
    return found


@pytest.mark.parametrize("name", OWN)
def test_each_call_has_one_sample_on_its_link(tables: Tables, name: str) -> None:
    sidecar = sidecar_of(name)
    calls = calls_by(sidecar, name)
    assert calls
    for node, rows in calls.items():
        wanted = Counter(sent_in_call(sidecar, row) for row in rows)
        assert Counter(map(sent, published(tables, name, node))) == wanted


@pytest.mark.parametrize("name", OWN)
def test_congestion_control_is_the_requested_one(tables: Tables, name: str) -> None:
    sidecar = sidecar_of(name)
    for row in sidecar.of("put", "delete"):
        asked = sidecar.setting(row, "congestion_control")
        assert asked is None or any(
            one["congestion"] == asked
            for one in published(tables, name, row["node"])
            if sent(one) == sent_in_call(sidecar, row)
        )


@pytest.mark.parametrize("name", OWN)
def test_each_delivery_has_a_sample_on_a_captured_link(tables: Tables, name: str) -> None:
    sidecar, protocols = sidecar_of(name), tables.protocols(name)
    rows = [row for row in sidecar.received if is_captured(row, sidecar.capture)]
    own = {(row["node"], row["key"]) for row in sidecar.of("put", "delete")}
    asked = {row["seq"] for row in to_router(tables, name)} if name in MIDSTREAM else set()
    checked = 0
    for node, subscriber in {(row["node"], row["subscriber"]) for row in rows}:
        wanted = Counter(
            got_by(row)._replace(key=None if name in MIDSTREAM else row["key"])
            for row in rows
            if (row["node"], row["subscriber"]) == (node, subscriber)
            and (row["node"], row["key"]) not in own
        )
        here = [
            row
            for row in tables.samples(name)
            if (
                row["seq"] not in asked
                if name in MIDSTREAM
                else reached(row, sidecar.zids[node], protocols)
            )
        ]
        assert not wanted - Counter(map(got, here))
        checked += wanted.total()
    assert checked
