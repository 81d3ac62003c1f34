"""The document: a policy that fits its scripts, and data that cannot leave its block."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.report.hostile_lake import hostile
from tests.report.payloads import PAYLOADS
from zenlake.report import Selection, collect
from zenlake.report.page import as_json, html

pytestmark = pytest.mark.xdist_group("page")


class Parsed(HTMLParser):
    """Elements with their attributes and, of scripts and styles, the text."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=False)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append((self.elements[-1][0] if self.elements else "", data))

    def texts_of(self, tag: str) -> list[str]:
        return [text for name, text in self.texts if name == tag and text.strip()]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    store = hostile(tmp_path_factory.mktemp("page") / "hostile.lake")
    return html(collect(store, Selection()))


def test_the_policy_allows_what_is_there_and_nothing_else(page: str) -> None:
    parsed = Parsed(page)
    [policy] = [
        found["content"]
        for tag, found in parsed.elements
        if tag == "meta" and found.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy is not None
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert "unsafe" not in policy
    data, library, script = parsed.texts_of("script")
    assert rules["script-src"].split() == [_hash(library), _hash(script)]
    assert rules["style-src"].split() == [_hash(*parsed.texts_of("style"))]
    assert json.loads(data)["about"]["lake"] == "hostile.lake"


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_page_refers_to_no_other_address(page: str) -> None:
    for tag, found in Parsed(page).elements:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base")
        assert "src" not in found
        assert (found.get("href") or "#").startswith("#")
        assert not any(name.startswith("on") or name == "style" for name in found)


def test_no_payload_is_in_the_document_itself(page: str) -> None:
    before, block, after = re.split(
        r'<script type="application/json" id="data">|</script>\n', page
    )[:3]
    assert before.count("<section") == 10
    assert block.isascii()
    assert not set(block) & set("<>&\x00\x1b")
    keys = json.loads(block)["names"]["keys"]
    # The texts themselves are there, as data.
    assert set(PAYLOADS) <= set(keys)
    assert after.startswith("<script>")


def test_json_is_ascii_that_means_the_same() -> None:
    value = {"</script><!--": "\u2028\u2029\u202e&amp;\ud800", "n": [1, 0.5, None, True]}
    text = as_json(value)
    assert json.loads(text) == value
    assert text.isascii()
    assert "<" not in text


def test_json_has_no_word_for_infinity() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        as_json([float("inf")])


def test_the_library_is_there_with_its_licence() -> None:
    assets = Path(html.__code__.co_filename).parent / "assets"
    assert "Apache License" in (assets / "echarts.LICENSE").read_text("utf-8")
    assert "Apache Software Foundation" in (assets / "echarts.NOTICE").read_text("utf-8")
    assert "Licensed to the Apache Software Foundation" in (assets / "echarts.min.js").read_text(
        "utf-8"
    )
