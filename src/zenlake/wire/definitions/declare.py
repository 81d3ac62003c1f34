"""Declarations: what DECLARE carries, one at a time (seed page: Declarations)."""

# fmt: off
from __future__ import annotations

from typing import TYPE_CHECKING

from zenlake.wire.define import (
    QUERYABLE_INFO,
    QUERYABLE_INFO_PAGES,
    Z16,
    Z32,
    Declaration,
    chain,
    ext,
    wire,
    wire_expr,
)

if TYPE_CHECKING:
    from zenlake.wire.definitions.structures import UndeclaredKey
    from zenlake.wire.message import Extension
    from zenlake.wire.values.queryable_info import QueryableInfo
    from zenlake.wire.values.wire_expr import WireExpr


class DeclareKeyExpr(Declaration, id=0x00, header="Z|X|N", name="D_KEYEXPR", label="D_KEXPR"):
    """Assign a number to a key expression."""

    expr_id:     int                   = wire(Z16)
    key:         WireExpr              = wire_expr(suffix_if="N")
    extensions:  tuple[Extension, ...] = chain("decl_exts")


class UndeclareKeyExpr(Declaration, id=0x01, header="Z|X|X", name="U_KEYEXPR", label="U_KEXPR"):
    """Release the number of a key expression."""

    expr_id:     int                   = wire(Z16)
    extensions:  tuple[Extension, ...] = chain("decl_exts")


class DeclareSubscriber(Declaration, id=0x02, header="Z|M|N", name="D_SUBSCRIBER", label="D_SUB"):
    """Announce a subscriber to a key expression."""

    id:          int                   = wire(Z32, cell="subs_id:z32")
    key:         WireExpr              = wire_expr(suffix_if="N", sender_if="M")
    extensions:  tuple[Extension, ...] = chain("decl_exts")


class UndeclareSubscriber(Declaration, id=0x03, header="Z|X|X", name="U_SUBSCRIBER", label="U_SUB"):
    """Withdraw a subscriber."""

    id:          int                   = wire(Z32, cell="subs_id:z32")
    extensions:  tuple[Extension, ...] = chain("decl_exts")
    key:         UndeclaredKey | None  = ext(0xF, "UndeclaredKey", mandatory=True)


class DeclareQueryable(Declaration, id=0x04, header="Z|M|N", name="D_QUERYABLE", label="D_QBL"):
    """Announce a queryable on a key expression."""

    id:          int                   = wire(Z32, cell="qbls_id:z32")
    key:         WireExpr              = wire_expr(suffix_if="N", sender_if="M")
    extensions:  tuple[Extension, ...] = chain("decl_exts")
    info:        QueryableInfo | None  = ext(0x1, QUERYABLE_INFO, pages=QUERYABLE_INFO_PAGES)


class UndeclareQueryable(Declaration, id=0x05, header="Z|X|X", name="U_QUERYABLE", label="U_QBL"):
    """Withdraw a queryable."""

    id:          int                   = wire(Z32, cell="qbls_id:z32")
    extensions:  tuple[Extension, ...] = chain("decl_exts")
    key:         UndeclaredKey | None  = ext(0xF, "UndeclaredKey", mandatory=True)


class DeclareToken(Declaration, id=0x06, header="Z|M|N", name="D_TOKEN", label="D_TKN"):
    """Announce a liveliness token."""

    id:          int                   = wire(Z32, cell="token_id:z32")
    key:         WireExpr              = wire_expr(suffix_if="N", sender_if="M")
    extensions:  tuple[Extension, ...] = chain("decl_exts")


class UndeclareToken(Declaration, id=0x07, header="Z|X|X", name="U_TOKEN", label="U_TKN"):
    """Withdraw a liveliness token."""

    id:          int                   = wire(Z32, cell="token_id:z32")
    extensions:  tuple[Extension, ...] = chain("decl_exts")
    key:         UndeclaredKey | None  = ext(0xF, "UndeclaredKey", mandatory=True)


class DeclareFinal(Declaration, id=0x1A, header="Z|X|X", name="D_FINAL"):
    """End of the current declarations for the interest that the enclosing DECLARE names."""

    extensions:  tuple[Extension, ...] = chain("final_exts")
