"""Citations: the sections of docs that a citation such as "wire reference §5.2; SN-35" names.

The headings come with the package (`_generated/headings.py`), so that commands can show them where
docs are not installed. Other parts of a citation name pages of the Zenoh project and are skipped.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final, NamedTuple

from zenlake.semantics._generated.headings import NOTES, SECTIONS

NOTES_FILE: Final = "docs/spec-notes.md"
_PART: Final = re.compile(r"\b(wire|behaviour|limits)\b|§(\d+[a-z]?(?:\.\d+)*)|\b(SN-\d+)\b")
_REMARK: Final = re.compile(r"\s*(?:✓|\[[A-Z]\]|\((?:[^()]|\([^()]*\))*\))\s*$")
_DROPPED_FROM_SLUG: Final = re.compile(r"[^\w\- ]")


class Section(NamedTuple):
    """A section of docs, or a row of the spec notes."""

    citation: str
    """`wire reference §5.2`, `SN-35`."""
    title: str
    file: str
    """Path in the repository."""
    anchor: str

    @property
    def link(self) -> str:
        return f"{self.file}#{self.anchor}"


@cache
def cited(citation: str) -> tuple[Section, ...]:
    """The cited sections in their order; KeyError for a section that does not exist."""
    found = []
    page = ""
    for name, number, note in _PART.findall(citation):
        if name:
            page = name
        elif note:
            heading, title = NOTES[note]
            found.append(Section(note, title, NOTES_FILE, slug(heading)))
        else:
            heading = SECTIONS[page][number]
            title = _REMARK.sub("", _REMARK.sub("", heading.partition(" ")[2]))
            name = page if page == "limits" else f"{page} reference"
            found.append(Section(f"{name} §{number}", title, f"docs/spec/{page}.md", slug(heading)))
    return tuple(found)


def cited_text(citation: str) -> str:
    """The citation as text: `wire reference §5.2 (State machines), SN-35 (Version)`, or ""."""
    return ", ".join(f"{one.citation} ({one.title})" for one in cited(citation))


def linked(citation: str, docs: str) -> str:
    """The citation as Markdown, with links; `docs` is the path of the folder docs."""
    for section in cited(citation):
        number = section.citation.rpartition(" ")[2]
        link = f"[{number}]({docs}{section.link.removeprefix('docs/')})"
        citation = re.sub(rf"(?<!\[){number}(?![\d.])", link, citation, count=1)
    return citation


def slug(heading: str) -> str:
    """The anchor that GitHub gives a heading."""
    return _DROPPED_FROM_SLUG.sub("", heading.lower()).replace(" ", "-")
