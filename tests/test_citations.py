"""Every citation of docs/spec in sources, tests and documents leads to a heading or a case.

"wire reference §5.2" is the heading `### 5.2 ...` of docs/spec/wire.md; "limits: H01" is the case
`**H01**` of docs/spec/limits.md. A § without the name of a page is of the page that its paragraph
named last before it, or else of the page of its folder (`PAGE_OF_FOLDER`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.paths import DOCS, ROOT

SPEC = DOCS / "spec"
FOLDERS = ("src", "tests", "docs", "attacks", "chaos", "benchmarks", "fuzz", "scripts")
PAGE_OF_FOLDER = {"routing": "behaviour", "interop": "behaviour", "simulation": "behaviour"}
"""The page that a § without a page name cites, by folder; elsewhere it is the wire reference."""

NOT_CITING = ("tests/vectors/", "tests/test_citations.py", "tests/semantics/test_citations.py")
"""Files that are not checked: test vectors have ids such as T10, some tests invalid citations."""

PAGE_OR_SECTION = re.compile(
    r"\b([Ww]ire|[Bb]ehaviour|[Ll]imits)(?:\.md)?(?:[\s#]+(?:reference|ref\.))?[\s#]*(?=\[?§)"
    r"|§\s?(\d+(?:\.\d+)*)"
)
CASE = re.compile(r"\b[ACFHKLPQRSTVW]\d\d\b(?!\w)")


def citing_files() -> Iterator[Path]:
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            name = path.relative_to(ROOT).as_posix()
            if path.suffix in (".py", ".md") and not name.startswith(NOT_CITING):
                yield path
    yield from (ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md")


@cache
def sections(page: str) -> set[str]:
    text = (SPEC / f"{page}.md").read_text()
    return set(re.findall(r"^#{2,3} (\d+(?:\.\d+)*)\b", text, re.MULTILINE))


def cited_sections(path: Path, text: str) -> Iterator[tuple[int, str, str]]:
    """Line, page and number of every § in `text`."""
    own = path.stem if path.parent == SPEC else "wire"
    for folder in path.relative_to(ROOT).parts[:-1]:
        own = PAGE_OF_FOLDER.get(folder, own)
    page, last = own, 0
    for match in PAGE_OR_SECTION.finditer(text):
        named, number = match.groups()
        if "\n\n" in text[last : match.start()]:
            page = own
        last = match.end()
        if named is not None:
            page = named.lower()
        else:
            yield text.count("\n", 0, match.start()) + 1, page, number
            if path.parent == SPEC:  # a page names another one for a single section
                page = own


def unresolved_sections(path: Path, text: str) -> list[str]:
    known = {page: sections(page) for page in ("wire", "behaviour", "limits")}
    return [
        f"{path.relative_to(ROOT)}:{line}: {page} reference §{number} does not exist"
        for line, page, number in cited_sections(path, text)
        if number not in known[page]
    ]


@cache
def cases() -> set[str]:
    return set(re.findall(r"^- \*\*([A-Z]\d\d)\*\* ", (SPEC / "limits.md").read_text(), re.M))


def unresolved_cases(path: Path, text: str) -> list[str]:
    known = cases()
    return [
        f"{path.relative_to(ROOT)}:{line}: docs/spec/limits.md has no case {case}"
        for line, row in enumerate(text.splitlines(), 1)
        for case in CASE.findall(row)
        if case not in known
    ]


def test_cited_sections_exist() -> None:
    found = 0
    wrong = []
    for path in citing_files():
        text = path.read_text()
        found += text.count("§")
        wrong += unresolved_sections(path, text)
    assert found > 500
    assert wrong == []


def test_cited_cases_exist() -> None:
    wrong = [line for path in citing_files() for line in unresolved_cases(path, path.read_text())]
    assert wrong == []


@pytest.mark.parametrize(
    ("folder", "text", "wrong"),
    [
        ("wire", "see wire reference §5.2, §12.7", []),
        ("wire", "see\n# wire\n# reference §99.1", ["3: wire reference §99.1 does not exist"]),
        ("wire", "behaviour reference §4.5 and §5.7", ["1: behaviour reference §5.7"]),
        ("wire", "as there (§2.14)", ["1: wire reference §2.14"]),
        ("routing", "as there (§2.14)", []),
    ],
)
def test_citation_that_leads_nowhere_is_named(folder: str, text: str, wrong: list[str]) -> None:
    found = unresolved_sections(ROOT / "src" / "zenlake" / folder / "module.py", text)
    assert len(found) == len(wrong)
    for line, expected in zip(found, wrong, strict=True):
        assert line.startswith(f"src/zenlake/{folder}/module.py:{expected}")


def test_unknown_case_is_named() -> None:
    path = ROOT / "tests" / "module.py"
    assert unresolved_cases(path, "limits: H01, Q03, R17, A04, L05") == []
    assert unresolved_cases(path, "\n(limits: H99)") == [
        "tests/module.py:2: docs/spec/limits.md has no case H99"
    ]
