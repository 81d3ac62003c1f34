"""WireExpr: a key expression in messages (wire reference §1.10)."""

from __future__ import annotations

from zenlake._mypyc import mypyc_attr


@mypyc_attr(acyclic=True)
class WireExpr:
    """A declared prefix by number, and the text after it.

    The full key is the expansion of `scope` followed by `suffix`, nothing between. Scope 0 is
    the empty prefix. With `sender` (M=1), the node that sends the message has declared `scope`;
    otherwise the node that receives it.
    """

    __slots__ = ("scope", "sender", "suffix")

    def __init__(self, scope: int, suffix: str = "", sender: bool = True) -> None:
        self.scope = scope
        self.suffix = suffix
        self.sender = sender

    def __str__(self) -> str:
        if self.scope == 0:
            return self.suffix
        return f"[{'sender' if self.sender else 'receiver'} {self.scope}]{self.suffix}"

    def __repr__(self) -> str:
        return f"WireExpr({self.scope}, {self.suffix!r}, sender={self.sender})"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, WireExpr)
            and self.scope == other.scope
            and self.suffix == other.suffix
            and self.sender == other.sender
        )

    def __hash__(self) -> int:
        return hash((self.scope, self.suffix, self.sender))
