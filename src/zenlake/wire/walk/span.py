"""Span: a labelled range of bytes, with the spans inside it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

# A message has a header, a structure has none; a holder is a row that consists of its children.
Kind = Literal["message", "structure", "holder", "extension", "field"]


@dataclass
class BitSpan:
    """Named bits of one byte."""

    name: str
    mask: int
    value: int
    meaning: str


@dataclass
class Span:
    """A message, a row of one, or an extension, as it was found in the bytes.

    `stop` grows while the span is read, so that after an error the span ends at the error.
    """

    name: str
    start: int
    stop: int
    type: str = ""
    kind: Kind = "field"
    value: object = None
    meaning: str = ""
    bits: list[BitSpan] = field(default_factory=list)
    children: list[Span] = field(default_factory=list)

    def add(self, name: str, start: int, type: str = "", kind: Kind = "field") -> Span:
        child = Span(name, start, start, type, kind)
        self.children.append(child)
        return child
