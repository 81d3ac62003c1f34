"""Tables are the same, whatever the number of parts in which they are derived."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.chance import scaled
from tests.lake.derive.steps.cases import collected
from tests.lake.staging import stage_files, write_captures
from tests.trace.sidecar import PATHS
from zenlake.lake.derive.duck import Engine, build, build_tables
from zenlake.lake.schema import TABLES

pytestmark = pytest.mark.xdist_group("build")

NAMES = ("mixed_versions", "routers_ring", "liveliness")
Tasks = list[dict[str, list[str]]]
Rows = dict[str, Counter[str]]


@pytest.fixture(scope="module")
def staged(tmp_path_factory: pytest.TempPathFactory) -> tuple[Tasks, str]:
    """The files of three tasks, and the file of `captures`."""
    folder = tmp_path_factory.mktemp("staged")
    tasks = [stage_files(PATHS[name], name, folder / name) for name in NAMES]
    return tasks, write_captures(folder, dict.fromkeys(NAMES, 1 << 62))


def built(
    tmp_path: Path,
    tasks: Tasks,
    captures: str,
    is_small: bool = False,
    events_max: int = build.EVENTS_MAX,
) -> tuple[Rows, int]:
    """The rows of each table, and the number of parts of `replies`."""
    with Engine(tmp_path, 2, is_small) as engine:
        found = build_tables(engine, tasks, [captures], events_max=events_max)
        rows = {
            name: Counter(str(row) for frame in frames for row in collected(frame))
            for name, frames in found.items()
        }
        return rows, len(found["replies"])


def test_rows_do_not_depend_on_the_number_of_parts(
    tmp_path: Path, staged: tuple[Tasks, str]
) -> None:
    whole, parts = built(tmp_path, *staged)
    assert parts == 1
    assert {name for name, rows in whole.items() if not rows} <= {"ros_entities"}
    events = sum(build._events(files) for files in staged[0])
    # First by task, then by sessions of each task.
    for events_max, parts_min in ((events // 2, 2), (events // scaled(6, 20), scaled(6, 10))):
        cut, parts = built(tmp_path, *staged, events_max=events_max)
        assert parts >= parts_min
        assert cut == whole


def test_small_captures_have_the_same_rows(tmp_path: Path, staged: tuple[Tasks, str]) -> None:
    assert built(tmp_path, *staged, is_small=True) == built(tmp_path, *staged)


def test_tables_without_input_are_empty(tmp_path: Path) -> None:
    with Engine(tmp_path) as engine:
        for name, frames in build_tables(engine, [], []).items():
            for frame in frames:
                assert frame.columns == TABLES[name].base.names
                assert not collected(frame)
