"""User and password: the authentication of an opener (wire reference §10.2).

    InitSyn  asks for it       InitAck  a nonce
    OpenSyn  user and proof    OpenAck  accepted

The proof is HMAC-SHA3-256 of the password under the nonce: the password itself is never sent.
Each step is one entry, of id 2, in the chain of the Auth extension.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from typing import Final

from zenlake.protocol.errors import unproven
from zenlake.wire import Extension
from zenlake.wire.primitives import FIELD_ERRORS, read_bytes_z32, to_utf8, write_bytes_z32
from zenlake.wire.writer import BytesWriter

Chain = tuple[Extension, ...]

_UNIT: Final = 0x02
_NONCE: Final = 0x22
_PROOF: Final = 0x42
MARK: Final[Chain] = (Extension(_UNIT),)
"""The opener has a user (in InitSyn), or the acceptor accepts it (in OpenAck)."""


def proof(nonce: int, password: str) -> bytes:
    return hmac.digest(nonce.to_bytes(8, "little"), to_utf8(password), "sha3_256")


def challenge(nonce: int) -> Chain:
    return (Extension(_NONCE, nonce),)


def response(user: str, password: str, nonce: int) -> Chain:
    out = BytesWriter()
    write_bytes_z32(out, to_utf8(user))
    write_bytes_z32(out, proof(nonce, password))
    return (Extension(_PROOF, out.getvalue()),)


def has_mark(chain: Chain | None) -> bool:
    return _find(chain, _UNIT) is not None


def nonce_of(chain: Chain | None) -> int | None:
    entry = _find(chain, _NONCE)
    return entry.body if entry is not None and isinstance(entry.body, int) else None


def prove(chain: Chain | None, nonce: int, users: Mapping[str, str]) -> str:
    """The user who answered the challenge; AuthenticationError if the answer is wrong.

    An unknown user takes as much time as a wrong password, so the peer cannot distinguish them.
    """
    entry = _find(chain, _PROOF)
    if entry is None or not isinstance(entry.body, bytes):
        raise unproven("no user and password were sent")
    body = entry.body
    try:
        name, pos = read_bytes_z32(body, 0, len(body))
        given, pos = read_bytes_z32(body, pos, len(body))
        user = name.decode()
    except FIELD_ERRORS:
        raise unproven("user and proof cannot be read") from None
    is_equal = hmac.compare_digest(proof(nonce, users.get(user, "")), given)
    if not is_equal or user not in users:
        raise unproven("unknown user or wrong password")
    return user


def _find(chain: Chain | None, header: int) -> Extension | None:
    for entry in chain or ():
        if entry.header == header:
            return entry
    return None
