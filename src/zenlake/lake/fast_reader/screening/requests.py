"""Requests: whether responses match an open request, and each request ends once."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zenlake.keyexpr.texts import texts_intersect
from zenlake.lake.fast_reader.columns.decoded import Decoded
from zenlake.lake.fast_reader.columns.keys import KeyColumn
from zenlake.semantics.query_parameters import accepts_any_key
from zenlake.wire.defaults import DEFAULT_QOS_BYTE, DEFAULT_QUERY_TIMEOUT_MS

_REQUEST: Final = 0
_RESPONSE: Final = 1
_FINAL: Final = 2
_NOT_EXPRESS: Final = 0xEF
_REPLIES: Final = ("RESPONSE/REPLY/PUT", "RESPONSE/REPLY/DEL")
_MS: Final = 1_000_000


class OpenRequest(NamedTuple):
    key: str | None
    qos: int
    time_ns: int
    timeout_ms: int


class RequestScreen:
    """Finds rows that may break rules about requests; rows are fed in order."""

    def __init__(self) -> None:
        self._open: dict[int, dict[int, OpenRequest]] = {}
        """By the direction of the requester, then by number."""

    def doubtful(self, rows: Decoded, keys: KeyColumn) -> NDArray[np.int64]:
        """Rows out of order within their request, or that do not match it."""
        if not rows.is_kind("REQUEST", *_REPLIES, "RESPONSE/ERR", "RESPONSE_FINAL").any():
            return np.zeros(0, np.int64)
        return _RequestRows(self._open, rows, keys).doubtful()

    def left_open(self, pair: int, end_ns: int) -> bool:
        """Forgets a closed connection; whether a request should have ended before."""
        is_late = False
        for owner in (2 * pair, 2 * pair + 1):
            for request in self._open.pop(owner, {}).values():
                is_late |= end_ns - request.time_ns >= request.timeout_ms * _MS
        return is_late


class _RequestRows:
    """Rows sorted by request, and in order within each request."""

    def __init__(
        self, open: dict[int, dict[int, OpenRequest]], rows: Decoded, keys: KeyColumn
    ) -> None:
        self._open = open
        self._rows = rows
        self._keys = keys
        is_reply = rows.is_kind(*_REPLIES)
        part = np.full(len(rows), -1, np.int64)
        part[rows.is_kind("REQUEST")] = _REQUEST
        part[is_reply | rows.is_kind("RESPONSE/ERR")] = _RESPONSE
        part[rows.is_kind("RESPONSE_FINAL")] = _FINAL
        chosen = np.flatnonzero(part >= 0)
        asker = rows.owner[chosen] ^ (part[chosen] != _REQUEST)
        name = asker << 32 | rows.columns["request_id"][chosen].astype(np.int64)
        order = np.argsort(name, kind="stable")
        self._chosen = chosen = chosen[order]
        self._name = name = name[order]
        self._part = part[chosen]
        self._is_reply = is_reply[chosen]
        self._first = np.concatenate(([True], name[1:] != name[:-1]))
        self._last = np.concatenate((self._first[1:], [True]))
        byte = np.where(rows.present("qos"), rows.columns["qos"], DEFAULT_QOS_BYTE)
        self._qos = byte[chosen].astype(np.int64) & _NOT_EXPRESS

    def doubtful(self) -> NDArray[np.int64]:
        part, count = self._part, len(self._part)
        before = np.concatenate(([_FINAL], part[:-1]))
        is_new = (part == _REQUEST) & (before != _FINAL)
        is_late = (part != _REQUEST) & (before == _FINAL)
        doubt = ~self._first & (is_new | is_late)
        # The request of each row: the last one before it with the same number.
        places = np.arange(count)
        asked = np.maximum.accumulate(np.where(part == _REQUEST, places, -1))
        begin = np.maximum.accumulate(np.where(self._first, places, 0))
        has_request = asked >= begin
        doubt |= (part != _REQUEST) & has_request & (self._qos != self._qos[asked])
        # A budget is rare, so responses are not counted: the exact reader checks it.
        doubt |= (part == _REQUEST) & self._rows.present("budget")[self._chosen]
        self._compare_keys(doubt, has_request, asked)
        self._compare_with_earlier(doubt, np.flatnonzero(~has_request))
        again = np.flatnonzero(self._first & (part == _REQUEST))
        for place in again.tolist() if self._open else ():
            doubt[place] |= self._known(place) is not None
        self._remember_open(asked, has_request)
        found: NDArray[np.int64] = self._chosen[doubt]
        return found

    def _compare_keys(
        self, doubt: NDArray[np.bool_], has_request: NDArray[np.bool_], asked: NDArray[np.int64]
    ) -> None:
        codes = self._keys.codes[self._chosen]
        differs = np.flatnonzero(self._is_reply & has_request & (codes != codes[asked]))
        pairs = codes[differs].astype(np.int64) << 32 | codes[asked[differs]].astype(np.int64)
        unique, which = np.unique(pairs, return_inverse=True)
        fits = [self._fits(int(one) >> 32, int(one) & 0xFFFF_FFFF) for one in unique]
        for place in differs[~np.array(fits, np.bool_)[which]].tolist():
            doubt[place] |= not self._accepts_any_key(int(self._chosen[asked[place]]))

    def _accepts_any_key(self, row: int) -> bool:
        """Whether a request accepts replies on any key."""
        parameters = self._rows.columns.bytes_of("parameters", row)
        return parameters is not None and accepts_any_key(parameters.decode())

    def _fits(self, reply: int, request: int) -> bool:
        texts = self._keys.texts
        if reply >= len(texts) or request >= len(texts):
            return False
        return texts_intersect(texts[request], texts[reply]) is True

    def _compare_with_earlier(self, doubt: NDArray[np.bool_], without: NDArray[np.int64]) -> None:
        """Checks responses whose request came in earlier rows."""
        for place in without.tolist():
            if self._part[place] == _REQUEST:
                continue
            request = self._known(place)
            if request is None or request.qos != self._qos[place]:
                doubt[place] = True
            elif self._is_reply[place]:
                key = self._keys.text(int(self._chosen[place]))
                is_known = key is not None and request.key is not None
                doubt[place] |= not (is_known and texts_intersect(request.key or "", key or ""))

    def _known(self, place: int) -> OpenRequest | None:
        name = int(self._name[place])
        return self._open.get(name >> 32, {}).get(name & 0xFFFF_FFFF)

    def _drop_ended(self) -> None:
        if not self._open:
            return
        for name in self._name[self._last & (self._part == _FINAL)].tolist():
            self._open.get(name >> 32, {}).pop(name & 0xFFFF_FFFF, None)

    def _remember_open(self, asked: NDArray[np.int64], has_request: NDArray[np.bool_]) -> None:
        """Keeps the requests that are open after these rows."""
        rows = self._rows
        has_timeout = rows.present("timeout_ms")
        self._drop_ended()
        for place in np.flatnonzero(self._last & (self._part != _FINAL)).tolist():
            name = int(self._name[place])
            of_side = self._open.setdefault(name >> 32, {})
            if has_request[place]:
                at = int(asked[place])
                row = int(self._chosen[at])
                timeout_ms = DEFAULT_QUERY_TIMEOUT_MS
                if has_timeout[row]:
                    timeout_ms = int(rows.columns["timeout_ms"][row])
                of_side[name & 0xFFFF_FFFF] = OpenRequest(
                    self._keys.text(row), int(self._qos[at]), int(rows.time_ns[row]), timeout_ms
                )
