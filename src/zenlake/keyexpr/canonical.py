"""The validation of key expressions, and the canonical spelling of each.

A key expression is a `/`-separated list of chunks. Two canonical expressions denote the
same set of keys exactly when their texts are equal, so everything else in zenlake stores,
compares and hashes plain strings, which this module has validated.

`validate` refuses every text that is not canonical, and reports the position of the error.
`canonize` rewrites redundant wildcards first, but repairs nothing else.
"""

from __future__ import annotations

import re
from typing import Final

from zenlake.errors import KeyExprError
from zenlake.limits import KEY_EXPR_BYTES_MAX, KEY_EXPR_CHUNKS_MAX

_SPECIAL: Final = re.compile(r"[*$#?]")


def validate(text: str) -> None:
    """Raise `KeyExprError` unless `text` is a canonical key expression within the limits."""
    check_length(text)
    special = _SPECIAL.search(text) is not None
    position = 0
    previous = ""
    for count, chunk in enumerate(text.split("/")):
        if count == KEY_EXPR_CHUNKS_MAX:
            raise KeyExprError(text, position, f"more than {KEY_EXPR_CHUNKS_MAX} chunks")
        if not chunk:
            raise KeyExprError(text, position, "a chunk is empty")
        if special:
            _check_chunk(text, position, chunk, previous)
        previous = chunk
        position += len(chunk) + 1


def canonize(text: str) -> str:
    """The canonical spelling of `text`; raises `KeyExprError` if there is none.

    Within a run of `*` and `**` chunks only the number of `*` and the presence of `**`
    matter, so the run is spelled with all its `*` first, then at most one `**`.
    """
    chunks: list[str] = []
    double_pending = False
    for raw in text.split("/"):
        chunk = _collapse(raw)
        if chunk == "**":
            double_pending = True
            continue
        if double_pending and chunk != "*":
            chunks.append("**")
            double_pending = False
        chunks.append(chunk)
    if double_pending:
        chunks.append("**")
    canonical = "/".join(chunks)
    validate(canonical)
    return canonical


def check_length(text: str) -> None:
    """Raise `KeyExprError` if `text` is not UTF-8 or longer than any key expression may be."""
    try:
        encoded = text.encode()
    except UnicodeEncodeError as error:
        raise KeyExprError(text, error.start, "a lone surrogate is not UTF-8") from None
    if len(encoded) > KEY_EXPR_BYTES_MAX:
        # The first character that does not fit completely.
        place = len(encoded[:KEY_EXPR_BYTES_MAX].decode(errors="ignore"))
        raise KeyExprError(text, place, f"longer than {KEY_EXPR_BYTES_MAX} bytes")


def _collapse(chunk: str) -> str:
    # Each pass halves the runs, so the time is linear in their length.
    while "$*$*" in chunk:
        chunk = chunk.replace("$*$*", "$*")
    return "*" if chunk == "$*" else chunk


def _check_chunk(text: str, position: int, chunk: str, previous: str) -> None:
    """Check the special characters of the `chunk` that starts at `position` of `text`."""
    if chunk == "*" or chunk == "**":
        if previous == "**":
            better = "*/**" if chunk == "*" else "**"
            raise KeyExprError(text, position, f"`**/{chunk}` must be written `{better}`")
        return
    if chunk == "$*":
        raise KeyExprError(text, position, "a lone `$*` must be written `*`")
    for index, character in enumerate(chunk):
        before = chunk[index - 1] if index else ""
        if character == "#" or character == "?":
            cause = "`#` and `?` are forbidden"
        elif character == "*" and before != "$":
            cause = "`*` must be a whole chunk, or follow `$`"
        elif character == "$" and chunk[index + 1 : index + 2] != "*":
            cause = "`$` must be followed by `*`"
        elif character == "$" and before == "*":
            cause = "`$*$*` must be written `$*`"
        else:
            continue
        raise KeyExprError(text, position + index, cause)
