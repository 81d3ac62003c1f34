"""Whether a text is a canonical locator: `protocol/address`, then perhaps `?a=1;b` in order.

The result is that of `wire.values.endpoint.read_locator`, without splitting the text: the
parameters of a canonical locator have names, ascend, and have no empty value after a `=`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from zenlake.columnar.causes import BAD_LOCATOR
from zenlake.columnar.jit import kernel
from zenlake.columnar.leaves import check_text, read_length
from zenlake.columnar.memory import load

if TYPE_CHECKING:
    from zenlake.columnar.memory import Buffer

_Z8_MAX: Final = 0xFF
_HASH, _SLASH, _SEMICOLON, _EQUALS, _QUESTION = (ord(sign) for sign in "#/;=?")


@kernel
def skip_locator(buf: Buffer, pos: int, end: int) -> int:
    """Skip a length and a canonical locator; returns a cause if it is not one."""
    size, pos = read_length(buf, pos, end, _Z8_MAX)
    if pos < 0:
        return pos
    stop = pos + size
    if check_text(buf, pos, stop) < 0:
        return check_text(buf, pos, stop)
    return stop if _is_canonical(buf, pos, stop) else BAD_LOCATOR


@kernel
def _is_canonical(buf: Buffer, pos: int, end: int) -> bool:
    slash, question = -1, end
    for index in range(pos, end):
        sign = load(buf, index)
        if sign == _HASH:
            return False
        if question == end:
            if sign == _QUESTION:
                question = index
            elif sign == _SLASH and slash < 0:
                slash = index
    if slash <= pos or slash + 1 >= question:
        return False
    return question == end or _are_canonical(buf, question + 1, end)


@kernel
def _are_canonical(buf: Buffer, pos: int, end: int) -> bool:
    """Whether each parameter has a name, greater than the one before, and no empty value."""
    last, last_end = pos, pos
    while True:
        name_end = pos
        while name_end < end:
            sign = load(buf, name_end)
            if sign in (_EQUALS, _SEMICOLON):
                break
            name_end += 1
        stop = name_end
        while stop < end and load(buf, stop) != _SEMICOLON:
            stop += 1
        if name_end == pos or stop == name_end + 1:
            return False
        if last_end > last and not _is_less(buf, last, last_end, pos, name_end):
            return False
        if stop == end:
            return True
        last, last_end = pos, name_end
        pos = stop + 1


@kernel
def _is_less(buf: Buffer, first: int, first_end: int, second: int, second_end: int) -> bool:
    """Compare bytes, which in UTF-8 is the order of characters."""
    while first < first_end and second < second_end:
        if load(buf, first) != load(buf, second):
            return load(buf, first) < load(buf, second)
        first += 1
        second += 1
    return second < second_end
