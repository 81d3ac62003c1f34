"""Searches in slices, with changes of the tree between the slices."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from zenlake.keyexpr.matching import intersects
from zenlake.keyexpr.search import Search
from zenlake.keyexpr.tree import KeyTree
from zenlake.keyexpr.tree_node import TreeNode

from .test_properties import expressions, keys

# Beginnings that repeat, so that nodes are split and merged.
deep_keys = st.lists(st.sampled_from("ab"), min_size=1, max_size=6).map("/".join)
stored_texts = st.one_of(deep_keys, expressions)
queries = st.one_of(st.sampled_from(["**", "*/**", "a/**", "**/b"]), expressions, keys)


def nodes_of(tree: KeyTree[str]) -> list[TreeNode]:
    """All nodes but the root."""
    found = tree._root.children()
    for node in found:
        found.extend(node.children())
    return found


def assert_compact(tree: KeyTree[str]) -> None:
    """Nodes exist only where expressions end or branch."""
    nodes = nodes_of(tree)
    assert len(nodes) <= 2 * len(tree)
    for node in nodes:
        assert node.expr is not None or node.child_count() >= 2


@given(st.lists(stored_texts, max_size=30), queries, st.integers(1, 5))
def test_search_in_slices_finds_the_same_as_one_run(
    texts: list[str], query: str, steps_max: int
) -> None:
    tree: KeyTree[str] = KeyTree()
    for text in texts:
        tree.insert(text, text)
    assert_compact(tree)
    search = tree.search(query)
    found: list[str] = []
    finished = False
    while not finished:
        before = search.steps
        finished = search.run(steps_max)
        assert finished or search.steps - before >= steps_max
        found += search.found
        search.found.clear()
    assert sorted(found) == sorted(text for text in {*texts} if intersects(text, query))
    assert search.run(1)
    assert search.found == []


def test_a_search_of_an_empty_tree_ends_at_once() -> None:
    tree: KeyTree[str] = KeyTree()
    search = tree.search("**")
    assert search.run(10)
    assert search.found == []


def test_many_children_of_one_node_are_visited_in_slices() -> None:
    tree: KeyTree[int] = KeyTree()
    for number in range(10_000):
        tree.insert(f"a/{number}", number)
    search = tree.search("a/*")
    turns = 1
    while not search.run(1_000):
        turns += 1
        assert len(search.found) <= 1_001 * turns
    assert turns >= 10
    assert len(search.found) == 10_000


def test_splitting_and_merging_between_slices_loses_nothing() -> None:
    for turns in range(8):
        tree: KeyTree[str] = KeyTree()
        for text in ("a/b/c/d", "a/b/c/e", "a/b/f/g/h", "a/x"):
            tree.insert(text, text)
        search = tree.search("**")
        for _ in range(turns):
            search.run(1)
        tree.remove("a/b/c/e")
        tree.insert("a/b/f/new", "a/b/f/new")
        assert search.run(100)
        always = [text for text in search.found if text not in ("a/b/c/e", "a/b/f/new")]
        assert sorted(always) == ["a/b/c/d", "a/b/f/g/h", "a/x"]


class ChangingTree(RuleBasedStateMachine):
    """Inserts, removals and slices of several searches in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.tree: KeyTree[str] = KeyTree()
        self.stored: set[str] = set()
        # For each search: its query, the expressions stored all the time, and those stored ever.
        self.searches: list[tuple[Search[str], str, set[str], set[str]]] = []

    @rule(text=stored_texts)
    def insert(self, text: str) -> None:
        self.tree.insert(text, text)
        self.stored.add(text)
        for _, _, _, ever in self.searches:
            ever.add(text)

    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        if self.stored:
            text = data.draw(st.sampled_from(sorted(self.stored)))
            assert self.tree.remove(text) == text
            self.stored.remove(text)
            for _, _, always, _ in self.searches:
                always.discard(text)

    @rule(query=queries)
    def start(self, query: str) -> None:
        search = self.tree.search(query)
        self.searches.append((search, query, {*self.stored}, {*self.stored}))

    @rule(steps_max=st.integers(1, 6))
    def run_all(self, steps_max: int) -> None:
        unfinished = []
        for state in self.searches:
            if state[0].run(steps_max):
                self.check(*state)
            else:
                unfinished.append(state)
        self.searches = unfinished

    def check(self, search: Search[str], query: str, always: set[str], ever: set[str]) -> None:
        for text in always:
            if intersects(text, query):
                assert search.found.count(text) == 1
        assert len(search.found) == len({*search.found})
        assert {*search.found} <= ever
        assert all(intersects(text, query) for text in search.found)

    @invariant()
    def tree_holds_what_is_stored(self) -> None:
        assert len(self.tree) == len(self.stored)
        assert sorted(self.tree) == sorted(self.stored)
        assert all(self.tree.get(text) == text for text in self.stored)
        assert_compact(self.tree)

    def teardown(self) -> None:
        for state in self.searches:
            assert state[0].run(1_000_000)
            self.check(*state)


TestChangingTree = ChangingTree.TestCase
TestChangingTree.settings = settings(max_examples=80, stateful_step_count=40, deadline=None)
