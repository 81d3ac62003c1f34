"""SQL expressions that format numbers for people."""

from __future__ import annotations


def ms(value: str) -> str:
    """A time in milliseconds, such as `0.04 ms`, `1.3 ms`, `10,000 ms`."""
    text = f"format_number({value}, if({value} < 1, 2, 1))"
    return rf"concat(regexp_replace({text}, '[.]?0+$', ''), ' ms')"


def counted(count: str, one: str, many: str) -> str:
    """`1 reply`, `2 replies`."""
    return f"concat(format_number({count}, 0), if({count} = 1, ' {one}', ' {many}'))"
