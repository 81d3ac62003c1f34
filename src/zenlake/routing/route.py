"""`Route`: where publications on one key go, and how the key is written for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zenlake.wire.values.wire_expr import WireExpr

if TYPE_CHECKING:
    from zenlake.routing.face import Face


class Route:
    """Two lists of equal length; the source of a message may be among the faces."""

    __slots__ = ("exprs", "faces")

    def __init__(self, faces: list[Face], exprs: list[WireExpr]) -> None:
        self.faces = faces
        self.exprs = exprs
