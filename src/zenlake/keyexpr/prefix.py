"""Removing a prefix from a key expression.

A storage keeps keys without their common prefix, a namespace hides one: both must turn an
expression about full keys into expressions about what follows the prefix. With wildcards
there can be several, because a `**` may end inside the prefix or reach beyond it.
"""

from __future__ import annotations

from zenlake.keyexpr.matching import chunk_includes, intersection_table


def nonwild_prefix(text: str) -> str | None:
    """The chunks before the first one containing `*`; None if that is the first chunk."""
    star = text.find("*")
    if star < 0:
        return text
    slash = text.rfind("/", 0, star)
    return text[:slash] if slash >= 0 else None


def strip_prefix(text: str, prefix: str) -> list[str]:
    """The remainders of `text` after `prefix`, without those that another one includes.

    The remainder after the longest beginning comes first.
    """
    chunks = text.split("/")
    inclusion = _suffix_inclusion(chunks)
    kept: list[int] = []
    for start in reversed(_remainders(chunks, prefix)):
        if not any(inclusion[other][start] for other in kept):
            kept = [other for other in kept if not inclusion[start][other]]
            kept.append(start)
    return ["/".join(chunks[start:]) for start in kept]


def remainders(text: str, prefix: str) -> list[str]:
    """Remainders as `strip_prefix` returns them, but faster: one may be included in another.

    For a prefix of `n` chunks there are at most `2n + 1` remainders.
    """
    chunks = text.split("/")
    starts = dict.fromkeys(_remainders(chunks, prefix))
    kept = [start for start in starts if start - 1 not in starts or chunks[start - 1] != "**"]
    return ["/".join(chunks[start:]) for start in kept]


def strip_nonwild_prefix(text: str, prefix: str) -> str | None:
    """The longest remainder of `text` after `prefix`, a key without wildcards."""
    chunks = text.split("/")
    remainders = _remainders(chunks, prefix)
    return "/".join(chunks[remainders[0] :]) if remainders else None


def _remainders(chunks: list[str], prefix: str) -> list[int]:
    """Where remainders start, ascending: one for each beginning that intersects `prefix`.

    If a beginning ends in `**`, the remainder starts with that `**`, which may match more chunks.
    """
    starts: list[int] = []
    reached = intersection_table(chunks, prefix.split("/"))[-1]
    for end in range(1, len(chunks) + 1):
        start = end - 1 if chunks[end - 1] == "**" else end
        if reached[end] and start < len(chunks):
            starts.append(start)
    return starts


def _suffix_inclusion(chunks: list[str]) -> list[list[bool]]:
    """`table[i][j]`: whether `chunks[i:]` includes `chunks[j:]`, as in `matching.includes`."""
    size = len(chunks)
    table = [[False] * size + [True]]
    for i in range(size - 1, -1, -1):
        below = table[0]
        row = [below[size] and chunks[i] == "**"]
        for j in range(size - 1, -1, -1):
            if chunks[i] == "**":
                includes = below[j] or (row[0] and chunks[j][0] != "@")
            else:
                includes = below[j + 1] and chunk_includes(chunks[i], chunks[j])
            row.insert(0, includes)
        table.insert(0, row)
    return table
