"""`Selector`: a key expression and parameters, as in `demo/**?_time=[now(-1h)..]`."""

from __future__ import annotations

from zenlake.keyexpr.key_expr import KeyExpr
from zenlake.keyexpr.parameters import Parameters


class Selector:
    """The keys and the parameters of a query.

    Reading `parameters` returns a copy: to change them, assign.
    """

    __slots__ = ("_key_expr", "_parameters")

    def __init__(
        self, arg: str | KeyExpr, /, parameters: str | dict[str, str] | Parameters | None = None
    ) -> None:
        if isinstance(arg, str) and parameters is None:
            arg, _, parameters = arg.partition("?")
        self._key_expr = KeyExpr(arg)
        self._parameters = Parameters(parameters)

    @property
    def key_expr(self) -> KeyExpr:
        """The part before the first `?`."""
        return self._key_expr

    @key_expr.setter
    def key_expr(self, key_expr: str | KeyExpr) -> None:
        self._key_expr = KeyExpr(key_expr)

    @property
    def parameters(self) -> Parameters:
        """The part after the first `?`."""
        return Parameters(self._parameters)

    @parameters.setter
    def parameters(self, parameters: str | dict[str, str] | Parameters) -> None:
        self._parameters = Parameters(parameters)

    def __str__(self) -> str:
        return f"{self._key_expr}?{self._parameters}" if self._parameters else str(self._key_expr)

    def __repr__(self) -> str:
        return f'sel"{self}"'

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Selector):
            return self._key_expr == other._key_expr and self._parameters == other._parameters
        return NotImplemented
