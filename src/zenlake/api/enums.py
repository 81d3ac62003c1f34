"""The enumerations of the API: plain classes with constants, as eclipse-zenoh has them.

They are not `enum.Enum`: a constant has no `name` nor `value`, is equal only to itself (never
to its number), and `int()` gives the number, which is the one on the wire where there is one.
"""

from __future__ import annotations

from typing import ClassVar, Self, final

from zenlake.api.sealed import no_constructor, sealed


class Constant:
    """One constant of an enumeration: its number and its name."""

    __slots__ = ("_label", "_number")
    _number: int
    _label: str
    _all: ClassVar[dict[int, Constant]]

    def __new__(cls, *_args: object, **_options: object) -> Self:
        no_constructor(cls)

    @classmethod
    def of_number(cls, number: int) -> Self:
        """The constant with this number; for the session, which reads them off the wire."""
        constant = cls._all[number]
        assert isinstance(constant, cls)
        return constant

    def __int__(self) -> int:
        return self._number

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self._label}"

    # There is one object per constant, so identity is equality, also after copying.
    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, _memo: object) -> Self:
        return self

    def __reduce__(self) -> tuple[object, tuple[type, int]]:
        return _restore, (type(self), self._number)


def _restore(cls: type[Constant], number: int) -> Constant:
    return cls.of_number(number)


def _fill(cls: type[Constant], names: str, first: int = 0, **aliases: str) -> None:
    """Make the constants `names` of `cls`, numbered from `first` on, then their other names."""
    cls._all = {}
    for number, name in enumerate(names.split(), first):
        constant = cls._all[number] = object.__new__(cls)
        constant._number, constant._label = number, name
        setattr(cls, name, constant)
    for alias, name in aliases.items():
        setattr(cls, alias, getattr(cls, name))


@final
@sealed
class CongestionControl(Constant):
    """What happens to a message when the queue of a link is full."""

    __slots__ = ()
    DROP: ClassVar[CongestionControl]
    """It may be dropped."""
    BLOCK: ClassVar[CongestionControl]
    """It waits until there is room."""
    BLOCK_FIRST: ClassVar[CongestionControl]
    """The first one waits, others sent meanwhile are dropped."""
    DEFAULT: ClassVar[CongestionControl]


@final
@sealed
class ConsolidationMode(Constant):
    """How the replies for one key are reduced."""

    __slots__ = ()
    AUTO: ClassVar[ConsolidationMode]
    """LATEST, or NONE for a query with a time range."""
    NONE: ClassVar[ConsolidationMode]
    """All replies are delivered."""
    MONOTONIC: ClassVar[ConsolidationMode]
    """At once, but none that is older than one delivered before."""
    LATEST: ClassVar[ConsolidationMode]
    """At the end, the newest of each key."""
    DEFAULT: ClassVar[ConsolidationMode]


@final
@sealed
class QueryTarget(Constant):
    """Which matching queryables get a query."""

    __slots__ = ()
    BEST_MATCHING: ClassVar[QueryTarget]
    """One complete queryable if there is any, otherwise all."""
    ALL: ClassVar[QueryTarget]
    ALL_COMPLETE: ClassVar[QueryTarget]
    DEFAULT: ClassVar[QueryTarget]


@final
@sealed
class ReplyKeyExpr(Constant):
    """Which keys replies to a query may have."""

    __slots__ = ()
    ANY: ClassVar[ReplyKeyExpr]
    MATCHING_QUERY: ClassVar[ReplyKeyExpr]
    DEFAULT: ClassVar[ReplyKeyExpr]


@final
@sealed
class Reliability(Constant):
    """Which channel of a transport a publisher uses."""

    __slots__ = ()
    BEST_EFFORT: ClassVar[Reliability]
    RELIABLE: ClassVar[Reliability]
    # Not what publishers default to (that is RELIABLE), but what eclipse-zenoh calls so.
    DEFAULT: ClassVar[Reliability]


@final
@sealed
class Locality(Constant):
    """Whether data may come from, or go to, this session, other nodes, or both."""

    __slots__ = ()
    SESSION_LOCAL: ClassVar[Locality]
    REMOTE: ClassVar[Locality]
    ANY: ClassVar[Locality]
    DEFAULT: ClassVar[Locality]


@final
@sealed
class Priority(Constant):
    """The lane a message travels in; the lowest number is served first."""

    __slots__ = ()
    REAL_TIME: ClassVar[Priority]
    INTERACTIVE_HIGH: ClassVar[Priority]
    INTERACTIVE_LOW: ClassVar[Priority]
    DATA_HIGH: ClassVar[Priority]
    DATA: ClassVar[Priority]
    DATA_LOW: ClassVar[Priority]
    BACKGROUND: ClassVar[Priority]
    DEFAULT: ClassVar[Priority]
    MIN: ClassVar[Priority]
    MAX: ClassVar[Priority]
    NUM: ClassVar[int] = 7


@final
@sealed
class SampleKind(Constant):
    """Whether a sample is a value or the deletion of one."""

    __slots__ = ()
    PUT: ClassVar[SampleKind]
    DELETE: ClassVar[SampleKind]


@final
@sealed
class InterceptionPoint(Constant):
    """Where on its way a message was stamped."""

    __slots__ = ()
    SEND: ClassVar[InterceptionPoint]
    ROUTE: ClassVar[InterceptionPoint]
    RECEIVE: ClassVar[InterceptionPoint]


@final
@sealed
class WhatAmI(Constant):
    """The role of a node; the number is its bit in a set of roles."""

    __slots__ = ()
    ROUTER: ClassVar[WhatAmI]
    PEER: ClassVar[WhatAmI]
    CLIENT: ClassVar[WhatAmI]

    def __str__(self) -> str:
        return self._label.lower()

    def __repr__(self) -> str:
        return self._label.capitalize()


_fill(CongestionControl, "DROP BLOCK BLOCK_FIRST", DEFAULT="DROP")
_fill(ConsolidationMode, "AUTO NONE MONOTONIC LATEST", DEFAULT="AUTO")
_fill(QueryTarget, "BEST_MATCHING ALL ALL_COMPLETE", DEFAULT="BEST_MATCHING")
_fill(ReplyKeyExpr, "ANY MATCHING_QUERY", DEFAULT="MATCHING_QUERY")
_fill(Reliability, "BEST_EFFORT RELIABLE", DEFAULT="BEST_EFFORT")
_fill(Locality, "SESSION_LOCAL REMOTE ANY", DEFAULT="ANY")
_fill(
    Priority,
    "REAL_TIME INTERACTIVE_HIGH INTERACTIVE_LOW DATA_HIGH DATA DATA_LOW BACKGROUND",
    first=1,
    DEFAULT="DATA",
    MIN="BACKGROUND",
    MAX="REAL_TIME",
)
_fill(SampleKind, "PUT DELETE")
_fill(InterceptionPoint, "SEND ROUTE RECEIVE")
for _bit, _name in ((1, "ROUTER"), (2, "PEER"), (4, "CLIENT")):
    _fill(WhatAmI, _name, first=_bit)
WhatAmI._all = {int(role): role for role in (WhatAmI.ROUTER, WhatAmI.PEER, WhatAmI.CLIENT)}
