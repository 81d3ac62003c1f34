"""The same rows on any master. They take minutes and start a cluster: only with ZENLAKE_FULL=1."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.chance import IS_FULL
from tests.lake.cluster.reading import read
from tests.lake.cluster.standalone import Cluster
from tests.lake.faults.captures import replicated
from tests.paths import CAPTURES

collect_ignore_glob = [] if IS_FULL else ["test_*.py"]

COPIES = 60
SOURCES = ("queries.pcapng.gz", "routers_ring.pcapng.gz", "pubsub_router.pcapng", "qos_matrix.pcap")


@pytest.fixture(scope="session")
def large(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A capture of about 40 MB, which the fast reader reads."""
    path = tmp_path_factory.mktemp("captures") / "large.pcapng"
    replicated(path, COPIES, *SOURCES)
    assert path.stat().st_size > 20 << 20
    return str(path)


@pytest.fixture(scope="session")
def inputs(large: str) -> list[str]:
    return [str(CAPTURES), large]


@pytest.fixture(scope="session")
def expected(inputs: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake that one core made, with one task for each file."""
    lake = tmp_path_factory.mktemp("expected") / "lake"
    read("local[1]", lake, inputs, splits=1)
    return lake


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with Cluster(tmp_path_factory.mktemp("cluster")) as started:
        yield started
