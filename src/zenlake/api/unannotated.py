"""`Unannotated`: the return type of methods that return None.

It is `Any`, as in eclipse-zenoh's stub, which does not annotate these methods: with None, type
checkers would refuse `lambda query: (query.reply(key, value), query.drop())`.
"""

from __future__ import annotations

from typing import Any, TypeAlias

Unannotated: TypeAlias = Any
