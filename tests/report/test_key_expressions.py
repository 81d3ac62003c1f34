"""The page's key expressions are those of zenlake.keyexpr."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from tests.chance import IS_FULL
from tests.report.chromium import Chromium
from zenlake.errors import KeyExprError
from zenlake.keyexpr import canonize
from zenlake.keyexpr.matching import intersects
from zenlake.report.page import html

pytestmark = pytest.mark.xdist_group("chromium")

SCRIPT = Path(html.__code__.co_filename).parent / "assets" / "key_expressions.js"
CHUNKS = (
    "a",
    "b",
    "ab",
    "aXb",
    "*",
    "**",
    "$*",
    "a$*",
    "$*b",
    "a$*b",
    "$*X$*",
    "@a",
    "@b",
    "é",
    "𝄞",
)
ODD = ("", "a*", "$", "$*$*", "a?", "#", "*a", "**b", "a$", "$$*", "***", "*$*")
PAIRS = 40_000 if IS_FULL else 4_000


def expressions(chunks: tuple[str, ...], count: int) -> list[str]:
    random_ = random.Random(7)
    return ["/".join(random_.choices(chunks, k=random_.randint(1, 5))) for _ in range(count)]


def asked(browser: Chromium, body: str, values: object) -> list[object]:
    script = f"{SCRIPT.read_text('utf-8')}; return {json.dumps(values)}.map({body});"
    answer: list[object] = browser.run(f"(() => {{ {script} }})()")
    return answer


def test_the_same_texts_are_expressions_and_spelled_the_same(browser: Chromium) -> None:
    texts = expressions((*CHUNKS, *ODD), PAIRS)
    body = "(text) => { try { return canonize(text); } catch { return null; } }"
    ours = [_canonical(text) for text in texts]
    assert asked(browser, body, texts) == ours
    assert 0.1 < ours.count(None) / len(ours) < 0.9


def _canonical(text: str) -> str | None:
    try:
        return canonize(text)
    except KeyExprError:
        return None


def test_the_same_expressions_intersect(browser: Chromium) -> None:
    texts = [canonize(text) for text in expressions(CHUNKS, 2 * PAIRS)]
    pairs = list(zip(texts[::2], texts[1::2], strict=True))
    ours = [intersects(a, b) for a, b in pairs]
    assert asked(browser, "([a, b]) => intersects(a, b)", pairs) == ours
    assert 0.05 < ours.count(True) / len(ours) < 0.9
