"""The boxes printed from the definitions against the boxes of the spec pages.

A row is compared by its edge (`|`, `%`, `~`), its text without spaces and its condition. Where
they differ, the difference is listed here with the row of docs/spec-notes.md that explains it;
anything else is an error in a definition.
"""

from __future__ import annotations

import re

import pytest

from tests.paths import DOCS, ROOT
from zenlake.wire.definitions import LAYOUTS
from zenlake.wire.generate.box import cells

BOXES = ROOT / "tests" / "pages" / "boxes.txt"
Row = tuple[str, str, str]

# (message, row on the page) -> (rows of ours, spec-note)
DIFFERENCES: dict[tuple[str, Row], tuple[list[Row], str]] = {
    ("PUT", ("~", "ts:<u8;z16>", "T==1")): ([("~", "ts:timestamp", "T==1")], "SN-6"),
    ("DEL", ("~", "ts:<u8;z16>", "T==1")): ([("~", "ts:timestamp", "T==1")], "SN-6"),
    ("QUERY", ("|", "consolidation", "C==1")): ([("%", "consolidation", "C==1")], "SN-64"),
    ("REPLY", ("|", "consolidation", "C==1")): ([("%", "consolidation", "C==1")], "SN-64"),
    ("QUERY", ("~", "ps:<u8;z16>", "P==1")): ([("~", "ps:<u8;z32>", "P==1")], "SN-63"),
    ("HELLO", ("%", "loc_count:z8", "L==1")): ([("%", "loc_count", "L==1")], "SN-22"),
    ("HELLO", ("~", "locators", "L==1")): ([("~", "[locators]", "L==1")], "SN-22"),
    ("QueryBody", ("~", "pl:<u8;z32>", "")): ([("~", "payload", "")], "SN-58"),
    ("LinkStateList", ("|", "X|X|X|LK_ST_LS", "")): ([("%", "state_count", "")], "SN-73"),
    ("LinkState", ("|", "X|X|X|G|H|L|W|P", "")): ([("%", "X|X|X|G|H|L|W|P", "")], "SN-74"),
    ("LinkState", ("~", "psid", "")): ([("%", "psid", "")], "SN-74"),
    ("LinkState", ("~", "sn", "")): ([("%", "sn", "")], "SN-74"),
    ("LinkState", ("~", "whatami", "W==1")): ([("|", "whatami", "W==1")], "SN-74"),
    ("LinkState", ("~", "[locators]", "L==1")): (
        [("%", "loc_count", "L==1"), ("~", "[locators]", "L==1")],
        "SN-74",
    ),
    ("LinkState", ("~", "[links]", "")): ([("%", "link_count", ""), ("~", "[links]", "")], "SN-74"),
}


def boxes() -> list[tuple[str, str, list[str]]]:
    """Page, message and lines of every box."""
    found = []
    for entry in BOXES.read_text().split("\n== ")[1:]:
        title, *lines = entry.splitlines()
        page, _, name = title.partition(" / ")
        found.append((page, name, lines))
    return found


def page_rows(lines: list[str]) -> list[Row]:
    rows = []
    for line in lines:
        match = re.match(r"^ ?([|%~])(.{14,15})\1( .*|)$", line)  # one page draws 14 wide
        if match:
            edge, text, note = match.groups()
            rows.append((edge, without_spaces(text), condition_in(note)))
    return rows


def our_rows(name: str) -> list[Row]:
    layout = next(layout for layout in LAYOUTS.values() if layout.name == name)
    return [(c.edge, without_spaces(c.text), condition_in(c.note)) for c in cells(layout)]


def without_spaces(text: str) -> str:
    return re.sub(r"\s", "", text)


def condition_in(note: str) -> str:
    """`if Mod!=Final && R==1 && N==1: ...` to `R==1&&N==1`; Mod is implied by the options."""
    match = re.search(r"\bif ([A-Za-z]+ ?[!=]=\w+(?: && \w+==\d)*)", note)
    if match is None:
        only = re.search(r"\(\w+, A==0 only\)|\(A==1\) ONLY", note)
        return "" if only is None else "A==0" if "A==0" in note else "A==1"
    terms = [term.replace(" ", "") for term in match.group(1).split("&&")]
    return "&&".join(term for term in terms if not term.startswith("Mod") or len(terms) == 1)


def expected_rows(name: str, rows: list[Row]) -> list[Row]:
    """The page's rows with the known differences applied."""
    out: list[Row] = []
    for row in rows:
        out += DIFFERENCES[name, row][0] if (name, row) in DIFFERENCES else [row]
    return out


def test_every_message_of_the_pages_has_a_box() -> None:
    named = {name for _, name, _ in boxes()}
    assert {layout.name for layout in LAYOUTS.values() if layout.header} <= named
    assert len(boxes()) == 78


@pytest.mark.parametrize(("page", "name", "lines"), boxes(), ids=lambda value: str(value)[:20])
def test_box_of_the_page_is_the_box_of_the_definition(
    page: str, name: str, lines: list[str]
) -> None:
    ours = our_rows(name)
    theirs = expected_rows(name, page_rows(lines))
    # The pages describe the presence of the options byte in words.
    ours = [(e, t, "" if t == "A|M|N|R|T|Q|S|K" else c) for e, t, c in ours]
    theirs = [(e, t, "" if t == "A|M|N|R|T|Q|S|K" else c) for e, t, c in theirs]
    lower = [(e, t.lower(), c) for e, t, c in theirs]
    assert [(e, t.lower(), c) for e, t, c in ours] == lower


def test_every_listed_difference_is_on_some_page() -> None:
    on_pages = {(name, row) for _, name, lines in boxes() for row in page_rows(lines)}
    assert set(DIFFERENCES) <= on_pages


def test_every_listed_difference_has_its_spec_note() -> None:
    notes = (DOCS / "spec-notes.md").read_text()
    for _, note in DIFFERENCES.values():
        assert f"| {note} |" in notes
