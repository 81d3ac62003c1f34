"""Classes without subclasses or without a constructor, as in eclipse-zenoh."""

from __future__ import annotations

from typing import Any, NoReturn, Self, TypeVar

_Class = TypeVar("_Class", bound=type)


def no_subclasses(cls: _Class) -> _Class:
    """Refuse subclasses at run time; `typing.final` does so for type checkers."""

    def refuse(_derived: Any, /, **_options: object) -> NoReturn:
        raise TypeError(f"type '{cls.__name__}' is not an acceptable base type")

    cls.__init_subclass__ = classmethod(refuse)  # type: ignore[assignment]  # never returns
    return cls


def no_constructor(cls: type) -> NoReturn:
    """Raise the error of a class whose instances only the library makes."""
    raise TypeError(f"No constructor defined for {cls.__name__}")


class NoConstructor:
    """Base of classes whose instances only the library makes, by `object.__new__`."""

    __slots__ = ()

    def __new__(cls, *_args: object, **_options: object) -> Self:
        no_constructor(cls)
