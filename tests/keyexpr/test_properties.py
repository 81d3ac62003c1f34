"""Properties that hold for all key expressions."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st

from zenlake.errors import KeyExprError
from zenlake.keyexpr import KeyExpr, KeyTree, SetIntersectionLevel
from zenlake.keyexpr.canonical import canonize, validate
from zenlake.keyexpr.matching import includes, intersects, relation
from zenlake.keyexpr.prefix import remainders, strip_nonwild_prefix, strip_prefix

# Few letters, so that random expressions often have something to do with each other.
literals = st.text("abé", min_size=1, max_size=3)
chunks = st.one_of(
    literals,
    literals.map(lambda text: "@" + text),
    st.sampled_from(["*", "**", "$*", "a$*", "$*b", "a$*b", "$*a$*", "a$*b$*a", "@a$*", "b@"]),
)
raw_expressions = st.lists(chunks, min_size=1, max_size=6).map("/".join)
expressions = raw_expressions.map(canonize)
keys = st.lists(literals, min_size=1, max_size=6).map("/".join)


def refusal(text: str) -> int | None:
    """The position at which `text` is refused."""
    try:
        validate(text)
    except KeyExprError as error:
        return error.position
    return None


@given(raw_expressions)
def test_canonizing_is_idempotent_and_valid(text: str) -> None:
    canonical = canonize(text)
    validate(canonical)
    assert canonize(canonical) == canonical


@given(st.text("ab/*$#?@é"))
def test_refused_text_is_valid_up_to_the_position(text: str) -> None:
    position = refusal(text)
    if position is not None:
        assert 0 <= position <= len(text)
        assert refusal(text[:position] + "x") is None


@given(expressions, expressions)
def test_relations_are_consistent(a: str, b: str) -> None:
    level = relation(a, b)
    assert intersects(a, b) is intersects(b, a)
    assert (level >= SetIntersectionLevel.INTERSECTS) is intersects(a, b)
    assert (level >= SetIntersectionLevel.INCLUDES) is includes(a, b)
    assert (level is SetIntersectionLevel.EQUALS) is (a == b)
    if includes(a, b) and includes(b, a):
        assert a == b


@given(expressions, expressions, keys)
def test_a_common_key_means_intersection(a: str, b: str, key: str) -> None:
    in_a, in_b = includes(a, key), includes(b, key)
    assert in_a is intersects(a, key)
    if in_a and in_b:
        assert intersects(a, b)
    if in_b and includes(a, b):
        assert in_a


@given(expressions, expressions, expressions)
def test_inclusion_is_transitive(a: str, b: str, c: str) -> None:
    if includes(a, b) and includes(b, c):
        assert includes(a, c)


@given(expressions, raw_expressions)
def test_joining_is_canonizing_the_joined_texts(a: str, b: str) -> None:
    joined = KeyExpr(a).join(b)
    assert joined == canonize(f"{a}/{b}")
    assert joined == KeyExpr(a) / KeyExpr.autocanonize(b)


@given(expressions, keys, keys)
def test_stripping_a_prefix_keeps_exactly_the_keys_below_it(
    expr: str, prefix: str, rest: str
) -> None:
    stripped = strip_prefix(expr, prefix)
    assert intersects(expr, f"{prefix}/{rest}") is any(intersects(r, rest) for r in stripped)
    longest = strip_nonwild_prefix(expr, prefix)
    assert (longest is None) is (not stripped)


@given(expressions, keys, expressions)
def test_remainders_intersect_exactly_what_follows_the_prefix(
    expr: str, prefix: str, rest: str
) -> None:
    found = remainders(expr, prefix)
    assert len(found) <= 2 * len(prefix.split("/")) + 1
    is_found = any(intersects(remainder, rest) for remainder in found)
    if rest == "**":  # the only one that may match no chunk
        is_found = is_found or intersects(expr, prefix)
    assert intersects(expr, f"{prefix}/{rest}") is is_found


entries = st.lists(st.tuples(expressions, st.booleans()), max_size=30)


@given(entries, keys, expressions)
def test_the_tree_agrees_with_a_linear_scan(
    changes: list[tuple[str, bool]], key: str, expr: str
) -> None:
    tree: KeyTree[int] = KeyTree()
    stored: dict[str, int] = {}
    for number, (changed, removed) in enumerate(changes):
        tree.insert(changed, number)
        stored[changed] = number
        if removed:
            victim = next(iter(stored))
            assert tree.remove(victim) == stored.pop(victim)
    assert len(tree) == len(stored)
    assert dict(tree.items()) == stored
    matching = sorted(value for text, value in stored.items() if intersects(text, key))
    assert sorted(tree.match_key(key)) == matching
    crossing = sorted(value for text, value in stored.items() if intersects(text, expr))
    assert sorted(tree.intersecting(expr)) == crossing


@given(expressions, keys)
def test_a_tree_emptied_again_is_like_new(expr: str, key: str) -> None:
    assume(expr != key)
    tree: KeyTree[int] = KeyTree()
    tree.insert(key, 1)
    tree.insert(expr, 2)
    tree.remove(expr)
    assert list(tree.items()) == [(key, 1)]
    tree.remove(key)
    assert tree._root.child_count() == 0
