"""Citations lead to sections of docs, by heading and anchor."""

from __future__ import annotations

import re

import pytest

from tests.paths import ROOT
from zenlake.rules import RULES
from zenlake.semantics.causes import CAUSES
from zenlake.semantics.citations import cited, cited_text, slug


def test_sections_are_found_in_the_order_of_the_citation() -> None:
    first, second, note = cited("packets, SCOUT; wire reference §5.2, §12.7 N1; SN-35")
    assert first == (
        "wire reference §5.2",
        "State machines",
        "docs/spec/wire.md",
        "52-state-machines",
    )
    assert first.link == "docs/spec/wire.md#52-state-machines"
    assert (second.citation, second.title) == ("wire reference §12.7", "Negative vectors")
    assert (note.citation, note.link) == ("SN-35", "docs/spec-notes.md#5-opening-closing-multicast")


def test_limits_have_sections_with_letters() -> None:
    [section] = cited("limits §5f")
    assert section.link == "docs/spec/limits.md#5f-recorder-segment-log-tables-spark"


def test_pages_of_the_zenoh_project_have_no_section_here() -> None:
    assert cited("Message Reference, CLOSE") == ()
    assert cited_text("Message Reference, CLOSE") == ""


def test_section_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(KeyError):
        cited("wire reference §99")


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [
        ("5.2 State machines", "52-state-machines"),
        ("3.2 Client ↔ gateway ✓", "32-client--gateway-"),
        ("1.4 join, concat, `/`, prefixes", "14-join-concat--prefixes"),
    ],
)
def test_slug_is_that_of_github(heading: str, anchor: str) -> None:
    assert slug(heading) == anchor


@pytest.mark.parametrize("citation", sorted({rule.page for rule in RULES.values()}))
def test_every_citation_of_a_rule_is_a_heading(citation: str) -> None:
    sections = cited(citation)
    assert len(sections) == len(re.findall(r"§|SN-", citation))
    for section in sections:
        text = (ROOT / section.file).read_text("utf-8")
        headings = re.findall(r"^#{2,3} (.+)$", text, re.MULTILINE)
        assert section.anchor in map(slug, headings)
        assert section.title
        assert section.title in text


def test_every_rule_rests_on_a_section() -> None:
    assert [rule.id for rule in RULES.values() if not cited(rule.page)] == []
    assert [name for name, cause in CAUSES.items() if cause.page and not cited(cause.page)] == []
