"""Code: lines of Python with an indentation that follows the blocks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class Code:
    """Collects lines; `block` indents the lines written inside it."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._depth = 0

    def line(self, text: str = "") -> None:
        self.lines.append("    " * self._depth + text if text else "")

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        self.line(head)
        self._depth += 1
        yield
        self._depth -= 1

    @contextmanager
    def block_if(self, condition: str | None) -> Iterator[None]:
        """A block under `if condition:`, or no block if there is no condition."""
        if condition is None:
            yield
        else:
            with self.block(f"if {condition}:"):
                yield

    def __str__(self) -> str:
        return "\n".join(self.lines) + "\n"
