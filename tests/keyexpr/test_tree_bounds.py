"""The work and memory of a tree, for contents and queries designed to be expensive.

Work is counted in steps, not measured in time: see `zenlake.keyexpr.search` for the bound.
"""

from __future__ import annotations

import gc
import random
import sys
import tracemalloc
from collections.abc import Callable
from functools import lru_cache

import pytest

from tests.chance import scaled
from tests.measuring import traced_memory
from zenlake.keyexpr.canonical import canonize
from zenlake.keyexpr.matching import intersects
from zenlake.keyexpr.tree import KeyTree

COUNT = 2_000


def entry_bytes(expr: str) -> int:
    """The bound of the memory of an expression: its text, its label, two nodes and their slots."""
    return 544 + 2 * sys.getsizeof(expr)


def filled(texts: list[str]) -> KeyTree[str]:
    tree: KeyTree[str] = KeyTree()
    for text in texts:
        tree.insert(text, text)
    return tree


def steps_bound(texts: list[str], query: str) -> int:
    """3 * S + C, as `zenlake.keyexpr.search` states it."""
    query_chunks = set(query.split("/"))
    patterns = {chunk for chunk in query_chunks if "$" in chunk}
    stored = [chunk for text in texts for chunk in text.split("/")]
    bound = 3 * len(stored)
    for chunk in stored:
        for other in query_chunks if "$" in chunk else patterns:
            bound += 1 + len(chunk) * len(other) // 1_024
    return bound


def long_keys(rng: random.Random) -> list[str]:
    return ["/".join(rng.choice("ab") for _ in range(128)) for _ in range(COUNT)]


def double_keys(rng: random.Random) -> list[str]:
    return ["/".join(f"**/{rng.choice('ab')}" for _ in range(64)) for _ in range(COUNT)]


def verbatim_keys(rng: random.Random) -> list[str]:
    parts = ("**/@a", "**/a", "*/b")
    return [canonize("/".join(rng.choice(parts) for _ in range(60))) for _ in range(COUNT)]


def pattern_keys(rng: random.Random) -> list[str]:
    """Patterns below one node, all of the same ends."""
    return ["$*" + "$*".join(rng.choices("ab", k=12)) + f"$*{n % 7}$*" for n in range(COUNT)]


def ragged_pattern_keys(rng: random.Random) -> list[str]:
    """Patterns below one node that nearly all differ in the lengths of their ends."""
    return [f"{'a' * (n % 50)}$*{'b' * (n // 50)}" for n in range(1, COUNT)]


def pattern_runs(rng: random.Random) -> list[str]:
    return ["/".join(f"{rng.choice('ab')}$*" for _ in range(40)) for _ in range(COUNT // 4)]


CONTENTS = [long_keys, double_keys, verbatim_keys, pattern_keys, ragged_pattern_keys, pattern_runs]
QUERIES = [
    "/".join(["**/a"] * 62 + ["**/c"]),
    "/".join(["**/a/*"] * 40 + ["c"]),
    "/".join(["a", "b"] * 64),
    "/".join(["a"] * 128),
    "**/@a/" * 40 + "**",
    "/".join(["**/$*a$*", "**/b$*a"] * 31),
    "aaaaaaaabbbbbbbb",
    "$*a$*b$*",
    "**",
]


@lru_cache(maxsize=1)
def tree_of(contents: Callable[[random.Random], list[str]]) -> tuple[list[str], KeyTree[str]]:
    texts = sorted({*contents(random.Random(7))})
    return texts, filled(texts)


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("contents", CONTENTS)
def test_no_query_takes_more_steps_than_the_bound(
    contents: Callable[[random.Random], list[str]], query: str
) -> None:
    texts, tree = tree_of(contents)
    search = tree.search(query)
    while not search.run(10_000):
        pass
    assert search.steps <= steps_bound(texts, query)
    sample = texts[:: len(texts) // 20]
    found = {*search.found}
    assert [text in found for text in sample] == [intersects(text, query) for text in sample]


def test_slice_exceeds_its_steps_by_less_than_one_label() -> None:
    rng = random.Random(8)
    search = filled(long_keys(rng)).search(QUERIES[0])
    finished = False
    while not finished:
        before = search.steps
        finished = search.run(500)
        assert search.steps - before < 500 + 3 * 128


def test_many_long_keys_cost_one_step_for_each_chunk() -> None:
    rng = random.Random(9)
    count = scaled(4_000, 20_000)
    texts = ["/".join(rng.choice("ab") for _ in range(100)) for _ in range(count)]
    query = "/".join(["**/a"] * 80 + ["**/c"])
    assert len(query) <= 422
    search = filled(texts).search(query)
    assert not search.run(1_000)
    # The first chunks are shared, so there are fewer than 100 for each key.
    assert search.run(count * 100)
    assert search.found == []


def test_literal_query_is_looked_up_among_many_children() -> None:
    texts = [f"site/{number}/pose" for number in range(5_000)]
    texts += [f"**/{number}/pose" for number in range(5_000)]
    texts += [f"site/r{number}$*/pose" for number in range(5_000)]
    search = filled(texts).search("site/77/pose")
    assert search.run(100)
    assert sorted(search.found) == ["**/77/pose", "site/77/pose"]


def stored_bytes(texts: list[str]) -> float:
    """The memory of a tree for each text, with the text and without the value."""
    gc.collect()
    with traced_memory():
        tree: KeyTree[None] = KeyTree()
        for text in texts:
            tree.insert(text, None)
        gc.collect()  # empties the interpreter's free lists
        used = tracemalloc.get_traced_memory()[0]
    assert len(tree) == len(texts)
    return used / len(texts) + sum(map(sys.getsizeof, texts)) / len(texts)


def random_chunks(rng: random.Random, count: int) -> str:
    return "/".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=count))


MEMORY_CONTENTS: dict[str, list[str]] = {
    "128 chunks": [random_chunks(random.Random(n), 128) for n in range(COUNT)],
    "siblings": [f"site/robot-{n}" for n in range(COUNT)],
    "chains": ["/".join([str(n), *["a"] * depth]) for n in range(100) for depth in range(20)],
    "pairs": [f"{n}/a/b/{end}" for n in range(COUNT // 2) for end in "xy"],
    "wild": [f"{n}/{end}" for n in range(COUNT // 3) for end in ("*", "**", "a$*")],
    "patterns": [f"a/{n}$*x$*y" for n in range(COUNT)],
    "single patterns": [f"{n}{end}" for n in range(COUNT // 2) for end in ("", "/a$*b$*c")],
    "ragged patterns": [f"{'a' * (n % 50)}$*x$*{'b' * (n // 50)}" for n in range(1, COUNT)],
    "not ASCII": [f"é/{n}/\N{SNOWMAN}/b/c" for n in range(COUNT)],
}


@pytest.mark.parametrize("name", list(MEMORY_CONTENTS))
def test_the_memory_of_an_expression_is_within_its_estimate(name: str) -> None:
    texts = MEMORY_CONTENTS[name]
    used = stored_bytes(texts)
    estimate = sum(map(entry_bytes, texts)) / len(texts)
    assert used <= estimate


def test_the_estimate_is_not_far_above_the_memory_of_branching_expressions() -> None:
    """It counts what the garbage collector adds to a node, which compiled nodes do without."""
    for name in ("128 chunks", "pairs", "wild", "single patterns"):
        texts = MEMORY_CONTENTS[name]
        assert sum(map(entry_bytes, texts)) / len(texts) <= 2.1 * stored_bytes(texts), name


def test_a_key_of_128_chunks_costs_its_text_and_less_than_a_kilobyte() -> None:
    texts = MEMORY_CONTENTS["128 chunks"]
    assert stored_bytes(texts) < 2 * sys.getsizeof(texts[0]) + 1_024
    assert stored_bytes(texts) < 1_500


@pytest.mark.parametrize("end", ["", "$*", "$*x$*"])
def test_removed_children_free_their_memory(end: str) -> None:
    groups = scaled(4, 20)
    gc.collect()
    with traced_memory():
        tree: KeyTree[None] = KeyTree()
        for group in range(groups):
            for number in range(2_000):
                tree.insert(f"{group}/{number}{end}", None)
            for number in range(5, 2_000):
                tree.remove(f"{group}/{number}{end}")
        gc.collect()  # empties the interpreter's free lists
        used = tracemalloc.get_traced_memory()[0]
    assert len(tree) == 5 * groups
    assert used < 5 * groups * 1_536
