"""Every rule declares how the fast reader knows that it is not broken."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from zenlake import rules
from zenlake.rules import RULES, Rule
from zenlake.rules.registry import is_declared
from zenlake.rules.screens import KEPT_BY, REASONS, Irregular, TrackedBy, check_screen


def test_every_rule_declares_its_screen() -> None:
    assert [rule.id for rule in RULES.values() if not is_declared(rule)] == []


def test_declared_conditions_are_in_the_vocabulary() -> None:
    for screen in (Irregular("FULL_MOON"), TrackedBy("stars")):
        with pytest.raises(AssertionError):
            check_screen(screen)


def test_reasons_are_those_of_the_survey() -> None:
    pytest.importorskip("numpy", reason="needs zenlake[sql]")
    from zenlake.lake.fast_reader.assemble import reasons

    for name, words in REASONS.items():
        assert name == "NOT_TCP" or reasons.WORDS[getattr(reasons, name)] == words


# The sources of compiled modules lie beside them.
FUNCTIONS = {
    (path.stem, node.name): node
    for path in Path(rules.__file__).parent.glob("*.py")
    for node in ast.parse(path.read_text("utf-8")).body
    if isinstance(node, ast.FunctionDef)
}
BY_NAME = {name: (module, name) for module, name in FUNCTIONS}


def facts_read(function: tuple[str, str], known: set[tuple[str, str]]) -> set[str]:
    """The attributes that a function of the rules reads, or one that it calls."""
    known.add(function)
    found = set()
    for node in ast.walk(FUNCTIONS[function]):
        if isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.Name):
            called = function[0], node.id
            called = called if called in FUNCTIONS else BY_NAME.get(node.id, function)
            if called not in known:
                found |= facts_read(called, known)
    return found


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.id)
def test_rule_reads_only_facts_that_are_kept_for_it(rule: Rule) -> None:
    """Facts that change with frequent messages are only kept for rules with `TrackedBy`."""
    function = BY_NAME[rule.id.replace("-", "_")]
    needed = {KEPT_BY[name] for name in facts_read(function, set()) if name in KEPT_BY}
    if isinstance(rule.screen, Irregular):
        return
    follower = {rule.screen.part} if isinstance(rule.screen, TrackedBy) else set()
    assert needed <= follower


def test_facts_are_found_in_what_a_rule_calls() -> None:
    assert "timed_out" in facts_read(("queries", "response_after_final"), set())
    assert "last_batch_ns" in facts_read(("liveness", "lease_exceeded"), set())
