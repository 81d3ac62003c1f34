"""`KeyFormat`: key expressions with named places.

`robot/${id:*}/pose/${part:**}` is a key expression in which some places have a name and a
pattern. A format writes keys (`formatter`, `set`, `build`) and reads them (`parse`).

A place is written `${id:pattern}` or `${id:pattern#default}`, or between `$#{` and `}#` if
it contains `}` itself. It stands between slashes, never beside other text, and wildcards
occur only in patterns. So a format is a list of pieces, each of them either a literal chunk
or a place.
"""

from __future__ import annotations

from dataclasses import dataclass

from zenlake.errors import KeyExprError
from zenlake.keyexpr.canonical import canonize, check_length, validate
from zenlake.keyexpr.key_expr import KeyExpr
from zenlake.keyexpr.matching import includes, intersection_table
from zenlake.limits import KEY_EXPR_CHUNKS_MAX


@dataclass(frozen=True)
class Piece:
    """A literal chunk (`id` is None, `pattern` the chunk), or a named place."""

    pattern: str
    id: str | None = None
    default: str | None = None

    def accepts(self, value: str) -> bool:
        """Whether `value` is a key expression within the pattern; `**` also accepts ""."""
        if not value:
            return self.pattern == "**"
        try:
            validate(value)
        except KeyExprError:
            return False
        return includes(self.pattern, value)


class KeyFormat:
    """A format, ready to write and to read keys; immutable."""

    __slots__ = ("_text", "pieces")

    def __init__(self, text: str) -> None:
        check_length(text)
        self._text = text
        self.pieces: tuple[Piece, ...] = _read_pieces(text)

    @property
    def ids(self) -> list[str]:
        """The names of the places, from left to right."""
        return [piece.id for piece in self.pieces if piece.id is not None]

    def formatter(self) -> KeyFormatter:
        """A new formatter, without values."""
        return KeyFormatter(self)

    def parse(self, key_expr: str | KeyExpr) -> dict[str, str]:
        """The part of `key_expr` at each place; raises `KeyExprError` if they do not intersect.

        Places are filled from the left, each with as much as possible. A `**` of the key expression
        may reach over several places and then appears in each of them.

        `fits[j][i]`: whether the last j chunks of the format match the last i of the target. With
        this table, a choice is made only if the rest still fits, so there is no backtracking.
        """
        text = str(KeyExpr(key_expr))
        target = text.split("/")
        patterns = [piece.pattern.split("/") for piece in self.pieces]
        format_chunks = [chunk for pattern in patterns for chunk in pattern]
        fits = intersection_table(target[::-1], format_chunks[::-1])
        if not fits[-1][-1]:
            raise KeyExprError(text, 0, f"does not intersect the format {self._text}")
        values: dict[str, str] = {}
        start = 0
        chunks_left = len(format_chunks)
        for piece, pattern in zip(self.pieces, patterns, strict=True):
            chunks_left -= len(pattern)
            end, next_start = _longest(target, start, pattern, fits[chunks_left])
            if piece.id is not None:
                values[piece.id] = "/".join(target[start:end])
            start = next_start
        return values

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"KeyFormat({self._text!r})"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, KeyFormat):
            return self.pieces == other.pieces
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self.pieces)


class KeyFormatter:
    """Values for the places of a format; kept after `build`, to vary some and build again."""

    __slots__ = ("_format", "_values")

    def __init__(self, key_format: KeyFormat) -> None:
        self._format = key_format
        self._values: dict[str, str] = {}

    def set(self, id: str, value: object) -> KeyFormatter:
        """Set a place to `str(value)`; if the value is refused, the place has no value any more."""
        piece = next((piece for piece in self._format.pieces if piece.id == id), None)
        if piece is None:
            raise KeyExprError(str(self._format), 0, f"InvalidId: no place is called {id!r}")
        self._values.pop(id, None)
        text = str(value)
        if not piece.accepts(text):
            raise KeyExprError(text, 0, f"PatternNotMatched: {id!r} takes {piece.pattern!r}")
        self._values[id] = text
        return self

    def get(self, id: str) -> str | None:
        """The value of a place, if it is set."""
        return self._values.get(id)

    def clear(self) -> KeyFormatter:
        """Forget all values."""
        self._values.clear()
        return self

    def build(self) -> KeyExpr:
        """The key expression with every place replaced by its value or default."""
        values = [self._value(piece) for piece in self._format.pieces]
        return KeyExpr(canonize("/".join(value for value in values if value)))

    def _value(self, piece: Piece) -> str:
        if piece.id is None:
            return piece.pattern
        value = self._values.get(piece.id, piece.default)
        if value is None:
            raise KeyExprError(str(self._format), 0, f"no value for {piece.id!r}")
        return value


def _longest(
    target: list[str], start: int, pattern: list[str], rest_fits: list[bool]
) -> tuple[int, int]:
    """Where the longest part of `target` for `pattern` ends, and where the next part starts."""
    reached = intersection_table(target[start:], pattern)[-1]
    for end in range(len(target), start - 1, -1):
        if not reached[end - start]:
            continue
        # A `**` at the end of this part may continue in the next one.
        shared = end > start and target[end - 1] == "**"
        for next_start in (end - 1, end) if shared else (end,):
            if rest_fits[len(target) - next_start]:
                return end, next_start
    raise AssertionError("the format intersects the target, so some part fits")


def _read_pieces(text: str) -> tuple[Piece, ...]:
    pieces: list[Piece] = []
    ids: set[str] = set()
    chunk_count = 0
    position = 0
    while True:
        piece, end = _read_piece(text, position)
        if piece.id is not None and piece.id in ids:
            raise KeyExprError(text, position, f"the id {piece.id!r} occurs twice")
        if piece.id is not None:
            ids.add(piece.id)
        chunk_count += piece.pattern.count("/") + 1
        if chunk_count > KEY_EXPR_CHUNKS_MAX:
            raise KeyExprError(text, position, f"more than {KEY_EXPR_CHUNKS_MAX} chunks")
        pieces.append(piece)
        if end == len(text):
            return tuple(pieces)
        if text[end] != "/":
            raise KeyExprError(text, end, "a place must be followed by `/`")
        position = end + 1


def _read_piece(text: str, start: int) -> tuple[Piece, int]:
    """The piece at `start` and where it ends."""
    for opening, closing in (("${", "}"), ("$#{", "}#")):
        if text.startswith(opening, start):
            body_start = start + len(opening)
            body_end = text.find(closing, body_start)
            if body_end < 0:
                raise KeyExprError(text, start, f"`{opening}` without `{closing}`")
            return _read_place(text, body_start, body_end), body_end + len(closing)
    end = text.find("/", start)
    if end < 0:
        end = len(text)
    chunk = text[start:end]
    if "$" in chunk or "*" in chunk:
        raise KeyExprError(text, start, "wildcards and places cannot be part of a literal chunk")
    _validate_within(text, start, chunk)
    return Piece(chunk), end


def _read_place(text: str, start: int, end: int) -> Piece:
    id, colon, rest = text[start:end].partition(":")
    if not colon:
        raise KeyExprError(text, start, "a place needs an id, `:` and a pattern")
    pattern, sharp, default = rest.partition("#")
    _validate_within(text, start + len(id) + 1, pattern)
    piece = Piece(pattern, id, default if sharp else None)
    if piece.default is not None and not piece.accepts(piece.default):
        raise KeyExprError(text, end - len(default), f"the default is not within {pattern!r}")
    return piece


def _validate_within(text: str, start: int, part: str) -> None:
    """Validate a part of `text`, reporting positions in the whole."""
    try:
        validate(part)
    except KeyExprError as error:
        raise KeyExprError(text, start + error.position, error.cause) from None
