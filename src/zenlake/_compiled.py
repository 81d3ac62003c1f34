"""Whether the hot modules run compiled by mypyc or as plain Python."""

from __future__ import annotations


def is_compiled() -> bool:
    from zenlake.wire import primitives

    return not primitives.__file__.endswith((".py", ".pyc"))
