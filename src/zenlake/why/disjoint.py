"""Disjoint: explains why two key expressions do not match, and suggests one that does."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import Final, NamedTuple

from zenlake.errors import ZenlakeError
from zenlake.keyexpr import canonize
from zenlake.why.scope import intersects, without_at

_NEAR_RATIO_MIN: Final = 0.55
"""Keys with a lower similarity are probably not a spelling mistake."""


class Difference(NamedTuple):
    """Why a declared expression does not match a key."""

    declared: str
    cause: str
    """at_chunk or key_mismatch."""
    text: str
    would_match: str | None
    """An expression close to the declared one that matches."""


def nearest(key: str, declared: list[str]) -> Difference | None:
    """The declared expression that is most similar to the key; None if none is similar."""
    best: tuple[float, str] | None = None
    for other in declared:
        score = _likeness(key, other)
        if score >= _NEAR_RATIO_MIN and (best is None or score > best[0]):
            best = (score, other)
    return None if best is None else difference(best[1], key)


def _likeness(key: str, other: str) -> float:
    if ("@" in key or "@" in other) and intersects(without_at(key), without_at(other)):
        return 2.0
    mine, theirs = key.split("/"), other.split("/")
    shared = 2 * len(set(mine) & set(theirs)) / (len(mine) + len(theirs))
    if _extra_chunks(other, key) is not None:
        return 1.0 + shared / 10
    if shared == 0:
        # Without a common chunk, keys are similar only if they differ in case alone.
        return 1.5 if key.lower() == other.lower() else 0.0
    if intersects(key.lower(), other.lower()):
        return 1.5
    # Common chunks weigh more than common letters.
    return max(shared, (SequenceMatcher(None, key, other, autojunk=False).ratio() + shared) / 2)


def difference(declared: str, key: str) -> Difference:
    if intersects(without_at(key), without_at(declared)):
        return _at_chunk(declared, key)
    text, would_match = _difference(declared, key)
    return Difference(declared, "key_mismatch", text, would_match)


def _at_chunk(declared: str, key: str) -> Difference:
    theirs = set(declared.split("/"))
    ours = set(key.split("/"))
    found = [c for c in key.split("/") if c.startswith("@") and c not in theirs]
    found += [c for c in declared.split("/") if c.startswith("@") and c not in ours]
    chunk = (found or [c for c in key.split("/") if c.startswith("@")])[0]
    text = (
        f"`{declared}` and `{key}` do not match: the wildcards * and ** never stand for a chunk "
        f"that begins with @, here `{chunk}`"
    )
    would_match = _with_chunk(declared, chunk, key) or _with_chunk(key, chunk, declared)
    return Difference(declared, "at_chunk", text, would_match)


def _with_chunk(expression: str, chunk: str, other: str) -> str | None:
    """The expression with this chunk written out, if it then matches the other one."""
    chunks = expression.split("/")
    candidates = [expression.replace("**", f"**/{chunk}/**", 1)]
    candidates += [_replaced(expression, place, chunk) for place in range(len(chunks))]
    for candidate in candidates if "*" in expression else ():
        try:
            canonical = canonize(candidate)
        except ZenlakeError:
            continue
        if canonical != expression and intersects(canonical, other):
            return canonical
    return None


def _replaced(expression: str, place: int, chunk: str) -> str:
    chunks = expression.split("/")
    chunks[place] = chunk
    return "/".join(chunks)


def _difference(declared: str, key: str) -> tuple[str, str | None]:
    if intersects(declared.lower(), key.lower()):
        return f"`{declared}` and `{key}` differ in upper and lower case", None
    extra = _extra_chunks(declared, key)
    if extra is not None:
        longer, shorter, chunks = extra
        text = f"`{longer}` has {'/'.join(chunks)!r} more than `{shorter}`"
        if shorter == declared:
            text += "; * stands for exactly one chunk, ** for any number"
            return text, f"{declared}/**"
        return text, None
    pairs = zip(declared.split("/"), key.split("/"), strict=False)
    for place, (theirs, ours) in enumerate(pairs, 1):
        if "**" in (theirs, ours):
            break
        if not intersects(theirs, ours):
            return f"chunk {place} of `{declared}` is `{theirs}`, not `{ours}`", None
    return f"`{declared}` and `{key}` have no key in common", None


def _extra_chunks(a: str, b: str) -> tuple[str, str, list[str]] | None:
    """The longer, the shorter, and the chunks that only the longer has at its end."""
    shorter, longer = sorted((a, b), key=lambda one: one.count("/"))
    count = shorter.count("/") + 1
    chunks = longer.split("/")
    if len(chunks) == count or "**" in (*shorter.split("/"), *chunks):
        return None
    return (
        (longer, shorter, chunks[count:]) if intersects("/".join(chunks[:count]), shorter) else None
    )
