"""Intersection and inclusion of key expressions.

All functions expect canonical texts. Their time is at most proportional to the product of the
two lengths, for any wildcards: there is no recursion and no backtracking over combinations.

The algorithms use two facts, for `$*` in a chunk and for `**` in a path:

- a pattern against a text without gaps is a glob: match each fixed part as early as
  possible, and on a mismatch extend the last gap by one; earlier gaps never need to
  change, because an earlier match only leaves more room;
- two patterns that both have gaps intersect if their fixed beginnings and their fixed
  ends agree: a common text has the middle parts of both, one after the other.

The second fact does not hold across verbatim chunks (`@...`), which `**` does not match;
only then is the full table of `intersection_table` needed.
"""

from __future__ import annotations

from collections.abc import Callable

from zenlake.keyexpr.set_intersection_level import SetIntersectionLevel


def intersects(a: str, b: str) -> bool:
    """Whether some key matches both `a` and `b`."""
    if a == b:
        return True
    if "*" not in a and "*" not in b:
        return False
    a_chunks = a.split("/")
    b_chunks = b.split("/")
    if "**" in a_chunks:
        if "**" in b_chunks:
            return _both_double(a_chunks, b_chunks)
        return _glob(a_chunks, b_chunks, chunk_intersects)
    return _glob(b_chunks, a_chunks, chunk_intersects)


def includes(a: str, b: str) -> bool:
    """Whether every key matching `b` matches `a`.

    If `b` has a `**`, the result may be False for an expression that is included: a `**` of `b` is
    only matched with a `**` of `a` (`*/**` includes `**/x`, but the result is False). The
    reference returns the same.
    """
    if a == b:
        return True
    if "*" not in a:
        return False
    return _glob(a.split("/"), b.split("/"), chunk_includes)


def relation(a: str, b: str) -> SetIntersectionLevel:
    """How the set of `a` relates to the set of `b`; included *in* `b` is only INTERSECTS."""
    if a == b:
        return SetIntersectionLevel.EQUALS
    if includes(a, b):
        return SetIntersectionLevel.INCLUDES
    if intersects(a, b):
        return SetIntersectionLevel.INTERSECTS
    return SetIntersectionLevel.DISJOINT


def chunk_intersects(a: str, b: str) -> bool:
    """Whether some chunk matches both chunks, neither of them `**`."""
    if a == b:
        return True
    if a[0] == "@" or b[0] == "@":
        return False
    if a == "*" or b == "*":
        return True
    if "$" not in a:
        return "$" in b and _chunk_glob(b, a)
    if "$" not in b:
        return _chunk_glob(a, b)
    a_head, a_tail = fixed_ends(a)
    b_head, b_tail = fixed_ends(b)
    heads_agree = a_head.startswith(b_head) or b_head.startswith(a_head)
    return heads_agree and (a_tail.endswith(b_tail) or b_tail.endswith(a_tail))


def chunk_includes(a: str, b: str) -> bool:
    """Whether every chunk matching `b` matches `a`; `a` is not `**`."""
    if a == b:
        return True
    if a[0] == "@" or b[0] == "@":
        return False
    if a == "*":
        return b != "**"
    # A `$*` inside `b` may be read as ordinary characters: no fixed part contains `$`.
    return "$" in a and _chunk_glob(a, b)


def fixed_ends(chunk: str) -> tuple[str, str]:
    """The text of a chunk before its first and after its last `$*`."""
    return chunk[: chunk.index("$")], chunk[chunk.rindex("*") + 1 :]


def intersection_table(a: list[str], b: list[str]) -> list[list[bool]]:
    """`table[j][i]`: whether `a[:i]` and `b[:j]` have a key in common.

    The chunks need not be in canonical order, so they may be beginnings, ends (both reversed)
    or joined expressions.
    """
    row = [True]
    for chunk in a:
        row.append(row[-1] and chunk == "**")
    table = [row]
    for chunk in b:
        row = _next_row(a, chunk, row)
        table.append(row)
    return table


def _next_row(a: list[str], b_chunk: str, above: list[bool]) -> list[bool]:
    """The row of `intersection_table` for one more chunk of `b`."""
    b_double = b_chunk == "**"
    row = [b_double and above[0]]
    for i, a_chunk in enumerate(a):
        if b_double:
            reached = above[i + 1] or (row[i] and a_chunk[0] != "@")
        elif a_chunk == "**":
            reached = row[i] or (above[i + 1] and b_chunk[0] != "@")
        else:
            reached = above[i] and chunk_intersects(a_chunk, b_chunk)
        row.append(reached)
    return row


def _both_double(a: list[str], b: list[str]) -> bool:
    """Intersection of two chunk lists that both contain `**`."""
    start = 0
    while a[start] != "**" and b[start] != "**":
        if not chunk_intersects(a[start], b[start]):
            return False
        start += 1
    end = -1
    while a[end] != "**" and b[end] != "**":
        if not chunk_intersects(a[end], b[end]):
            return False
        end -= 1
    a = a[start : len(a) + end + 1]
    b = b[start : len(b) + end + 1]
    if not _has_verbatim(a) and not _has_verbatim(b):
        return True
    return intersection_table(a, b)[-1][-1]


def _has_verbatim(chunks: list[str]) -> bool:
    return any(chunk[0] == "@" for chunk in chunks)


def _glob(pattern: list[str], text: list[str], fits: Callable[[str, str], bool]) -> bool:
    """Whether `pattern`, whose `**` are gaps, covers `text` chunk by chunk under `fits`.

    Going back only to the last gap is correct with verbatim chunks too: a gap ends at the first
    verbatim chunk, so a fixed part that has one fits at one place only.
    """
    i = j = 0
    gap = -1  # the last `**` seen in the pattern
    resume = 0  # the first chunk of the text after this gap
    while j < len(text):
        if i < len(pattern) and pattern[i] == "**":
            gap = i
            resume = j
            i += 1
        elif i < len(pattern) and fits(pattern[i], text[j]):
            i += 1
            j += 1
        elif gap >= 0 and text[resume][0] != "@":
            resume += 1
            i = gap + 1
            j = resume
        else:
            return False
    while i < len(pattern) and pattern[i] == "**":
        i += 1
    return i == len(pattern)


def _chunk_glob(pattern: str, text: str) -> bool:
    """Whether `pattern`, whose `$*` are gaps, covers the whole of `text`."""
    parts = pattern.split("$*")
    first = parts[0]
    last = parts[-1]
    end = len(text) - len(last)
    position = len(first)
    if position > end or not text.startswith(first) or not text.endswith(last):
        return False
    for part in parts[1:-1]:
        position = text.find(part, position, end)
        if position < 0:
            return False
        position += len(part)
    return True
