"""Every rule has a fault that breaks it, is found in it, and is documented."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.paths import DOCS
from tests.rules.captures import findings, made_of
from tests.rules.faults import FAULTS, Fault
from tests.rules.gate import is_right, others
from zenlake.rules import ERROR, RULES, SEVERITIES, Rule, generate

EACH = [fault for faults in FAULTS.values() for fault in faults]


def test_every_rule_has_a_fault() -> None:
    assert len(RULES) >= 60
    assert set(FAULTS) == set(RULES)


@pytest.mark.parametrize("fault", EACH, ids=lambda one: f"{one.rule}-{one.break_rule.__name__}")
def test_broken_rule_is_found_at_the_packet_of_the_fault(fault: Fault, tmp_path: Path) -> None:
    for seed in (1, 2):
        made = made_of(tmp_path / "made.pcapng", seed, fault)
        found = findings(made.path)
        assert is_right(made, found), (made, found)
        assert not others(made, found)
        [finding] = [one for one in found if one.rule.id == fault.rule]
        assert finding.message
        assert finding.message.isprintable()


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.id)
def test_rule_has_a_text_and_an_existing_citation(rule: Rule) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.id)
    assert rule.severity in SEVERITIES
    assert rule.text.endswith(".")
    assert rule.subjects
    notes = (DOCS / "spec-notes.md").read_text("utf-8")
    for row in re.findall(r"SN-\d+", rule.page):
        assert f"| {row} |" in notes
    cited = ("packets", "Message Reference", "Declarations", "Query", "Reply", "wire", "behaviour")
    assert rule.page.startswith(cited)


def test_the_best_known_rules_are_errors() -> None:
    for id in (
        "response-after-final",
        "response-final-repeated",
        "response-final-missing",
        "request-id-reused",
        "alias-redefined",
        "alias-unknown",
        "initial-sn-outside",
        "sn-backwards",
        "mandatory-extension-accepted",
        "reserved-bits",
        "final-unasked",
        "fragments-without-end",
        "batch-too-large",
        "reply-key-outside",
        "integer-not-minimal",
        "declaration-unasked",
        "traffic-after-close",
    ):
        assert RULES[id].severity == ERROR, id


def test_page_of_rules_is_up_to_date() -> None:
    assert (DOCS / "reference" / "rules.md").read_text("utf-8") == generate.page()
