"""Keys of many rows: resolves aliases, which declarations among the rows change.

There are many rows and few different keys, so each row costs only arithmetic on numbers. The result
is that of `trace.keys`, for regular connections, where no declaration is missing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zenlake.columnar import intern_keys
from zenlake.lake.fast_reader.columns.decoded import CODES, Decoded
from zenlake.limits import TRACE_ENTITIES_MAX
from zenlake.trace.interest_answers import answers_current, remember_mode
from zenlake.wire.values.choices import InterestMode

_D_KEYEXPR: Final = CODES["DECLARE/D_KEYEXPR"]
_U_KEYEXPR: Final = CODES["DECLARE/U_KEYEXPR"]
_D_ENTITY: Final = {
    CODES[f"DECLARE/D_{name}"]: name for name in ("SUBSCRIBER", "QUERYABLE", "TOKEN")
}
_U_ENTITY: Final = {
    CODES[f"DECLARE/U_{name}"]: name for name in ("SUBSCRIBER", "QUERYABLE", "TOKEN")
}
_INTEREST: Final = CODES["INTEREST"]
_NONE: Final = -1

Aliases = dict[int, str | None]
Entities = dict[tuple[str, int], str | None]


class DeclaredKeys:
    """What each direction of each connection has declared so far."""

    __slots__ = ("aliases", "entities", "interests")

    def __init__(self) -> None:
        self.aliases: dict[int, Aliases] = {}
        self.entities: dict[int, Entities] = {}
        self.interests: dict[int, dict[int, bool]] = {}

    def forget(self, pair: int) -> None:
        for owner in (pair * 2, pair * 2 + 1):
            self.aliases.pop(owner, None)
            self.entities.pop(owner, None)
            self.interests.pop(owner, None)


class Texts(dict[str, int]):
    """Different texts, each with its number, in the order of numbers."""

    def number(self, text: str | None) -> int:
        return _NONE if text is None else self.setdefault(text, len(self))

    def numbers(self, texts: Iterable[str | None]) -> NDArray[np.int32]:
        number = self.setdefault
        found = [_NONE if text is None else number(text, len(self)) for text in texts]
        return np.array(found, np.int32)


class KeyColumn(NamedTuple):
    """For each row the number of its key, or -1, and whether it is a one-time answer."""

    codes: NDArray[np.int32]
    texts: list[str]
    answers: NDArray[np.bool_]

    def text(self, row: int) -> str | None:
        code = int(self.codes[row])
        return None if code < 0 else self.texts[code]


class _Written(NamedTuple):
    """The different keys as sent: scope and suffix."""

    ids: NDArray[np.int32]
    scopes: NDArray[np.int64]
    senders: NDArray[np.bool_]
    suffixes: list[str]


def resolve(rows: Decoded, memory: DeclaredKeys) -> KeyColumn:
    """The key of each row. `memory` keeps the declarations of these rows for later ones."""
    resolver = _Resolver(rows, memory)
    resolver.resolve_aliases()
    answers = _answers(rows, memory)
    resolver.resolve_undeclarations(answers)
    return KeyColumn(resolver.codes, list(resolver.texts), answers)


def _written(rows: Decoded) -> _Written:
    columns = rows.columns
    keys = intern_keys(columns)
    content = columns.data.data
    offsets = columns["key_suffix_offset"][keys.rows].tolist()
    lengths = columns["key_suffix_length"][keys.rows].tolist()
    suffixes = [str(content[at : at + n], "utf-8") for at, n in zip(offsets, lengths, strict=True)]
    scopes = columns["key_scope"][keys.rows].astype(np.int64)
    return _Written(keys.ids, scopes, columns["key_sender"][keys.rows] != 0, suffixes)


class _Resolver:
    """The keys of some rows, by number, and their texts."""

    def __init__(self, rows: Decoded, memory: DeclaredKeys) -> None:
        self._rows = rows
        self._memory = memory
        self._written = written = _written(rows)
        self.texts = Texts()
        has_scope, suffixes = (written.scopes != 0).tolist(), written.suffixes
        whole = (None if scope else text for scope, text in zip(has_scope, suffixes, strict=True))
        # The last code is for rows without a key.
        self.codes = np.append(self.texts.numbers(whole), np.int32(_NONE))[written.ids]

    def resolve_aliases(self) -> None:
        """A row with an alias gets the key of the last definition before it."""
        rows, memory, written, codes = self._rows, self._memory, self._written, self.codes
        aliased = np.flatnonzero(np.append(written.scopes, 0)[written.ids])
        definitions = np.flatnonzero(rows.is_kind("DECLARE/D_KEYEXPR", "DECLARE/U_KEYEXPR"))
        if not len(aliased) and not len(definitions):
            return
        count = len(rows) + 1
        ids = written.ids[aliased]
        # The sender or the receiver declared the alias (wire reference §14).
        tables = rows.owner[aliased] ^ (~written.senders[ids]).astype(np.int64)
        wanted = tables << 32 | written.scopes[ids]
        numbers = rows.columns["entity_id"][definitions].astype(np.int64)
        defined = rows.owner[definitions] << 32 | numbers
        different, inverse = np.unique(np.concatenate((defined, wanted)), return_inverse=True)
        def_places = inverse[: len(defined)] * count + definitions
        order = np.argsort(def_places)
        asked = inverse[len(defined) :]
        found = np.searchsorted(def_places[order], asked * count + aliased) - 1
        is_here = (
            (found >= 0) & (inverse[: len(defined)][order[found]] == asked)
            if len(order)
            else np.zeros(len(aliased), np.bool_)
        )
        # Prefixes: those known before, by their place in `different`, then one for each definition.
        before = [
            memory.aliases.get(one >> 32, {}).get(one & 0xFFFF_FFFF) for one in different.tolist()
        ]
        after = self._define(definitions)
        prefixes = before + after
        places = np.where(is_here, len(before) + (order[found] if len(order) else 0), asked)
        pairs = places * max(len(written.suffixes), 1) + ids
        unique, which = np.unique(pairs, return_inverse=True)
        starts, ends = np.divmod(unique, max(len(written.suffixes), 1))
        suffixes = written.suffixes
        whole = self.texts.numbers(
            None if (prefix := prefixes[start]) is None else prefix + suffixes[end]
            for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
        )
        is_definition = rows.kind[aliased] == _D_KEYEXPR
        codes[aliased[~is_definition]] = whole[which[~is_definition]]

    def _define(self, definitions: NDArray[np.int64]) -> list[str | None]:
        """Applies definitions one by one; the key of its alias after each."""
        rows, memory, written = self._rows, self._memory, self._written
        left: list[str | None] = []
        kinds = rows.kind[definitions].tolist()
        owners = rows.owner[definitions].tolist()
        numbers = rows.columns["entity_id"][definitions].tolist()
        keys = written.ids[definitions].tolist()
        for row, kind, owner, number, key in zip(
            definitions.tolist(), kinds, owners, numbers, keys, strict=True
        ):
            aliases = memory.aliases.setdefault(owner, {})
            if kind == _U_KEYEXPR:
                self.codes[row] = self.texts.number(aliases.pop(number, None))
            else:
                text: str | None = written.suffixes[key]
                scope = int(written.scopes[key])
                if scope:
                    table = owner if written.senders[key] else owner ^ 1
                    prefix = memory.aliases.get(table, {}).get(scope)
                    text = None if prefix is None else prefix + written.suffixes[key]
                self.codes[row] = self.texts.number(text)
                if aliases.get(number) is None:
                    aliases[number] = text
            left.append(aliases.get(number))
        return left

    def resolve_undeclarations(self, answers: NDArray[np.bool_]) -> None:
        """An undeclaration without a key gets the key of the declaration with its number."""
        rows, written, codes = self._rows, self._written, self.codes
        kinds = np.array([*_D_ENTITY, *_U_ENTITY], np.uint8)
        chosen = np.flatnonzero(np.isin(rows.kind, kinds) & ~answers)
        names = rows.kind[chosen].tolist()
        owners = rows.owner[chosen].tolist()
        numbers = rows.columns["entity_id"][chosen].tolist()
        keys, found = written.ids[chosen].tolist(), codes[chosen].tolist()
        whole = list(self.texts)
        for row, kind, owner, number, key, code in zip(
            chosen.tolist(), names, owners, numbers, keys, found, strict=True
        ):
            entities = self._memory.entities.setdefault(owner, {})
            if kind in _U_ENTITY:
                entity = (_U_ENTITY[kind], number)
                known = entities.pop(entity, None)
                if key < 0 or (written.scopes[key] == 0 and not written.suffixes[key]):
                    codes[row] = self.texts.number(known)
                continue
            entity = (_D_ENTITY[kind], number)
            text = None if code < 0 else whole[code]
            if number == 0 and entities.get(entity, text) != text:
                entities[entity] = None
            elif len(entities) < TRACE_ENTITIES_MAX:
                entities[entity] = text


def _answers(rows: Decoded, memory: DeclaredKeys) -> NDArray[np.bool_]:
    """Declarations that only answer an interest in current ones (`trace.interest_answers`)."""
    found = np.zeros(len(rows), np.bool_)
    is_answer = np.isin(rows.kind, np.array([*_D_ENTITY], np.uint8))
    is_answer &= rows.present("interest_id") & (rows.columns["entity_id"] == 0)
    is_opened = (rows.kind == _INTEREST) & (rows.columns["mode"] != int(InterestMode.FINAL))
    chosen = np.flatnonzero(is_answer | is_opened)
    for row, kind, owner, id, mode in zip(
        chosen.tolist(),
        rows.kind[chosen].tolist(),
        rows.owner[chosen].tolist(),
        rows.columns["interest_id"][chosen].tolist(),
        rows.columns["mode"][chosen].tolist(),
        strict=True,
    ):
        if kind == _INTEREST:
            asked = memory.interests.setdefault(owner, {})
            remember_mode(asked, id, mode == int(InterestMode.CURRENT))
        else:
            asked = memory.interests.get(owner ^ 1, {})
            found[row] = answers_current(asked, id, _D_ENTITY[kind] == "TOKEN")
    return found
