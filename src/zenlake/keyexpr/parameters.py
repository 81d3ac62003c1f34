"""`Parameters`: the part of a selector after `?`.

`name=value;name2=value2`, stored as text: any text is accepted, nothing is decoded, and each
read scans the items. A change builds a new text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator


class Parameters:
    """Names and values, in order, possibly repeated; the first of a name counts."""

    __slots__ = ("_text",)

    def __init__(self, parameters: str | dict[str, str] | Parameters | None = None) -> None:
        self._text: str = _text_of("" if parameters is None else parameters)

    def is_empty(self) -> bool:
        """Whether the text is empty."""
        return not self._text

    def get(self, key: str, default: str | None = None) -> str | None:
        """The first value of `key`."""
        return next((value for name, value in _items(self._text) if name == key), default)

    def values(self, key: str) -> list[str]:
        """The first value of `key` split at `|`; empty if there is none."""
        value = self.get(key)
        return [] if value is None else value.split("|")

    def insert(self, key: str, value: str) -> str | None:
        """Replace every `key` by this one, at the end; the old first value is returned."""
        previous = self.remove(key)
        self._text = _join([*_items(self._text), (key, value)])
        return previous

    def remove(self, key: str) -> str | None:
        """Drop every `key`; the old first value is returned."""
        previous = self.get(key)
        self._text = _join(item for item in _items(self._text) if item[0] != key)
        return previous

    def extend(self, parameters: str | dict[str, str] | Parameters) -> None:
        """Append the other's items, in place of those with the same names."""
        added = list(_items(_text_of(parameters)))
        names = {name for name, _ in added}
        kept = [item for item in _items(self._text) if item[0] not in names]
        self._text = _join(kept + added)

    def is_ordered(self) -> bool:
        """Whether the names ascend."""
        # Strings compare by code point, which is the order of their UTF-8 bytes.
        names = [name for name, _ in _items(self._text)]
        return names == sorted(names)

    def __bool__(self) -> bool:
        return not self.is_empty()

    def __contains__(self, key: str) -> bool:
        return self.get(key) is not None

    def __getitem__(self, key: str) -> str | None:
        return self.get(key)

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return _items(self._text)

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return self._text

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Parameters):
            return self._text == other._text
        return NotImplemented


def _text_of(parameters: str | dict[str, str] | Parameters) -> str:
    if isinstance(parameters, Parameters):
        return parameters._text
    if isinstance(parameters, str):
        return parameters.rstrip(";=|")
    if isinstance(parameters, dict):
        if not all(isinstance(text, str) for item in parameters.items() for text in item):
            raise TypeError("names and values of parameters are str")
        return _join(parameters.items())
    raise TypeError(f"parameters are a str or a dict, not {type(parameters).__name__}")


def _items(text: str) -> Iterator[tuple[str, str]]:
    for item in text.split(";"):
        if item:
            name, _, value = item.partition("=")
            yield name, value


def _join(items: Iterable[tuple[str, str]]) -> str:
    """The text of `items`: no `=` before an empty value, nothing for an empty name."""
    return ";".join(f"{name}={value}" if value else name for name, value in items if name)
