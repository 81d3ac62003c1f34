"""Sessions and nodes have the addresses of their connections."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.lake.derive.steps.cases import collected
from tests.lake.staging import stage_files
from tests.trace.sidecar import PATHS
from zenlake.lake.derive.duck import Engine, build_tables


@pytest.mark.parametrize("name", ["pubsub_router", "ipv6_router", "udp_unicast", "multicast"])
def test_sessions_and_nodes_have_the_addresses_of_their_connections(
    name: str, tmp_path: Path
) -> None:
    files = stage_files(PATHS[name], name, tmp_path)
    sessions = pq.read_table(files["sessions"][0]).to_pylist()
    seen: dict[str, set[str]] = {}
    for row in sessions:
        opener, acceptor = row["opener_address"], row["acceptor_address"]
        if row["members"] is not None:
            assert (opener, acceptor) == (row["session"], None)
            continue
        assert row["link"].rpartition("#")[0] == f"{opener}-{acceptor}"
        for zid, address in ((row["opener_zid"], opener), (row["acceptor_zid"], acceptor)):
            seen.setdefault(zid, set()).add(address)
    with Engine(tmp_path) as engine:
        [frame] = build_tables(engine, [files], [])["nodes"]
        nodes = collected(frame)
    assert {row["zid"] for row in nodes} >= seen.keys()
    for row in nodes:
        assert set((row["addresses"] or "").split()) >= seen.get(row["zid"], set())
    assert any(row["addresses"] for row in nodes)
