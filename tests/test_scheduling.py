"""How tests are divided among processes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.scheduling import LONGEST, NEIGHBOURS_MAX, OTHERS_BETWEEN_REAL, in_order, scopes


def test_a_process_gets_some_neighbours_or_a_group_at_once() -> None:
    many = [f"a.py::test[{number}]" for number in range(NEIGHBOURS_MAX + 1)]
    names = [*many, "b.py::test@slow", "c.py::test[x@y]", "d.py::test@slow", "a.py::test_last"]
    found = scopes(names)
    assert found[:NEIGHBOURS_MAX] == ["a.py 0"] * NEIGHBOURS_MAX
    assert found[NEIGHBOURS_MAX:] == ["a.py 20", "@slow", "c.py 22", "@slow", "a.py 24"]


class Item:
    """What `in_order` needs to know of a test."""

    def __init__(self, name: str, **marks: str) -> None:
        self.name = name
        self.marks = {mark: getattr(pytest.mark, mark)(value).mark for mark, value in marks.items()}

    def get_closest_marker(self, name: str) -> pytest.Mark | None:
        return self.marks.get(name)


def test_groups_come_first_and_tests_with_real_nodes_between_others() -> None:
    others = [Item(f"other {number}") for number in range(OTHERS_BETWEEN_REAL + 5)]
    real = [Item(f"real {number}", real="") for number in range(3)]
    large = [Item(f"large {number}", xdist_group="large") for number in range(9)]
    longest = [Item("longest", xdist_group=LONGEST[0], real="")]
    items: Any = [*others, *real, *large, *longest]
    found = [item.name for item in in_order(items)]
    assert sorted(found) == sorted(item.name for item in items)
    assert found[:10] == ["longest", *(item.name for item in large)]
    assert found[10:] == [
        *(item.name for item in others[:OTHERS_BETWEEN_REAL]),
        "real 0",
        *(item.name for item in others[OTHERS_BETWEEN_REAL:]),
        "real 1",
        "real 2",
    ]


@pytest.mark.parametrize("group", LONGEST)
def test_the_longest_groups_exist(group: str) -> None:
    texts = [path.read_text("utf-8") for path in Path(__file__).parent.rglob("test_*.py")]
    assert sum(f'xdist_group("{group}")' in text for text in texts) > 0
