"""How tests are divided among processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scheduling import LONGEST, NEIGHBOURS_MAX, in_order, scopes


def test_a_process_gets_some_neighbours_or_a_group_at_once() -> None:
    many = [f"a.py::test[{number}]" for number in range(NEIGHBOURS_MAX + 1)]
    names = [*many, "b.py::test@slow", "c.py::test[x@y]", "d.py::test@slow", "a.py::test_last"]
    found = scopes(names)
    assert found[:NEIGHBOURS_MAX] == ["a.py 0"] * NEIGHBOURS_MAX
    assert found[NEIGHBOURS_MAX:] == ["a.py 20", "@slow", "c.py 22", "@slow", "a.py 24"]


def test_every_test_runs_once_and_groups_first(request: pytest.FixtureRequest) -> None:
    items = request.session.items
    ordered = in_order(items[::-1])
    assert sorted(item.nodeid for item in ordered) == sorted(item.nodeid for item in items)
    has_group = [item.get_closest_marker("xdist_group") is not None for item in ordered]
    assert has_group == sorted(has_group, reverse=True)


@pytest.mark.parametrize("group", LONGEST)
def test_the_longest_groups_exist(group: str) -> None:
    texts = [path.read_text("utf-8") for path in Path(__file__).parent.rglob("test_*.py")]
    assert sum(f'xdist_group("{group}")' in text for text in texts) > 1
