"""A copy between byte arrays as one memcpy; Numba compiles an assignment to a loop."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


@intrinsic
def copy_unchecked(
    typing: Any, source: Any, at: Any, count: Any, target: Any, to: Any
) -> tuple[Any, Any]:
    """`target[to : to + count] = source[at : at + count]`, for arrays of bytes."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        begin = context.make_array(signature.args[0])(context, builder, args[0]).data
        end = context.make_array(signature.args[3])(context, builder, args[3]).data
        copy: Any = cgutils.raw_memcpy
        copy(builder, builder.gep(end, [args[4]]), builder.gep(begin, [args[1]]), args[2], 1)
        return context.get_dummy_value()

    return types.void(source, types.int64, types.int64, target, types.int64), codegen
