"""`Unannotated`: what methods give that give None.

To type checkers it is `Any`, as in eclipse-zenoh's stub, which does not annotate these methods:
with None, `lambda query: (query.reply(key, value), query.drop())` would be an error.
"""

from __future__ import annotations

from typing import Any, TypeAlias

Unannotated: TypeAlias = Any
