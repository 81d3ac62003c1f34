"""Intersection, inclusion and relation (behaviour reference, 1.3), and their cost."""

from __future__ import annotations

import itertools
import random
import re
import time
from collections.abc import Callable

import pytest

from tests.chance import scaled
from zenlake.errors import KeyExprError
from zenlake.keyexpr.canonical import validate
from zenlake.keyexpr.matching import (
    chunk_includes,
    chunk_intersects,
    includes,
    intersects,
    relation,
)
from zenlake.keyexpr.set_intersection_level import SetIntersectionLevel
from zenlake.limits import KEY_EXPR_BYTES_MAX, KEY_EXPR_CHUNKS_MAX

# The whole case table of the reference: A, B, intersects, A includes B, B includes A, relation.
CASE_TABLE = """
a                    | a                        | T | T | T | EQUALS
a/b                  | a/b                      | T | T | T | EQUALS
a                    | b                        | F | F | F | DISJOINT
a                    | a/b                      | F | F | F | DISJOINT
a/*                  | a                        | F | F | F | DISJOINT
a/*                  | a/b                      | T | T | F | INCLUDES
a/*                  | a/b/c                    | F | F | F | DISJOINT
*                    | a                        | T | T | F | INCLUDES
*                    | a/b                      | F | F | F | DISJOINT
*                    | @a                       | F | F | F | DISJOINT
*                    | *                        | T | T | T | EQUALS
a/*/c                | a/b/c                    | T | T | F | INCLUDES
a/*/c                | a/c                      | F | F | F | DISJOINT
a/**                 | a                        | T | T | F | INCLUDES
a/**                 | a/b/c                    | T | T | F | INCLUDES
a/**                 | ab                       | F | F | F | DISJOINT
**                   | a                        | T | T | F | INCLUDES
**                   | a/b/c                    | T | T | F | INCLUDES
**                   | **/a                     | T | T | F | INCLUDES
**                   | @a                       | F | F | F | DISJOINT
**                   | a/@b                     | F | F | F | DISJOINT
**                   | a/@b/c                   | F | F | F | DISJOINT
**/@a                | @a                       | T | T | F | INCLUDES
**/@a                | x/y/@a                   | T | T | F | INCLUDES
**/a                 | a                        | T | T | F | INCLUDES
**/a                 | b/a/c                    | F | F | F | DISJOINT
**/a                 | a/**                     | T | F | F | INTERSECTS
a/**/b               | a/b                      | T | T | F | INCLUDES
a/**/b               | a/x/y/b                  | T | T | F | INCLUDES
a/**/b               | a/b/c                    | F | F | F | DISJOINT
a/**/b               | a/**/c/**/b              | T | T | F | INCLUDES
a/**/c               | a/b/**                   | T | F | F | INTERSECTS
a/*/**               | a                        | F | F | F | DISJOINT
a/*/**               | a/b                      | T | T | F | INCLUDES
a/**                 | a/*/**                   | T | T | F | INCLUDES
a/*/b                | a/**/b                   | T | F | T | INTERSECTS
*/**                 | **                       | T | F | T | INTERSECTS
**                   | */**                     | T | T | F | INCLUDES
a$*                  | a                        | T | T | F | INCLUDES
a$*                  | ab                       | T | T | F | INCLUDES
a$*                  | b                        | F | F | F | DISJOINT
$*a                  | a$*                      | T | F | F | INTERSECTS
$*a                  | ba                       | T | T | F | INCLUDES
ab$*cd               | abcd                     | T | T | F | INCLUDES
ab$*cd               | abxcd                    | T | T | F | INCLUDES
ab$*cd               | abcxd                    | F | F | F | DISJOINT
ab$*ba               | aba                      | F | F | F | DISJOINT
ab$*ba               | abba                     | T | T | F | INCLUDES
a$*b$*c              | axbyc                    | T | T | F | INCLUDES
a$*b$*c              | ac                       | F | F | F | DISJOINT
a$*                  | a$*b                     | T | T | F | INCLUDES
a$*b                 | a$*                      | T | F | T | INTERSECTS
a$*d$*e              | a$*c$*e                  | T | F | F | INTERSECTS
$*b$*                | abc                      | T | T | F | INCLUDES
x/a$*d$*e            | x/ade                    | T | T | F | INCLUDES
$*d                  | $*e                      | F | F | F | DISJOINT
*                    | a$*                      | T | T | F | INCLUDES
a$*                  | *                        | T | F | T | INTERSECTS
$*@a                 | x@a                      | T | T | F | INCLUDES
$*@a                 | @a                       | F | F | F | DISJOINT
a@b                  | a$*                      | T | F | T | INTERSECTS
@a                   | @a                       | T | T | T | EQUALS
@a                   | @ab                      | F | F | F | DISJOINT
@a$*                 | @ab                      | F | F | F | DISJOINT
@a$*                 | @a$*                     | T | T | T | EQUALS
@a/*                 | @a/@b                    | F | F | F | DISJOINT
@a/**                | @a                       | T | T | F | INCLUDES
@a/**                | @a/b/c                   | T | T | F | INCLUDES
@a/**                | @a/@b                    | F | F | F | DISJOINT
@a/**/@b             | @a/@b                    | T | T | F | INCLUDES
@a/**/@c/**/@b       | @a/@c/@b                 | T | T | F | INCLUDES
@a/**/@b             | @a/**/@c/**/@b           | F | F | F | DISJOINT
@a/**                | @a/**/@b                 | F | F | F | DISJOINT
**/xyz$*xyz          | a/b/xyzdefxyz            | T | T | F | INCLUDES
a/**/c/*/e/*         | a/b/b/b/c/d/d/c/d/e/f    | T | T | F | INCLUDES
a/**/c/*/e/*         | a/b/c/d/d/e/f            | F | F | F | DISJOINT
é/*                  | é/a                      | T | T | F | INCLUDES
A                    | a                        | F | F | F | DISJOINT
a b                  | a b                      | T | T | T | EQUALS
"""

CASES = [[cell.strip() for cell in line.split(" | ")] for line in CASE_TABLE.strip().splitlines()]


@pytest.mark.parametrize(("a", "b", "meet", "a_has_b", "b_has_a", "level"), CASES)
def test_relations_are_those_of_the_table(
    a: str, b: str, meet: str, a_has_b: str, b_has_a: str, level: str
) -> None:
    assert intersects(a, b) is (meet == "T")
    assert intersects(b, a) is (meet == "T")
    assert includes(a, b) is (a_has_b == "T")
    assert includes(b, a) is (b_has_a == "T")
    assert relation(a, b) is SetIntersectionLevel[level]


def test_the_case_table_is_complete() -> None:
    assert len(CASES) == 79


def test_inclusion_may_be_false_for_an_included_double_wildcard() -> None:
    # Every key of `**/x` has a first chunk, but the reference returns False too.
    assert not includes("*/**", "**/x")
    assert intersects("*/**", "**/x")


@pytest.mark.parametrize(
    ("a", "b", "meet"),
    [
        ("a$*x", "a$*y", False),
        ("a$*", "b$*", False),
        ("ab$*", "a$*c", True),
        ("$*q$*", "$*r$*", True),
        ("a$*b$*c", "a$*d$*c", True),
        ("a$*b", "ab", True),
        ("ab$*b", "ab", False),
        ("a$*ab$*b", "aabb", True),
        ("a$*ab$*b", "aab", False),
        ("*", "a$*", True),
        ("@a", "*", False),
    ],
)
def test_chunks_intersect(a: str, b: str, meet: bool) -> None:
    assert chunk_intersects(a, b) is meet
    assert chunk_intersects(b, a) is meet


@pytest.mark.parametrize(
    ("a", "b", "included"),
    [
        ("*", "a$*", True),
        ("*", "**", False),
        ("a$*", "*", False),
        ("a$*", "a$*b", True),
        ("$*a$*", "a$*", True),
        ("$*a$*b$*", "xa$*yb", True),
        ("$*a$*b$*", "xb$*ya", False),
        ("@a$*", "@ab", False),
    ],
)
def test_chunks_include(a: str, b: str, included: bool) -> None:
    assert chunk_includes(a, b) is included


# An independent oracle: an expression is the set of concrete keys that its regular expression
# matches, out of all keys of up to six chunks; `c` stands for all letters never written. The
# empty key is counted, as `**` alone means it too: so `**` differs from `*/**`.

CHUNKS = ("a", "b", "*", "**", "a$*", "@a")
KEY_CHUNKS = ("a", "b", "ac", "@a")
SAMPLE_SIZE = scaled(30_000, 150_000)


def regular_expression(expr: str) -> re.Pattern[str]:
    """Matches a key written with a slash after each chunk."""
    plain = r"[^@/][^/]*/"
    pieces = []
    for chunk in expr.split("/"):
        if chunk == "**":
            pieces.append(f"(?:{plain})*")
        elif chunk == "*":
            pieces.append(plain)
        elif chunk.startswith("@"):
            pieces.append(re.escape(chunk) + "/")
        else:
            pieces.append("[^/]*".join(map(re.escape, chunk.split("$*"))) + "/")
    return re.compile("".join(pieces))


def all_expressions() -> list[str]:
    expressions = []
    for size in range(1, 5):
        for chunks in itertools.product(CHUNKS, repeat=size):
            try:
                validate("/".join(chunks))
            except KeyExprError:
                continue
            expressions.append("/".join(chunks))
    return expressions


def key_sets(expressions: list[str]) -> dict[str, int]:
    """The set of matching keys of each expression, one bit per key."""
    keys = [
        "".join(f"{chunk}/" for chunk in chunks)
        for size in range(7)
        for chunks in itertools.product(KEY_CHUNKS, repeat=size)
    ]
    sets = {}
    for expr in expressions:
        matches = regular_expression(expr).fullmatch
        sets[expr] = int("".join("1" if matches(key) else "0" for key in keys), 2)
    return sets


def test_agreement_with_enumerated_keys() -> None:
    rng = random.Random(5)
    expressions = rng.sample(all_expressions(), 600)
    sets = key_sets(expressions)
    related = 0
    for _ in range(SAMPLE_SIZE):
        a, b = rng.choice(expressions), rng.choice(expressions)
        common = sets[a] & sets[b]
        assert intersects(a, b) is (common != 0), (a, b)
        if includes(a, b):
            assert common == sets[b], (a, b)
            related += 1
        elif "**" not in b.split("/"):
            assert common != sets[b], (a, b)
    assert related > 100


def test_only_equal_expressions_have_the_same_keys() -> None:
    sets = key_sets([expr for expr in all_expressions() if expr.count("/") < 3])
    assert len(set(sets.values())) == len(sets)


def test_no_wildcard_matches_a_verbatim_chunk() -> None:
    """With an `@` chunk anywhere in a key, wildcards at that place do not match any more."""
    rng = random.Random(6)
    checked = 0
    while checked < 500:
        keys = [rng.choice("abc") for _ in range(rng.randint(1, 6))]
        place = rng.randrange(len(keys))
        verbatim = [*keys[:place], "@" + keys[place], *keys[place + 1 :]]
        for wild in ("*", "**", f"$*{keys[place]}", f"{keys[place]}$*"):
            expr = "/".join([*keys[:place], wild, *keys[place + 1 :]])
            assert intersects(expr, "/".join(keys))
            assert includes(expr, "/".join(keys))
            assert not intersects(expr, "/".join(verbatim)), (expr, verbatim)
            assert not includes(expr, "/".join(verbatim)), (expr, verbatim)
            checked += 1
        assert not intersects("**", "/".join(verbatim))
        assert intersects("/".join([*verbatim, "**"]), "/".join(verbatim))


# Hostile pairs, all near misses: the question is only how long they take.


def doubles(size: int) -> tuple[str, str]:
    """`**/a/**/a/.../b` against `a/a/a...`"""
    return "**/a/" * (size // 5) + "b", "a/" * (size // 5) + "a"


def doubles_with_verbatim(size: int) -> tuple[str, str]:
    """Both sides full of `**`; they differ only in a verbatim chunk in the middle."""
    half = "/".join(["**/a"] * (size // 10))
    return f"**/{half[3:]}/@x/{half}/**", f"**/b/{half[3:]}/@y/{half}/**"


def long_fixed_part(size: int) -> tuple[str, str]:
    """A fixed part that fits almost everywhere."""
    return f"**/{'a/' * (size // 5)}b/**", "a/" * (size // 2 - 1) + "a"


def sub_wildcards(size: int) -> tuple[str, str]:
    """`$*a$*a...b` against `aaa...`"""
    return "$*a" * ((size - 1) // 3) + "b", "a" * size


def sub_wildcards_in_chunks(size: int) -> tuple[str, str]:
    chunk_size = max(size // 30, 9)
    pattern, text = sub_wildcards(chunk_size)
    count = size // (chunk_size + 4)
    return "/".join([f"**/{pattern}"] * count), "/".join([text] * count)


HOSTILE = [doubles, doubles_with_verbatim, long_fixed_part, sub_wildcards, sub_wildcards_in_chunks]


def seconds(pair: tuple[str, str], rounds: int = 9) -> float:
    """The shortest time of this thread for both functions in both directions."""
    a, b = pair
    times = []
    for _ in range(rounds):
        start = time.thread_time()
        intersects(a, b)
        includes(a, b)
        includes(b, a)
        times.append(time.thread_time() - start)
    return min(times)


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_pairs_stay_cheap(hostile: Callable[[int], tuple[str, str]]) -> None:
    small = hostile(66)
    large = hostile(scaled(1_600, 4_000))
    for text in small + large:
        assert len(text) <= KEY_EXPR_BYTES_MAX
    assert seconds(small) < 0.005
    # More chunks than the limit, so that the cost is safe even without the limit.
    assert seconds(large, rounds=1) < scaled(1, 5)


@pytest.mark.parametrize("hostile", HOSTILE)
def test_cost_grows_at_most_with_the_product_of_the_lengths(
    hostile: Callable[[int], tuple[str, str]],
) -> None:
    # Four times the lengths, sixteen times the product; three times that for an unsteady
    # machine is still less than the 64 of the third power.
    # Floor: below a tenth of a millisecond the clock is not exact enough.
    assert seconds(hostile(1_200)) < 48 * max(seconds(hostile(300)), 0.0001)


def test_the_worst_valid_pairs_take_a_fraction_of_a_second() -> None:
    chunk = "$*a" * 9 + "b"
    a = "/".join(["**", chunk] * 60)
    b = "/".join(["a" * 30] * (KEY_EXPR_CHUNKS_MAX - 2) + ["@v", "c"])
    c = "/".join(["**", "@v", *(["**", chunk] * 50), "x"])
    for text in (a, b, c):
        validate(text)
    for x, y in itertools.product((a, b, c), repeat=2):
        assert seconds((x, y)) < 0.5
